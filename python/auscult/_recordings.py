"""What callers give, as the native module takes it: recordings and the values of options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from typing import Any

from . import _arrays
from ._arrays import Floats, Recordings
from .errors import InputError


def is_path(given: Any) -> bool:
    return isinstance(given, (str, PathLike))


def _listed(recordings: Any) -> Any:
    """A column or an array of paths as a list; all else as it is."""
    if isinstance(recordings, (str, PathLike, bytes, list, tuple, dict, set, Iterator)):
        return recordings
    if not isinstance(recordings, Iterable) or getattr(recordings, "ndim", 1) != 1:
        return recordings
    return list(recordings) if is_path(next(iter(recordings), None)) else recordings


def sources(
    recordings: Recordings,
    sample_rate: int | None,
    visits: Iterable[Any] | str | None = None,
    domains: Iterable[Any] | str | None = None,
    samples_csv: str | None = None,
) -> dict[str, Any]:
    """Recordings as the native module takes them."""
    recordings = _listed(recordings)
    paths: list[str] = []
    sounds: list[tuple[str, Floats, int]] = []
    if isinstance(recordings, bytes):
        raise InputError("a path is a str or a Path, got bytes; os.fsdecode makes one of them")
    if recordings is None or isinstance(recordings, (dict, set, Iterator)):
        kind = type(recordings).__name__
        raise InputError(f"recordings are a path, a list of paths, an array or a list of arrays; got {kind}")
    if isinstance(recordings, (list, tuple)) and not recordings:
        raise InputError("recordings is empty, it has no clips; name at least one path or array")
    if isinstance(recordings, (str, PathLike)):
        paths = [fspath(recordings)]
    elif isinstance(recordings, (list, tuple)) and any(is_path(one) for one in recordings):
        odd = next((one for one in recordings if not is_path(one)), None)
        if odd is not None:
            raise InputError(f"recordings are all paths or all arrays; got paths and {type(odd).__name__}")
        paths = [fspath(one) for one in recordings]
    else:
        if sample_rate is None:
            raise InputError("arrays need a sample rate, such as sample_rate=16000")
        rate = _arrays.sample_rate(sample_rate)
        found, is_single = _arrays.clips(recordings, "recordings")
        names = ["array"] if is_single else [f"array {index}" for index in range(len(found))]
        sounds = [(name, clip, rate) for name, clip in zip(names, found)]
    if paths and sample_rate is not None:
        raise InputError("sample_rate is that of arrays; files say theirs themselves, so leave it out")
    count = len(paths) or len(sounds)
    return {
        "paths": paths,
        "sounds": sounds,
        "visits": _arrays.texts(visits, count, "visits"),
        "domains": _arrays.texts(domains, count, "domains"),
        "samples_csv": text(samples_csv),
    }


def holds_paths(recordings: Any) -> bool:
    recordings = _listed(recordings)
    return is_path(recordings) or (isinstance(recordings, (list, tuple)) and any(is_path(one) for one in recordings))


def text(value: Any) -> str | None:
    return None if value is None else str(value)


def path_of(given: Any, what: str) -> str:
    """A path as text."""
    if not is_path(given):
        raise InputError(f"{what} must be a str or a Path, got {given!r}")
    found: str = fspath(given)
    return found


def optional_path(given: Any, what: str) -> str | None:
    return None if given is None else path_of(given, what)


def optional(value: Any, what: str, *, least: int = 0) -> int | None:
    return None if value is None else _arrays.whole_number(value, what, least=least)


def optional_number(value: Any, what: str) -> float | None:
    return None if value is None else _arrays.number(value, what)


def texts(given: Any, what: str) -> list[str]:
    """A list of texts or paths; a single one is a list of one."""
    if is_path(given):
        return [fspath(given)]
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what} must be a text or several, got {given!r}")
    return [fspath(one) if is_path(one) else str(one) for one in given]


def overrides(**given: Any) -> str:
    """How clips are compared, as JSON; what is ``None`` is left as it is."""
    whole = ("band_width", "band_stride", "neighbours")
    for name, value in given.items():
        given[name] = optional(value, name.replace("_", " ")) if name in whole else text(value)
    return json.dumps({name: value for name, value in given.items() if value is not None})
