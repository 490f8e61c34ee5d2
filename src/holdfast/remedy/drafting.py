"""Builds the steps that several remedies share."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.backup.snapshot import ARCHIVE
from holdfast.errors import PlanError
from holdfast.remedy.facts import Facts
from holdfast.remedy.outputs import declared_output, table_seen
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.checkpoint import change_files_arguments
from holdfast.remedy.steps.singlefiles import restore_files_arguments
from holdfast.wording import counted


def refuse_protected(facts: Facts, options: Mapping[str, str]) -> tuple[str, ...]:
    """Raise PlanError (HF4604) for a job with `protect: true`, unless the options force it.

    Return what the plan then says about it.
    """
    if facts.job is None or not facts.job.protect:
        return ()
    if options.get("force_protected") != "true":
        raise PlanError("HF4604", f"job {facts.job.name} is protected", at=facts.job.at)
    return (f"job {facts.job.name} is protected; the plan was made despite that",)


def output_arguments(facts: Facts) -> dict[str, str]:
    """Return which output a step on the sink is about: a later declaration does not move it."""
    if facts.job is None:
        return {}
    return declared_output(facts.job.sink) | table_seen(facts.subject.sight)


def backup_step(facts: Facts) -> Step:
    """Return the step that every plan with changes begins with."""
    detail = "make a verified backup of the whole checkpoint"
    return Step(0, "backup-checkpoint", facts.location, detail, reversible=True)


def archive_step(facts: Facts) -> Step:
    """Return the step that a plan begins with which empties the checkpoint."""
    detail = "archive the whole checkpoint: a verified backup that retention never removes"
    arguments = {"purpose": ARCHIVE}
    return Step(0, "backup-checkpoint", facts.location, detail, reversible=True,
                arguments=arguments)  # fmt: skip


def empty_step(facts: Facts, marker: str | None = None) -> Step:
    """Return the step that removes what the archive holds; a marker keeps every Spark out."""
    detail = "read the archive again, then remove the files that it holds from the checkpoint"
    if marker is not None:
        detail += "; leave a metadata that no Spark starts with"
    arguments = {} if marker is None else {"marker": marker}
    return Step(0, "empty-checkpoint", facts.location, detail, reversible=True,
                arguments=arguments)  # fmt: skip


def block_step(facts: Facts) -> Step:
    """Return the step that keeps every Spark from starting in between."""
    detail = "replace metadata, so that no query can start on the checkpoint meanwhile"
    return Step(0, "block-start", facts.location, detail, reversible=True)


def allow_step(facts: Facts, metadata: str | None = None) -> Step:
    """Return the step that lets queries start again, with other `metadata` if it is given."""
    detail = "put metadata back, so that a query can start again"
    arguments = {} if metadata is None else {"metadata": metadata}
    return Step(0, "allow-start", facts.location, detail, reversible=True, arguments=arguments)


def remove_step(
    facts: Facts, paths: tuple[str, ...], detail: str, folders: tuple[str, ...] = ()
) -> Step:
    """Return a step that removes files of the checkpoint, in this order, then empty folders."""
    arguments = change_files_arguments({}, paths, folders)
    return Step(0, "change-files", facts.location, detail, reversible=True, arguments=arguments)


def change_step(
    facts: Facts, writes: Mapping[str, bytes], removes: tuple[str, ...], detail: str | None = None
) -> Step:
    """Return a step that writes files of the checkpoint, then removes others."""
    told = detail or (
        f"write {counted(len(writes), 'file')} and remove {counted(len(removes), 'file')}"
    )
    arguments = change_files_arguments(writes, removes)
    return Step(0, "change-files", facts.location, told, reversible=True, arguments=arguments)


def restore_step(
    facts: Facts, backup: str, writes: Mapping[str, bytes], removes: tuple[str, ...], detail: str
) -> Step:
    """Return a step that puts files of the checkpoint back from an older backup."""
    arguments = restore_files_arguments(backup, writes, removes)
    return Step(0, "restore-files", facts.location, detail, reversible=True, arguments=arguments)


def note_step(facts: Facts, through: int | None, *, every_query: bool = False) -> Step:
    """Return the step that notes which batches no longer count, of this query or of every one."""
    of = "any query" if every_query else "this query"
    detail = f"note that no batch of {of} from earlier runs counts any more"
    if through is not None:
        detail = f"note that of {of} only the batches up to {through} of earlier runs count"
    arguments = {} if through is None else {"through": str(through)}
    if every_query:
        arguments["every_query"] = "true"
    if facts.query_id is not None:
        arguments["query_id"] = facts.query_id
    return Step(0, "note-rewind", facts.location, detail, reversible=True, arguments=arguments)
