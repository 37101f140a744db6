"""Feature maps of sound: what the front ends of a machine compute, on plain arrays.

``x`` is one clip (samples), a matrix (clips x samples), or a list of clips of any lengths; floats with full scale 1, or
16 and 32-bit integers. One clip gives one feature map (frames x axis, float32), a matrix a stack of them (clips x frames
x axis), a list a list. Many clips are computed on all cores, with the interpreter free for other threads. Tensors of
torch and other packages are taken without a copy, by DLPack or ``__array__``.
"""

from __future__ import annotations

from functools import lru_cache
from os import PathLike
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from . import _arrays, _native
from ._arrays import ArrayLike, Floats
from ._recordings import optional_path
from .errors import InputError

__all__ = ["edges", "encode", "hertz", "log_mel", "lpc_spectrum", "mfcc", "modulation", "vectors"]

#: Clips of any lengths.
Clips: TypeAlias = "list[NDArray[Any]] | tuple[NDArray[Any], ...]"


def _front_end(
    name: str, sample_rate: int, samples: int, convention: str | None = None, **settings: Any
) -> _native.FrontEnd:
    if convention is not None:
        _arrays.name(convention, "convention")
    return _made(_arrays.name(name, "front end"), sample_rate, samples, convention, **settings)


@lru_cache(maxsize=32)
def _made(
    name: str,
    sample_rate: int,
    samples: int,
    convention: str | None = None,
    layers: tuple[int, ...] | None = None,
    count: int | None = None,
    order: int | None = None,
    encoder_file: str | None = None,
) -> _native.FrontEnd:
    return _native.FrontEnd(
        name, sample_rate, samples, convention, None if layers is None else list(layers), count, order, encoder_file
    )


def _maps(x: ArrayLike, sample_rate: int, out: Floats | None, name: str, **settings: Any) -> Any:
    rate = _arrays.sample_rate(sample_rate)
    if _arrays.is_list_of_clips(x):
        clips, _ = _arrays.clips(x)
        plans = [_front_end(name, rate, len(clip), **settings) for clip in clips]
        return _of_list(plans, clips) if out is None else _into(out, plans, clips)
    sound = _arrays.sound(x, "x")
    plan = _front_end(name, rate, sound.shape[-1], **settings)
    if out is not None:
        return _into(out, [plan], sound)
    if sound.ndim == 1:
        return plan.frames(sound)
    first = plan.frames(sound[0])
    stack = np.empty((len(sound), *first.shape), dtype=np.float32)
    stack[0] = first
    plan.frames_into_buffer(sound[1:], stack[1:].reshape(-1))
    return stack


def _of_list(plans: list[_native.FrontEnd], clips: list[Floats]) -> list[Floats]:
    """Clips of one length are computed together."""
    found: dict[int, Floats] = {}
    for plan in dict.fromkeys(plans):
        places = [at for at, other in enumerate(plans) if other is plan]
        found.update(zip(places, plan.frames_of_many([clips[at] for at in places])))
    return [found[at] for at in range(len(clips))]


def _into(out: Floats, plans: list[_native.FrontEnd], clips: Floats | list[Floats]) -> Floats:
    plan = plans[0]
    if any(other is not plan for other in plans):
        raise InputError("out is for clips of one length; these have several")
    # Tensors of torch share their memory with the array that they give.
    buffer = np.asarray(out) if hasattr(out, "__dlpack__") else out
    if not isinstance(buffer, np.ndarray) or buffer.dtype != np.float32:
        raise InputError(f"out must be an array of float32, got {getattr(out, 'dtype', type(out).__name__)}")
    if not (buffer.flags.c_contiguous and buffer.flags.writeable):
        raise InputError("out must be C-contiguous and writeable")
    if isinstance(clips, np.ndarray) and clips.ndim == 1:
        wanted, fits, clips = f"frames x {plan.axis_len}", buffer.ndim == 2, [clips]
    else:
        wanted, fits = f"{len(clips)} x frames x {plan.axis_len}", buffer.ndim == 3 and len(buffer) == len(clips)
    if not fits or buffer.shape[-1] != plan.axis_len or not buffer.size:
        raise InputError(f"out must have shape {wanted}, got {buffer.shape}")
    if any(np.may_share_memory(buffer, clip) for clip in ([clips] if isinstance(clips, np.ndarray) else clips)):
        raise InputError("out must not share its memory with x")
    plan.frames_into_buffer(clips, buffer.reshape(-1))
    return out


