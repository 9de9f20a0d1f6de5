"""Tests in code: the fixtures, what an assertion on a result shows, and what is never green."""

from __future__ import annotations

import pytest

from tests.pytest_plugin.sample_project import BAD, CONFIG, ERROR, GOOD, Sandbox, case, outcomes

pytestmark = pytest.mark.slow  # sessions of pytest

pytest_plugins = ["pytester"]


def _test(sandbox: Sandbox, body: str, *words: str, agent: str | None = "bot.py") -> pytest.RunResult:
    """Run a test file; `cases.evalset.json` in its folder has a good, a bad and a broken case."""
    sandbox.cases(GOOD, BAD, ERROR)
    sandbox.write("test_it.py", f"import asyncio, proctor, pytest\n{body}\n")
    return sandbox.run("-v", *words, "test_it.py", agent=agent)


# --- evaluate ---------------------------------------------------------------------------------------------------------


def test_a_plain_test_gets_the_result(sandbox: Sandbox) -> None:
    result = _test(
        sandbox,
        "def test_it(evaluate):\n"
        "    result = evaluate('cases.evalset.json')\n"
        "    assert not result\n"
        "    assert [case.outcome.value for case in result.cases] == ['passed', 'failed', 'error']\n"
        "    assert evaluate('cases.evalset.json:good').passed\n"
        "    assert isinstance(result, proctor.RunResult)\n",
    )
    result.assert_outcomes(passed=1)


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    "what",
    [
        pytest.param("'sub/cases.evalset.json'", id="a path from the working folder"),
        pytest.param("'near.evalset.json'", id="a path from the test's folder"),
        pytest.param("'near.evalset.json:good'", id="one case of it"),
        pytest.param("Path('near.evalset.json')", id="a Path"),
        pytest.param("proctor.load_eval_set('sub/near.evalset.json')", id="a set"),
        pytest.param("{'eval_set_id': 'd', 'eval_cases': [proctor.load_eval_set('sub/near.evalset.json').eval_cases[0].model_dump()]}", id="a dict"),
        pytest.param("proctor.load_eval_set('sub/near.evalset.json').eval_cases[0]", id="a case"),
        pytest.param("['near.evalset.json', 'sub/cases.evalset.json']", id="several"),
    ],
)  # fmt: skip
def test_what_it_takes(sandbox: Sandbox, what: str) -> None:
    sandbox.cases(GOOD, name="sub/cases.evalset.json")
    sandbox.cases(GOOD, name="sub/near.evalset.json")
    sandbox.write(
        "sub/test_it.py",
        f"from pathlib import Path\nimport proctor\ndef test_it(evaluate):\n    assert evaluate({what}, config={CONFIG!r})\n",
    )
    sandbox.run("sub/test_it.py").assert_outcomes(passed=1)


def test_config_in_the_folder_of_a_set_applies(sandbox: Sandbox) -> None:
    sandbox.cases(case("close", "yes indeed", "yes Indeed"), name="sub/cases.evalset.json")
    sandbox.write("sub/test_config.json", {"criteria": {"response_match_score": 0.9}})
    sandbox.write("strict.json", CONFIG)
    sandbox.write(
        "sub/test_it.py",
        "import pytest\n"
        "@pytest.mark.proctor('cases.evalset.json')\n"
        "def test_lenient(eval_case, evaluate):\n    assert evaluate(eval_case)\n"
        "def test_strict(evaluate):\n    assert not evaluate('cases.evalset.json', config='strict.json')\n",
    )
    sandbox.run("sub/test_it.py").assert_outcomes(passed=2)
    sandbox.run("--proctor-config", "strict.json", "sub/test_it.py").assert_outcomes(passed=1, failed=1)


def test_a_mistake_shows_the_line_of_the_test_and_what_is_wrong(sandbox: Sandbox) -> None:
    result = _test(sandbox, "def test_it(evaluate):\n    evaluate('case.evalset.json', num_run=2)\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">*evaluate('case.evalset.json', num_run=2)",
            "E*there is no option 'num_run'. Did you mean 'num_runs'?",
        ]
    )
    result.stdout.fnmatch_lines(["E*case.evalset.json: no such file*"])
    assert "src/proctor" not in result.stdout.str()


