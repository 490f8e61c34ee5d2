"""`--accept` takes names and digests, and nothing that accepts nothing."""

from __future__ import annotations

import click
import pytest

from holdfast.cli.acceptance import Acceptance


@pytest.mark.parametrize("given", ["empty-sink", "shared-mount", "HF3116:0123abcd"])
def test_a_name_or_a_digest_is_taken(given: str) -> None:
    """As it is."""
    assert Acceptance().convert(given, None, None) == given


@pytest.mark.parametrize("given", ["empty", "HF3116", "HF3111:0123abcd", "HF3116:0123ABCD", ""])
def test_anything_else_is_refused(given: str) -> None:
    """A rule that Spark itself would fail by is none that a person can accept."""
    with pytest.raises(click.BadParameter, match="CODE:DIGEST"):
        Acceptance().convert(given, None, None)


def test_names_are_completed() -> None:
    """Digests cannot be."""
    command = click.Command("run", params=[click.Option(["--accept"], type=Acceptance())])
    context = click.Context(command)
    found = Acceptance().shell_complete(context, command.params[0], "shared")
    assert [one.value for one in found] == ["shared-mount", "shared-sink"]
    assert "CODE:DIGEST" in command.get_help(context)
