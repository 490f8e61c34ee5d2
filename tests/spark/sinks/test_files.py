"""File sinks on real Spark: every batch once, whoever reads the folder."""

from __future__ import annotations

import datetime
import decimal
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import SinkError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.files.output import FileOutput
from holdfast.spark.sinks.files import FileBatchSink
from holdfast.spark.sinks.opening import open_sink
from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.writing import Writer
from tests.backup.writers import Moments, raise_error
from tests.drawing import DrawnMoments
from tests.spark.sinks.deliveries import AT, QUERY, declared, identity

pytestmark = pytest.mark.spark

FORMATS = ("parquet", "csv", "json", "orc")
SCHEMA = "sensor string, value int"


def file_sink(
    session: Any,
    folder: Path,
    file_format: str = "parquet",
    mode: str = "append",
    *,
    partition_by: tuple[str, ...] = (),
    options: Mapping[str, str] | None = None,
) -> Any:
    """Open a file sink, as a new process does."""
    sink = ReadySink(
        file_format,
        mode,
        AT,
        path=str(folder),
        location=parse_location(str(folder)),
        partition_by=partition_by,
        options=options or {},
    )
    return open_sink(session, declared(folder.parent, sink))


def frame(spark: Any, *rows: tuple[Any, ...], schema: str = SCHEMA) -> Any:
    """Give a batch in two partitions."""
    return spark.createDataFrame(list(rows), schema).repartition(2)


def read(spark: Any, folder: Path, file_format: str = "parquet", schema: str = SCHEMA) -> list[Any]:
    """Give every row that Spark's plain reader sees, sorted."""
    rows = spark.read.format(file_format).schema(schema).load(str(folder)).collect()
    return sorted((tuple(row) for row in rows), key=str)


