"""Sentences are split by rule: always the same ones, none lost, in many scripts."""

import pytest
from hypothesis import example, given, strategies as st

from proctor.metrics.judged.sentences import sentences

CASES = {
    "plain": ("It is sunny. It is warm!  Is it?", ["It is sunny.", "It is warm!", "Is it?"]),
    "one without a stop": ("It is sunny", ["It is sunny"]),
    "nothing": ("", []),
    "only white space": (" \n\t ", []),
    "abbreviations": ("Dr. Ito came at 5 p.m. and left, e.g. by car.", ["Dr. Ito came at 5 p.m. and left, e.g. by car."]),
    "before a number": ("See No. 5 and p. 7. Then go.", ["See No. 5 and p. 7.", "Then go."]),
    "a no is not a number": ("The answer is no. 5 people left.", ["The answer is no. 5 people left."]),
    "decimals and addresses": ("Pi is 3.14. See https://a.example/x.y?z.", ["Pi is 3.14.", "See https://a.example/x.y?z."]),
    "quotation marks": ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
    "dots": ("Well… Maybe. So... go on.", ["Well…", "Maybe.", "So... go on."]),
    "a list": ("Do this:\n- Open the door.\n- Go in\n2. Sit down. Relax.", ["Do this:", "- Open the door.", "- Go in", "2. Sit down.", "Relax."]),
    "a heading": ("# Rome\nIt is old.", ["# Rome", "It is old."]),
    "a broken line": ("It is sunny\nand warm. It is\nlate.", ["It is sunny\nand warm.", "It is\nlate."]),
    "lines": ("Name: Ito\nAge: 5", ["Name: Ito", "Age: 5"]),
    "a table": ("See:\n| a | b |\n|---|---|\n| 1. | 2. |\nDone.", ["See:", "| a | b |\n|---|---|\n| 1. | 2. |", "Done."]),
    "code": ("Run:\n```\na. B\n\nc. D\n```\nDone.", ["Run:", "```\na. B\n\nc. D\n```", "Done."]),
    "an open code block": ("```\na. B", ["```\na. B"]),
    "a lone emoji": ("It is sunny. 🌞", ["It is sunny.\n🌞"]),
    "an emoji alone": ("👍", ["👍"]),
    "a rule": ("One.\n---\nTwo.", ["One.\n---", "Two."]),
    "Japanese": ("東京は晴れです。気温は21度です！", ["東京は晴れです。", "気温は21度です！"]),
    "Japanese quotation": ("彼は「はい。」と言った。次へ。", ["彼は「はい。」", "と言った。", "次へ。"]),
    "Chinese": ("今天晴天。明天呢？", ["今天晴天。", "明天呢？"]),
    "Arabic": ("الجو مشمس. هل تريد المزيد؟ نعم.", ["الجو مشمس.", "هل تريد المزيد؟", "نعم."]),
    "Urdu": ("موسم اچھا ہے۔ شکریہ۔", ["موسم اچھا ہے۔", "شکریہ۔"]),
    "Hindi": ("आज धूप है। कल बारिश होगी।", ["आज धूप है।", "कल बारिश होगी।"]),
    "Thai has no stops": ("วันนี้แดดออก อากาศดี\nพรุ่งนี้ฝนตก", ["วันนี้แดดออก อากาศดี", "พรุ่งนี้ฝนตก"]),
    "Greek": ("Καλημέρα. Τι κάνεις;", ["Καλημέρα.", "Τι κάνεις;"]),
    "German": ("Das ist z.B. Bern. Es liegt an der Aare.", ["Das ist z.B. Bern.", "Es liegt an der Aare."]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "found"), CASES.values(), ids=CASES)
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(st.text(st.sampled_from(list("aB1.!?… \n|-#*`。\"'")), max_size=60) | st.text(max_size=60))
@example("a.\n\nb|c|d\n```\n")
def test_nothing_is_lost_and_nothing_added(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    assert all(each == each.strip() and each for each in sentences(text))


@pytest.mark.slow
def test_a_long_answer_takes_no_long_time() -> None:
    assert len(sentences("It is so. " * 50_000)) == 50_000
