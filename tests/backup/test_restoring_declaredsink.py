"""A restore of a job's deleted checkpoint asks the declared sink what it holds already."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holdfast import library
from holdfast.errors import HoldfastError
from tests.backup.folders import tree_of
from tests.corpus.loading import sample
from tests.diagnosis.doctor.scenarios import delta_id, delta_output

JOBS = """
project: shop
jobs:
  orders:
    source: {format: rate}
    sql: select * from source
    sink: {format: delta, path: ./lake/orders}
    checkpoint: ./checkpoints/orders
"""
LAST = 2
"""The newest batch of the sample."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A job whose checkpoint was backed up and deleted."""
    (tmp_path / "holdfast.yaml").write_text(JOBS)
    root = sample("delta", "4.2.0").extract(tmp_path / "checkpoints")
    root.rename(tmp_path / "checkpoints/orders")
    library.back_up("orders", project=tmp_path / "holdfast.yaml")
    shutil.rmtree(tmp_path / "checkpoints/orders")
    return tmp_path


def write_table(project: Path, names: dict[str, int]) -> None:
    """Let the table hold batches by the names of their writers."""
    for path, data in delta_output(names).items():
        file = project / "lake/orders" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def test_a_batch_that_the_sink_has_and_the_backup_not_refuses(project: Path) -> None:
    """Spark would plan it again, and the table would drop its rows."""
    write_table(project, {delta_id(): LAST + 1})
    with pytest.raises(HoldfastError) as caught:
        library.restore("orders@newest", project=project / "holdfast.yaml")
    assert caught.value.code.number == "HF4502"
    assert f"the sink holds batch {LAST + 1}" in caught.value.message
    assert not (project / "checkpoints/orders").exists()


@pytest.mark.parametrize("names", [{delta_id(): LAST}, {"11111111-43d6-4a4e-8a39-5b6f2e6f8a11": 9}])
def test_batches_that_the_backup_has_do_not(project: Path, names: dict[str, int]) -> None:
    """Nor those of another query."""
    write_table(project, names)
    answer = library.restore("orders@newest", project=project / "holdfast.yaml")
    (ending,) = (one for one in answer.findings if one.code == "HF4517")
    assert (ending.severity.value == "info") == (delta_id() in names)
    assert tree_of(project / "checkpoints/orders")


def test_elsewhere_nothing_is_asked(project: Path) -> None:
    """Nobody starts the job there."""
    write_table(project, {delta_id(): LAST + 1})
    there = project / "elsewhere"
    library.restore("orders@newest", to=there, project=project / "holdfast.yaml")
    assert tree_of(there)
