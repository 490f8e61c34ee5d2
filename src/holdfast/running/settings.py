"""Decides with which settings and Java libraries a session starts; the user's count first."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.errors import SparkStartError
from holdfast.jobs.ready import ReadyJob
from holdfast.redaction import redact_value
from holdfast.storage.location import SCHEMES, shown_url
from holdfast.storage.options import OptionValue, StorageSettings

_PREFIX = "spark.hadoop.fs.s3a."
_SETTINGS: Mapping[str, str] = {
    "key": "access.key",
    "secret": "secret.key",
    "token": "session.token",
    "endpoint": "endpoint",
    "region": "endpoint.region",
    "path_style": "path.style.access",
    "ssl": "connection.ssl.enabled",
    "requester_pays": "requester.pays.enabled",
}
_PROVIDER = f"{_PREFIX}aws.credentials.provider"
_ANONYMOUS = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
_TEMPORARY = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider"
_SIMPLE = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
_PROFILE = "org.apache.hadoop.fs.s3a.auth.ProfileAWSCredentialsProvider"
_S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"


def s3_settings(storage: StorageSettings) -> dict[str, str]:
    """Return the settings with which Spark reaches S3 as our readers do."""
    options = storage.for_scheme("s3")
    settings = {
        # Plain s3: is how most of the world writes it; Hadoop knows s3a: alone.
        "spark.hadoop.fs.s3.impl": _S3A,
        **{
            _PREFIX + theirs: _spelled(options[ours])
            for ours, theirs in _SETTINGS.items()
            if ours in options
        },
    }
    if provider := _provider(options):
        settings[_PROVIDER] = provider
    if "profile" in options:
        settings[f"{_PREFIX}auth.profile.name"] = _spelled(options["profile"])
    return settings


def _provider(options: Mapping[str, OptionValue]) -> str | None:
    """Name who gives the credentials, where `storage:` says it; else Hadoop asks its own chain."""
    if options.get("anonymous"):
        return _ANONYMOUS
    if "key" in options:
        return _TEMPORARY if "token" in options else _SIMPLE
    return _PROFILE if "profile" in options else None


def _spelled(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


DELTA = "delta"
KAFKA = "kafka"
S3 = "s3"
POSTGRES = "postgres"

_BY_FORMAT = {"delta": DELTA, "kafka": KAFKA}
_POSTGRES_URL = "jdbc:postgresql:"


def features_of(jobs: Sequence[ReadyJob]) -> frozenset[str]:
    """Return `delta`, `kafka`, `s3` and `postgres`, each where some job needs it."""
    return frozenset(feature for job in jobs for feature in _features(job))


def _features(job: ReadyJob) -> Iterator[str]:
    for kind in (job.sink.format, *(source.format for source in job.sources)):
        if feature := _BY_FORMAT.get(kind.lower()):
            yield feature
    if any(_is_s3(place) for place in _places(job)):
        yield S3
    if any(url.lower().startswith(_POSTGRES_URL) for url in _urls(job)):
        yield POSTGRES


def _places(job: ReadyJob) -> Iterator[str]:
    yield job.checkpoint.url
    yield from (job.sink.path or "", job.sink.options.get("path", ""))
    for source in job.sources:
        yield from (source.path or "", source.options.get("path", ""))


def _urls(job: ReadyJob) -> Iterator[str]:
    # The sink `postgres` is written without the JVM.
    if job.sink.format != "postgres":
        yield from (job.sink.url or "", job.sink.options.get("url", ""))
    for source in job.sources:
        yield source.options.get("url", "")


def _is_s3(place: str) -> bool:
    scheme, separator, _ = place.partition("://")
    return bool(separator) and SCHEMES.get(scheme.lower()) == "s3"


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
class SessionOptions:
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
        message = (
            f"spark.master is {shown_url(master)!r}, which is not a master URL that Spark supports"
        )
        raise SparkStartError("HF5215", message, at=at)


def session_settings(options: SessionOptions, jars: Sequence[str]) -> dict[str, str]:
    """Return every setting of the session; `jars` are all files that it needs."""
    settings = {**_defaults(options), **options.conf}
    settings |= {"spark.master": options.master, "spark.app.name": options.name}
    if jars:
        settings[JARS] = ",".join(jars)
    if options.ui:
        settings["spark.ui.enabled"] = "true"
    if DELTA in options.features:
        settings[EXTENSIONS] = _joined(options.conf.get(EXTENSIONS, ""), DELTA_EXTENSION, ",")
    if options.is_local:
        settings[WORKER_PATH] = _joined(
            str(options.folder), options.conf.get(WORKER_PATH, ""), os.pathsep
        )
    if not options.verbose and "log4j" not in options.conf.get(JAVA_OPTIONS, ""):
        quiet = f"-Dlog4j2.configurationFile={QUIET_LOGS.as_uri()}"
        settings[JAVA_OPTIONS] = _joined(quiet, options.conf.get(JAVA_OPTIONS, ""), " ")
    return settings


def launch_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that may be on the JVM's command line, where every user sees them."""
    return {name: value for name, value in settings.items() if not _is_secret(name, value)}


def _defaults(options: SessionOptions) -> dict[str, str]:
    defaults = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if options.is_local:
        defaults |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    return {**defaults, **_delta(options), **_s3(options)}


def _delta(options: SessionOptions) -> dict[str, str]:
    if DELTA not in options.features:
        return {}
    settings = {CATALOG: DELTA_CATALOG}
    if options.is_local:
        # Delta's own 50 tasks for every snapshot are for clusters.
        settings["spark.databricks.delta.snapshotPartitions"] = "2"
    return settings


def _s3(options: SessionOptions) -> dict[str, str]:
    return s3_settings(options.storage) if S3 in options.features else {}


def _joined(first: str, second: str, separator: str) -> str:
    """Join two lists; what both hold stands once."""
    parts = [part for text in (first, second) for part in text.split(separator) if part]
    return separator.join(dict.fromkeys(parts))


def _is_secret(name: str, value: str) -> bool:
    return redact_value({name: value}) != {name: value}
