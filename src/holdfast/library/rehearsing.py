"""Rehearse a plan: apply it to copies, and let Spark run on them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.checkpoint.verification import Progress
from holdfast.errors import UsageError
from holdfast.findings import Finding
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import repeats_project
from holdfast.library.planfiles import read_plan_file
from holdfast.library.planning import facts_at, plan_at, records_at
from holdfast.library.remedies import Heard, applying_at
from holdfast.running.stopping import Stopping
from holdfast.storage.location import Location, parse_location
from holdfast.storage.options import StorageOptions, StorageSettings
from holdfast.targets.opening import local_folder, resolved

if TYPE_CHECKING:
    from holdfast.jobs.ready import ReadyJob
    from holdfast.jobs.target import Target
    from holdfast.remedy.facts import Facts
    from holdfast.remedy.plan import Plan, Request
    from holdfast.remedy.rehearsal.copying import Copied
    from holdfast.remedy.rehearsal.results import Rehearsal
    from holdfast.remedy.rehearsal.scratch import Scratch
    from holdfast.remedy.rehearsal.workspace import Workspace
    from holdfast.remedy.results import Applied, StepProgress
    from holdfast.running.report import Watcher
    from holdfast.running.settings import SessionOptions

__all__ = ["Stopping", "rehearse"]

_SIGNALLED = 128


@repeats_project
def rehearse(
    plan: Plan | str | Path,
    *,
    batches: int = 1,
    into: str | Path | None = None,
    keep: bool = False,
    onto: str | None = None,
    even_if_running: bool = False,
    offline: bool = False,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
    stopping: Stopping | None = None,
    watch: Callable[[StepProgress], None] | None = None,
    watch_run: Watcher | None = None,
    progress: Progress | None = None,
) -> Answer[Rehearsal]:
    """Apply a plan to copies of checkpoint, records and output, and run the job on them.

    Nothing else is changed; the digests of the originals before and after prove it. Spark runs at
    most `batches` batches. `into` is an empty or new directory for the copies (default: a temporary
    one), which `keep` leaves there. `onto` names a scratch sink where none can be made: a function
    `module:function`, or a topic. Raises PlanError (HF4605) if something
    changed since the plan was made.

    >>> import holdfast
    >>> made = holdfast.plan("demo/orders", "resume").result
    >>> holdfast.rehearse(made, even_if_running=True).result.batches.pending
    5
    """
    from holdfast.remedy.plan import Plan as PlanType
    from holdfast.remedy.rehearsal.workspace import refuse_inside

    if batches < 1:
        raise UsageError("HF1001", f"batches is {batches}; it must be at least 1")
    given = plan if isinstance(plan, PlanType) else read_plan_file(Path(plan))
    chosen = ProjectChoice.of(project, profile)
    original = _Original.of(given, chosen, storage_options, even_if_running=even_if_running)
    asked = stopping or Stopping()
    rehearsing = _Rehearsing(original, batches, offline, asked, watch, watch_run, progress)
    target = None if into is None else Path(into)
    if target is not None:
        refuse_inside(target, original.folders)
    result, findings, ending = rehearsing.run(target, onto, keep=keep)
    file = None if isinstance(plan, PlanType) else str(plan)
    steps = _next_steps(result, file)
    if asked.signal is not None:
        ending = _SIGNALLED + asked.signal
    return Answer("rehearse", original.target.location.shown, result, findings, steps, ending)


@dataclass(frozen=True)
class _Original:
    """What a plan is for, as it is."""

    plan: Plan
    target: Target
    facts: Facts
    project: ProjectChoice
    storage_options: StorageOptions

    @classmethod
    def of(
        cls,
        plan: Plan,
        project: ProjectChoice,
        storage_options: StorageOptions,
        *,
        even_if_running: bool,
    ) -> _Original:
        """Look at the originals; raise where the plan is stale, or somebody works on them."""
        from holdfast.records.leases.taking import refuse_held
        from holdfast.remedy.acts import refuse_stale
        from holdfast.remedy.rehearsal.contained import refuse_reaching_out
        from holdfast.remedy.running import refuse_query

        refuse_reaching_out(plan)
        target = resolved(plan.request.target, project, storage_options)
        records = records_at(target)
        records.journal.refuse_unfinished()
        # The copy of a lease that is held would keep the plan from being applied there.
        refuse_held(records.folder, "rehearse")
        if not even_if_running:
            refuse_query(records, may_override=True)
        refuse_stale(plan, plan_at(target, plan.request, project, storage_options))
        facts = facts_at(target, plan.request.target, storage_options)
        refuse_reaching_out(plan, facts.job)
        return cls(plan, target, facts, project, storage_options)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder of this machine that a rehearsal copies, or that the job reads."""
        from holdfast.records.folder import records_beside

        job = self.facts.job
        places = [self.target.location, records_beside(self.target.location)]
        if job is not None:
            places += [] if job.sink.location is None else [job.sink.location]
            places += [parse_location(one.path) for one in job.sources if one.path is not None]
        found = map(local_folder, places)
        return tuple(one for one in found if one is not None)

    @property
    def name(self) -> str:
        """The name that the copies bear."""
        return self.target.job or self.target.location.url.rstrip("/").rpartition("/")[2]


