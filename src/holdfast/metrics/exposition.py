"""Exposes figures as OpenMetrics: in a file written whole or not at all, or by HTTP beside jobs."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from holdfast.answers import Answer
from holdfast.errors import HoldfastError, UsageError
from holdfast.metrics.families import JOB_LABELS, Face, Family, families_of
from holdfast.metrics.figures import JobFigures
from holdfast.running.report import Event, RunStep, Watcher
from holdfast.storage.local import is_inside
from holdfast.storage.localwriter import replace_whole
from holdfast.storage.location import shown_path

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

    from holdfast.diagnosis.status.result import Status
    from holdfast.diagnosis.status.status import JobPlace
    from holdfast.jobs.ready import ReadyJob
    from holdfast.running.stopping import Stopping


def require_metrics_extra() -> None:
    """Raise HF1021 if prometheus_client is not installed."""
    if find_spec("prometheus_client") is None:
        raise UsageError("HF1021", "metrics require prometheus_client, which is not installed")


def registry_of(face: Face, figures: Callable[[], Iterable[JobFigures]]) -> CollectorRegistry:
    """Return a registry that asks for the figures whenever it is collected."""
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    registry.register(_Collector(face, figures))
    return registry


def metrics_text(face: Face, figures: Iterable[JobFigures]) -> bytes:
    """Return the figures as OpenMetrics text."""
    from prometheus_client.openmetrics.exposition import generate_latest

    known = tuple(figures)
    text: bytes = generate_latest(registry_of(face, lambda: known))  # type: ignore[no-untyped-call]
    return text


class _Collector:
    """What prometheus_client asks for metrics."""

    def __init__(self, face: Face, figures: Callable[[], Iterable[JobFigures]]) -> None:
        self._families = families_of(face)
        self._figures = figures

    def describe(self) -> Iterator[Metric]:
        """Yield every family without samples."""
        return map(_metric, self._families)

    def collect(self) -> Iterator[Metric]:
        """Yield every family that has samples now."""
        figures, now = list(self._figures()), time.time()
        for family in self._families:
            metric = _metric(family)
            labels = (*JOB_LABELS, *family.labels)
            for one in figures:
                for values, number in family.samples(one, now):
                    metric.add_sample(family.name, dict(zip(labels, values, strict=True)), number)
            if metric.samples:
                yield metric


def _metric(family: Family) -> Metric:
    from prometheus_client.metrics_core import Metric

    kind = "counter" if family.is_counter else "gauge"
    return Metric(family.name.removesuffix("_total"), family.help, kind, family.unit)


SUFFIX = ".prom"
"""The only files that the collector reads."""
_OURS = b"# HELP holdfast_"
"""How a file of ours begins."""


def refuse_bad_file(path: Path, checkpoints: Iterable[Path]) -> None:
    """Raise HF1023 for a place that metrics must not be written to."""
    if (reason := _bad(path, checkpoints)) is not None:
        raise UsageError("HF1023", reason, at=shown_path(str(path)))


def write_metrics(path: Path, text: bytes) -> None:
    """Replace the metrics file, so that a reader sees the old one or the new one."""
    try:
        replace_whole(path, text)
    except OSError as failure:
        raise _unwritable(path, failure) from failure


def _bad(path: Path, checkpoints: Iterable[Path]) -> str | None:
    if path.suffix != SUFFIX:
        return f"the name of the metrics file does not end in {SUFFIX}"
    folder = os.path.realpath(path.parent)
    if not Path(folder).is_dir():
        return "the directory of the metrics file does not exist"
    if any(is_inside(folder, os.path.realpath(one)) for one in checkpoints):
        return "the metrics file would be inside a checkpoint"
    if not os.access(folder, os.W_OK | os.X_OK):
        return "the directory of the metrics file cannot be written"
    if path.is_dir():
        return "the metrics file is a directory"
    if os.path.lexists(path) and not _is_ours(path):
        return "the file exists and is not a metrics file of Holdfast"
    return None


def _is_ours(path: Path) -> bool:
    """Whether the file is one that may be replaced; an empty one holds nothing."""
    try:
        with path.open("rb") as file:
            begins = file.read(len(_OURS))
    except OSError as failure:
        raise _unwritable(path, failure) from failure
    return begins in (_OURS, b"")


def _unwritable(path: Path, failure: OSError) -> HoldfastError:
    reason = (failure.strerror or "unknown reason").lower()
    message = f"the metrics file cannot be written: {reason}"
    return UsageError("HF1023", message, at=shown_path(str(path)))


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


@contextmanager
def reporting_metrics(
    jobs: Sequence[ReadyJob],
    host: str | None,
    port: int | None,
    stopping: Stopping,
    watch: Watcher,
) -> Iterator[tuple[Watcher, str | None]]:
    """Serve metrics of a run where a port is given; yield who hears what happens, and the URL."""
    if port is None:
        if host is not None:
            raise UsageError("HF1001", "a metrics host requires a metrics port")
        yield watch, None
        return
    from holdfast.metrics.figures import LiveFigures

    live = LiveFigures(jobs, lambda: stopping.working)

    def watched(event: Event) -> None:
        live.take(event)
        watch(event)

    with metrics_served(host or LOOPBACK, port, live.now) as url:
        watch(RunStep(f"metrics: {url}", always=True))
        yield watched, url


def status_with_metrics(project: str, places: Sequence[JobPlace], path: Path) -> Answer[Status]:
    """Look at the jobs and write the metrics file; a bad place is refused before the look."""
    from holdfast.diagnosis.status.status import status_of
    from holdfast.metrics.families import Face
    from holdfast.metrics.figures import figures_of_status

    require_metrics_extra()
    refuse_bad_file(path, [one.folder for one in places if one.folder is not None])
    answer = status_of(project, places)
    text = metrics_text(Face.STATUS, figures_of_status(answer.result, time.time()))
    write_metrics(path, text)
    return replace(answer, result=replace(answer.result, metrics_file=shown_path(str(path))))
