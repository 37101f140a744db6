"""What documents show runs."""

import re
import shutil
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _blocks(text):
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
@pytest.mark.filterwarnings("ignore::auscult.AuscultWarning")
def python_in_documents_runs(page, normal, check, tmp_path, monkeypatch):
    blocks = _blocks((ROOT / page).read_text(encoding="utf-8"))
    assert blocks, f"{page} shows no Python"
    shutil.copytree(normal, tmp_path / "recordings")
    (tmp_path / "today").mkdir()
    sounds = sorted(check.rglob("*.wav"))
    shutil.copy(sounds[0], tmp_path / "today" / "a.wav")
    shutil.copy(sounds[-1], tmp_path / "today" / "b.wav")
    shutil.copy(sounds[0], tmp_path / "today.wav")
    monkeypatch.chdir(tmp_path)
    import auscult

    # Documents take clips of 10 s for granted; these have 2 s.
    learn = auscult.Machine.learn.__func__
    monkeypatch.setattr(
        auscult.Machine, "learn", classmethod(lambda cls, *given, **named: learn(cls, *given, **{"clip_seconds": 2.0} | named))
    )
    namespace = {}
    for block in blocks:
        exec(compile(block, page, "exec"), namespace)


@pytest.mark.parametrize("name", ["first-machine", "own-embedding"])
def notebooks_run_from_top_to_bottom(name, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    from nbclient import NotebookClient

    book = nbformat.read(ROOT / "docs" / "notebooks" / f"{name}.ipynb", as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    html = [
        output["data"]["text/html"]
        for cell in book.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert html, "the notebook shows nothing"


def every_public_name_has_a_doctest():
    import inspect

    import auscult
    from auscult import archive, bench, datasets, features, method, metrics, plot, sklearn

    missing = []
    for module in (auscult, archive, bench, datasets, features, method, metrics, plot, sklearn):
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            if inspect.ismodule(thing) or (inspect.isclass(thing) and issubclass(thing, (Exception, Warning))):
                continue
            if ">>>" not in (inspect.getdoc(thing) or ""):
                missing.append(f"{module.__name__}.{name}")
    for thing in (
        auscult.Machine, auscult.Scores, auscult.Explanation, auscult.Live, auscult.TunedSettings, bench.Results,
        archive.Plan, archive.Rows, archive.Scorer, sklearn.BandDetector, sklearn.BeamDetector,
    ):
        examples = [line for line in inspect.getdoc(thing).splitlines() if line.startswith((">>>", "..."))]
        for name, method_ in vars(thing).items():
            found = getattr(method_, "__func__", method_)
            if name.startswith("_") or not inspect.isfunction(found):
                continue
            # In its own documentation or in that of its class.
            if ">>>" not in (inspect.getdoc(found) or "") and not any(f".{name}(" in line for line in examples):
                missing.append(f"{thing.__name__}.{name}")
    assert not missing
