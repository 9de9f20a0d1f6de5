"""A model that cannot be asked is a set-up error, found without any network: a missing key, a missing extra."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.errors import SetupError
from proctor.models.load import as_model, load_model
from proctor.models.retries import PatientModel

pytest.importorskip("pydantic_ai", reason="the extra `judges` is not installed")


@pytest.fixture(autouse=True)
def _empty_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpt-5", "The model gpt-5 cannot be asked: the environment variable OPENAI_API_KEY is not set."),
        ("claude-opus-4-8", "the environment variable ANTHROPIC_API_KEY is not set"),
        ("groq/llama-3.3", "the environment variable GROQ_API_KEY is not set"),
        ("azure/mine", "the environment variable AZURE_OPENAI_API_KEY is not set"),
        (
            "gemini-2.5-flash",
            "GOOGLE_API_KEY (or GEMINI_API_KEY), or GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION for Vertex AI.",
        ),
        (
            "vertex:gemini-2.5-flash",
            "set the environment variables GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION.",
        ),
        ("vertex:claude-opus-4-8", "of Vertex AI, only Gemini's models are in this version"),
        ("bedrock:amazon.nova-pro-v1:0", "the environment variable AWS_REGION is not set"),
    ],
)
def test_a_key_that_is_missing_is_named(name: str, message: str) -> None:
    with pytest.raises(SetupError) as caught:
        load_model(name)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "variables", "message"),
    [
        ("gemini-2.5-flash", {"GOOGLE_CLOUD_PROJECT": "p"}, "(only GOOGLE_CLOUD_PROJECT is)"),
        ("azure/mine", {"AZURE_API_KEY": "k"}, "AZURE_OPENAI_ENDPOINT is not set"),
        ("gpt-5", {"OPENAI_BASE_URL": "nowhere"}, "OPENAI_BASE_URL='nowhere' has no host"),
        ("bedrock:amazon.nova", {"AWS_REGION": "us-east-1"}, "there are no credentials of AWS"),
        (
            "vertex:gemini-2.5-flash",
            {
                "GOOGLE_CLOUD_PROJECT": "p",
                "GOOGLE_CLOUD_LOCATION": "l",
                "GOOGLE_APPLICATION_CREDENTIALS": "/nowhere.json",
            },
            "GOOGLE_APPLICATION_CREDENTIALS names /nowhere.json, which is not a file",
        ),
    ],
)
def test_half_of_what_is_needed_is_not_enough(
    name: str, variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(SetupError) as caught:
        load_model(name)
    assert message in str(caught.value)


@pytest.mark.slow
@pytest.mark.nightly(check=2)
@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("gpt-5", {"OPENAI_API_KEY": "k"}),
        ("gpt-5", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}),
        ("openai:mine@http://127.0.0.1:1/v1", {}),
        ("gemini-2.5-flash", {"GOOGLE_API_KEY": "k"}),
        ("gemini-2.5-flash", {"GEMINI_API_KEY": "k"}),
        ("gemini-2.5-flash", {"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "us-central1"}),
        ("projects/p/locations/l/publishers/google/models/gemini-2.5-pro", {}),
        ("ollama/llama3.2", {}),
        ("claude-opus-4-8", {"ANTHROPIC_API_KEY": "k"}),
        ("bedrock:amazon.nova", {"AWS_REGION": "us-east-1", "AWS_BEARER_TOKEN_BEDROCK": "k"}),
        (
            "bedrock:amazon.nova",
            {"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"},
        ),
        ("azure/mine", {"AZURE_API_KEY": "k", "AZURE_API_BASE": "https://mine.openai.azure.com"}),
        ("together_ai/meta/llama", {"TOGETHER_API_KEY": "k"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "+".join(value) or "nothing",
)
def test_what_is_enough_to_be_asked(
    name: str, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    model = load_model(name)
    assert (model.name, model.has_schemas) == (name, True)
    assert model._model._ready() is not None  # type: ignore[attr-defined]  # and pydantic-ai takes it, without network


_HIDES = """
import sys

class Hides:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hides())
from proctor.errors import MissingExtraError
from proctor.models.load import load_model
try:
    load_model({name!r})
