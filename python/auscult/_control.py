"""What long work reports: progress to a bar or a function, notes to ``logging``, problems to ``warnings``."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from .errors import AuscultWarning, InputError

logger = logging.getLogger("auscult")
logger.addHandler(logging.NullHandler())


class Progress(NamedTuple):
    """How far a stage of long work is.

    >>> import auscult
    >>> auscult.Progress("files", 3, 12)
    Progress(what='files', done=3, total=12)
    """

    what: str
    """What is counted: ``files``, ``clips``, ``settings``, ``sections of ...``."""
    done: int
    """How many are done."""
    total: int
    """How many there are."""


#: A function that is told, ``True`` for a bar on standard error, or ``None``.
ProgressOption: TypeAlias = Callable[[Progress], Any] | bool | None


class Sink:
    """Takes the events of long work, in the thread that asked for it."""

    def __init__(self, progress: ProgressOption, stacklevel: int = 3) -> None:
        self._tell: Callable[[Progress], Any] | None = None
        self._bar: _Bar | None = None
        if progress is True:
            self._bar = _Bar()
            self._tell = self._bar
        elif callable(progress):
            self._tell = progress
        elif progress not in (None, False):
            raise InputError(f"progress must be a function, True or None, got {progress!r}")
        self._stacklevel = stacklevel
        self._state = Progress("", 0, 0)
        self.problems: list[str] = []
        """Everything that went wrong, in the order it did."""

    def __call__(self, kind: str, text: str, total: int) -> None:
        if kind == "advanced":
            self._report(self._state._replace(done=self._state.done + 1))
        elif kind == "started":
            logger.debug("started: %d %s", total, text)
            self._report(Progress(text, 0, total))
        elif kind == "problem":
            self.problems.append(text)
            warnings.warn(text, AuscultWarning, stacklevel=self._stacklevel)
        elif kind == "note":
            logger.info("%s", text)
        elif kind == "finished":
            logger.debug("finished: %s", self._state.what)
            if self._bar is not None:
                self._bar.close()

    def _report(self, state: Progress) -> None:
        self._state = state
        if self._tell is not None:
            self._tell(state)


class _Bar:
    """A bar on standard error: that of tqdm if it is installed."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __call__(self, state: Progress) -> None:
        if state.done == 0:
            self.close()
            self._bar = _open_bar(state)
        elif self._bar is not None:
            self._bar.update(1)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _open_bar(state: Progress) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _PlainBar(state)
    return tqdm(total=state.total, desc=state.what)


class _PlainBar:
    """The least a bar can do."""

    def __init__(self, state: Progress) -> None:
        self._state = state

    def update(self, count: int) -> None:
        self._state = self._state._replace(done=self._state.done + count)
        what, done, total = self._state
        sys.stderr.write(f"\r{what}: {done}/{total}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._state.done:
            sys.stderr.write("\n")
