"""Detectors with the interface of scikit-learn; needs scikit-learn.

scikit-learn's meaning holds everywhere here: ``score_samples`` and ``decision_function`` are higher for what is more
normal, ``predict`` gives +1 for normal and -1 for anomalous, and ``contamination`` is the share of training clips beyond
the threshold. ``decision_scores_`` (higher is more anomalous), ``labels_`` (0 and 1) and ``threshold_`` are those of PyOD.

A clip that is itself remembered is compared with the others: its score is its left-out score. Otherwise every training
clip would be at distance 0 from itself, and ``predict`` would say nothing about them.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _native
from ._arrays import ArrayLike, Doubles, Floats
from ._extras import needed
from ._recordings import overrides
from .errors import InputError
from .method import group_names

needed("sklearn", "sklearn")
from sklearn.base import BaseEstimator, OutlierMixin  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BandDetector", "BeamDetector"]


class _Detector(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """What both detectors share: a memory, and a threshold from left-out scores."""

    band_width: int | str | None
    band_stride: int | None
    neighbours: int
    density_exponent: float | str
    density_rule: str
    metric: str
    aggregate: str
    contamination: float | str

    def _overrides(self) -> str:
        names = ("band_width", "band_stride", "neighbours", "density_exponent", "density_rule", "metric", "aggregate")
        return overrides(**{name: getattr(self, name) for name in names}, fuse=getattr(self, "fuse", None))

    def _share(self) -> float:
        share = self.contamination
        if share == "auto":
            return 0.1
        if isinstance(share, str) or not isinstance(share, Real) or not 0 < share <= 0.5:
            raise InputError(f'contamination must be "auto", or above 0 and at most 0.5, got {share!r}')
        return float(share)

    def _remember(self, matrices: list[Floats], groups: Iterable[Any] | None) -> Self:
        share = self._share()
        names = group_names(groups, len(matrices[0]))
        self._fitted_with = self._overrides()
        self._detector = _native.Detector(matrices, self._fitted_with, names, False)
        scores = self._detector.left_out_scores()
        # One clip has nothing to be compared with.
        self.decision_scores_: Doubles = np.where(np.isnan(scores), 0.0, scores)
        self.offset_ = float(np.percentile(-self.decision_scores_, 100.0 * share))
        self.threshold_ = -self.offset_
        self.labels_: NDArray[np.int64] = (self.decision_scores_ > self.threshold_).astype(np.int64)
        return self

    def _score(self, matrices: list[Floats]) -> Doubles:
        scores = self._detector.score(matrices)
        # Only what is remembered is at no distance from it.
        zeros = np.flatnonzero(scores == 0)
        if zeros.size:
            known = self._known()
            for at in zeros:
                index = known.get(_row(matrices, int(at)))
                if index is not None:
                    scores[at] = self.decision_scores_[index]
        return -scores

    def _known(self) -> dict[bytes, int]:
        """Where each remembered clip is; the first of copies."""
        references = self.references_
        return {_row(references, at): at for at in reversed(range(len(references[0])))}

    @property
    def references_(self) -> list[Floats]:
        """A copy of the remembered clips, one matrix a view, float32."""
        return self._detector.references()

    def decision_function(self, X: ArrayLike) -> Doubles:
        """How normal each clip is above the threshold; negative for anomalous ones.

        >>> import numpy as np
        >>> from auscult.sklearn import BandDetector
        >>> X = np.random.default_rng(0).normal(size=(50, 16)) + 4
        >>> BandDetector().fit(X).decision_function(X[:3]).shape
        (3,)
        """
        scores: Doubles = self.score_samples(X) - self.offset_
        return scores

    def score_samples(self, X: ArrayLike) -> Doubles:
        """How normal each clip is."""
        raise NotImplementedError

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """+1 for normal clips, -1 for anomalous ones.

        >>> import numpy as np
        >>> from auscult.sklearn import BandDetector
        >>> X = np.random.default_rng(0).normal(size=(50, 16)) + 4
        >>> BandDetector().fit(X).predict(-X[:2]).tolist()
        [-1, -1]
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Remembers clips."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        detector = state.pop("_detector", None)
        return state if detector is None else state | {"_references": detector.references()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        references = state.pop("_references", None)
        super().__setstate__(state)
        if references is not None:
            self._detector = _native.Detector(references, self._fitted_with, None, True)


def _row(matrices: list[Floats], at: int) -> bytes:
    # The two zeros are one number, and adding one makes them so.
    return b"".join((matrix[at] + np.float32(0)).tobytes() for matrix in matrices)


def _matrix(checked: NDArray[Any]) -> Floats:
    # Numbers that float64 can hold may be too large for float32.
    return _arrays.matrix(checked, "X", is_finite=checked.dtype == np.float32)


class BandDetector(_Detector):
    """Nearest references band by band, on feature matrices (clips x features).

    Features are not to be centred: the cosine sees directions from zero, and after a ``StandardScaler`` every direction
    is as good as any other. Where features must be scaled, take ``metric="euclidean"``.

    Parameters
    ----------
    band_width, band_stride
        Features in a band, and between the starts of bands. Without a width there is one band: every feature.
    neighbours
        Neighbours in local density normalisation; 0 compares plain distances.
    density_exponent
        How much of the local density counts: 0 to 1, or ``auto``.
    density_rule
        ``minimum-ratio`` or ``at-nearest``.
    metric
        ``cosine``, ``scaled``, ``unit-euclidean``, ``euclidean`` or ``squared-euclidean``.
    aggregate
        How band scores become one: ``mean``, ``max`` or ``min``.
    contamination
        Share of training clips beyond the threshold; ``auto`` is 0.1.

    Attributes
    ----------
    offset_ : float
        ``decision_function = score_samples - offset_``.
    decision_scores_, labels_, threshold_
        Left-out scores of the training clips (higher is more anomalous), 1 for those above ``threshold_``; as in PyOD.
    references_ : list of ndarray
        The remembered clips, float32.

    >>> import numpy as np
    >>> from auscult.sklearn import BandDetector
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(100, 128)) + 4, rng.normal(size=(3, 128))
    >>> detector = BandDetector(band_width=38, neighbours=1).fit(X)
    >>> bool((detector.score_samples(Y) < detector.score_samples(X).min()).all())
    True
    """

    def __init__(
        self,
        band_width: int | None = None,
        band_stride: int | None = None,
        neighbours: int = 1,
        density_exponent: float | str = 1.0,
        density_rule: str = "minimum-ratio",
        metric: str = "cosine",
        aggregate: str = "mean",
        contamination: float | str = "auto",
    ) -> None:
        self.band_width = band_width
        self.band_stride = band_stride
        self.neighbours = neighbours
        self.density_exponent = density_exponent
        self.density_rule = density_rule
        self.metric = metric
        self.aggregate = aggregate
        self.contamination = contamination

    def fit(self, X: ArrayLike, y: Any = None, groups: Iterable[Any] | None = None) -> Self:
        """Remembers normal clips. Clips of one group (a visit) leave together in left-out scores.

        >>> import numpy as np
        >>> from auscult.sklearn import BandDetector
        >>> BandDetector().fit(np.random.default_rng(0).normal(size=(50, 16)) + 4).n_features_in_
        16
        """
        checked = validate_data(self, X, dtype=[np.float32, np.float64], ensure_min_samples=2)
        return self._remember([_matrix(checked)], groups)

    def score_samples(self, X: ArrayLike) -> Doubles:
        """How normal each clip is: minus its score, so that higher is more normal.

        >>> import numpy as np
        >>> from auscult.sklearn import BandDetector
        >>> X = np.random.default_rng(0).normal(size=(50, 16)) + 4
        >>> detector = BandDetector().fit(X)
        >>> bool((detector.score_samples(X) == -detector.decision_scores_).all())
        True
        """
        check_is_fitted(self)
        checked = validate_data(self, X, dtype=[np.float32, np.float64], reset=False)
        return self._score([_matrix(checked)])


class BeamDetector(_Detector):
    """A front end and the band-wise detector, on sound: ``X`` is a matrix (clips x samples) or a list of clips.

    Clips are padded with silence, or cut, to the length of the first training clip unless ``clip_seconds`` says
    otherwise. Front ends with two views are scored on both and fused (AdaBEAM).

    Parameters
    ----------
    front_end, convention
        What sound is turned into, as in :meth:`auscult.Machine.learn`.
    sample_rate
        Samples a second of the clips.
    clip_seconds
        The length clips are brought to; that of the first training clip if not given.
    band_width
        Positions in a band; ``"paper"`` (the default) takes the paper's bands of the front end, ``None`` one band.
    views
        ``both`` (where there are two), ``mean`` or ``max``.
    fuse
        How the scores of two views become one: ``mean``, ``max`` or ``min``.

    The others are those of :class:`BandDetector`.

    >>> import numpy as np
    >>> from auscult.sklearn import BeamDetector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(0, 0.1, (30, 16000))
    >>> hum = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
    >>> detector = BeamDetector(front_end="log-mel").fit(X)
    >>> detector.predict([hum]).tolist()
    [-1]
    """

    def __init__(
        self,
        front_end: str = "log-mel",
        convention: str | None = None,
        sample_rate: int = 16000,
        clip_seconds: float | None = None,
        band_width: int | str | None = "paper",
        band_stride: int | None = None,
        neighbours: int = 1,
        density_exponent: float | str = 1.0,
        density_rule: str = "minimum-ratio",
        metric: str = "cosine",
        aggregate: str = "mean",
        views: str = "both",
        fuse: str = "mean",
        contamination: float | str = "auto",
    ) -> None:
        self.front_end = front_end
        self.convention = convention
        self.sample_rate = sample_rate
        self.clip_seconds = clip_seconds
        self.band_width = band_width
        self.band_stride = band_stride
        self.neighbours = neighbours
        self.density_exponent = density_exponent
        self.density_rule = density_rule
        self.metric = metric
        self.aggregate = aggregate
        self.views = views
        self.fuse = fuse
        self.contamination = contamination

    def _overrides(self) -> str:
        return super()._overrides() if self.band_width != "paper" else self._paper()._overrides()

    def _paper(self) -> BeamDetector:
        """The same with the bands of the front end."""
        bands = self._plan().default_bands
        width, stride = (None, None) if bands is None else bands
        return BeamDetector(**self.get_params() | {"band_width": width, "band_stride": stride})

    def _plan(self) -> _native.FrontEnd:
        from .features import _front_end

        return _front_end(self.front_end, self.sample_rate, self.clip_samples_, self.convention)

    def _vectors(self, X: ArrayLike) -> list[Floats]:
        clips, is_single = _arrays.clips(X, "X")
        if is_single:
            raise InputError("X is one clip; give a matrix (clips x samples) or a list of clips, such as [x]")
        plan = self._plan()
        sized = [self._sized(clip) for clip in clips]
        found = dict(zip(plan.views, plan.vectors(sized)))
        if self.views == "both":
            return list(found.values())
        if not isinstance(self.views, str) or self.views not in found:
            raise InputError(f"views must be both, {' or '.join(found)} for {self.front_end}; got {self.views!r}")
        return [found[self.views]]

    def _sized(self, clip: Floats) -> Floats:
        length = self.clip_samples_
        if len(clip) >= length:
            return clip[:length]
        return np.concatenate([clip, np.zeros(length - len(clip), dtype=np.float32)])

    def fit(self, X: ArrayLike, y: Any = None, groups: Iterable[Any] | None = None) -> Self:
        """Remembers normal clips. Clips of one group (a visit) leave together in left-out scores.

        >>> import numpy as np
        >>> from auscult.sklearn import BeamDetector
        >>> X = np.random.default_rng(0).normal(0, 0.1, (30, 16000))
        >>> BeamDetector("mfcc").fit(X, groups=[i // 5 for i in range(30)]).labels_.shape
        (30,)
        """
        if not isinstance(self.front_end, str):
            raise InputError(
                f"front_end must be a name, got {type(self.front_end).__name__}; "
                "a function of yours goes into Machine.learn, and what it gives into BandDetector"
            )
        clips, _ = _arrays.clips(X, "X")
        seconds, rate = self.clip_seconds, _arrays.sample_rate(self.sample_rate)
        if seconds is not None and (not isinstance(seconds, Real) or not 0 < seconds <= 600):
            raise InputError(f"clip_seconds must be above 0 and at most 600, got {seconds!r}")
        self.clip_samples_ = len(clips[0]) if seconds is None else round(float(seconds) * rate)
        return self._remember(self._vectors(X), groups)

    def score_samples(self, X: ArrayLike) -> Doubles:
        """How normal each clip is: minus its score, so that higher is more normal.

        >>> import numpy as np
        >>> from auscult.sklearn import BeamDetector
        >>> X = np.random.default_rng(0).normal(0, 0.1, (30, 16000))
        >>> detector = BeamDetector().fit(X)
        >>> bool((detector.score_samples(X) == -detector.decision_scores_).all())
        True
        """
        check_is_fitted(self)
        return self._score(self._vectors(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Sound is not a table: clips may differ in length, and samples are not features.
        tags.no_validation = True
        return tags