def test_uninspected_result_is_not_green(sandbox: Sandbox) -> None:
    result = _test(
        sandbox,
        "def test_overlooked(evaluate):\n    evaluate('cases.evalset.json')\n"
        "def test_kept(evaluate):\n    result = evaluate('cases.evalset.json:bad')\n"
        "def test_fine(evaluate):\n    evaluate('cases.evalset.json:good')\n"
        "def test_looked_at(evaluate):\n    assert len(evaluate('cases.evalset.json').cases) == 3\n",
    )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        ["<RunResult bot: failed (1 passed, 1 failed, 1 error)> was not inspected*", "*actual    {+yes+}"]
    )


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("body", "fine"),
    [
        pytest.param("proctor.evaluate_sync('bot.py', 'cases.evalset.json')", False, id="dropped"),
        pytest.param("result = proctor.evaluate_sync('bot.py', 'cases.evalset.json')", False, id="only named"),
        pytest.param("asyncio.run(proctor.evaluate('bot.py', 'cases.evalset.json'))", False, id="awaited and dropped"),
        pytest.param(
            "asyncio.run(proctor.evaluate_matrix(['bot.py', 'bot.py'], 'cases.evalset.json'))", False, id="of two agents, dropped"
        ),
        pytest.param("helper()", False, id="returned by a function and dropped"),
        pytest.param("proctor.evaluate_sync('bot.py', 'cases.evalset.json:good')", True, id="it passed"),
        pytest.param("print(proctor.evaluate_sync('bot.py', 'cases.evalset.json'))", False, id="printed"),
        pytest.param("assert proctor.evaluate_sync('bot.py', 'cases.evalset.json').counts['failed'] == 1", True, id="inspected"),
        pytest.param("proctor.evaluate_sync('bot.py', 'cases.evalset.json', store='runs.sqlite3')", True, id="kept in a store"),
        pytest.param("before()", True, id="made outside of a test"),
    ],
)  # fmt: skip
def test_no_result_of_proctors_own_evaluate_is_overlooked(sandbox: Sandbox, body: str, fine: bool) -> None:
    result = _test(
        sandbox,
        "def helper():\n    return proctor.evaluate_sync('bot.py', 'cases.evalset.json')\n"
        f"def test_it(before):\n    {body}\n"
        "@pytest.fixture\ndef before():\n    result = helper()\n    return lambda: None\n",
    )
    result.assert_outcomes(passed=int(fine), failed=int(not fine))
    if not fine:
        result.stdout.fnmatch_lines(["<RunResult bot: failed *> was not inspected*", "*actual    {+yes+}"])


@pytest.mark.parametrize(
    "ending", ["pytest.skip('not today')", "pytest.xfail('known')", "raise ValueError('x')"]
)
def test_a_test_that_ends_otherwise_is_not_reproached_with_what_it_left(
    sandbox: Sandbox, ending: str
) -> None:
    body = f"    evaluate('cases.evalset.json:bad')\n    proctor.evaluate_sync('bot.py', 'cases.evalset.json')\n    {ending}\n"
    result = _test(
        sandbox, f"@pytest.mark.proctor('cases.evalset.json:good')\ndef test_it(evaluate, eval_case):\n{body}"
    )
    assert "was not inspected" not in result.stdout.str()
    assert "was not evaluated" not in result.stdout.str()
    assert result.parseoutcomes().get("errors", 0) == 0
    assert result.parseoutcomes().get("passed", 0) == 0


# --- async tests ------------------------------------------------------------------------------------------------------

ASYNC = """
@pytest.mark.{mark}
async def test_awaited(evaluate):
    result = await evaluate('cases.evalset.json:good')
    assert result.passed

@pytest.mark.{mark}
async def test_failing(evaluate):
    assert await evaluate('cases.evalset.json')

@pytest.mark.{mark}
async def test_forgotten(evaluate):
    evaluate('cases.evalset.json:good')

@pytest.mark.{mark}
async def test_forgotten_truth(evaluate):
    assert evaluate('cases.evalset.json:good')

@pytest.mark.{mark}
async def test_forgotten_look(evaluate):
    assert evaluate('cases.evalset.json:good').passed

@pytest.mark.{mark}
async def test_overlooked(evaluate):
    await evaluate('cases.evalset.json:bad')

@pytest.mark.{mark}
async def test_left_to_a_task(evaluate):
    task = asyncio.ensure_future(evaluate('cases.evalset.json:bad'))
    await asyncio.sleep(0)

@pytest.mark.{mark}
async def test_mistaken(evaluate):
    with pytest.raises(proctor.SetupProblems):
        await evaluate('nope.evalset.json')

@pytest.mark.{mark}
async def test_together(evaluate):
    one, two = await asyncio.gather(evaluate('cases.evalset.json:good'), evaluate('cases.evalset.json:bad'))
    assert one and not two
"""

