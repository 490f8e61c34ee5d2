"""Secrets planted in a checkpoint, a project and a command line: none is ever printed."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from holdfast.cli import main as cli_main
from tests.checkpoint.pictures import files_of
from tests.cli.running import Printed, holdfast
from tests.corpus.loading import sample
from tests.redaction.test_planted import PLACES, SECRETS
from tests.storage.places import write_tree

PLANTED = [place.format(secret) for place, secret in zip(PLACES, SECRETS, strict=False)]
FORMS = {
    "plain": PLANTED,
    "URL-encoded": [quote_plus(text) for text in PLANTED],
    "base64": [base64.b64encode(text.encode()).decode() for text in PLANTED],
}


def survivors(printed: Printed) -> list[str]:
    """Name the secrets that can be found in what was printed, in any of their forms."""
    text = (printed.out + printed.err).replace("\n", "").replace(" ", "")
    found = []
    for secret in SECRETS:
        # A base64 text holds a secret at one of three alignments; its inner part is the same.
        inner = [base64.b64encode(b"x" * pad + secret.encode())[4:-4].decode() for pad in range(3)]
        if any(form in text for form in (secret, quote(secret, safe=""), *inner)):
            found.append(secret)
    return found


def checkpoint_with(texts: list[str], tmp_path: Path) -> Path:
    """Plant texts wherever a checkpoint holds text that we show."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    for side in root.rglob(".*.crc"):
        side.unlink()
    offsets = root / "offsets" / "3"
    version, metadata, source = offsets.read_text().split("\n")
    entry = json.loads(metadata)
    entry["conf"] |= {f"spark.planted.{number}": text for number, text in enumerate(texts)}
    entry["laterField"] = texts
    offset = json.dumps({"position": texts})
    offsets.write_text("\n".join([version, json.dumps(entry), source, offset]))
    commit = root / "commits" / "3"
    fields = json.loads(commit.read_text().split("\n")[1])
    commit.write_text("v1\n" + json.dumps({**fields, "note": texts}))
    (root / "commits" / "2").write_text("v1\n" + "".join(texts))
    (root / "offsets" / "1").write_text("v1\n{}\n" + "\n".join(texts))
    return root


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("options", [(), ("--json",), ("--json", "--verify")])
def test_nothing_planted_in_a_checkpoint_is_printed(
    form: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    """More than 40 secrets in settings, unknown fields, offsets and damaged entries."""
    assert len(PLANTED) >= 40
    root = checkpoint_with(FORMS[form], tmp_path)
    printed = holdfast("inspect", str(root), *options)
    assert printed.status == 3
    assert survivors(printed) == []
    assert survivors(holdfast("diff", str(root), str(root), *options[:1])) == []


@pytest.mark.parametrize("form", FORMS)
def test_nothing_in_a_failure_s_text_is_printed(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exception texts and Java traces, as an error that nobody foresaw would carry them."""
    for text in FORMS[form]:

        def fail(*_words: object, text: str = text, **_options: object) -> None:
            raise RuntimeError(text)

        monkeypatch.setattr(cli_main.holdfast, "main", fail)
        for options in ((), ("--json",)):
            printed = holdfast("inspect", "x", *options)
            assert printed.status == 1
            assert survivors(printed) == []


def test_secrets_of_the_command_line_and_the_project_are_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """URLs with user info, storage options, and what `${env:…}` and `${file:…}` stand for."""
    first, second, third, fourth = SECRETS[:4]
    monkeypatch.setenv("PLANTED_SECRET", first)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.txt").write_text(second + "\n")
    (tmp_path / "holdfast.yaml").write_text(
        "project: planted\n"
        "checkpoints: s3://bucket/checkpoints\n"
        "storage:\n"
        "  s3:\n"
        "    endpoint: http://127.0.0.1:9\n"
        "    key: ${env:PLANTED_SECRET}\n"
        "    secret: ${file:secret.txt}\n"
        "jobs:\n"
        "  orders:\n"
        "    source: {format: rate}\n"
        "    sql: select * from source\n"
        "    sink: {format: console}\n"
    )
    for words in (
        ("inspect", "orders", "--timeout", "0.2"),
        ("inspect", f"s3://me:{third}@bucket/x", "--timeout", "0.2"),
        ("inspect", "s3://bucket/x", "--storage-option", f"secret={fourth}", "--timeout", "0.2"),
        ("inspect", "s3://bucket/x", "--storage-option", f"sekret={fourth}"),
        ("inspect", f"https://host/x?token={third}"),
        ("inspct", f"https://host/x?token={third}"),
    ):
        for options in ((), ("--json",)):
            printed = holdfast(*words, *options)
            assert printed.status not in (0, 1), printed
            assert survivors(printed) == [], words


SINKS = [
    "{format: postgres, url: '${env:PLANTED_URL}', table: '${env:PLANTED_TABLE}'}",
    "{format: jdbc, url: 'jdbc:x://h/db?password=${env:PLANTED_SECRET}', table: t,"
    " options: {user: '${env:PLANTED_SECRET}'}}",
    "{format: delta, path: '${env:PLANTED_PATH}', options: {any: '${env:PLANTED_SECRET}'}}",
    "{format: kafka, options: {topic: '${env:PLANTED_TABLE}', other: '${file:secret.txt}'}}",
]


@pytest.mark.parametrize("sink", SINKS)
def test_a_path_is_shown_and_a_secret_beside_it_never(
    sink: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sinks and sources from the environment, by every command that reads the project."""
    first, second, third = SECRETS[4:7]
    monkeypatch.setenv("PLANTED_SECRET", first)
    monkeypatch.setenv("PLANTED_URL", f"postgresql://me:{second}@127.0.0.1:9/db")
    monkeypatch.setenv("PLANTED_TABLE", "name_of_env")
    monkeypatch.setenv("PLANTED_PATH", "./lake-of-env/gold")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.txt").write_text(third)
    (tmp_path / "holdfast.yaml").write_text(
        "project: planted\njobs:\n  orders:\n"
        "    source: {format: json, path: './${env:PLANTED_TABLE}', schema: n long,\n"
        "             options: {secret: '${env:PLANTED_SECRET}'}}\n"
        f"    sql: select * from source\n    sink: {sink}\n"
    )
    write_tree(tmp_path / "checkpoints" / "orders", files_of("stateless"))
    for words in (("doctor", "orders"), ("evidence", "orders"), ("status",), ("inspect", "orders")):
        for options in ((), ("--json",)):
            printed = holdfast(*words, *options)
            assert printed.status in (0, 3), printed
            assert survivors(printed) == [], words
    told = json.loads(holdfast("doctor", "orders", "--json").out)
    assert "name_of_env" in json.dumps(told["findings"])
    if "delta" in sink:
        (examined,) = told["result"]["targets"]
        assert examined["sink"]["location"] == str(tmp_path / "lake-of-env" / "gold")


def test_a_path_that_cannot_be_filled_in_is_a_finding_about_access(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint itself is still examined."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLANTED_PATH", raising=False)
    (tmp_path / "holdfast.yaml").write_text(
        "project: planted\njobs:\n  orders:\n    source: {format: rate}\n"
        "    sql: select * from source\n"
        "    sink: {format: delta, path: '${env:PLANTED_PATH}'}\n"
    )
    write_tree(tmp_path / "checkpoints" / "orders", files_of("stateless"))
    told = json.loads(holdfast("doctor", "orders", "--json").out)
    assert told["result"]["targets"][0]["last_committed"] == 3
    messages = [one["message"] for one in told["findings"]]
    assert any("PLANTED_PATH" in one for one in messages), messages
