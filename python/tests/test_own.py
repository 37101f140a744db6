"""A function of the user's own as a machine's front end."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from conftest import RATE

import auscult

VISITS = [at // 2 for at in range(24)]


def _spectrum(samples, sample_rate):
    """A vector."""
    assert sample_rate == RATE and samples.dtype == np.float32
    return np.abs(np.fft.rfft(samples))[:2048] + 1e-3


def _spectrogram(samples, sample_rate):
    """Frames x features."""
    pieces = samples[: len(samples) // 512 * 512].reshape(-1, 512)
    return np.log(np.abs(np.fft.rfft(pieces, axis=1)) + 1e-6)


def _learn(clips, front_end, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", auscult.AuscultWarning)
        return auscult.Machine.learn(
            clips, sample_rate=RATE, visits=VISITS[: len(clips)], front_end=front_end, clip_seconds=1.0, **options
        )


HUM = 0.1 * np.sin(2 * np.pi * 1000 * np.arange(RATE) / RATE)


def a_vector_is_compared_as_beam_scores_compares_it(clips):
    machine = _learn(clips, _spectrum)
    assert machine.front_end == "python (_spectrum)" and machine.preset is None
    queries = [HUM, clips[0] * 0.5 + HUM]
    expected = auscult.beam_scores(
        np.stack([_spectrum(clip, RATE) for clip in clips]),
        np.stack([_spectrum(query.astype(np.float32), RATE) for query in queries]),
    )
    assert machine.score(queries, sample_rate=RATE).score.tolist() == expected.tolist()
    assert machine.score(HUM, sample_rate=RATE).verdict[0] == "anomalous"


def frames_are_pooled_and_cut_into_bands(clips):
    machine = _learn(clips, _spectrogram, band_width=64)
    assert machine.settings["detector"]["views"] == ["mean", "max"]
    why = machine.explain(clips[0] + HUM, sample_rate=RATE)
    assert len(why.bands) == 2 * 5 and why.bands[0].hertz is None
    live = machine.live(RATE)
    assert live.push(HUM).verdict.tolist() == ["anomalous"]
    machine.verify()


def a_file_needs_the_function_again(clips, tmp_path, program):
    machine, file = _learn(clips, _spectrogram), tmp_path / "own.auscult"
    machine.save(file)
    expected = machine.score(HUM, sample_rate=RATE).score.tolist()
    again = auscult.Machine.open(file, front_end=_spectrogram)
    assert again.hash == machine.hash
    assert again.score(HUM, sample_rate=RATE).score.tolist() == expected
    with pytest.raises(auscult.FrontEndError, match=r"python \(_spectrogram\).*front_end=function"):
        auscult.Machine.open(file)
    done = program("score", file, tmp_path)
    assert done.returncode == 2 and "python (_spectrogram)" in done.stderr
    assert "python (_spectrogram)" in program("inspect", file).stdout


def another_function_is_refused(clips, noise, tmp_path):
    _learn(clips, _spectrogram).save(tmp_path / "own.auscult")
    noise.save(tmp_path / "noise.auscult")
    for other, said in [
        (_spectrum, "features 2048, and 257"),
        (lambda x, rate: _spectrogram(x, rate)[0], "frames false, and true"),
        (lambda x, rate: _spectrogram(x, rate) * 2, "other numbers"),
    ]:
        with pytest.raises(auscult.FrontEndError, match=said):
            auscult.Machine.open(tmp_path / "own.auscult", front_end=other)
    # A name is not what makes a function.
    auscult.Machine.open(tmp_path / "own.auscult", front_end=lambda x, rate: _spectrogram(x, rate))
    with pytest.raises(auscult.InputError, match="log-mel; leave front_end out"):
        auscult.Machine.open(tmp_path / "noise.auscult", front_end=_spectrum)


def machines_made_of_such_a_machine_keep_the_function(clips):
    machine = _learn(clips[:20], _spectrum)
    whole = _learn(clips, _spectrum)
    expected = whole.score(HUM, sample_rate=RATE).score.tolist()
    added = machine.add(clips[20:], sample_rate=RATE, visits=VISITS[20:])
    for other in (added, whole.calibrate(false_alarm_rate=0.1), pickle.loads(pickle.dumps(whole)), copy.copy(whole)):
        assert other.score(HUM, sample_rate=RATE).score.tolist() == expected
    assert whole.forget(visits=["0"]).reference_count == 22


def what_a_function_raises_is_the_cause(clips):
    def broken(samples, sample_rate):
        if samples[0] == clips[3, 0]:
            raise ZeroDivisionError("clip three")
        return _spectrum(samples, sample_rate)

    with pytest.raises(auscult.FrontEndError, match="ZeroDivisionError: clip three") as caught:
        _learn(clips, broken)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    machine = _learn(clips[:3], broken)
    with pytest.raises(auscult.FrontEndError, match="clip three"):
        machine.score(clips[3], sample_rate=RATE)
    # Nothing is left locked.
    assert machine.score(clips[2], sample_rate=RATE).score.tolist() == [0.0]


@pytest.mark.parametrize(
    ("front_end", "said"),
    [
        (lambda x, rate: None, "what the front end gave"),
        (lambda x, rate: np.full(4, np.nan), "nan"),
        (lambda x, rate: np.zeros((2, 2, 2)), "a vector or frames x features"),
        (lambda x, rate: np.zeros(0), "shape"),
        (lambda x, rate: "abc", "dtype"),
        (lambda x: x, "TypeError"),
    ],
)
def odd_results_are_refused_in_words(clips, front_end, said):
    with pytest.raises(auscult.FrontEndError, match=said):
        _learn(clips[:4], front_end)


def odd_front_ends_are_refused(clips):
    with pytest.raises(auscult.InputError, match="a name or a function"):
        _learn(clips[:4], 7)
    with pytest.raises(auscult.InputError, match="leave it out"):
        _learn(clips[:4], _spectrum, convention="s15")
    with pytest.raises(auscult.InputError, match="beside the preset"):
        _learn(clips[:4], _spectrum, preset="best")


def a_function_whose_length_changes_is_refused(clips):
    def changing(samples, sample_rate):
        return np.ones(5 if samples[0] == clips[2, 0] else 4)

    with pytest.raises(auscult.FrontEndError, match="gave 5 features, and 4 before"):
        _learn(clips[:4], changing)


def a_function_that_never_gives_the_same_length_is_the_cause(clips):
    calls = []

    def growing(samples, sample_rate):
        calls.append(1)
        return np.ones(4 + len(calls))

    with pytest.raises(auscult.FrontEndError, match="features, and 5 before") as caught:
        _learn(clips[:4], growing)
    assert isinstance(caught.value.__cause__, auscult.InputError)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def what_ends_a_program_is_not_an_error_of_a_clip(clips, kind):
    def ending(samples, sample_rate):
        if samples[0] == clips[2, 0]:
            raise kind
        return _spectrum(samples, sample_rate)

    with pytest.raises(kind):
        _learn(clips[:4], ending)


def threads_get_their_own_errors(clips):
    import threading

    def fragile(samples, sample_rate):
        if samples[0] == np.float32(0.5):
            raise KeyError("bad clip")
        return _spectrum(samples, sample_rate)

    machine, bad = _learn(clips, fragile), clips[0].copy()
    bad[0] = 0.5
    found = {"good": 0, "bad": 0}

    def score(name, clip, is_right):
        for _ in range(50):
            try:
                machine.score(clip, sample_rate=RATE)
                raised = False
            except auscult.FrontEndError as error:
                raised = isinstance(error.__cause__, KeyError)
            found[name] += raised == is_right

    threads = [
        threading.Thread(target=score, args=("good", clips[1], False)),
        threading.Thread(target=score, args=("bad", bad, True)),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", auscult.AuscultWarning)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {"good": 50, "bad": 50}


def a_function_may_use_the_package_itself(clips, noise):
    """Also with one thread, which computes the function while the function asks it to compute."""

    def nested(samples, sample_rate):
        many = auscult.features.mfcc(np.tile(samples, (20, 1)), sample_rate)
        score = noise.score([samples], sample_rate=sample_rate).score
        return np.concatenate([many[7].mean(axis=0), score])

    try:
        auscult.set_threads(1)
        one = _learn(clips, nested).score(HUM, sample_rate=RATE).score.tolist()
    finally:
        auscult.set_threads()
    assert _learn(clips, nested).score(HUM, sample_rate=RATE).score.tolist() == one
