"""Training-free anomalous sound detection for machines.

A machine remembers how it sounds when it is well; new sound is compared with that, clip by clip and band by band::

    import auscult

    pump = auscult.Machine.learn("recordings/")      # sub-folders are visits
    pump.save("pump.auscult")
    scores = pump.score(["today.wav"])
    print(scores.verdict, scores.reason)

==========================  =====================================================================
:class:`Machine`            learn, open, save, score, explain, calibrate, add, forget, tune, report, live
:mod:`auscult.sklearn`      detectors with the interface of scikit-learn
:mod:`auscult.features`     log-mel, MFCC, LPC, modulation and encoders on arrays
:mod:`auscult.method`       the steps of the method on arrays
:mod:`auscult.metrics`      areas, official scores, intervals
:mod:`auscult.datasets`     published data sets as tables, and made-up ones
:mod:`auscult.archive`      millions of recordings, shard by shard; :mod:`auscult.ray` on a cluster
:mod:`auscult.bench`        protocols, with embeddings of your own
:mod:`auscult.plot`         pictures
:mod:`auscult.errors`       exceptions and warnings
==========================  =====================================================================
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _native, archive, bench, datasets, errors, features, method, metrics
from ._control import Progress
from ._live import Live
from ._machine import Machine
from ._scores import BandReason, Explanation, Record, Scores
from ._tuned import TunedSettings
from .errors import (
    AuscultError,
    AuscultWarning,
    BudgetError,
    EvaluationError,
    FrontEndError,
    InputError,
    LabelFoldersError,
    ModelError,
    ModelNotFoundError,
    NothingToLearnError,
    SoundError,
    SoundNotFoundError,
    StoppedError,
    TargetError,
    UnusableClipError,
)
from .method import bands, beam_scores, cosine_distances, diagnostics, dmm, left_out_scores, local_scales

if TYPE_CHECKING:
    from . import plot as plot
    from . import ray as ray
    from . import sklearn as sklearn

__version__: str = _native.version()

__all__ = [
    "AuscultError",
    "AuscultWarning",
    "BandReason",
    "BudgetError",
    "EvaluationError",
    "Explanation",
    "FrontEndError",
    "InputError",
    "LabelFoldersError",
    "Live",
    "Machine",
    "ModelError",
    "ModelNotFoundError",
    "NothingToLearnError",
    "Progress",
    "Record",
    "Scores",
    "SoundError",
    "SoundNotFoundError",
    "StoppedError",
    "TargetError",
    "TunedSettings",
    "UnusableClipError",
    "archive",
    "bands",
    "beam_scores",
    "bench",
    "cosine_distances",
    "datasets",
    "diagnostics",
    "dmm",
    "errors",
    "features",
    "left_out_scores",
    "local_scales",
    "method",
    "metrics",
    "set_threads",
    "thread_count",
]

#: Modules that need another package, so they wait until they are asked for.
_LATER = ("plot", "ray", "sklearn")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def set_threads(count: int = 0) -> None:
    """Uses this many threads from now on; 0 is as many as there are cores.

    >>> import auscult
    >>> auscult.set_threads(2)
    >>> auscult.thread_count()
    2
    >>> auscult.set_threads()
    """
    from ._arrays import whole_number

    _native.set_threads(whole_number(count, "threads", most=1024))


def thread_count() -> int:
    """How many threads are used.

    >>> import auscult
    >>> auscult.thread_count() >= 1
    True
    """
    return _native.thread_count()
