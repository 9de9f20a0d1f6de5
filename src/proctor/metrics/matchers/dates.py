"""Dates and times: the same moment in any notation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from proctor.metrics.reason_text import show_value
from proctor.metrics.text.visible_text import without_invisible

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
DAY = 86_400
"""In seconds; two times of day differ by half a day at most."""
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = r"(?P<month>[a-z]{3,9})\.?"
_YEAR = r"(?P<year>\d{4})"
_WORDS = (
    re.compile(rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}"),
    re.compile(rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}"),
)
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})-(?P<number>\d{1,2})-(?P<day>\d{1,2})(?![\dt])")
_HYPHENS = dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212, 0xFE63, 0xFF0D), "-")
_AFTER_DATE = re.compile(r"\s*(?:,|\bat\b|\s)\s*")
_CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?\s*([ap])\.?\s?m\.?")
_ISO_CLOCK = re.compile(r"t?\d{2}:\d{2}.*")
_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, a time of day, or both."""

    day: date | None
    clock: time | None

    def at(self, zone: tzinfo | None) -> datetime:
        """Return a point in time; a moment without zone is taken in `zone`."""
        moment = datetime.combine(self.day or date(2000, 1, 1), self.clock or time())
        return moment.replace(tzinfo=zone) if moment.tzinfo is None else moment


@dataclass(frozen=True, slots=True)
class SameMoment:
    """The same date, time, or date and time in any notation; at most `within` seconds apart.

    `part`: compare only the date, or only the time of day. Of two texts, one with and one without time zone, the latter
    is taken in `zone`; without `zone` they do not fit. A date differs from the midnight at its start. Times of day are compared
    on the clock: midnight is between 23:50 and 00:05.
    """

    part: str | None = None
    within: float = 0.0
    zone: tzinfo | None = None
    formats: tuple[str, ...] = ()
    """Further formats of texts (`strptime`)."""

    def fits(self, expected: object, actual: object) -> bool:
        """Compare; only texts with a date or time can fit."""
        expected_moment, actual_moment = self.moment_of(expected), self.moment_of(actual)
        if expected_moment is None or actual_moment is None:
            return False
        if (expected_moment.day is None, expected_moment.clock is None) != (
            actual_moment.day is None,
            actual_moment.clock is None,
        ):
            return False
        one, other = expected_moment.at(self.zone), actual_moment.at(self.zone)
        if (one.tzinfo is None) != (other.tzinfo is None):
            return False
        distance = abs((one - other).total_seconds())
        if expected_moment.day is None:  # times of day are circular: 23:50 and 00:05 are 15 minutes apart
            distance = min(distance % DAY, DAY - distance % DAY)
        return distance <= self.within

    def unreadable(self, expected: object) -> str:
        """Return that a value is not a date or time, or lacks the part that is compared."""
        return "" if self.moment_of(expected) is not None else f"not a {self.part or 'date or time'}"

    def describe(self, expected: object) -> str:
        """Return the date or time."""
        about = f", ± {self.within:g} s" if self.within else ""
        return f"{show_value(expected)} (as a {self.part or 'date or time'}{about})"

    def moment_of(self, value: object) -> Moment | None:
        """Return the part of a moment that is compared; `None` if the value has none."""
        moment = read_moment(value, self.formats) if isinstance(value, str) else None
        if moment is None or self.part is None:
            return moment
        part = Moment(moment.day, None) if self.part == "date" else Moment(None, moment.clock)
        return None if part == Moment(None, None) else part


def read_moment(text: str, formats: tuple[str, ...] = ()) -> Moment | None:
    """Read `formats`, ISO 8601, English dates with the month's name, and clock times; `None` for any other text.

    Typographic hyphens count as hyphens, and characters without width are ignored.
    """
    text = " ".join(without_invisible(text).translate(_HYPHENS).split())
    for form in formats:
        try:
            moment = datetime.strptime(text, form)  # noqa: DTZ007 - a text without zone has none
        except ValueError:
            continue
        return Moment(
            moment.date() if _has(form, "YymdjbBUWVGucxDF") else None,
            moment.timetz() if _has(form, "HIMSfpXcTzZ") else None,
        )
    return _read_iso(text) or _read_words(text.lower())


def _has(form: str, letters: str) -> bool:
    return any(f"%{letter}" in form.replace("%%", "") for letter in letters)


def _read_iso(text: str) -> Moment | None:
    try:
        return Moment(date.fromisoformat(text), None)
    except ValueError:
        pass
    if clock := _read_iso_clock(text):
        return Moment(None, clock)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return Moment(moment.date(), moment.timetz())


def _read_iso_clock(text: str) -> time | None:
    if not _ISO_CLOCK.fullmatch(text.lower()):
        return None
    try:
        return time.fromisoformat(text)
    except ValueError:
        return None


def _read_words(text: str) -> Moment | None:
    if clock := _read_clock(text):
        return Moment(None, clock)
    for words in (*_WORDS, _YEAR_FIRST):
        match = words.match(text)
        if match is None:
            continue
        day, rest = _day(match), text[match.end() :]
        if day is None or not rest:
            return Moment(day, None) if day else None
        gap = _AFTER_DATE.match(rest)
        clock = _read_clock(rest[gap.end() :]) if gap else None
        return Moment(day, clock) if clock else None
    return None


def _day(match: re.Match[str]) -> date | None:
    parts = match.groupdict()
    name = parts.get("month")
    month = next(
        (number for number, full in enumerate(MONTHS, 1) if name in (full, full[:3], full[:4])),
        int(parts.get("number") or 0),
    )
    try:
        return date(int(match["year"]), month, int(match["day"])) if month else None
    except ValueError:
        return None


def _read_clock(text: str) -> time | None:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return _read_iso_clock(text)
    hour, minute, second = (int(each or 0) for each in match.groups()[:3])
    if not 1 <= hour <= 12:
        return None
    try:
        return time(hour % 12 + (12 if match[4] == "p" else 0), minute, second)
    except ValueError:
        return None


def read_zone(name: str) -> tzinfo:
    """Return a time zone by its name (`Europe/Rome`, `UTC`) or its offset (`+02:00`).

    Raises:
        ValueError: there is no zone of this name.
    """
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if name == "UTC":
        return UTC
    try:
        if match := _OFFSET.fullmatch(name):
            offset = timedelta(hours=int(match[2]), minutes=int(match[3]))
            return timezone(offset if match[1] == "+" else -offset)
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"no time zone {name!r} (as in 'Europe/Rome' or '+02:00')") from error