@overload
def log_mel(x: Clips, sr: int, convention: str = ..., *, out: Floats | None = ...) -> list[Floats]: ...


@overload
def log_mel(x: ArrayLike, sr: int, convention: str = ..., *, out: Floats | None = ...) -> Floats: ...


def log_mel(x: ArrayLike, sr: int, convention: str = "s15", *, out: Floats | None = None) -> Any:
    """Log-mel energies, frames x 128 (64 of ``mimii``).

    Conventions: ``s15`` (Kaldi on the waveform times 2^15, the default), ``kaldi``, ``dcase`` (the baselines' decibels),
    ``mimii``, ``beats-input``, ``eat-input``.

    >>> import numpy as np, auscult
    >>> x = np.random.default_rng(0).normal(0, 0.1, 16000)
    >>> auscult.features.log_mel(x, 16000, convention="s15").shape
    (30, 128)
    >>> auscult.features.log_mel(np.stack([x, x]), 16000).shape
    (2, 30, 128)
    """
    return _maps(x, sr, out, "log-mel", convention=convention)


@overload
def mfcc(
    x: Clips, sr: int, convention: str = ..., *, coefficients: int = ..., out: Floats | None = ...
) -> list[Floats]: ...


@overload
def mfcc(
    x: ArrayLike, sr: int, convention: str = ..., *, coefficients: int = ..., out: Floats | None = ...
) -> Floats: ...


def mfcc(
    x: ArrayLike, sr: int, convention: str = "kaldi", *, coefficients: int = 90, out: Floats | None = None
) -> Any:
    """Mel-frequency cepstral coefficients, frames x coefficients.

    Conventions: ``kaldi`` (the default), ``no-lifter``, ``s15``, ``s15-no-lifter``, ``librosa``.

    >>> import numpy as np, auscult
    >>> auscult.features.mfcc(np.random.default_rng(0).normal(0, 0.1, 16000), 16000).shape
    (30, 90)
    """
    count = _arrays.whole_number(coefficients, "coefficients", least=1)
    return _maps(x, sr, out, "mfcc", convention=convention, count=count)


@overload
def lpc_spectrum(
    x: Clips, sr: int, convention: str = ..., *, order: int = ..., points: int = ..., out: Floats | None = ...
) -> list[Floats]: ...


@overload
def lpc_spectrum(
    x: ArrayLike, sr: int, convention: str = ..., *, order: int = ..., points: int = ..., out: Floats | None = ...
) -> Floats: ...


def lpc_spectrum(
    x: ArrayLike,
    sr: int,
    convention: str = "spectrum",
    *,
    order: int = 60,
    points: int = 8000,
    out: Floats | None = None,
) -> Any:
    """The spectrum of an all-pole model of the whole clip (Burg), 1 x points up to half the sample rate.

    Conventions: ``spectrum`` (1/|A|, the default here) and ``inverse`` (|A|, what machines take with ``front_end="lpc"``).

    >>> import numpy as np, auscult
    >>> auscult.features.lpc_spectrum(np.random.default_rng(0).normal(0, 0.1, 16000), 16000).shape
    (1, 8000)
    """
    order, points = _arrays.whole_number(order, "order"), _arrays.whole_number(points, "points")
    return _maps(x, sr, out, "lpc", convention=convention, order=order, count=points)


@overload
def modulation(x: Clips, sr: int, *, out: Floats | None = ...) -> list[Floats]: ...


@overload
def modulation(x: ArrayLike, sr: int, *, out: Floats | None = ...) -> Floats: ...


