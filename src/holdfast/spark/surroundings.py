"""What all jobs of one run share: the session, who we are, and what the user asked for."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.findings import Finding
from holdfast.records.run import Versions
from holdfast.spark.events import Watcher
from holdfast.spark.guard import SHARED_MOUNT
from holdfast.spark.jvm import Jvm
from holdfast.spark.report import Outcome
from holdfast.spark.stopping import GRACE_SECONDS, Stopping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Wishes:
    """What the user asked for, for every job of the run."""

    accepted: frozenset[str] = frozenset()
    """Findings that are accepted by name."""
    pending: bool | None = None
    """Whether the pending batch of an adopted checkpoint was delivered; None says nothing."""
    grace_seconds: float = GRACE_SECONDS
    settings: Mapping[str, str] = field(default_factory=dict)
    """The Spark settings of the project; of those that are kept, the open session's."""
    noted: tuple[Finding, ...] = ()
    """What every job of the run reports about the session."""
    keep_running: bool = False
    """Start a job again that failed for a reason that passes."""
    fail_fast: bool = False
    """Stop all jobs when one has failed for good."""

    again: bool = False
    """This start is a restart within the run."""

    def for_restart(self) -> Wishes:
        """Return what a restart is given: what was accepted or stated held for the first start.

        What is a mount of all machines stays one.
        """
        return replace(self, accepted=self.accepted & {SHARED_MOUNT}, pending=None, again=True)


Abandon = Callable[[], Outcome]
"""Ends a life whose code does not return, and returns what it did until then."""


def _kept(_abandon: Abandon) -> None:
    """Never end a life from outside."""


@dataclass(frozen=True)
class Surroundings:
    """What every job of a run is given."""

    session: SparkSession
    jvm: Jvm
    versions: Versions
    wishes: Wishes
    stopping: Stopping
    watch: Watcher
    abandonable: Callable[[Abandon], None] = _kept
    """Is told how a life that runs is ended from outside, where its code does not return."""


def versions_of(session: SparkSession) -> Versions:
    """Give what runs here."""
    java = session._jvm.java.lang.System.getProperty("java.version")  # type: ignore[union-attr]
    return Versions(__version__, session.version, str(java), platform.python_version())
