"""Ports of this machine: a free one, and the wait for somebody to listen on one."""

from __future__ import annotations

import socket
import time

PATIENCE_SECONDS = 60


def free_port() -> int:
    """Give a port that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until the port answers."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < limit:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"nobody answers on port {port}")
