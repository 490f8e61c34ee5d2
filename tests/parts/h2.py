"""Starts one real H2 server: what a killed process wrote, its successor finds."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.parts.libraries import jars_for
from tests.parts.ports import free_port

_START_SECONDS = 60


@contextmanager
def running_h2(folder: Path) -> Iterator[str]:
    """Give the JDBC URL that the name of a database is added to; one is made at its first use."""
    port = free_port()
    (jar,) = jars_for("h2")
    command = ["java", "-Xmx128m", "-cp", str(jar), "org.h2.tools.Server", "-tcp", "-tcpPort"]
    command += [str(port), "-ifNotExists", "-baseDir", str(folder)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(port)
        yield f"jdbc:h2:tcp://127.0.0.1:{port}/./"
    finally:
        server.kill()
        server.wait()


def _wait(port: int) -> None:
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise AssertionError("H2 did not start")