_PLUGINS = [
    pytest.param("asyncio", "pytest_asyncio.plugin", id="pytest-asyncio"),
    pytest.param("anyio", "anyio.pytest_plugin", id="anyio"),
]


@pytest.mark.parametrize(("mark", "plugin"), _PLUGINS)
def test_an_async_test_awaits_and_what_it_forgets_to_await_is_never_green(
    sandbox: Sandbox, mark: str, plugin: str
) -> None:
    sandbox.ini("asyncio_default_fixture_loop_scope = function" if mark == "asyncio" else "")
    sandbox.write("conftest.py", "import pytest\n@pytest.fixture\ndef anyio_backend(): return 'asyncio'\n")
    result = _test(sandbox, ASYNC.format(mark=mark), "-p", plugin)
    found = {name: outcome for name, outcome in outcomes(result).items() if outcome != "PASSED"}
    assert found == {
        "test_failing": "FAILED",
        "test_forgotten": "FAILED",
        "test_forgotten_truth": "FAILED",
        "test_forgotten_look": "FAILED",
        "test_overlooked": "FAILED",
        "test_left_to_a_task": "FAILED",
    }
    result.assert_outcomes(passed=3, failed=6)
    result.stdout.fnmatch_lines(
        ["nothing was run: `evaluate` is awaited in an async test: result = await evaluate(*)"]
    )


def test_without_a_plugin_for_async_tests_they_are_not_green(sandbox: Sandbox) -> None:
    result = _test(sandbox, "async def test_it(evaluate):\n    assert await evaluate('cases.evalset.json')\n")
    assert result.parseoutcomes().get("passed", 0) == 0


def test_a_plain_test_may_await_nothing_and_its_loop_is_its_own(sandbox: Sandbox) -> None:
    result = _test(
        sandbox,
        "def test_it(evaluate):\n"
        "    async def main():\n"
        "        return await evaluate('cases.evalset.json:good')\n"
        "    assert asyncio.run(main()).passed\n",
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "words", [[], ["-p", "xdist.plugin", "-n", "1"]], ids=["one process", "pytest-xdist"]
)
def test_session_with_a_missing_await_of_evaluate_is_never_green(sandbox: Sandbox, words: list[str]) -> None:
    sandbox.cases(BAD)
    sandbox.write(
        "test_it.py",
        "import proctor\n"
        "async def evaluate(): ...\n"
        "def test_it():\n    assert proctor.evaluate('bot.py', 'cases.evalset.json')\n"
        "def test_of_their_own():\n    assert evaluate()\n",
    )
    result = sandbox.pytester.runpytest_subprocess("-q", *words, "test_it.py")
    assert result.ret is pytest.ExitCode.TESTS_FAILED
    errors = [line for line in result.outlines if line.startswith("error: ")]
    assert errors == [
        "error: test_it.py::test_it: evaluate was not awaited, so that nothing was run; the session is not green for it"
    ]


# --- the agent --------------------------------------------------------------------------------------------------------

OWN = """
@pytest.fixture
def agent():
    return lambda text: 'no'

def test_own(agent, evaluate):
    assert agent('x') == 'no'
    assert evaluate('cases.evalset.json:bad').passed
"""


def test_the_agent_is_that_of_the_session(sandbox: Sandbox) -> None:
    result = _test(
        sandbox,
        "def test_it(agent):\n    assert hasattr(agent, 'answer')\n"
        "def test_named(evaluate):\n    result = evaluate('cases.evalset.json:good')\n    assert (result.agent, result.passed) == ('bot', True)\n",
    )
    result.assert_outcomes(passed=2)


@pytest.mark.parametrize("agent", ["bot.py", None])
def test_a_fixture_of_the_tests_own_takes_its_place(sandbox: Sandbox, agent: str | None) -> None:
    _test(sandbox, OWN, agent=agent).assert_outcomes(passed=1)


