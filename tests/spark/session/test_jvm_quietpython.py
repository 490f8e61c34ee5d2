"""What pyspark's own Python loggers print: nothing, or everything without secrets."""

from __future__ import annotations

import io
import logging

import pytest
from py4j.java_gateway import GatewayClient, GatewayParameters
from py4j.protocol import ERROR, Py4JNetworkError
from pyspark.logger import PySparkLogger

from holdfast.spark.session.jvm import quiet_python

SECRET = "s3Cr00-Zq919xK"


def printed(logger: logging.Logger, *, verbose: bool) -> str:
    """Log an error with a secret in its message, its context and its trace."""
    shown = io.StringIO()
    handler = logging.StreamHandler(shown)
    logger.addHandler(handler)
    try:
        with quiet_python(verbose=verbose):
            try:
                raise ValueError(f"jdbc:postgresql://db/x?password={SECRET}")
            except ValueError:
                logger.exception(
                    "password=%s", SECRET, extra={"context": {"password": SECRET, "a": "b"}}
                )
    finally:
        logger.removeHandler(handler)
    return shown.getvalue()


@pytest.mark.parametrize("name", ["SQLQueryContextLogger", "py4j.clientserver"])
def test_verbose_shows_the_error_without_its_secret(name: str) -> None:
    """In pyspark's JSON and in plain lines."""
    is_plain = name.startswith("py4j")
    logger = logging.getLogger(name) if is_plain else PySparkLogger.getLogger(name)
    shown = printed(logger, verbose=True)
    assert "jdbc:postgresql://db/x" in shown and "test_jvm_quietpython.py" in shown
    assert SECRET not in shown
    assert printed(logger, verbose=False) == ""
    assert not logger.filters and not logger.disabled


@pytest.mark.parametrize("verbose", [False, True])
def test_a_connection_that_py4j_lost_is_no_traceback(verbose: bool) -> None:
    """py4j prints it with the root logger; what others print there stays."""
    shown = io.StringIO()
    handler = logging.StreamHandler(shown)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        with quiet_python(verbose=verbose):
            root.error("of somebody else")
            client = GatewayClient(gateway_parameters=GatewayParameters(port=1))
            client.deque.append(Broken())
            assert client.send_command("x\n", retry=False) == ERROR
    finally:
        root.removeHandler(handler)
    assert "of somebody else" in shown.getvalue()
    assert ("Traceback" in shown.getvalue()) == verbose
    assert not root.filters


class Broken:
    """A connection that is gone when something is sent."""

    def send_command(self, command: str) -> str:
        """Fail as py4j's own does."""
        raise Py4JNetworkError(f"Error while sending {command}")

    def close(self, reset: bool) -> None:
        """There is nothing to close."""
