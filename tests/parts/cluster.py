"""Starts a real Spark cluster on this machine: a master, and workers of one core each."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from tests.parts.ports import free_port, wait_for

HOSTS = ("127.0.0.1", "127.0.0.2")
"""Spark copies a slow task to another host alone; each loopback address is one to it."""

_HOME = Path(pyspark.__file__).parent
_DEPLOY = "org.apache.spark.deploy"


@contextmanager
def running_cluster(folder: Path) -> Iterator[str]:
    """Give the address of a master that has a worker on every host."""
    port = free_port()
    address = f"spark://{HOSTS[0]}:{port}"
    with ExitStack() as stack:
        master = (f"{_DEPLOY}.master.Master", "--host", HOSTS[0], "--port", str(port))
        stack.enter_context(_running(HOSTS[0], *master))
        # A worker that comes before its master asks again after many seconds only.
        wait_for(port)
        for host in HOSTS:
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / host))
            worker = (f"{_DEPLOY}.worker.Worker", "--host", host, *size, address)
            stack.enter_context(_running(host, *worker))
        yield address


@contextmanager
def _running(host: str, *words: str) -> Iterator[None]:
    """Run a part of the cluster; whatever it started ends with it."""
    process = subprocess.Popen(
        ["bash", str(_HOME / "bin" / "spark-class"), *words, "--webui-port", "0"],
        env={
            **os.environ,
            "SPARK_HOME": str(_HOME),
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
