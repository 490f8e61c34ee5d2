"""Advice about jobs that `holdfast run` starts and about their file sinks, followed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import holdfast
from holdfast.diagnosis.doctor import wrongfixes
from tests.advice.bench import AdviceBench
from tests.advice.following import WRONG, follows, wrongly
from tests.diagnosis.doctor.trials.deltasinks import IDENTITY
from tests.spark.running.projects import Made, expected, ingest

_CHECKPOINT = "project/checkpoints/ingest"
_OUT = "project/lake/raw"
_BESIDE = "project/lake/.holdfast/raw"
_NEWEST_BACK = "put the checkpoint's newest entries back from a backup: holdfast backups TARGET"


class Job:
    """A job of a project on the bench, from JSON files into Parquet files or a Delta table."""

    def __init__(self, bench: AdviceBench, form: str = "parquet", batches: int = 3) -> None:
        self.bench = bench
        self.form = form
        self.numbers: list[int] = []
        self.made = Made(bench.folder / "project", {"ingest": self._declared()})
        self.arrive(batches)
        self.run()

    def _declared(self, out: str = "./lake/raw") -> dict[str, Any]:
        sink = {"format": self.form, "path": out}
        return {**ingest(), "sink": sink}

    def arrive(self, count: int = 1) -> None:
        """Let some files arrive, one for each batch."""
        for _ in range(count):
            self.numbers += self.made.arrive(2)

    def run(self, *accept: str) -> None:
        """Run the job; raise what it was refused for or failed with."""
        answer = holdfast.run(project=self.made.file, raise_on_failure=False, accept=list(accept))
        if [one.ended.value for one in answer.result.jobs] != ["finished"]:
            worst = answer.findings[0]
            raise RuntimeError(f"{worst.code}: {worst.message}")

    def ask_doctor(self) -> None:
        """Ask about the checkpoint and the job's output."""
        self.bench.ask_doctor(sink=_OUT, checkpoint=_CHECKPOINT, verify=True)

    def judge(self, *outputs: str) -> None:
        """Take the rows of the outputs as what was delivered."""
        self.bench.expected = _words(expected(self.numbers))
        self.bench.delivered = Counter()
        for out in outputs or (_OUT,):
            rows = self.bench.spark.read.format(self.form).load(str(self.bench.folder / out))
            self.bench.delivered += _words(Counter(tuple(row) for row in rows.collect()))

    def rewrite_id(self, identity: str) -> str:
        """Write another query id into metadata, and return the former one."""
        place = self.bench.folder / _CHECKPOINT / "metadata"
        former = str(json.loads(place.read_text(encoding="utf-8"))["id"])
        place.with_name(".metadata.crc").unlink(missing_ok=True)
        place.write_text(f'{{"id":"{identity}"}}', encoding="utf-8")
        return former

    def manifests(self) -> list[Path]:
        """Return the manifests, oldest first."""
        found = (self.bench.folder / _BESIDE / "manifests").rglob("0*.json")
        return sorted(found, key=lambda one: one.name)


def _words(rows: Counter[Any]) -> Counter[str]:
    return Counter({str(row): count for row, count in rows.items()})


@follows(
    ("HF2443", "without one, write the id ID back into metadata: offsets/ still holds every batch "
     "that the sink has of it, so nothing is planned again"),
    when="metadata was written again with another id, and the newest batch is pending",
)  # fmt: skip
def own_id_back(bench: AdviceBench) -> None:
    job = Job(bench)
    former = job.rewrite_id(IDENTITY)
    bench.remove("commits/2", checkpoint=_CHECKPOINT)
    job.ask_doctor()
    job.rewrite_id(former)
    job.arrive()
    job.run()
    job.judge()


@wrongly(
    ("HF2443", "do not write the id that the sink knows into a new checkpoint: it would plan "
     "batches that the sink has, and `holdfast run` refuses it"),
    when="the checkpoint is new, and gets the id that the sink knows",
)  # fmt: skip
def own_id_in_new_checkpoint(bench: AdviceBench) -> None:
    job = Job(bench)
    metadata = (bench.folder / _CHECKPOINT / "metadata").read_text(encoding="utf-8")
    shutil.rmtree(bench.folder / _CHECKPOINT)
    (bench.folder / _CHECKPOINT / "offsets").mkdir(parents=True)
    (bench.folder / _CHECKPOINT / "metadata").write_text(metadata, encoding="utf-8")
    job.arrive()
    job.run()
    job.judge()


