"""Every check: the damage made on a real checkpoint, the finding and where it lies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from holdfast.checkpoint.picture import Damage, Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.verification import verify
from holdfast.diagnosis.checks.picture import CHECKS, check_picture
from holdfast.errors import StorageError
from holdfast.findings import Finding, Severity, worst
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import FileKind, Listed, Listing
from tests.checkpoint.pictures import Files, files_of, replaced, without
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus

BROKEN_BY_SPARK_ITSELF = {"repartition-refused"}
"""Spark's own offline repartition refuses this state only after it has written an entry."""


def location_of(one: Sample) -> str:
    """Where the sample was made: operator metadata records it."""
    recorded = one.facts.get("checkpoint")
    return recorded if isinstance(recorded, str) else f"/tmp/holdfast-corpus/{one.name}/checkpoint"


@over_samples("one", corpus())
def test_healthy_checkpoints_of_every_kind_give_no_warning(one: Sample) -> None:
    """Information at most."""
    picture = read_picture(MemoryReader(one.files(), location=location_of(one)), history=1000)
    severity = worst(check_picture(picture))
    if one.name in BROKEN_BY_SPARK_ITSELF:
        assert severity is Severity.FATAL
    else:
        assert severity in (None, Severity.INFO)


Change = Callable[[Files], Files]


@dataclass(frozen=True)
class Case:
    """A damage and what must be found."""

    code: str
    place: str
    severity: Severity
    sample: str
    change: Change


def edit(path: str, old: bytes, new: bytes) -> Change:
    """Replace bytes in a file."""

    def change(files: Files) -> Files:
        assert old in files[path]
        return replaced(files, path, files[path].replace(old, new))

    return change


def put(path: str, data: bytes = b"") -> Change:
    """Add a file."""
    return lambda files: {**files, path: data}


def drop(*paths: str) -> Change:
    """Remove files with their checksums."""
    return lambda files: without(files, *paths)


def drop_folder(folder: str) -> Change:
    """Remove a folder."""
    return lambda files: {path: data for path, data in files.items() if not path.startswith(folder)}


def both(*changes: Change) -> Change:
    """Do one after the other."""

    def change(files: Files) -> Files:
        for one in changes:
            files = one(files)
        return files

    return change


def copy(source: str, target: str) -> Change:
    """Copy one file's content over another's."""
    return lambda files: replaced(files, target, files[source])


def empty_delta(files: Files) -> Files:
    """Leave nothing of a state file."""
    return replaced(files, "state/0/0/1.delta", b"")


# The stateless sample has batches 0 to 3; the aggregation 0 to 5; both read one file source.
STATELESS, STATE = "stateless", "aggregation-hdfs-lz4"
FATAL, ERROR, WARNING, INFO = Severity.FATAL, Severity.ERROR, Severity.WARNING, Severity.INFO

