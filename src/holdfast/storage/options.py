"""Knows storage options by name, Spark's `fs.s3a.*` too, and never shows their values."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.errors import StorageError
from holdfast.redaction import REDACTED, remember_secret
from holdfast.storage.location import Location
from holdfast.wording import nearest

OptionValue = str | bool | int
FamilyOptions = Mapping[str, Mapping[str, OptionValue]]
"""Options by family and name, as under `storage:` in the project file."""
StorageOptions = Mapping[str, OptionValue] | FamilyOptions | Sequence[str]
"""Options as callers give them: by name, by family and name as under `storage:` in the project
file, or as texts `key=value`."""

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
        """Return the options that count for a location's scheme."""
        return self.options.get(FAMILIES.get(scheme, scheme), {})

    def overridden_by(self, other: StorageSettings) -> StorageSettings:
        """Return both together; where both name an option, the other's value counts."""
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
        message = "a storage option is not of the form key=value (not shown: it may be a secret)"
        raise StorageError("HF7010", message)
    return key, value


def names_families(given: StorageOptions) -> bool:
    """Return whether options are given by family, so that they count for every place of it.

    >>> names_families({"s3": {"endpoint": "http://localhost:9000"}})
    True
    >>> names_families({"endpoint": "http://localhost:9000"})
    False
    """
    if not isinstance(given, Mapping):
        return False
    nested = [isinstance(value, Mapping) for value in given.values()]
    if any(nested) and not all(nested):
        message = "storage options are given both by name and by family; choose one"
        raise StorageError("HF7010", message)
    return bool(nested) and all(nested)


def settings_given(scheme: str, given: StorageOptions) -> StorageSettings:
    """Return the settings that a caller's options mean for a location with this scheme.

    >>> settings_given("s3", {"region": "eu-central-1"}).for_scheme("s3")
    {'region': 'eu-central-1'}
    >>> settings_given("s3", ["region=eu-central-1"]).for_scheme("s3")
    {'region': 'eu-central-1'}
    >>> settings_given("file", {"s3": {"region": "eu-central-1"}}).for_scheme("s3")
    {'region': 'eu-central-1'}
    """
    if names_families(given):
        families: FamilyOptions = given  # type: ignore[assignment]
        return StorageSettings(families)
    return settings_for(scheme, named_options(given))


def settings_among(schemes: Iterable[str], given: StorageOptions) -> StorageSettings:
    """Return the settings that options mean for several places: the first that is remote counts."""
    remote = [scheme for scheme in schemes if scheme != "file"]
    return settings_given(remote[0] if remote else "file", given)


def named_options(given: StorageOptions) -> list[tuple[str, OptionValue]]:
    """Return options that are given by name, each with its value; raise HF7010 for other things."""
    if isinstance(given, Mapping):
        by_name: Mapping[str, OptionValue] = given  # type: ignore[assignment]
        return [(str(key), value) for key, value in by_name.items()]
    texts = [given] if isinstance(given, str) else given
    return [parse_storage_option(text) for text in texts]


def settings_for(scheme: str, options: Iterable[tuple[str, OptionValue]]) -> StorageSettings:
    """Return the settings that named options mean for a location with this scheme."""
    given = dict(options)
    if given and scheme == "file":
        message = f"a local path takes no storage options ({', '.join(sorted(given))})"
        raise StorageError("HF7010", message, next_steps=("leave --storage-option out",))
    return StorageSettings({FAMILIES.get(scheme, scheme): given} if given else {})


def shown_options(given: StorageOptions) -> tuple[str, ...]:
    """Return named options as words of a command line, without any secret.

    A secret that is the value of an environment variable is shown as this variable. Options of
    several families have no words: a command takes those of one.

    >>> shown_options(["endpoint=http://localhost:9000", "secret=never-shown"])
    ('--storage-option', 'endpoint=http://localhost:9000', '--storage-option', 'secret=[redacted]')
    """
    if names_families(given):
        families: FamilyOptions = given  # type: ignore[assignment]
        if len(families) != 1:
            return ()
        (given,) = families.values()
    words: list[str] = []
    for name, value in named_options(given):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        is_secret = name in SECRETS or not any(name in known for known in KNOWN_OPTIONS.values())
        shown = _variable_of(text) if is_secret else shlex.quote(text)
        words += ["--storage-option", f"{name}={shown}"]
    return tuple(words)


def _variable_of(secret: str) -> str:
    """Return the environment variable that has a secret, as a shell expands it."""
    names = sorted(name for name, value in os.environ.items() if value == secret)
    return f'"${{{names[0]}}}"' if names else REDACTED


def checked_option(family: str, key: str, value: object) -> OptionValue:
    """Return the value in its kind; refuse a key that the family does not know."""
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
        raise StorageError("HF7010", f"{family} option {key} must be a non-empty string")
    return str(value)


def _of_any_kind(family: str, key: str, value: object) -> OptionValue:
    if isinstance(value, str):
        remember_secret(value)
    if not isinstance(value, str | bool | int):
        raise StorageError("HF7010", f"{family} option {key} must be a string, number or boolean")
    return value


def _truth(family: str, key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    truth = _TRUTH.get(str(value).strip().lower())
    if truth is None:
        raise StorageError("HF7010", f"{family} option {key} must be true or false")
    return truth


def _unknown_key(family: str, key: str) -> StorageError:
    known = KNOWN_OPTIONS[family]
    near = nearest(key, known)
    hint = f"; did you mean {near}?" if near else ""
    message = f"{family} has no option {key}{hint}"
    return StorageError("HF7010", message, next_steps=(f"known options: {', '.join(known)}",))


_PREFIXES = ("spark.hadoop.fs.s3a.", "fs.s3a.")
_BUCKET = "bucket."

_OPTIONS: Mapping[str, str] = {
    "access.key": "key",
    "secret.key": "secret",
    "session.token": "token",
    "endpoint": "endpoint",
    "endpoint.region": "region",
    "path.style.access": "path_style",
    "connection.ssl.enabled": "ssl",
    "requester.pays.enabled": "requester_pays",
}
_PROVIDER = "aws.credentials.provider"


def settings_from_spark(conf: Mapping[str, str], location: Location) -> StorageSettings:
    """Return the storage settings that Spark itself would use for this location."""
    if location.scheme != "s3":
        return StorageSettings()
    bucket = location.url.removeprefix("s3://").partition("/")[0]
    general = {name: value for name, value in _s3a(conf) if not name.startswith(_BUCKET)}
    own_prefix = f"{_BUCKET}{bucket}."
    own = {
        name.removeprefix(own_prefix): value
        for name, value in _s3a(conf)
        if name.startswith(own_prefix)
    }
    options = _options({**general, **own})
    return StorageSettings({"s3": options} if options else {})


def _s3a(conf: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the fs.s3a settings without their prefix; Spark's spelling counts after Hadoop's."""
    return [
        (name.removeprefix(prefix), value.strip())
        for prefix in reversed(_PREFIXES)
        for name, value in conf.items()
        if name.startswith(prefix) and value.strip()
    ]


def _options(settings: Mapping[str, str]) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {
        ours: settings[theirs] for theirs, ours in _OPTIONS.items() if theirs in settings
    }
    if "AnonymousAWSCredentialsProvider" in settings.get(_PROVIDER, ""):
        options["anonymous"] = True
    return options
