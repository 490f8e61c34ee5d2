"""A chain over a table with changing rows, and a source that moves: refused, and what helps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from tests.spark.running.projects import Made, ingest, table

pytestmark = pytest.mark.spark

LATEST = {"format": "delta", "path": "./lake/latest", "mode": "upsert", "key": ["k"]}


def reader(**options: Any) -> dict[str, Any]:
    """Declare a job that streams the table of the other one."""
    return {
        "source": {"format": "delta", "path": "./lake/latest", "options": options},
        "sql": "select * from source",
        "sink": {"format": "delta", "path": "./lake/copy"},
    }


def declare(made: Made, **jobs: Any) -> None:
    """Write the project file again, with a profile that has a place of its own."""
    document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    dev = {"checkpoints": "./dev/checkpoints", "jobs": {"latest": {"sink": {"path": "./dev/t"}}}}
    more = {"jobs": document["jobs"] | jobs, "profiles": {"dev": dev}}
    made.file.write_text(yaml.safe_dump(document | more, sort_keys=False), encoding="utf-8")


def run(made: Made, *jobs: str, **how: Any) -> tuple[int, list[str]]:
    """Run jobs; give the exit status and the codes."""
    answer = holdfast.run(*jobs, project=made.file, raise_on_failure=False, **how)
    return answer.exit_status, [finding.code for finding in answer.findings]


def test_what_stops_a_chain_is_told_before_it_starts(spark: Any, tmp_path: Path) -> None:
    """The first upserts only insert, so the stream may start; the next one changes a row."""
    upstream = ingest() | {"sink": LATEST, "sql": "select max(n) as n, k from source group by k"}
    del upstream["transform"]
    made = Made(tmp_path, {"latest": upstream, "copy": reader()})
    declare(made)
    made.arrive(2)
    assert run(made, "latest") == (0, [])
    assert run(made, "copy") == (30, ["HF2372"])
    assert not made.checkpoint("copy").exists()
    assert run(made, "copy", accept=["changing-source"]) == (0, ["HF2372"])
    assert table(spark, tmp_path / "lake/copy") == {(0, "k0"): 1, (1, "k1"): 1}

    made.arrive(2)
    assert run(made, "latest") == (0, [])
    failed, codes = run(made, "copy", accept=["changing-source"])
    assert (failed, codes[0]) == (53, "HF2372"), "Delta stops at the first changed row"
    assert "HF2372" in {one.code for one in holdfast.doctor("copy", project=made.file).findings}
    declare(made, copy=reader(skipChangeCommits=True))
    assert run(made, "copy") == (3, ["HF2373"])

    moved = upstream | {"source": upstream["source"] | {"path": "./elsewhere"}}
    declare(made, latest=moved)
    made.arrive(2, folder="elsewhere")
    assert run(made, "latest") == (30, ["HF2374"])
    declare(made, latest=upstream)
    made.arrive(1)
    assert run(made, "latest") == (0, [])

    assert run(made, "latest", profile="dev") == (0, [])
    assert table(spark, tmp_path / "dev/t") == table(spark, tmp_path / "lake/latest")
    assert run(made, "latest") == (0, []), "neither profile refuses the place of the other"
