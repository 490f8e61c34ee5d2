"""A door on a port before a server behind a socket: it can be shut, and lose or hold an answer."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_PIECE_BYTES = 65536
_PATIENCE_SECONDS = 60


@dataclass(eq=False)
class _Line:
    """One client's way to the server."""

    cutting: threading.Event = field(default_factory=threading.Event)
    free: threading.Event = field(default_factory=threading.Event)
    """Answers pass."""
    is_marked: bool = False


@dataclass
class _Pair:
    """Two lines that carry the same mark, and ask for the same: the first waits for the second."""

    mark: bytes
    words: bytes
    lines: list[_Line] = field(default_factory=list)


class Door:
    """Passes bytes on, both ways, until it is told otherwise."""

    def __init__(self, path: str, port: int = 0) -> None:
        self._path = path
        self._listening = socket.create_server(("127.0.0.1", port))
        self.port = int(self._listening.getsockname()[1])
        self._open: list[socket.socket] = []
        self._losing: bytes | None = None
        self.lost = threading.Event()
        """An answer was lost."""
        self._pair: _Pair | None = None
        self.paired = threading.Event()
        """An answer was held until the second line of the pair had got its own."""
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_answer_to(self, words: bytes) -> None:
        """Let the next request with these words arrive, and its answer not: the line is cut."""
        self.lost.clear()
        self._losing = words

    def hold_answer_to(self, words: bytes, mark: bytes) -> None:
        """Hold the answer to these words on the first line that carried the mark.

        The server has done what they ask. The answer passes when another line with the mark has
        got its own, and is closed.
        """
        self._pair = _Pair(mark, words)

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
                line = _Line()
                line.free.set()
                for ways in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=(*ways, line), daemon=True).start()

    def _pass(
        self, giver: socket.socket, taker: socket.socket, is_request: bool, line: _Line
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := giver.recv(_PIECE_BYTES):
                if is_request:
                    self._hear(piece, line)
                elif line.cutting.is_set():
                    self.lost.set()
                    break
                else:
                    line.free.wait(_PATIENCE_SECONDS)
                taker.sendall(piece)
        if is_request:
            self._let_go(line)
        for one in (giver, taker):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _hear(self, piece: bytes, line: _Line) -> None:
        if self._losing is not None and self._losing in piece:
            self._losing = None
            line.cutting.set()
        if self._pair is not None:
            line.is_marked = line.is_marked or self._pair.mark in piece
            if line.is_marked and self._pair.words in piece:
                self._pair.lines.append(line)
                if line is self._pair.lines[0]:
                    line.free.clear()

    def _let_go(self, ended: _Line) -> None:
        """Let the held answer pass where the line that ended is the second of the pair."""
        if self._pair is not None and ended in self._pair.lines[1:]:
            self.paired.set()
            self._pair.lines[0].free.set()


@contextmanager
def door_to(path: str, port: int = 0) -> Iterator[Door]:
    """Open a door to the server behind this socket, on a port that is free unless given."""
    door = Door(path, port)
    try:
        yield door
    finally:
        with contextlib.suppress(OSError):
            door.close()
