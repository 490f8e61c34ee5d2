"""What a verdict costs once a session is up, and how long a silent database is waited for."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from benchmarks.figures import HOLDFAST, Figure, Subject, Workshop, say
from benchmarks.measuring import middle, run_cold
from tests.parts.ports import free_port
from tests.parts.silence import silent_server

SCRIPT = Path(__file__).resolve().with_name("checking_warm.py")
JOB = """project: bench
jobs:
  hours:
    source: {{format: json, path: ./in, schema: n long}}
    sql: select * from source
    checkpoint: ./checkpoint
    sink: {{format: postgres, table: public.hours, url: "postgresql://u@127.0.0.1:{port}/d"}}
"""


def measure(workshop: Workshop) -> list[Figure]:
    """Measure both."""
    return [*_verdicts(workshop), _silence(workshop)]


def _verdicts(workshop: Workshop) -> list[Figure]:
    say("judging one query again and again in a session")
    told = run_cold([sys.executable, str(SCRIPT), str(workshop.folder / "judged")]).output
    seconds = json.loads(told.splitlines()[-1])
    return [
        Figure(
            "facts and verdict in a warm session: `holdfast.check(frame, checkpoint=…)`",
            f"{seconds['later']:.2f} s (the first one in its session: {seconds['first']:.2f} s)",
            "at most 0.3 s",
            seconds["later"] <= 0.3,
        )
    ]


def _silence(workshop: Workshop) -> Figure:
    say("examining a job whose database does not answer, and one whose database refuses")
    folder = workshop.folder / "silent"
    shutil.copytree(workshop.ordinary, folder / "checkpoint")
    project = folder / "holdfast.yaml"
    command = [*HOLDFAST, "evidence", "hours", "--project", str(project), "--quiet"]
    with silent_server() as silence:
        project.write_text(JOB.format(port=silence.port), encoding="utf-8")
        silent = middle([run_cold(command) for _ in range(3)])
    project.write_text(JOB.format(port=free_port()), encoding="utf-8")
    refused = middle([run_cold(command) for _ in range(3)])
    more = silent.seconds - refused.seconds
    return Figure(
        "`holdfast evidence` where PostgreSQL takes the connection and never answers, against one "
        "that refuses it",
        f"{more:+.1f} s ({silent.seconds:.1f} s against {refused.seconds:.1f} s)",
        "at most 2.1 s more",
        more <= 2.1,
    )


SUBJECT = Subject(
    "Judging a restart",
    "The query is an hourly sum with a watermark and a Python function, over a checkpoint with a "
    "recorded run; its DataFrame is built anew for every verdict, which also reads the checkpoint "
    "and the records; the middle of 15 after three that warm up. Commands are whole processes, "
    "medians of three.",
    measure,
)
