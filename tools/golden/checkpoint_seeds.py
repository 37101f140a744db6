#!/usr/bin/env python3
"""Writes the first inputs of the fuzz targets checkpoint_file and checkpoint_pickle.

usage: tools/golden/checkpoint_seeds.py   (from the root of the repository)
"""
import json
import os
import struct
import zipfile

CORPUS = "fuzz/corpus"


def write(target, name, data):
    os.makedirs(f"{CORPUS}/{target}", exist_ok=True)
    with open(f"{CORPUS}/{target}/{name}", "wb") as file:
        file.write(data)


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def integer(value):
    return b"K" + bytes([value])


values = struct.pack("<8f", *[i / 4 for i in range(8)])
entries = [("weight", "F32", [2, 4], values), ("q", "I8", [4], bytes([1, 2, 3, 255])),
           ("q.factor", "F32", [1], struct.pack("<f", 0.5)), ("h", "F16", [2], b"\0\x3c\0\xc0")]
header, data = {}, b""
for name, dtype, shape, raw in entries:
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
    data += raw
header = json.dumps(header, separators=(",", ":")).encode()
header += b" " * (-len(header) % 8)
write("checkpoint_file", "made.safetensors", struct.pack("<Q", len(header)) + header + data)

pickle = b"\x80\x02}q\x00(" + text("cfg") + b"}(" + text("layers") + integer(2) + text("rate")
pickle += b"G" + struct.pack(">d", 0.5) + b"u" + text("model") + b"ccollections\nOrderedDict\n)R("
for name, shape, stride in (("weight", (2, 4), (4, 1)), ("turned", (4, 2), (1, 4))):
    pickle += text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage")
    pickle += b"ctorch\nFloatStorage\n" + text("0") + text("cpu") + integer(8) + b"tQ" + integer(0)
    pickle += integer(shape[0]) + integer(shape[1]) + b"\x86" + integer(stride[0]) + integer(stride[1])
    pickle += b"\x86\x89ccollections\nOrderedDict\n)RtR"
pickle += b"uu."
write("checkpoint_pickle", "made.pkl", pickle)
write("checkpoint_pickle", "call.pkl", b"\x80\x02cos\nsystem\n" + text("echo") + b"\x85R.")

with zipfile.ZipFile(f"{CORPUS}/checkpoint_file/made.pt", "w", zipfile.ZIP_STORED) as archive:
    for name, raw in (("made/data.pkl", pickle), ("made/byteorder", b"little"), ("made/data/0", values)):
        archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), raw)
