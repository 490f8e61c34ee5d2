"""Makes the corpus: one child process per Spark version runs every shape and packs it.

    python tests/corpus/make.py --environments DIR [--spark 4.3.0] [--only NAME]

An environment `DIR/<version>` that is absent is created with pip. Java 17 must be on the path.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
VERSIONS = ("3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0", "4.2.0")
COMPANIONS = ("pandas<3", "pyarrow", "grpcio", "protobuf", "setuptools<81")


def main() -> int:
    """Runs the command and returns its exit status: 0 when every shape was made."""
    arguments = parse_arguments()
    failed = [version for version in arguments.spark if not make(version, arguments)]
    if failed:
        print(f"incomplete: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def parse_arguments() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environments", type=Path, required=True, metavar="DIR")
    parser.add_argument("--spark", action="append", choices=VERSIONS, metavar="VERSION")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    parser.add_argument("--missing", action="store_true", help="skip what is packed already")
    arguments = parser.parse_args()
    arguments.spark = arguments.spark or list(VERSIONS)
    return arguments


def make(version: str, arguments: argparse.Namespace) -> bool:
    """Runs the shapes of one Spark version; true when all of them were packed."""
    python = environment(arguments.environments.resolve(), version)
    command = [*quiet_host(), str(python), "-m", "tests.corpus.running"]
    command += ["--host", socket.gethostname()]
    command += [f"--only={name}" for name in arguments.only]
    command += ["--missing"] if arguments.missing else []
    surroundings = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "PYSPARK_PYTHON": str(python),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TZ": "UTC",
    }
    return subprocess.run(command, env=surroundings, check=False).returncode == 0


def environment(folder: Path, version: str) -> Path:
    """Returns the Python of `folder/version`, creating the environment when it is absent."""
    place = folder / version
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        packages = [f"pyspark=={version}", *COMPANIONS]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def quiet_host() -> list[str]:
    """Returns the prefix that hides the machine's name, which RocksDB writes into its tables."""
    as_root = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    rename = 'hostname localhost && exec "$@"'
    return ["unshare", *as_root, "--uts", "sh", "-c", rename, "sh"]


if __name__ == "__main__":
    sys.exit(main())
