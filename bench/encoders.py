#!/usr/bin/env python3
"""Times forward passes of BEATs (12 x 768, 496 tokens) and EAT base (12 x 768, 513 tokens) here, in
PyTorch and in ONNX Runtime, and CED-tiny here, in turns, and writes every time to results/encoders/.

Weights are made up: times do not depend on them. PyTorch runs the same graphs with fused attention;
ONNX Runtime runs their exports. Here the time includes the filter bank; there it does not.

Then whole programs, one thread: from a WAV file to a vector with BEATs (a made-up PyTorch file) and with
the bundled CED-tiny, with their peak memory. ONNX Runtime's threads do not spin between calls, so that
they do not disturb whoever comes next.

usage: bench/encoders.py PATH_OF_forward_time PATH_OF_auscult ROUNDS THREADS...
       (cargo build --profile dist -p auscult-encoders --example forward_time, cargo build --profile dist;
       needs torch, onnx, onnxscript and onnxruntime)
"""
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import wave

import numpy as np
import onnxruntime
import torch
from torch import nn
from torch.nn import functional

from processes import peak_memory, timed_process


class BeatsBlock(nn.Module):
    def __init__(self, width=768, heads=12, hidden=3072):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.gate = nn.Linear(width // heads, 8)
        self.gate_factor = nn.Parameter(torch.ones(1, heads, 1, 1))

    def forward(self, x, bias):
        batch, count, width = x.shape
        q, k, v = self.qkv(x).view(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a, b = torch.sigmoid(self.gate(q).view(batch, self.heads, count, 2, 4).sum(-1)).chunk(2, -1)
        mask = (a * (b * self.gate_factor - 1.0) + 2.0) * bias
        y = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm1(2.2133638 * x + self.out(y.transpose(1, 2).reshape(batch, count, width)))
        return self.norm2(2.2133638 * x + self.fc2(functional.gelu(self.fc1(x))))


class Beats(nn.Module):
    frames = 998

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(1, 512, 16, 16, bias=False)
        self.norm, self.project = nn.LayerNorm(512), nn.Linear(512, 768)
        self.position = nn.Conv1d(768, 768, 128, padding=64, groups=16)
        self.start = nn.LayerNorm(768)
        self.bias = nn.Parameter(torch.randn(1, 12, 496, 496) * 0.1)
        self.blocks = nn.ModuleList([BeatsBlock() for _ in range(12)])

    def forward(self, x):
        x = self.project(self.norm(self.patch(x).flatten(2).transpose(1, 2)))
        position = self.position(x.transpose(1, 2))[:, :, :-1]
        x = self.start(x + functional.gelu(position).transpose(1, 2))
        for block in self.blocks:
            x = block(x, self.bias)
        return x


class EatBlock(nn.Module):
    def __init__(self, width=768, heads=12, hidden=3072):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)

    def forward(self, x):
        batch, count, width = x.shape
        q, k, v = self.qkv(x).view(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v)
        x = self.norm1(x + self.out(y.transpose(1, 2).reshape(batch, count, width)))
        return self.norm2(x + self.fc2(functional.gelu(self.fc1(x))))


class Eat(nn.Module):
    frames = 1024

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(1, 768, 16, 16)
        self.positions = nn.Parameter(torch.randn(1, 512, 768) * 0.1)
        self.class_token = nn.Parameter(torch.randn(1, 1, 768) * 0.1)
        self.start = nn.LayerNorm(768, 1e-6)
        self.blocks = nn.ModuleList([EatBlock() for _ in range(12)])

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.positions
        x = self.start(torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], 1))
        for block in self.blocks:
            x = block(x)
        return x


class Peers:
    """A network in PyTorch and, exported, in ONNX Runtime."""

    def __init__(self, network, folder):
        self.network, self.sample = network.eval(), torch.randn(1, 1, network.frames, 128)
        self.path = os.path.join(folder, f"{type(network).__name__}.onnx")
        with torch.inference_mode():
            torch.onnx.export(self.network, (self.sample,), self.path, input_names=["x"], output_names=["y"],
                              dynamo=True)
            want = self.network(self.sample).numpy()
        got = self.session(os.cpu_count()).run(None, {"x": self.sample.numpy()})[0]
        assert np.abs(got - want).max() < 1e-3, "the export is another network"

    def session(self, count):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = count
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])

    def pytorch(self, count):
        def run():
            torch.set_num_threads(count)
            with torch.inference_mode():
                self.network(self.sample)

        return timed(run)

    def onnx_runtime(self, count):
        session, feed = self.session(count), {"x": self.sample.numpy()}
        return timed(lambda: session.run(None, feed))


