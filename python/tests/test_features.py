"""Feature maps on arrays."""

import numpy as np
import pytest
from conftest import RATE
from hypothesis import given, settings
from hypothesis import strategies as st

import auscult
from auscult import features

MAPS = {
    "log_mel": lambda x, **options: features.log_mel(x, RATE, **options),
    "mfcc": lambda x, **options: features.mfcc(x, RATE, **options),
    "lpc": lambda x, **options: features.lpc_spectrum(x, RATE, **options),
    "modulation": lambda x, **options: features.modulation(x, RATE, **options),
    "encode": lambda x, **options: features.encode(x, "ced", layer=8, **options),
}


@pytest.mark.parametrize("name", MAPS)
def batches_lists_and_buffers_equal_single_clips(name, clips):
    compute = MAPS[name]
    some = clips[:5]
    single = np.stack([compute(clip) for clip in some])
    assert single.dtype == np.float32 and np.isfinite(single).all()
    assert (compute(some) == single).all()
    listed = compute([*some, np.concatenate([some[0], some[1][:4_000]])])
    assert all((left == right).all() for left, right in zip(listed, single))
    out = np.full_like(single, -1)
    assert compute(some, out=out) is out and (out == single).all()
    first = np.empty_like(single[0])
    assert (compute(some[0], out=first) == single[0]).all()
    for wrong in (out[:, :-1], out.astype(np.float64), out[:3], np.asfortranarray(out)):
        with pytest.raises(auscult.InputError):
            compute(some, out=wrong)


def log_mel_is_that_of_kaldi_and_librosa_in_its_axis():
    found = features.hertz(RATE, 0, 128)
    assert found.tolist() == [0.0, 8000.0]
    tone = 0.5 * np.sin(2 * np.pi * 2000 * np.arange(RATE) / RATE)
    loudest = int(np.argmax(features.log_mel(tone, RATE).mean(axis=0)))
    low, high = features.hertz(RATE, loudest, loudest + 1)
    assert low <= 2000 <= high


def vectors_pool_the_maps(clips):
    views = features.vectors(clips[:4], RATE)
    maps = features.log_mel(clips[:4], RATE)
    np.testing.assert_allclose(views["mean"], maps.mean(axis=1), rtol=1e-5)
    assert (views["max"] == maps.max(axis=1)).all()


def conventions_are_named(clips):
    assert features.log_mel(clips[0], RATE, "mimii").shape[1] == 64
    assert features.mfcc(clips[0], RATE, "librosa", coefficients=20).shape[1] == 20
    assert features.lpc_spectrum(clips[0], RATE, "inverse", order=10, points=100).shape == (1, 100)
    with pytest.raises(auscult.InputError, match="layer"):
        features.encode(clips[0], "ced", layer=99)
    with pytest.raises(auscult.FrontEndError, match="weights"):
        features.encode(np.zeros(RATE * 10) + 0.1, "beats")


@settings(max_examples=40, deadline=None)
@given(st.integers(1_600, 40_000), st.sampled_from([8_000, 16_000, 44_100]), st.integers(0, 2**31))
def maps_of_any_length_and_rate_are_finite(samples, rate, seed):
    x = np.random.default_rng(seed).normal(0, 0.1, max(samples, rate // 8))
    found = features.log_mel(x, rate)
    assert found.ndim == 2 and found.shape[1] == 128 and np.isfinite(found).all()
    # Louder by 20 dB is the same, shifted (Kaldi's log energies have a floor far below).
    louder = features.log_mel(x * 10, rate)
    np.testing.assert_allclose(louder - found, 2 * np.log(10), atol=0.05)
