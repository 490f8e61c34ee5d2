"""Finds the installed Spark and its Java, starting neither, and refuses unfit ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import SparkStartError
from holdfast.wording import pip_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


OLDEST = (4, 0)
NEWEST = (4, 3)
_CORE = re.compile(r"spark-core_[\d.]+-(?P<version>\d+\.\d+\.\d+.*)\.jar")
_TRUE = "1"


def installed_spark(environment: Mapping[str, str] = os.environ) -> str:
    """Return the version of pyspark; none, one that is not known, or Connect alone is refused."""
    try:
        version = metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        raise _no_pyspark() from None
    if find_spec("py4j") is None:
        message = f"pyspark {version} is installed without py4j, which it requires"
        raise SparkStartError("HF5203", message)
    if not OLDEST <= minor_of(version) <= NEWEST:
        message = f"pyspark {version} is installed; jobs run on 4.0 to 4.3"
        raise SparkStartError("HF5204", message)
    _check_home(version, environment)
    return version


def spark_folder() -> Path:
    """Return the folder of the installed pyspark, without importing it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise _no_pyspark()
    return Path(spec.origin).parent


def minor_of(version: str) -> tuple[int, int]:
    """Return (4, 2) for `4.2.0`."""
    numbers = [int(number) for number in re.findall(r"\d+", version)[:2]]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def release_of(version: str) -> str:
    """Return `4.2` for `4.2.0`."""
    return "{}.{}".format(*minor_of(version))


def refuse_connect(conf: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> None:
    """Refuse settings with which pyspark would give a session of Spark Connect."""
    asking = [name for name in ("SPARK_REMOTE",) if environment.get(name)]
    asking += [name for name in ("SPARK_CONNECT_MODE",) if environment.get(name) == _TRUE]
    mode = conf.get("spark.api.mode", environment.get("SPARK_API_MODE", ""))
    asking += ["spark.api.mode=connect"] if mode.lower() == "connect" else []
    asking += ["spark.remote"] if conf.get("spark.remote") else []
    if asking:
        message = f"{', '.join(asking)} selects a Spark Connect session"
        raise SparkStartError("HF5205", message)


def refuse_connect_session(session: object) -> None:
    """Refuse a session that was handed over and is one of Spark Connect."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise SparkStartError("HF5205", "the given session is a Spark Connect session")


def refuse_stopped_session(session: SparkSession) -> None:
    """Refuse a session that was handed over and has been stopped: Spark only says `null` of it."""
    if session.sparkContext._jsc is None:
        raise SparkStartError("HF5219", "the given session has been stopped")


def _no_pyspark() -> SparkStartError:
    for package in ("pyspark-client", "pyspark-connect"):
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        message = f"only {package} {version} is installed, the client of Spark Connect"
        steps = (f"{pip_line('spark')}, and in an environment without pyspark-client",)
        return SparkStartError("HF5205", message, next_steps=steps)
    return SparkStartError("HF5203", "pyspark is not installed here")


def _check_home(version: str, environment: Mapping[str, str]) -> None:
    """Refuse a SPARK_HOME of another release: its Java side would not fit pyspark and the jars."""
    home = environment.get("SPARK_HOME")
    if not home:
        return
    found = [
        match["version"] for match in map(_CORE.fullmatch, _names(Path(home) / "jars")) if match
    ]
    if not found:
        message = "SPARK_HOME names a directory that contains no Spark"
    elif minor_of(found[0]) != minor_of(version):
        message = f"SPARK_HOME is Spark {found[0]}, and pyspark is {version}"
    else:
        return
    steps = ("unset SPARK_HOME: the installed pyspark brings its own Spark",)
    raise SparkStartError("HF5204", message, at=home, next_steps=steps)


def _names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()] if folder.is_dir() else []


OLDEST_MAJOR = 17
NEEDED_MODULE = "jdk.incubator.vector"
"""Spark starts Java with `--add-modules` of it: a Java without the module ends at once."""
_PATIENCE_SECONDS = 30
_FIELD = re.compile(r'^(?P<name>[A-Z_]+)="(?P<value>.*)"\s*$', re.MULTILINE)
_VERSION = re.compile(r'version "(?P<version>[^"]+)"')


@dataclass(frozen=True)
class Java:
    """A Java that Spark starts on."""

    path: Path
    version: str
    major: int


def find_java(environment: Mapping[str, str] = os.environ) -> Java:
    """Return the Java that Spark will use: the one of JAVA_HOME, else the first on PATH."""
    program = _program(environment)
    version, modules = _from_release_file(program) or _from_itself(program)
    java = Java(program, version, _major(version))
    if java.major < OLDEST_MAJOR:
        message = f"Java {version} is too old for Spark, which requires {OLDEST_MAJOR} or later"
        raise SparkStartError("HF5202", message, at=str(program))
    if modules is not None and NEEDED_MODULE not in modules:
        message = (
            f"Java {version} does not have the module {NEEDED_MODULE}, without which Spark cannot "
            "start"
        )
        raise SparkStartError("HF5202", message, at=str(program))
    return java


def _program(environment: Mapping[str, str]) -> Path:
    name = "java.exe" if os.name == "nt" else "java"
    if home := environment.get("JAVA_HOME"):
        program = Path(home) / "bin" / name
        if os.access(program, os.X_OK):
            return program
        message = "JAVA_HOME names a directory without bin/java, and Spark looks nowhere else"
        steps = ("set JAVA_HOME to the folder of a Java 17 or 21, or unset it to use PATH",)
        raise SparkStartError("HF5201", message, at=home, next_steps=steps)
    found = shutil.which(name, path=environment.get("PATH"))
    if found is None:
        raise SparkStartError("HF5201", "no Java was found: JAVA_HOME is not set, PATH has no java")
    return Path(found)


def _from_release_file(program: Path) -> tuple[str, frozenset[str] | None] | None:
    """Read version and modules from the file at the root of a Java; None where there is none."""
    try:
        text = (program.resolve().parent.parent / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    fields = {match["name"]: match["value"] for match in _FIELD.finditer(text)}
    if "JAVA_VERSION" not in fields:
        return None
    modules = fields.get("MODULES")
    return fields["JAVA_VERSION"], None if modules is None else frozenset(modules.split())


def _from_itself(program: Path) -> tuple[str, frozenset[str] | None]:
    match = _VERSION.search(_answer(program, "-version"))
    if match is None:
        raise SparkStartError("HF5201", "this java does not report its version", at=str(program))
    version = match["version"]
    if _major(version) < OLDEST_MAJOR:
        return version, None
    listed = _answer(program, "--list-modules").split()
    return version, frozenset(module.partition("@")[0] for module in listed)


def _answer(program: Path, question: str) -> str:
    try:
        asked = subprocess.run(
            [str(program), question],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        message = f"this java cannot be run: {type(failure).__name__}"
        raise SparkStartError("HF5201", message, at=str(program)) from failure
    return asked.stdout.decode("utf-8", errors="replace")


def _major(version: str) -> int:
    """Return 17 for `17.0.15` and 8 for `1.8.0_392`; 0 if it is not a version."""
    numbers = re.findall(r"\d+", version)
    if not numbers:
        return 0
    return int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])
