"""Runs several jobs in one Spark: those that end by themselves in order, others side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from holdfast.jobs.lineage import Lineage
from holdfast.jobs.ready import ReadyJob
from holdfast.records.run import Ended
from holdfast.spark.jobrun import JobRun
from holdfast.spark.refusal import left_out
from holdfast.spark.report import Outcome
from holdfast.spark.surroundings import Surroundings

WELL = frozenset({Ended.FINISHED, Ended.STOPPED})


class Runner:
    """Runs jobs; one that fails takes down only those that read what it writes."""

    def __init__(
        self, jobs: Sequence[ReadyJob], lineage: Lineage, refused: Mapping[str, Outcome]
    ) -> None:
        self._jobs = [job for job in jobs if job.name not in refused]
        self._lineage = lineage
        self._done = dict(refused)

    def run(self, around: Surroundings) -> Mapping[str, Outcome]:
        """Run every job that is not refused already, and give how all of them ended."""
        for job in self._jobs:
            if job.processing_time is None:
                self._live(job, around)
        self._side_by_side([job for job in self._jobs if job.processing_time is not None], around)
        return self._done

    def _side_by_side(self, jobs: Sequence[ReadyJob], around: Surroundings) -> None:
        if not jobs:
            return
        with ThreadPoolExecutor(len(jobs), "holdfast-job") as pool:
            lives = [pool.submit(self._live, job, around) for job in jobs]
            # A signal is heard only between two waits of the main thread.
            while wait(lives, timeout=0.2).not_done:
                pass
        for life in lives:
            life.result()

    def _live(self, job: ReadyJob, around: Surroundings) -> None:
        failed = {name for name, one in self._done.items() if one.report.ended not in WELL}
        above = [name for name in self._lineage.upstream_of(job.name) if name in failed]
        if around.stopping.asked:
            outcome = left_out(job, around.watch, Ended.STOPPED, "asked to stop before it began")
        elif above:
            why = f"{', '.join(above)} failed, which it reads from"
            outcome = left_out(job, around.watch, Ended.SKIPPED, why)
        else:
            outcome = JobRun(job, around).run()
        self._done[job.name] = outcome
