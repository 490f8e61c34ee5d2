"""Repairs end in checkpoints that real Spark was started on, and are refused where rows are at
risk."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import HoldfastError, PlanError
from tests.corpus.loading import sample
from tests.remedy.played import played
from tests.remedy.repairing import Place, made, started, without_checksums
from tests.restarts.edits import Files
from tests.restarts.loading import base_files

RESTORED = (
    ("stateless", "second-newest-offset-missing"),
    ("stateless", "second-offset-garbage"),
    ("stateless", "source-newest-missing"),
    ("stateless", "source-newest-garbage"),
    ("aggregation", "state-newest-missing"),
    ("aggregation", "state-oldest-missing"),
    ("aggregation", "state-partition-removed"),
    ("rocksdb", "state-removed"),
    ("aggregation", "schema-empty"),
    ("aggregation", "commit-garbage"),
    ("rocksdb", "state-newest-flipped"),
    ("rocksdb", "state-ssts-missing"),
    ("rocksdb", "operator-metadata-empty"),
    ("rocksdb", "commit-without-state-ids"),
)
"""What a backup brings back byte for byte."""


def base(name: str) -> Files:
    return base_files("4.3.0", name)


@pytest.mark.parametrize(("name", "damage"), RESTORED)
def test_what_a_backup_proves_is_put_back_byte_for_byte(
    tmp_path: Path, name: str, damage: str
) -> None:
    place = made(tmp_path, name)
    holdfast.back_up(place.root)
    place.damage(damage)
    damaged = place.files()

    place.repaired()

    assert without_checksums(place.files()) == without_checksums(base(name))
    holdfast.undo(place.root)
    assert place.files() == damaged


def test_damage_that_spark_may_pass_over_is_repaired_from_a_backup_too(tmp_path: Path) -> None:
    """The doctor names the plan, which puts the bytes back."""
    checkpoint = sample("aggregation-rocksdb-changelog", "4.3.0").extract(tmp_path)
    holdfast.back_up(checkpoint)
    newest = checkpoint / "state/0/0/6.changelog"
    before = newest.read_bytes()
    newest.write_bytes(before[:-4] + b"torn")
    (newest.parent / ".6.changelog.crc").unlink()

    (found,) = (one for one in holdfast.doctor(checkpoint).findings if one.code == "HF2701")
    assert f"holdfast plan repair {checkpoint} --finding HF2701" == found.next_steps[0]
    plan = holdfast.plan(checkpoint, "repair", {"finding": "HF2701"}).result
    holdfast.apply(plan, even_if_running=True)

    assert newest.read_bytes() == before


def test_an_entry_that_no_later_one_proves_is_not_taken_from_a_backup(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless-pending")
    holdfast.back_up(place.root)
    place.damage("offset-empty")
    refused = place.refusal()
    assert refused.code == "HF4603"
    place.deliver(4)
    assert place.refusal().code == "HF4603"


def test_a_backup_of_another_history_proves_nothing(tmp_path: Path) -> None:
    place = made(tmp_path, "aggregation")
    holdfast.back_up(place.root)
    place.damage("two-newest-offsets-and-commits-missing")
    for batch in (3, 4):
        for log in ("offsets", "commits"):
            (place.root / log / str(batch)).write_bytes(
                (place.root / log / "2").read_bytes().replace(b"000,", b"001,")
            )
    (place.root / "state/0/0/5.delta").unlink()
    assert place.refusal().code in ("HF4603", "HF4618")


def test_a_kept_copy_stays_kept_where_the_log_of_the_sink_names_no_offsets(tmp_path: Path) -> None:
    place = made(tmp_path, "file-sink")
    place.keep(4)
    place.record(4)
    place.damage("newest-offset-missing")
    assert place.refusal(finding="HF2203").code == "HF4603"


@pytest.mark.parametrize("damage", ["offset-empty", "offset-garbage", "offset-cut-in-source"])
def test_a_torn_entry_is_removed_where_the_sink_is_older(tmp_path: Path, damage: str) -> None:
    place = made(tmp_path, "stateless-pending")
    place.deliver(3)
    place.damage(damage)
    torn = place.files()

    plan = place.repaired()

    assert plan.effects.batches is None
    assert "offsets/4" not in place.files()
    assert started(place, "stateless-pending") == {"plan"}
    holdfast.undo(place.root)
    assert place.files() == torn


@pytest.mark.parametrize("held", [4, 5])
def test_a_torn_entry_stays_where_the_sink_has_its_batch(tmp_path: Path, held: int) -> None:
    place = made(tmp_path, "stateless-pending")
    place.deliver(held)
    place.damage("offset-empty")
    refused = place.refusal()
    assert refused.code == "HF4601"
    assert "batch 4 would be planned again" in refused.message


def test_a_torn_entry_stays_where_nobody_knows_what_the_sink_has(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless-pending")
    place.damage("offset-empty")
    refused = place.refusal()
    assert refused.code == "HF4603"
    assert any("sink" in step for step in refused.next_steps)


def test_a_torn_entry_of_a_committed_batch_stays(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.deliver(3)
    place.damage("offset-empty")
    assert place.refusal().code == "HF4601"


@pytest.mark.parametrize("damage", ["commit-empty", "commit-garbage", "commit-cut"])
def test_a_torn_commit_is_removed_so_that_its_batch_runs_again(tmp_path: Path, damage: str) -> None:
    place = made(tmp_path, "stateless")
    place.deliver(4)
    place.damage(damage)

    plan = place.repaired()

    assert plan.effects.batches is not None
    assert (plan.effects.batches.first, plan.effects.batches.last) == (4, 4)
    assert "already in the sink" in plan.effects.sink
    assert started(place, "stateless") == {"rerun"}


def test_a_torn_commit_stays_where_its_batch_could_be_delivered_twice(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.damage("commit-empty")
    assert place.refusal().code == "HF4603"


def test_a_torn_commit_stays_where_the_sink_is_ahead(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.deliver(5)
    place.damage("commit-empty")
    refused = place.refusal()
    assert refused.code == "HF4601"
    assert "batch 5" in refused.message


@pytest.mark.parametrize(
    ("name", "damage", "held", "action"),
    [
        ("stateless", "crc-ahead-in-offsets", 4, {"plan"}),
        ("stateless", "crc-ahead-in-commits", 4, {"plan"}),
        ("stateless", "crc-ahead-in-sources", 4, {"plan"}),
        ("stateless", "crc-left-in-commits", 4, {"rerun"}),
        ("stateless-pending", "crc-left-in-offsets", 3, {"plan"}),
    ],
)
def test_a_left_checksum_is_removed(
    tmp_path: Path, name: str, damage: str, held: int, action: set[str]
) -> None:
    place = made(tmp_path, name)
    place.deliver(held)
    place.damage(damage)

    plan = place.repaired()

    assert [step.act for step in plan.steps] == ["backup-checkpoint", "change-files"]
    assert started(place, name) == action


def test_a_left_checksum_of_offsets_stays_where_the_sink_has_the_batch(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless-pending")
    place.deliver(4)
    place.damage("crc-left-in-offsets")
    assert place.refusal().code == "HF4601"


@pytest.mark.parametrize("damage", ["metadata-missing", "metadata-garbage", "metadata-not-uuid"])
@pytest.mark.parametrize("known", ["record", "backup"])
def test_the_query_id_is_written_back(tmp_path: Path, damage: str, known: str) -> None:
    place = made(tmp_path, "stateless")
    if known == "record":
        place.record(4)
    else:
        holdfast.back_up(place.root)
    place.deliver(4)
    place.damage(damage)
    damaged = place.files()

    place.repaired()

    assert without_checksums(place.files()) == without_checksums(base("stateless"))
    holdfast.undo(place.root)
    assert place.files() == damaged


def test_the_query_id_stays_lost_where_the_sink_is_ahead(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.record(4)
    place.deliver(5)
    place.damage("metadata-missing")
    refused = place.refusal(finding="HF2201")
    assert refused.code == "HF4601"
    assert "ends at batch 4" in refused.message


def test_the_query_id_stays_lost_where_nobody_knows_it(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.deliver(4)
    place.damage("metadata-missing")
    assert place.refusal().code == "HF4603"


def test_two_ids_are_no_id(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    holdfast.back_up(place.root)
    other = Place(place.root, place.output, "5f0f3d3c-43d6-4a4e-8a39-5b6f2e6f8a11")
    other.record(4)
    place.deliver(4)
    place.damage("metadata-missing")
    refused = place.refusal()
    assert refused.code == "HF4603"
    assert "more than one" in refused.message


def test_a_finding_that_is_not_there_needs_nothing(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.damage("offset-empty")
    assert place.refusal(finding="HF2201").code == "HF4611"


def test_a_misspelt_finding_does_not_seem_healthy(tmp_path: Path) -> None:
    """A code that there is not is no code that the doctor does not find."""
    place = made(tmp_path, "stateless")
    place.damage("offset-empty")
    refused = place.refusal(finding="HF22O4")
    assert (refused.code.number, refused.exit_status) == ("HF4643", 2)
    found = {one.code for one in holdfast.doctor(place.root).findings}
    assert refused.message.rpartition("did you mean ")[2].rstrip("?") in found
    (step,) = refused.next_steps
    assert step.startswith("pass another code: holdfast doctor /"), "a command that can be pasted"
    assert place.refusal(finding="HF2201").exit_status == 2


def test_a_finding_without_a_repair_is_refused(tmp_path: Path) -> None:
    place = made(tmp_path, "aggregation")
    place.damage("newest-offset-missing")
    refused = place.refusal(finding="HF2203")
    assert refused.code == "HF4618"
    assert place.refusal().code == "HF4618"
    assert "holdfast backups" in refused.next_steps[0]


def test_backups_of_the_checkpoint_are_not_named_for_sources_and_output(tmp_path: Path) -> None:
    lost_source, lost_output = played(tmp_path / "source"), played(tmp_path / "output")
    lost_source.plan(4)
    (lost_source.folder / "in/004-0.json").unlink()
    lost_output.record(1)
    shutil.rmtree(lost_output.output)
    for project, code in ((lost_source, "HF3034"), (lost_output, "HF3013")):
        for options in ({}, {"finding": code}):
            with pytest.raises(HoldfastError, match=code) as refused:
                holdfast.plan("job", "repair", options, project=project.file)
            assert refused.value.code == "HF4618"
            (step,) = refused.value.next_steps
            assert step.startswith("holdfast doctor ")


def test_a_healthy_checkpoint_needs_no_repair(tmp_path: Path) -> None:
    assert made(tmp_path, "stateless").refusal().code == "HF4611"


def test_what_the_next_start_does_by_itself_is_left_to_it(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.damage("two-newest-commits-missing")
    refused = place.refusal(finding="HF2207")
    assert refused.code == "HF4611"
    assert "passes these batches over" in refused.message


def test_only_what_was_asked_for_is_repaired(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.record(4)
    place.deliver(4)
    place.damage("metadata-missing")
    place.damage("crc-ahead-in-commits")
    plan = place.plan(finding="HF2201").result
    assert [one.act for one in plan.steps] == ["backup-checkpoint", "block-start", "allow-start"]


def test_a_plan_is_stale_once_the_checkpoint_changed(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.deliver(4)
    place.damage("crc-ahead-in-commits")
    plan = place.plan().result
    (place.root / "offsets/9.bak").write_bytes(b"")
    with pytest.raises(PlanError) as stale:
        holdfast.apply(plan, even_if_running=True)
    assert stale.value.code == "HF4605"


def test_planning_changes_nothing_and_is_repeatable(tmp_path: Path) -> None:
    place = made(tmp_path, "aggregation")
    holdfast.back_up(place.root)
    place.damage("state-newest-missing")
    before = place.files()
    assert place.plan().result == place.plan().result
    assert place.files() == before


def test_an_unknown_target_is_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(HoldfastError):
        holdfast.plan(tmp_path / "nothing", "repair")


def test_a_snapshot_that_nothing_replaces_is_left_alone(tmp_path: Path) -> None:
    """Without an older one and every change since, it has the only copy of the rows."""
    root = sample("aggregation-hdfs-snapshots", "4.1.4").extract(tmp_path)
    snapshot = max(root.glob("state/0/0/*.snapshot"), key=lambda one: int(one.stem))
    content = bytearray(snapshot.read_bytes())
    content[len(content) // 2] ^= 0xFF
    snapshot.write_bytes(bytes(content))
    for older in [one for one in root.glob("state/0/0/*") if one.stem.isdecimal()]:
        if int(older.stem) < int(snapshot.stem):
            older.unlink()
    with pytest.raises(PlanError) as refused:
        holdfast.plan(root, "repair")
    assert refused.value.code == "HF4613", refused.value
