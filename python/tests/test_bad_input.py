"""Bad input is an exception that says what was given and what is allowed; never an abort."""

import os
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from conftest import RATE

import auscult

NOISE = np.random.default_rng(0).normal(0, 0.1, RATE)


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (NOISE.astype(complex), "complex128"),
        (NOISE > 0, "bool"),
        (np.array([object()]), "object"),
        (NOISE.astype(np.uint16), "uint16"),
        (np.zeros((2, 3, 4)), r"\(2, 3, 4\)"),
        (np.float32(1.0), r"shape \(\)"),
        (np.zeros(0), "no samples"),
        (np.zeros((0, 5)), r"\(0, 5\)"),
        ([], "no clips"),
        ([NOISE, np.zeros(0)], r"\[1\] has no samples"),
        ([NOISE, np.zeros((2, 2))], "one dimension"),
    ],
)
def odd_arrays_are_refused(noise, samples, said):
    with pytest.raises(auscult.InputError, match=said):
        noise.score(samples, sample_rate=RATE)


@pytest.mark.parametrize("rate", [0, -1, 16000.5, "fast", None, 10**9, 999, 10_000_000])
def odd_sample_rates_are_refused(noise, rate):
    with pytest.raises(auscult.InputError, match="(?i)sample rate"):
        noise.score(NOISE, sample_rate=rate)


def paths_and_arrays_do_not_mix(noise):
    with pytest.raises(auscult.InputError, match="all paths or all arrays"):
        noise.score(["a.wav", NOISE], sample_rate=RATE)
    with pytest.raises(auscult.InputError, match="leave it out"):
        noise.score("a.wav", sample_rate=RATE)


def paths_that_are_not_there_are_file_not_found(noise, tmp_path):
    with pytest.raises(FileNotFoundError, match="gone.wav"):
        noise.score(tmp_path / "gone.wav")
    with pytest.raises(FileNotFoundError, match="nothing"):
        auscult.Machine.learn(tmp_path / "nothing")
    with pytest.raises(auscult.SoundError, match="no sound files"):
        auscult.Machine.learn(tmp_path)


def layout_and_writeability_do_not_matter(noise):
    strided = np.repeat(NOISE, 2)[::2]
    locked = NOISE.copy()
    locked.setflags(write=False)
    fortran = np.asfortranarray(np.stack([NOISE, NOISE]))
    swapped = NOISE.astype(">f8")
    expected = noise.score(NOISE, sample_rate=RATE).score[0]
    for given in (strided, locked, swapped, NOISE[::-1][::-1], fortran[0]):
        assert noise.score(given, sample_rate=RATE).score[0] == expected
    assert noise.score(fortran, sample_rate=RATE).score.tolist() == [expected, expected]
    assert (auscult.features.log_mel(strided, RATE) == auscult.features.log_mel(locked, RATE)).all()


class _Tensor:
    """What torch looks like: DLPack and ``__array__``."""

    def __init__(self, values):
        self._values = values

    def __dlpack__(self, *, stream=None, **options):
        return self._values.__dlpack__()

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("DLPack comes first")


def tensors_are_taken_without_a_copy(noise):
    values = NOISE.astype(np.float32)
    from auscult import _arrays

    assert np.shares_memory(_arrays.as_array(_Tensor(values), "x"), values)
    assert np.shares_memory(_arrays.samples(_Tensor(values), "x"), values)
    expected = noise.score(values, sample_rate=RATE).score[0]
    assert noise.score(_Tensor(values), sample_rate=RATE).score[0] == expected


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"preset": "fastest"}, "unknown preset"),
        ({"front_end": "sonar"}, "unknown front end"),
        ({"front_end": "log-mel", "convention": "x"}, "unknown log-mel convention"),
        ({"preset": "best", "front_end": "mfcc"}, "beside the preset"),
        ({"preset": "paper", "front_end": "mfcc"}, "a front end cannot be given beside the preset paper"),
        ({"preset": "paper", "neighbours": 2}, "how clips are compared cannot be given beside the preset paper"),
        ({"preset": "fast", "front_end": "ced(neighbours=5)"}, "not a member of preset fast"),
        ({"clip_seconds": 0.01}, "0.1 to 600"),
        ({"clip_rate": 10}, "1000 to 384000"),
        ({"clip_rate": "slow"}, "native"),
        ({"band_width": -1, "front_end": "log-mel"}, "band width must be"),
        ({"band_width": 0, "front_end": "log-mel"}, "band width must be"),
        ({"neighbours": 1.5, "front_end": "log-mel"}, "whole number"),
        ({"metric": "taxicab", "front_end": "log-mel"}, "unknown metric"),
        ({"false_alarm_rate": 0}, "false-alarm rate"),
        ({"confidence": 7}, "confidence"),
        ({"calibration": "luck"}, "calibration"),
        ({"storage": "f8"}, "unknown storage"),
        ({"max_references": 0}, "at least 1"),
        ({"visits": ["a"]}, r"one for each recording \(3\), got 1"),
        ({"label_folders": "perhaps"}, "use or ignore"),
        ({"alarm_budget": "often"}, "budget"),
        ({"hop_seconds": -1.0}, "hop"),
        ({"channel": "left"}, "channel"),
    ],
)
def odd_settings_are_refused(clips, options, said):
    given = {"preset": None, "clip_seconds": 1.0} | options
    with pytest.raises(auscult.InputError, match=said):
        auscult.Machine.learn(clips[:3], sample_rate=RATE, **given)


