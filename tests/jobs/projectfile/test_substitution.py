"""References are filled in from the environment and from files, and become secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ProjectError
from holdfast.jobs.projectfile.model import read_project
from holdfast.jobs.projectfile.substitution import fill_in
from holdfast.redaction import redact

AT = "holdfast.yaml:3:5"


def test_environment_and_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_USER", "substituted-user")
    (tmp_path / "secret.txt").write_text("substituted-secret\n\n")
    text = "postgresql://${env:HOLDFAST_TEST_USER}:${file:secret.txt}@h"
    filled = fill_in(text, folder=tmp_path, at=AT)
    assert filled == "postgresql://substituted-user:substituted-secret\n@h"


def test_what_was_filled_in_is_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_SECRET", "a-secret-of-this-test")
    fill_in("${env:HOLDFAST_TEST_SECRET}", folder=tmp_path, at=AT)
    assert redact("no a-secret-of-this-test here") == "no [redacted] here"


def test_what_was_filled_in_is_not_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_NESTED", "${env:HOME}")
    assert fill_in("${env:HOLDFAST_TEST_NESTED}", folder=tmp_path, at=AT) == "${env:HOME}"


def test_text_without_references_stays(tmp_path: Path) -> None:
    assert fill_in("a $x $$ {y} $(z)", folder=tmp_path, at=AT) == "a $x $$ {y} $(z)"


@pytest.mark.parametrize(
    ("reference", "word"),
    [
        ("${env:HOLDFAST_TEST_NOT_SET}", "HOLDFAST_TEST_NOT_SET"),
        ("${env:HOLDFAST_TEST_EMPTY}", "empty"),
        ("${file:none.txt}", "no such file"),
        ("${file:empty.txt}", "empty"),
        ("${file:binary}", "UTF-8"),
        ("${file:.}", "directory"),
        ("${file:large}", "64 KiB"),
        ("${file:a\0b}", "cannot be read"),
    ],
)
def test_what_can_not_be_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str, word: str
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_EMPTY", "")
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_text("x" * 70_000)
    with pytest.raises(ProjectError) as raised:
        fill_in(f"x {reference}", folder=tmp_path, at=AT)
    assert (raised.value.code.number, raised.value.at) == ("HF1107", AT)
    assert word in raised.value.message


@pytest.mark.parametrize(
    ("reference", "step"),
    [
        ("${SPARK_MASTER}", "write ${env:SPARK_MASTER} for the environment variable SPARK_MASTER"),
        ("${A:-local}", "write ${env:A} for the environment variable A; there is no default value"),
        (
            "${vault:x}",
            "write ${env:NAME} for an environment variable, or ${file:PATH} for a file",
        ),
    ],
)
def test_a_reference_of_another_form_is_written_out_in_the_next_step(
    tmp_path: Path, reference: str, step: str
) -> None:
    file = tmp_path / "holdfast.yaml"
    file.write_text(f'project: p\nspark: {{master: "{reference}"}}\n')
    with pytest.raises(ProjectError) as raised:
        read_project(file, "holdfast.yaml")
    assert raised.value.code.number == "HF1107"
    assert raised.value.next_steps == (step,)


SHOWN: list[tuple[str | int, ...]] = [
    ("jobs", "a", "source", "path"),
    ("jobs", "a", "sources", "left", "path"),
    ("jobs", "a", "sink", "path"),
    ("jobs", "a", "sink", "table"),
    ("jobs", "a", "source", "options", "path"),
    ("jobs", "a", "source", "options", "subscribe"),
    ("jobs", "a", "sources", "left", "options", "subscribePattern"),
    ("jobs", "a", "sink", "options", "topic"),
    ("jobs", "a", "source", "options", "kafka.bootstrap.servers"),
    ("spark", "master"),
    ("spark", "jars", 0),
    ("storage", "s3", "endpoint"),
]
SECRET: list[tuple[str | int, ...]] = [
    (),
    ("jobs", "a", "sink", "url"),
    ("jobs", "a", "sql"),
    ("jobs", "a", "sink", "options", "password"),
    ("jobs", "a", "sources", "path", "options", "anything"),
    ("jobs", "a", "source", "options", "kafka.sasl.jaas.config"),
    ("jobs", "a", "on_failure", "webhook"),
    ("jobs", "path", "conf", "spark.some.setting"),
    ("spark", "conf", "spark.hadoop.fs.s3a.secret.key"),
    ("storage", "s3", "secret"),
    ("storage", "s3", "key"),
]


def filled_at(path: tuple[str | int, ...], text: str, folder: Path) -> str:
    return fill_in(text, folder=folder, at=AT, path=path)


@pytest.mark.parametrize("path", SHOWN, ids=str)
def test_a_path_a_name_and_a_host_are_shown(
    path: tuple[str | int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = f"shown{SHOWN.index(path)}.example"
    monkeypatch.setenv("HOLDFAST_TEST_SHOWN", value)
    assert filled_at(path, "${env:HOLDFAST_TEST_SHOWN}", tmp_path) == value
    assert redact(f"at {value} now") == f"at {value} now"


@pytest.mark.parametrize("path", SECRET, ids=str)
def test_everything_else_is_a_secret(
    path: tuple[str | int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = f"planted-{SECRET.index(path)}-value"
    monkeypatch.setenv("HOLDFAST_TEST_PLANTED", value)
    assert filled_at(path, "${env:HOLDFAST_TEST_PLANTED}", tmp_path) == value
    assert redact(f"at {value} now") == "at [redacted] now"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "s3a://me:${env:HOLDFAST_TEST_KEY}@bucket/x"),
        (1, "https://host/x?sig=${env:HOLDFAST_TEST_KEY}"),
        (2, "wasbs://c@account/x?token=${env:HOLDFAST_TEST_KEY}"),
    ],
)
def test_a_path_that_holds_a_secret_keeps_it(
    number: int, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it is printed without what is around it."""
    value = f"in-a-path-{number}-Zq7xK"
    monkeypatch.setenv("HOLDFAST_TEST_KEY", value)
    filled_at(("jobs", "a", "sink", "path"), text, tmp_path)
    assert redact(f"denied: {value}") == "denied: [redacted]"


def test_a_number_among_settings_is_no_secret_but_under_a_secrets_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_NUMBER", "40961")
    filled_at(
        ("spark", "conf", "spark.sql.shuffle.partitions"), "${env:HOLDFAST_TEST_NUMBER}", tmp_path
    )
    assert redact("40961 rows") == "40961 rows"
    monkeypatch.setenv("HOLDFAST_TEST_NUMBER", "81924")
    filled_at(("jobs", "a", "conf", "spark.my.password"), "${env:HOLDFAST_TEST_NUMBER}", tmp_path)
    assert redact("81924 rows") == "[redacted] rows"
