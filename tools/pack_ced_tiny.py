#!/usr/bin/env python3
"""Packs the int8 release of CED-tiny into crates/auscult-ced-tiny/data/ced-tiny-int8.safetensors.

The release (models/tiny.onnx of the crate soundevents 0.5.0, an export of mispeech/ced-tiny) holds
most weights as int8 with one f32 factor a tensor. Both are copied as they are, so nothing is lost:
integer times factor is the released weight. Needs numpy and onnx.

usage: tools/pack_ced_tiny.py tiny.onnx [model.safetensors to compare with]
"""
import hashlib
import json
import struct
import sys

import numpy as np
import onnx
from onnx import numpy_helper

OUT = "crates/auscult-ced-tiny/data/ced-tiny-int8.safetensors"


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    kinds = {"F32": np.float32, "I8": np.int8}
    return {
        name: np.frombuffer(data[slice(*info["data_offsets"])], kinds[info["dtype"]]).reshape(info["shape"])
        for name, info in header.items()
    }


def main():
    graph = onnx.load(sys.argv[1]).graph
    constants = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    dequantised, outputs = {}, {}
    for node in graph.node:
        if node.op_type == "DequantizeLinear":
            values, factor, zero = (constants[name] for name in node.input)
            assert values.dtype == np.int8 and factor.shape == () and zero == 0
            name = node.input[0].removesuffix("_q")
            dequantised[name] = (values, np.float32(factor))
            outputs[name] = node.output[0]

    tensors = {}

    def put(name, stored, turned=False):
        if stored in dequantised:
            values, factor = dequantised[stored]
            tensors[name] = np.ascontiguousarray(values.T if turned else values)
            tensors[name + ".factor"] = np.array([factor], np.float32)
        else:
            tensors[name] = constants[stored]

    for stored in list(constants) + list(dequantised):
        if stored.startswith("model.encoder."):
            if stored.endswith(("_q", "_s", "_z")):
                continue
            put(stored[len("model.") :], stored)
    put("mel_fb", "mel_transform.mel_scale.fb")
    put("window", "val_45")
    # Matrices have no names in the graph: they come in the order of the blocks, transposed.
    matrices = [name for name, (values, _) in dequantised.items() if name.startswith("val_") and values.ndim == 2]
    parts = ["attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"]
    assert len(matrices) == 12 * len(parts), len(matrices)
    order = {name: index for index, node in enumerate(graph.node) for name in node.input}
    matrices.sort(key=lambda name: order[outputs[name]])
    for index, stored in enumerate(matrices):
        put(f"encoder.blocks.{index // 4}.{parts[index % 4]}.weight", stored, turned=True)
    shape = dequantised["alias"][0].shape
    assert shape == (1, 192, 4, 1)
    put("encoder.freq_pos_embed", "alias")

    header, data = {}, b""
    kinds = {np.dtype(np.float32): "F32", np.dtype(np.int8): "I8"}
    for name in sorted(tensors, key=lambda name: (tensors[name].dtype.itemsize != 4, name)):
        values = tensors[name]
        bytes_ = values.tobytes()
        header[name] = {"dtype": kinds[values.dtype], "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    with open(OUT, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    print(OUT, len(text) + len(data) + 8, "bytes, sha256", hashlib.sha256(open(OUT, "rb").read()).hexdigest())

    if len(sys.argv) > 2:
        packed, wanted = read_safetensors(OUT), read_safetensors(sys.argv[2])
        compared = 0
        for name, values in wanted.items():
            if name.startswith("outputlayer."):
                continue
            got = packed[name]
            if got.dtype == np.int8:
                got = got.astype(np.float32) * packed[name + ".factor"]
            assert got.shape == values.shape and (got == values).all(), name
            compared += 1
        print(compared, "tensors have the bits of", sys.argv[2])


main()
