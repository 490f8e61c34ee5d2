"""The recovery rule against the installed Spark, live: damage, start, compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyspark
import pytest

from tests.checkpoint.foretelling import contradiction
from tests.restarts.bases import base_named
from tests.restarts.damages import damage_named
from tests.restarts.edits import Files
from tests.restarts.loading import truth_of
from tests.restarts.making_bases import make_base
from tests.restarts.observing import observe
from tests.restarts.queries import Places, write_inputs

pytestmark = pytest.mark.spark

DAMAGES = (
    "none",
    "newest-commit-missing",
    "all-commits-missing",
    "newest-offset-missing",
    "second-newest-offset-missing",
    "offset-empty",
    "commit-empty",
    "metadata-missing",
    "crc-ahead-in-commits",
    "sources-removed",
)
STATE_DAMAGES = ("none", "state-partition-removed", "offsets-and-commits-removed")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the queries run."""
    return tmp_path_factory.mktemp("restarts")


def made(spark: Any, root: Path, base: str) -> Files:
    """Run the base's query on the installed Spark."""
    files = make_base(spark, base_named(base), root, root / "packed" / f"{base}.zip")
    write_inputs(root, base_named(base).batches + 1)
    return files


@pytest.mark.parametrize("base,damages", [("stateless", DAMAGES), ("aggregation", STATE_DAMAGES)])
def test_spark_does_what_we_tell(
    spark: Any, root: Path, base: str, damages: tuple[str, ...]
) -> None:
    """Each damage on a copy, then a real start."""
    files = made(spark, root, base)
    wrong = []
    for name in damages:
        damaged = damage_named(name).function(dict(files))
        seen = observe(spark, base_named(base), Places(root, f"run-{base}-{name}"), damaged)
        record = {"base": base, "damage": name, "notes": "", **seen}
        wrong.append(contradiction(truth_of(pyspark.__version__, record), damaged))
    assert not [one for one in wrong if one is not None]
