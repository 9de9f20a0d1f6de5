"""What judges found, as blocks: rubrics and sentences with their verdicts, and how the votes were cast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from proctor.common.safe_text import shorten
from proctor.reports.content.summary import percent
from proctor.reports.content.text_blocks import (
    EvidenceBlock,
    Findings,
    JudgeFinding,
    OmittedLines,
    RecordedFact,
    Remark,
)

_GROUNDED = {"supported", "not_applicable"}
_LONGEST_WHY = 300
_LONGEST_ANSWER = 200


def findings_of(details: Mapping[str, object], metric: str, *, full: bool) -> Iterator[EvidenceBlock]:
    """Return the findings of a judge from the details of a score; sentences that hold are left out unless `full`.

    `full` adds the model of the `metric` and its votes.
    """
    ballot = details.get("ballot")
    usable = _usable(objects_in(ballot.get("votes"))) if isinstance(ballot, Mapping) else 0
    if rubrics := objects_in(details.get("rubrics") or details.get("rubric_scores")):
        yield Findings("rubrics", [_rubric(each, usable, full=full) for each in rubrics])
    if sentences := objects_in(details.get("sentences")):
        yield _claims(sentences, usable, full=full)
    if full and isinstance(ballot, Mapping):
        yield from _votes(ballot, metric)


def _claims(sentences: Sequence[Mapping[str, object]], usable: int, *, full: bool) -> Findings:
    visible_claims = [each for each in sentences if full or not _is_grounded(each)]
    left = [OmittedLines(count)] if (count := len(sentences) - len(visible_claims)) else []
    return Findings("claims", [*(_sentence(each, usable, full=full) for each in visible_claims), *left])


def _rubric(rubric: Mapping[str, object], usable: int, *, full: bool) -> JudgeFinding:
    score = rubric.get("score")
    holds = None if not isinstance(score, int | float) else score >= 1
    points = f", {rubric['points']:g} points" if isinstance(rubric.get("points"), int | float) else ""
    why = _why(rubric, usable, full=full) if full or not holds else ""
    name, text = f"{rubric.get('rubric_id', '')}{points}", str(rubric.get("text") or "")
    return (
        JudgeFinding(holds, name, text, why)
        if text
        else JudgeFinding(holds, name, why or _why(rubric, usable, full=full))
    )


def _sentence(sentence: Mapping[str, object], usable: int, *, full: bool) -> JudgeFinding:
    quoted = {"for": sentence.get("supporting_excerpt"), "against": sentence.get("contradicting_excerpt")}
    sides = [f'{side}: "{_shorten(str(text), full=full)}"' for side, text in quoted.items() if text]
    why = "; ".join(filter(None, [_why(sentence, usable, full=full).rstrip("."), *sides]))
    label = str(sentence.get("label", "")).replace("_", " ")
    return JudgeFinding(_is_grounded(sentence), label, str(sentence.get("sentence") or ""), why)


def _is_grounded(sentence: Mapping[str, object]) -> bool:
    return sentence.get("label") in _GROUNDED


def _why(finding: Mapping[str, object], usable: int, *, full: bool) -> str:
    """Return the reason, and how many of the `usable` votes agree if some do not."""
    why = _shorten(str(finding.get("rationale") or ""), full=full)
    agreed = finding.get("agreement")
    if not isinstance(agreed, int | float) or agreed >= 1:
        return why
    text = _agreement_text(agreed, usable)
    return f"{why} ({text})" if why else text


def _agreement_text(agreed: float, usable: int) -> str:
    """Return how many votes agree: `2 of 3 votes agree (67 %)`; only the share if it is not one of the usable votes."""
    count = round(agreed * usable)
    is_counted = usable > 0 and abs(agreed * usable - count) < 0.01
    share = f"{percent(agreed)} %"
    return f"{count} of {usable} votes agree ({share})" if is_counted else f"{share} of the votes agree"


def _usable(votes: Sequence[Mapping[str, object]]) -> int:
    """Return the number of votes with a verdict."""
    return sum(vote.get("verdict") is not None for vote in votes)


def _shorten(text: str, *, full: bool) -> str:
    return text if full else shorten(text, _LONGEST_WHY)


# --- votes ---------------------------------------------------------------------------------------------------------------


def _votes(ballot: Mapping[str, object], metric: str) -> Iterator[EvidenceBlock]:
    """Return the model, the votes, and the answer of each invalid vote."""
    votes = objects_in(ballot.get("votes"))
    if votes:
        yield RecordedFact("judge", f"{metric}: {', '.join(_cast(ballot, votes))}")
    yield from _dissent(votes)
    alike: dict[str, list[Mapping[str, object]]] = {}
    for vote in votes:
        if problem := vote.get("problem"):
            alike.setdefault(str(problem), []).append(vote)
    for problem, same_votes in alike.items():
        times = f" ({len(same_votes)} votes)" if len(same_votes) > 1 else ""
        yield Remark("vote", f"{problem}{times}{_vote_text(same_votes[0])}")


def _dissent(votes: Sequence[Mapping[str, object]]) -> Iterator[EvidenceBlock]:
    """Return the votes of the minority. Verdicts on several rubrics have an agreement for each."""
    plain = [vote for vote in votes if isinstance(vote.get("verdict"), bool | int | float | str)]
    for most, _ in Counter(repr(vote["verdict"]) for vote in plain).most_common(1):
        for vote in plain:
            if repr(vote["verdict"]) != most:
                why = shorten(str(vote.get("rationale") or "no reason given"), _LONGEST_WHY)
                yield Remark("vote", f"{_word(vote['verdict'])}: {why}")


def _word(verdict: object) -> str:
    return {True: "yes", False: "no"}[verdict] if isinstance(verdict, bool) else str(verdict)


def _vote_text(vote: Mapping[str, object]) -> str:
    answers = vote.get("answers")
    if not isinstance(answers, list | tuple) or not answers:
        return ""
    return f"; it answered: {shorten(str(answers[-1]), _LONGEST_ANSWER)}"


def _cast(ballot: Mapping[str, object], votes: Sequence[Mapping[str, object]]) -> Iterator[str]:
    yield str(ballot.get("model") or "a model")
    usable = _usable(votes)
    vote_count, planned = len(votes), ballot.get("planned")
    yield (
        f"{usable} of {vote_count} votes usable"
        if usable < vote_count
        else f"{vote_count} vote{'s' * (vote_count != 1)}"
    )
    if isinstance(planned, int) and planned > vote_count:
        more = planned - vote_count
        yield f"{more} more could not have changed it" if usable else f"{more} not asked for"
    agreed = ballot.get("agreement")
    if isinstance(agreed, int | float) and usable > 1:
        yield _agreement_text(agreed, usable)


def objects_in(value: object) -> list[Mapping[str, object]]:
    """Return the objects in a list; a custom metric may have written anything."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []
