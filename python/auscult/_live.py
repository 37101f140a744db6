"""Sound as it comes."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from . import _arrays, _native
from ._arrays import ArrayLike
from ._scores import Scores

if TYPE_CHECKING:
    from typing_extensions import Self


class Live:
    """Sound as it comes; made by :meth:`Machine.live`. Pushing is safe from one thread at a time.

    >>> import numpy as np, auscult
    >>> clips = np.random.default_rng(2).normal(0, 0.1, (20, 16000))
    >>> machine = auscult.Machine.learn(
    ...     clips, sample_rate=16000, visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0
    ... )
    >>> with machine.live(16000) as live:
    ...     records = live.push(np.concatenate(clips[:3]))
    >>> len(records), live.seconds_left
    (3, 0.0)
    >>> resampled = machine.live(8000)
    >>> len(resampled.push(clips[0, ::2])), len(resampled.finish())
    (0, 1)
    """

    def __init__(self, native: _native.Live, machine: _native.Machine) -> None:
        self._native = native
        self._machine = machine
        self.seconds_left = 0.0
        """Sound at the end that was too short for a clip; known once it is finished."""

    def push(self, chunk: ArrayLike) -> Scores:
        """Takes the next samples, of any number, and gives the records of the clips they complete."""
        array = _arrays.as_array(chunk, "chunk")
        if array.size == 0 and array.ndim == 1:
            return Scores(_native.Records(), self._machine)
        records = self._native.push(_arrays.samples(array, "chunk"))
        return Scores(_native.Records() if records is None else records, self._machine)

    def finish(self) -> Scores:
        """Ends the sound: resampled sound may complete a last clip."""
        records, self.seconds_left = self._native.finish()
        self._is_finished = True
        return Scores(records, self._machine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not getattr(self, "_is_finished", False):
            self.finish()
