"""Runs a script of these tests in a process, with a Spark of its own, and gives what it tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.parts import classarchive

_ROOT = Path(__file__).parents[4]
_PATIENCE_SECONDS = 400


def told_by(script: ModuleType, *words: str) -> list[Any]:
    """Give each line of JSON that the script prints; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-m", script.__name__, *words],
        cwd=_ROOT,
        env={
            **os.environ,
            "PYTHONPATH": f"{_ROOT}:{_ROOT / 'src'}",
            "PYSPARK_PYTHON": sys.executable,
            classarchive.VARIABLE: classarchive.quick_java(),
        },
        capture_output=True,
        text=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
