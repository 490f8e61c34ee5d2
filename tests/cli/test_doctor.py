"""`holdfast doctor` as people and scripts see it."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from holdfast import doctor, inspect
from holdfast.answers import Answer
from holdfast.cli.drawing.console import MOST
from holdfast.cli.drawing.examination import draw_examination
from holdfast.diagnosis.doctor.examination import Examination, Examined, Reported
from holdfast.diagnosis.inspection import sources as kafkaasking
from holdfast.errors import UsageError
from holdfast.findings import Severity
from holdfast.records.recordings import Recordings
from tests.cli.running import holdfast
from tests.cli.test_inspect import digest_tree
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus, sample
from tests.diagnosis.doctor.recording import query_id_of, records_beside
from tests.parts.ports import free_port
from tests.records.recordings import some_recording

WITH_OUTPUT = [one for one in corpus() if one.spark in ("4.3.0", "4.2.0")]


def test_a_folder_of_something_else_is_not_a_checkpoint(tmp_path: Path) -> None:
    """Status 21, also where a link in it leads out, as in /etc."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "zone").mkdir()
    (tmp_path / "etc/hosts").write_text("")
    (tmp_path / "etc/localtime").symlink_to(tmp_path / "zone")
    shown = holdfast("doctor", str(tmp_path / "etc"))
    assert shown.status == 21
    assert "error HF2001" in shown.err


