"""`holdfast evidence` as people and scripts see it."""

from __future__ import annotations

import base64
import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest

from docs.generating.schemas import document_schema
from tests.cli.running import Printed, holdfast
from tests.cli.test_inspect import digest_tree
from tests.cli.test_secrets import FORMS, checkpoint_with, survivors
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus, sample
from tests.redaction.test_planted import SECRETS, traces_of

NAMES = [
    "checkpoint_location", "query_id", "source_offsets", "sink", "output_mode",
    "stateful_operators", "state_store_provider", "spark_version", "restart_history",
]  # fmt: skip


@cache
def validator() -> jsonschema.Draft202012Validator:
    """Give what checks a document against the documented schema."""
    return jsonschema.Draft202012Validator(document_schema("evidence"))


@over_samples("one", corpus())
def test_every_real_checkpoint_is_answered_and_left_alone(
    one: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In text, Markdown and JSON that fits its schema; nothing is written but the bundle."""
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "given").mkdir()
    root = one.extract(tmp_path / "given")
    output = root.parent / "output"
    sink = ("--sink", str(output)) if output.exists() else ()
    before = digest_tree(tmp_path / "given")
    shown = holdfast("evidence", str(root), *sink)
    assert shown.status in (0, 3), shown.err
    assert shown.fits(80)
    answered = holdfast("evidence", str(root), *sink, "--json", "--bundle", str(tmp_path / "b.zip"))
    document = answered.document
    assert [error.message for error in validator().iter_errors(document)] == []
    assert unpacked(tmp_path / "b.zip")["evidence.md"].startswith(b"# Evidence: ")
    assert document["result"]["query_id"]["value"] == one.facts["query_id"]
    assert digest_tree(tmp_path / "given") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "given"]


def test_the_document_has_the_contracts_fields(tmp_path: Path) -> None:
    """Nine facts of value, basis and source; ready; missing."""
    root = sample("aggregation-hdfs-lz4", "4.3.0").extract(tmp_path)
    document = holdfast("evidence", str(root), "--json").document
    assert document["schema"] == "holdfast.evidence/1"
    result = document["result"]
    assert list(result) == [*NAMES, "ready", "missing", "bundle"]
    for name in NAMES:
        assert set(result[name]) == {"value", "basis", "source"}
        assert result[name]["basis"] in ("recorded", "read", "inferred", "unknown")
    assert result["ready"] is False
    assert set(result["missing"][0]) == {"fact", "essential", "what", "how"}
    assert document["next"][0] == f"holdfast evidence {root} --sink PATH"


def test_a_job_brings_its_sink_and_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its output folder is asked without being named; --sink comes before it."""
    sample("stateless", "4.3.0").extract(tmp_path)
    (tmp_path / "checkpoint").rename(tmp_path / "orders")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "holdfast.yaml").write_text(
        "project: shop\ncheckpoints: .\njobs:\n  orders:\n    source: {format: json, path: ./in}\n"
        "    sql: select * from source\n    sink: {format: parquet, path: ./output}\n"
    )
    result = holdfast("evidence", "orders", "--json").document["result"]
    assert result["sink"]["value"]["last_committed"] == 3
    assert result["sink"]["basis"] == "read"
    assert result["output_mode"] == {
        "value": "append",
        "basis": "inferred",
        "source": "holdfast.yaml:7:5",
    }
    assert result["ready"] is True
    (tmp_path / "empty").mkdir()
    answered = holdfast("evidence", "orders", "--sink", "empty", "--json")
    assert [one["code"] for one in answered.document["findings"]] == ["HF2504"]
    assert answered.status == 3
    (tmp_path / "output").rename(tmp_path / "moved")
    document = holdfast("evidence", "orders", "--json").document
    assert document["findings"] == []
    result = document["result"]
    assert (result["sink"]["basis"], result["sink"]["value"]["kind"]) == ("inferred", "parquet")
    assert result["ready"] is True


