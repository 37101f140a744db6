"""Threads, forks and spawned processes."""

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import RATE

import auscult


def _score(given):
    machine, clip = given
    return machine.score(clip, sample_rate=RATE).score.tolist()


def _detect(given):
    from auscult.sklearn import BandDetector

    return BandDetector(band_width=20).fit(given).decision_scores_.tolist()


def many_threads_get_the_same_bits(noise, clips):
    queries = [clip * 1.1 for clip in clips]
    expected = [_score((noise, clip)) for clip in queries]
    detector = auscult.sklearn.BandDetector(band_width=30)
    maps = auscult.features.log_mel(clips, RATE)

    def work(at):
        turn = at % 4
        if turn == 0:
            return _score((noise, queries[at % 24])) == expected[at % 24]
        if turn == 1:
            return bool((auscult.features.log_mel(clips[at % 24], RATE) == maps[at % 24]).all())
        if turn == 2:
            own = noise.live(RATE)
            return [record.score for record in own.push(queries[at % 24])] == expected[at % 24]
        rows = maps[:, at % 30]
        return bool(np.isfinite(detector.__class__(band_width=30).fit(rows).decision_scores_).all())

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(800)))


def other_threads_go_on_while_one_computes(noise, clips):
    """Whoever held the interpreter for a whole call would let nobody else run until its end."""
    many = np.tile(clips, (10, 1))
    sounds = [clip * 1.1 for clip in many]
    rows = np.random.default_rng(0).normal(4, 1, (3_000, 1_024)).astype(np.float32)
    works = {
        "encode": lambda: auscult.features.encode(many[:60], "ced"),
        "log_mel": lambda: auscult.features.log_mel(np.tile(many, (6, 1)), RATE),
        "score": lambda: noise.score(sounds, sample_rate=RATE),
        "beam_scores": lambda: auscult.beam_scores(rows, rows[:1_000], band_width=256),
    }
    for name, work in works.items():
        times = []
        done = threading.Event()

        def run(work=work):
            times.append(time.monotonic())
            work()
            times.append(time.monotonic())
            done.set()

        thread = threading.Thread(target=run)
        last, longest = time.monotonic(), 0.0
        thread.start()
        while not done.wait(0.001):
            now = time.monotonic()
            last, longest = now, max(longest, now - last)
        thread.join()
        took = times[1] - times[0]
        assert took > 0.02, f"{name} took {took:.3f} s, too short to tell"
        assert longest < 0.6 * took, f"{name}: nobody else ran for {longest:.3f} of {took:.3f} s"


def one_live_sound_from_several_threads_loses_nothing(noise):
    live = noise.live(RATE)
    piece = np.random.default_rng(3).normal(0, 0.1, RATE // 4).astype(np.float32)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: len(live.push(piece)), range(64)))
    assert sum(found) == 16


def a_thread_that_waits_for_others_does_not_take_up_a_second_push():
    """The first push waits for a clip that another thread computes; the second must not be begun by the thread of the first."""
    script = textwrap.dedent(
        """
        import threading, warnings, numpy as np, auscult
        warnings.simplefilter("ignore")
        auscult.set_threads(2)
        clips = np.random.default_rng(7).normal(0, 0.1, (8, 1000)).astype(np.float32)
        options = {"sample_rate": 1000, "clip_seconds": 1.0, "clip_rate": 1000}
        first, begun, released = [], threading.Event(), threading.Event()

        def slow(samples, sample_rate):
            if first and threading.get_ident() == first[0]:
                begun.wait(10)
            elif first:
                begun.set()
                released.wait(10)
            return samples[:50] + 1

        inner = auscult.Machine.learn(clips, front_end=slow, **options)

        def outer(samples, sample_rate):
            if samples[0] == clips[0, 0] and not first and watched:
                first.append(threading.get_ident())
                inner.score(list(clips), sample_rate=1000)
            return samples[:50] + 1

        watched = []
        live = auscult.Machine.learn(clips, front_end=outer, **options).live(1000)
        watched.append(True)
        found = []
        push = lambda clip: found.append(len(live.push(clip)))
        threads = [threading.Thread(target=push, args=(clip,)) for clip in clips[:2]]
        threads[0].start()
        begun.wait(10)
        threads[1].start()
        threads[1].join(1)
        released.set()
        for thread in threads:
            thread.join()
        print(begun.is_set(), found)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert done.stdout == "True [1, 1]\n", done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def processes_get_the_same_bits(method, noise, clips):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    # Threads run before the fork; the child has none of them.
    expected = [_score((noise, clip)) for clip in clips[:4]]
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        found = pool.map_async(_score, [(noise, clip) for clip in clips[:4]]).get(120)
        rows = np.random.default_rng(0).normal(4, 1, (60, 40))
        assert pool.map_async(_detect, [rows]).get(120) == [_detect(rows)]
    assert found == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def a_fork_while_threads_compute_does_not_hang(noise, clips):
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        busy = [pool.submit(auscult.features.log_mel, clips, RATE) for _ in range(20)]
        for _ in range(5):
            child = context.Process(target=_score, args=((noise, clips[0]),))
            child.start()
            child.join(60)
            assert child.exitcode == 0
        assert all((job.result() == busy[0].result()).all() for job in busy)


def the_number_of_threads_changes_no_bit(clips):
    found = []
    try:
        for count in (1, 2, 5):
            auscult.set_threads(count)
            assert auscult.thread_count() == count
            rows = auscult.features.vectors(clips, RATE, "mfcc")["mean"]
            found.append((rows.tobytes(), auscult.left_out_scores(rows, band_width=20).tobytes()))
    finally:
        auscult.set_threads()
    assert len(set(found)) == 1
    with pytest.raises(auscult.InputError, match="1024"):
        auscult.set_threads(5000)
