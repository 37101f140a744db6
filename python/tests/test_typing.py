"""Types as a user's checker sees them."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

USER = '''
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import auscult
from auscult.sklearn import BandDetector


def told(state: auscult.Progress) -> None:
    print(state.what, state.done, state.total)


machine: auscult.Machine = auscult.Machine.learn("recordings/", preset="best", progress=told)
machine.save(Path("pump.auscult"))
scores: auscult.Scores = machine.score(["a.wav"])
values: NDArray[np.float64] = scores.score
verdicts: NDArray[np.str_] = scores.verdict
first: auscult.Record = scores[0]
reason: str = first.reason
threshold: float | None = machine.threshold
for record in machine.live(48_000).push(np.zeros(480, dtype=np.float32)):
    reason = record.reason
figure: float = auscult.metrics.auc([0, 1], values)
normal: NDArray[np.float64] = BandDetector(band_width=38, neighbours=1).fit(np.zeros((3, 4))).score_samples(np.zeros((1, 4)))
shape: tuple[int, ...] = auscult.features.log_mel(values, 16000, convention="s15").shape
cepstra: list[NDArray[np.float32]] = auscult.features.mfcc([values, values], 16000)
tokens: NDArray[np.float32] = auscult.features.encode(values, "ced", layer=8)
distances: NDArray[np.float64] = auscult.beam_scores(np.zeros((3, 4)), np.zeros((1, 4)), band_width=2)
'''


def _run(*command):
    return subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True)


@pytest.fixture
def user(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(USER)
    return file


def mypy_is_content_with_a_users_file_and_finds_a_mistake(user):
    mistaken = user.with_name("mistaken.py")
    mistaken.write_text(USER + "wrong: int = scores.score\n")
    # Both at once: most of the time goes into packages that they import.
    done = _run("mypy", "--strict", "--no-incremental", "--no-error-summary", user, mistaken)
    assert done.returncode == 1
    (found,) = done.stdout.splitlines()
    line = len(mistaken.read_text().splitlines())
    assert f"mistaken.py:{line}: error: Incompatible types in assignment" in found, done.stdout


def pyright_is_content_with_a_users_file(user):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    done = _run("pyright", "--pythonpath", sys.executable, user)
    assert done.returncode == 0, done.stdout + done.stderr


def the_stub_is_the_native_module():
    done = _run("mypy.stubtest", "auscult._native")
    assert done.returncode == 0, done.stdout + done.stderr


def the_package_itself_is_typed():
    source = Path(__file__).parents[1] / "auscult"
    done = _run("mypy", "--strict", "--no-incremental", "--config-file", source.parents[1] / "pyproject.toml", source)
    assert done.returncode == 0, done.stdout
