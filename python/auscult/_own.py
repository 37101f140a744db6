"""Embeddings of the caller's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from . import _arrays
from ._arrays import ArrayLike, Floats
from .errors import FrontEndError, InputError

#: (samples, sample_rate) -> a vector, or frames x features.
Embedding: TypeAlias = Callable[[Floats, int], ArrayLike]

#: Numbers of a probe that tell one function from another.
_PROBES = 8


class Function:
    """An embedding as the native module calls it: its results have the form that was promised."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.name = str(getattr(embedding, "__qualname__", None) or type(embedding).__qualname__)
        self.error: Exception | None = None
        """What the embedding raised last."""

    def _frames(self, samples: Floats, sample_rate: int) -> tuple[Floats, bool]:
        try:
            given = _arrays.as_array(self.embedding(samples, sample_rate), "what the front end gave")
            has_frames = given.ndim == 2
            return _arrays.matrix(given[None] if given.ndim == 1 else given, "what the front end gave"), has_frames
        except Exception as error:
            self.error = error
            raise

    def describe(self, samples: int, sample_rate: int) -> tuple[int, bool, list[float]]:
        """Features, whether there are frames, and some of the numbers that a sweep gives."""
        time = np.arange(samples, dtype=np.float64) / samples
        sweep = (0.1 * np.sin(1e3 * time + 2e4 * time**2)).astype(np.float32)
        frames, has_frames = self._frames(sweep, sample_rate)
        mean = frames.mean(axis=0, dtype=np.float64)
        chosen = mean[np.linspace(0, len(mean) - 1, min(_PROBES, len(mean))).astype(int)]
        return frames.shape[1], has_frames, chosen.tolist()

    def __call__(self, samples: Floats, sample_rate: int, axis_len: int) -> Floats:
        frames, _ = self._frames(samples, sample_rate)
        if frames.shape[1] != axis_len:
            self.error = InputError(f"the front end gave {frames.shape[1]} features, and {axis_len} before")
            raise self.error
        return frames


@contextmanager
def chained(function: Function | None) -> Iterator[None]:
    """Raises what a function raised, also where a clip would only have been left out for it."""
    if function is None:
        yield
        return
    function.error = None
    try:
        yield
    except FrontEndError as error:
        if function.error is None:
            raise
        raise error from function.error
    if function.error is not None:
        error = function.error
        raise FrontEndError(f"{type(error).__name__}: {error}") from error


def function_of(front_end: Any) -> Function | None:
    """The function of a front end that is one; ``None`` for a name or nothing."""
    if front_end is None or isinstance(front_end, str):
        return None
    if not callable(front_end):
        raise InputError(
            f"front_end must be a name or a function (samples, sample_rate), got {type(front_end).__name__}"
        )
    return Function(front_end)