@pytest.mark.parametrize("values", [[np.nan], [np.inf], [-np.inf]])
def features_refuse_what_is_not_finite(values):
    sound = NOISE.copy()
    sound[77] = values[0]
    with pytest.raises(auscult.InputError, match="sample 77"):
        auscult.features.log_mel(sound, RATE)
    with pytest.raises(auscult.InputError, match="sample 77"):
        auscult.features.vectors([NOISE, sound], RATE)


def matrices_are_checked():
    rows = np.random.default_rng(0).normal(size=(5, 4))
    odd = rows.copy()
    odd[2, 1] = np.nan
    with pytest.raises(auscult.InputError, match=r"references\[2, 1\] is nan"):
        auscult.beam_scores(odd, rows)
    with pytest.raises(auscult.InputError, match="float32 can hold"):
        auscult.beam_scores(rows * 1e300, rows)
    with pytest.raises(auscult.InputError, match="4 features and queries 3"):
        auscult.beam_scores(rows, rows[:, :3])
    with pytest.raises(auscult.InputError, match="two dimensions"):
        auscult.cosine_distances(rows[0])
    with pytest.raises(auscult.InputError, match="unknown density rule|unknown"):
        auscult.beam_scores(rows, rows, density_rule="other")
    with pytest.raises(auscult.InputError, match="unknown metric"):
        auscult.cosine_distances(rows, metric="other")
    with pytest.raises(auscult.InputError, match="scaled"):
        auscult.cosine_distances(rows, metric="scaled")


def huge_arrays_are_taken_or_refused_in_words(noise):
    # A lazily allocated matrix of 80 GB: refused for its kind, not touched.
    huge = np.broadcast_to(np.int8(0), (10, 8_000_000_000))
    with pytest.raises(auscult.InputError, match="int8"):
        noise.score(huge, sample_rate=RATE)
    with pytest.raises(auscult.InputError, match="600 seconds"):
        auscult.features.log_mel(np.zeros(RATE * 601, dtype=np.float32), RATE)


