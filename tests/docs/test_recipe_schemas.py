"""The recipes of docs/how-to/shards.md use only fields that their systems know, with values that these accept.

The schemas contain the fields that the recipes use, and the rules between them.
"""

import re
from copy import deepcopy
from typing import Any

import jsonschema
import pytest
import yaml

from tests.docs.test_shards import PARTS, recipe

TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT, "minItems": 1}
VARIABLES: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}
PARALLEL: dict[str, Any] = {"type": "integer", "minimum": 2, "maximum": 200}


def thing(required: str = "", /, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object that has only these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


STEP = thing(
    uses={"type": "string", "pattern": r"^[\w.-]+/[\w.-]+@v\d+$"}, run=TEXT, **{"with": {"type": "object"}}
)
STEP["oneOf"] = [{"required": ["uses"]}, {"required": ["run"]}]
GITHUB_JOB = thing(
    "runs-on steps",
    **{"runs-on": {"const": "ubuntu-latest"}, "if": TEXT},
    needs=TEXT,
    env=VARIABLES,
    strategy=thing("matrix", **{"fail-fast": {"type": "boolean"}}, matrix={"type": "object"}),
    steps={"type": "array", "items": STEP, "minItems": 1},
)
GITHUB = thing(
    "on jobs",
    name=TEXT,
    on=TEXTS,
    permissions=thing(contents={"enum": ["read", "none"]}),
    jobs={"type": "object", "additionalProperties": GITHUB_JOB},
)

GITLAB_JOB = thing(
    "script",
    stage={"enum": [".pre", "build", "test", "deploy", ".post"]},  # the stages of a file that names none
    image=TEXT,
    parallel=PARALLEL,
    allow_failure={"type": "boolean"},
    script=TEXTS,
    artifacts=thing(when={"enum": ["on_success", "on_failure", "always"]}, reports=thing(junit=TEXT)),
)
GITLAB = {
    "type": "object",
    "properties": {"variables": VARIABLES},
    "additionalProperties": GITLAB_JOB,
}

VARIABLE = thing(
    "name",
    name={"type": "string", "pattern": "^[A-Z_][A-Z0-9_]*$"},
    value={"type": "string"},
    valueFrom=thing("secretKeyRef", secretKeyRef=thing("name key", name=TEXT, key=TEXT)),
)
VARIABLE["oneOf"] = [{"required": ["value"]}, {"required": ["valueFrom"]}]
NAME = {"type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"}
CONTAINER = thing(
    "name image", name=NAME, image=TEXT, env={"type": "array", "items": VARIABLE}, command=TEXTS, args=TEXTS
)
EXIT_CODES = {
    "type": "array",
    "items": {"type": "integer", "minimum": 1, "maximum": 255},  # `In` must not contain 0
    "uniqueItems": True,
}
POLICY = thing(
    "rules",
    rules={
        "type": "array",
        "items": thing(
            "action onExitCodes",
            action={"enum": ["FailJob", "FailIndex", "Ignore", "Count"]},
            onExitCodes=thing("operator values", operator={"enum": ["In", "NotIn"]}, values=EXIT_CODES),
        ),
    },
)
KUBERNETES = thing(
    "apiVersion kind metadata spec",
    apiVersion={"const": "batch/v1"},
    kind={"const": "Job"},
    metadata=thing("name", name=NAME),
    spec=thing(
        "completions parallelism completionMode template",
        # a limit for each index, and so the action FailIndex, exist only in an indexed job whose pods are never restarted
        completionMode={"const": "Indexed"},
        completions={"const": PARTS},
        parallelism={"const": PARTS},
        backoffLimitPerIndex={"type": "integer", "minimum": 0},
        podFailurePolicy=POLICY,
        template=thing(
            "spec",
            spec=thing(
                "restartPolicy containers",
                restartPolicy={"const": "Never"},
                containers={"type": "array", "items": CONTAINER, "minItems": 1, "maxItems": 1},
            ),
        ),
    ),
)
KUBERNETES["properties"]["spec"]["dependentRequired"] = {"podFailurePolicy": ["backoffLimitPerIndex"]}

SLURM = thing(
    "array",
    **{"job-name": TEXT, "array": {"const": f"1-{PARTS}"}, "requeue": {"const": True}},
    time={"type": "string", "pattern": r"^(\d+-)?\d{1,2}:\d{2}:\d{2}$"},
)


def read_yaml(text: str) -> Any:
    """Read YAML as these systems do: `on` is a word and not a boolean."""
    return {{True: "on"}.get(key, key): value for key, value in yaml.safe_load(text).items()}


def read_sbatch(text: str) -> Any:
    """Read the options of a batch script; sbatch ignores those after the first command."""
    head = re.match(r"#!/bin/bash\n((?:#.*\n)*)", text)
    assert head is not None
    found = re.findall(r"^#SBATCH --([\w-]+)(?:=(\S+))?$", head[1], flags=re.MULTILINE)
    assert len(found) == text.count("#SBATCH")
    return {name: value or True for name, value in found}


RECIPES = {
    "github": (".github/workflows/shards.yml", read_yaml, GITHUB),
    "gitlab": (".gitlab-ci.yml", read_yaml, GITLAB),
    "kubernetes": ("job.yaml", read_yaml, KUBERNETES),
    "slurm": ("evals.sbatch", read_sbatch, SLURM),
}


@pytest.mark.parametrize("system", RECIPES)
def test_a_recipe_is_a_valid_file_of_its_system(system: str) -> None:
    name, read, schema = RECIPES[system]
    jsonschema.validate(read(recipe(name)), schema, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("system", "path", "value"),
    [
        pytest.param("github", "jobs part runs_on", "ubuntu-latest", id="a key with another spelling"),
        pytest.param("gitlab", "part parallel", "four", id="a text instead of a number"),
        pytest.param("gitlab", "part scripts", ["true"], id="an unknown keyword"),
        pytest.param("kubernetes", "spec completionMode", "NonIndexed", id="a job without indexes"),
        pytest.param("kubernetes", "spec template spec restartPolicy", "OnFailure", id="pods that are restarted"),
        pytest.param("kubernetes", "spec backOffLimit", 1, id="a field with another spelling"),
        pytest.param("slurm", "time", "2 hours", id="a duration of another form"),
        pytest.param("slurm", "arrays", "1-4", id="an unknown option"),
    ],
)  # fmt: skip
def test_the_schema_refuses(system: str, path: str, value: Any) -> None:
    name, read, schema = RECIPES[system]
    document = deepcopy(read(recipe(name)))
    *parents, key = path.split()
    place = document
    for parent in parents:
        place = place[parent]
    place[key] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema, jsonschema.Draft202012Validator)
