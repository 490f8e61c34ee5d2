"""Gives each job a session of its own in the one Spark: its settings and views touch no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import ProjectError
from holdfast.jobs.ready import ReadyJob

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_for(job: ReadyJob, session: SparkSession) -> SparkSession:
    """Open a session with the job's own settings; those that need another Spark are refused."""
    own = session.newSession()
    for name, value in job.conf.items():
        if not own.conf.isModifiable(name):
            message = f"jobs.{job.name}.conf: {name} can't be changed for one job"
            steps = ("write it under spark.conf, where it counts for every job",)
            raise ProjectError("HF1104", message, at=job.at, next_steps=steps)
        own.conf.set(name, value)
    return own