def tree(folder: Path) -> dict[str, bytes]:
    """Give every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def staged(folder: Path) -> list[str]:
    """Name what lies in staging."""
    place = folder.parent / ".holdfast" / folder.name / "staging"
    return sorted(str(path.relative_to(place)) for path in place.rglob("*") if path.is_file())


@pytest.mark.parametrize("file_format", FORMATS)
def test_a_batch_is_appended_once_with_its_identity(
    spark: Any, tmp_path: Path, file_format: str
) -> None:
    """Again, from a new process, and by another generation: skipped."""
    folder = tmp_path / "out"
    sink = file_sink(spark, folder, file_format)
    batch = frame(spark, ("a", 1), ("é", None))
    sink.prepare(batch.schema, begun=False)
    assert not list(tmp_path.iterdir()), "prepare writes nothing"
    assert not sink.write(batch, identity(0)).skipped
    assert sink.write(batch, identity(0)).skipped
    again = file_sink(spark, folder, file_format)
    again.prepare(batch.schema, begun=True)
    assert again.write(batch, identity(0, generation=2)).skipped
    assert not again.write(batch.where("false"), identity(1, generation=2)).skipped
    assert not again.write(frame(spark, ("z", 3)), identity(2, generation=2)).skipped
    assert read(spark, folder, file_format) == [("a", 1), ("z", 3), ("é", None)]
    assert (sink.last_committed(QUERY).value, sink.queries()) == (2, {QUERY})
    assert sink.last_committed("another").value is None
    files = holdfast.committed_files(folder)
    assert {file.batch_id for file in files} == {0, 2}
    assert {file.path for file in files} == {str(path) for path in folder.iterdir()}
    assert all(path.name.startswith(f"{QUERY[:8]}-000000000") for path in folder.iterdir())
    assert staged(folder) == []


def test_a_batch_below_all_that_are_held_is_refused(spark: Any, tmp_path: Path) -> None:
    """Nothing tells whether it was there before; nothing is written."""
    folder = tmp_path / "out"
    sink = file_sink(spark, folder)
    sink.write(frame(spark, ("a", 4)), identity(4))
    before = tree(tmp_path)
    with pytest.raises(SinkError, match="has batch 4, but not batch 2") as caught:
        sink.write(frame(spark, ("x", 9)), identity(2))
    assert caught.value.code.number == "HF5024"
    assert tree(tmp_path) == before


def test_plain_readers_see_every_row_once(spark: Any, tmp_path: Path) -> None:
    """Types with their borders, odd names, nested ones; Spark, pyarrow, pandas and DuckDB agree."""
    import duckdb
    import pandas
    import pyarrow.dataset

    folder = tmp_path / "out"
    zone = datetime.timezone.utc
    rows = [
        (1, decimal.Decimal("12345678901234567890.123456789"), "ünï\n\"'", datetime.date(1, 1, 2),
         datetime.datetime(1931, 5, 6, 7, 8, 9, 123456, zone), b"\x00\xff", [1, None],
         {"k": 1.5}, (None, "x")),
        (2, None, None, None, None, None, None, None, None),
    ]  # fmt: skip
    schema = (
        "`an id` long, amount decimal(38,9), `a.b` string, day date, at timestamp, raw binary, "
        "list array<int>, map map<string,double>, inner struct<a:int,b:string>"
    )
    sink = file_sink(spark, folder, partition_by=("a.b",))
    batches = [frame(spark, row, schema=schema) for row in rows]
    sink.prepare(batches[0].schema, begun=False)
    for number, batch in enumerate(batches):
        sink.write(batch, identity(number))
        sink.write(batch, identity(number))
    seen = {row["an id"]: row for row in spark.read.parquet(str(folder)).collect()}
    assert len(seen) == 2 and seen[1]["amount"] == rows[0][1]
    assert seen[1]["at"].astimezone(zone) == rows[0][4]
    assert (seen[1]["a.b"], seen[2]["a.b"]) == ("ünï\n\"'", None)
    paths = [file.path for file in holdfast.committed_files(folder)]
    assert sorted(pyarrow.dataset.dataset(paths).to_table()["an id"].to_pylist()) == [1, 2]
    assert sorted(pandas.read_parquet(folder, columns=["an id"])["an id"]) == [1, 2]
    query = f"select \"an id\" from read_parquet('{tmp_path}/out/**/*.parquet') order by 1"
    assert duckdb.connect().execute(query).fetchall() == [(1,), (2,)]


def test_what_the_format_or_the_folder_can_not_take_is_refused(spark: Any, tmp_path: Path) -> None:
    """Before the query starts, with nothing written."""
    plain = frame(spark, ("a", 1))
    plain_schema = plain.schema
    nested = spark.createDataFrame([], "a int, list array<int>").schema
    spark_owned, others, table = (tmp_path / name for name in ("spark", "others", "table"))
    (spark_owned / "_spark_metadata").mkdir(parents=True)
    (table / "_delta_log").mkdir(parents=True)
    others.mkdir()
    (others / "report.parquet").touch()
    out = tmp_path / "out"
    file_sink(spark, out, "csv", partition_by=("sensor",)).write(plain, identity(0))
    stray = tmp_path / "stray"
    file_sink(spark, stray).write(plain, identity(0))
    (stray / "copied.parquet").touch()
    before = tree(tmp_path)
    more = spark.createDataFrame([], f"{SCHEMA}, more int").schema
    for sink, schema, code, words in (
        (file_sink(spark, tmp_path / "new", "csv"), nested, "HF5005", r"csv cannot store list"),
        (file_sink(spark, spark_owned), plain_schema, "HF5020", "_spark_metadata"),
        (file_sink(spark, others), plain_schema, "HF5006", "report.parquet"),
        (file_sink(spark, table), plain_schema, "HF5006", "_delta_log"),
        (file_sink(spark, stray), plain_schema, "HF5006", "copied.parquet"),
        (file_sink(spark, out, "csv", partition_by=("sensor",)), more, "HF5005", "more is new"),
        (file_sink(spark, out, "csv"), plain_schema, "HF5005", "partition_by is nothing"),
        (file_sink(spark, out, partition_by=("sensor",)), plain_schema, "HF5005", "format is"),
        (file_sink(spark, tmp_path / "new", partition_by=("value", "sensor")), plain_schema,
         "HF5005", "no column is left"),
        (file_sink(spark, tmp_path / "new", partition_by=("no",)), plain_schema, "HF5005", "no"),
        (file_sink(spark, tmp_path / "new", partition_by=("list",)), nested, "HF5005", "a path"),
        (file_sink(spark, tmp_path / "new", partition_by=("_k",)),
         spark.createDataFrame([], "_k int, v int").schema, "HF5005", "skip such directories"),
    ):  # fmt: skip
        with pytest.raises(SinkError, match=words) as caught:
            sink.prepare(schema, begun=False)
        assert caught.value.code.number == code
        if code == "HF5006":
            assert caught.value.next_steps == ("give the sink a directory of its own",)
    with pytest.raises(SinkError, match="value is missing"):
        file_sink(spark, out, "csv", partition_by=("sensor",)).write(
            plain.drop("value").selectExpr("sensor", "1 as other"), identity(1)
        )
    assert tree(tmp_path) == before


def test_an_output_that_was_moved_without_its_manifests_says_what_to_move(
    spark: Any, tmp_path: Path
) -> None:
    """Following it makes the sink know its batches again; another folder would lack the rows."""
    batch = frame(spark, ("a", 1))
    file_sink(spark, tmp_path / "old" / "out").write(batch, identity(0))
    (tmp_path / "new").mkdir()
    (tmp_path / "old" / "out").rename(tmp_path / "new" / "out")
    moved = file_sink(spark, tmp_path / "new" / "out")
    with pytest.raises(SinkError) as caught:
        moved.prepare(batch.schema, begun=True)
    assert caught.value.code.number == "HF5006"
    assert f"{tmp_path}/new/.holdfast/out" in caught.value.next_steps[0]
    (tmp_path / "old" / ".holdfast").rename(tmp_path / "new" / ".holdfast")
    assert moved.write(batch, identity(0)).skipped


def test_a_failed_attempt_leaves_nothing_to_see(spark: Any, tmp_path: Path) -> None:
    """Rows that can't be computed: nothing in the output, nothing in staging, and it goes on."""
    folder = tmp_path / "out"
    sink = file_sink(spark, folder)
    broken = "if(id = 99, raise_error('on purpose'), cast(id as int)) as value"
    with pytest.raises(Exception, match="on purpose"):
        sink.write(spark.range(100).selectExpr("'a' as sensor", broken), identity(0))
    assert not folder.exists()
    assert not list((tmp_path / ".holdfast/out/staging").glob("*/*"))
    assert sink.write(frame(spark, ("a", 1)), identity(0)).rows == 1
    assert read(spark, folder) == [("a", 1)]