def test_a_declared_folder_that_cannot_be_reached_still_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark may reach what this machine can't; one that the user names has to be readable."""
    sample("stateless", "4.3.0").extract(tmp_path)
    (tmp_path / "checkpoint").rename(tmp_path / "orders")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "holdfast.yaml").write_text(
        "project: shop\ncheckpoints: .\njobs:\n  orders:\n    source: {format: json, path: ./in}\n"
        "    sql: select * from source\n    sink: {format: delta, path: 'dbfs:/gold'}\n"
    )
    answered = holdfast("evidence", "orders", "--json")
    assert answered.status == 0
    sink = answered.document["result"]["sink"]
    assert (sink["basis"], sink["value"]["identity"]) == ("inferred", "dbfs:/gold")
    named = holdfast("evidence", "orders", "--sink", "dbfs:/gold", "--json")
    assert named.document["error"]["code"] == "HF7005"


def test_the_markdown_can_be_pasted(tmp_path: Path) -> None:
    """One line a fact, nothing wrapped, nothing that breaks the table."""
    root = sample("stateless", "4.3.0").extract(tmp_path / "a|b")
    lines = holdfast("evidence", str(root), "--format", "markdown").out.splitlines()
    rows = [line for line in lines if line.startswith("| ") and "| basis |" not in line][:9]
    assert [row.split(" | ")[0].strip("| ").replace(" ", "_") for row in rows] == NAMES
    assert all(row.replace("\\|", "").count("|") == 5 for row in rows)
    assert "**Not ready for advice:** sink unknown." in lines


def test_markdown_and_json_exclude_each_other(tmp_path: Path) -> None:
    """Which of the two is meant can't be told."""
    printed = holdfast("evidence", str(tmp_path), "--json", "--format", "markdown")
    assert printed.status == 2
    assert printed.document["error"]["code"] == "HF1001"


def test_a_bundle_is_never_overwritten_nor_put_into_evidence(tmp_path: Path) -> None:
    """HF2501, HF2502 and HF2503: nothing is written then."""
    root = sample("stateless", "4.3.0").extract(tmp_path / "given")
    output = root.parent / "output"
    taken = tmp_path / "taken.zip"
    taken.write_bytes(b"older")
    before = digest_tree(tmp_path)
    for target, code in (
        (taken, "HF2501"),
        (root / "b.zip", "HF2502"),
        (output / "b.zip", "HF2502"),
        (tmp_path / "none" / "b.zip", "HF2503"),
    ):
        printed = holdfast(
            "evidence", str(root), "--sink", str(output), "--bundle", str(target), "--json"
        )
        assert printed.status == 2
        assert printed.document["error"]["code"] == code
    assert digest_tree(tmp_path) == before


def test_a_bundle_holds_the_evidence_and_is_the_same_again(tmp_path: Path) -> None:
    """Byte by byte, and its digest is told."""
    root = sample("join", "4.3.0").extract(tmp_path)
    first, second = tmp_path / "1.zip", tmp_path / "2.zip"
    told = holdfast("evidence", str(root), "--json", "--bundle", str(first)).document
    assert "2.zip" in holdfast("evidence", str(root), "--bundle", str(second)).out
    assert first.read_bytes() == second.read_bytes()
    inside = unpacked(first)
    evidence = json.loads(inside["evidence.json"])
    told["result"]["bundle"] = None
    assert evidence == told
    pasted = holdfast("evidence", str(root), "--format", "markdown").out
    assert inside["evidence.md"].decode().rstrip() == pasted.rstrip()
    manifest = json.loads(inside["manifest.json"])
    assert set(manifest["made"]) == {"evidence.json", "evidence.md"}
    assert manifest["query_id"] == evidence["result"]["query_id"]["value"]


