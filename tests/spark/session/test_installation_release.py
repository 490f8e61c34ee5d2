"""Which Spark is installed, and which ones are refused before anything starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from holdfast.errors import SparkStartError
from holdfast.spark.session.installation import (
    installed_spark,
    minor_of,
    refuse_connect,
    refuse_connect_session,
    release_of,
    spark_folder,
)


def install(folder: Path, name: str, version: str) -> None:
    """Make the traces that pip leaves of a package."""
    traces = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    traces.mkdir(parents=True)
    (traces / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let this folder be all that is installed."""
    folder.mkdir(exist_ok=True)
    monkeypatch.setattr(sys, "path", [str(folder)])


def refusal() -> SparkStartError:
    """Give the error of asking which Spark is installed."""
    with pytest.raises(SparkStartError) as raised:
        installed_spark({})
    return raised.value


def test_the_installed_spark_is_told_without_importing_it() -> None:
    """Importing pyspark costs more than most commands take."""
    program = (
        "import sys; from holdfast.spark.session.installation import *;"
        "print(installed_spark({}), spark_folder().name, 'pyspark' in sys.modules)"
    )
    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert asked.stdout.decode().split() == ["4.2.0", "pyspark", "False"]
    assert (spark_folder() / "jars").is_dir()


def test_no_pyspark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The next step is the command to install it."""
    only(monkeypatch, tmp_path)
    assert refusal().code.number == "HF5203"
    assert refusal().next_steps == ('pip install ".[spark]" in a clone of Holdfast',)


def test_only_the_client_of_connect(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It has no Spark in it."""
    install(tmp_path, "pyspark-client", "4.2.0")
    only(monkeypatch, tmp_path)
    assert refusal().code.number == "HF5205"
    assert "pyspark-client 4.2.0" in refusal().message


@pytest.mark.parametrize("version", ["3.5.8", "4.4.0", "5.0.0"])
def test_a_spark_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str
) -> None:
    """Too old, or newer than what was tried."""
    install(tmp_path, "pyspark", version)
    only(monkeypatch, tmp_path)
    assert refusal().code.number == "HF5204"
    assert version in refusal().message


@pytest.mark.parametrize("version", ["4.0.1", "4.3.0.dev1"])
def test_a_spark_that_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str
) -> None:
    """From 4.0 to 4.3."""
    install(tmp_path, "pyspark", version)
    only(monkeypatch, tmp_path)
    assert installed_spark({}) == version


def test_a_spark_home_of_another_release_is_refused(tmp_path: Path) -> None:
    """pyspark would start that one, and no jar would fit."""
    (tmp_path / "jars").mkdir()
    with pytest.raises(SparkStartError) as raised:
        installed_spark({"SPARK_HOME": str(tmp_path)})
    assert raised.value.code.number == "HF5204"
    core = tmp_path / "jars" / "spark-core_2.13-3.5.1.jar"
    core.write_bytes(b"")
    with pytest.raises(SparkStartError) as raised:
        installed_spark({"SPARK_HOME": str(tmp_path)})
    assert "Spark 3.5.1" in raised.value.message
    core.rename(tmp_path / "jars" / "spark-core_2.13-4.2.1.jar")
    assert installed_spark({"SPARK_HOME": str(tmp_path)}) == "4.2.0"


@pytest.mark.parametrize(
    ("conf", "environment", "named"),
    [
        ({}, {"SPARK_REMOTE": "sc://host"}, "SPARK_REMOTE"),
        ({}, {"SPARK_CONNECT_MODE": "1"}, "SPARK_CONNECT_MODE"),
        ({}, {"SPARK_API_MODE": "connect"}, "spark.api.mode"),
        ({"spark.remote": "sc://host"}, {}, "spark.remote"),
        ({"spark.api.mode": "Connect"}, {}, "spark.api.mode"),
    ],
)
def test_settings_that_ask_for_connect(
    conf: dict[str, str], environment: dict[str, str], named: str
) -> None:
    """Named, so that they can be taken out."""
    with pytest.raises(SparkStartError) as raised:
        refuse_connect(conf, environment)
    assert raised.value.code.number == "HF5205"
    assert named in raised.value.message


def test_settings_without_connect_pass() -> None:
    """Also those that say so."""
    refuse_connect({"spark.api.mode": "classic"}, {"SPARK_CONNECT_MODE": "0", "SPARK_REMOTE": ""})


def test_a_session_of_connect_is_refused() -> None:
    """Known by its class's module; pyspark's own needs a server to be made."""
    module = ModuleType("pyspark.sql.connect.session")
    kind = type("SparkSession", (), {"__module__": module.__name__})
    with pytest.raises(SparkStartError) as raised:
        refuse_connect_session(kind())
    assert raised.value.code.number == "HF5205"
    refuse_connect_session(object())


def test_a_release_is_two_numbers() -> None:
    """Whatever follows."""
    assert [minor_of(text) for text in ("4.2.0", "4.10.1-rc1", "x")] == [(4, 2), (4, 10), (0, 0)]
    assert release_of("4.2.1") == "4.2"
