"""A door on a port before a server behind a socket: it can be shut, and can lose an answer."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PIECE_BYTES = 65536


class Door:
    """Passes bytes on, both ways, until it is told otherwise."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._open: list[socket.socket] = []
        self._losing: bytes | None = None
        self.lost = threading.Event()
        """An answer was lost."""
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_answer_to(self, words: bytes) -> None:
        """Let the next request with these words arrive, and its answer not: the line is cut."""
        self.lost.clear()
        self._losing = words

    def cut(self) -> None:
        """Cut every line that is open."""
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def close(self) -> None:
        """Let nobody in any more."""
        # Closed alone, it would let in one more whom it waits for already.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._path)
                self._open += [client, server]
                cutting = threading.Event()
                for ways in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=(*ways, cutting), daemon=True).start()

    def _pass(
        self,
        giver: socket.socket,
        taker: socket.socket,
        is_request: bool,
        cutting: threading.Event,
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := giver.recv(_PIECE_BYTES):
                if is_request and self._losing is not None and self._losing in piece:
                    self._losing = None
                    cutting.set()
                elif not is_request and cutting.is_set():
                    self.lost.set()
                    break
                taker.sendall(piece)
        for one in (giver, taker):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextmanager
def door_to(path: str) -> Iterator[Door]:
    """Open a door to the server behind this socket."""
    door = Door(path)
    try:
        yield door
    finally:
        with contextlib.suppress(OSError):
            door.close()
