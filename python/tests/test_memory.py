"""Nothing is kept that nobody holds."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest
from conftest import RATE

import auscult

CALLS = 10_000
#: What allocators may keep for themselves.
MOST_BYTES = 4 << 20


def _resident():
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc, which is not here")
def ten_thousand_calls_leave_memory_flat(noise, clips):
    clip, short = clips[0] * 1.1, clips[0][: RATE // 4]
    rows = np.random.default_rng(0).normal(4, 1, (20, 16)).astype(np.float32)
    out = np.empty_like(auscult.features.log_mel(short, RATE))
    live = noise.live(RATE)

    def call(at):
        scores = noise.score(clip, sample_rate=RATE)
        assert scores.score[0] > 0 and scores[0].reason
        auscult.features.log_mel(short, RATE, out=out)
        auscult.features.log_mel(short, RATE)
        auscult.beam_scores(rows, rows[:2], band_width=4)
        live.push(short)
        if at % 10 == 0:
            noise.score([clip], sample_rate=RATE)
            with pytest.raises(auscult.InputError):
                noise.score(clip, sample_rate=3)

    for at in range(CALLS // 10):
        call(at)
    before = _resident()
    for at in range(CALLS):
        call(at)
    grown = _resident() - before
    assert grown < MOST_BYTES, f"{grown / 1e6:.1f} MB more after {CALLS} calls"