def a_refused_call_leaves_everything_usable(noise, clips):
    expected = noise.score(clips[:2], sample_rate=RATE).score.tolist()
    for _ in range(3):
        with pytest.raises(auscult.InputError):
            noise.score(np.zeros(0), sample_rate=RATE)
        with pytest.raises(auscult.InputError):
            auscult.features.log_mel(np.full(RATE, np.nan), RATE)
    assert noise.score(clips[:2], sample_rate=RATE).score.tolist() == expected


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names that are not UTF-8")
def names_that_are_not_utf_8_are_names(noise, clips, tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    noise.save(folder / "noise.auscult")
    again = auscult.Machine.open(folder / "noise.auscult")
    with wave.open(os.fspath(folder / "a.wav"), "wb") as sound:
        sound.setparams((1, 2, RATE, 0, "NONE", ""))
        sound.writeframes((clips[0] * 2**15).astype("<i2").tobytes())
    scores = again.score([folder / "a.wav"])
    assert np.isfinite(scores.score).all() and "a.wav" in scores.path[0]
    # What cannot be written as UTF-8 is marked, so that tables can be written.
    assert scores.path[0].encode() and "\ufffd" in scores.path[0]
    scores.to_pandas().to_csv(tmp_path / "scores.csv")
    assert again.report(folder / "page.html", scores).exists()
    with pytest.raises(FileNotFoundError, match="caf"):
        auscult.Machine.open(folder / "gone.auscult")
    assert auscult.Machine.learn(
        folder, visits="one", preset="paper", clip_seconds=1.0, false_alarm_rate=0.5
    ).reference_count == 1
    with pytest.raises(auscult.InputError, match="os.fsdecode"):
        again.score(os.fsencode(folder))


@pytest.mark.parametrize("path", ["a\0b.auscult", "", "/dev/null/x.auscult"])
def paths_that_cannot_be_are_refused(noise, path):
    with pytest.raises((auscult.AuscultError, ValueError)):
        auscult.Machine.open(path)
    with pytest.raises((auscult.AuscultError, ValueError)):
        noise.save(path)
    with pytest.raises((auscult.AuscultError, ValueError)):
        noise.score([path])


def odd_paths_are_refused(noise):
    for path in (3, None, object()):
        with pytest.raises((TypeError, auscult.InputError)):
            auscult.Machine.open(path)
        with pytest.raises((TypeError, auscult.InputError)):
            noise.save(path)


def what_is_no_recording_is_refused_in_words(noise, clips):
    for given, said in [
        (None, "NoneType"),
        ({"a": 1}, "dict"),
        ((clip for clip in clips), "generator"),
        (np.ma.masked_array(NOISE, mask=NOISE > 0), "masked"),
    ]:
        with pytest.raises(auscult.InputError, match=said):
            noise.score(given, sample_rate=RATE)
    with pytest.raises(auscult.InputError, match="at least one path or array"):
        noise.score([])
    with pytest.raises(auscult.InputError, match="one recording, got 2"):
        noise.explain(clips[:2], sample_rate=RATE)
    with pytest.raises(auscult.InputError, match="visits are texts"):
        auscult.Machine.learn(clips, sample_rate=RATE, visits=3)
    with pytest.raises(auscult.InputError, match="convention must be a name"):
        auscult.features.log_mel(NOISE, RATE, convention=["s15"])


def samples_by_channels_are_refused(noise, clips):
    stereo = np.stack([clips[0], clips[0]], axis=1)
    for work in (
        lambda: noise.score(stereo, sample_rate=RATE),
        lambda: auscult.Machine.learn(stereo, sample_rate=RATE, preset="paper", clip_seconds=1.0),
        lambda: auscult.features.log_mel(stereo, RATE),
    ):
        with pytest.raises(auscult.InputError, match=r"\(16000, 2\).* channel.*x\[:, 0\].*x\.T"):
            work()
    assert noise.score(stereo.T, sample_rate=RATE).score.tolist() == [0.0, 0.0]


def rates_and_lengths_of_features_are_numbers(clips):
    for rate in (-5, 0, 2**70):
        with pytest.raises(auscult.InputError, match="sample rate must be 1 to"):
            auscult.features.log_mel(clips[0], rate)
    with pytest.raises(auscult.InputError, match="start must be 0 to"):
        auscult.features.hertz(RATE, -5, 2)
    for seconds in (float("nan"), float("inf"), "1"):
        with pytest.raises(auscult.InputError, match="seconds must be a finite number"):
            auscult.features.edges(RATE, seconds=seconds)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"clip_seconds": "1"}, "clip_seconds must be a finite number, got '1'"),
        ({"hop_seconds": "a"}, "hop_seconds must be a finite number, got 'a'"),
        ({"preset": 3}, 'unknown preset "3"'),
        ({"metric": 3}, 'unknown metric "3"'),
        ({"metric": "sine"}, "known: .*cosine[^0-9]*$"),
        ({"settings": "{}"}, "Machine.tune"),
    ],
)
def odd_options_of_learn_are_refused_in_words(clips, options, said):
    with pytest.raises(auscult.InputError, match=said):
        auscult.Machine.learn(clips, sample_rate=RATE, **options)


