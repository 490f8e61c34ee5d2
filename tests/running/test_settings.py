"""With which settings a session starts, and what of them the process list shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import SparkStartError
from holdfast.redaction import remember_secret
from holdfast.running.settings import (
    SessionOptions,
    launch_settings,
    refuse_master,
    session_settings,
)
from holdfast.storage.options import StorageSettings

FOLDER = Path("/projects/sensors")
EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
LOGS = "spark.driver.extraJavaOptions"


def settings(
    features: str = "", conf: dict[str, str] | None = None, **options: Any
) -> dict[str, str]:
    """Give the settings of a wish on one machine, with one jar."""
    whole: dict[str, Any] = {"master": "local[2]", "folder": FOLDER, "conf": conf or {}, **options}
    named = frozenset(features.split())
    return session_settings(SessionOptions("sensors", features=named, **whole), ["/x/a.jar"])


def test_a_plain_session_is_quiet_and_on_loopback() -> None:
    """No UI, no progress bars, and nothing of Delta or S3."""
    found = settings()
    assert found.pop(LOGS).startswith("-Dlog4j2.configurationFile=file:///")
    assert found == {
        "spark.app.name": "sensors",
        "spark.master": "local[2]",
        "spark.jars": "/x/a.jar",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": str(FOLDER),
    }


def test_on_a_cluster_the_drivers_address_is_left_to_spark() -> None:
    """Executors on other machines must reach it."""
    found = settings("delta", master="spark://host:7077")
    assert not {"spark.driver.host", "spark.driver.bindAddress"} & set(found)
    assert "spark.databricks.delta.snapshotPartitions" not in found
    assert "spark.executorEnv.PYTHONPATH" not in found


def test_delta_is_added_to_the_users_extensions() -> None:
    """Once, after them."""
    assert settings("delta")["spark.sql.extensions"] == EXTENSION
    own = settings("delta", {"spark.sql.extensions": "my.Extension"})
    assert own["spark.sql.extensions"] == f"my.Extension,{EXTENSION}"
    both = settings("delta", {"spark.sql.extensions": f"{EXTENSION},my.Extension"})
    assert both["spark.sql.extensions"] == f"{EXTENSION},my.Extension"
    assert settings("delta")["spark.databricks.delta.snapshotPartitions"] == "2"
    assert "DeltaCatalog" in settings("delta")["spark.sql.catalog.spark_catalog"]


@pytest.mark.parametrize(
    "name",
    [
        "spark.ui.showConsoleProgress",
        "spark.driver.host",
        "spark.databricks.delta.snapshotPartitions",
        "spark.sql.catalog.spark_catalog",
        "spark.hadoop.fs.s3a.endpoint",
    ],
)
def test_what_the_user_set_counts(name: str) -> None:
    """Before our defaults and what is derived from `storage:`."""
    storage = StorageSettings({"s3": {"endpoint": "http://derived"}})
    assert settings("delta s3", {name: "mine"}, storage=storage)[name] == "mine"


def test_the_page_of_spark_is_shown_on_request() -> None:
    """By the project's settings or by an option."""
    assert settings(ui=True)["spark.ui.enabled"] == "true"
    assert settings(conf={"spark.ui.enabled": "true"})["spark.ui.enabled"] == "true"


def test_s3_is_derived_only_where_a_job_needs_it() -> None:
    """From `storage:`."""
    storage = StorageSettings({"s3": {"endpoint": "http://derived"}})
    name = "spark.hadoop.fs.s3a.endpoint"
    assert settings("s3", storage=storage)[name] == "http://derived"
    assert name not in settings(storage=storage)


def test_logs_are_left_alone_where_the_user_cares() -> None:
    """With a configuration of their own, or when asked to be verbose."""
    own = {LOGS: "-Dlog4j2.configurationFile=/x/mine.xml"}
    assert settings(conf=own)[LOGS] == own[LOGS]
    assert LOGS not in settings(verbose=True)
    assert settings(conf={LOGS: "-Xss4m"})[LOGS].endswith(" -Xss4m")


def test_secrets_stay_off_the_command_line() -> None:
    """Every user of a machine sees the arguments of every process."""
    remember_secret("an-address-from-the-environment")
    secret = {
        "spark.hadoop.fs.s3a.secret.key": "s" * 20,
        "spark.my.password": "hunter",
        "spark.my.url": "https://an-address-from-the-environment/x",
    }
    found = settings(conf={**secret, "spark.sql.shuffle.partitions": "2"})
    assert secret.items() <= found.items()
    shown = launch_settings(found)
    assert not set(secret) & set(shown)
    assert {"spark.master", "spark.jars", "spark.sql.shuffle.partitions"} <= set(shown)


@pytest.mark.parametrize(
    "master",
    [
        "local", "local[4]", "local[*]", "local[2, 3]", "local-cluster[2,1,1024]",
        "spark://a:7077,b:7077", "yarn", "k8s://https://host:443",
    ],
)  # fmt: skip
def test_masters_that_spark_knows(master: str) -> None:
    """As its launcher and its context take them."""
    refuse_master(master)


@pytest.mark.parametrize(
    "master", ["nonsense", "", "local[0]", "local[x]", "local[2", "spark://", "mesos://h", "Yarn"]
)
def test_another_master_is_refused_with_its_name_and_what_is_allowed(master: str) -> None:
    """Before Java is started, at its line."""
    with pytest.raises(SparkStartError) as raised:
        refuse_master(master, "holdfast.yaml:3")
    error = raised.value
    assert (error.code.number, error.at, error.exit_status) == ("HF5215", "holdfast.yaml:3", 52)
    assert repr(master) in error.message
    assert all(form in (error.why or "") for form in ("local[*]", "spark://", "yarn", "k8s://"))
