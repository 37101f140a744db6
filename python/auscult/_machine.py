"""A machine: what it sounds like when it is well."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arrays, _html, _native
from ._arrays import ArrayLike, Floats, Recordings
from ._control import ProgressOption, Sink
from ._facts import Facts
from ._live import Live
from ._own import Embedding, Function, chained, function_of
from ._recordings import holds_paths, optional, optional_number, optional_path, overrides, path_of, text, texts
from ._recordings import sources as sources_of
from ._scores import BandReason, Explanation, Scores, counted
from ._tuned import TunedSettings
from .errors import AuscultWarning, BudgetError, InputError, TargetError, UnusableClipError

if TYPE_CHECKING:
    from typing_extensions import Self


#: How clips are listened to that are to be explained.
_EXPLAINED = {"channel": None, "hop_seconds": None, "first_clips": False, "domain": None, "explain": True}


class Machine(Facts):
    """What a machine sounds like when it is well, ready to be compared with.

    A machine is never changed: :meth:`add`, :meth:`forget` and :meth:`calibrate` give another. Its files are those of
    the program ``auscult``, and so are its scores, bit for bit. It may be used by several threads at once, pickled, and
    used after a fork.

    >>> import numpy as np, auscult
    >>> rng = np.random.default_rng(1)
    >>> normal = rng.normal(0, 0.1, (24, 16000))
    >>> machine = auscult.Machine.learn(
    ...     normal, sample_rate=16000, visits=[i // 4 for i in range(24)], preset="paper", clip_seconds=1.0
    ... )
    >>> machine
    Machine(24 references, 6 visits, log-mel (s15), 1 s at 16000 Hz)
    >>> hum = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
    >>> machine.score(hum, sample_rate=16000).verdict.tolist()
    ['anomalous']
    """

    def __init__(self, native: _native.Machine, function: Function | None = None) -> None:
        if not isinstance(native, _native.Machine):
            raise TypeError("a machine is made by Machine.learn or Machine.open")
        self._native = native
        self._function = function

    def _other(self, native: _native.Machine) -> Self:
        """Another machine with the same front end."""
        return type(self)(native, self._function)

    @classmethod
    def learn(
        cls,
        recordings: Recordings,
        *,
        sample_rate: int | None = None,
        visits: Iterable[Any] | str | None = None,
        domains: Iterable[Any] | str | None = None,
        preset: str | None = None,
        front_end: str | Embedding | None = None,
        convention: str | None = None,
        settings: TunedSettings | str | None = None,
        method: str | None = None,
        band_width: int | None = None,
        band_stride: int | None = None,
        neighbours: int | None = None,
        density_exponent: float | str | None = None,
        density_rule: str | None = None,
        metric: str | None = None,
        aggregate: str | None = None,
        fuse: str | None = None,
        combine_members: str | None = None,
        clip_seconds: float | None = None,
        clip_rate: int | str | None = None,
        hop_seconds: float | None = None,
        channel: int | str | None = None,
        first_clips: bool = False,
        label_folders: str | None = None,
        samples_csv: str | None = None,
        max_references: int | None = None,
        storage: str | None = None,
        false_alarm_rate: float | str | None = None,
        confidence: float | str | None = None,
        calibration: str | None = None,
        alarm_budget: str | None = None,
        encoder_file: str | PathLike[str] | None = None,
        progress: ProgressOption = None,
    ) -> Self:
        """Learns how a machine sounds from normal recordings, exactly as ``auscult fit`` does.

        Parameters
        ----------
        recordings
            A path, several, or arrays: files, folders (their sub-folders are visits), glob patterns and manifests; one
            array of samples, a matrix (recordings x samples), or a list of arrays.
        sample_rate
            Samples a second of arrays; files say theirs themselves.
        visits, domains
            The visit (such as a day) and the domain of each recording, or one for all. Thresholds are learnt by leaving
            whole visits out.
        preset
            ``best`` (the default), ``fast`` or ``paper``.
        front_end, convention
            What sound is turned into, instead of a preset: ``log-mel``, ``mfcc``, ``lpc``, ``modulation``, ``ced``,
            several joined by ``+``; or a function ``(samples, sample_rate)`` of your own that gives a vector or frames x
            features. Beside a preset only options of its members in parentheses: ``modulation(neighbours=5)``. A function is not in the model file: :meth:`open` needs it again.
        settings
            What :meth:`tune` chose.
        method, band_width, band_stride, neighbours, density_exponent, density_rule, metric, aggregate, fuse, \
combine_members
            How clips are compared, as the options of ``auscult fit`` of the same names.
        clip_seconds, clip_rate, hop_seconds, channel, first_clips
            How recordings are cut into clips; ``clip_rate="native"`` keeps the rate of the recordings.
        label_folders
            ``use`` or ``ignore`` folders called normal, abnormal and the like.
        samples_csv
            Takes ``.csv`` files as recordings: ``COLUMN@HZ[/FULL_SCALE]``.
        max_references, storage
            How many clips are kept, and as what: ``f32``, ``f16``, ``int8``.
        false_alarm_rate, confidence, calibration, alarm_budget
            What is promised: a rate such as 0.05, or a budget such as ``"1 alarm per month"``.
        encoder_file
            The weights of an encoder.
        progress
            A function that takes a :class:`Progress`, or ``True`` for a bar.

        Warnings
        --------
        AuscultWarning
            For every recording and clip that was left out, and if verdicts are not to be relied on.

        >>> import numpy as np, auscult
        >>> clips = np.random.default_rng(2).normal(0, 0.1, (20, 16000))
        >>> stages = []
        >>> machine = auscult.Machine.learn(
        ...     clips, sample_rate=16000, visits=[i // 2 for i in range(20)], front_end="mfcc", band_width=30,
        ...     clip_seconds=1.0, progress=stages.append,
        ... )
        >>> machine.front_end, stages[-1]
        ('mfcc (kaldi)', Progress(what='files', done=20, total=20))
        """
        is_native = clip_rate == "native"
        if isinstance(clip_rate, str) and not is_native:
            raise InputError(f'clip_rate must be a number of Hz or "native", got {clip_rate!r}')
        if isinstance(settings, TunedSettings):
            settings = settings.json
        function = function_of(front_end)
        if settings is not None and not (preset is None and front_end is None and convention is None):
            raise InputError("settings choose the front end; leave preset, front_end and convention out")
        if function is not None and convention is not None:
            raise InputError("a function has no convention; leave it out")
        options = {
            "preset": text(preset),
            "front_end": front_end if isinstance(front_end, str) else None,
            "function": function,
            "convention": text(convention),
            "compare": overrides(
                method=method,
                band_width=band_width,
                band_stride=band_stride,
                neighbours=neighbours,
                density_exponent=density_exponent,
                density_rule=density_rule,
                metric=metric,
                aggregate=aggregate,
                fuse=fuse,
                combine_members=combine_members,
            ),
            "settings": settings,
            "encoder_file": optional_path(encoder_file, "encoder_file"),
            "clip_seconds": optional_number(clip_seconds, "clip_seconds"),
            "clip_rate": None if is_native else optional(clip_rate, "clip rate"),
            "native_rate": is_native,
            "hop_seconds": optional_number(hop_seconds, "hop_seconds"),
            "first_clips": bool(first_clips),
            "channel": text(channel),
            "label_folders": text(label_folders),
            "max_references": optional(max_references, "max references"),
            "storage": text(storage),
            "false_alarm_rate": text(false_alarm_rate),
            "confidence": text(confidence),
            "calibration": text(calibration),
            "alarm_budget": text(alarm_budget),
        }
        sources = sources_of(recordings, sample_rate, visits, domains, samples_csv)
        sink = Sink(progress)
        with chained(function, sink):
            return cls(_native.Machine.learn(sources, options, sink), function)

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        front_end: Embedding | None = None,
        encoder_file: str | PathLike[str] | None = None,
    ) -> Self:
        """Opens a model file, of this package or of the program.

        ``front_end`` is the function of a machine that was learnt with one; others know their front end themselves.

        >>> import auscult
        >>> auscult.Machine.open("nowhere.auscult")
        Traceback (most recent call last):
            ...
        auscult.errors.ModelNotFoundError: cannot read nowhere.auscult: No such file or directory (os error 2)
        """
        if isinstance(front_end, str):
            raise InputError(f"front_end is the function of a machine that was learnt with one, got {front_end!r}")
        function, file = function_of(front_end), optional_path(encoder_file, "encoder_file")
        with chained(function):
            native = _native.Machine.open(path_of(path, "the model file"), file, function)
        if function is not None and native.front_end_name != "python":
            raise InputError(f"{path} was not made with a function, but with {native.front_end_name}; leave front_end out")
        return cls(native, function)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the model file, replacing one that is there only once all of it is on the disk.

        >>> import tempfile, pathlib, numpy as np, auscult
        >>> machine = auscult.Machine.learn(
        ...     np.random.default_rng(2).normal(0, 0.1, (20, 16000)), sample_rate=16000,
        ...     visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0,
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "pump.auscult")
        ...     machine.save(file)
        ...     auscult.Machine.open(file).hash == machine.hash
        True
        """
        self._native.save(path_of(path, "the model file"))

    def score(
        self,
        recordings: Recordings,
        *,
        sample_rate: int | None = None,
        domain: str | None = None,
        domains: Iterable[Any] | str | None = None,
        hop_seconds: float | None = None,
        channel: int | str | None = None,
        first_clips: bool = False,
        explain: bool = False,
        samples_csv: str | None = None,
        progress: ProgressOption = None,
    ) -> Scores:
        """Scores every clip of the recordings, as ``auscult score`` does: higher is further from normal.

        Recordings are what :meth:`learn` takes: paths or arrays. Long ones are cut into clips; clips that are not the
        sound of a machine have NaN for a score and a verdict that says why. A recording that cannot be read is a
        warning and in :attr:`Scores.problems`; if none can be read, it is an exception. With ``explain`` every record
        has the reasons of all its bands.

        >>> import numpy as np, auscult
        >>> clips = np.random.default_rng(2).normal(0, 0.1, (20, 16000))
        >>> machine = auscult.Machine.learn(
        ...     clips, sample_rate=16000, visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0
        ... )
        >>> scores = machine.score(clips[0], sample_rate=16000)
        >>> float(scores.score[0]), scores.copy_of[0]
        (0.0, 'the reference array 0')
        """
        given = (self._function, domain, domains, hop_seconds, channel, samples_csv)
        plain = all(one is None for one in given) and not (first_clips or explain)
        if plain and sample_rate == self._native.sample_rate and isinstance(recordings, np.ndarray):
            if recordings.ndim == 1 and 0 < recordings.size <= self._native.clip_samples:
                clip = _arrays.samples(recordings, "recordings")
                records = self._native.score_clip("array", clip)
                if records is not None:
                    return Scores(records, self._native)
        options = {
            "channel": text(channel),
            "hop_seconds": optional_number(hop_seconds, "hop_seconds"),
            "first_clips": bool(first_clips),
            "domain": text(domain),
            "explain": bool(explain),
        }
        sources = sources_of(recordings, sample_rate, None, domains, samples_csv)
        return self._listen(sources, options, Sink(progress, stacklevel=4))

    def explain(
        self, recording: str | PathLike[str] | ArrayLike, *, sample_rate: int | None = None, start_seconds: float = 0.0
    ) -> Explanation:
        """Explains one clip: which bands differ, by how much, and from which normal clip.

        Of a recording with several clips, the one that starts at ``start_seconds``.

        >>> import numpy as np, auscult
        >>> clips = np.random.default_rng(2).normal(0, 0.1, (20, 16000))
        >>> machine = auscult.Machine.learn(
        ...     clips, sample_rate=16000, visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0
        ... )
        >>> hum = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
        >>> why = machine.explain(clips[0] + hum, sample_rate=16000)
        >>> why.bands[0].hertz is not None, len(why.bands)
        (True, 8)
        """
        wanted = _arrays.number(start_seconds, "start_seconds")
        scores = self._listen(sources_of(recording, sample_rate), _EXPLAINED, Sink(None, stacklevel=4))
        if len(set(scores.path.tolist())) > 1:
            raise InputError(f"explain takes one recording, got {len(set(scores.path.tolist()))}")
        found = [at for at, start in enumerate(scores.start_seconds) if abs(start - wanted) < 1e-3]
        if not found:
            starts = ", ".join(f"{start:g}" for start in scores.start_seconds[:8])
            raise InputError(f"no clip starts at {wanted:g} s; clips start at {starts} s")
        record = scores[found[0]]
        if record.explanation is None:
            raise UnusableClipError(record.reason)
        bands = [BandReason._of(band) for band in record.explanation["bands"]]
        samples = scores.samples(found[0])
        return Explanation(record.explanation["summary"], bands, record, self.sample_rate, samples)

    def _listen(self, sources: dict[str, Any], options: dict[str, Any], sink: Sink) -> Scores:
        with chained(self._function, sink):
            return Scores(self._native.listen(sources, options, sink), self._native)

    def add(
        self,
        recordings: Recordings,
        *,
        sample_rate: int | None = None,
        visits: Iterable[Any] | str | None = None,
        domains: Iterable[Any] | str | None = None,
        hop_seconds: float | None = None,
        first_clips: bool = False,
        label_folders: str | None = None,
        samples_csv: str | None = None,
        progress: ProgressOption = None,
    ) -> Self:
        """This machine with more normal recordings, the same as learning all of them in this order.

        >>> import numpy as np, auscult
        >>> clips = np.random.default_rng(2).normal(0, 0.1, (24, 16000))
        >>> machine = auscult.Machine.learn(
        ...     clips[:20], sample_rate=16000, visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0
        ... )
        >>> machine.add(clips[20:], sample_rate=16000, visits="friday").reference_count
        24
        """
        options = {
            "hop_seconds": optional_number(hop_seconds, "hop_seconds"),
            "first_clips": bool(first_clips),
            "label_folders": text(label_folders),
        }
        sources = sources_of(recordings, sample_rate, visits, domains, samples_csv)
        sink = Sink(progress)
        with chained(self._function, sink):
            return self._other(self._native.add(sources, options, sink))

    def forget(
        self,
        *,
        visits: Sequence[Any] | str = (),
        sources: Sequence[str | PathLike[str]] | str = (),
        indices: Sequence[int] = (),
    ) -> Self:
        """This machine without some of its references, the same as learning only the others.

        >>> import numpy as np, auscult
        >>> machine = auscult.Machine.learn(
        ...     np.random.default_rng(2).normal(0, 0.1, (22, 16000)), sample_rate=16000,
        ...     visits=[i // 2 for i in range(22)], preset="paper", clip_seconds=1.0,
        ... )
        >>> machine.forget(visits="0").reference_count
        20
        """
        if isinstance(indices, str) or not isinstance(indices, Iterable):
            raise InputError(f"indices must be several whole numbers, such as [0], got {indices!r}")
        at = [_arrays.whole_number(index, "an index") for index in indices]
        return self._other(self._native.forget(texts(visits, "visits"), texts(sources, "sources"), at))

    def coreset(self, most: int) -> Self:
        """This machine with at most ``most`` references, chosen to cover all of them.

        >>> import numpy as np, auscult
        >>> machine = auscult.Machine.learn(
        ...     np.random.default_rng(2).normal(0, 0.1, (22, 16000)), sample_rate=16000,
        ...     visits=[i // 2 for i in range(22)], preset="paper", clip_seconds=1.0,
        ... )
        >>> machine.coreset(12).reference_count
        12
        """
        return self._other(self._native.coreset(_arrays.whole_number(most, "the number of references")))

    def calibrate(
        self,
        *,
        false_alarm_rate: float | str | None = None,
        confidence: float | str | None = None,
        scheme: str | None = None,
        budget: str | None = None,
        hop_seconds: float | None = None,
        clear: int | None = None,
    ) -> Self:
        """This machine with another promise, calibrated in another way, or with an alarm rule for a budget.

        Where no rule keeps the budget, that is a :class:`BudgetError` which says what is missing.

        >>> import numpy as np, auscult
        >>> machine = auscult.Machine.learn(
        ...     np.random.default_rng(2).normal(0, 0.1, (22, 16000)), sample_rate=16000,
        ...     visits=[i // 2 for i in range(22)], preset="paper", clip_seconds=1.0,
        ... )
        >>> machine.calibrate(false_alarm_rate=0.1).threshold < machine.threshold
        True
        """
        options = {
            "scheme": text(scheme),
            "false_alarm_rate": text(false_alarm_rate),
            "confidence": text(confidence),
            "budget": text(budget),
            "hop_seconds": optional_number(hop_seconds, "hop_seconds"),
            "clear": optional(clear, "clear"),
        }
        native, plan_json = self._native.calibrate(options)
        if plan_json is not None:
            plan = json.loads(plan_json)
            if not plan["is_kept"]:
                raise BudgetError(plan["plan"]["lack"] or "no alarm rule keeps the budget")
        other = self._other(native)
        if other.threshold is None:
            warnings.warn(f"there is no threshold: {other.shortcoming}", AuscultWarning, stacklevel=2)
        return other

    @staticmethod
    def tune(
        recordings: Recordings,
        *,
        outliers: Recordings | None = None,
        sample_rate: int | None = None,
        visits: Iterable[Any] | str | None = None,
        clip_seconds: float | None = None,
        clip_rate: int | None = None,
        hop_seconds: float | None = None,
        channel: int | str | None = None,
        first_clips: bool = False,
        label_folders: str | None = None,
        presets: Sequence[str] | str = (),
        encoders: Sequence[str] | str = (),
        max_clips: int | None = None,
        most_settings: int | None = None,
        most_seconds: float | None = None,
        seed: int | None = None,
        progress: ProgressOption = None,
    ) -> TunedSettings:
        """Chooses settings from normal recordings alone, as ``auscult tune`` does.

        ``outliers`` is sound of other machines. The result goes into ``Machine.learn(..., settings=...)``.

        >>> import numpy as np, auscult
        >>> clips = np.random.default_rng(2).normal(0, 0.1, (12, 16000))
        >>> visits = [i // 2 for i in range(12)]
        >>> chosen = auscult.Machine.tune(
        ...     clips, sample_rate=16000, visits=visits, clip_seconds=1.0, presets=["paper"], most_settings=1
        ... )
        >>> chosen.front_end
        'log-mel'
        """
        options = {
            "clip_seconds": optional_number(clip_seconds, "clip_seconds"),
            "clip_rate": optional(clip_rate, "clip rate"),
            "channel": text(channel),
            "hop_seconds": optional_number(hop_seconds, "hop_seconds"),
            "first_clips": bool(first_clips),
            "label_folders": text(label_folders),
            "presets": texts(presets, "presets"),
            "encoders": texts(encoders, "encoders"),
            "max_clips": optional(max_clips, "max clips"),
            "seed": optional(seed, "seed"),
            "most_settings": optional(most_settings, "most settings", least=1),
            "most_seconds": optional_number(most_seconds, "most_seconds"),
        }
        sources = sources_of(recordings, sample_rate, visits)
        others = None
        if outliers is not None:
            others = sources_of(outliers, None if holds_paths(outliers) else sample_rate)
        return TunedSettings(*_native.tune(sources, others, options, Sink(progress)))

    def report(
        self,
        path: str | PathLike[str],
        recordings: Recordings | Scores | None = None,
        *,
        sample_rate: int | None = None,
        title: str | None = None,
        progress: ProgressOption = None,
    ) -> Path:
        """Writes one HTML page that explains the machine and, if given, these recordings or scores.

        The page is the program's and needs nothing else: it can be kept, mailed and printed. Scores made with
        ``explain=True`` show their reasons and sounds. A file that is there is replaced if it is a page.

        >>> import tempfile, pathlib, numpy as np, auscult
        >>> machine = auscult.Machine.learn(
        ...     np.random.default_rng(2).normal(0, 0.1, (20, 16000)), sample_rate=16000,
        ...     visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0,
        ... )
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = machine.report(pathlib.Path(folder, "page.html"), title="Pump 3")
        ...     "Pump 3" in page.read_text()
        True
        """
        target = Path(path_of(path, "the page"))
        records = _native.Records()
        if recordings is not None:
            scores = recordings
            if not isinstance(scores, Scores):
                sources = sources_of(recordings, sample_rate)
                scores = self._listen(sources, _EXPLAINED, Sink(progress, stacklevel=4))
            if not isinstance(scores._records, _native.Records):
                raise InputError("scores that were pickled have no sound to show; report the recordings instead")
            records = scores._records
        if target.is_dir():
            raise TargetError(f"{target} is a folder; name a file in it, such as {target / 'page.html'}")
        if target.exists() and not _is_page(target):
            raise TargetError(f"{target} exists and is not a page; give another file, or remove it first")
        self._native.write_page(str(target), text(title) or target.stem, records)
        return target

    def live(self, sample_rate: int | None = None) -> Live:
        """Scores sound as it comes, pushed in pieces of any size.

        >>> import numpy as np, auscult
        >>> clips = np.random.default_rng(2).normal(0, 0.1, (20, 16000))
        >>> machine = auscult.Machine.learn(
        ...     clips, sample_rate=16000, visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0
        ... )
        >>> live = machine.live(16000)
        >>> [record.verdict for chunk in np.split(clips[0], 10) for record in live.push(chunk)]
        ['normal']
        """
        rate = self.sample_rate if sample_rate is None else _arrays.sample_rate(sample_rate)
        return Live(self._native.live(rate), self._native)

    def verify(self) -> None:
        """Fits the references again and compares every number; an exception says what differs.

        >>> import numpy as np, auscult
        >>> auscult.Machine.learn(
        ...     np.random.default_rng(2).normal(0, 0.1, (20, 16000)), sample_rate=16000,
        ...     visits=[i // 2 for i in range(20)], preset="paper", clip_seconds=1.0,
        ... ).verify()
        """
        self._native.verify()

    def _typical_sound(self) -> tuple[Floats | None, str]:
        first = self.references[0]
        samples = self._native.samples_at(_native.Records(), first["source"], first["start_seconds"])
        return samples, first["source"]

    def __repr__(self) -> str:
        references, visits = counted(self.reference_count, "reference"), counted(len(self.visits), "visit")
        return (
            f"Machine({references}, {visits}, {self.front_end}, "
            f"{self.clip_seconds:g} s at {self.sample_rate} Hz)"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self._native.to_bytes(), self._function)

    def _repr_html_(self) -> str:
        return _html.machine(self)


def _is_page(path: Path) -> bool:
    # Reading from a pipe or a device would wait for somebody to write.
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(200).lstrip().lower().startswith((b"<!doctype html", b"<html"))


def _unpickled(kind: type[Machine], data: bytes, function: Function | None) -> Machine:
    return kind(_native.Machine.from_bytes(data, function), function)
