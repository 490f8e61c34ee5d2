"""Makes any value that an entry can hold."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import strategies as st

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | INT64 | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def extras(*known: str) -> st.SearchStrategy[Mapping[str, object]]:
    """Fields that a later Spark might add beside the known ones."""
    names = TEXTS.filter(lambda name: name not in known)
    return st.dictionaries(names, JSON, max_size=2)
