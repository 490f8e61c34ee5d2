"""The value of `--accept`: a name, or a rule with the digest of one change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from holdfast.library.running import ACCEPTABLE, is_acceptance

if TYPE_CHECKING:
    ParamType = click.ParamType[str]
else:
    # Releases of click before 8.4 have no type arguments.
    ParamType = click.ParamType


class Acceptance(ParamType):
    """A name of what can be accepted, or CODE:DIGEST as a refusal prints it."""

    name = "acceptance"

    def get_metavar(self, *_: object, **__: object) -> str:
        """Return the names and the form of a digest."""
        return f"[{'|'.join(sorted(ACCEPTABLE))}|CODE:DIGEST]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value; fail where nothing can be accepted with it."""
        if not is_acceptance(value):
            names = ", ".join(sorted(ACCEPTABLE))
            message = f"{value!r} is neither one of {names} nor CODE:DIGEST of a rule that can be"
            self.fail(f"{message} accepted.", param, ctx)
        return value

    def shell_complete(
        self, _context: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete names."""
        return [CompletionItem(one) for one in sorted(ACCEPTABLE) if one.startswith(incomplete)]