def test_an_agent_may_be_given_to_the_call_or_to_the_marker(sandbox: Sandbox) -> None:
    result = _test(
        sandbox,
        "def test_call(evaluate):\n    assert evaluate('cases.evalset.json:bad', agent=lambda text: 'no')\n"
        "@pytest.mark.proctor(agent=lambda text: 'no')\n"
        "def test_marker(evaluate):\n    assert evaluate('cases.evalset.json:bad')\n",
        agent=None,
    )
    result.assert_outcomes(passed=2)


def test_message_without_any_agent_names_the_places_for_one(sandbox: Sandbox) -> None:
    body = "def test_it(agent): pass\ndef test_that(evaluate):\n    evaluate('cases.evalset.json')\n"
    result = _test(sandbox, body, agent=None)
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["no agent is named: give one with --proctor-agent*", "E*no agent is named: give one with*"]
    )


# --- the marker -------------------------------------------------------------------------------------------------------

EACH = """
@pytest.mark.proctor('cases.evalset.json')
def test_each(eval_case, evaluate):
    assert evaluate(eval_case)

@pytest.mark.proctor('cases.evalset.json:good,bad')
def test_some(eval_case, evaluate):
    assert evaluate().cases[0].eval_id in ('good', 'bad')

@pytest.mark.proctor('cases.evalset.json')
def test_whole(evaluate):
    assert len(evaluate().cases) == 3
"""


def test_each_case_of_a_set_is_a_test(sandbox: Sandbox) -> None:
    result = _test(sandbox, EACH)
    assert outcomes(result) == {
        "test_each[good]": "PASSED", "test_each[bad]": "FAILED", "test_each[broken]": "FAILED",
        "test_some[good]": "PASSED", "test_some[bad]": "PASSED", "test_whole": "PASSED",
    }  # fmt: skip
    result.stdout.fnmatch_lines(["cases.evalset.json:25: failed"])


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("body", "fine"),
    [
        pytest.param("pass", False, id="nothing"),
        pytest.param("evaluate", False, id="the fixture is only asked for"),
        pytest.param("assert eval_case.eval_id", False, id="it only reads the case"),
        pytest.param("assert evaluate(eval_case)", True, id="evaluate"),
        pytest.param("assert evaluate()", True, id="evaluate, of the case that it was given"),
        pytest.param("assert proctor.evaluate_sync('bot.py', proctor.EvalSet(eval_set_id='s', eval_cases=[eval_case]))", True, id="proctor.evaluate_sync"),
        pytest.param("assert proctor.score_sync(eval_case.conversation, eval_case.conversation, criteria={'exact_match': 1})['exact_match'].score", True, id="proctor.score_sync"),
        pytest.param("AgentEvaluator.evaluate_eval_set('bot', proctor.EvalSet(eval_set_id='s', eval_cases=[eval_case]), criteria={'exact_match': 1})", True, id="AgentEvaluator"),
    ],
)  # fmt: skip
def test_a_case_that_a_test_asked_for_is_evaluated(sandbox: Sandbox, body: str, fine: bool) -> None:
    result = _test(
        sandbox,
        "from proctor.compat.adk.evaluation.agent_evaluator import AgentEvaluator\n"
        "@pytest.mark.proctor('cases.evalset.json:good')\n"
        f"def test_it(evaluate, eval_case):\n    {body}\n",
    )
    result.assert_outcomes(passed=int(fine), failed=int(not fine))
    message = "the case good was not evaluated: write `assert evaluate(eval_case)`*cases.evalset.json*"
    if not fine:
        result.stdout.fnmatch_lines([message])


@pytest.mark.parametrize(
    "how",
    [
        "evaluate(eval_case)",
        "proctor.evaluate_sync('bot.py', proctor.EvalSet(eval_set_id='s', eval_cases=[eval_case]))",
    ],
)
def test_a_fixture_may_evaluate_the_case(sandbox: Sandbox, how: str) -> None:
    result = _test(
        sandbox,
        f"@pytest.fixture\ndef found(evaluate, eval_case):\n    return {how}\n"
        "@pytest.mark.proctor('cases.evalset.json:good,bad')\n"
        "def test_it(found):\n    assert found\n"
        "@pytest.mark.proctor('cases.evalset.json:good')\n"
        "def test_that(eval_case):\n    pass\n",
    )
    result.assert_outcomes(passed=1, failed=2)