def a_single_text_is_a_list_of_one(clips, noise, tmp_path):
    visits = [at // 2 for at in range(12)]
    common = {"sample_rate": RATE, "visits": visits, "clip_seconds": 1.0}
    assert auscult.Machine.tune(clips[:12], presets="paper", most_settings=1, **common).front_end == "log-mel"
    with pytest.raises(auscult.InputError, match="most settings must be 1 to"):
        auscult.Machine.tune(clips[:12], most_settings=0, **common)
    root = auscult.datasets.synthesize(tmp_path / "fan", machines="fan", train=(2, 1), test=(1, 1), seconds=1.0)
    assert set(auscult.datasets.load("dcase2023", root)["machine"]) == {"fan"}
    with pytest.raises(auscult.InputError, match="start_seconds must be a finite number"):
        noise.explain(clips[0], sample_rate=RATE, start_seconds="a")


def a_buffer_in_the_sound_itself_is_refused():
    x = np.random.default_rng(0).normal(0, 0.1, (2, RATE)).astype(np.float32)
    frames = x.reshape(-1)[: 30 * 128].reshape(30, 128)
    both = x.reshape(-1)[: 2 * 30 * 128].reshape(2, 30, 128)
    for given, out in [(x[0], frames), ([x[0]], frames[None]), (x, both)]:
        with pytest.raises(auscult.InputError, match="share its memory"):
            auscult.features.log_mel(given, RATE, out=out)


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda noise, clip: noise.score("gone.csv", samples_csv=3), "COLUMN@HZ"),
        (lambda noise, clip: noise.score([clip], sample_rate=RATE, progress=3), "progress must be a function, .* got 3"),
        (lambda noise, clip: noise.forget(visits=3), "visits must be a text or several, got 3"),
        (lambda noise, clip: noise.forget(indices=3), "indices must be several whole numbers, such as .*, got 3"),
        (lambda noise, clip: noise.save(3), "the model file must be a str or a Path, got 3"),
        (lambda noise, clip: noise.report(None), "the page must be a str or a Path, got None"),
        (lambda noise, clip: auscult.Machine.open(b"x"), "the model file must be a str or a Path, got b'x'"),
        (lambda noise, clip: auscult.Machine.learn(clip, sample_rate=RATE, encoder_file=3), "encoder_file must be a str"),
        (lambda noise, clip: auscult.Machine.tune(clip, sample_rate=RATE, presets=3), "presets must be a text or several"),
        (lambda noise, clip: auscult.features.vectors(clip, RATE, ["mfcc"]), "front end must be a name, got .'mfcc'."),
        (lambda noise, clip: auscult.features.encode(clip, 3), "front end must be a name, got 3"),
        (lambda noise, clip: auscult.features.edges(RATE, 3), "convention must be a name, got 3"),
        (lambda noise, clip: auscult.features.hertz(RATE, 0, 2, seconds=-1), "seconds must be above 0 .* got -1"),
        (lambda noise, clip: auscult.features.edges(RATE, seconds=2**64), "seconds must be above 0 and at most 600"),
        (lambda noise, clip: auscult.cosine_distances([[1.0]], metric=3), "metric must be a name, got 3"),
        (lambda noise, clip: auscult.local_scales("x"), "distances has dtype <U1"),
        (lambda noise, clip: auscult.metrics.pauc([0, 1], [1.0, 2.0], max_fpr="x"), "max_fpr must be a finite number"),
        (lambda noise, clip: auscult.metrics.report([0, 1], [1.0, 2.0], threshold="x"), "threshold must be a finite number"),
        (lambda noise, clip: auscult.datasets.load(3, "/gone"), '"?3"?'),
        (lambda noise, clip: auscult.datasets.load("dcase2023", 3), "root must be a text or several, got 3"),
        (lambda noise, clip: auscult.bench.run(3, "/gone"), "protocol must be a str or a Path, got 3"),
        (lambda noise, clip: auscult.plot.spectrogram(clip, RATE, bands=1.5), "band width must be a whole number, got 1.5"),
        (lambda noise, clip: auscult.sklearn.BeamDetector(views=["mean"]).fit([clip, clip]), "views must be both"),
    ],
)
def values_of_other_kinds_are_refused_in_words(noise, clips, work, said):
    with pytest.raises(auscult.AuscultError, match=said):
        work(noise, clips[0])


def a_missing_package_is_named_with_its_extra(monkeypatch, noise, clips):
    import sys

    for package, extra, work in [
        ("pandas", "pandas", lambda: noise.score(clips[0], sample_rate=RATE).to_pandas()),
        ("matplotlib", "plot", lambda: auscult.plot.histogram(noise)),
        ("pyarrow", "arrow", lambda: noise.score(clips[0], sample_rate=RATE).to_arrow()),
    ]:
        with monkeypatch.context() as without:
            for name in [name for name in sys.modules if name.partition(".")[0] == package]:
                without.delitem(sys.modules, name)
            without.setattr(sys, "meta_path", [_Without(package), *sys.meta_path])
            with pytest.raises(ImportError, match=rf"{package}.*\[{extra}\]"):
                work()


class _Without:
    """An importer that finds one package missing."""

    def __init__(self, package):
        self._package = package

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == self._package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=self._package)
        return None
