"""What holds for every test, and the parts that tests of several rooms share."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import HealthCheck, settings

from holdfast.redaction import known
from tests import drawing
from tests.parts import javaoptions
from tests.parts.postgres import fresh_database, running_server

os.environ.setdefault(javaoptions.VARIABLE, javaoptions.QUICK)
# Who starts the tests with `nohup` lets every process ignore what some tests send.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# Whether examples are made slowly says how busy the machine is, and nothing of the code.
settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any-machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make audit` run what a change need not pass."""
    parser.addoption("--whole", action="store_true", help="run every matrix whole, draw nothing")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draw from every matrix the part that this run has to pass."""
    drawing.select(config, items)


def pytest_collection_finish() -> None:
    """Take what was collected out of Python's garbage collection: it lives to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def forgotten_secrets() -> Iterator[None]:
    """Forget what a test made a secret: it may be an ordinary word to the next one."""
    before = known._secrets._values
    yield
    known._secrets._values = before


@pytest.fixture(scope="session")
def whole(pytestconfig: pytest.Config) -> bool:
    """Tell whether matrices inside of a test run whole."""
    return bool(pytestconfig.getoption("whole"))


@pytest.fixture(scope="session")
def moments(whole: bool) -> drawing.DrawnMoments:
    """Count the moments of an act that this run tries."""
    return partial(drawing.moments, whole=whole)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server once, and give its URI."""
    with running_server() as uri:
        yield uri


@pytest.fixture
def database(postgres: str) -> str:
    """Give the URI of a database that is this test's own."""
    return fresh_database(postgres)
