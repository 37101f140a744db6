"""What tests share: made-up machines, and tests that are sentences."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import auscult

RATE = 16_000


def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> list[Any] | None:
    """Tests are the functions of a module whose names are sentences; helpers begin with an underscore."""
    if inspect.isfunction(obj) and (name.startswith("_") or obj.__module__ != collector.module.__name__):
        return []
    return None


@pytest.fixture(scope="session")
def plant(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pump on 12 visits, with clips of 2 s, and clips to check."""
    folder = tmp_path_factory.mktemp("plant") / "sounds"
    return auscult.datasets.synthesize(
        folder, layout="visits", machines=["pump"], train=(24, 0), test=(3, 0), visits=12, seconds=2.0, severity=1.0
    )


@pytest.fixture(scope="session")
def normal(plant: Path) -> Path:
    return plant / "pump" / "normal"


@pytest.fixture(scope="session")
def check(plant: Path) -> Path:
    return plant / "pump" / "check"


@pytest.fixture(scope="session")
def pump(normal: Path) -> auscult.Machine:
    return _quietly(lambda: auscult.Machine.learn(normal, preset="fast", clip_seconds=2.0))


@pytest.fixture(scope="session")
def clips() -> np.ndarray[Any, Any]:
    """24 clips of noise, 1 s each."""
    return np.random.default_rng(7).normal(0, 0.1, (24, RATE)).astype(np.float32)


@pytest.fixture(scope="session")
def noise(clips: np.ndarray[Any, Any]) -> auscult.Machine:
    """A machine that is noise."""
    visits = [at // 2 for at in range(24)]
    learn = auscult.Machine.learn
    return _quietly(lambda: learn(clips, sample_rate=RATE, visits=visits, preset="paper", clip_seconds=1.0))


def _quietly(work: Any) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", auscult.AuscultWarning)
        return work()


@pytest.fixture(scope="session")
def program() -> Any:
    """Runs the program of the wheel; returns the finished process."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "auscult", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, **options)

    return run
