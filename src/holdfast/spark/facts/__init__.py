"""Tells what a query is before it starts: sources, operators, state, expressions, Python code."""

from __future__ import annotations

from holdfast.spark.facts.query import MOST_TEXT, plan_facts, query_facts

__all__ = ["MOST_TEXT", "plan_facts", "query_facts"]
