"""Makes the recorded truth of one Spark version: `make.py --environments DIR --spark 4.3.0`.

Creates the environment where it is absent, then starts record.py in it. With --base or --damage
only these pairs are recorded again, with --missing only the pairs that have no record yet; with
--afresh the base checkpoints are made anew as well.
"""

import argparse
import os
import subprocess
import sys
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def main() -> int:
    """Runs record.py with the Spark that was asked for and returns its exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--environments", type=Path, required=True)
    parser.add_argument("--spark", required=True)
    options, rest = parser.parse_known_args()
    python = environment(options.environments / options.spark, options.spark)
    command = [str(python), "-m", "tests.restarts.record", *rest]
    settings = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(python)}
    settings.pop("SPARK_HOME", None)
    return subprocess.run(command, cwd=REPOSITORY, env=settings, check=False).returncode


def environment(folder: Path, spark: str) -> Path:
    """The Python of an environment that has this pyspark; the environment is made if absent."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"pyspark=={spark}"], check=True)
    return python


if __name__ == "__main__":
    sys.exit(main())
