"""The JSON Schema of the project file agrees with what is read."""

from __future__ import annotations

import copy

import pytest
import yaml
from jsonschema import Draft202012Validator

from holdfast.jobs.projectfile.model import project_schema
from tests.jobs.bad_projects import BAD_PROJECTS
from tests.jobs.projectfile.test_model_project import CONTRACT

VALIDATOR = Draft202012Validator(project_schema())


def test_it_is_a_json_schema() -> None:
    Draft202012Validator.check_schema(project_schema())


def test_it_accepts_the_contracts_example() -> None:
    assert [*VALIDATOR.iter_errors(yaml.safe_load(CONTRACT))] == []


@pytest.mark.parametrize("change", [{"chekpoints": "x"}, {"project": "Bad"}, {"jobs": {"A": {}}}])
def test_it_refuses_what_the_reader_refuses(change: dict[str, object]) -> None:
    document = {**copy.deepcopy(yaml.safe_load(CONTRACT)), **change}
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("name", [n for n in BAD_PROJECTS if n.startswith("unknown")])
def test_it_refuses_unknown_keys_and_values(name: str) -> None:
    text, code, _, _ = BAD_PROJECTS[name]
    if code in ("HF1103", "HF1104"):
        assert not VALIDATOR.is_valid(yaml.safe_load(text))
