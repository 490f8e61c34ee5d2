"""`backup`, `backups` and `restore` on the command line."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from holdfast.ledgers.files.format import encode_manifest
from holdfast.ledgers.files.manifests import manifest_path
from holdfast.records.journal import Journal
from tests.backup.folders import aged, extracted, tree_of
from tests.cli.running import holdfast
from tests.corpus.loading import sample
from tests.diagnosis.doctor.filesinks import manifest
from tests.records.drivers import driver


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return extracted(tmp_path)


def test_from_a_backup_to_a_restore(root: Path) -> None:
    tree = tree_of(root)
    made = holdfast("backup", str(root), "--json")
    assert made.status == 0
    assert made.document["schema"] == "holdfast.backup/1"
    assert made.document["result"]["copied_files"] > 0
    (root / "offsets/3").unlink()
    asked = holdfast("restore", f"{root}@newest", "--json")
    assert asked.status == 2
    assert asked.document["error"]["code"] == "HF4508"
    restored = holdfast("restore", f"{root}@newest", "--yes", "--json")
    assert restored.status == 0
    assert restored.document["result"]["act"] == "restored"
    assert tree_of(root) == tree
    listed = holdfast("backups", str(root), "--json").document["result"]["places"][0]
    assert [one["purpose"] for one in listed["backups"]] == ["before-restore", "backup"]


def test_the_pages_are_drawn(root: Path) -> None:
    assert "no backups yet" in holdfast("backups", str(root)).out
    assert "0 new files, 0 B copied" not in holdfast("backup", str(root)).out
    again = holdfast("backup", str(root)).out
    assert "0 new files, 0 B copied; 20 copies verified" in again
    assert re.search(r"2 backups in [\d.]+ kB", holdfast("backups", str(root)).out)
    assert "Every copy is intact" in holdfast("backup", "--verify", str(root)).out
    assert "all files are already in place" in holdfast("restore", f"{root}@newest", "--yes").out
    assert "No interrupted restore" in holdfast("restore", "--undo", str(root), "--yes").out


def test_who_cannot_be_asked_is_told_so_only_where_a_restore_is_to_be_settled(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tree_of(root)
    holdfast("backup", str(root))
    nothing = holdfast("restore", "--finish", str(root))
    assert (nothing.status, "No interrupted restore" in nothing.out) == (0, True)
    (root / "offsets/3").unlink()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "end", killed)
        assert holdfast("restore", f"{root}@newest", "--yes").status == 130
    for option in ("--undo", "--finish"):
        refused = holdfast("restore", option, str(root), "--json")
        assert (refused.status, refused.document["error"]["code"]) == (2, "HF4508")
    assert holdfast("restore", "--finish", str(root), "--yes").status == 0
    assert tree_of(root) == tree


def test_a_flipped_byte_gives_status_three(root: Path) -> None:
    holdfast("backup", str(root))
    copy = next(
        path
        for path in (root.parent / ".holdfast/checkpoint/backups/objects").rglob("*/*")
        if path.stat().st_size
    )
    copy.write_bytes(bytes([copy.read_bytes()[0] ^ 1]) + copy.read_bytes()[1:])
    verified = holdfast("backup", "--verify", str(root), "--json")
    assert verified.status == 3
    assert [one["code"] for one in verified.document["findings"]] == ["HF4510"]
    assert "damaged" in holdfast("backup", "--verify", f"{root}@newest").out


def test_retention(root: Path) -> None:
    for _ in range(3):
        holdfast("backup", str(root))
    kept = holdfast("backup", str(root), "--keep-last", "2", "--json").document["result"]
    assert len(kept["removed_backups"]) == 2
    assert len(holdfast("backups", str(root), "--json").document["result"]["places"][0]["backups"])


def test_single_files_go_to_any_folder(root: Path, tmp_path: Path) -> None:
    """No metadata is needed there, and nothing that is there is copied or replaced."""
    holdfast("backup", str(root))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "readme").write_text("mine", encoding="utf-8")
    for file in ("sources/0/1", "offsets/3", "offsets/2"):
        words = ("--to", str(notes), "--file", file, "--yes", "--json")
        done = holdfast("restore", f"{root}@newest", *words)
        assert done.status == 0, done.out
        assert done.document["result"]["safety_backup"] is None
        assert (notes / file).read_bytes() == (root / file).read_bytes()
    assert (notes / "readme").read_text(encoding="utf-8") == "mine"


def test_a_single_file_does_not_replace_another(root: Path, tmp_path: Path) -> None:
    holdfast("backup", str(root))
    (tmp_path / "notes" / "offsets").mkdir(parents=True)
    (tmp_path / "notes" / "offsets" / "3").write_text("v1\nmine", encoding="utf-8")
    words = ("--to", str(tmp_path / "notes"), "--file", "offsets/3", "--yes")
    refused = holdfast("restore", f"{root}@newest", *words)
    assert refused.status != 0
    assert "HF4503" in refused.err
    assert (tmp_path / "notes" / "offsets" / "3").read_text(encoding="utf-8") == "v1\nmine"


def test_to_another_place_warns(root: Path, tmp_path: Path) -> None:
    holdfast("backup", str(root))
    done = holdfast("restore", f"{root}@newest", "--to", str(tmp_path / "copy"), "--yes", "--json")
    assert done.status == 3
    assert [one["code"] for one in done.document["findings"]] == ["HF4513"]
    assert tree_of(tmp_path / "copy") == tree_of(root)


@pytest.mark.parametrize("option", ["--to", "--sink-log-to"])
def test_a_copy_is_not_written_into_its_own_checkpoint(root: Path, option: str) -> None:
    """Spark and every reader would take it for a part of the checkpoint."""
    assert holdfast("backup", str(root)).status == 0
    before = tree_of(root)
    shown = holdfast("restore", "--yes", option, str(root / "sub"), f"{root}@newest", "--json")
    assert (shown.status, shown.document["error"]["code"]) == (2, "HF1001")
    assert "inside the checkpoint" in shown.document["error"]["message"]
    assert tree_of(root) == before


def test_the_log_of_the_sink_is_copied_as_well(tmp_path: Path) -> None:
    packed = next(one for one in (sample("stateless", "4.3.0"),) if one.output_files())
    root = aged(packed.extract(tmp_path))
    made = holdfast("backup", str(root), "--sink-log", str(tmp_path / "output"), "--json").document
    summary = made["result"]["backups"][0]
    assert summary["sink_log"]
    logs = [path for path in packed.output_files() if path.startswith("_spark_metadata/")]
    assert summary["file_count"] == len(packed.files()) + len(logs)
    missing = holdfast("backup", str(root), "--sink-log", str(root), "--json").document
    assert missing["error"]["code"] == "HF7001"


def test_the_log_of_the_sink_is_written_out_and_can_be_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, out = aged(sample("stateless", "4.3.0").extract(tmp_path)), tmp_path / "output"
    holdfast("backup", str(root), "--sink-log", str(out))
    monkeypatch.chdir(tmp_path)
    words = ("restore", f"{root}@newest", "--sink-log-to", "look", "--yes")
    done = holdfast(*words, "--json")
    assert (done.status, done.document["result"]["part"]) == (0, "sink-log")
    assert tree_of(tmp_path / "look/_spark_metadata") == tree_of(out / "_spark_metadata")
    told = holdfast("evidence", str(root), "--sink", "look", "--json").document["result"]
    assert told["sink"]["value"]["last_committed"] == 3
    assert holdfast(*words).out.split()[:3] == ["sink", "log", str(tmp_path / "look")]
    live = holdfast("restore", f"{root}@newest", "--sink-log-to", str(out), "--yes", "--json")
    assert (live.status, live.document["error"]["code"]) == (40, "HF4520")
    nothing = holdfast("restore", "--undo", "look", "--yes", "--json").document["result"]
    assert nothing["act"] == "nothing"


def test_the_manifests_of_a_file_sink_are_copied_and_written_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lie beside the output; written out they lie in the folder, which can be asked."""
    root = aged(sample("stateless", "4.3.0").extract(tmp_path))
    query_id = json.loads((root / "metadata").read_text())["id"]
    manifests = tmp_path / ".holdfast/lake/manifests"
    for batch_id in range(3):
        path = manifests / manifest_path(query_id, batch_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode_manifest(manifest(query_id, batch_id)))
    monkeypatch.chdir(tmp_path)
    made = holdfast("backup", str(root), "--sink-log", "lake", "--json")
    assert made.status == 0 and made.document["result"]["backups"][0]["sink_log"]
    shutil.rmtree(manifests)
    for place in ("lake", ".holdfast/lake/manifests"):
        live = holdfast("restore", f"{root}@newest", "--sink-log-to", place, "--yes", "--json")
        assert live.document["error"]["code"] == "HF4520"
    done = holdfast("restore", f"{root}@newest", "--sink-log-to", "look", "--yes", "--json")
    assert (done.status, done.document["result"]["written_files"]) == (0, 3)
    back = tmp_path / "look/_manifests" / manifest_path(query_id, 2)
    assert back.read_bytes() == encode_manifest(manifest(query_id, 2))
    told = holdfast("evidence", str(root), "--sink", "look", "--json").document["result"]
    assert told["sink"]["value"]["last_committed"] == 2


