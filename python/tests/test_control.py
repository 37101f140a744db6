"""Progress, warnings, logging, and stopping."""

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import RATE

import auscult


def progress_is_told_in_the_callers_thread(pump, check):
    import threading

    seen = []
    pump.score(check, progress=lambda state: seen.append((state, threading.current_thread())))
    states = [state for state, _ in seen]
    assert states[0].done == 0 and states[-1].done == states[-1].total == len(list(check.rglob("*.wav")))
    assert {thread for _, thread in seen} == {threading.current_thread()}


def a_bar_is_drawn_on_standard_error(pump, check, capsys):
    pump.score(check, progress=True)
    assert "files" in capsys.readouterr().err


def an_exception_in_the_callback_stops_the_work(pump, normal):
    seen = []

    def refuse(state):
        seen.append(state)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pump.score(normal, progress=refuse)
    assert len(seen) == 1
    assert len(pump.score(normal)) == 24


def warnings_may_be_errors(clips):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", auscult.AuscultWarning)
        with pytest.raises(auscult.AuscultWarning, match="not promised"):
            auscult.Machine.learn(clips[:5], sample_rate=RATE, preset="paper", clip_seconds=1.0)


def warnings_point_at_the_callers_line(clips):
    with pytest.warns(auscult.AuscultWarning) as caught:
        auscult.Machine.learn(clips[:5], sample_rate=RATE, preset="paper", clip_seconds=1.0)
    assert caught[0].filename == __file__


def notes_go_to_the_log(clips, caplog):
    import warnings

    with caplog.at_level(logging.INFO, logger="auscult"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Clips of half a second have no modulation spectrum.
        auscult.Machine.learn(clips[:6], sample_rate=RATE, preset="fast", clip_seconds=0.5)
    assert any("goes without modulation" in record.message for record in caplog.records)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
def ctrl_c_stops_cleanly(plant, tmp_path):
    script = textwrap.dedent(
        f"""
        import signal, sys, time, warnings, auscult
        # A shell that runs the tests in the background has switched it off.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        warnings.simplefilter("ignore")
        recordings = [{str(plant / "pump" / "normal")!r}] * 400
        def tell(state):
            if state.done == 3:
                print("busy", flush=True)
        try:
            auscult.Machine.learn(recordings, preset="best", clip_seconds=2.0, progress=tell)
        except KeyboardInterrupt:
            machine = auscult.Machine.learn(recordings[:1], preset="paper", clip_seconds=2.0)
            print("stopped", machine.reference_count, flush=True)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "busy\n"
        began = time.monotonic()
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped 24\n"
        assert time.monotonic() - began < 30
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.wait()


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
def ctrl_c_stops_a_batch_of_features():
    script = textwrap.dedent(
        """
        import signal, numpy as np, auscult
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Seconds of work on any machine.
        auscult.set_threads(1)
        clips = np.random.default_rng(0).standard_normal((1000, 16000), dtype=np.float32)
        auscult.features.encode(clips[0], "ced")
        print("busy", flush=True)
        try:
            auscult.features.encode(clips, "ced")
        except KeyboardInterrupt:
            print("stopped", auscult.features.encode(clips[:20], "ced").shape[0], flush=True)
        """
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "busy\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped 20\n"
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.wait()
