"""Gives one text for one place, however the place was spelled."""

from __future__ import annotations

import os
import re

from holdfast.storage.location import Location
from holdfast.storage.schemes import SCHEMES

_AUTHORITY = re.compile(r"(?P<scheme>[a-z0-9+.\-]+)://(?P<host>[^/]*)(?P<path>.*)", re.DOTALL)
_NAMENODE_PORT = ":8020"


def canonical(location: Location) -> str:
    """Spell the place as every other spelling of it would be: without links, case, user, query."""
    if location.is_local:
        return "file://" + os.path.realpath(location.url)
    match = _AUTHORITY.fullmatch(location.url)
    if match is None:
        return location.url
    host = match["host"].lower()
    if location.scheme == "hdfs":
        host = host.rpartition("@")[2].removesuffix(_NAMENODE_PORT)
    elif location.scheme != "abfs":
        host = host.rpartition("@")[2]
    path = match["path"] if location.scheme in SCHEMES else match["path"].partition("?")[0]
    return f"{match['scheme']}://{host}{path.rstrip('/')}"
