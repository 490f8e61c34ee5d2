"""Programs that follow advice on real Spark, by what it is about."""

from tests.advice.programs import deltatables, filesinks, ownsinks, places, state

PROGRAMS = (deltatables, filesinks, places, state, ownsinks)
"""Imported for the steps that they register."""
