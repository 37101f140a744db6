"""The method, step by step, on plain arrays.

:func:`beam_scores` is the whole of it, and the only fast one. A new idea is tried by replacing one step: every step is a
parameter, and whatever is replaced by a function of your own is run in the open, band by band::

    beam_scores(references, queries, band_width=38, distance=my_distance)

References and queries are matrices, clips x features. Names are spelled out; the paper's symbols are in the texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _native
from ._arrays import ArrayLike, Doubles, Floats
from ._recordings import overrides
from .errors import InputError

__all__ = ["band_scores", "bands", "beam_scores", "cosine_distances", "diagnostics", "dmm", "left_out_scores", "local_scales"]

#: Distances of rows to other rows: (rows, others) -> rows x others.
Distance: TypeAlias = Callable[[Floats, Floats], Doubles]
#: Local scales from distances of references to each other: (distances, neighbours) -> one for each reference.
Scale: TypeAlias = Callable[[Doubles, int], Doubles]
#: What becomes of the scores of several bands or views: (clips x several) -> one for each clip.
Combine: TypeAlias = "str | Callable[[Doubles], Doubles]"

_COMBINE: dict[str, Callable[[Doubles], Doubles]] = {
    "mean": lambda scores: scores.mean(axis=1),
    "max": lambda scores: scores.max(axis=1),
    "min": lambda scores: scores.min(axis=1),
}

#: Duplicates would divide by zero.
_SMALLEST_SCALE = 1e-12


def bands(axis_len: int, width: int | None = None, stride: int | None = None) -> list[tuple[int, int]]:
    """Where bands start and end on an axis: windows of ``width`` (the paper's C) every ``stride`` (s) positions.

    Where the last one does not end with the axis, one more is added that does. Without a width there is one band.

    >>> import auscult
    >>> auscult.bands(128, 38)
    [(0, 38), (38, 76), (76, 114), (90, 128)]
    """
    axis_len = _arrays.whole_number(axis_len, "axis length", least=1)
    width = axis_len if width is None else _arrays.whole_number(width, "band width")
    stride = width if stride is None else _arrays.whole_number(stride, "band stride")
    return _native.bands(axis_len, width, stride)


def cosine_distances(rows: ArrayLike, others: ArrayLike | None = None, *, metric: str = "cosine") -> Doubles:
    """Distances of every row to every other row: (1 - cos) / 2, from 0 to 1, in the chord form that loses no digits.

    A zero vector is 0.5 from everything. ``metric`` may be ``unit-euclidean``, ``euclidean`` or ``squared-euclidean``.

    >>> import numpy as np, auscult
    >>> auscult.cosine_distances(np.eye(2), [[2.0, 0.0]]).round(3).tolist()
    [[0.0], [0.5]]
    """
    left = _arrays.matrix(rows, "rows")
    right = left if others is None else _arrays.matrix(others, "others")
    return _native.pairwise_distances(left, right, _arrays.name(metric, "metric"))


def local_scales(distances: ArrayLike, neighbours: int = 1) -> Doubles:
    """How far each reference's own nearest neighbours are: the sum of the ``neighbours`` (K) smallest distances.

    ``distances`` are those of references to each other; what is on the diagonal does not count. With one reference
    the scale is 1.

    >>> import numpy as np, auscult
    >>> auscult.local_scales(np.array([[0, 1, 4], [1, 0, 2], [4, 2, 0]])).tolist()
    [1.0, 1.0, 2.0]
    """
    given = _arrays.as_array(distances, "distances")
    if given.dtype.kind not in "fiub":
        raise InputError(f"distances has dtype {given.dtype}; values are real numbers")
    square = np.array(given, dtype=np.float64)
    if square.ndim != 2 or square.shape[0] != square.shape[1] or square.size == 0:
        raise InputError(f"distances must be a square matrix of references to each other, got shape {square.shape}")
    count = min(_arrays.whole_number(neighbours, "neighbours", least=1), len(square) - 1)
    if count == 0:
        return np.ones(1)
    np.fill_diagonal(square, np.inf)
    nearest = np.sort(np.partition(square, count - 1, axis=1)[:, :count], axis=1)
    scales: Doubles = np.maximum(nearest.sum(axis=1), _SMALLEST_SCALE)
    return scales


def _matrices(given: ArrayLike | Sequence[ArrayLike], what: str) -> list[Floats]:
    """One matrix, or the mean and the max view."""
    if isinstance(given, (list, tuple)) and len(given) == 2 and all(np.ndim(one) == 2 for one in given):
        return [_arrays.matrix(one, f"{what}[{at}]") for at, one in enumerate(given)]
    return [_arrays.matrix(given, what)]


def beam_scores(
    references: ArrayLike | Sequence[ArrayLike],
    queries: ArrayLike | Sequence[ArrayLike],
    *,
    band_width: int | None = None,
    band_stride: int | None = None,
    neighbours: int = 1,
    density_exponent: float | str = 1.0,
    density_rule: str = "minimum-ratio",
    metric: str = "cosine",
    aggregate: Combine = "mean",
    fuse: Combine = "mean",
    distance: Distance | None = None,
    scale: Scale | None = None,
) -> Doubles:
    """How far each query is from the references: BEAM, and AdaBEAM if both views are given.

    In each band the smallest of distance / local scale ^ ``density_exponent`` over references (equation 7), then the
    mean over bands (``aggregate``). Without ``band_width`` there is one band: global matching. ``neighbours=0`` compares
    plain distances. Two matrices each are the mean and the max view, scored both and fused (:func:`dmm`).

    ``distance``, ``scale``, and functions for ``aggregate`` and ``fuse`` take the place of a step.

    >>> import numpy as np, auscult
    >>> rng = np.random.default_rng(0)
    >>> references, queries = rng.normal(size=(50, 128)) + 9, rng.normal(size=(4, 128)) + 9
    >>> fast = auscult.beam_scores(references, queries, band_width=38)
    >>> slow = auscult.beam_scores(references, queries, band_width=38, distance=auscult.cosine_distances)
    >>> bool(np.allclose(fast, slow, rtol=1e-9))
    True
    """
    known, asked = _matrices(references, "references"), _matrices(queries, "queries")
    _check_views(known, asked)
    neighbours = _arrays.whole_number(neighbours, "neighbours")
    if distance is None and scale is None and isinstance(aggregate, str) and isinstance(fuse, str):
        given = overrides(
            band_width=band_width,
            band_stride=band_stride,
            neighbours=neighbours,
            density_exponent=density_exponent,
            density_rule=density_rule,
            metric=metric,
            aggregate=aggregate,
            fuse=fuse,
        )
        return _native.Detector(known, given, None, True).score(asked)
    if density_exponent == "auto":
        raise InputError("density_exponent auto is learnt by the detector; with steps of your own give a number")
    rule = _Rule(float(density_exponent), density_rule, neighbours)
    measure = distance or (lambda rows, others: cosine_distances(rows, others, metric=metric))
    scores = []
    for memory, clips in zip(known, asked):
        layout = bands(memory.shape[1], band_width, band_stride)
        of_bands = [_one_band(memory[:, a:b], clips[:, a:b], measure, scale or local_scales, rule) for a, b in layout]
        scores.append(_combined(np.stack(of_bands, axis=1), aggregate, "aggregate"))
    return scores[0] if len(scores) == 1 else dmm(*scores, fuse=fuse)


def _check_views(known: list[Floats], asked: list[Floats]) -> None:
    if len(known) != len(asked):
        raise InputError(f"references have {len(known)} view(s) and queries {len(asked)}; give the same")
    for left, right in zip(known, asked):
        if left.shape[1] != right.shape[1]:
            raise InputError(f"references have {left.shape[1]} features and queries {right.shape[1]}; give the same")


class _Rule:
    """How a distance becomes a ratio."""

    def __init__(self, exponent: float, rule: str, neighbours: int) -> None:
        if rule not in ("minimum-ratio", "at-nearest"):
            raise InputError(f'unknown density rule "{rule}"; known: minimum-ratio, at-nearest')
        if exponent not in (0.0, 1.0):
            raise InputError(f"with steps of your own density_exponent must be 0 or 1, got {exponent}")
        self.exponent, self.rule, self.neighbours = exponent, rule, neighbours


def _one_band(memory: Floats, clips: Floats, distance: Distance, scale: Scale, rule: _Rule) -> Doubles:
    found = np.asarray(distance(np.ascontiguousarray(clips), np.ascontiguousarray(memory)), dtype=np.float64)
    if found.shape != (len(clips), len(memory)):
        raise InputError(f"distance must give {len(clips)} x {len(memory)} values, got shape {found.shape}")
    if rule.neighbours == 0 or rule.exponent == 0:
        smallest: Doubles = found.min(axis=1)
        return smallest
    own = np.ascontiguousarray(memory)
    ratios = found / np.asarray(scale(np.asarray(distance(own, own), dtype=np.float64), rule.neighbours))
    if rule.rule == "at-nearest":
        nearest: Doubles = ratios[np.arange(len(clips)), found.argmin(axis=1)]
        return nearest
    least: Doubles = ratios.min(axis=1)
    return least


def _combined(scores: Doubles, combine: Combine, what: str) -> Doubles:
    if isinstance(combine, str):
        if combine not in _COMBINE:
            raise InputError(f'unknown way to {what} "{combine}"; known: mean, max, min, or a function')
        return _COMBINE[combine](scores)
    found = np.asarray(combine(scores), dtype=np.float64)
    if found.shape != (len(scores),):
        raise InputError(f"{what} must give one value for each of {len(scores)} clips, got shape {found.shape}")
    return found


def band_scores(
    references: ArrayLike,
    queries: ArrayLike,
    *,
    band_width: int | None = None,
    band_stride: int | None = None,
    neighbours: int = 1,
    density_exponent: float | str = 1.0,
    density_rule: str = "minimum-ratio",
    metric: str = "cosine",
) -> tuple[Doubles, NDArray[np.int64]]:
    """The score of each band, clips x bands, and the reference each band was closest to.

    >>> import numpy as np, auscult
    >>> rows = np.random.default_rng(0).normal(size=(9, 20)) + 5
    >>> scores, nearest = auscult.method.band_scores(rows, rows[:2], band_width=10)
    >>> scores.tolist(), nearest.tolist()
    ([[0.0, 0.0], [0.0, 0.0]], [[0, 0], [1, 1]])
    """
    known, asked = [_arrays.matrix(references, "references")], [_arrays.matrix(queries, "queries")]
    _check_views(known, asked)
    given = overrides(
        band_width=band_width,
        band_stride=band_stride,
        neighbours=neighbours,
        density_exponent=density_exponent,
        density_rule=density_rule,
        metric=metric,
    )
    detector = _native.Detector(known, given, None, True)
    return detector.band_scores(asked)[0], detector.nearest(asked)[0]


def left_out_scores(
    references: ArrayLike | Sequence[ArrayLike],
    *,
    groups: Iterable[Any] | None = None,
    band_width: int | None = None,
    band_stride: int | None = None,
    neighbours: int = 1,
    density_exponent: float | str = 1.0,
    density_rule: str = "minimum-ratio",
    metric: str = "cosine",
    aggregate: str = "mean",
    fuse: str = "mean",
) -> Doubles:
    """The score of each reference against the others: what unseen normal clips score.

    A left-out reference is also gone from its neighbours' local scales. ``groups`` (visits) leave together; without
    them each leaves alone. NaN for a single reference.

    >>> import numpy as np, auscult
    >>> rows = np.random.default_rng(0).normal(size=(9, 20)) + 5
    >>> auscult.left_out_scores(rows, neighbours=0).shape
    (9,)
    """
    known = _matrices(references, "references")
    given = overrides(
        band_width=band_width,
        band_stride=band_stride,
        neighbours=neighbours,
        density_exponent=density_exponent,
        density_rule=density_rule,
        metric=metric,
        aggregate=aggregate,
        fuse=fuse,
    )
    return _native.Detector(known, given, group_names(groups, len(known[0])), False).left_out_scores()


def group_names(groups: Iterable[Any] | None, count: int) -> list[str] | None:
    """The group of each of ``count`` clips; without two of them nothing would be left in memory."""
    if groups is None:
        return None
    names = [str(group) for group in groups]
    if len(names) != count:
        raise InputError(f"groups need one for each clip ({count}), got {len(names)}")
    if len(set(names)) < 2:
        raise InputError(f"all clips are of group {names[0]!r}; give at least 2 groups, or none to leave out clip by clip")
    return names


def dmm(mean_scores: ArrayLike, max_scores: ArrayLike, *, fuse: Combine = "mean") -> Doubles:
    """Fuses the scores of the mean and the max view of each clip (dynamic mean-max, the paper's equation 8).

    >>> import auscult
    >>> auscult.dmm([1.0, 2.0], [3.0, 0.0]).tolist()
    [2.0, 1.0]
    """
    left, right = _arrays.vector(mean_scores, "mean scores"), _arrays.vector(max_scores, "max scores")
    if left.shape != right.shape:
        raise InputError(f"both views need the same number of scores, got {len(left)} and {len(right)}")
    return _combined(np.stack([left, right], axis=1), fuse, "fuse")


def diagnostics(
    references: ArrayLike,
    queries: ArrayLike,
    labels: ArrayLike,
    *,
    band_width: int | None = None,
    band_stride: int | None = None,
    neighbours: int = 0,
    domains: Iterable[Any] | None = None,
) -> dict[str, Any]:
    """Every quantity of the paper's appendix: why bands help or not.

    ``labels`` are 0 or False for normal clips and 1 or True for anomalies; ``domains`` are ``source`` and ``target``.
    The key ``clips`` has an array for each quantity of a clip: ``global`` (S_glob), ``uniform`` (S_uni), ``sub_band``
    (S_sub), ``penalty`` (P), ``deviation`` (B), ``coupling`` (rho), ``nearest``. The key ``summary`` has variances,
    gaps, d', the ratios g0 (``within_ratio``), gamma (``between_ratio``), lambda (``covariance_ratio``), p0
    (``penalty_ratio``), the bound C_var (``variance_bound``), and whether Proposition 1 and Theorem 1 hold; it is
    ``None`` without clips of both kinds.

    >>> import numpy as np, auscult
    >>> rng = np.random.default_rng(0)
    >>> found = auscult.diagnostics(
    ...     rng.normal(size=(40, 60)) + 4, rng.normal(size=(20, 60)) + 4, [0] * 10 + [1] * 10, band_width=20
    ... )
    >>> found["clips"]["sub_band"].shape, found["summary"]["bands"]
    ((20,), 3)
    """
    known, asked = _arrays.matrix(references, "references"), _arrays.matrix(queries, "queries")
    _check_views([known], [asked])
    anomalous = _arrays.vector(labels, "labels").astype(bool).tolist()
    given = [None] * len(anomalous) if domains is None else domains
    names = [None if one is None else str(one) for one in given]
    width = known.shape[1] if band_width is None else _arrays.whole_number(band_width, "band width")
    stride = width if band_stride is None else _arrays.whole_number(band_stride, "band stride")
    text = _native.diagnostics(known, asked, anomalous, names, (width, stride), _arrays.whole_number(neighbours, "neighbours"))
    found = json.loads(text)
    clips = {name: np.array([clip[name] for clip in found["clips"]]) for name in found["clips"][0]}
    return {"clips": clips, "summary": found["summary"]}