@dataclass(frozen=True)
class _Copies:
    """The copies of one rehearsal."""

    target: Target
    request: Request
    scratch: Scratch
    originals: tuple[Copied, ...]


@dataclass(frozen=True)
class _Rehearsing:
    """One rehearsal, from the first copy to the report."""

    original: _Original
    batches: int
    offline: bool
    stopping: Stopping
    watch: Callable[[StepProgress], None] | None
    watch_run: Watcher | None
    progress: Progress | None

    def run(
        self, into: Path | None, onto: str | None, *, keep: bool
    ) -> tuple[Rehearsal, tuple[Finding, ...], int | None]:
        from holdfast.remedy.rehearsal.reporting import left_behind
        from holdfast.remedy.rehearsal.workspace import leftovers, workspace

        found = tuple(map(left_behind, leftovers()))
        with workspace(self.original.plan.id, into, keep=keep) as space:
            with self._copied(space, onto) as copies:
                result, findings, ending = self._tried(space, copies)
            shown = str(space.folder) if keep else None
        return replace(result, workspace=shown), (*findings, *found), ending

    @contextmanager
    def _copied(self, space: Workspace, onto: str | None) -> Iterator[_Copies]:
        """Copy everything into the workspace; what lies outside of it is removed at the end."""
        from holdfast.remedy.rehearsal.contained import request_on_copies
        from holdfast.remedy.rehearsal.scratch import Scratch, scratch_sink

        job, name = self.original.facts.job, self.original.name
        copy = parse_location(str(space.checkpoints / name))
        originals = self._copy_checkpoint(copy)
        scratch = Scratch(missing="no job is known of the checkpoint")
        if job is not None:
            scratch = scratch_sink(job, space, onto, self.progress)
        try:
            request = request_on_copies(self.original.plan.request, space.elsewhere, name)
            target = self._redirected(copy, space, scratch)
            copies = _Copies(target, request, scratch, (*originals, *scratch.originals))
            self._name_scratch(copies)
            yield copies
        finally:
            scratch.drop()

    def _copy_checkpoint(self, copy: Location) -> tuple[Copied, ...]:
        from holdfast.records.folder import records_beside, records_of
        from holdfast.remedy.rehearsal.copying import Source, copied
        from holdfast.remedy.rehearsal.rewriting import note_copy, rewrite_checkpoint
        from holdfast.storage.opening import open_reader

        place, settings = self.original.target.location, self.original.target.settings
        beside, plan = records_beside(place), self.original.plan
        needs_backups = any(one.act == "restore-files" for one in plan.steps)

        def left_out(path: str) -> bool:
            return not needs_backups and (path == "backups" or path.startswith("backups/"))

        own = Source(open_reader(place, settings), local_folder(place))
        records = Source(open_reader(beside, settings), local_folder(beside), left_out)
        originals = (
            copied("checkpoint", own, Path(copy.url), self.progress),
            copied("records", records, Path(records_beside(copy).url), self.progress),
        )
        rewrite_checkpoint(copy, place)
        note_copy(records_of(copy, StorageSettings()), copy, place, plan.id)
        return originals

    def _redirected(self, copy: Location, space: Workspace, scratch: Scratch) -> Target:
        """Return the target as it is when checkpoint and sink are the copies."""
        from holdfast.jobs.target import job_target

        target = self.original.target
        if target.project is None or target.job is None:
            return replace(target, location=copy, settings=StorageSettings())
        job = ("jobs", target.job)
        values: dict[tuple[str, ...], str | None] = {
            (*job, *path): value for path, value in scratch.values.items()
        }
        values |= {(*job, "on_failure"): None, (*job, "backup"): None}
        if target.project.jobs[target.job].checkpoint is None:
            values |= {("checkpoints",): str(space.checkpoints)}
        else:
            values |= {(*job, "checkpoint"): copy.url}
        project = target.project.with_values(values)
        return job_target(target.job, project, self.original.storage_options)

    def _name_scratch(self, copies: _Copies) -> None:
        from holdfast.remedy.rehearsal.rewriting import name_scratch_sink

        before = self.original.facts.subject.sight
        if before is None or copies.scratch.missing is not None:
            return
        now = facts_at(copies.target, copies.request.target, self.original.storage_options)
        if now.subject.sight is not None:
            name_scratch_sink(records_at(copies.target).folder, before, now.subject.sight)

    def _tried(
        self, space: Workspace, copies: _Copies
    ) -> tuple[Rehearsal, tuple[Finding, ...], int | None]:
        """Apply the plan to the copies, start Spark on them, and look what is there afterwards."""
        from holdfast.remedy.rehearsal.reporting import Tried, changed, naming_original

        not_started = self._why_not_started(copies)
        if not_started is None:
            from holdfast.spark.rehearsed import spark_for

            with spark_for(self._session(copies.target), self.stopping, self._say) as spark:
                applied = self._applied(space, copies)
                there = self._afterwards(copies)
                planned = self._facts(there, copies)
                job = self._job(there)
                ran = spark.run(
                    job, self.batches, self.watch_run, self.progress, copies.scratch.count
                )
                after = self._facts(there, copies)
        else:
            applied, ran = self._applied(space, copies), None
            there = self._afterwards(copies)
            planned = after = self._facts(there, copies)
        tried = Tried(
            plan=self.original.plan,
            job=self.original.facts.job,
            scratch=copies.scratch,
            applied=applied,
            not_started=not_started,
            ran=ran,
        )
        result = tried.report(self.original.facts, planned, after, copies.originals)
        places = (copies.target.location.shown, there.location.shown)
        named = self.original.target.location.shown
        told = Answer("rehearse", named, None, tuple(tried.findings(named, places)))
        told = told.with_steps(lambda steps: naming_original(steps, named, places))
        findings = (*told.findings, *changed(result))
        ending = None if ran is None or ran.error is None else ran.error.exit_status
        return result, findings, ending

    def _say(self, line: str) -> None:
        from holdfast.running.report import RunStep

        if self.watch_run is not None:
            self.watch_run(RunStep(line))

    def _why_not_started(self, copies: _Copies) -> str | None:
        from holdfast.remedy.plan import Remedy

        if copies.scratch.missing is not None:
            return copies.scratch.missing
        if self.original.plan.remedy is Remedy.RETIRE:
            return "the plan retires the job, which is not started any more"
        return None

    def _applied(self, space: Workspace, copies: _Copies) -> Applied:
        from holdfast.remedy.rehearsal.contained import plan_on_copies

        original = self.original
        options = original.storage_options
        made = plan_at(copies.target, copies.request, original.project, options)
        with_sink = copies.scratch.missing is None
        plan = plan_on_copies(
            original.plan, made, project=space.folder / "project", with_sink=with_sink
        )
        heard = Heard(self.watch, self.progress, starting=self._say)
        applying = applying_at(copies.target, True, heard, options)
        return applying.apply(plan, lambda: plan)

    def _afterwards(self, copies: _Copies) -> Target:
        """Return the target as it has to be declared once the plan was applied."""
        from holdfast.jobs.target import job_target
        from holdfast.remedy.rehearsal.contained import moved_to, new_output

        target, moved, output = copies.target, moved_to(copies.request), new_output(copies.request)
        if target.project is None or target.job is None:
            return target if moved is None else replace(target, location=parse_location(moved))
        job = ("jobs", target.job)
        values: dict[tuple[str, ...], str | None] = {}
        if moved is not None:
            values |= {(*job, "checkpoint"): moved}
        if output is not None:
            key = "path" if target.project.jobs[target.job].sink.path is not None else "table"
            values |= {(*job, "sink", key): output}
        project = target.project.with_values(values)
        return job_target(target.job, project, self.original.storage_options)

    def _facts(self, there: Target, copies: _Copies) -> Facts:
        return facts_at(there, copies.request.target, self.original.storage_options)

    def _job(self, there: Target) -> ReadyJob:
        from holdfast.jobs.readying import ready_job
        from holdfast.spark.rehearsed import for_copies

        assert there.project is not None
        assert there.job is not None
        return for_copies(ready_job(there.project, there.job))

    def _session(self, there: Target) -> SessionOptions:
        from holdfast.running.options import session_of_project
        from holdfast.spark.session.installation import installed_spark

        installed_spark()
        assert there.project is not None
        return session_of_project(
            there.project, (self._job(there),), offline=self.offline, ui=False, verbose=False
        )


def _next_steps(result: Rehearsal, file: str | None) -> tuple[str, ...]:
    start = result.start
    if start is not None and start.code is not None:
        return (f"holdfast explain {start.code}", "do not apply the plan before this is understood")
    if file is None or not result.steps:
        return ()
    return (f"holdfast apply {shlex.quote(file)}",)
