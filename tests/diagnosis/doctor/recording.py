"""Records of runs for the tests: made up in memory, or written beside a real checkpoint."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.records.facts import FACTS_VERSION, OperatorFacts, QueryFacts
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.leases.state import Claim, LeaseState, Standing
from holdfast.records.processes import Holder, Process, this_holder
from holdfast.records.run import Ended, PlanFacts, Run
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.corpus.loading import sample
from tests.records.runs import some_run


def query_id_of(name: str, spark: str = "4.3.0") -> str:
    """Give the id of a sample's query."""
    return str(sample(name, spark).facts["query_id"])


def a_run(generation: int = 1, **changes: Any) -> Run:
    """Give a run that finished, of a query without state."""
    quiet: dict[str, Any] = {
        "ended": Ended.FINISHED,
        "failure": None,
        "plan": PlanFacts(("file",), (), "Project [a#1]"),
        "state_store_provider": None,
    }
    return replace(some_run(generation), **{**quiet, **changes})


def run_on(name: str, spark: str = "4.3.0", **changes: Any) -> Run:
    """Give a run of a sample's own query, up to its newest committed batch."""
    last = max(
        int(path.partition("/")[2])
        for path in sample(name, spark).files()
        if path.startswith("commits/") and path.rpartition("/")[2].isdecimal()
    )
    return a_run(**{"query_id": query_id_of(name, spark), "last_batch": last, **changes})


def stateful_run_on(name: str, *operators: str, **changes: Any) -> Run:
    """Give a run of a sample's own query, which recorded the names of its stateful operators."""
    kept = tuple(OperatorFacts(number, one) for number, one in enumerate(operators))
    facts = QueryFacts(FACTS_VERSION, "4.3.0", "update", operators=kept)
    plan = PlanFacts(("file",), operators, "Aggregate", query=facts)
    return run_on(name, **{"plan": plan, **changes})


def recorded(*runs: Run, **more: Any) -> Recorded:
    """Give what a look at records might have shown."""
    return Recorded(location="/lake/checkpoints/.holdfast/orders", runs=runs, **more)


def lease(state: Standing, generation: int = 1) -> LeaseState:
    """Give what a look at a lease might have shown."""
    claim = Claim(generation, "orders", "shop", this_holder(None), "2026-03-01T10:00:00.000Z",
                  "0.1.0", "token")  # fmt: skip
    return LeaseState(generation, state, claim, None, None)


def records_beside(root: Path) -> RecordsFolder:
    """Give the records of a checkpoint on this machine."""
    return records_of(parse_location(str(root)), StorageSettings())


def write_runs(root: Path, *runs: Run) -> None:
    """Write runs beside a checkpoint."""
    history = History(records_beside(root))
    for run in runs:
        history.write(replace(run, checkpoint=f"file://{root.resolve()}"))


def dead_holder() -> Holder:
    """Give a holder of this machine whose process is gone."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    return replace(this_holder(None), python=Process(ended.pid, "1"))
