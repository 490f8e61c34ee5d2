"""What a task of Spark does before and after its COPY: characters NUL, imports, its result."""

from __future__ import annotations

import subprocess
import sys

import pyarrow

from holdfast.spark.sinks.database.dialects.postgres.copytask import count_nul


def test_nul_is_counted() -> None:
    """In JSON only the character, not its spelling."""
    assert count_nul(pyarrow.array(["a\0", None, "b"]), is_json=False) == 1
    assert count_nul(pyarrow.array([["\0", "\0"], None]), is_json=False) == 2
    assert count_nul(pyarrow.array([b"\0"]), is_json=False) == 0
    texts = pyarrow.array(['"\\u0000"', '"\\\\u0000"', '"\\\\\\u0000"', '"a\\u0000b"'])
    assert count_nul(texts, is_json=True) == 3


_COPIED = """
import io, sys
import pyarrow
from holdfast.spark.sinks.database.dialects.postgres.copytask import copy_task, count_nul, TaskCopy
from holdfast.spark.sinks.database.dialects.postgres.copyrows import copy_rows

KINDS = ["bigint", "text", "boolean", "numeric(9,2)", "text[]"]
batch = pyarrow.ipc.open_stream(sys.stdin.buffer).read_next_batch()
copy_rows(7, batch.columns, KINDS)
for column in batch.columns:
    count_nul(column, is_json=False)
TaskCopy.loaded = lambda self, batches: [
    {"attempt": 7, "rows": 2, "trouble": None}, {"attempt": 8, "rows": 0, "trouble": "words"}
]
task = copy_task("", ("public", "t"), ["a"], KINDS)
print([row for one in task(iter(())) for row in one.to_pylist()])
print(*sorted({"pandas", "pyarrow.compute"} & {*sys.modules}))
"""


def test_an_executor_imports_neither_pandas_nor_every_kernel() -> None:
    """Each of its Python processes would import pandas before its first row."""
    columns = {
        "id": pyarrow.array([1, None]),
        "name": pyarrow.array(["a", None]),
        "flag": pyarrow.array([True, None]),
        "price": pyarrow.array([None, None], pyarrow.decimal128(9, 2)),
        "tags": pyarrow.array([["a", None], None]),
    }
    batch = pyarrow.RecordBatch.from_pydict(columns)
    sent = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sent, batch.schema) as stream:
        stream.write_batch(batch)
    ran = subprocess.run(
        [sys.executable, "-c", _COPIED], input=sent.getvalue().to_pybytes(),
        capture_output=True, check=True,
    )  # fmt: skip
    results, loaded = ran.stdout.decode().split("\n")[:2]
    assert results == str(
        [
            {"attempt": 7, "rows": 2, "trouble": None},
            {"attempt": 8, "rows": 0, "trouble": "words"},
        ]
    )
    assert loaded == ""
