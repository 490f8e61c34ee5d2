"""Decides with which settings a session starts. Pure; what the user set counts before ours."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.errors import SparkStartError
from holdfast.redaction import redact_value
from holdfast.spark.features import DELTA, S3
from holdfast.spark.s3settings import s3_settings
from holdfast.storage.options import StorageSettings
from holdfast.storage.showing import shown_url

JARS = "spark.jars"
EXTENSIONS = "spark.sql.extensions"
CATALOG = "spark.sql.catalog.spark_catalog"
QUIET_LOGS = Path(__file__).with_name("quiet.log4j2.properties")
_THREADS = r"(?:[1-9]\d*|\*)"
_MASTERS = tuple(
    re.compile(form)
    for form in (
        "local",
        rf"local\[{_THREADS}\]",
        rf"local\[{_THREADS}\s*,\s*[1-9]\d*\]",
        r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]",
        "spark://.+",
        "yarn",
        "k8s://.+",
    )
)
"""What Spark's own launcher and context take."""
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
WORKER_PATH = "spark.executorEnv.PYTHONPATH"
_LOOPBACK = "127.0.0.1"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"


@dataclass(frozen=True)
class SessionWish:
    """The session that jobs need. Settings hold their secrets already."""

    name: str
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    jars: tuple[str, ...] = ()
    """The user's own, as written in the project file."""
    features: frozenset[str] = frozenset()
    folder: Path = field(default_factory=Path.cwd)
    """The project's: relative jars count from it, and workers find the user's modules there."""
    storage: StorageSettings = field(default_factory=StorageSettings)
    offline: bool = False
    ui: bool = False
    verbose: bool = False
    """Let Spark and Java say on standard error all that they like to."""
    any_master: bool = False
    """Nobody named a master: a session that runs already serves with the one that it has."""
    master_at: str | None = None
    """Where the master is declared, for a message about it."""
    jars_at: str | None = None
    """Where the user's jars are declared, for a message about them."""
    kept: tuple[str, ...] = ()
    """Settings that stay as they are in a session that is open; `*` stands for any text."""

    @property
    def is_local(self) -> bool:
        """Whether driver and executors are one process on this machine."""
        return self.master.startswith("local")


def refuse_master(master: str, at: str | None = None) -> None:
    """Raise HF5215 for a master that Spark can't connect to, whatever runs there."""
    if not any(form.fullmatch(master) for form in _MASTERS):
        message = f"spark.master is {shown_url(master)!r}, which Spark does not know"
        raise SparkStartError("HF5215", message, at=at)


def session_settings(wish: SessionWish, jars: Sequence[str]) -> dict[str, str]:
    """Give every setting of the session; `jars` are all files that it needs."""
    settings = {**_defaults(wish), **wish.conf}
    settings |= {"spark.master": wish.master, "spark.app.name": wish.name}
    if jars:
        settings[JARS] = ",".join(jars)
    if wish.ui:
        settings["spark.ui.enabled"] = "true"
    if DELTA in wish.features:
        settings[EXTENSIONS] = _joined(wish.conf.get(EXTENSIONS, ""), DELTA_EXTENSION, ",")
    if wish.is_local:
        settings[WORKER_PATH] = _joined(
            str(wish.folder), wish.conf.get(WORKER_PATH, ""), os.pathsep
        )
    if not wish.verbose and "log4j" not in wish.conf.get(JAVA_OPTIONS, ""):
        quiet = f"-Dlog4j2.configurationFile={QUIET_LOGS.as_uri()}"
        settings[JAVA_OPTIONS] = _joined(quiet, wish.conf.get(JAVA_OPTIONS, ""), " ")
    return settings


def launch_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Give those settings that may stand on the JVM's command line, where every user sees them."""
    return {name: value for name, value in settings.items() if not _is_secret(name, value)}


def _defaults(wish: SessionWish) -> dict[str, str]:
    defaults = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if wish.is_local:
        defaults |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    return {**defaults, **_delta(wish), **_s3(wish)}


def _delta(wish: SessionWish) -> dict[str, str]:
    if DELTA not in wish.features:
        return {}
    settings = {CATALOG: DELTA_CATALOG}
    if wish.is_local:
        # Delta's own 50 tasks for every snapshot are for clusters.
        settings["spark.databricks.delta.snapshotPartitions"] = "2"
    return settings


def _s3(wish: SessionWish) -> dict[str, str]:
    return s3_settings(wish.storage) if S3 in wish.features else {}


def _joined(first: str, second: str, separator: str) -> str:
    """Join two lists; what both hold stands once."""
    parts = [part for text in (first, second) for part in text.split(separator) if part]
    return separator.join(dict.fromkeys(parts))


def _is_secret(name: str, value: str) -> bool:
    return redact_value({name: value}) != {name: value}