def test_of_a_test_that_is_run_again_only_the_last_time_counts(sandbox: Sandbox) -> None:
    sandbox.write(
        "conftest.py",
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    runtestprotocol(item, nextitem=nextitem, log=False)\n"
        "    item.config.second = True\n"
        "    runtestprotocol(item, nextitem=nextitem)\n"
        "    return True\n",
    )
    result = _test(
        sandbox,
        "@pytest.mark.proctor('cases.evalset.json:good')\n"
        "def test_it(eval_case, evaluate, request):\n"
        "    if not hasattr(request.config, 'second'):\n        evaluate(eval_case)\n",
    )
    result.assert_outcomes(failed=1)


def test_a_case_that_is_expected_to_fail_may_be_left_unevaluated(sandbox: Sandbox) -> None:
    head = "@pytest.mark.proctor('cases.evalset.json:good')\n"
    result = _test(
        sandbox,
        f"{head}@pytest.mark.xfail\ndef test_it(eval_case): pass\n{head}@pytest.mark.skip\ndef test_that(eval_case): pass\n",
    )
    result.assert_outcomes(xfailed=1, skipped=1)


def test_a_case_that_the_test_changed_is_run_as_it_changed_it(sandbox: Sandbox) -> None:
    result = _test(
        sandbox,
        "@pytest.mark.proctor('cases.evalset.json:bad')\n"
        "def test_it(eval_case, evaluate):\n"
        "    eval_case.conversation[0].final_response.parts[0].text = 'yes'\n"
        "    assert evaluate(eval_case)\n",
    )
    result.assert_outcomes(passed=1)


def test_cases_are_found_by_their_tags(sandbox: Sandbox) -> None:
    sandbox.cases(case("a", "yes", tags=["warm"]), case("b", "yes"), name="tagged.evalset.json")
    result = _test(
        sandbox,
        "@pytest.mark.proctor('tagged.evalset.json')\ndef test_it(eval_case, evaluate):\n    assert evaluate(eval_case)\n",
        "-k",
        "warm",
    )
    result.assert_outcomes(passed=1, deselected=1)


def test_a_fixture_eval_case_of_the_tests_own_is_left_alone(sandbox: Sandbox) -> None:
    body = "@pytest.fixture\ndef eval_case(): return 7\ndef test_it(eval_case):\n    assert eval_case == 7\n"
    _test(sandbox, body).assert_outcomes(passed=1)


@pytest.mark.nightly(check=2)
@pytest.mark.slow  # starts pytest
@pytest.mark.parametrize(
    ("mark", "message"),
    [
        pytest.param("", 'mark the test with @pytest.mark.proctor("cases.evalset.json")', id="no marker"),
        pytest.param("@pytest.mark.proctor('nope.evalset.json')", "nope.evalset.json: no such file", id="no such file"),
        pytest.param("@pytest.mark.proctor('cases.evalset.json:goood')", "no case 'goood'. Did you mean 'good'?", id="no such case"),
        pytest.param("@pytest.mark.proctor('bot.py')", "bot.py:", id="no eval set"),
    ],
)  # fmt: skip
def test_mistake_in_the_marker_is_reported_without_a_traceback(
    sandbox: Sandbox, mark: str, message: str
) -> None:
    result = _test(sandbox, f"{mark}\ndef test_it(eval_case): pass\n")
    result.assert_outcomes(errors=1)
    printed = result.stdout.str()
    assert message in printed
    assert "Traceback" not in printed
    assert "src/proctor" not in printed


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("marker", "passes"),
    [
        pytest.param("num_runs=5", False, id="repeats: the mean decides"),
        pytest.param("num_runs=5, min_pass_rate=0.8", True, id="four of five are enough"),
        pytest.param("num_runs=5, min_pass_rate=0.9", False, id="four of five are not"),
        pytest.param("num_runs=5, min_pass_rate=0.5, pass_k=2", True, id="two in a row"),
    ],
)
def test_repeats_and_pass_rates_of_one_test(sandbox: Sandbox, marker: str, passes: bool) -> None:
    body = f"""
from itertools import count
turns = count()

@pytest.fixture
def agent():
    return lambda text: 'no' if next(turns) == 2 else 'yes'

@pytest.mark.proctor({marker})
def test_it(evaluate):
    result = evaluate('cases.evalset.json:good', concurrency=1)
    assert len(result.cases[0].trials) == 5
    assert result
"""
    _test(sandbox, body).assert_outcomes(passed=int(passes), failed=int(not passes))


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("words", "ini", "passes"),
    [
        pytest.param(["--proctor-min-pass-rate", "0.8"], "", True, id="option: four of five are enough"),
        pytest.param(["--proctor-min-pass-rate", "0.9"], "", False, id="option: they are not"),
        pytest.param([], "proctor_min_pass_rate = 0.8", True, id="ini: they are enough"),
        pytest.param(["--proctor-min-pass-rate", "0.9"], "proctor_min_pass_rate = 0.8", False, id="the option wins"),
    ],
)  # fmt: skip
def test_pass_rates_of_a_session(sandbox: Sandbox, words: list[str], ini: str, passes: bool) -> None:
    sandbox.ini(ini)
    sandbox.write(
        "odd.py",
        "from itertools import count\nn = count()\ndef root_agent(text): return 'no' if next(n) % 5 == 2 else 'yes'\n",
    )
    name = sandbox.cases(GOOD)
    sandbox.write("test_it.py", f"def test_it(evaluate):\n    assert evaluate({name!r}, concurrency=1)\n")
    result = sandbox.run(
        "--proctor-num-runs", "5", "--proctor-concurrency", "1", *words, name, "test_it.py", agent="odd.py"
    )
    result.assert_outcomes(passed=2 * passes, failed=2 * (not passes))


