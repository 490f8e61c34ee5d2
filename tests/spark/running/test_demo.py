"""`holdfast demo` on real Spark: two kills, proved from the files, and nothing lost or doubled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.running.processes import call, result_of

pytestmark = pytest.mark.spark


def test_two_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    """The story as a user sees it; the folder is kept because it was named."""
    done = call(tmp_path, "demo", str(tmp_path / "shown"), "--json")
    assert done.returncode == 0, done.stdout[-1000:]
    shown = result_of(done)["result"]
    before, after = shown["kills"]
    assert (before["point"], before["planned"], before["in_sink"], before["committed"]) == (
        "sink.before-commit", True, False, False,
    )  # fmt: skip
    assert (after["point"], after["planned"], after["in_sink"], after["committed"]) == (
        "sink.after-commit", True, True, False,
    )  # fmt: skip
    assert after["next_start"].startswith(f"rerun batch {after['batch_id']}")
    assert shown["skipped_batches"] == 1
    assert (shown["lost"], shown["doubled"]) == (0, 0)
    assert {count["table"]: count["found"] > 0 for count in shown["counts"]} == dict.fromkeys(
        ("raw", "readings", "quarantine", "gold"), True
    )
    again = call(tmp_path, "demo", str(tmp_path / "shown"), "--json")
    assert again.returncode == 2 and "already exists" in again.stdout
