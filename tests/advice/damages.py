"""Situations in which files are put back: damages of real checkpoints, by the code they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from holdfast.checkpoint.reading import ENTRY_LIMIT_BYTES
from holdfast.codes import code_of
from tests.advice.files import restoring_step
from tests.checkpoint.pictures import files_of, without
from tests.diagnosis.checks.test_picture_onpicture import CASES
from tests.restarts.damages import damage_named
from tests.restarts.edits import Files
from tests.restarts.loading import base_files

SPARK = "4.2.1"
MOST = 3
"""Damages of tests/restarts that are restored for each code."""


@dataclass(frozen=True)
class Situation:
    """A damage, and the code that it is reported with."""

    code: str
    name: str
    before: Callable[[], Files]
    after: Callable[[Files], Files]
    asked: bool = True
    """The doctor is asked; not where the code needs the place that the checkpoint was made at."""


def _of_restarts() -> Iterator[Situation]:
    for code, damages in REPORTED.items():
        for name in damages:
            base, damage = name.split("/")
            yield Situation(
                code,
                f"{SPARK}/{name}",
                partial(base_files, SPARK, base),
                damage_named(damage).function,
            )


def _of_checks() -> Iterator[Situation]:
    counted: dict[str, int] = {}
    for case in CASES:
        if case.code in REPORTED or not _restores(case.code) or counted.get(case.code, 0) == MOST:
            continue
        counted[case.code] = counted.get(case.code, 0) + 1
        name = f"4.3.0/{case.sample}: {case.place or 'the checkpoint'} ({counted[case.code]})"
        yield Situation(case.code, name, partial(files_of, case.sample), case.change)


def _restores(code: str) -> bool:
    return any(restoring_step(step) for step in code_of(code).next_steps)


def _schema_file(files: Files) -> Files:
    gone = next(path for path in files if "/_stateSchema/" in path and "/." not in path)
    return without(files, gone)


def _checksum_of_spark(files: Files) -> Files:
    path = "state/0/1/3.delta.crc"
    return {**without(files, path), path: files[path][:20]}


def _kinesis() -> Files:
    shards = {f"sources/0/shard-commit/{batch}": b"v1" for batch in range(3)}
    return {**files_of("rate"), **shards}


def _huge(files: Files) -> Files:
    return {**without(files, "offsets/2"), "offsets/2": bytes(ENTRY_LIMIT_BYTES + 1)}


_OTHERS = (
    Situation(
        "HF2108", "4.3.0/stateless: offsets/2 is huge", partial(files_of, "stateless"), _huge
    ),
    Situation(
        "HF2245",
        "4.3.0/named-sinks: the name of a sink in commits/0 is changed",
        partial(files_of, "named-sinks"),
        lambda files: {
            **without(files, "commits/0"),
            "commits/0": files["commits/0"].replace(b':"bronze"', b':"bponz"'),
        },
    ),
    Situation(
        "HF2112",
        "4.3.0/stateless: offsets/.0.crc is cut",
        partial(files_of, "stateless"),
        lambda files: {**files, "offsets/.0.crc": b"cr"},
    ),
    Situation(
        "HF2113",
        "4.1.4/aggregation-hdfs-lz4: the checksum of a state file is cut",
        partial(files_of, "aggregation-hdfs-lz4", "4.1.4"),
        _checksum_of_spark,
    ),
    Situation(
        "HF2226",
        "4.3.0/transform-pandas: a recorded schema file is removed",
        partial(files_of, "transform-pandas"),
        _schema_file,
        asked=False,
    ),
    Situation(
        "HF2311",
        "4.3.0/rate with shard-commit of a Kinesis source: the newest one is removed",
        _kinesis,
        lambda files: without(files, "sources/0/shard-commit/2"),
    ),
)


STATE_FILES = tuple(
    Situation(
        "HF27xx",
        f"{SPARK}/{base}/{damage}",
        partial(base_files, SPARK, base),
        damage_named(damage).function,
        asked=False,
    )
    for base, damage in (
        ("aggregation", "state-newest-cut"),
        ("aggregation", "state-newest-empty"),
        ("aggregation", "state-newest-flipped"),
        ("aggregation", "state-newest-garbage"),
        ("aggregation", "state-newest-missing"),
        ("aggregation", "schema-removed"),
        ("rocksdb", "state-newest-cut"),
        ("rocksdb", "state-newest-missing"),
        ("rocksdb", "state-ssts-missing"),
    )
)
"""Damages of state files: the codes of `holdfast state` are about one of these."""
REPORTED: dict[str, tuple[str, ...]] = {
    "HF2101": (
        "stateless/commit-empty",
        "stateless-pending/older-offset-empty",
        "compacted/source-compact-empty",
    ),
    "HF2102": (
        "stateless/commit-cut-in-version",
        "stateless-pending/offset-cut-in-version",
        "stateless/offset-version-0",
    ),
    "HF2104": (
        "stateless/commit-garbage",
        "stateless-pending/offset-garbage",
        "aggregation/operator-metadata-garbage",
    ),
    "HF2105": (
        "stateless/commit-cut",
        "stateless-pending/offset-cut-in-source",
        "stateless/offset-source-word",
    ),
    "HF2106": (
        "stateless/commit-null",
        "stateless/metadata-id-number",
        "stateless/offset-version-only",
    ),
    "HF2107": (
        "stateless/commit-watermark-beyond-long",
        "aggregation/watermark-beyond-long",
    ),
    "HF2110": ("stateless-pending/offset-version-2",),
    "HF2111": (
        "stateless/crc-stale-in-commits",
        "stateless-pending/crc-stale-in-offsets",
        "stateless/crc-stale-in-sources",
    ),
    "HF2114": ("rocksdb/state-newest-flipped",),
    "HF2115": (
        "aggregation/schema-empty",
        "rocksdb/schema-garbage",
    ),
    "HF2116": (
        "stateless/partitions-twice",
        "aggregation/watermark-twice",
    ),
    "HF2117": (
        "stateless/commit-bom",
        "stateless/metadata-bom",
        "stateless/offset-cr",
    ),
    "HF2201": ("stateless/metadata-missing",),
    "HF2202": ("stateless/metadata-not-uuid",),
    "HF2203": (
        "stateless/newest-offset-missing",
        "stateless/crc-left-in-offsets",
        "aggregation/two-newest-offsets-missing",
    ),
    "HF2204": ("stateless/second-newest-offset-missing",),
    "HF2208": (
        "stateless/offsets-folder-emptied",
        "stateless-pending/offsets-folder-removed",
    ),
    "HF2209": ("aggregation/offsets-and-commits-removed",),
    "HF2210": (
        "stateless/crc-ahead-in-commits",
        "aggregation/crc-ahead-in-sources",
        "stateless/crc-left-in-offsets",
    ),
    "HF2214": (
        "stateless/offset-source-added",
        "stateless-pending/offset-source-empty",
        "aggregation/offset-source-missing",
    ),
    "HF2215": (
        "stateless/offset-log-back",
        "stateless-pending/offset-swapped",
    ),
    "HF2216": (
        "stateless/offset-log-ahead",
        "stateless-pending/offset-source-added",
        "compacted/source-compact-missing",
    ),
    "HF2218": (
        "stateless-pending/crc-stale-in-commits",
        "stateless-pending/crc-stale-in-offsets",
        "aggregation-pending/watermark-negative",
    ),
    "HF2220": (
        "stateless/offset-metadata-braces",
        "stateless-pending/partitions-unpinned",
        "rocksdb/provider-swapped",
    ),
    "HF2221": (
        "rocksdb/all-commits-missing",
        "rocksdb-pending/newest-commit-missing",
        "aggregation/state-oldest-missing",
    ),
    "HF2222": (
        "aggregation/partitions-1",
        "aggregation-pending/partitions-zero",
    ),
    "HF2232": ("rocksdb/commit-version-1",),
    "HF2233": (
        "rocksdb/commit-repeated",
        "rocksdb-pending/partitions-1",
        "rocksdb/state-operator-removed",
    ),
    "HF2235": (
        "stateless/partitions-unpinned",
        "aggregation/unknown-setting",
    ),
    "HF2236": ("stateless/offset-repeated",),
    "HF2237": (
        "stateless/commit-braces",
        "aggregation/commit-version-2",
        "stateless/offset-metadata-empty",
    ),
    "HF2238": ("aggregation/state-second-newest-missing",),
    "HF2239": (
        "aggregation/state-newest-empty",
        "aggregation-pending/state-oldest-empty",
    ),
    "HF2240": (
        "aggregation/operator-metadata-removed",
        "aggregation-pending/schema-removed",
        "rocksdb/state-partition-0-removed",
    ),
    "HF2241": (
        "stateless/offset-log-fraction",
        "stateless-pending/offset-log-negative",
        "stateless/offset-log-text",
    ),
    "HF2242": (
        "stateless/partitions-word",
        "aggregation/partitions-zero",
    ),
    "HF2243": (
        "aggregation/directory-instead-of-offset",
        "rocksdb/newest-offset-missing",
        "rocksdb/two-newest-offsets-and-commits-missing",
    ),
    "HF2314": (
        "rocksdb/state-newest-cut",
        "rocksdb-pending/state-newest-garbage",
        "rocksdb/state-ssts-missing",
    ),
    "HF2316": (
        "aggregation/state-newest-cut",
        "aggregation-pending/state-newest-garbage",
    ),
    "HF2317": (
        "aggregation/partitions-3",
        "aggregation-pending/state-newest-missing",
        "rocksdb/state-partition-0-removed",
    ),
    "HF2318": ("aggregation/provider-swapped",),
    "HF2402": (
        "file-sink/newest-offset-and-commit-missing",
        "compacted/newest-offset-and-two-commits-missing",
        "file-sink/newest-offset-missing",
    ),
}


@dataclass(frozen=True)
class Move:
    """A step that moves one thing of the checkpoint; after it every byte is as it was."""

    code: str
    step: str
    name: str
    damage: Callable[[Files], Files]
    moved: str
    """Below the checkpoint."""
    to: str | None = None
    """Below the checkpoint as well; None where it is moved out of it."""


def _renamed(old: str, new: str) -> Callable[[Files], Files]:
    def change(files: Files) -> Files:
        return {(new if path == old else path): data for path, data in files.items()}

    return change


_OUT_OF_LOG = (
    "where the entry of that number is there under its plain name: move the file out of the log"
)
_COMPARED = "compare it with the entry that it was; if that is missing, put it back byte-identical"
MOVES: tuple[Move, ...] = (
    Move("HF2212", "move the directory out of the log", "a folder lies in offsets/",
         damage_named("directory-ahead-in-offsets").function, "offsets/9"),
    Move("HF2212", "move the directory out of the log", "a folder lies in commits/",
         damage_named("directory-ahead-in-commits").function, "commits/9"),
    Move("HF2213", _OUT_OF_LOG, "a copy of an entry lies beside it under another name",
         lambda files: {**files, "offsets/04": files["offsets/4"]}, "offsets/04"),
    Move("HF2213", "where it is missing, this file is the entry: give it its plain name back",
         "an entry lost its plain name", _renamed("offsets/4", "offsets/04"),
         "offsets/04", "offsets/4"),
    Move("HF2229", "keep a checkpoint's directory for the checkpoint alone",
         "a file of something else lies in the checkpoint",
         lambda files: {**files, "notes.txt": b"ours"}, "notes.txt"),
    Move("HF2244", _COMPARED, "an entry was renamed, as a copying tool does",
         _renamed("offsets/4", "offsets/4.bak"), "offsets/4.bak", "offsets/4"),
)  # fmt: skip
"""All of them on the base `stateless`."""


def situations() -> tuple[Situation, ...]:
    """Return every situation."""
    return (*_of_restarts(), *_of_checks(), *_OTHERS, *STATE_FILES)
