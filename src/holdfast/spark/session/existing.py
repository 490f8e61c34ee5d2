"""Judges whether jobs can run in a session that is open already, such as a notebook's.

Three answers: it lacks what a job needs (a library, Delta's extension); it reaches another storage
than the readers of checkpoints; or a setting differs from the declared one. The last does not touch
exactly-once: the user names what stays as it is, and the run records the value that counted.
Settings that Spark can change at run time are set in each job's own session and never differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from holdfast.errors import SparkStartError
from holdfast.findings import Finding, Place, Severity
from holdfast.redaction import redact_value
from holdfast.running.settings import (
    CATALOG,
    DELTA,
    DELTA_CATALOG,
    DELTA_EXTENSION,
    EXTENSIONS,
    JARS,
    JAVA_OPTIONS,
    KAFKA,
    POSTGRES,
    S3,
    WORKER_PATH,
    SessionOptions,
    s3_settings,
)
from holdfast.spark.jars.cache import is_main_library
from holdfast.spark.jars.lock import locked_jars
from holdfast.storage.options import StorageSettings
from holdfast.wording import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from holdfast.jobs.ready import ReadyJob


PACKAGES = "spark.jars.packages"
_CLASSES = {
    DELTA: "io.delta.sql.DeltaSparkSessionExtension",
    KAFKA: "org.apache.spark.sql.kafka010.KafkaSourceProvider",
    POSTGRES: "org.postgresql.Driver",
    S3: "org.apache.hadoop.fs.s3a.S3AFileSystem",
}
_BUILTIN = "builtin"
_JOINED = (EXTENSIONS, JAVA_OPTIONS, WORKER_PATH)
"""Settings that Holdfast adds to where it starts Spark: what is declared is a part of them."""
_HADOOP = "spark.hadoop."
_STORAGE = f"{_HADOOP}fs."
_DEFAULT_STORAGE = f"{_STORAGE}defaultFS"
_THIS_MACHINE = "file:///"
_NO_PLACE = (".impl", ".key", ".token", ".provider", ".profile.name")
"""How settings end that say by which class, and as whom, Spark reaches a storage."""


@dataclass(frozen=True)
class SettingDifference:
    """A setting of the open session that is not what was declared."""

    name: str
    declared: str
    current: str | None

    @property
    def words(self) -> str:
        """Both values, without secrets."""
        here = "not set" if self.current is None else _shown(self.name, self.current)
        return f"{self.name} is {here} in the session and {_shown(self.name, self.declared)} here"


def refuse_lacking(
    session: SparkSession,
    features: frozenset[str],
    storage: StorageSettings,
    at: str | None = None,
) -> None:
    """Raise HF5216 or HF5217 where a session can't serve, with the lines that it lacks."""
    lines = tuple(_lines(session, features))
    if lines:
        names = ", ".join(name for name, _ in lines)
        message = f"the open Spark session is missing what the job needs: {names}"
        steps = tuple(
            f"add to SparkSession.builder, in a new process or kernel: {_line(name, value)}"
            for name, value in lines
        )
        raise SparkStartError("HF5216", message, at=at, next_steps=steps)
    if S3 in features:
        declared = {name: one for name, one in s3_settings(storage).items() if _is_place(name)}
        _refuse_other_storage([*_differing(session, declared)], at)


def refuse_other_default(session: SparkSession, job: ReadyJob) -> None:
    """Raise HF5217 where a path on this machine is one on Spark's default storage to Spark."""
    context: Any = session.sparkContext._jsc
    default = context.hadoopConfiguration().get("fs.defaultFS") or _THIS_MACHINE
    places = (one for one in (job.checkpoint, job.sink.location) if one is not None)
    local = [one.shown for one in places if one.is_local]
    local += [one.path for one in job.sources if one.path is not None and one.path[0] == "/"]
    if local and not default.startswith("file:"):
        _refuse_other_storage(
            [SettingDifference(_DEFAULT_STORAGE, _THIS_MACHINE, default)], local[0]
        )


def refuse_unfit(session: SparkSession, options: SessionOptions) -> None:
    """Raise where jobs can't or must not run in this session: HF5216, HF5217, HF5212."""
    refuse_lacking(session, options.features, options.storage)
    found = [*_differences(session, options)]
    _refuse_other_storage([one for one in found if _is_place(one.name)])
    unnamed = [one for one in found if not _is_kept(one.name, options)]
    if unnamed:
        names = ", ".join(f'"{one.name}"' for one in unnamed)
        steps = (
            f"name what stays as it is in the session: holdfast.run(…, keep_settings=[{names}])",
            "or stop the session (spark.stop()): Holdfast starts Spark as declared",
        )
        raise SparkStartError("HF5212", _listed(unnamed), next_steps=steps)


def kept_settings(session: SparkSession, options: SessionOptions) -> tuple[SettingDifference, ...]:
    """Return the settings that the user named and that differ: the session's count."""
    return tuple(one for one in _differences(session, options) if _is_kept(one.name, options))