@follows(
    ("HF2443", "if the checkpoint is new on purpose: give the job a name and an output of its own"),
    ("HF3005", "or start over as a new job: another name, with it a new checkpoint, and an empty "
     "sink; it reads its sources from the beginning"),
    ("HF5024", "or give the job a name, a checkpoint and a directory of its own"),
    when="the checkpoint is new, and the job gets another name and output",
)  # fmt: skip
def own_output_new(bench: AdviceBench) -> None:
    job = Job(bench)
    shutil.rmtree(bench.folder / _CHECKPOINT)
    (bench.folder / _CHECKPOINT / "offsets").mkdir(parents=True)
    place = bench.folder / _CHECKPOINT / "metadata"
    place.write_text(f'{{"id":"{IDENTITY}"}}', encoding="utf-8")
    job.ask_doctor()
    job.made = Made(bench.folder / "project", {"ingest-anew": job._declared("./lake/anew")})
    job.made._number = len(job.numbers)
    job.arrive()
    job.run()
    job.judge("project/lake/anew")


@wrongly(
    ("HF3005", "do not give only the sink a new place: this checkpoint does not deliver its "
     "committed batches again, so a start on an empty sink is refused (HF3013)"),
    when="the checkpoint was rolled back by a batch, and the job gets another output alone",
)  # fmt: skip
def own_output_alone_new(bench: AdviceBench) -> None:
    job = Job(bench)
    bench.remove("offsets/2", "commits/2", "sources/0/2", checkpoint=_CHECKPOINT)
    job.arrive()
    job.made = Made(bench.folder / "project", {"ingest": job._declared("./lake/anew")})
    job.run()


@follows(
    ("HF2441", "put the newest entries of the checkpoint back from a backup: holdfast backups "
     "TARGET"),
    ("HF2342", "holdfast backups TARGET   (bring the newest state back, if a backup has it)"),
    ("HF5003", _NEWEST_BACK),
    ("HF5024", _NEWEST_BACK),
    when="the checkpoint was rolled back by a batch, and a backup has it",
)  # fmt: skip
def own_checkpoint_restored(bench: AdviceBench) -> None:
    job = Job(bench)
    bench.back_up(_CHECKPOINT)
    bench.remove("offsets/2", "commits/2", "sources/0/2", checkpoint=_CHECKPOINT)
    job.ask_doctor()
    bench.restore(checkpoint=_CHECKPOINT)
    job.arrive()
    job.run()
    job.judge()


@follows(
    ("HF2443", "if the checkpoint was deleted: restore it from a backup (holdfast backups TARGET)"),
    when="the checkpoint was deleted, another one was begun, and the deleted one is restored",
)
def own_deleted_checkpoint_restored(bench: AdviceBench) -> None:
    job = Job(bench)
    bench.back_up(_CHECKPOINT)
    shutil.rmtree(bench.folder / _CHECKPOINT)
    (bench.folder / _CHECKPOINT / "offsets").mkdir(parents=True)
    place = bench.folder / _CHECKPOINT / "metadata"
    place.write_text(f'{{"id":"{IDENTITY}"}}', encoding="utf-8")
    job.ask_doctor()
    shutil.rmtree(bench.folder / _CHECKPOINT)
    bench.restore(checkpoint=_CHECKPOINT)
    job.arrive()
    job.run()
    job.judge()


@follows(
    ("HF2452", "where no retention job did it: bring the files back from a copy of the output"),
    when="a published file is gone and brought back",
)
def published_file_back(bench: AdviceBench) -> None:
    job = Job(bench)
    bench.keep(_OUT)
    next((bench.folder / _OUT).glob("*.parquet")).unlink()
    job.ask_doctor()
    bench.put_back(_OUT)
    job.arrive()
    job.run()
    job.judge()


@follows(
    ("HF2453", "bring the file back from a copy of the output"),
    when="a published file was cut and is brought back",
)
def cut_file_back(bench: AdviceBench) -> None:
    job = Job(bench)
    bench.keep(_OUT)
    file = next((bench.folder / _OUT).glob("*.parquet"))
    file.write_bytes(file.read_bytes()[:40])
    job.ask_doctor()
    bench.put_back(_OUT)
    job.arrive()
    job.run()
    job.judge()


