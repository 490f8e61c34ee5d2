"""A server that takes every connection and never says a word, as behind a firewall that drops."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Silence:
    """Where it listens, and who came."""

    port: int
    callers: list[socket.socket] = field(default_factory=list)


@contextmanager
def silent_server() -> Iterator[Silence]:
    """Listen on a free port of this machine until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        silence = Silence(int(server.getsockname()[1]))

        def take() -> None:
            while True:
                try:
                    silence.callers.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=take, daemon=True).start()
        try:
            yield silence
        finally:
            server.shutdown(socket.SHUT_RDWR)
            for caller in silence.callers:
                caller.close()