class Ours:
    def __init__(self, program, *words):
        self.process = subprocess.Popen([program, *map(str, words)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __call__(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline().split()[0])


def timed(function):
    def run():
        began = time.perf_counter()
        function()
        return (time.perf_counter() - began) * 1e3

    return run


def made_up_beats(path):
    """A BEATs checkpoint of the released form, with random weights."""
    shapes = {"patch_embedding.weight": (512, 1, 16, 16), "layer_norm.weight": (512,), "layer_norm.bias": (512,),
              "post_extract_proj.weight": (768, 512), "post_extract_proj.bias": (768,),
              "encoder.pos_conv.0.weight_g": (1, 1, 128), "encoder.pos_conv.0.weight_v": (768, 48, 128),
              "encoder.pos_conv.0.bias": (768,), "encoder.layer_norm.weight": (768,), "encoder.layer_norm.bias": (768,)}
    for layer in range(12):
        own = {"self_attn.grep_a": (1, 12, 1, 1), "self_attn.grep_linear.weight": (8, 64),
               "self_attn.grep_linear.bias": (8,), "self_attn.relative_attention_bias.weight": (320, 12),
               "fc1.weight": (3072, 768), "fc1.bias": (3072,), "fc2.weight": (768, 3072), "fc2.bias": (768,)}
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            own |= {f"self_attn.{part}.weight": (768, 768), f"self_attn.{part}.bias": (768,)}
        for norm in ("self_attn_layer_norm", "final_layer_norm"):
            own |= {f"{norm}.weight": (768,), f"{norm}.bias": (768,)}
        shapes |= {f"encoder.layers.{layer}.{name}": shape for name, shape in own.items()}
    config = {"encoder_layers": 12, "encoder_embed_dim": 768, "encoder_ffn_embed_dim": 3072,
              "encoder_attention_heads": 12, "activation_fn": "gelu", "layer_norm_first": False, "conv_pos": 128,
              "conv_pos_groups": 16, "relative_position_embedding": True, "num_buckets": 320, "max_distance": 800,
              "gru_rel_pos": True, "deep_norm": True, "input_patch_size": 16, "embed_dim": 512}
    weights = {name: torch.randn(shape) * 0.03 for name, shape in shapes.items()}
    torch.save({"cfg": config, "model": weights}, path)


def whole_programs(program, folder, rounds):
    """Milliseconds and peak megabytes from a WAV file to a vector, whole processes on one thread."""
    clip, beats, out = (os.path.join(folder, name) for name in ("clip.wav", "beats.pt", "out.npy"))
    made_up_beats(beats)
    with wave.open(clip, "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(16000)
        file.writeframes((np.random.default_rng(1).normal(size=160_000) * 3000).astype("<i2").tobytes())
    command = [program, "features", clip, "--view", "mean", "--npy", out, "--jobs", "1", "--front-end"]
    found = {}
    for name, words in {"BEATs": ["beats", "--encoder", beats], "CED-tiny": ["ced"]}.items():
        found[name] = {"milliseconds": []}
        for _ in range(rounds):
            began = time.perf_counter()
            timed_process(command + words)
            found[name]["milliseconds"].append(round((time.perf_counter() - began) * 1e3, 2))
        found[name]["peak_megabytes"] = round(peak_memory(command + words), 1)
    return found


def main():
    program, auscult, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    threads = [int(word) for word in sys.argv[4:]]
    torch.manual_seed(1)
    folder = tempfile.mkdtemp()
    peers = {"BEATs": Peers(Beats(), folder), "EAT base": Peers(Eat(), folder)}
    runs = {}
    for count in threads:
        for name, network in peers.items():
            word = name.split()[0].lower()
            runs[f"auscult {name} f32, {count} thread(s)"] = Ours(program, word, "f32", count)
            runs[f"auscult {name} int16, {count} thread(s)"] = Ours(program, word, "int16", count)
            runs[f"PyTorch {torch.__version__} {name}, {count} thread(s)"] = network.pytorch(count)
            runs[f"ONNX Runtime {onnxruntime.__version__} {name}, {count} thread(s)"] = network.onnx_runtime(count)
        runs[f"auscult BEATs layer 6, {count} thread(s)"] = Ours(program, "beats", "f32", count, 6)
        runs[f"auscult CED-tiny layer 8, {count} thread(s)"] = Ours(program, "ced", "f32", count)
    times = {name: [] for name in runs}
    for round_ in range(rounds + 1):
        for name, run in runs.items():
            took = run()
            if round_ > 0:  # the first one warms up
                times[name].append(took)
    whole = whole_programs(auscult, folder, rounds)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    facts = {"command": " ".join(["bench/encoders.py", *sys.argv[1:]]), "commit": commit, "rounds": rounds,
             "machine": f"{os.cpu_count()} x {cpu}", "load_average": os.getloadavg(), "python": platform.python_version(),
             "milliseconds": {name: [round(value, 2) for value in values] for name, values in times.items()},
             "file_to_vector": whole}
    os.makedirs("results/encoders", exist_ok=True)
    with open("results/encoders/forward.json", "w") as file:
        json.dump(facts, file, indent=1)
    for name, values in times.items():
        print(f"{statistics.median(values):9.1f} ms median {min(values):9.1f} ms best  {name}")
    for name, found in whole.items():
        print(f"{statistics.median(found['milliseconds']):9.1f} ms median, peak "
              f"{found['peak_megabytes']:.0f} MB  WAV file to vector, {name}")


main()