def test_a_project_names_its_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "checkpoints").mkdir()
    shutil.move(extracted(tmp_path / "x"), tmp_path / "checkpoints" / "orders")
    (tmp_path / "holdfast.yaml").write_text(
        "project: shop\njobs:\n  orders:\n    source: {format: rate}\n"
        "    sql: select * from source\n    sink: {format: console}\n"
    )
    monkeypatch.chdir(tmp_path)
    backup = holdfast("backup", "orders", "--json").document["result"]["backups"][0]["id"]
    listed = holdfast("backups", "--json").document["result"]["places"]
    assert [one["id"] for one in listed[0]["backups"]] == [backup]
    shutil.rmtree(tmp_path / "checkpoints" / "orders")
    done = holdfast("restore", backup, "--yes", "--json")
    assert done.document["result"]["act"] == "restored"
    assert done.status == 3


def test_a_folder_that_is_gone_is_still_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)
    holdfast("backup", "checkpoint")
    tree = tree_of(root)
    shutil.rmtree(root)
    assert holdfast("restore", "checkpoint@newest", "--yes").status == 3
    assert tree_of(root) == tree


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["restore", "ROOT", "--yes"], "HF4509"),
        (["restore", "ROOT@newest", "--yes"], "HF4509"),
        (["backup", "--verify", "ROOT@20260101"], "HF4509"),
        (["backup", "/"], "HF4514"),
        (["backup", "--verify", "--keep-last", "1", "ROOT"], "HF1001"),
        (["restore", "--finish", "--undo", "ROOT", "--yes"], "HF1001"),
        (["restore", "--finish", "--sink-log-to", "x", "ROOT", "--yes"], "HF1001"),
        (["restore", "--to", "y", "--sink-log-to", "x", "ROOT@newest", "--yes"], "HF1001"),
    ],
)
def test_what_cannot_be_is_refused_with_status_two(
    root: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: str
) -> None:
    monkeypatch.chdir(root)
    said = holdfast(*[word.replace("ROOT", str(root)) for word in words], "--json")
    assert said.status == 2
    assert said.document["error"]["code"] == code


