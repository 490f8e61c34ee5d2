"""Gives one text for one place, however the place was spelled."""

from __future__ import annotations

import os

from holdfast.storage.location import Location
from holdfast.storage.schemes import SCHEMES

_NAMENODE_PORT = ":8020"


def canonical(location: Location) -> str:
    """Spell the place as every other spelling of it would be: without links, case, user, query."""
    if location.is_local:
        return "file://" + os.path.realpath(location.url)
    scheme, _, rest = location.url.partition("://")
    host, slash, path = rest.partition("/")
    host = host.lower()
    if location.scheme != "abfs":
        host = host.rpartition("@")[2]
    if location.scheme == "hdfs":
        host = host.removesuffix(_NAMENODE_PORT)
    if location.scheme not in SCHEMES:
        path = path.partition("?")[0]
    return f"{scheme}://{host}{slash}{path}".rstrip("/")
