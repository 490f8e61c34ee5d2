"""Asks real Sparks for the state of every sample at every older batch, and keeps the digests.

    python -m tests.state.truth --environments DIR [--spark 4.3.0] [--only join]

The rows at the newest batch are among the facts of the corpus. Environments are those that
`tests/corpus/make.py` makes; Spark 3.5 has no reader of state.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tests.corpus.make import REPOSITORY, VERSIONS, environment

ASKED = tuple(version for version in VERSIONS if version >= "4")


def main() -> int:
    """Ask one Spark after another; 0 when each of them answered."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environments", type=Path, required=True, metavar="DIR")
    parser.add_argument("--spark", action="append", choices=ASKED, metavar="VERSION")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    arguments = parser.parse_args()
    failed = [one for one in arguments.spark or ASKED if not ask(one, arguments)]
    if failed:
        sys.stderr.write(f"incomplete: {', '.join(failed)}\n")
    return 1 if failed else 0


def ask(version: str, arguments: argparse.Namespace) -> bool:
    """Run one Spark's part in a process of its own."""
    python = environment(arguments.environments.resolve(), version)
    command = [str(python), "-m", "tests.state.truth.asking"]
    command += [f"--only={name}" for name in arguments.only]
    surroundings = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "PYSPARK_PYTHON": str(python),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TZ": "UTC",
    }
    return subprocess.run(command, env=surroundings, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
