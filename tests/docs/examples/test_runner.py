"""The reader of pages sees what is wrong with a page."""

from pathlib import Path

import pytest

from tests.docs.examples.console import Step, agrees, steps
from tests.docs.examples.pages import blocks
from tests.docs.examples.runner import PageError, Reader


def _follow(page: str, folder: Path) -> Reader:
    reader = Reader(folder)
    for block in blocks(page, "page.md"):
        reader.follow(block)
    return reader


GOOD = {
    "python blocks share their names": "```python\nx = 1\n```\nthen\n```python\nassert x == 1\n```\n",
    "await at the top": "```python\nimport asyncio\nawait asyncio.sleep(0)\n```\n",
    "what python prints": "```python\nprint('a', 'b')\n```\n```text output\na b\n```\n",
    "a command and its output": "```console\n$ echo one; echo two\none\n...\n```\n",
    "progress, which only a busy machine prints": "```console\n$ echo '1/2 trials (50 %): 1 passed; 0.9/s, 1.1s left' >&2; "
    "echo one\none\n```\n",
    "a command over two lines": "```console\n$ echo one \\\n>   two\none two\n```\n",
    "the code a command leaves with": "```console exit=3\n$ exit 3\n```\n",
    "a file that the next command reads": "```json file=a.json\n[1]\n```\n```console\n$ cat a.json\n[1]\n```\n",
    "a file that python imports": "```python file=mine_page.py\nx = 5\n```\n```python\nimport mine_page\n```\n",
    "data": '```json\n{"a": 1}\n```\n```yaml\na: 1\n```\n```toml\na = 1\n```\n',
    "a config": '```json config\n{"criteria": {"response_match_score": 0.8}}\n```\n',
    "an eval set": '```json evalset\n{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": ['
    '{"user_content": {"role": "user", "parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Ho"}]}}]}]}'
    "\n```\n",
    "a case for people": "```yaml evalset\ncases:\n  - ask: Hello\n    expect: Hello to you\n```\n",
    "a config with a key that nothing reads": '```json config warns\n{"criteria": {"response_match_score": 0.8}, "x": 1}'
    "\n```\n",
    "plain text": "```text\nanything\n```\n",
    "not run, with the reason": "```console no-run: needs a key\n$ nothing-like-this\n```\n",
    "a fence that holds a fence": "````text\n```python\nraise SystemExit\n```\n````\n",
}

BAD = {
    "python that raises": "```python\nassert 1 == 2\n```\n",
    "other output": "```python\nprint('a')\n```\n```text output\nb\n```\n",
    "output of nothing": "```text output\nb\n```\n",
    "a command that fails": "```console\n$ false\n```\n",
    "a command that should fail": "```console exit=1\n$ true\n```\n",
    "a command that prints something else": "```console\n$ echo one\ntwo\n```\n",
    "a command that prints more": "```console\n$ echo one; echo two\none\n```\n",
    "json that is none": "```json\n{'a': 1}\n```\n",
    "yaml that is none": "```yaml\na: [\n```\n",
    "no reason": "```console no-run\n$ false\n```\n",
    "an empty reason": "```console no-run:\n$ false\n```\n",
    "no language": "```\nanything\n```\n",
    "a shell script": "```sh\nls\n```\n",
    "a block that never ends": "```python\nx = 1\n",
    "an eval set that is none": '```json evalset\n{"eval_cases": 5}\n```\n',
    "a config that is none": '```json config\n{"criteria": {"response_match_score": "high"}}\n```\n',
    "a config with a misspelled key": '```json config\n{"criterias": {"response_match_score": 0.8}}\n```\n',
    "a config shown as an eval set": '```json evalset\n{"criteria": {"response_match_score": 0.8}}\n```\n',
}


@pytest.mark.parametrize("page", GOOD.values(), ids=GOOD)
def test_good(page: str, tmp_path: Path) -> None:
    _follow(page, tmp_path)


@pytest.mark.parametrize("page", BAD.values(), ids=BAD)
def test_bad(page: str, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, ValueError)):
        _follow(page, tmp_path)


def test_a_failure_names_page_and_line(tmp_path: Path) -> None:
    with pytest.raises(PageError, match=r"^page\.md:4: `false` left with 1"):
        _follow("# Title\n\n```console\n$ false\n```\n", tmp_path)


def test_a_block_knows_what_it_asks_for() -> None:
    (block,) = blocks("```console exit=2 no-run: costs exit=9 money\n$ x\n```\n", "page.md")
    assert (block.language, block.option("exit"), block.runs, block.reason_not_to_run) == (
        "console",
        "2",
        False,
        "costs exit=9 money",
    )


def test_steps() -> None:
    assert list(steps("$ a\n1\n\n2\n$ b \\\n  c\n$ d\n")) == [
        Step("a", "1\n\n2"),
        Step("b \\\n  c", ""),
        Step("d", ""),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a\n...", "a\nb\nc\n", True),
        ("...\nc", "a\nb\nc\n", True),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("a\n...\nd", "a\nb\ne\n", False),
        ("run ... took", "run 17 took", True),
        ("run ... took", "run 17\ntook", False),
        ("1 failed in 2.5 s", "1 failed in 0.1s", True),
        ("1 failed in 2.5 s", "2 failed in 0.1s", False),
        ("at 2025-01-02T03:04:05Z", "at 2026-11-22 02:00", True),
        ("(a)", "(a)   ", True),
    ],
)
def test_agrees(shown: str, printed: str, same: bool) -> None:
    assert agrees(shown, printed) is same
