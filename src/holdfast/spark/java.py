"""Finds the Java that Spark will use, and refuses one that it can't start on, without starting it.

The `release` file of a Java tells version and modules. Only a Java without that file is started,
to ask it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import SparkStartError

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
    """Give the Java that Spark will use: the one of JAVA_HOME, else the first on PATH."""
    program = _program(environment)
    version, modules = _from_release_file(program) or _from_itself(program)
    java = Java(program, version, _major(version))
    if java.major < OLDEST_MAJOR:
        message = f"Java {version} is too old for Spark, which needs {OLDEST_MAJOR} or later"
        raise SparkStartError("HF5202", message, at=str(program))
    if modules is not None and NEEDED_MODULE not in modules:
        message = (
            f"Java {version} lacks the module {NEEDED_MODULE}, without which Spark can't start"
        )
        raise SparkStartError("HF5202", message, at=str(program))
    return java


def _program(environment: Mapping[str, str]) -> Path:
    name = "java.exe" if os.name == "nt" else "java"
    if home := environment.get("JAVA_HOME"):
        program = Path(home) / "bin" / name
        if os.access(program, os.X_OK):
            return program
        message = "JAVA_HOME names a folder without bin/java, and Spark looks nowhere else"
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
        raise SparkStartError("HF5201", "this java does not tell its version", at=str(program))
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
        message = f"this java can't be run: {type(failure).__name__}"
        raise SparkStartError("HF5201", message, at=str(program)) from failure
    return asked.stdout.decode("utf-8", errors="replace")


def _major(version: str) -> int:
    """Give 17 for `17.0.15` and 8 for `1.8.0_392`; 0 where it is no version."""
    numbers = re.findall(r"\d+", version)
    if not numbers:
        return 0
    return int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])
