"""What the public functions share: next steps that name the target, checked arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

from holdfast.answers import Answer, changing_steps
from holdfast.errors import HoldfastError, NotFoundError, UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.steps import Steps, lacks_job, named_steps, repeated_options
from holdfast.storage.options import shown_options
from holdfast.targets.jobs import job_named
from holdfast.targets.opening import not_run_yet

Arguments = ParamSpec("Arguments")
Answered = TypeVar("Answered", bound=Answer[Any])


_OUTPUT_MODES = ("append", "update", "complete")


def known_output_mode(given: str) -> str:
    """Return an output mode in small letters, as Spark takes any; raise UsageError for another."""
    mode = str(given).lower()
    if mode not in _OUTPUT_MODES:
        message = f"{given!r} is not an output mode"
        raise UsageError(
            "HF1001", message, next_steps=(f"the modes are {', '.join(_OUTPUT_MODES)}",)
        )
    return mode


def repeats_project(act: Callable[Arguments, Answered]) -> Callable[Arguments, Answered]:
    """Let the commands in next steps repeat --project, --profile and --storage-option."""

    @wraps(act)
    def repeating(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answered:
        change = repeating_options(_chosen(kwargs), kwargs.get("storage_options", ()))
        with changing_steps(change):
            return act(*args, **kwargs).with_steps(change)

    return repeating


def repeating_options(project: ProjectChoice, storage_options: Any) -> Callable[[Steps], Steps]:
    """Return what lets next steps repeat the options that a call was given."""
    try:
        storage = shown_options(storage_options)
    except HoldfastError:
        storage = ()  # the call itself refuses them
    return partial(repeated_options, options=project.options, storage=storage)


def names_target(act: Callable[Arguments, Answered]) -> Callable[Arguments, Answered]:
    """Let the next steps of a function name its target, and the job that this is."""

    @wraps(act)
    def naming_target(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answered:
        given = args[0] if args else kwargs.get("target", kwargs.get("backup"))
        change = partial(named, target=_target_of(given), project=_chosen(kwargs))
        with changing_steps(change):
            try:
                return act(*args, **kwargs).with_steps(change)
            except NotFoundError as error:
                options: Any = kwargs.get("storage_options", ())
                of_job = not_run_yet(error, str(given), _chosen(kwargs), options)
                if of_job is None:
                    raise
                raise of_job from error

    return repeats_project(naming_target)


def _chosen(arguments: Mapping[str, Any]) -> ProjectChoice:
    return ProjectChoice.of(arguments.get("project"), arguments.get("profile"))


def _target_of(given: object) -> str | None:
    """Return the target that a function was given; that of a backup is before the @."""
    name = None if given is None else str(given)
    if name is not None and "@" in name:
        from holdfast.backup.store import split_name

        name = split_name(name)[0]
    return name


def named(steps: Steps, target: str | None, project: ProjectChoice) -> Steps:
    """Return next steps that name the target, and the job of the project that this is."""
    # The project is read once more where a step asks for the job, and not for every answer.
    job = job_named(target, project) if target is not None and lacks_job(steps) else None
    return named_steps(steps, target, job)


def several(names: Sequence[str]) -> tuple[str, ...]:
    """Return names as given; one alone is often given without a list."""
    return (names,) if isinstance(names, str) else tuple(names)
