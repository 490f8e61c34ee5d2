"""The page of storages: which URLs are understood and which options each family takes."""

from __future__ import annotations

from docs.generating.markdown import code, page, table
from holdfast.storage.location import HADOOP_ONLY, SCHEMES
from holdfast.storage.options import FAMILIES, KNOWN_OPTIONS, SECRETS

EXTRAS = {"s3": "s3", "gcs": "gcs", "azure": "azure", "hdfs": "hdfs"}
"""A family of storage to the extra that reads it."""


def storage_page() -> str:
    """Return the page: schemes, then the options of each family, then what cannot be read."""
    intro = (
        "A location is a local path or a URL. Give options on the command line as "
        "`--storage-option key=value` (repeatable) or under `storage:` in the "
        "[project file](project-file.md). Values of secrets are never shown. "
        "Other URL schemes that fsspec supports are opened with fsspec; their options have "
        "fsspec's own names."
    )
    schemes = table(("URL", "storage", "extra"), _schemes())
    families = [part for name in KNOWN_OPTIONS for part in _family(name)]
    refused = table(
        ("URL", "what to do instead"),
        ((code(f"{name}://"), text) for name, text in HADOOP_ONLY.items()),
    )
    return page(
        "Storage", intro, schemes, *families, "## Not readable without Hadoop's libraries", refused
    )


def _schemes() -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    for written, scheme in SCHEMES.items():
        family = FAMILIES.get(scheme, "")
        extra = f'`pip install ".[{EXTRAS[family]}]"`' if family else ""
        rows.append((code(f"{written}:"), family or scheme, extra))
    return rows


def _family(name: str) -> list[str]:
    rows = (
        (code(key), "boolean" if kind is bool else "string", "yes" if key in SECRETS else "")
        for key, kind in KNOWN_OPTIONS[name].items()
    )
    return [f"## Options: {name}", table(("option", "value", "secret"), rows)]