def modulation(x: ArrayLike, sr: int, *, out: Floats | None = None) -> Any:
    """How fast the loudness of 16 parts of the spectrum beats, 1 x (16 carriers x rates in Hz).

    >>> import numpy as np, auscult
    >>> auscult.features.modulation(np.random.default_rng(0).normal(0, 0.1, 32000), 16000).shape
    (1, 1920)
    """
    return _maps(x, sr, out, "modulation")


@overload
def encode(
    x: Clips,
    encoder: str = ...,
    layer: int | None = ...,
    *,
    sr: int = ...,
    file: str | PathLike[str] | None = ...,
    out: Floats | None = ...,
) -> list[Floats]: ...


@overload
def encode(
    x: ArrayLike,
    encoder: str = ...,
    layer: int | None = ...,
    *,
    sr: int = ...,
    file: str | PathLike[str] | None = ...,
    out: Floats | None = ...,
) -> Floats: ...


def encode(
    x: ArrayLike,
    encoder: str = "ced",
    layer: int | None = None,
    *,
    sr: int = 16000,
    file: str | PathLike[str] | None = None,
    out: Floats | None = None,
) -> Any:
    """The tokens of a pretrained encoder, time x (frequency rows x dimensions).

    ``ced`` is bundled; others are pulled by ``auscult encoder pull`` or read from ``file``. ``layer`` is counted from 1;
    the last one if not given.

    >>> import numpy as np, auscult
    >>> x = np.random.default_rng(0).normal(0, 0.1, 16000)
    >>> auscult.features.encode(x, "ced", layer=8).shape
    (6, 768)
    """
    layers = None if layer is None else (_arrays.whole_number(layer, "layer", least=1),)
    return _maps(x, sr, out, encoder, layers=layers, encoder_file=optional_path(file, "file"))


def vectors(x: ArrayLike, sr: int, front_end: str = "log-mel", convention: str | None = None) -> dict[str, Floats]:
    """Feature maps pooled over time, as machines compare them: one matrix (clips x axis) for each view.

    >>> import numpy as np, auscult
    >>> x = np.random.default_rng(0).normal(0, 0.1, (3, 16000))
    >>> {view: rows.shape for view, rows in auscult.features.vectors(x, 16000).items()}
    {'mean': (3, 128), 'max': (3, 128)}
    """
    rate = _arrays.sample_rate(sr)
    clips: Floats | list[Floats]
    if _arrays.is_list_of_clips(x):
        clips, _ = _arrays.clips(x)
    else:
        clips = np.atleast_2d(_arrays.sound(x, "x"))
    if len({len(clip) for clip in clips}) > 1:
        raise InputError("vectors need clips of one length; pad or cut them")
    plan = _front_end(front_end, rate, len(clips[0]), convention)
    return dict(zip(plan.views, plan.vectors(clips)))


def _length(seconds: float, rate: int) -> int:
    length = round(_arrays.number(seconds, "seconds") * rate)
    if not 0 < length <= 600 * rate:
        raise InputError(f"seconds must be above 0 and at most 600, got {seconds!r}")
    return length


def edges(sr: int, convention: str = "s15", seconds: float = 10.0) -> NDArray[np.float64]:
    """The frequencies at which each bin of :func:`log_mel` begins and ends, bins x 2.

    >>> import auscult
    >>> auscult.features.edges(16000).shape
    (128, 2)
    """
    rate = _arrays.sample_rate(sr)
    plan = _front_end("log-mel", rate, _length(seconds, rate), convention)
    return np.array([plan.hertz(at, at + 1) for at in range(plan.axis_len)])


def hertz(
    sr: int, start: int, end: int, *, front_end: str = "log-mel", convention: str | None = None, seconds: float = 10.0
) -> NDArray[np.float64] | None:
    """The frequencies of positions ``start`` up to, without, ``end`` of a front end's axis; ``None`` if it has none.

    >>> import auscult
    >>> auscult.features.hertz(16000, 0, 128).round().tolist()
    [0.0, 8000.0]
    """
    rate = _arrays.sample_rate(sr)
    plan = _front_end(front_end, rate, _length(seconds, rate), convention)
    found = plan.hertz(_arrays.whole_number(start, "start"), _arrays.whole_number(end, "end"))
    return None if found is None else np.array(found)