def test_what_is_not_shown_is_named_with_how_to_see_it() -> None:
    """By code, and how often."""
    one = Reported("HF2302", Severity.INFO, "x", "here", {}, "", ())
    other = replace(one, code="HF2335")
    hidden = [one, other, other]
    examined = Examined("a", "a", None, True, None, None, None, None, None,
                        tuple([one] * MOST + hidden))  # fmt: skip
    console = Console(file=io.StringIO(), width=200)
    draw_examination(Answer("doctor", "", Examination(1, (examined,))), console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().endswith(
        "… and 3 more: HF2302, HF2335 (2) (--only CODE shows those of one code, --json all)\n"
    )


@over_samples("one", WITH_OUTPUT)
def test_the_page_fits_80_columns_and_writes_nothing(
    one: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the sink's log, in text and in JSON."""
    monkeypatch.setenv("COLUMNS", "80")
    root = one.extract(tmp_path)
    before = digest_tree(tmp_path)
    output = tmp_path / "output"
    words = ["doctor", str(root), *(["--sink", str(output)] if output.exists() else [])]
    shown = holdfast(*words)
    assert shown.status in (0, 3), shown.err
    assert shown.fits(80)
    document = holdfast(*words, "--json", "--verify").document
    (target,) = document["result"]["targets"]
    assert target["query_id"] == one.facts["query_id"]
    assert digest_tree(tmp_path) == before


def test_findings_set_the_exit_status_and_name_wrong_fixes(tmp_path: Path) -> None:
    """A rolled back checkpoint against its output."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    for log in ("offsets", "commits"):
        for name in ("3", ".3.crc"):
            (root / log / name).unlink()
    shown = holdfast("doctor", str(root), "--sink", str(tmp_path / "output"))
    text = " ".join(shown.out.split())
    assert shown.status == 3
    assert "fatal HF2402: the sink has batches up to 3, the checkpoint only up to 2" in text
    assert "not deleting _spark_metadata: readers then see files of failed attempts" in text
    assert holdfast("doctor", str(root)).status == 0
    ignored = holdfast("doctor", str(root), "--sink", str(tmp_path / "output"),
                       "--ignore", "HF2402", "--quiet")  # fmt: skip
    assert (ignored.status, ignored.out) == (0, "")


def test_a_path_is_not_broken_between_two_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People copy it from there, into a command."""
    monkeypatch.setenv("COLUMNS", "60")
    root = sample("stateless", "4.3.0").extract(tmp_path / ("long-name-" * 8))
    (root / "offsets/2").unlink()
    shown = holdfast("doctor", str(root))
    assert shown.status == 3
    findings = shown.out[shown.out.index("fatal HF") :].splitlines()
    assert any(line.startswith(f"  at   {root}/offsets") for line in findings)
    assert shown.fits(60)


def test_a_terminal_without_columns_shows_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some set COLUMNS to 0: nothing would fit into that."""
    stateless = sample("stateless", "4.3.0").extract(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    wide = holdfast("inspect", str(stateless)).out
    monkeypatch.setenv("COLUMNS", "0")
    assert wide and holdfast("inspect", str(stateless)).out == wide


def test_a_base_folder_is_examined_as_a_whole(tmp_path: Path) -> None:
    """Every checkpoint in it, also deeper ones; hidden folders are left alone."""
    first = sample("stateless", "4.3.0").extract(tmp_path / "made")
    base = tmp_path / "base"
    for place in ("orders", "flows/daily/0", ".holdfast/copy"):
        shutil.copytree(first, base / place)
    (base / "readme.txt").write_text("hello")
    document = holdfast("doctor", str(base), "--json").document
    targets = document["result"]["targets"]
    assert [one["location"] for one in targets] == [
        str(base / "flows/daily/0"),
        str(base / "orders"),
    ]
    assert {one["code"] for one in document["findings"] if one["severity"] == "error"} == {"HF2421"}
    places = {one["at"] for one in document["findings"] if one["code"] == "HF2421"}
    assert places == {str(base / "flows/daily/0/metadata"), str(base / "orders/metadata")}


PROJECT = """
project: shop
jobs:
  orders:
    source: {format: json, path: ./in, schema: "a string"}
    sql: select * from source
    sink: {format: parquet, path: ./output}
    checkpoint: ./checkpoint
  returns:
    source: {format: rate}
    sql: select * from source
    sink: {format: console}
"""


def test_all_jobs_of_a_project_are_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the sinks that it declares; a job that never ran is no error."""
    sample("stateless", "4.3.0").extract(tmp_path)
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    document = holdfast("doctor", "--json").document
    orders, returns = document["result"]["targets"]
    assert (orders["job"], orders["sink"]["kind"], orders["sink"]["last_committed"]) == (
        "orders", "files", 3,
    )  # fmt: skip
    assert (returns["job"], returns["readable"], returns["last_planned"]) == ("returns", True, None)
    codes = {one["code"] for one in orders["findings"]}
    assert "HF2324" in codes, "the sample read another folder than the project declares"
    assert "HF2326" in {one["code"] for one in returns["findings"]}


def test_unknown_codes_and_watching_for_a_document_are_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = str(sample("stateless", "4.3.0").extract(tmp_path))
    unknown = holdfast("doctor", root, "--only", "HF2410")
    assert unknown.status == 2
    assert "HF2410 is not a Holdfast code; the nearest is" in unknown.err
    assert holdfast("doctor", root, "--watch", "--json").status == 2
    twice = holdfast("doctor", root, str(tmp_path / "other"), "--sink", root)
    assert (twice.status, "a sink belongs to one checkpoint" in twice.err) == (2, True)


def test_a_place_named_twice_is_examined_once(tmp_path: Path) -> None:
    """It is no copy of itself."""
    root = str(sample("stateless", "4.3.0").extract(tmp_path))
    document = holdfast("doctor", root, f"{root}/../checkpoint/", root, "--json").document
    assert len(document["result"]["targets"]) == 1
    assert document["status"] == "ok"


def test_one_unreadable_among_several_is_reported(tmp_path: Path) -> None:
    """The others go on; alone it is an error with its own status."""
    root = str(sample("stateless", "4.3.0").extract(tmp_path))
    nowhere = str(tmp_path / "nowhere")
    document = holdfast("doctor", nowhere, root, "--json").document
    assert [one["readable"] for one in document["result"]["targets"]] == [False, True]
    assert document["result"]["targets"][0]["findings"][0]["code"] == "HF7001"
    assert holdfast("doctor", nowhere).status == 21
    assert "could not be examined" in holdfast("doctor", nowhere, root).out


def test_watching_prints_only_what_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look in full, then what came and what went, until interrupted."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    entry = (root / "offsets" / "2").read_bytes()
    acts = iter(("nothing", "remove", "restore", "interrupt"))
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        act = next(acts)
        if act == "remove":
            (root / "offsets" / "2").unlink()
        elif act == "restore":
            (root / "offsets" / "2").write_bytes(entry)
        elif act == "interrupt":
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", wait)
    shown = holdfast("doctor", str(root), "--watch", "--interval", "7")
    assert shown.status == 130
    assert waited == [7.0, 7.0, 7.0, 7.0]
    assert shown.out.count("planned up to") == 1
    assert shown.out.count("fatal HF2204") == 1
    assert shown.out.count("gone HF2204") == 1


def test_documents_fit_their_schema(tmp_path: Path) -> None:
    """One target and several, with findings and unreadable ones."""
    import jsonschema

    from docs.generating.schemas import document_schema

    root = sample("stateless", "4.3.0").extract(tmp_path)
    validator = jsonschema.Draft202012Validator(document_schema("doctor"))
    (root / "offsets" / "2").unlink()
    for words in (
        [str(root), "--sink", str(tmp_path / "output")],
        [str(root), str(tmp_path / "x")],
    ):
        document = holdfast("doctor", *words, "--json").document
        assert [error.message for error in validator.iter_errors(document)] == []
        assert document["status"] == "findings"


def test_a_base_folder_in_another_storage_is_examined() -> None:
    """With a twin beside one of its checkpoints, which is told by its escaped name."""
    import fsspec

    storage = fsspec.filesystem("memory")
    for name in ("orders", "my returns"):
        for path, data in sample("stateless", "4.3.0").files().items():
            storage.pipe_file(f"/doctor-base/{name}/{path}", data)
    storage.pipe_file("/doctor-base/my%252520returns/readme", b"")
    document = holdfast("doctor", "memory://doctor-base", "--json").document
    assert [one["location"] for one in document["result"]["targets"]] == [
        "memory://doctor-base/my returns",
        "memory://doctor-base/orders",
    ]
    serious = {one["code"] for one in document["findings"] if one["severity"] != "info"}
    assert serious == {"HF2305", "HF2421"}
    storage.rm("/doctor-base", recursive=True)


def test_the_next_start_is_judged_with_the_release_that_is_asked(tmp_path: Path) -> None:
    """Spark 4.2 refuses to start without a query id, 4.1 makes a new one."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    (root / "metadata").unlink()
    told = {}
    for release in ("4.1", "4.2"):
        document = holdfast("doctor", str(root), "--spark", release, "--json").document
        (told[release],) = _of_code(document, "HF2201")
    assert (told["4.1"]["severity"], told["4.2"]["severity"]) == ("error", "fatal")
    assert holdfast("doctor", str(root), "--spark", "9.9").status == 2


@pytest.mark.parametrize("ask", [doctor, inspect])
def test_a_release_that_is_not_known_is_refused(ask: Callable[..., object], tmp_path: Path) -> None:
    """From Python too, with the ones that are."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    with pytest.raises(
        UsageError, match=r"9\.9 is not a known Spark release; known releases: 3\.5"
    ):
        ask(root, spark="9.9")


def test_a_moved_checkpoint_whose_old_schema_is_gone_is_fatal(tmp_path: Path) -> None:
    """Spark reads the schema at the path where the query first ran; a copy leaves it there."""
    root = sample("transform-pandas", "4.3.0").extract(tmp_path / "first")
    metadata = root / "state/0/_metadata/v2/0"
    (metadata.parent / ".0.crc").unlink()
    recorded = re.sub(rb"file:[^\"]*?/state/0/", f"file:{root}/state/0/".encode(),
                      metadata.read_bytes())  # fmt: skip
    metadata.write_bytes(recorded)
    copy = shutil.copytree(root, tmp_path / "copy")
    (finding,) = _of_code(holdfast("doctor", str(copy), "--json").document, "HF2225")
    assert (finding["severity"], finding["evidence"]["exists"]) == ("error", True)
    moved = root.rename(tmp_path / "moved")
    (finding,) = _of_code(holdfast("doctor", str(moved), "--json").document, "HF2225")
    assert (finding["severity"], finding["evidence"]["exists"]) == ("fatal", False)
    assert "no longer exists" in finding["message"]


def _of_code(document: dict[str, Any], code: str) -> list[dict[str, Any]]:
    return [one for one in document["findings"] if one["code"] == code]


SOURCES = """
project: shop
jobs:
  table:
    source: {format: delta, path: ./table}
    sql: select * from source
    sink: {format: console}
    checkpoint: ./table-checkpoint
  topics:
    source: {format: kafka, options: {kafka.bootstrap.servers: "SERVERS", subscribe: orders}}
    transform: pipeline:transform
    sink: {format: console}
    checkpoint: ./topics-checkpoint
"""
COUNTING = "def transform(source):\n    return source.groupBy('value').count()\n"


def test_the_sources_of_a_job_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table by its log, the broker by its address; a transform is read and never executed."""
    monkeypatch.setattr(kafkaasking, "ASKED_SECONDS", 0.2)
    sample("delta", "4.2.0").extract(tmp_path).rename(tmp_path / "table-checkpoint")
    sample("kafka", "4.2.0").extract(tmp_path).rename(tmp_path / "topics-checkpoint")
    project = SOURCES.replace("SERVERS", f"127.0.0.1:{free_port()}")
    (tmp_path / "holdfast.yaml").write_text(project)
    (tmp_path / "pipeline.py").write_text(COUNTING)
    log = tmp_path / "table/_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text('{"metaData":{"id":"another"}}')
    before = digest_tree(tmp_path)
    monkeypatch.chdir(tmp_path)
    table, topics = holdfast("doctor", "--json").document["result"]["targets"]
    assert "HF2366" in {one["code"] for one in table["findings"]}
    assert {"HF2362", "HF2368"} <= {one["code"] for one in topics["findings"]}
    assert digest_tree(tmp_path) == before


def test_an_interval_without_watching_is_refused(tmp_path: Path) -> None:
    """It would be ignored."""
    said = holdfast("doctor", str(tmp_path), "--interval", "7", "--json")
    assert (said.status, said.document["error"]["code"]) == (2, "HF1001")
    assert "--watch" in said.document["error"]["message"]


@pytest.mark.parametrize("recorded", [True, False])
def test_the_deleted_state_of_a_recorded_program_is_fatal(tmp_path: Path, recorded: bool) -> None:
    """A recording tells the operators of a query that Holdfast never ran."""
    root = sample("aggregation-hdfs-snapshots", "4.3.0").extract(tmp_path)
    shutil.rmtree(root / "state")
    if recorded:
        known = some_recording(query_id=query_id_of("aggregation-hdfs-snapshots"))
        Recordings(records_beside(root)).write(known)
    told = {one["code"] for one in holdfast("doctor", str(root), "--json").document["findings"]}
    assert ("HF2221" in told) == recorded
