from collections.abc import Iterator

from hypothesis import given, strategies as st

from proctor.common.ascending_lookup import AscendingLookup

KEYS = st.lists(st.integers(-3, 30), unique=True).map(sorted)


@given(KEYS, st.lists(st.integers(-3, 30)).map(sorted))
def test_every_key_finds_its_value(there: list[int], wanted: list[int]) -> None:
    lookup = AscendingLookup(iter([(key, f"value {key}") for key in there]))
    assert [lookup.get(key) for key in wanted] == [f"value {key}" if key in there else None for key in wanted]


def test_nothing_is_read_ahead() -> None:
    read = []

    def items() -> Iterator[tuple[int, str]]:
        for key in range(5):
            read.append(key)
            yield key, str(key)

    lookup = AscendingLookup(items())
    assert read == []
    assert lookup.get(1) == "1"
    assert read == [0, 1]