@follows(
    ("HF2454", "find out who wrote them; if another writer did, move them to a place outside of "
     "the output"),
    when="somebody copied a file of rows into the output, and it is moved outside",
)  # fmt: skip
def foreign_file_moved(bench: AdviceBench) -> None:
    job = Job(bench)
    file = next((bench.folder / _OUT).glob("*.parquet"))
    shutil.copy2(file, file.with_name("by-hand.parquet"))
    job.ask_doctor()
    file.with_name("by-hand.parquet").rename(bench.folder / "by-hand.parquet")
    job.arrive()
    job.run()
    job.judge()


@wrongly(
    ("HF2454", "do not move them where a manifest is missing or unreadable (HF2455, HF2456): they "
     "may be the rows of that batch"),
    when="a manifest is lost, and the files of its batch are moved outside of the output",
)  # fmt: skip
def rows_of_lost_manifest_moved(bench: AdviceBench) -> None:
    job = Job(bench)
    manifest = job.manifests()[1]
    names = [one["path"] for one in json.loads(manifest.read_text(encoding="utf-8"))["files"]]
    manifest.unlink()
    for name in names:
        (bench.folder / _OUT / name).rename(bench.folder / Path(name).name)
    job.arrive()
    job.run()
    job.judge()


@follows(
    ("HF2455", "bring the file back as it was"),
    ("HF5023", "or bring the file back as it was"),
    when="a manifest was overwritten and is brought back",
)
def manifest_back(bench: AdviceBench) -> None:
    job = Job(bench)
    manifest = job.manifests()[-1]
    before = manifest.read_bytes()
    manifest.write_bytes(b"{")
    job.ask_doctor()
    manifest.write_bytes(before)
    job.arrive()
    job.run()
    job.judge()


@follows(
    ("HF2456", "put the missing manifests back next to the output, and leave the newer ones as "
    "they are"),
    when="a manifest between others is lost and put back",
)  # fmt: skip
def missing_manifest_back(bench: AdviceBench) -> None:
    job = Job(bench)
    manifest = job.manifests()[1]
    before = manifest.read_bytes()
    manifest.unlink()
    job.ask_doctor()
    manifest.write_bytes(before)
    job.arrive()
    job.run()
    job.judge()


@follows(
    (
        "HF5022",
        "bring the directory `.holdfast` next to the output back as it was, then start again",
    ),
    when="the folder beside the output was removed and is brought back",
    unreported="raised while a batch is written",
)
def folder_beside_back(bench: AdviceBench) -> None:
    job = Job(bench)
    bench.keep(_BESIDE)
    shutil.rmtree(bench.folder / _BESIDE)
    bench.put_back(_BESIDE)
    job.arrive()
    job.run()
    job.judge()


@wrongly(
    (WRONG, wrongfixes.MANIFESTS),
    when="the manifests are deleted while a batch is pending that the sink has",
)
def manifests_deleted(bench: AdviceBench) -> None:
    job = Job(bench)
    bench.remove("commits/2", checkpoint=_CHECKPOINT)
    shutil.rmtree(bench.folder / _BESIDE / "manifests")
    job.arrive()
    job.run("empty-sink", "sink-behind", "shared-sink")
    job.judge()


@follows(
    ("HF3006", "or, if the rows are gone on purpose: holdfast run JOB --accept sink-behind"),
    when="the table was put back to an earlier version on purpose",
    unreported="a guard of holdfast run",
)
def sink_behind_accepted(bench: AdviceBench) -> None:
    job = Job(bench, "delta")
    bench.keep(_OUT)
    gone = len(job.numbers)
    job.arrive()
    job.run()
    bench.put_back(_OUT)
    job.numbers = job.numbers[:gone]
    job.arrive()
    job.run("sink-behind")
    job.judge()


@follows(
    ("HF3007", "or, where several jobs write this sink on purpose: holdfast run JOB --accept "
     "shared-sink"),
    when="a second query writes other rows into the same table on purpose",
    unreported="a guard of holdfast run",
)  # fmt: skip
def shared_sink_accepted(bench: AdviceBench) -> None:
    job = Job(bench, "delta")
    for file in (bench.folder / "project/in").iterdir():
        file.rename(bench.folder / file.name)
    shutil.rmtree(bench.folder / _CHECKPOINT)
    # Without its records the job is another one, which never wrote this table.
    shutil.rmtree((bench.folder / _CHECKPOINT).parent / ".holdfast")
    job.arrive()
    job.run("shared-sink")
    job.judge()
