"""What all jobs of one run share: the session, who we are, and what the user asked for."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.records.run import Versions
from holdfast.spark.events import Watcher
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
    """The Spark settings of the project."""


@dataclass(frozen=True)
class Surroundings:
    """What every job of a run is given."""

    session: SparkSession
    jvm: int
    versions: Versions
    wishes: Wishes
    stopping: Stopping
    watch: Watcher


def versions_of(session: SparkSession) -> Versions:
    """Give what runs here."""
    java = session._jvm.java.lang.System.getProperty("java.version")  # type: ignore[union-attr]
    return Versions(__version__, session.version, str(java), platform.python_version())
