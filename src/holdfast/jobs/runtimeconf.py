"""Refuses settings of a single job that only count when a session starts, or that Holdfast owns."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.jobs.declaration import refuse

_OF_A_SESSION = (
    "spark.master",
    "spark.app.",
    "spark.jars",
    "spark.files",
    "spark.submit.",
    "spark.driver.",
    "spark.executor.",
    "spark.cores.max",
    "spark.dynamicAllocation.",
    "spark.kubernetes.",
    "spark.yarn.",
    "spark.memory.",
    "spark.local.dir",
    "spark.serializer",
    "spark.ui.",
    "spark.eventLog.",
    "spark.network.",
    "spark.shuffle.",
    "spark.sql.extensions",
    "spark.sql.warehouse.dir",
)
"""How a name begins that Spark reads once: it refuses to change these, or silently ignores it."""
_HADOOP = "spark.hadoop."
_CHECKPOINT = "spark.sql.streaming.checkpointLocation"


def at_run_time(conf: Mapping[str, str]) -> Mapping[str, str]:
    """Give the settings of one job back; refuse one that can't differ from job to job."""
    for name in conf:
        if name == _CHECKPOINT:
            message = f"{name} has no effect: a job's checkpoint is <checkpoints>/<job>"
            refuse("HF1110", name, message)
        if name.startswith(_OF_A_SESSION):
            message = f"{name} can't differ from job to job; write it under spark.conf"
            refuse("HF1110", name, message)
        if name.startswith(_HADOOP):
            bare = name.removeprefix(_HADOOP)
            message = f"{name} counts only under spark.conf; for one job alone write {bare}"
            refuse("HF1110", name, message)
    return conf
