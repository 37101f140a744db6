"""Embeddings of the caller's own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from . import _arrays
from ._arrays import ArrayLike, Floats
from ._control import Sink
from .errors import AuscultError, FrontEndError, InputError

#: (samples, sample_rate) -> a vector, or frames x features.
Embedding: TypeAlias = Callable[[Floats, int], ArrayLike]

#: Numbers of a probe that tell one function from another.
_PROBES = 8


#: Exceptions that are remembered, of calls that may go on at the same time.
_REMEMBERED = 8


class Function:
    """An embedding as the native module calls it: its results have the form that was promised."""

    def __init__(self, embedding: Embedding) -> None:
        self.embedding = embedding
        self.name = str(getattr(embedding, "__qualname__", None) or type(embedding).__qualname__)
        self._raised: deque[tuple[str, BaseException]] = deque(maxlen=_REMEMBERED)

    def _frames(self, samples: Floats, sample_rate: int, axis_len: int | None = None) -> tuple[Floats, bool]:
        try:
            given = _arrays.as_array(self.embedding(samples, sample_rate), "what the front end gave")
            has_frames = given.ndim == 2
            if given.ndim not in (1, 2):
                raise InputError(
                    f"what the front end gave must be a vector or frames x features, got shape {given.shape} "
                    f"and dtype {given.dtype}"
                )
            frames = _arrays.matrix(given if has_frames else given[None], "what the front end gave")
            if axis_len is not None and frames.shape[1] != axis_len:
                raise InputError(f"the front end gave {frames.shape[1]} features, and {axis_len} before")
        except BaseException as error:
            self._raised.append((_told(error), error))
            raise
        return frames, has_frames

    def describe(self, samples: int, sample_rate: int) -> tuple[int, bool, list[float]]:
        """Features, whether there are frames, and some of the numbers that a sweep gives."""
        time = np.arange(samples, dtype=np.float64) / samples
        sweep = (0.1 * np.sin(1e3 * time + 2e4 * time**2)).astype(np.float32)
        frames, has_frames = self._frames(sweep, sample_rate)
        mean = frames.mean(axis=0, dtype=np.float64)
        chosen = mean[np.linspace(0, len(mean) - 1, min(_PROBES, len(mean))).astype(int)]
        return frames.shape[1], has_frames, chosen.tolist()

    def __call__(self, samples: Floats, sample_rate: int, axis_len: int) -> Floats:
        return self._frames(samples, sample_rate, axis_len)[0]

    def raise_cause(self, problems: Iterable[str]) -> None:
        """Raises what the function raised, if one of these problems of a call speaks of it."""
        raised = list(self._raised)
        for problem in problems:
            for told, error in raised:
                if told.splitlines()[0] in problem:
                    if not isinstance(error, Exception):
                        raise error
                    raise FrontEndError(told) from error

    def __reduce__(self) -> tuple[Any, ...]:
        return Function, (self.embedding,)


def _told(error: BaseException) -> str:
    """The text of an exception in errors of the native module."""
    return f"{type(error).__qualname__}: {error}".strip()


@contextmanager
def chained(function: Function | None, sink: Sink | None = None) -> Iterator[None]:
    """Raises what a function raised in this call, also where a clip would only have been left out for it."""
    if function is None:
        yield
        return
    problems = [] if sink is None else sink.problems
    try:
        yield
    except AuscultError as error:
        function.raise_cause([str(error), *problems])
        raise
    function.raise_cause(problems)


def function_of(front_end: Any) -> Function | None:
    """The function of a front end that is one; ``None`` for a name or nothing."""
    if front_end is None or isinstance(front_end, str):
        return None
    if not callable(front_end):
        raise InputError(
            f"front_end must be a name or a function (samples, sample_rate), got {type(front_end).__name__}"
        )
    return Function(front_end)
