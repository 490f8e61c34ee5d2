"""Serves the metrics of a run over HTTP, beside the jobs and never in their way."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from holdfast.errors import UsageError
from holdfast.metrics.exposition import registry_of, require_metrics_extra
from holdfast.metrics.families import Face
from holdfast.metrics.figures import JobFigures

LOOPBACK = "127.0.0.1"
_CLIENT_SECONDS = 10
"""How long a client may take to send its request."""
_STOP_SECONDS = 0.1
"""How often the server looks whether it is to stop."""


class _Handler(WSGIRequestHandler):
    timeout = _CLIENT_SECONDS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base's name)
        """Write nothing: standard error belongs to the run."""


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    block_on_close = False
    # Two drivers must not share one port: half of the scrapes would show the other's jobs.
    allow_reuse_port = False

    def server_bind(self) -> None:
        """Bind without the look into DNS that the base makes."""
        socket.socket.bind(self.socket, self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]
        self.setup_environ()

    def handle_error(self, request: object, client_address: object) -> None:
        """Write nothing: a client that went away is not an error of the run."""


@contextmanager
def metrics_served(
    host: str, port: int, figures: Callable[[], Iterable[JobFigures]]
) -> Iterator[str]:
    """Serve metrics until the end and yield their URL; raise HF1022 if the port is taken."""
    require_metrics_extra()
    from prometheus_client.exposition import make_wsgi_app

    server = _listening(host, port)
    server.set_app(make_wsgi_app(registry_of(Face.RUN, figures)))
    thread = threading.Thread(
        target=server.serve_forever, args=(_STOP_SECONDS,), name="holdfast-metrics", daemon=True
    )
    thread.start()
    try:
        yield _url(server)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _listening(host: str, port: int) -> _Server:
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]

        class Bound(_Server):
            address_family = family

        return Bound((str(address[0]), int(address[1])), _Handler)
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        message = f"the metrics port {port} cannot be opened on {host}: {reason}"
        raise UsageError("HF1022", message) from error


def _url(server: _Server) -> str:
    host = f"[{server.server_name}]" if ":" in server.server_name else server.server_name
    return f"http://{host}:{server.server_port}/metrics"
