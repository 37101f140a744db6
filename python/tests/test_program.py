"""The package and the program of the same wheel give the same files and the same numbers."""

import contextlib
import json
import math
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import auscult


@pytest.mark.parametrize("preset", ["best", "fast", "paper"])
@pytest.mark.filterwarnings("ignore::auscult.AuscultWarning")
def models_and_scores_equal_the_programs_bit_for_bit(preset, normal, check, program, tmp_path):
    of_program, of_package = tmp_path / "program.auscult", tmp_path / "package.auscult"
    fitted = program("fit", normal, "-o", of_program, "--preset", preset, "--clip-seconds", 2)
    assert fitted.returncode == 0, fitted.stderr
    machine = auscult.Machine.learn(normal, preset=preset, clip_seconds=2.0)
    machine.save(of_package)
    assert of_package.read_bytes() == of_program.read_bytes()
    assert machine.preset == preset

    printed = program("score", of_program, check, "--json")
    assert printed.returncode == 0, printed.stderr
    expected = json.loads(printed.stdout)
    scores = auscult.Machine.open(of_program).score(check)
    assert scores.to_dicts() == expected["clips"]
    assert scores.summary == expected["run"]["summary"]
    assert [None if math.isnan(score) else score for score in scores.score] == [c["score"] for c in expected["clips"]]
    assert set(scores.verdict) == {"normal", "anomalous"}


def arrays_score_as_the_files_they_come_from(pump, check):
    import wave

    import numpy as np

    path = sorted(check.rglob("*.wav"))[0]
    with wave.open(str(path)) as sound:
        integers = np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2")
        rate = sound.getframerate()
    of_file = pump.score(path)
    for samples in (integers, (integers / 32768).astype(np.float32), integers / 32768.0):
        assert pump.score(samples, sample_rate=rate).score.tolist() == of_file.score.tolist()
        assert pump.score([samples], sample_rate=rate).score.tolist() == of_file.score.tolist()
    # At another rate the same resampler is asked.
    live = pump.live(rate)
    pushed = [record.score for piece in np.array_split(integers, 7) for record in live.push(piece)]
    assert pushed == of_file.score.tolist()


def explanations_are_the_programs(pump, check, program, tmp_path):
    model, path = tmp_path / "pump.auscult", sorted(check.rglob("*.wav"))[-1]
    pump.save(model)
    expected = json.loads(program("explain", model, path, "--json").stdout)["clips"][0]["explanation"]
    why = pump.explain(path)
    assert why.summary == expected["summary"]
    assert [band.sentence for band in why.bands] == [band["sentence"] for band in expected["bands"]]


def the_script_of_the_wheel_is_the_program(program):
    script = Path(sys.executable).with_name("auscult")
    if not script.exists():
        pytest.skip("the package is not installed here, so there is no script")
    assert shutil.which(str(script))
    of_script = subprocess.run([script, "--version"], capture_output=True, text=True)
    assert of_script.returncode == 0
    assert of_script.stdout == program("--version").stdout
    assert f"auscult {auscult.__version__}" in of_script.stdout


def ctrl_c_ends_the_program_with_its_own_words(normal, tmp_path):
    import signal

    target = tmp_path / "pump.auscult"
    command = [sys.executable, "-m", "auscult", "fit", str(normal), "--clip-seconds", "2", "--output", str(target)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watched = Path(f"/proc/{started.pid}/task")
    if not watched.exists():
        started.kill()
        started.communicate()
        pytest.skip("threads of a process cannot be looked at here")
    # The program watches for signals once it has a thread for them.
    deadline = time.monotonic() + 30
    names: set[str] = set()
    while "signals" not in names and time.monotonic() < deadline:
        for thread in watched.iterdir():
            # Threads may end while they are looked at.
            with contextlib.suppress(OSError):
                names.add((thread / "comm").read_text().strip())
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 2, said
    assert "stopped: no model was written" in said and "Traceback" not in said
    assert not target.exists()


def exit_codes_are_the_programs(program, pump, check, tmp_path):
    assert program("no-such-command").returncode == 2
    assert program("--help").returncode == 0
    model = tmp_path / "pump.auscult"
    pump.save(model)
    assert program("score", model, check, "--fail-on-anomaly").returncode == 1
    missing = program("score", tmp_path / "gone.auscult", check)
    assert missing.returncode == 2
    assert "gone.auscult" in missing.stderr
