"""Profiles: parts of a project file that are laid over the rest of it, one profile at a time.

A profile holds what differs between dev and prod: how Spark is started, where data is and how it is
reached. The query of a job is the same in every profile. Mappings merge by key, other values
replace, and `null` removes a key; a trigger is one choice, so it replaces as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError, create_model, model_validator
from pydantic.fields import FieldInfo

from holdfast.errors import UsageError
from holdfast.jobs.projectfile import tree
from holdfast.jobs.projectfile.declaration import (
    NAMES_ONLY,
    Declaration,
    Name,
    Spark,
    SparkText,
    Storage,
    ViewName,
    refuse,
)
from holdfast.jobs.projectfile.job import Job, Source, at_run_time
from holdfast.jobs.projectfile.sink import Sink
from holdfast.jobs.projectfile.translation import problems_of
from holdfast.jobs.projectfile.tree import Problem
from holdfast.wording import nearest

PROFILES = "profiles"
_QUERY = ("transform", "sql", "output_mode")
"""Keys of a job that are the same in every profile: they decide what is in the checkpoint."""
_REPLACED_WHOLE = frozenset({"trigger"})
_Settings = dict[str, SparkText | None]
_Mapping: Any = dict
"""Takes models that are made at run time."""


class _JobOverlay(Declaration):
    """What a profile lays over one job."""

    @model_validator(mode="before")
    @classmethod
    def _same_query(cls, written: object) -> object:
        changed = [key for key in _QUERY if isinstance(written, Mapping) and key in written]
        if changed:
            message = (
                f"a profile cannot change {changed[0]}: a job has the same query in every profile"
            )
            refuse("HF1103", changed[0], message)
        return written


def _overlay(
    model: type[Declaration], base: type[Declaration] = Declaration, **replaced: object
) -> Any:
    """Return a model of the same keys, all optional, without the rules between them."""
    fields = {
        name: _optional(field, replaced.get(name))
        for name, field in model.model_fields.items()
        if base is Declaration or name not in _QUERY
    }
    overlay = create_model(f"{model.__name__}Overlay", __base__=base, **fields)
    overlay.__doc__ = f"What a profile overrides in `{model.__name__.lower()}`."
    return overlay


def _optional(field: FieldInfo, replaced: object) -> Any:
    annotation: Any = field.annotation if replaced is None else replaced
    for rule in field.metadata if replaced is None else ():
        annotation = Annotated[annotation, rule]
    extra = field.json_schema_extra
    default: Any = Field(default=None, alias=field.alias, json_schema_extra=extra)
    return annotation | None, default


_SourceOverlay = _overlay(Source, options=_Settings)
_SparkOverlay = _overlay(Spark, conf=_Settings)
_ProfileJob = _overlay(
    Job,
    _JobOverlay,
    source=_SourceOverlay,
    sources=_Mapping[ViewName, _SourceOverlay],
    sink=_overlay(Sink, options=_Settings),
    conf=Annotated[_Settings, AfterValidator(at_run_time)],
)


class Profile(Declaration):
    """What is laid over the rest of the file with `--profile NAME`."""

    checkpoints: str | None = Field(default=None, min_length=1)
    spark: _SparkOverlay | None = None  # type: ignore[valid-type]
    storage: Storage | None = None
    jobs: dict[Name, _ProfileJob] = Field(default={}, json_schema_extra=NAMES_ONLY)  # type: ignore[valid-type]


Profiles = Annotated[dict[Name, Profile], Field(json_schema_extra=NAMES_ONLY)]


class _Profiled(Declaration):
    """The part of a project file that holds its profiles."""

    profiles: Profiles


def profile_names(root: tree.Entries) -> tuple[str, ...]:
    """Return the names of the profiles that a project file declares, in its order."""
    entry = root.get(PROFILES)
    if entry is None or not isinstance(entry.node, tree.Entries):
        return ()
    return tuple(one.key for one in entry.node.entries)


def profile_problems(root: tree.Entries) -> Iterator[Problem]:
    """Find what is wrong in any profile, whichever is chosen."""
    entry = root.get(PROFILES)
    if entry is None:
        return
    try:
        _Profiled.model_validate({PROFILES: tree.plain(entry.node)})
    except ValidationError as failure:
        yield from problems_of(failure, _Profiled, root)
    jobs = root.get("jobs")
    declared = jobs.node.entries if jobs and isinstance(jobs.node, tree.Entries) else ()
    for name in profile_names(root):
        yield from _unknown_jobs(root, name, [one.key for one in declared])


def _unknown_jobs(root: tree.Entries, profile: str, declared: list[str]) -> Iterator[Problem]:
    laid = tree.node_at(root, (PROFILES, profile, "jobs"))
    for entry in laid.entries if isinstance(laid, tree.Entries) else ():
        if entry.key not in declared:
            near = nearest(entry.key, declared)
            hint = f"did you mean {near}?" if near else f"jobs: {', '.join(declared) or 'none'}"
            message = f"profile {profile} changes {entry.key}, which is not a declared job; {hint}"
            yield Problem(entry.key_mark, "HF1126", message)


def with_profile(root: tree.Entries, profile: str | None) -> tree.Entries:
    """Return the tree of a project file with a profile laid over it; None is the file as it is.

    Raise UsageError where the file has no such profile.
    """
    if profile is None:
        return root
    known = profile_names(root)
    if profile not in known:
        raise _no_such_profile(profile, known)
    over = tree.node_at(root, (PROFILES, profile))
    return _laid_over(root, over) if isinstance(over, tree.Entries) else root


def _laid_over(base: tree.Entries, over: tree.Entries) -> tree.Entries:
    entries = {entry.key: entry for entry in base.entries}
    for entry in over.entries:
        if isinstance(entry.node, tree.Leaf) and entry.node.value is None:
            entries.pop(entry.key, None)
        else:
            entries[entry.key] = _laid_entry(entries.get(entry.key), entry)
    return replace(base, entries=tuple(entries.values()))


def _laid_entry(base: tree.Entry | None, over: tree.Entry) -> tree.Entry:
    """Lay one key over another; a mapping that merges stays where it stands in the file."""
    if not isinstance(over.node, tree.Entries):
        return over
    below = base.node if base is not None and over.key not in _REPLACED_WHOLE else None
    if base is None or not isinstance(below, tree.Entries):
        return replace(over, node=_laid_over(replace(over.node, entries=()), over.node))
    return replace(base, node=_laid_over(below, over.node))


def _no_such_profile(profile: str, known: tuple[str, ...]) -> UsageError:
    message = f"the project has no profile {profile}"
    if not known:
        message += ": it declares no profiles"
        steps = ("leave out --profile and HOLDFAST_PROFILE",)
        return UsageError("HF1125", message, next_steps=steps)
    near = nearest(profile, known)
    message += f"; did you mean {near}?" if near else ""
    steps = (f"use one of its profiles: {', '.join(known)}",)
    return UsageError("HF1125", message, next_steps=steps)
