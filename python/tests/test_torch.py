"""Tensors of torch, where it is installed: bench/python.sh runs these in an environment that has it."""

import numpy as np
import pytest
from conftest import RATE

import auscult
from auscult import _arrays

torch = pytest.importorskip("torch", reason="torch is not installed: tensors are tested with a stand-in only")


def _noise(*shape):
    return torch.from_numpy(np.random.default_rng(0).normal(0, 0.1, shape).astype(np.float32))


def tensors_are_looked_at_without_a_copy():
    tensor = _noise(3, RATE)
    assert _arrays.samples(tensor[0], "x").__array_interface__["data"][0] == tensor.data_ptr()
    clips, _ = _arrays.clips(tensor)
    assert [clip.__array_interface__["data"][0] for clip in clips] == [row.data_ptr() for row in tensor]
    assert _arrays.matrix(tensor, "x").__array_interface__["data"][0] == tensor.data_ptr()


def features_of_tensors_are_those_of_arrays_and_go_back_without_a_copy():
    tensor = _noise(3, RATE)
    found = auscult.features.log_mel(tensor, RATE)
    assert (found == auscult.features.log_mel(tensor.numpy(), RATE)).all()
    back = torch.from_numpy(found)
    assert back.data_ptr() == found.__array_interface__["data"][0]
    maps = auscult.features.log_mel([tensor[0], tensor[1][: RATE // 2]], RATE)
    assert (maps[0] == found[0]).all() and len(maps[1]) < len(maps[0])
    out = torch.empty(found.shape)
    assert auscult.features.log_mel(tensor, RATE, out=out) is out
    assert (out.numpy() == found).all()
    assert (auscult.features.log_mel(tensor.T.contiguous().T, RATE) == found).all()
    assert auscult.features.log_mel(tensor.double(), RATE).dtype == np.float32


def machines_and_detectors_take_tensors(noise, clips):
    from auscult.sklearn import BandDetector

    tensors = torch.from_numpy(clips)
    expected = noise.score(clips, sample_rate=RATE).score.tolist()
    assert noise.score(tensors, sample_rate=RATE).score.tolist() == expected
    assert noise.score(list(tensors), sample_rate=RATE).score.tolist() == expected
    assert noise.live(RATE).push(tensors[0]).score.tolist() == expected[:1]
    rows = _noise(40, 16) + 4
    assert (BandDetector().fit(rows).decision_scores_ == BandDetector().fit(rows.numpy()).decision_scores_).all()
    assert (auscult.beam_scores(rows, rows[:3]) == auscult.beam_scores(rows.numpy(), rows[:3].numpy())).all()
    assert auscult.metrics.auc(torch.tensor([0, 1]), torch.tensor([0.1, 0.2])) == 1.0


def an_embedding_may_give_tensors(clips):
    def embedding(samples, sample_rate):
        return torch.fft.rfft(torch.from_numpy(samples)).abs()[:64]

    machine = auscult.Machine.learn(
        clips, sample_rate=RATE, visits=[at // 2 for at in range(24)], front_end=embedding, clip_seconds=1.0
    )
    assert machine.score(clips[0], sample_rate=RATE).score.tolist() == [0.0]


def tensors_that_numpy_cannot_look_at_are_refused_in_words(noise):
    with pytest.raises(auscult.InputError, match="(?i)grad"):
        noise.score(_noise(RATE).requires_grad_(), sample_rate=RATE)
    with pytest.raises(auscult.InputError, match="(?i)bfloat16"):
        noise.score(_noise(RATE).to(torch.bfloat16), sample_rate=RATE)
    with pytest.raises(auscult.InputError, match="torch.float64"):
        auscult.features.log_mel(_noise(2, RATE), RATE, out=torch.empty(2, 30, 128, dtype=torch.float64))
    with pytest.raises(auscult.InputError, match="(?i)cannot be taken"):
        noise.score(_noise(RATE).to("meta"), sample_rate=RATE)
