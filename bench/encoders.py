#!/usr/bin/env python3
"""Times a BEATs-size forward pass (12 x 768, 496 tokens) here, in PyTorch and in ONNX Runtime, and
CED-tiny here, in turns, and writes every time and the medians to results/encoders/.

Weights are made up: times do not depend on them. PyTorch runs the same graph with fused attention;
ONNX Runtime runs its export. Here the time includes the filter bank; there it does not.

usage: bench/encoders.py PATH_OF_forward_time ROUNDS THREADS...
       (cargo build --release -p auscult-encoders --example forward_time; needs torch, onnx,
       onnxscript and onnxruntime)
"""
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
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


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(1, 512, 16, 16, bias=False)
        self.norm, self.project = nn.LayerNorm(512), nn.Linear(512, 768)
        self.position = nn.Conv1d(768, 768, 128, padding=64, groups=16)
        self.start = nn.LayerNorm(768)
        self.bias = nn.Parameter(torch.randn(1, 12, 496, 496) * 0.1)
        self.blocks = nn.ModuleList([Block() for _ in range(12)])

    def forward(self, x):
        x = self.project(self.norm(self.patch(x).flatten(2).transpose(1, 2)))
        position = self.position(x.transpose(1, 2))[:, :, :-1]
        x = self.start(x + functional.gelu(position).transpose(1, 2))
        for block in self.blocks:
            x = block(x, self.bias)
        return x


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


def main():
    program, rounds, threads = sys.argv[1], int(sys.argv[2]), [int(word) for word in sys.argv[3:]]
    torch.manual_seed(1)
    model = Encoder().eval()
    sample = torch.randn(1, 1, 998, 128)
    path = os.path.join(tempfile.mkdtemp(), "beats.onnx")
    with torch.inference_mode():
        torch.onnx.export(model, (sample,), path, input_names=["x"], output_names=["y"], dynamo=True)
    runs = {}
    for count in threads:
        def pytorch(count=count):
            torch.set_num_threads(count)
            with torch.inference_mode():
                model(sample)

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = count
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feed = {"x": sample.numpy()}
        runs[f"auscult BEATs f32, {count} thread(s)"] = Ours(program, "beats", "f32", count)
        runs[f"auscult BEATs int16, {count} thread(s)"] = Ours(program, "beats", "int16", count)
        runs[f"PyTorch {torch.__version__}, {count} thread(s)"] = timed(pytorch)
        runs[f"ONNX Runtime {onnxruntime.__version__}, {count} thread(s)"] = timed(
            lambda session=session: session.run(None, feed))
        runs[f"auscult BEATs layer 6, {count} thread(s)"] = Ours(program, "beats", "f32", count, 6)
        runs[f"auscult CED-tiny layer 8, {count} thread(s)"] = Ours(program, "ced", "f32", count)
    times = {name: [] for name in runs}
    for round_ in range(rounds + 1):
        for name, run in runs.items():
            took = run()
            if round_ > 0:  # the first one warms up
                times[name].append(took)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    facts = {"command": " ".join(["bench/encoders.py", *sys.argv[1:]]), "commit": commit, "rounds": rounds,
             "machine": f"{os.cpu_count()} x {cpu}", "load_average": os.getloadavg(), "python": platform.python_version(),
             "milliseconds": {name: [round(value, 2) for value in values] for name, values in times.items()}}
    os.makedirs("results/encoders", exist_ok=True)
    with open("results/encoders/forward.json", "w") as file:
        json.dump(facts, file, indent=1)
    for name, values in times.items():
        print(f"{statistics.median(values):9.1f} ms median {min(values):9.1f} ms best  {name}")


main()
