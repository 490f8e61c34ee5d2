"""Storage options in every form that a program may give them in, at every door that takes them."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import StorageError
from holdfast.ledgers.custom import ledger_options_of
from holdfast.storage.options import StorageSettings, settings_given

NAMED = {"endpoint": "http://localhost:9", "path_style": True}
FORMS: list[Any] = [
    NAMED,
    {"s3": NAMED},
    ["endpoint=http://localhost:9", "path_style=true"],
    ("endpoint=http://localhost:9", "path_style=yes"),
]
EXPECTED = {"endpoint": "http://localhost:9", "path_style": True}


@pytest.mark.parametrize("given", FORMS)
def test_every_form_means_the_same(given: Any) -> None:
    assert settings_given("s3", given).for_scheme("s3") == EXPECTED


def test_one_text_needs_no_list() -> None:
    assert settings_given("s3", "region=x").for_scheme("s3") == {"region": "x"}


@pytest.mark.parametrize(
    ("scheme", "given", "words"),
    [
        ("s3", {"endpont": "x"}, "did you mean endpoint?"),
        ("s3", {"s3": {"endpont": "x"}}, "did you mean endpoint?"),
        ("s3", {"endpoint": "x", "s3": {"region": "x"}}, "by name and by family"),
        ("s3", {"endpoint": None}, "must be a non-empty string"),
        ("s3", ["endpoint"], "key=value"),
        ("file", {"endpoint": "x"}, "a local path takes no storage options"),
    ],
)
def test_what_is_wrong_is_one_error(scheme: str, given: Any, words: str) -> None:
    with pytest.raises(StorageError, match=words.replace("?", r"\?")) as raised:
        settings_given(scheme, given)
    assert raised.value.code.number == "HF7010"


def test_every_public_door_takes_them() -> None:
    """Functions that open a place, and classes that do."""
    doors = {
        name
        for name in holdfast.__all__
        if callable(one := getattr(holdfast, name))
        and {"storage", "storage_options"} & {*_parameters(one)}
    }
    assert {"inspect", "start", "Job", "BatchLedger", "once_per_batch", "committed_files"} <= doors
    for name in doors:
        assert "storage_options" in _parameters(getattr(holdfast, name)), name


def _parameters(one: Any) -> list[str]:
    try:
        return list(inspect.signature(one).parameters)
    except (TypeError, ValueError):
        return []


@pytest.mark.parametrize("given", FORMS)
def test_readers_and_declared_jobs_get_them(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first place of a job that is remote decides which storage is meant."""
    seen: list[StorageSettings] = []

    class SeenError(Exception):
        pass

    def look(_location: Any, settings: StorageSettings, **_: Any) -> Any:
        seen.append(settings)
        raise SeenError

    monkeypatch.setattr("holdfast.targets.opening.open_reader", look)
    with pytest.raises(SeenError):
        holdfast.inspect("s3://bucket/cp", storage_options=given)
    for checkpoint, path in (("s3a://b/cp/j", "out"), ("cp/j", "s3a://b/out")):
        ready = holdfast.Job(
            "j", checkpoint=checkpoint, source={"format": "rate"}, sql="select 1",
            sink=holdfast.DeltaSink(path=path), storage_options=given,
        ).ready()  # fmt: skip
        seen += [ready.settings, ready.sink.settings]
    ledger = holdfast.once_per_batch(ledger="s3://b/l", storage_options=given)(print)
    options = ledger_options_of(ledger)
    assert options is not None
    seen += [options.storage, holdfast.BatchLedger("s3://b/l", storage_options=given)._settings]
    assert [one.for_scheme("s3") for one in seen] == [EXPECTED] * len(seen) and len(seen) == 7


def test_the_older_keywords_still_count(tmp_path: Path) -> None:
    """`storage=` by family; where both name an option, `storage_options` counts."""
    ready = holdfast.Job(
        "j", checkpoint="s3a://b/cp/j", source={"format": "rate"}, sql="select 1",
        sink={"format": "console"}, storage={"s3": {"region": "a", "endpoint": "http://e"}},
        storage_options={"region": "b"},
    ).ready()  # fmt: skip
    assert ready.settings.for_scheme("s3") == {"region": "b", "endpoint": "http://e"}
    assert holdfast.committed_files(tmp_path, StorageSettings()) == []
