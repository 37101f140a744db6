"""Pictures and players for notebooks: plain HTML and SVG that need no other package."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from . import _native
    from ._arrays import Doubles, Floats
    from ._machine import Machine
    from ._scores import Explanation, Scores

_WIDTH, _HEIGHT = 640, 160
_INK, _WARN = "#2a6fbb", "#c0392b"
_STYLE = "font-family:system-ui,sans-serif;font-size:14px;max-width:660px;color:inherit"

#: Five colours of the viridis palette; those between are mixed.
_PALETTE = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], dtype=np.float64)


def _box(*parts: str) -> str:
    return f'<div style="{_STYLE}">{"".join(parts)}</div>'


def _text(value: object) -> str:
    return html.escape(str(value))


def _table(rows: list[tuple[str, ...]], head: tuple[str, ...] = ()) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        common = "text-align:left;padding:2px 10px 2px 0;vertical-align:top;"
        # The last column has the sentences; the others stay on one line.
        styles = [common + "white-space:nowrap"] * (len(cells) - 1) + [common + "overflow-wrap:anywhere"]
        found = "".join(f'<{tag} style="{style}">{_text(cell)}</{tag}>' for cell, style in zip(cells, styles))
        return f"<tr>{found}</tr>"

    return f"<table>{row(head, 'th') if head else ''}{''.join(row(cells, 'td') for cells in rows)}</table>"


def _number(value: float | None, digits: int = 3) -> str:
    return "" if value is None or np.isnan(value) else f"{value:.{digits}g}"


def player(samples: Floats | None, sample_rate: int, label: str) -> str:
    """A player of 16-bit sound."""
    if samples is None:
        return ""
    sound = np.clip(np.nan_to_num(samples), -1.0, 1.0)
    data = (sound * 32767).astype("<i2").tobytes()
    header = b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt "
    header += struct.pack("<IHHIIHH", 16, 1, 1, sample_rate, sample_rate * 2, 2, 16)
    wave = header + b"data" + struct.pack("<I", len(data)) + data
    source = "data:audio/wav;base64," + base64.b64encode(wave).decode()
    return f'<p style="overflow-wrap:anywhere">{_text(label)}<br><audio controls preload="none" src="{source}"></audio></p>'


def _png(levels: NDArray[np.float64]) -> str:
    """An image of values from 0 to 1, rows from top to bottom."""
    place = np.clip(levels, 0, 1) * (len(_PALETTE) - 1)
    low = np.minimum(place.astype(int), len(_PALETTE) - 2)
    part = (place - low)[..., None]
    pixels = (_PALETTE[low] * (1 - part) + _PALETTE[low + 1] * part).astype(np.uint8)
    height, width = levels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    image = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(image).decode()


def spectrogram(samples: Floats | None, sample_rate: int, bands: list[tuple[float, float]]) -> str:
    """Log-mel levels over time, with bands in hertz marked."""
    if samples is None or len(samples) < sample_rate // 4:
        return ""
    from .features import edges, log_mel

    frames = np.asarray(log_mel(np.nan_to_num(samples), sample_rate, "dcase"), dtype=np.float64)
    low, high = np.percentile(frames, [5, 99.5])
    picture = _png(((frames - low) / max(high - low, 1e-9)).T[::-1])

    middles = edges(sample_rate, "dcase", len(samples) / sample_rate).mean(axis=1)

    def height(hertz: float) -> float:
        place = np.interp(hertz, middles, np.arange(len(middles)) + 0.5)
        return _HEIGHT * (1 - float(place) / len(middles))

    marks = "".join(
        f'<rect x="1" width="{_WIDTH - 2}" y="{height(end):.1f}" height="{max(height(start) - height(end), 1):.1f}" '
        f'fill="none" stroke="{_WARN}" stroke-width="2"/>'
        for start, end in bands
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="100%" role="img" aria-label="spectrogram">'
        f'<image href="{picture}" width="{_WIDTH}" height="{_HEIGHT}" preserveAspectRatio="none"/>{marks}</svg>'
    )


#: Scores beyond this many times a usual one would press all others flat.
_WIDE = 20.0


def usual(scores: Doubles, threshold: float | None) -> float | None:
    """What scores are measured by where some are far beyond the others; ``None`` where none is."""
    known = np.abs(scores[np.isfinite(scores)])
    middle = float(np.median(known)) if threshold is None and known.size else abs(threshold or 0.0)
    return middle if middle > 0 and known.size and known.max() > _WIDE * middle else None


def _placed(values: Any, unit: float | None) -> Any:
    """Where scores stand on an axis: in proportion, or, if some are far beyond, with their logarithm."""
    return values if unit is None else np.arcsinh(np.asarray(values) / unit)


def _threshold_line(at: float, horizontal: bool) -> str:
    ends = (0, at, _WIDTH, at) if horizontal else (at, 0, at, _HEIGHT)
    x1, y1, x2, y2 = ends
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{_WARN}" stroke-dasharray="6 4"/>'


def timeline(scores: Doubles, anomalous: NDArray[np.bool_], threshold: float | None) -> str:
    """Scores clip by clip, with the threshold."""
    known = scores[np.isfinite(scores)]
    if known.size == 0:
        return ""
    unit = usual(scores, threshold)
    values = _placed(known if threshold is None else np.append(known, threshold), unit)
    low, high = min(values.min(), 0.0), values.max()
    step = _WIDTH / len(scores)

    def height(score: Any) -> Any:
        return _HEIGHT - 8 - (_HEIGHT - 16) * (_placed(score, unit) - low) / max(high - low, 1e-300)

    heights = height(scores)
    dots = "".join(
        f'<circle cx="{(at + 0.5) * step:.1f}" cy="{y:.1f}" r="3" fill="{_WARN if odd else _INK}"/>'
        for at, (y, odd) in enumerate(zip(heights, anomalous))
        if np.isfinite(y)
    )
    line = "" if threshold is None else _threshold_line(float(height(threshold)), True)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="100%" role="img" aria-label="scores over time">{dots}{line}</svg>'
    )


def histogram(scores: Doubles, threshold: float | None) -> str:
    """How often normal clips score how much, with the threshold."""
    if scores.size == 0:
        return ""
    values = scores if threshold is None else np.append(scores, threshold)
    low, high = values.min(), values.max()
    counts, _ = np.histogram(scores, bins=32, range=(low, high if high > low else low + 1))
    width = _WIDTH / len(counts)
    bars = "".join(
        f'<rect x="{at * width + 1:.1f}" width="{width - 2:.1f}" y="{_HEIGHT * (1 - count / counts.max()):.1f}" '
        f'height="{_HEIGHT * count / counts.max():.1f}" fill="{_INK}"/>'
        for at, count in enumerate(counts)
        if count
    )
    line = "" if threshold is None else _threshold_line(float(_WIDTH * (threshold - low) / max(high - low, 1e-300)), False)
    label = "scores of left-out normal clips"
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="100%" role="img" aria-label="{label}">{bars}{line}</svg>'


def machine(machine: Machine) -> str:
    """A machine: what it is, how normal clips score, and how one of them sounds."""
    rows: list[tuple[str, ...]] = [
        ("references", f"{machine.reference_count} clips from {max(len(machine.visits), 1)} visit(s)"),
        ("clips", f"{machine.clip_seconds:g} s at {machine.sample_rate} Hz"),
        ("front end", machine.front_end),
        ("threshold", _number(machine.threshold) or "none yet"),
        ("verdicts", "promised" if machine.is_promised else machine.shortcoming or "not promised"),
    ]
    sound, label = machine._typical_sound()
    return _box(
        "<strong>auscult machine</strong>",
        _table(rows),
        histogram(machine.calibration_scores, machine.threshold),
        player(sound, machine.sample_rate, f"a reference: {label}"),
    )


def scores(scores: Scores, machine: _native.Machine | None) -> str:
    """Scores over time, the furthest clips, and how the furthest one sounds."""
    order = np.argsort(-np.nan_to_num(scores.score, nan=-np.inf), kind="stable")[:10]
    threshold = None if machine is None else machine.threshold
    rows: list[tuple[str, ...]] = []
    for at in order:
        record = scores[int(at)]
        place = "" if record.start_seconds == 0 else f" at {record.start_seconds:g} s"
        name = f"{record.path.replace(chr(92), '/').rsplit('/', 1)[-1]}{place}: {record.reason}"
        rows.append((record.verdict, _number(record.score), _number(record.p_value), name))
    furthest = ""
    if len(order) and machine is not None:
        worst = int(order[0])
        furthest = player(scores.samples(worst), machine.sample_rate, f"the furthest clip: {scores[worst].path}")
    return _box(
        f"<strong>{_text(repr(scores))}</strong>",
        timeline(scores.score, scores.is_anomalous, threshold),
        _table(rows, ("verdict", "score", "p", "clip")),
        furthest,
    )


def explanation(explanation: Explanation) -> str:
    """Why a clip scored so: its spectrogram with the furthest bands, its sound, its bands."""
    far: list[Any] = [band for band in explanation.bands if band.hertz is not None]
    marked = [band.hertz for band in far[:2] if explanation.record.is_anomalous]
    rows: list[tuple[str, ...]] = [
        (_number(band.score), _number(band.times_normal), band.sentence) for band in explanation.bands[:8]
    ]
    return _box(
        f"<strong>{_text(explanation.summary)}</strong>",
        spectrogram(explanation.samples, explanation.sample_rate, marked),
        player(explanation.samples, explanation.sample_rate, explanation.record.path),
        _table(rows, ("score", "x normal", "band")),
    )
