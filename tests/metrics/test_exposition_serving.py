"""The server of `run --metrics-port`: real sockets, real scrapes."""

from __future__ import annotations

import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.metrics.exposition import LOOPBACK, metrics_served
from holdfast.metrics.figures import JobFigures
from tests.cli.running import holdfast
from tests.metrics.jobs import EVERYTHING, scrape, value
from tests.parts.ports import free_port

PROJECT = """project: shop
jobs:
  orders:
    source: {format: json, path: ./in, schema: n long}
    sql: select * from source
    sink: {format: delta, path: ./lake/orders}
"""


def test_each_scrape_shows_what_is_known_at_that_moment() -> None:
    figures: list[JobFigures] = []
    with metrics_served(LOOPBACK, 0, lambda: figures) as url:
        assert url.startswith("http://127.0.0.1:")
        assert scrape(url) == {}
        figures.append(EVERYTHING)
        assert value(scrape(url), "holdfast_batch_id", "orders") == 7
    with pytest.raises(urllib.error.URLError):
        scrape(url)


def test_one_name_alone_can_be_asked_for() -> None:
    with metrics_served(LOOPBACK, 0, lambda: [EVERYTHING]) as url:
        (only,) = scrape(f"{url}?name[]=holdfast_batch_id")
        assert only[0] == "holdfast_batch_id"


def test_a_client_that_never_asks_keeps_nobody_waiting() -> None:
    with metrics_served(LOOPBACK, 0, lambda: [EVERYTHING]) as url:
        port = int(url.split(":")[2].split("/")[0])
        with socket.create_connection((LOOPBACK, port)) as silent:
            assert value(scrape(url), "holdfast_job_up", "orders") == 1
            silent.sendall(b"GET /metr")


def test_figures_that_break_break_the_scrape_alone(capfd: pytest.CaptureFixture[str]) -> None:
    broken = [True]

    def figures() -> list[object]:
        if broken:
            raise RuntimeError("broken")
        return [EVERYTHING]

    with metrics_served(LOOPBACK, 0, figures) as url:  # type: ignore[arg-type]
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(url, timeout=10)
        broken.clear()
        assert value(scrape(url), "holdfast_job_up", "orders") == 1


def test_ipv6_is_served_and_named_with_brackets() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with metrics_served("::1", 0, lambda: [EVERYTHING]) as url:
        assert url.startswith("http://[::1]:")
        assert value(scrape(url), "holdfast_job_up", "orders") == 1


@pytest.mark.parametrize("host", ["203.0.113.7", "no-such-host.invalid"])
def test_an_address_that_is_not_ours_is_refused(host: str) -> None:
    with pytest.raises(UsageError) as refused, metrics_served(host, 0, list):
        pass
    assert refused.value.code.number == "HF1022" and host in refused.value.message
    with metrics_served(LOOPBACK, 0, list) as url:
        assert scrape(url) == {}


def test_a_taken_port_is_refused_and_another_one_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before Spark starts: the step that the error gives then leads to a server."""
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    port = free_port()
    with metrics_served(LOOPBACK, port, list):
        refused = holdfast("run", "--metrics-port", str(port))
        assert refused.status == 2
        assert refused.err.startswith(f"error HF1022: the metrics port {port} cannot be opened")
        assert "in use" in refused.err and "--metrics-port 0" in " ".join(refused.err.split())
        assert not (tmp_path / "checkpoints").exists()
        with metrics_served(LOOPBACK, 0, list) as url:
            assert scrape(url) == {}
    with metrics_served(LOOPBACK, port, list) as url:
        assert scrape(url) == {}


def test_a_host_without_a_port_is_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    refused = holdfast("run", "--metrics-host", "0.0.0.0")
    assert refused.status == 2 and "requires a metrics port" in refused.err


def test_without_prometheus_client_the_line_to_install_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("holdfast.metrics.exposition.find_spec", lambda _name: None)
    for words in (["run", "--metrics-port", "0"], ["status", "--metrics", "a.prom"]):
        refused = holdfast(*words)
        assert refused.status == 2
        assert (
            "HF1021" in refused.err
            and 'pip install ".[metrics]" in a clone of Holdfast' in refused.err
        )
    assert not (tmp_path / "a.prom").exists()
    assert holdfast("status").status == 0
