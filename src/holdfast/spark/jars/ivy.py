"""Runs the Ivy that pyspark ships: exact libraries from the central Maven repository into a folder.

Ivy knows the central repository's address. HOLDFAST_MAVEN names a mirror instead.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from holdfast.errors import SparkStartError
from holdfast.spark.session.installation import Java, spark_folder
from holdfast.storage.location import shown_url

MIRROR = "HOLDFAST_MAVEN"
_LOOK_SECONDS = 0.2
_ARRIVED = "arrived"
_SEPARATOR = "~"

_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir={folder} artifactPattern="[organisation]~[artifact]~[revision].[ext]"/>
  <timeout-constraints>
    <timeout-constraint name="patience" connectionTimeout="20000" readTimeout="60000"/>
  </timeout-constraints>
  <resolvers>
    <ibiblio name="central" m2compatible="true" usepoms="{poms}" checksums=""
             timeoutConstraint="patience"{root}/>
  </resolvers>
</ivysettings>
"""
_MODULE = """<ivy-module version="2.0">
  <info organisation="holdfast" module="jars"/>
  <configurations><conf name="wanted"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""


@dataclass(frozen=True)
class Dependency:
    """One library to ask for, at an exact revision."""

    organisation: str
    name: str
    revision: str
    transitive: bool = False


def arrived(work: Path) -> dict[Dependency, Path]:
    """Return the files that Ivy brought, by what they are."""
    files: dict[Dependency, Path] = {}
    for file in sorted((work / _ARRIVED).glob(f"*{_SEPARATOR}*.jar")):
        organisation, name, revision = file.stem.split(_SEPARATOR)
        files[Dependency(organisation, name, revision)] = file
    return files


def arrived_bytes(work: Path) -> int:
    """Count the bytes that Ivy holds so far, with those of a file under way."""
    total = 0
    for file in (work / _ARRIVED).glob(f"*{_SEPARATOR}*"):
        try:
            total += file.stat().st_size
        except FileNotFoundError:
            # Ivy renames a file when it is whole; the next look counts it.
            continue
    return total


def run_ivy(
    java: Java,
    wanted: Sequence[Dependency],
    work: Path,
    *,
    look: Callable[[], None] = lambda: None,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """Fetch below `work` and give what Ivy printed; `arrived` says what came.

    `look` is called several times a second while it runs. Ivy reads the libraries' own
    descriptions only where something transitive is wanted.
    """
    _write_files(wanted, work, environment)
    command = [str(java.path), "-jar", str(_program()), "-settings", str(work / "settings.xml")]
    command += ["-ivy", str(work / "module.xml"), "-confs", "wanted"]
    with (work / "said").open("wb") as said:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
        )
        try:
            _wait(process, look)
        finally:
            process.kill()
            process.wait()
    return (work / "said").read_text(encoding="utf-8", errors="replace")


def repository(environment: Mapping[str, str] = os.environ) -> str:
    """Name where libraries come from, for people."""
    mirror = environment.get(MIRROR)
    return f"{shown_url(mirror)} ({MIRROR})" if mirror else "the central Maven repository"


def _wait(process: subprocess.Popen[bytes], look: Callable[[], None]) -> None:
    while True:
        try:
            process.wait(timeout=_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            look()
        else:
            return


def _write_files(wanted: Sequence[Dependency], work: Path, environment: Mapping[str, str]) -> None:
    mirror = environment.get(MIRROR)
    settings = _SETTINGS.format(
        folder=quoteattr(str(work / _ARRIVED)),
        poms=str(any(one.transitive for one in wanted)).lower(),
        root=f" root={quoteattr(mirror)}" if mirror else "",
    )
    (work / "settings.xml").write_text(settings, encoding="utf-8")
    module = _MODULE.format(dependencies="\n".join(map(_element, wanted)))
    (work / "module.xml").write_text(module, encoding="utf-8")


def _element(wanted: Dependency) -> str:
    return (
        f"    <dependency org={quoteattr(wanted.organisation)} name={quoteattr(wanted.name)} "
        f'rev={quoteattr(wanted.revision)} conf="wanted->default" '
        f'transitive="{str(wanted.transitive).lower()}"/>'
    )


def _program() -> Path:
    folder = spark_folder() / "jars"
    found = sorted(folder.glob("ivy-*.jar"))
    if not found:
        message = "this pyspark does not include Ivy, which fetches libraries"
        steps = ('pip install --force-reinstall "pyspark==4.2.0"',)
        raise SparkStartError("HF5208", message, at=str(folder), next_steps=steps)
    return found[-1]