@pytest.mark.parametrize("share", ["0", "1.2", "most"])
def test_a_pass_rate_is_a_share(sandbox: Sandbox, share: str) -> None:
    result = sandbox.run("--proctor-min-pass-rate", share, sandbox.cases(GOOD))
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*expected a share above 0 and up to 1, such as 0.8, got '{share}'"])


def test_what_is_nearer_wins(sandbox: Sandbox) -> None:
    """A call over the marker over the command line over pytest's ini file over the project's settings."""
    sandbox.write("proctor.toml", "num_runs = 2\n")
    body = (
        "import os\n"
        "def runs(evaluate, **options):\n    return len(evaluate('cases.evalset.json:good', **options).cases[0].trials)\n"
        "def test_it(evaluate):\n    assert runs(evaluate) == int(os.environ['EXPECTED'])\n"
        "@pytest.mark.proctor(num_runs=5)\n"
        "def test_marked(evaluate):\n    assert runs(evaluate) == 5\n    assert runs(evaluate, num_runs=6) == 6\n"
    )
    patch = pytest.MonkeyPatch()
    with patch.context() as environment:
        environment.setenv("EXPECTED", "2")
        _test(sandbox, body).assert_outcomes(passed=2)
        sandbox.ini("proctor_num_runs = 3")
        environment.setenv("EXPECTED", "3")
        _test(sandbox, body).assert_outcomes(passed=2)
        environment.setenv("EXPECTED", "4")
        _test(sandbox, body, "--proctor-num-runs", "4").assert_outcomes(passed=2)


# --- assertions -------------------------------------------------------------------------------------------------------

