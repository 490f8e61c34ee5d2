"""Knows the storage options by their names, and keeps their values from being shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from holdfast.errors import StorageError
from holdfast.nearest import nearest
from holdfast.redaction import remember_secret

OptionValue = str | bool | int

FAMILIES: Mapping[str, str] = {
    "s3": "s3",
    "gs": "gcs",
    "abfs": "azure",
    "hdfs": "hdfs",
    "webhdfs": "hdfs",
}
"""A location's scheme to the name under `storage:` that its options stand under."""

KNOWN_OPTIONS: Mapping[str, Mapping[str, type]] = {
    "s3": {
        "endpoint": str,
        "region": str,
        "path_style": bool,
        "profile": str,
        "key": str,
        "secret": str,
        "token": str,
        "anonymous": bool,
        "ssl": bool,
        "requester_pays": bool,
    },
    "gcs": {
        "credentials": str,
        "project": str,
        "endpoint": str,
        "token": str,
        "anonymous": bool,
        "requester_pays": bool,
    },
    "azure": {
        "account": str,
        "endpoint": str,
        "key": str,
        "sas_token": str,
        "connection_string": str,
        "tenant_id": str,
        "client_id": str,
        "client_secret": str,
        "anonymous": bool,
    },
    "hdfs": {
        "webhdfs": str,
        "user": str,
        "password": str,
        "token": str,
        "kerberos": bool,
        "ticket": str,
    },
}
"""What can stand under `storage:`, by family, with the kind of its value."""

SECRETS = frozenset(
    {"key", "secret", "token", "password", "sas_token", "connection_string", "client_secret"}
)
"""Options whose values never may be shown; other names of fsspec's count as secrets too."""

_TRUTH: Mapping[str, bool] = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


@dataclass(frozen=True)
class StorageSettings:
    """Checked options for each family of storage (`s3`, `gcs`, `azure`, `hdfs`, or a scheme)."""

    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        checked = {
            family: {key: checked_option(family, key, value) for key, value in given.items()}
            for family, given in self.options.items()
        }
        object.__setattr__(self, "options", checked)

    def for_scheme(self, scheme: str) -> Mapping[str, OptionValue]:
        """Give the options that count for a location's scheme."""
        return self.options.get(FAMILIES.get(scheme, scheme), {})

    def overridden_by(self, other: StorageSettings) -> StorageSettings:
        """Give both together; where both name an option, the other's value counts."""
        families = (*self.options, *(name for name in other.options if name not in self.options))
        return StorageSettings(
            {
                family: {**self.options.get(family, {}), **other.options.get(family, {})}
                for family in families
            }
        )


def parse_storage_option(text: str) -> tuple[str, str]:
    """Split `key=value`; the value may hold anything, and no message ever shows it."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key.isidentifier():
        message = "a storage option is not of the form key=value (it is not shown: may be a secret)"
        raise StorageError("HF7010", message)
    return key, value


def settings_for(scheme: str, options: Iterable[tuple[str, str]]) -> StorageSettings:
    """Give the settings that `--storage-option`s mean for a location with this scheme."""
    given = dict(options)
    if given and scheme == "file":
        message = f"a local path takes no storage options ({', '.join(sorted(given))})"
        raise StorageError("HF7010", message, next_steps=("leave --storage-option out",))
    return StorageSettings({FAMILIES.get(scheme, scheme): given} if given else {})


def checked_option(family: str, key: str, value: object) -> OptionValue:
    """Give the value in its kind; refuse a key that the family does not know."""
    known = KNOWN_OPTIONS.get(family)
    if known is None:
        return _of_any_kind(family, key, value)
    if key not in known:
        raise _unknown_key(family, key)
    if key in SECRETS and isinstance(value, str):
        remember_secret(value)
    if known[key] is bool:
        return _truth(family, key, value)
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise StorageError("HF7010", f"{family} option {key} needs a text that is not empty")
    return str(value)


def _of_any_kind(family: str, key: str, value: object) -> OptionValue:
    if isinstance(value, str):
        remember_secret(value)
    if not isinstance(value, str | bool | int):
        raise StorageError("HF7010", f"{family} option {key} needs a text, a number or a truth")
    return value


def _truth(family: str, key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    truth = _TRUTH.get(str(value).strip().lower())
    if truth is None:
        raise StorageError("HF7010", f"{family} option {key} needs true or false")
    return truth


def _unknown_key(family: str, key: str) -> StorageError:
    known = KNOWN_OPTIONS[family]
    near = nearest(key, known)
    hint = f"; is {near} meant?" if near else ""
    message = f"{family} has no option {key}{hint}"
    return StorageError("HF7010", message, next_steps=(f"known options: {', '.join(known)}",))
