"""Tokens of SQL: what is a word, what is only a text."""

from __future__ import annotations

from holdfast.jobs.sqltext import tokens_of


def test_comments_and_blanks_are_left_out() -> None:
    """Semicolons too; words are in small letters, texts stay as they are."""
    found = [(one.kind, one.text) for one in tokens_of("SELECT `A b`, 'It' -- x\n/* y */ FROM t;")]
    assert found == [
        ("word", "select"),
        ("quoted", "a b"),
        ("sign", ","),
        ("text", "'It'"),
        ("word", "from"),
        ("word", "t"),
    ]


def test_depth_counts_open_parentheses() -> None:
    """A parenthesis itself stands outside; one in a text counts for nothing."""
    depths = {one.text: one.depth for one in tokens_of("f ( g ( '(' , x ) ) y")}
    assert (depths["f"], depths["g"], depths["x"], depths["y"]) == (0, 1, 2, 0)