class Noting:
    """Writes through another writer, and notes what it is asked for."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return getattr(self._writer, name)


def test_files_are_on_the_disk_before_they_are_committed(spark: Any, tmp_path: Path) -> None:
    """And published before they are marked, and marked before what is left in staging goes."""
    folder = tmp_path / "out"
    location = parse_location(str(folder))
    noting = Noting(open_writer(parse_location(str(tmp_path)), StorageSettings()))
    output = FileOutput(location, StorageSettings(), lambda _, __: noting)
    sink = ReadySink("json", "append", AT, path=str(folder), location=location)
    FileBatchSink(spark, sink, output).write(frame(spark, ("a", 1), ("b", 2)), identity(0))
    wanted = ("flush", "settle", "create", "move", "move_folder", "remove")
    order = [one for one in noting.asked if one in wanted]
    files = len(list(folder.iterdir()))
    opened, committed, marked = (["create", "settle"] for _ in range(3))
    expected = [*opened, *["flush"] * files, "settle", *committed, *["move"] * files, "settle"]
    left = len(expected) + len(marked)
    assert order[:left] == [*expected, *marked]
    assert set(order[left:]) <= {"move_folder", "remove"}


@pytest.mark.parametrize("mode", ["append", "complete"])
def test_a_storage_that_fails_at_any_moment(
    spark: Any, tmp_path: Path, mode: str, moments: DrawnMoments
) -> None:
    """A full disk, say: no row is ever seen twice, and the same sink goes on when it can."""
    columns = "value int, sensor string"
    first, second = (
        frame(spark, ("a", 1), ("b", 2)).cache(),
        frame(spark, ("a", 3), ("c", 4)).cache(),
    )
    for fatal in moments(mode == "append", every=2):
        folder = tmp_path / str(fatal) / "out"
        file_sink(spark, folder, mode=mode, partition_by=("sensor",)).write(first, identity(0))
        counted = Moments(fatal, raise_error)
        ready = file_sink(spark, folder, mode=mode, partition_by=("sensor",))
        output = FileOutput(parse_location(str(folder)), StorageSettings(), counted.opener())
        sink = FileBatchSink(spark, ready._sink, output)
        try:
            sink.write(second, identity(1))
        except StorageError as error:
            assert error.code.number == "HF7015"
        before, new = [(1, "a"), (2, "b")], [(3, "a"), (4, "c")]
        after = before + new if mode == "append" else new
        seen = read(spark, folder, schema=columns) if folder.exists() else []
        assert len(set(seen)) == len(seen) and set(seen) <= {*before, *new}
        sink.write(second, identity(1))
        assert read(spark, folder, schema=columns) == after
        assert staged(folder) == []
        if counted.survived:
            assert fatal > 8, "too few moments were counted"
            return


def test_complete_replaces_the_folder(spark: Any, tmp_path: Path) -> None:
    """The same batch twice is one; the manifests tell of the newest batch."""
    folder = tmp_path / "out"
    sink = file_sink(spark, folder, mode="complete", partition_by=("sensor",))
    first = frame(spark, ("a", 1), ("b", 2))
    sink.prepare(first.schema, begun=False)
    sink.write(first, identity(0))
    assert sink.write(frame(spark, ("a", 9)), identity(1)).rows == 1
    assert sink.write(frame(spark, ("a", 9)), identity(1)).skipped
    seen = spark.read.parquet(str(folder)).select("sensor", "value").collect()
    assert [tuple(row) for row in seen] == [("a", 9)]
    assert [file.batch_id for file in holdfast.committed_files(folder)] == [1]
    assert set(tree(folder)) == {
        str(Path(file.path).relative_to(folder)) for file in holdfast.committed_files(folder)
    }
    again = file_sink(spark, folder, mode="complete", partition_by=("sensor",))
    again.prepare(first.schema, begun=True)
    assert again.write(first.where("false"), identity(2)).rows == 0
    assert staged(folder) == []
    with pytest.raises(SinkError) as caught:
        again.rewind(QUERY, 0, generation=1)
    assert caught.value.code.number == "HF5011"


def test_batches_are_taken_back_by_their_manifests(spark: Any, tmp_path: Path) -> None:
    """The same batch can be written again afterwards; a foreign file keeps it from clearing."""
    folder = tmp_path / "out"
    sink = file_sink(spark, folder, partition_by=("sensor",))
    for number in range(3):
        sink.write(frame(spark, ("a", number), (f"b{number}", number)), identity(number))
    sink.rewind(QUERY, 0, generation=1)
    columns = "value int, sensor string"
    assert read(spark, folder, schema=columns) == [(0, "a"), (0, "b0")]
    assert sink.last_committed(QUERY).value == 0
    assert not (folder / "sensor=b2").exists()
    assert not sink.write(frame(spark, ("a", 1)), identity(1, "other")).skipped
    (folder / "mine.parquet").touch()
    before = tree(tmp_path)
    with pytest.raises(SinkError, match=r"not the sink's own, such as mine\.parquet") as caught:
        sink.clear(generation=1)
    assert (caught.value.code.number, tree(tmp_path)) == ("HF5011", before)
    (folder / "mine.parquet").unlink()
    sink.clear(generation=1)
    # What keeps a late driver from bringing rows back stays.
    assert all("/manifests/-epochs/" in path for path in tree(tmp_path))
    assert sink.queries() == frozenset()
    assert not sink.write(frame(spark, ("a", 5)), identity(0)).skipped
    assert read(spark, folder, schema=columns) == [(5, "a")]


def test_a_manifest_tells_everything(spark: Any, tmp_path: Path) -> None:
    """It is the documented format; a damaged one stops the job."""
    folder = tmp_path / "out"
    sink = file_sink(spark, folder)
    sink.write(frame(spark, ("a", 1), ("b", 2)), identity(7, generation=3))
    path = tmp_path / ".holdfast/out/manifests" / QUERY / "0000000007.json"
    document = json.loads(path.read_bytes())
    files = document.pop("files")
    assert document.pop("marked") is True
    assert document.pop("staging").startswith("0000000007-3-") and document.pop("written_at")
    assert [field["name"] for field in document.pop("schema")["fields"]] == ["sensor", "value"]
    assert document == {
        "holdfast": 1, "query_id": QUERY, "batch_id": 7, "generation": 3, "offsets_digest": "d7",
        "format": "parquet", "mode": "append", "partition_by": [], "rows": 2,
    }  # fmt: skip
    assert {one["path"]: one["size"] for one in files} == {
        name: len(content) for name, content in tree(folder).items()
    }
    path.write_text("{}")
    with pytest.raises(SinkError) as caught:
        file_sink(spark, folder).write(frame(spark, ("a", 1)), identity(7))
    assert caught.value.code.number == "HF5023"
    shutil.rmtree(folder)