except MissingExtraError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.nightly(check=3)
@pytest.mark.parametrize(
    ("hidden", "name", "extra"),
    [
        ("pydantic_ai", "gpt-5", "judges-openai"),
        ("pydantic_ai", "gemini-2.5-flash", "judges-google"),
        ("genai_prices", "claude-opus-4-8", "judges-anthropic"),
        ("openai", "ollama/llama3.2", "judges-openai"),
        ("openai", "azure/mine", "judges-openai"),
        ("openai", "mine@http://127.0.0.1:1/v1", "judges-openai"),
        ("google", "gemini-2.5-flash", "judges-google"),
        ("google", "vertex:gemini-2.5-flash", "judges-google"),
        ("anthropic", "claude-opus-4-8", "judges-anthropic"),
        ("boto3", "bedrock:amazon.nova-pro-v1:0", "judges-bedrock"),
    ],
)
def test_missing_extra_names_the_package_to_install(hidden: str, name: str, extra: str) -> None:
    script = _HIDES.format(hidden=hidden, name=name)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    package = "google.genai" if hidden == "google" else hidden
    assert done.stdout == (
        f"The model {name} needs the package {package!r}. Run: pip install 'proctor[{extra}]'\n"
    )


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [
        ("openai", "gpt-5", "judges-openai"),
        ("google-genai", "gemini-2.5-flash", "judges-google"),
        ("anthropic", "claude-opus-4-8", "judges-anthropic"),
        ("boto3", "bedrock:amazon.nova-pro-v1:0", "judges-bedrock"),
    ],
)
def test_a_package_that_is_too_old_is_named_with_both_versions(
    package: str, name: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with google-adk[eval], whose litellm takes an older openai. (The version is that of the metadata.)"""
    info = tmp_path / f"{package.replace('-', '_')}-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SetupError) as caught:
        load_model(name)
    assert re.fullmatch(
        rf"The model {name} needs {package}>=[\d.]+, and {package} 0\.1 is installed\. "
        rf"Run: pip install 'proctor\[{extra}\]'",
        str(caught.value),
    )


@pytest.mark.slow
def test_loading_a_model_loads_no_provider() -> None:
    script = (
        "import os, sys; os.environ['OPENAI_API_KEY'] = 'k'\n"
        "from proctor.models.load import load_model\n"
        "load_model('gpt-5'); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    tops = {name.partition(".")[0] for name in done.stdout.split()}
    assert "proctor" in tops
    assert tops & {"pydantic_ai", "openai", "anthropic", "genai_prices", "httpx2", "boto3"} == set()


def test_what_a_model_may_be_given_as() -> None:
    class Mine:
        name, has_schemas = "mine", True

        async def complete(self, messages: object, *, options: object) -> None: ...

    mine = Mine()
    assert as_model(mine) is mine  # type: ignore[comparison-overlap]  # mypy sees two classes, and it is one
    assert as_model(lambda messages: "yes").has_schemas is False
    assert isinstance(as_model("openai:x@http://127.0.0.1:1/v1"), PatientModel)


@pytest.mark.parametrize("given", [None, 7, Mine := type("Mine", (), {}), ["gpt-5"]], ids=repr)
def test_what_no_model_may_be_given_as(given: object) -> None:
    with pytest.raises(SetupError, match="A model is a name, an object with `complete`, or a function"):
        as_model(given)


class Answering:
    """A model that lacks what is read of it before it is asked."""

    async def complete(self, messages: object, *, options: object) -> None: ...


class Named(Answering):
    name = "mine"


class Misspelled(Named):
    has_schemas = "yes"


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (
            Answering(),
            "`name` (a text) is missing; `has_schemas` (true or false) is missing. A model has `name`",
        ),
        (Named(), "is not a model: `has_schemas` (true or false) is missing. A model has `name`"),
        (Misspelled(), "`has_schemas` (true or false) is str 'yes'. A model has `name`"),
    ],
)
def test_a_model_that_lacks_a_part_is_named_with_what_it_must_have(given: object, missing: str) -> None:
    with pytest.raises(SetupError, match=re.escape(missing)):
        as_model(given)