@pytest.mark.parametrize(
    "words",
    [
        ["ROOT@newest"],
        ["ROOT@newest", "--even-if-running"],
        ["ROOT", "--finish"],
        ["ROOT", "--undo"],
    ],
)
def test_while_a_driver_holds_the_lease_nothing_is_restored(root: Path, words: list[str]) -> None:
    assert holdfast("backup", str(root)).status == 0
    (root / "offsets/3").unlink()
    aged(root)
    tree = tree_of(root)
    with driver(root.parent, name=root.name) as (process, _):
        spelled = [word.replace("ROOT", str(root)) for word in words]
        refused = holdfast("restore", *spelled, "--yes", "--json")
    assert refused.status == 22
    assert refused.document["error"]["code"] == "HF2601"
    assert f"process {process.pid}" in refused.document["error"]["message"]
    assert tree_of(root) == tree


def test_the_sinks_log_is_not_written_into_the_output_of_a_job_that_runs(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold/_spark_metadata").mkdir(parents=True)
    (tmp_path / "gold/_spark_metadata/0").write_bytes(b"v1")
    assert holdfast("backup", str(root), "--sink-log", "gold").status == 0
    (tmp_path / "holdfast.yaml").write_text(
        "project: shop\njobs:\n  silver:\n    source: {format: rate}\n"
        "    sql: select * from source\n    sink: {format: parquet, path: ./silver}\n"
    )
    words = ("restore", f"{root}@newest", "--yes", "--json", "--sink-log-to")
    with driver(tmp_path / "checkpoints", name="silver"):
        for place in ("silver", "silver/below"):
            refused = holdfast(*words, place)
            assert (refused.status, refused.document["error"]["code"]) == (22, "HF2601")
            assert not (tmp_path / "silver").exists()
        assert holdfast(*words, "silver-then").status == 0
    assert holdfast(*words, "silver/below").status == 0


def test_a_project_that_cannot_be_read_does_not_stop_it_unless_it_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold/_spark_metadata").mkdir(parents=True)
    (tmp_path / "gold/_spark_metadata/0").write_bytes(b"v1")
    assert holdfast("backup", str(root), "--sink-log", "gold").status == 0
    (tmp_path / "holdfast.yaml").write_text("jobs: [")
    words = ("restore", f"{root}@newest", "--yes", "--sink-log-to")
    assert holdfast(*words, "./one").status == 0
    assert holdfast(*words, "./two", "--project", "holdfast.yaml").status == 10


@pytest.mark.parametrize(
    "words",
    [["restore", "NAME"], ["restore", "NAME@abc"], ["backup", "--verify", "NAME@abc"]],
)
def test_what_names_no_backup_says_so_first_and_its_steps_can_be_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Also without a terminal and without --yes: that comes after the backup is known."""
    monkeypatch.chdir(root.parent)
    holdfast("backup", root.name)
    said = holdfast(*[word.replace("NAME", root.name) for word in words], "--json")
    assert (said.status, said.document["error"]["code"]) == (2, "HF4509")
    assert said.document["next"][0].startswith(f"holdfast backups {root.name} ")
    assert said.document["next"][1].endswith(f": {root.name}@newest")
    assert holdfast("backups", root.name).status == 0
    newest = f"{root.name}@newest"
    assert holdfast(*words[:-1], newest).status in (0, 3), "nothing to write, nothing to confirm"


def test_a_checkpoint_without_backups_is_advised_to_make_one(root: Path) -> None:
    said = holdfast("restore", f"{root}@newest", "--json")
    assert said.document["next"] == [f"holdfast backup {root} makes the first one"]
    nowhere = holdfast("restore", f"{root}/nope@newest", "--json")
    assert nowhere.document["error"]["code"] == "HF1002"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_list_can_be_read_on_a_narrow_terminal(
    root: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    made = holdfast("backup", str(root), "--json").document["result"]["backups"][0]
    monkeypatch.setenv("COLUMNS", str(width))
    shown = holdfast("backups", str(root)).out
    assert made["id"] in shown and "…" not in shown
    assert str(made["file_count"]) in shown.split(made["id"])[1]
