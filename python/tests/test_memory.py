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
@pytest.mark.filterwarnings("ignore::auscult.AuscultWarning")
def ten_thousand_calls_leave_memory_flat(clips):
    # Short clips: what is kept by mistake does not depend on how long a call computes.
    short = clips[:8, : RATE // 5]
    machine = auscult.Machine.learn(short, sample_rate=RATE, preset="paper", clip_seconds=0.2)
    clip, rows = short[0] * 1.1, np.random.default_rng(0).normal(4, 1, (8, 8)).astype(np.float32)
    out = np.empty_like(auscult.features.log_mel(clip, RATE))
    live = machine.live(RATE)

    def call(at):
        scores = machine.score(clip, sample_rate=RATE)
        assert scores.score[0] > 0 and scores[0].reason
        auscult.features.log_mel(clip, RATE, out=out)
        auscult.features.log_mel(clip, RATE)
        auscult.beam_scores(rows, rows[:2], band_width=4)
        assert len(live.push(clip)) == 1
        if at % 10 == 0:
            machine.score([clip], sample_rate=RATE)
            with pytest.raises(auscult.InputError):
                machine.score(clip, sample_rate=3)

    for at in range(CALLS // 10):
        call(at)
    before = _resident()
    for at in range(CALLS):
        call(at)
    grown = _resident() - before
    assert grown < MOST_BYTES, f"{grown / 1e6:.1f} MB more after {CALLS} calls"
