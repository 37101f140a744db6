"""Figures of scores whose truth is known: areas, official scores of every DCASE year, intervals.

Labels are 0, False or ``normal`` for normal clips, 1, True, ``anomaly`` or ``anomalous`` for anomalies. A higher score is
further from normal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _native
from ._arrays import ArrayLike, Doubles
from .errors import InputError

__all__ = ["auc", "intervals", "official_scores", "pauc", "report"]

_NORMAL, _ANOMALOUS = {"normal", "0", "false"}, {"anomaly", "anomalous", "abnormal", "1", "true"}


def _labels(y: ArrayLike) -> NDArray[np.bool_]:
    array = np.asarray(y)
    if array.ndim != 1:
        raise InputError(f"labels must have one dimension, got shape {array.shape}")
    if array.dtype.kind in "biuf":
        odd = array[~np.isin(array, [0, 1])]
        if odd.size:
            raise InputError(f"labels are 0 (normal) or 1 (anomaly), got {odd[0]}")
        return array.astype(bool)
    words = [str(label).lower() for label in array]
    for word in words:
        if word not in _NORMAL | _ANOMALOUS:
            raise InputError(f"labels are normal or anomaly, got {word!r}")
    return np.array([word in _ANOMALOUS for word in words], dtype=bool)


def _sides(y: ArrayLike, s: ArrayLike) -> tuple[Doubles, Doubles]:
    labels, scores = _labels(y), _arrays.vector(s, "scores")
    if len(labels) != len(scores):
        raise InputError(f"every score needs a label; got {len(labels)} labels and {len(scores)} scores")
    if not np.isfinite(scores).all():
        at = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(f"score {at} is {scores[at]}; scores must be finite: leave out clips that were not scored")
    if labels.all() or not labels.any():
        raise InputError("labels of one kind only; an area needs normal clips and anomalies")
    return scores[~labels], scores[labels]


def auc(y: ArrayLike, s: ArrayLike) -> float:
    """The share of pairs in which the anomaly scores higher; ties count half.

    >>> import auscult
    >>> auscult.metrics.auc([0, 0, 1, 1], [1.0, 2.0, 2.0, 3.0])
    0.875
    """
    found = _native.auc(*_sides(y, s))
    assert found is not None
    return found


def pauc(y: ArrayLike, s: ArrayLike, *, max_fpr: float = 0.1) -> float:
    """The area up to a share of false positives, standardised as McClish does: 0.5 is chance, 1 is perfect.

    The same number as ``sklearn.metrics.roc_auc_score(y, s, max_fpr=max_fpr)``.

    >>> import auscult
    >>> auscult.metrics.pauc([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0])
    1.0
    """
    share = _arrays.number(max_fpr, "max_fpr")
    if not 0 < share <= 1:
        raise InputError(f"max_fpr must be above 0 and at most 1, got {share}")
    found = _native.partial_auc(*_sides(y, s), share)
    assert found is not None
    return found


def report(
    y: ArrayLike,
    s: ArrayLike,
    *,
    domain: Iterable[Any] | None = None,
    machine: Iterable[Any] | str | None = None,
    section: Iterable[Any] | str | None = None,
    threshold: float | None = None,
    samples: int = 1000,
    seed: int = 1,
) -> dict[str, Any]:
    """Every figure of a table of scores, as ``auscult metrics --json`` has it.

    >>> import auscult
    >>> found = auscult.metrics.report([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0])
    >>> found["auc"], found["normal"], found["anomalous"]
    (1.0, 2, 2)
    """
    labels, scores = _labels(y), _arrays.vector(s, "scores")
    count = len(scores)
    if len(labels) != count:
        raise InputError(f"every score needs a label; got {len(labels)} labels and {count} scores")
    domains = _arrays.texts(domain, count, "domain") or [None] * count
    machines = _arrays.texts(machine, count, "machine") or [None] * count
    sections = _arrays.texts(section, count, "section") or [None] * count
    rows: list[tuple[str, str, bool | None, str | None, float]] = [
        (machines[at] or "", sections[at] or "", bool(labels[at]), domains[at], float(scores[at])) for at in range(count)
    ]
    draws = _arrays.whole_number(samples, "samples")
    limit = None if threshold is None else _arrays.number(threshold, "threshold")
    found: dict[str, Any] = json.loads(
        _native.metrics_report(rows, draws, _arrays.whole_number(seed, "seed"), limit)
    )
    return found


def official_scores(
    y: ArrayLike,
    s: ArrayLike,
    *,
    domain: Iterable[Any] | None = None,
    machine: Iterable[Any] | str | None = None,
    section: Iterable[Any] | str | None = None,
) -> dict[str, float | None]:
    """One number for all sections in every year's convention; ``None`` where a figure is missing.

    >>> import auscult
    >>> scores = auscult.metrics.official_scores(
    ...     [0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], domain=["source", "target", "source", "target"]
    ... )
    >>> scores["dcase2023"]
    1.0
    """
    found = report(y, s, domain=domain, machine=machine, section=section, samples=100)
    official: dict[str, float | None] = found["official_scores"]
    return official


def intervals(y: ArrayLike, s: ArrayLike, *, samples: int = 1000, seed: int = 1) -> dict[str, dict[str, Any]]:
    """95 % intervals of the areas: by bootstrap, by jackknife, and the half width that DCASE evaluators print.

    >>> import auscult
    >>> found = auscult.metrics.intervals([0, 0, 0, 1, 1, 1], [1.0, 2.0, 3.0, 2.5, 4.0, 5.0])
    >>> found["auc"]["bootstrap"]["low"] <= found["auc"]["bootstrap"]["high"]
    True
    """
    found: dict[str, dict[str, Any]] = report(y, s, samples=samples, seed=seed)["intervals"]
    return found