@pytest.mark.parametrize("form", FORMS)
def test_no_planted_secret_is_printed_or_packed(form: str, tmp_path: Path) -> None:
    """More than 40 secrets in settings, offsets, commits, unknown fields and damaged entries."""
    root = checkpoint_with(FORMS[form], tmp_path / "given")
    planted = root / "sources" / "0" / "9"
    planted.write_text("v1\n" + "\n".join(json.dumps({"path": one}) for one in FORMS[form]))
    for number, text in enumerate(FORMS[form]):
        name = text if form == "base64" else quote(text, safe="")
        if len(name) < 200 and "/" not in name:
            folder = root / "sources" / f"{number}.{name}"
            folder.mkdir()
            (folder / "0").write_text("v1\n{}")
    for options in ((), ("--json",), ("--format", "markdown")):
        printed = holdfast("evidence", str(root), *options)
        assert printed.status == 3
        assert survivors(printed) == []
    bundle = tmp_path / "b.zip"
    holdfast("evidence", str(root), "--quiet", "--bundle", str(bundle))
    inside = unpacked(bundle)
    assert any(name.startswith("checkpoint/renamed/") for name in inside)
    text = "\n".join([*inside, *(data.decode("utf-8", "replace") for data in inside.values())])
    assert survivors(Printed(0, text, "")) == []
    plain = [secret for secret in SECRETS if any(one in text for one in traces_of(secret))]
    assert plain == []


def test_a_secret_in_the_sinks_url_is_not_shown(tmp_path: Path) -> None:
    """User info and query strings."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    for url in (f"s3://me:{SECRETS[0]}@bucket/x", f"https://host/x?token={SECRETS[1]}"):
        for options in ((), ("--json",), ("--format", "markdown")):
            words = ("evidence", str(root), "--sink", url, "--timeout", "0.2", *options)
            assert survivors(holdfast(*words)) == []


def test_damage_is_told_with_what_is_still_known(tmp_path: Path) -> None:
    """Findings as inspect has them, and status 3."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    (root / "offsets" / "3").write_bytes(b"")
    answered = holdfast("evidence", str(root), "--json")
    assert answered.status == 3
    assert "HF2101" in [one["code"] for one in answered.document["findings"]]
    assert answered.document["result"]["source_offsets"]["basis"] == "unknown"
    assert "HF2101" in holdfast("evidence", str(root), "--format", "markdown").out


def test_python_gives_the_same(tmp_path: Path) -> None:
    """`holdfast.evidence` is what the command calls."""
    import holdfast as library

    one = sample("delta", "4.2.0")
    root = one.extract(tmp_path)
    answer = library.evidence(root, sink=root.parent / "output")
    assert answer.result.ready
    assert answer.result.output_mode.value == "append"


def unpacked(bundle: Path) -> dict[str, Any]:
    """Give everything in an archive."""
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_search_for_secrets_would_find_them() -> None:
    """Plain, in a URL and in base64: the test of the test."""
    for form in (SECRETS[0], quote(SECRETS[0]), base64.b64encode(SECRETS[0].encode()).decode()):
        assert survivors(Printed(0, f"x{form}y", "")) == [SECRETS[0]] or form not in SECRETS[0]


@pytest.mark.parametrize("name", ["bundle.tar", "bundle"])
def test_a_bundle_is_a_zip_file_and_named_so(tmp_path: Path, name: str) -> None:
    root = sample("stateless", "4.3.0").extract(tmp_path)
    said = holdfast("evidence", str(root), "--bundle", str(tmp_path / name), "--json")
    assert (said.status, said.document["error"]["code"]) == (2, "HF2503")
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("command", ["evidence", "doctor"])
def test_a_sink_that_does_not_exist_is_not_an_empty_one(tmp_path: Path, command: str) -> None:
    root = sample("stateless", "4.3.0").extract(tmp_path)
    said = holdfast(command, str(root), "--sink", str(tmp_path / "nowhere"), "--json")
    assert (said.status, said.document["error"]["code"]) == (21, "HF7001")
    assert said.document["next"] == ["correct the path given with --sink"]
    (tmp_path / ".holdfast" / "nowhere").mkdir(parents=True)
    there = holdfast(command, str(root), "--sink", str(tmp_path / "nowhere"), "--json")
    assert there.document["error"] is None, "manifests may outlive their output"
