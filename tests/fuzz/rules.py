"""The oracle's rules across files: what must fit together in a checkpoint that Spark wrote.

Each rule looks at the decoded files and yields what it found broken, with the files that it
compared: which of them is the damaged one the rule alone can't say. Files whose grammar is broken
are left out here; they are judged by the grammar.
"""

from __future__ import annotations

from tests.fuzz.decoded import Broken, Rule, decode
from tests.fuzz.kinds import Files
from tests.fuzz.logrules import LOG_RULES
from tests.fuzz.sourcerules import SOURCE_RULES
from tests.fuzz.staterules import STATE_RULES

RULES: tuple[Rule, ...] = (*LOG_RULES, *SOURCE_RULES, *STATE_RULES)


def broken_rules(files: Files, kinds: dict[str, str]) -> list[Broken]:
    """Give every rule that does not hold."""
    found = decode(files, kinds)
    return [one for rule in RULES for one in rule(found)]
