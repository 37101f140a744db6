"""Arrays of any kind become those the native module takes."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Real
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

Floats: TypeAlias = NDArray[np.float32]
Doubles: TypeAlias = NDArray[np.float64]

#: Anything numpy can look at without a copy: arrays, tensors, buffers.
ArrayLike: TypeAlias = Any

#: One recording, several, or arrays of samples.
Recordings: TypeAlias = "str | PathLike[str] | ArrayLike | Sequence[str | PathLike[str]] | Sequence[ArrayLike]"

#: Clips are longer than this, so so few columns are channels.
_MOST_CHANNELS = 32

_FULL_SCALE = {"int16": 1 << 15, "int32": 1 << 31}


def as_array(given: ArrayLike, what: str) -> NDArray[Any]:
    """An array of whatever was given, without a copy where its owner allows that."""
    if isinstance(given, np.ma.MaskedArray):
        raise InputError(f"{what} is a masked array; fill it first, such as x.filled(0)")
    if isinstance(given, np.ndarray):
        return given
    if hasattr(given, "__dlpack__"):
        try:
            shared: NDArray[Any] = np.from_dlpack(given)
        except (TypeError, ValueError, RuntimeError, BufferError):
            # Tensors that need gradients or live elsewhere say what to do in __array__.
            pass
        else:
            return shared
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{what} cannot be taken as an array: {error}") from error
    return array


def _described(array: NDArray[Any]) -> str:
    return f"shape {array.shape} and dtype {array.dtype}"


def samples(given: ArrayLike, what: str) -> Floats:
    """Mono samples: floats with full scale 1, or 16 and 32-bit integers as sound files hold them."""
    array = as_array(given, what)
    if array.ndim != 1:
        raise InputError(
            f"{what} must have one dimension (mono samples), got {_described(array)}; "
            "choose a channel, such as x[:, 0], or pass a list with one array for each recording"
        )
    if array.size == 0:
        raise InputError(f"{what} has no samples; give at least 1")
    return _scaled(array, what)


def _scaled(array: NDArray[Any], what: str) -> Floats:
    kind = array.dtype
    if kind == np.float32:
        return np.ascontiguousarray(array)
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(array, dtype=np.float32)
    scale = _FULL_SCALE.get(kind.newbyteorder("=").name)
    if scale is None:
        raise InputError(
            f"{what} has dtype {kind}; samples are float32 or float64 with full scale 1, int16 or int32"
        )
    return np.ascontiguousarray(array.astype(np.float64) / scale, dtype=np.float32)


def clips(given: ArrayLike, what: str = "x") -> tuple[list[Floats], bool]:
    """The clips of an array (samples, or clips x samples) or of a list of arrays, and whether there was one only."""
    if is_list_of_clips(given):
        if not given:
            raise InputError(f"{what} has no clips; give at least 1")
        return [samples(one, f"{what}[{index}]") for index, one in enumerate(given)], False
    array = sound(given, what)
    return ([array], True) if array.ndim == 1 else (list(array), False)


def sound(given: ArrayLike, what: str) -> Floats:
    """One clip (samples) or several of one length (clips x samples)."""
    array = as_array(given, what)
    if array.ndim != 2:
        return samples(array, what)
    if array.size == 0:
        raise InputError(f"{what} has shape {array.shape}; give at least 1 clip with at least 1 sample")
    if array.shape[1] <= _MOST_CHANNELS < array.shape[0]:
        raise InputError(
            f"{what} has shape {array.shape}, and a matrix is clips x samples; of samples x channels choose one "
            "channel, such as x[:, 0], or put channels first, x.T, to take each as a clip"
        )
    return _scaled(array, what)


def is_list_of_clips(given: Any) -> bool:
    """Whether this is a list of arrays, and not one of numbers."""
    return isinstance(given, (list, tuple)) and not (given and isinstance(given[0], (int, float, np.number)))


def matrix(given: ArrayLike, what: str, *, rows: int = 1, is_finite: bool = False) -> Floats:
    """A matrix of finite float32 values with at least this many rows; ``is_finite`` if somebody has looked already."""
    array = as_array(given, what)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{what} has dtype {array.dtype}; values are real numbers")
    if array.ndim != 2:
        raise InputError(f"{what} must have two dimensions (clips x features), got {_described(array)}")
    if array.shape[0] < rows or array.shape[1] < 1:
        raise InputError(f"{what} has shape {array.shape}; give at least {rows} row(s) and 1 column")
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(array, dtype=np.float32)
    if not is_finite and not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"{what}[{row}, {column}] is {array[row, column]}; values must be finite numbers that float32 can hold"
        )
    return values


def vector(given: ArrayLike, what: str) -> Doubles:
    """A vector of float64 values."""
    array = as_array(given, what)
    if array.dtype.kind not in "fiub":
        raise InputError(f"{what} has dtype {array.dtype}; values are real numbers")
    if array.ndim != 1:
        raise InputError(f"{what} must have one dimension, got {_described(array)}")
    return np.ascontiguousarray(array, dtype=np.float64)


def whole_number(given: Any, what: str, *, least: int = 0, most: int = 2**32 - 1) -> int:
    """An integer, also where it comes as a float without a fraction."""
    try:
        value = int(given) if isinstance(given, float) and given.is_integer() else operator.index(given)
    except TypeError:
        raise InputError(f"{what} must be a whole number, got {given!r}") from None
    if not least <= value <= most:
        raise InputError(f"{what} must be {least} to {most}, got {value}")
    return value


def number(given: Any, what: str) -> float:
    """A finite number."""
    if not isinstance(given, Real) or not math.isfinite(given):
        raise InputError(f"{what} must be a finite number, got {given!r}")
    return float(given)


def name(given: Any, what: str) -> str:
    """A name of something that is known here."""
    if not isinstance(given, str):
        raise InputError(f"{what} must be a name, got {given!r}")
    return given


def sample_rate(given: Any) -> int:
    """A sample rate in Hz."""
    return whole_number(given, "sample rate", least=1, most=10_000_000)


def texts(given: Iterable[Any] | str | None, count: int, what: str) -> list[str | None]:
    """One text for each of ``count`` things; a single text is that of all."""
    if given is None:
        return []
    if isinstance(given, str):
        return [given] * count
    if not isinstance(given, Iterable):
        raise InputError(f"{what} are texts, one for each recording ({count}), or one for all; got {given!r}")
    found = [None if one is None else str(one) for one in given]
    if len(found) != count:
        raise InputError(f"{what} needs one for each recording ({count}), got {len(found)}")
    return found
