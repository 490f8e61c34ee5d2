"""Reading state in a fresh process imports no pandas: that takes longer than a million rows."""

from __future__ import annotations

import subprocess
import sys

import pytest

READ = """
import sys
from holdfast.checkpoint.reading import read_picture
from holdfast.state.reading import open_state
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import sample
reader = MemoryReader(sample(sys.argv[1], "4.3.0").files())
picture = read_picture(reader)
rows = sum(len(batch) for batch in open_state(reader, picture).batches())
sought = open_state(reader, picture, key={sys.argv[2]: "birch"})
found = sum(len(batch) for batch in sought.batches())
print(rows > 0, found > 0, "pandas" in sys.modules)
"""


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("aggregation-hdfs-snapshots", "key"),
        ("aggregation-rocksdb", "key"),
        ("aggregation-rocksdb-changelog-snapshots", "key"),
        ("join", "field0"),
        ("session-window-rocksdb", "key"),
        ("transform-pandas-timers", "key"),
        ("transform-pandas-avro", "key"),
    ],
)
def test_pandas_is_not_imported(name: str, column: str) -> None:
    """Every provider, plain and multiple values, and one key."""
    command = [sys.executable, "-c", READ, name, column]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "False"]
