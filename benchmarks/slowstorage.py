"""An S3 server in a process of its own that answers every call a little later, and counts them.

`python -m benchmarks.slowstorage FOLDER` serves the files of a folder. It prints its address when
it is ready, and for every line on its input how many calls there were since the line before.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.storage.s3server import KEY, SECRET, S3Server

DELAY_SECONDS = 0.03
BUCKET = "lake"
ACCOUNT = "123456789012"
"""Whom moto takes everybody for."""


@dataclass(frozen=True)
class SlowStorage:
    """A running server, as a program sees it that reads from it."""

    process: subprocess.Popen[str]
    endpoint: str

    @property
    def options(self) -> tuple[str, ...]:
        """What a command needs to be told to reach it."""
        settings = (f"endpoint={self.endpoint}", "path_style=true", "region=us-east-1")
        return tuple(word for one in settings for word in ("--storage-option", one))

    @property
    def environment(self) -> dict[str, str]:
        """The credentials."""
        return {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}

    def calls(self) -> int:
        """Give how many calls there were since this was last asked."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@contextmanager
def slow_storage(folder: Path) -> Iterator[SlowStorage]:
    """Serve a folder as the bucket `lake` until the end of the block."""
    command = [sys.executable, "-m", "benchmarks.slowstorage", str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        endpoint = process.stdout.readline().strip()
        try:
            yield SlowStorage(process, endpoint)
        finally:
            process.stdin.close()


@dataclass
class SlowServer(S3Server):
    """Lets every call wait before it is answered."""

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        time.sleep(DELAY_SECONDS)
        return super()._answer(environ, start)


def serve(folder: Path) -> None:
    """Serve until the input ends."""
    from moto.s3.models import s3_backends

    server = SlowServer()
    server.fill(BUCKET, {})
    backend = s3_backends[ACCOUNT]["aws"]
    for path in folder.rglob("*"):
        # Where there is no local disk Hadoop writes no checksums beside the files.
        if path.is_file() and path.suffix != ".crc":
            backend.put_object(BUCKET, path.relative_to(folder).as_posix(), path.read_bytes())
    print(server.endpoint, flush=True)
    for _ in sys.stdin:
        print(len(server.requests), flush=True)
        server.requests.clear()
    server.stop()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