def with_kept(settings: Mapping[str, str], kept: tuple[SettingDifference, ...]) -> dict[str, str]:
    """Return the settings that count: of those that are kept, the session's."""
    left = {name: value for name, value in settings.items() if name not in {k.name for k in kept}}
    return left | {one.name: one.current for one in kept if one.current is not None}


def kept_findings(kept: tuple[SettingDifference, ...]) -> tuple[Finding, ...]:
    """Report which settings of the session are used in place of the declared ones: HF5218."""
    if not kept:
        return ()
    message = f"{counted(len(kept), 'setting')} of the open session kept: {_listed(kept)}"
    evidence = {one.name: _shown(one.name, one.current or "") for one in kept}
    return (Finding("HF5218", Severity.INFO, message, Place(""), evidence),)


def _lines(session: SparkSession, features: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield each setting that a session has to be started with, and its value."""
    jvm: Any = session._jvm
    loadable = jvm.org.apache.spark.util.Utils.classIsLoadable
    missing = [one for one in sorted(features) if not loadable(_CLASSES[one])]
    if missing:
        present = _current(session, PACKAGES)
        needed = [_coordinates(feature, session.version) for feature in missing]
        yield PACKAGES, ",".join([*([present] if present else []), *needed])
    if DELTA not in features:
        return
    extensions = (_current(session, EXTENSIONS) or "").split(",")
    if DELTA_EXTENSION not in extensions:
        yield EXTENSIONS, ",".join([*filter(None, extensions), DELTA_EXTENSION])
    if (_current(session, CATALOG) or _BUILTIN) == _BUILTIN:
        yield CATALOG, DELTA_CATALOG


def _coordinates(feature: str, spark: str) -> str:
    """Return the Maven coordinates of the library that brings a feature."""
    jars = locked_jars([feature], spark)
    jar = next(one for one in jars if is_main_library(one, feature))
    return f"{jar.organisation}:{jar.name}:{jar.revision}"


def _refuse_other_storage(differences: list[SettingDifference], at: str | None = None) -> None:
    if differences:
        message = f"Spark uses a different storage than Holdfast: {_listed(differences)}"
        steps = tuple(
            "add to SparkSession.builder, in a new process or kernel: "
            f"{_line(one.name, _shown(one.name, one.declared))}"
            for one in differences
        )
        raise SparkStartError("HF5217", message, at=at, next_steps=steps)


def _differences(session: SparkSession, options: SessionOptions) -> Iterator[SettingDifference]:
    declared = dict(options.conf)
    if not options.any_master:
        declared["spark.master"] = options.master
    for name in _JOINED:
        declared.pop(name, None)
    jars = [*options.jars, *declared.pop(JARS, "").split(",")]
    compared = {
        name: value
        for name, value in declared.items()
        if _is_kept(name, options) or not session.conf.isModifiable(name)
    }
    yield from _differing(session, compared)
    asked, present = options.conf.get(EXTENSIONS, ""), _current(session, EXTENSIONS) or ""
    if not set(filter(None, asked.split(","))) <= set(present.split(",")):
        yield SettingDifference(EXTENSIONS, asked, present or None)
    yield from _missing_jars(session, [jar.strip() for jar in jars if jar.strip()])


def _differing(session: SparkSession, declared: Mapping[str, str]) -> Iterator[SettingDifference]:
    for name, value in declared.items():
        current = _current(session, name)
        if current != value:
            yield SettingDifference(name, value, current)


def _missing_jars(session: SparkSession, jars: list[str]) -> Iterator[SettingDifference]:
    """Compare by the names of files: the folder of a jar is nobody's business."""
    context: Any = session.sparkContext._jsc
    listed = context.sc().listJars()
    present = {listed.apply(place).rpartition("/")[2] for place in range(listed.size())}
    missing = [jar for jar in jars if jar.replace("\\", "/").rpartition("/")[2] not in present]
    if missing:
        yield SettingDifference(JARS, ",".join(missing), _current(session, JARS))


def _current(session: SparkSession, name: str) -> str | None:
    """Return a setting as it counts in this session."""
    context = session.sparkContext
    if name.startswith(_HADOOP):
        # A program may have set it after the start, and Hadoop has defaults of its own.
        java: Any = context._jsc
        return java.hadoopConfiguration().get(name.removeprefix(_HADOOP)) or None
    started: str | None = context.getConf().get(name)
    found: str | None = session.conf.get(name, started)
    return found or None


def _is_place(name: str) -> bool:
    """Whether a setting says which storage Spark reaches; as whom it does is the session's."""
    return name.startswith(_STORAGE) and not name.endswith(_NO_PLACE)


def _is_kept(name: str, options: SessionOptions) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in options.kept)


def _listed(differences: tuple[SettingDifference, ...] | list[SettingDifference]) -> str:
    return "; ".join(one.words for one in differences)


def _line(name: str, value: str) -> str:
    return f'.config("{name}", "{value}")'


def _shown(name: str, value: str) -> str:
    shown: Any = redact_value({name: value})
    return str(shown[name])
