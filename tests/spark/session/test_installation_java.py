"""Finding Java: what it finds, what it refuses, and that it starts none where it need not."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import SparkStartError
from holdfast.spark.session.installation import find_java

MODULES = "java.base jdk.incubator.vector"


def make_java(home: Path, *, release: str | None = None, script: str = "exit 1") -> Path:
    """Make a folder that looks like a Java and give its program."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    if release is not None:
        (home / "release").write_text(release)
    return program


def answering(version: str, *modules: str) -> str:
    """Give a script that answers as java does."""
    listed = "".join(f"echo {module}@{version}; " for module in modules)
    return (
        'case "$1" in\n'
        f" -version) echo 'openjdk version \"{version}\" 2025-04-15' >&2;;\n"
        f" --list-modules) {listed}:;;\n"
        "esac"
    )


def refusal(environment: dict[str, str]) -> SparkStartError:
    """Give the error of looking for Java there."""
    with pytest.raises(SparkStartError) as raised:
        find_java(environment)
    return raised.value


def test_the_java_of_this_machine_is_found() -> None:
    """The one that all other tests of Spark start."""
    java = find_java()
    assert java.major >= 17
    assert java.version.startswith(str(java.major))
    assert java.path.name == "java"


def test_java_home_counts_before_path(tmp_path: Path) -> None:
    """As for Spark's own scripts."""
    release = f'JAVA_VERSION="21.0.2"\nMODULES="{MODULES}"\n'
    program = make_java(tmp_path / "home", release=release)
    other = make_java(tmp_path / "path", release=release.replace("21", "17"))
    both = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(other.parent)}
    assert find_java(both).path == program
    assert find_java({"PATH": str(other.parent)}).path == other


def test_the_release_file_is_enough(tmp_path: Path) -> None:
    """Starting Java costs a tenth of a second and more."""
    mark = tmp_path / "started"
    release = f'JAVA_VERSION="17.0.15"\nMODULES="{MODULES}"\n'
    program = make_java(tmp_path / "home", release=release, script=f"touch {mark}")
    java = find_java({"PATH": str(program.parent)})
    assert (java.version, java.major) == ("17.0.15", 17)
    assert not mark.exists()


def test_a_link_on_the_path_leads_to_the_release_file(tmp_path: Path) -> None:
    """/usr/bin/java is a link on most machines."""
    release = f'JAVA_VERSION="17.0.15"\nMODULES="{MODULES}"\n'
    program = make_java(tmp_path / "home", release=release)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(program)
    assert find_java({"PATH": str(tmp_path / "bin")}).major == 17


def test_a_java_without_release_file_is_asked(tmp_path: Path) -> None:
    """Version and modules both."""
    script = answering("17.0.1", "java.base", "jdk.incubator.vector")
    program = make_java(tmp_path / "home", script=script)
    assert find_java({"PATH": str(program.parent)}).version == "17.0.1"


def test_no_java_at_all(tmp_path: Path) -> None:
    """The next steps name a package, and the why that reading works without."""
    error = refusal({"PATH": str(tmp_path)})
    assert error.code.number == "HF5201"
    assert "openjdk-17" in error.next_steps[0]
    assert "inspect" in error.why
    assert error.exit_status == 52


def test_a_java_home_without_java_is_not_passed_over(tmp_path: Path) -> None:
    """Spark would not look at PATH either."""
    program = make_java(tmp_path / "good", release='JAVA_VERSION="17"\n')
    error = refusal({"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(program.parent)})
    assert error.code.number == "HF5201"
    assert error.at == str(tmp_path / "gone")
    assert "unset it" in error.next_steps[0]


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.22", "16"])
@pytest.mark.parametrize("told_by", ["release", "script"])
def test_a_java_that_is_too_old(tmp_path: Path, version: str, told_by: str) -> None:
    """Whoever tells it."""
    release = f'JAVA_VERSION="{version}"\n' if told_by == "release" else None
    make_java(tmp_path / "home", release=release, script=answering(version))
    error = refusal({"JAVA_HOME": str(tmp_path / "home")})
    assert error.code.number == "HF5202"
    assert version in error.message


@pytest.mark.parametrize("told_by", ["release", "script"])
def test_a_java_without_the_module_that_spark_adds(tmp_path: Path, told_by: str) -> None:
    """Spark would end at once with "Module jdk.incubator.vector not found"."""
    release = 'JAVA_VERSION="25"\nMODULES="java.base"\n' if told_by == "release" else None
    make_java(tmp_path / "home", release=release, script=answering("25", "java.base"))
    error = refusal({"JAVA_HOME": str(tmp_path / "home")})
    assert error.code.number == "HF5202"
    assert "jdk.incubator.vector" in error.message


@pytest.mark.parametrize("script", ["echo I make coffee", "exit 3"])
def test_a_java_that_is_none(tmp_path: Path, script: str) -> None:
    """macOS has such a program where no Java is installed."""
    make_java(tmp_path / "home", script=script)
    error = refusal({"JAVA_HOME": str(tmp_path / "home")})
    assert error.code.number == "HF5201"
    assert error.at == str(tmp_path / "home" / "bin" / "java")


def test_a_java_of_another_machine_can_not_be_run(tmp_path: Path) -> None:
    """A file that the system refuses to execute."""
    program = make_java(tmp_path / "home")
    program.write_bytes(b"\x7fELF, but not really")
    assert refusal({"JAVA_HOME": str(tmp_path / "home")}).code.number == "HF5201"