ASSERTIONS = [
    pytest.param("    result = {run}\n    assert result.passed", id="passed of a name"),
    pytest.param("    result = {run}\n    assert result", id="a name"),
    pytest.param("    assert {run}", id="a call"),
    pytest.param("    assert {run}.passed, 'my own words'", id="passed of a call, with a message"),
    pytest.param("    result = {run}\n    assert result.cases[0].passed", id="one case of it"),
    pytest.param("    case = {run}.cases[0]\n    assert case.outcome == 'passed'", id="a case, compared"),
    pytest.param("    result = {run}\n    check(result)", id="in another function"),
    pytest.param("    result = {run}\n    assert all(case.passed for case in result.cases)", id="all of its cases"),
    pytest.param("    result = {run}\n    assert not result.counts.get('failed')", id="its counts"),
]  # fmt: skip


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    "how",
    [
        "evaluate('cases.evalset.json:bad')",
        pytest.param("proctor.evaluate_sync('bot.py', 'cases.evalset.json:bad')", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("assertion", ASSERTIONS)
def test_an_assertion_on_a_result_shows_the_evidence(sandbox: Sandbox, assertion: str, how: str) -> None:
    body = f"def check(it):\n    assert it.passed\ndef test_it(evaluate):\n{assertion.format(run=how)}\n"
    result = _test(sandbox, body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*- proctor: * -*", "*exact_match 0.00 < 1*", "*expected  [[]-no-[]]", "*actual    {+yes+}"]
    )
    assert result.stdout.str().count("{+yes+}") == 1


@pytest.mark.nightly(check=2)
@pytest.mark.slow  # starts pytest
@pytest.mark.parametrize("words", [["--assert=plain"], ["--tb=short"], ["--tb=native"], ["-p", "no:capture"]])
def test_the_evidence_is_there_in_other_forms_of_traceback(sandbox: Sandbox, words: list[str]) -> None:
    body = "def test_it(evaluate):\n    result = evaluate('cases.evalset.json')\n    assert result.passed\n"
    result = _test(sandbox, body, *words)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*- proctor: bot -*", "*failed: 1 of 3 cases fails, 1 could not be scored*"])


def test_results_that_passed_or_are_not_meant_are_left_out(sandbox: Sandbox) -> None:
    result = _test(
        sandbox,
        "def test_it(evaluate):\n"
        "    good, bad = evaluate('cases.evalset.json:good'), evaluate('cases.evalset.json:bad')\n"
        "    other = 1\n"
        "    assert good.passed and other == 2\n"
        "def test_that(evaluate):\n"
        "    broken, bad = evaluate('cases.evalset.json:broken'), evaluate('cases.evalset.json:bad')\n"
        "    assert broken.passed\n",
    )
    result.assert_outcomes(failed=2)
    assert "out of order" in result.stdout.str()


def test_failure_without_results_is_unchanged(sandbox: Sandbox) -> None:
    result = _test(sandbox, "def test_it():\n    assert [1] == [2]\n")
    assert "proctor:" not in result.stdout.str()


def test_odd_things_in_a_failing_test_are_not_in_the_way(sandbox: Sandbox) -> None:
    result = _test(
        sandbox,
        "class Proxy:\n"
        "    @property\n"
        "    def __class__(self): raise RuntimeError('outside')\n"
        "    def __getattr__(self, name): raise RuntimeError('outside')\n"
        "    def __repr__(self): raise RuntimeError('outside')\n"
        "def test_proxy(evaluate):\n"
        "    proxy, result = Proxy(), evaluate('cases.evalset.json:bad')\n"
        "    assert result\n"
        "def test_no_source(evaluate):\n"
        "    exec('result = evaluate(\"cases.evalset.json:bad\")\\nassert result.passed')\n",
    )
    result.assert_outcomes(failed=2)
    assert result.stdout.str().count("{+yes+}") == 2


def test_marker_that_would_run_nothing_is_reported(sandbox: Sandbox) -> None:
    result = _test(sandbox, "@pytest.mark.proctor('cases.evalset.json')\ndef test_it(): pass\n")
    result.assert_outcomes(errors=1)
    assert "asks for neither `eval_case` nor `evaluate`: nothing would be run" in result.stdout.str()


@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("mark", "body", "fine"),
    [
        pytest.param("'cases.evalset.json'", "pass", False, id="nothing"),
        pytest.param("'nope.evalset.json'", "pass", False, id="nothing of a set that is not there"),
        pytest.param("'cases.evalset.json'", "assert not evaluate()", True, id="evaluate"),
        pytest.param(
            "'cases.evalset.json'", "assert evaluate('cases.evalset.json:good')", True, id="one case"
        ),
        pytest.param("'cases.evalset.json'", "pytest.skip('not today')", True, id="skipped"),
        pytest.param("num_runs=2", "pass", True, id="a marker with options only"),
    ],
)
def test_what_a_tests_own_marker_names_is_evaluated(
    sandbox: Sandbox, mark: str, body: str, fine: bool
) -> None:
    result = _test(sandbox, f"@pytest.mark.proctor({mark})\ndef test_it(evaluate):\n    {body}\n")
    assert (result.ret == 0) is fine
    message = "its marker names eval sets, and none was evaluated: write `assert evaluate()`"
    assert (message in result.stdout.str()) is not fine


def test_the_marker_of_a_class_is_for_those_that_ask(sandbox: Sandbox) -> None:
    body = "    def test_one(self, evaluate): assert not evaluate()\n    def test_two(self, evaluate): pass\n"
    result = _test(sandbox, f"@pytest.mark.proctor('cases.evalset.json')\nclass TestIt:\n{body}")
    result.assert_outcomes(passed=2)
