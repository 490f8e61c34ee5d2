"""Completes names of jobs in the shell; it reads the project file's text and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem


def complete_jobs(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the jobs of the project that begin so, without those that are already given."""
    from click.shell_completion import CompletionItem

    given = {
        word for words in context.params.values() if isinstance(words, tuple) for word in words
    }
    return [
        CompletionItem(name)
        for name in _job_names(context)
        if name.startswith(incomplete) and name not in given
    ]


def complete_target(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the jobs that begin so; where none does, let the shell complete directories."""
    from click.shell_completion import CompletionItem

    return complete_jobs(context, parameter, incomplete) or [CompletionItem(incomplete, type="dir")]


def complete_backup(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return each job with @newest behind it, as `restore` takes it."""
    from click.shell_completion import CompletionItem

    jobs = complete_jobs(context, parameter, incomplete.partition("@")[0])
    items = [CompletionItem(f"{item.value}@newest") for item in jobs]
    return items or [CompletionItem(incomplete, type="dir")]


def _job_names(context: click.Context) -> list[str]:
    from holdfast.library.completing import names_of_jobs

    return names_of_jobs(context.params.get("project"))
