"""The page of commands, from what click knows of them."""

from __future__ import annotations

from typing import Any

import click

from docs.generating.markdown import code, page, table
from holdfast.cli.main import COMMANDS, holdfast


def commands_page() -> str:
    """Return the page: every command with its arguments and options."""
    context = click.Context(holdfast, info_name="holdfast", **holdfast.context_settings)
    summary = table(
        ("command", "does"),
        ((f"[`{name}`](#holdfast-{name})", text) for name, text in COMMANDS.items()),
    )
    everywhere = (
        "`holdfast --version` prints the version. `holdfast` and every command accept `-h` and "
        "`--help`. Results go to standard output, everything else to standard error. "
        "[Results](results.md) describes the JSON, [exit statuses](exit-statuses.md) the exit "
        "status."
    )
    target = (
        "A `TARGET` is the path or URL of a checkpoint, or the name of a job in `holdfast.yaml`. "
        "`check`, `status`, `inspect`, `evidence`, `doctor`, `diff`, `state`, `backups`, `plan`, "
        "`journal` and `explain` are read-only: they write neither to a checkpoint nor "
        "next to it. "
        "`run` lets Spark write to checkpoints and sinks and keeps its records next to each "
        "checkpoint; "
        "`rehearse` writes to copies alone; "
        "`backup` writes next to the checkpoint; `restore`, `apply` and `undo` write to it, and to "
        "the sink where the plan says so; `init` and `demo` create "
        "new directories."
    )
    sections = [_section(context, name) for name in COMMANDS]
    return page("Commands", summary, target, everywhere, *sections)


def _section(group: click.Context, name: str) -> str:
    command = holdfast.get_command(group, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=group)
    if isinstance(command, click.Group):
        inner = [_section_of(context, command.commands[one], 3) for one in command.commands]
        text = _paragraphs(command.help)
        return "\n\n".join([f"## holdfast {name}", text, *inner])
    return _section_of(group, command, 2)


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


def _section_of(parent: click.Context, command: click.Command, level: int) -> str:
    context = click.Context(command, info_name=command.name, parent=parent)
    usage = f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    rows = table(("option", "meaning"), (_option(one, context) for one in options))
    return "\n\n".join(
        [f"{'#' * level} {context.command_path}", usage, _paragraphs(command.help), rows]
    )


def _option(option: click.Option, context: click.Context) -> tuple[str, str]:
    names = ", ".join(option.opts)
    if not option.is_flag:
        names += f" {option.make_metavar(context).removesuffix(' RANGE')}"
    notes = [option.help or ""]
    info: dict[str, Any] = option.to_info_dict()
    if option.show_default:
        notes.append(f"Default: {info['default']}.")
    if option.multiple and "repeated" not in notes[0]:
        notes.append("May be repeated.")
    return code(names), " ".join(notes)