CASES = (
    Case("HF2201", "metadata", FATAL, STATELESS, drop("metadata")),
    Case("HF2202", "metadata", FATAL, STATELESS, lambda f: replaced(f, "metadata", b'{"id":"x"}')),
    Case("HF2203", "offsets/3", FATAL, STATELESS, drop("offsets/3")),
    Case("HF2204", "offsets/2", FATAL, STATELESS, drop("offsets/2")),
    Case("HF2205", "offsets/1", WARNING, STATELESS, drop("offsets/1")),
    Case("HF2207", "commits/2", WARNING, STATELESS, drop("commits/2")),
    Case("HF2208", "offsets", FATAL, STATELESS, drop_folder("offsets/")),
    Case("HF2209", "state", FATAL, STATE, both(drop_folder("offsets/"), drop_folder("commits/"))),
    Case("HF2210", "offsets/.4.crc", FATAL, STATELESS, put("offsets/.4.crc")),
    Case("HF2210", "commits/4", FATAL, STATELESS, put("commits/4/")),
    Case("HF2211", "offsets/.9.crc", WARNING, STATELESS, put("offsets/.9.crc")),
    Case("HF2212", "offsets/77", WARNING, STATELESS, put("offsets/77/")),
    Case("HF2213", "offsets/007", FATAL, STATELESS, put("offsets/007", b"v1\n")),
    Case("HF2214", "offsets/3", FATAL, STATELESS, edit("offsets/3", b'\n{"log', b'\n-\n{"log')),
    Case("HF2215", "offsets/3", FATAL, STATELESS, edit("offsets/3", b'Offset":3', b'Offset":1')),
    Case("HF2215", "offsets/3", FATAL, STATELESS, edit("offsets/3", b'{"logOffset":3}', b"-")),
    Case("HF2216", "sources/0/2", FATAL, STATELESS, drop("sources/0/2")),
    Case("HF2216", "offsets/3", FATAL, STATELESS, drop("sources/0/3")),
    Case("HF2217", "sources/0/2", ERROR, STATELESS, edit("sources/0/2", b'Id":2', b'Id":1')),
    Case("HF2218", "offsets/5", ERROR, STATE, edit("offsets/5", b'markMs":17', b'markMs":18')),
    Case(
        "HF2219", "offsets/3", WARNING, STATELESS, edit("offsets/3", b'stampMs":17', b'stampMs":16')
    ),
    Case(
        "HF2220",
        "offsets/3",
        WARNING,
        STATELESS,
        edit("offsets/3", b'partitions":"2', b'partitions":"9'),
    ),
    Case("HF2221", "state/0/1/6.delta", FATAL, STATE, drop("state/0/1/6.delta")),
    Case(
        "HF2222", "offsets/5", FATAL, STATE, edit("offsets/5", b'partitions":"2', b'partitions":"1')
    ),
    Case(
        "HF2223",
        "state/0/_metadata/metadata",
        FATAL,
        STATE,
        edit("state/0/_metadata/metadata", b'"operatorId":0', b'"operatorId":3'),
    ),
    Case(
        "HF2224",
        "state/0/_metadata/metadata",
        WARNING,
        STATE,
        edit("state/0/_metadata/metadata", b"stateStoreSave", b"stateStoreSafe"),
    ),
    Case("HF2227", "offsets/.9.x.tmp", INFO, STATELESS, put("offsets/.9.x.tmp")),
    Case("HF2229", "part-00000.parquet", INFO, STATELESS, put("part-00000.parquet", b"PAR1")),
    Case(
        "HF2232",
        "commits/2",
        ERROR,
        "aggregation-rocksdb-format-2",
        edit("commits/2", b"v2\n", b"v1\n"),
    ),
    Case(
        "HF2235",
        "offsets/3",
        WARNING,
        STATELESS,
        edit("offsets/3", b"spark.sql.shuffle.partitions", b"spark.sql.shuffle.partitionz"),
    ),
    Case("HF2236", "offsets/3", FATAL, STATELESS, copy("offsets/2", "offsets/3")),
    Case("HF2236", "offsets/2", WARNING, STATELESS, copy("offsets/1", "offsets/2")),
    Case("HF2237", "commits/3", WARNING, STATELESS, lambda f: replaced(f, "commits/3", b"v1\n{}")),
    Case(
        "HF2238",
        "state/0/0/2.delta",
        WARNING,
        "aggregation-hdfs-snapshots",
        drop("state/0/0/2.delta"),
    ),
    Case("HF2239", "state/0/0/1.delta", ERROR, "aggregation-hdfs-snapshots", empty_delta),
    Case(
        "HF2240", "state/0/0/_metadata/schema", WARNING, STATE, drop("state/0/0/_metadata/schema")
    ),
    Case("HF2241", "sources/0/0", FATAL, "rate", lambda f: replaced(f, "sources/0/0", b"v1\nx")),
    Case("HF2242", "offsets/5", ERROR, STATE, edit("offsets/5", b'codec":"lz4"', b'codec":"lz5"')),
    Case("HF2243", "offsets/5", ERROR, STATE, drop("offsets/5", "commits/5")),
    Case("HF2101", "offsets/3", FATAL, STATELESS, lambda f: replaced(f, "offsets/3", b"")),
    Case("HF2102", "commits/3", FATAL, STATELESS, edit("commits/3", b"v1", b"x1")),
    Case("HF2103", "offsets/3", FATAL, STATELESS, edit("offsets/3", b"v1\n", b"v9\n")),
    Case("HF2104", "offsets/3", FATAL, STATELESS, edit("offsets/3", b"conf", b"\xff\xfe")),
    Case("HF2105", "commits/0", WARNING, STATELESS, edit("commits/0", b"}", b"")),
    Case("HF2106", "commits/3", FATAL, STATELESS, edit("commits/3", b":0", b':"0"')),
    Case("HF2107", "commits/3", WARNING, STATELESS, edit("commits/3", b":0", b":" + b"9" * 30)),
    Case("HF2109", "sources/0/3", FATAL, STATELESS, put("sources/0/3", b"v1\n" + b"[" * 100_000)),
    Case("HF2110", "commits/3", WARNING, STATELESS, edit("commits/3", b"}", b"}\nmore")),
    Case(
        "HF2116",
        "offsets/3",
        FATAL,
        STATELESS,
        edit("offsets/3", b'{"batchW', b'{"a":1,"a":1,"batchW'),
    ),
    Case("HF2117", "offsets/3", WARNING, STATELESS, edit("offsets/3", b"v1\n", b"v1\r\n")),
    Case(
        "HF2115",
        "state/0/0/_metadata/schema",
        FATAL,
        STATE,
        edit("state/0/0/_metadata/schema", b"struct", b"strict"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.place}")
def test_the_damage_is_found_where_it_lies(case: Case) -> None:
    """Code, place and severity; and the finding says why and what next."""
    files = case.change(files_of(case.sample))
    location = f"/tmp/holdfast-corpus/{case.sample}/checkpoint"
    findings = check_picture(read_picture(MemoryReader(files, location=location)))
    found = [one for one in findings if one.code == case.code and one.place.file == case.place]
    assert found, [(one.code, one.place.file, one.message) for one in findings]
    assert found[0].severity is case.severity
    assert found[0].why
    assert found[0].next_steps


def findings_of(picture: Picture) -> dict[str, Finding]:
    """Give the first finding of each code."""
    return {one.code: one for one in reversed(check_picture(picture))}


def test_a_gap_before_the_newest_entry_is_told_once_with_every_batch() -> None:
    """Not each batch of it again as one that no start reads."""
    files = without(files_of(STATELESS), "offsets/1", "offsets/2")
    found = findings_of(read_picture(MemoryReader(files)))
    assert found["HF2204"].evidence["missing"] == [1, 2]
    assert "batches 1, 2 are missing between 0 and 3" in found["HF2204"].message
    assert "HF2205" not in found


def test_foreign_files_are_counted() -> None:
    """With the verb that fits."""
    files = {**files_of(STATELESS), "notes.txt": b""}
    one = findings_of(read_picture(MemoryReader(files)))["HF2229"]
    assert one.message == "1 name does not belong to a checkpoint: notes.txt"
    two = findings_of(read_picture(MemoryReader({**files, "todo.txt": b""})))["HF2229"]
    assert two.message == "2 names do not belong to a checkpoint: notes.txt, …"


def test_a_missing_commit_of_the_newest_batch_is_no_finding() -> None:
    """It is the ordinary trace of a crash: the batch runs again."""
    files = without(files_of(STATELESS), "commits/3")
    assert check_picture(read_picture(MemoryReader(files))) == ()


@pytest.mark.parametrize(
    "release,severity", [("3.5", Severity.ERROR), ("4.1", Severity.ERROR), ("4.2", Severity.FATAL)]
)
def test_a_lost_query_id_is_fatal_where_spark_refuses_to_start(
    release: str, severity: Severity
) -> None:
    """Up to 4.1 it starts under a new id."""
    files = without(files_of(STATELESS), "metadata")
    picture = replace(read_picture(MemoryReader(files)), starting_spark=release)
    assert findings_of(picture)["HF2201"].severity is severity


def test_a_changed_log_entry_is_an_error_as_spark_does_not_compare_checksums() -> None:
    """It goes on with the changed content, whatever that leads to."""
    files = files_of(STATELESS)
    files["offsets/3"] = files["offsets/3"].replace(
        b'"batchWatermarkMs":0', b'"batchWatermarkMs":1'
    )
    found = findings_of(read_picture(MemoryReader(files)))
    assert found["HF2111"].severity is Severity.ERROR


def test_a_start_that_fails_is_always_fatal() -> None:
    """Also where no other check says so: only the newest entry is left."""
    files = files_of(STATELESS)
    older = [path for path in files if re.fullmatch(r"(offsets|commits)/\.?[0-2](\.crc)?", path)]
    found = findings_of(read_picture(MemoryReader(without(files, *older))))
    assert found["HF2246"].severity is Severity.FATAL
    assert "batch 2 doesn't exist" in found["HF2246"].message


def test_what_could_not_be_read_is_no_verdict_on_the_next_start() -> None:
    """It may be there: only the access is reported."""
    files = files_of(STATELESS)
    older = [path for path in files if re.fullmatch(r"(offsets|commits)/\.?[0-2](\.crc)?", path)]
    picture = read_picture(MemoryReader(without(files, *older)))
    denied = StorageError("HF7002", "permission denied", at="memory")
    for unseen in (
        replace(picture, unlisted={"offsets": denied}),
        replace(picture, damages=(*picture.damages, Damage("offsets/2", denied))),
        replace(picture, moved=True),
    ):
        assert "HF2246" not in findings_of(unseen)


def test_a_start_that_fails_on_some_releases_names_them() -> None:
    """A pending batch with another number of partitions is a repartition only since 4.2."""
    files = without(files_of(STATELESS), "commits/3")
    files = edit("offsets/3", b'partitions":"2', b'partitions":"9')(files)
    picture = read_picture(MemoryReader(files))
    for release, fails in (("4.1", False), ("4.2", True)):
        found = findings_of(replace(picture, starting_spark=release))
        assert ("HF2246" in found) is fails
    asked = findings_of(replace(picture, starting_spark="4.3"))["HF2246"]
    assert asked.evidence["releases"] == ["4.3"]


def test_a_repeated_entry_is_fatal_where_rows_are_left_out_or_delivered_again() -> None:
    """A pending batch that takes nothing, after one that is done, is harmless."""
    done = files_of(STATELESS)
    ahead = {**done, "offsets/4": done["offsets/3"]}
    assert findings_of(read_picture(MemoryReader(ahead)))["HF2236"].severity is Severity.ERROR
    pending = without(ahead, "commits/3")
    assert findings_of(read_picture(MemoryReader(pending)))["HF2236"].severity is Severity.FATAL


def test_a_file_from_the_future_hides_all_that_come_after_it() -> None:
    """By more than maxFileAge; a clock that is some hours ahead is nothing."""
    files = files_of(STATELESS)
    path = "sources/0/3"
    stamp = re.search(rb'"timestamp":([0-9]+)', files[path])
    planned = re.search(rb'"batchTimestampMs":([0-9]+)', files["offsets/3"])
    assert stamp is not None and planned is not None
    for days, told in ((1, False), (6, False), (8, True)):
        late = f'"timestamp":{int(planned[1]) + days * 86_400_000}'.encode()
        found = findings_of(
            read_picture(MemoryReader(replaced(files, path, files[path].replace(stamp[0], late))))
        )
        assert ("HF2247" in found) is told
        assert not told or (found["HF2247"].severity, found["HF2247"].place.file) == (FATAL, path)


def test_async_tracking_is_information() -> None:
    """Gaps in both logs alike are how it writes."""
    found = findings_of(read_picture(MemoryReader(files_of("asynchronous"))))
    assert found["HF2206"].severity is Severity.INFO


def test_a_moved_checkpoint_with_recorded_schema_paths_is_told() -> None:
    """transformWithState records absolute paths."""
    files = files_of("transform-pandas")
    assert "HF2225" in findings_of(read_picture(MemoryReader(files, location="/elsewhere")))
    schema = next(path for path in files if "/_stateSchema/" in path and "/." not in path)
    location = "/tmp/holdfast-corpus/transform-pandas/checkpoint"
    picture = read_picture(MemoryReader(without(files, schema), location=location))
    assert findings_of(picture)["HF2226"].place.file == schema


def test_state_ids_that_do_not_fit_are_told() -> None:
    """A commit of format 2 that names an operator without state."""
    files = files_of("aggregation-rocksdb-format-2")
    newest = max(int(path[8:]) for path in files if path[:8] == "commits/" and path[8:].isdecimal())
    path = f"commits/{newest}"
    changed = replaced(files, path, files[path].replace(b'{"0":', b'{"7":'))
    assert findings_of(read_picture(MemoryReader(changed)))["HF2233"].place.file == path


class Listed2(MemoryReader):
    """Adds to the listing what memory can't hold."""

    def __init__(
        self, files: Files, extra: tuple[Listed, ...], failures: dict[str, StorageError]
    ) -> None:
        super().__init__(files)
        self._extra, self._failures = extra, failures

    def list(self) -> Listing:
        """List with the additions."""
        return Listing((*super().list().items, *self._extra), self._failures)


def test_special_files_and_locked_folders_are_told() -> None:
    """Links, pipes; and what could not be listed."""
    reader = Listed2(
        files_of(STATELESS),
        (Listed("offsets/9", FileKind.OTHER, 0),),
        {"state": StorageError("HF7002", "access was denied")},
    )
    found = findings_of(read_picture(reader))
    assert found["HF2228"].place.file == "offsets/9"
    assert found["HF2230"].place.file == "state"


def test_movement_and_unread_files_are_information() -> None:
    """They need no act."""
    from dataclasses import replace

    files = files_of("stateless-compacted")
    picture = read_picture(MemoryReader(files))
    compact = next(path for path in files if path.endswith(".compact"))
    found = findings_of(replace(picture, moved=True, unread=(compact,)))
    assert found["HF2231"].severity is found["HF2234"].severity is Severity.INFO


def test_the_worst_comes_first() -> None:
    """Whatever the order of the checks."""
    files = without(files_of(STATELESS), "offsets/1", "metadata")
    severities = [one.severity.rank for one in check_picture(read_picture(MemoryReader(files)))]
    assert severities == sorted(severities, reverse=True)
    assert len(severities) > 1


def test_checks_are_named_by_what_they_do() -> None:
    """`check_…`, each once."""
    names = [check.__name__ for check in CHECKS]
    assert all(name.startswith("check_") for name in names)
    assert len(set(names)) == len(names)


def test_every_entry_of_a_gap_is_named() -> None:
    """One of two missing entries alone would let people restore half of what Spark needs."""
    files = without(files_of("stateless"), "offsets/1", "offsets/2")
    picture = read_picture(MemoryReader(files))
    (found,) = (one for one in check_picture(picture) if one.code == "HF2204")
    assert "batches 1, 2 are missing between 0 and 3" in found.message


@pytest.mark.parametrize(
    ("shape", "pattern", "words"),
    [
        (
            "aggregation-hdfs-snapshots",
            r"state/0/0/[0-9]+\.delta",
            "Spark fails when it loads this state",
        ),
        ("stateless", r"metadata", "would run on with the changed content"),
        ("aggregation-hdfs-snapshots", r"state/0/0/[0-9]+\.snapshot", "load an older snapshot"),
    ],
)
def test_a_changed_file_says_what_spark_does_with_it(shape: str, pattern: str, words: str) -> None:
    """Logs are read unchecked, state is not (tests/restarts: state-newest-flipped)."""
    files = dict(files_of(shape))
    path = max(one for one in files if re.fullmatch(pattern, one))
    files[path] += b" "
    reader = MemoryReader(files)
    picture = verify(reader, read_picture(reader))
    assert any(words in one.why for one in check_picture(picture) if one.code == "HF2111")


def test_a_left_over_is_only_given_the_steps_of_its_batch() -> None:
    """Moving away what is left of a batch without offsets would let Spark plan it again."""
    files = files_of(STATELESS)
    newest = max(int(path[8:]) for path in files if path[:8] == "commits/" and path[8:].isdigit())
    lost, gone = f"commits/.{newest}.crc", f"commits/.{newest + 1}.crc"
    pending = {**without(files, f"commits/{newest}"), lost: b"crc"}
    for picture, path, first in (
        (files, f"offsets/.{newest + 1}.crc", "in offsets/ or sources/"),
        (files, gone, "in offsets/ or sources/, or in commits/ where offsets/ has no entry"),
        (pending, lost, "in commits/, before the batch ran"),
    ):
        found = findings_of(read_picture(MemoryReader({**picture, path: b"crc"})))["HF2210"]
        assert found.next_steps[0].startswith(first), path
        assert len(found.next_steps) == 2


def test_an_empty_file_that_the_pending_batch_writes_again_is_not_reported() -> None:
    """A killed driver leaves it; Spark replaces it when the batch runs again."""
    files = files_of("aggregation-hdfs-lz4")
    newest = max(int(path[8:]) for path in files if path[:8] == "commits/" and path[8:].isdigit())
    path = f"state/0/1/{newest + 1}.delta"
    empty = replaced(files, path, b"")
    assert "HF2239" in codes_of(empty)
    assert "HF2239" not in codes_of(without(empty, f"commits/{newest}"))
    older = replaced(without(files, f"commits/{newest}"), f"state/0/1/{newest}.delta", b"")
    assert "HF2239" in codes_of(older), "the pending batch reads this one"


def test_an_edited_entry_is_named_before_what_follows_from_it() -> None:
    """The source's log lacks what the edited entry points to: Spark stops, but this is not why."""
    files = files_of("stateless")
    newest = max(int(path[8:]) for path in files if path[:8] == "offsets/" and path[8:].isdigit())
    path = f"offsets/{newest}"
    files[path] = files[path].replace(b'"logOffset":%d' % newest, b'"logOffset":9')
    assert codes_of(files)[:2] == ["HF2111", "HF2216"]
    others = replaced(files, "commits/0", b"v1\n{")
    assert codes_of(others)[:2] == ["HF2111", "HF2216"], "and among others"


def codes_of(files: Files) -> list[str]:
    """Return the codes that are reported, in their order."""
    return [one.code for one in check_picture(read_picture(MemoryReader(files)))]
