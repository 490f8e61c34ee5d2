"""The pinned settings are those that real Sparks wrote."""

from __future__ import annotations

import pytest

from holdfast.checkpoint.releases import PINNED_SETTINGS, RELEASES, at_least, unusual_settings
from tests.checkpoint.pictures import files_of, picture_of

VERSIONS = {"3.5": "3.5.9", "4.0": "4.0.5", "4.1": "4.1.4", "4.2": "4.2.1", "4.3": "4.3.0"}


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_pins_exactly_these_settings(release: str) -> None:
    """Keys by release, and the values of a new query."""
    settings = picture_of(files_of("stateless", VERSIONS[release])).settings
    assert set(settings) == {one.key for one in PINNED_SETTINGS if at_least(release, one.since)}
    assert set(unusual_settings(settings)) == {"spark.sql.shuffle.partitions"}
