"""Pictures with matplotlib (the extra ``plot``). Every function draws on ``axes`` or a new one, and returns it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays
from ._arrays import ArrayLike
from ._extras import needed
from ._html import usual
from .errors import InputError
from .features import edges, log_mel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._machine import Machine
    from ._scores import Scores

__all__ = ["histogram", "scores", "spectrogram", "sweep"]

_INK, _WARN = "#2a6fbb", "#c0392b"


def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    made: Axes = needed("matplotlib.pyplot", "plot").subplots(figsize=(8, 3), layout="constrained")[1]
    return made


def spectrogram(
    x: ArrayLike,
    sr: int,
    *,
    convention: str = "dcase",
    bands: int | Iterable[tuple[float, float]] | None = None,
    axes: Axes | None = None,
) -> Axes:
    """A log-mel spectrogram with bands marked: windows of that many mel bins, or pairs of frequencies in Hz.

    >>> import numpy as np, matplotlib, auscult
    >>> matplotlib.use("Agg")
    >>> axes = auscult.plot.spectrogram(np.random.default_rng(0).normal(0, 0.1, 16000), 16000, bands=38)
    >>> axes.get_ylabel()
    'Hz'
    """
    samples, rate = _arrays.samples(x, "x"), _arrays.sample_rate(sr)
    frames = np.asarray(log_mel(samples, rate, convention))
    axes, bins = _axes(axes), frames.shape[1]
    seconds = len(samples) / rate
    image = axes.imshow(frames.T, origin="lower", aspect="auto", extent=(0, seconds, 0, bins), cmap="viridis")
    axes.figure.colorbar(image, ax=axes, label="level")
    limits = edges(rate, convention, seconds)
    marked = _marked(bands, bins, limits)
    for start, end in marked:
        axes.axhspan(start, end, fill=False, edgecolor=_WARN, linewidth=1.5)
    ticks = np.linspace(0, bins - 1, 6).astype(int)
    axes.set_yticks(ticks, [f"{limits[at, 0]:.0f}" for at in ticks])
    axes.set(xlabel="s", ylabel="Hz")
    return axes


def _marked(
    bands: int | Iterable[tuple[float, float]] | None, bins: int, limits: np.ndarray[Any, Any]
) -> list[tuple[float, float]]:
    if bands is None:
        return []
    if not isinstance(bands, Iterable):
        from .method import bands as layout

        width = _arrays.whole_number(bands, "band width")
        return [(float(start), float(end)) for start, end in layout(bins, width)]
    middle = limits.mean(axis=1)
    places = np.arange(bins) + 0.5
    return [(float(np.interp(low, middle, places)), float(np.interp(high, middle, places))) for low, high in bands]


def scores(scores: Scores, *, threshold: float | None = None, axes: Axes | None = None) -> Axes:
    """Scores clip by clip, anomalous ones in red, with a threshold.

    >>> import numpy as np, matplotlib, auscult
    >>> matplotlib.use("Agg")
    >>> clips = np.random.default_rng(2).normal(0, 0.1, (20, 16000))
    >>> machine = auscult.Machine.learn(
    ...     clips, sample_rate=16000, visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0
    ... )
    >>> found = machine.score(clips[:5], sample_rate=16000)
    >>> auscult.plot.scores(found, threshold=machine.threshold).get_xlabel()
    'clip'
    """
    axes = _axes(axes)
    at, odd = np.arange(len(scores)), scores.is_anomalous
    axes.plot(at[~odd], scores.score[~odd], "o", color=_INK, label="normal")
    axes.plot(at[odd], scores.score[odd], "o", color=_WARN, label="anomalous")
    if threshold is not None:
        axes.axhline(threshold, color=_WARN, linestyle="--", label="threshold")
    unit = usual(scores.score, threshold)
    if unit is not None:
        axes.set_yscale("asinh", linear_width=unit)
        axes.set_ylim(bottom=min(0.0, float(np.nanmin(scores.score))))
    axes.set(xlabel="clip", ylabel="score")
    axes.legend()
    return axes


def histogram(
    machine: Machine, scores: Scores | None = None, *, bins: int = 32, axes: Axes | None = None
) -> Axes:
    """How normal clips score when they are left out, with the threshold; and how these clips score.

    >>> import numpy as np, matplotlib, auscult
    >>> matplotlib.use("Agg")
    >>> machine = auscult.Machine.learn(
    ...     np.random.default_rng(2).normal(0, 0.1, (20, 16000)), sample_rate=16000,
    ...     visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0,
    ... )
    >>> auscult.plot.histogram(machine).get_ylabel()
    'clips'
    """
    axes = _axes(axes)
    normal = machine.calibration_scores
    found = np.empty(0) if scores is None else scores.score[np.isfinite(scores.score)]
    both = np.concatenate([normal, found])
    unit = usual(both, machine.threshold)
    if unit is None:
        places = np.histogram_bin_edges(both, bins=bins)
    else:
        places = unit * np.sinh(np.histogram_bin_edges(np.arcsinh(both / unit), bins=bins))
        axes.set_xscale("asinh", linear_width=unit)
    axes.hist(normal, bins=list(places), color=_INK, alpha=0.7, label="normal, left out")
    if found.size:
        axes.hist(found, bins=list(places), color=_WARN, alpha=0.5, label="these clips")
    if machine.threshold is not None:
        axes.axvline(machine.threshold, color=_WARN, linestyle="--", label="threshold")
    axes.set(xlabel="score", ylabel="clips")
    axes.legend()
    return axes


def sweep(
    values: Mapping[Any, float] | Iterable[Any],
    figures: ArrayLike | None = None,
    *,
    label: str = "neighbours K",
    figure: str = "official score in %",
    axes: Axes | None = None,
) -> Axes:
    """A figure over the values of a setting, such as K or the band width: a mapping, or values and their figures.

    >>> import matplotlib, auscult
    >>> matplotlib.use("Agg")
    >>> auscult.plot.sweep({1: 60.0, 2: 61.5, 4: 61.0}, label="K").get_xlabel()
    'K'
    """
    if isinstance(values, Mapping):
        pairs = list(values.items())
    else:
        if figures is None:
            raise InputError("a sweep needs a figure for each value: give a mapping, or values and figures")
        pairs = list(zip(values, _arrays.vector(figures, "figures"), strict=True))
    if not pairs:
        raise InputError("a sweep needs at least 1 value")
    axes = _axes(axes)
    axes.plot(range(len(pairs)), [pair[1] for pair in pairs], "o-", color=_INK)
    axes.set_xticks(range(len(pairs)), [str(pair[0]) for pair in pairs])
    axes.set(xlabel=label, ylabel=figure)
    return axes
