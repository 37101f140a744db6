#!/usr/bin/env python3
"""Golden modulation spectra, made with numpy in float64.

Writes testdata/golden/features/<clip>__modulation.npy (carriers x bins as one float32 vector) for three
clips of testdata/golden/wav, whole and at their own length, and for testdata/golden/wav/pulses_22k_1p2s.wav,
which it makes first: noise in pulses, at a sample rate where nothing is a whole number.

usage: tools/golden/modulation.py   (from the root of the repository)
"""
import math
import wave
from fractions import Fraction

import numpy as np

FOLDER = "testdata/golden"
CLIPS = ["fan_normal_10s", "valve_short_2p5s", "tone_plus_noise_10s", "pulses_22k_1p2s"]
FRAME, HOP, CARRIERS, LOWEST_HERTZ = 256, 64, 16, 30


def hann(length):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(length) / (length - 1))


def to_mel(hertz):
    return 2595 * np.log10(1 + hertz / 700)


def to_hertz(mel):
    return 700 * (10 ** (mel / 2595) - 1)


def carriers(rate):
    """Weights of the triangular bands, carriers x frequencies."""
    edges = to_hertz(np.linspace(to_mel(LOWEST_HERTZ), to_mel(rate / 2), CARRIERS + 2))
    hertz = np.arange(FRAME // 2 + 1) * rate / FRAME
    weights = [np.minimum((hertz - low) / (peak - low), (high - hertz) / (high - peak))
               for low, peak, high in zip(edges, edges[1:], edges[2:])]
    return np.maximum(weights, 0)


def bins(frames, rate):
    """First line and end of every bin; fractions, so that no edge depends on rounding."""
    frame_rate = Fraction(rate, HOP)
    spacing = frame_rate / frames
    top = math.floor(Fraction(48, 100) * frame_rate)
    for index in range(top):
        edge = index + Fraction(1, 2)
        first = math.ceil(edge / spacing)
        last = index == top - 1
        end = math.floor(top / spacing) if last else math.ceil((edge + 1) / spacing)
        yield first, max(end, first + 1)


def modulation(samples, rate):
    frames = 1 + (len(samples) - FRAME) // HOP
    cut = np.array([samples[at * HOP:at * HOP + FRAME] for at in range(frames)])
    power = np.abs(np.fft.rfft(cut * hann(FRAME), axis=1)) ** 2
    envelopes = np.log(power @ carriers(rate).T + 1e-10)
    envelopes = (envelopes - envelopes.mean(axis=0)) * hann(frames)[:, None]
    lines = np.abs(np.fft.rfft(envelopes, axis=0)) / frames
    means = [lines[first:end].mean(axis=0) for first, end in bins(frames, rate)]
    return np.array(means).T.ravel()


def write_pulses(path, rate=22050, seconds=1.2):
    """Noise of a linear congruential generator, 31 pulses a second."""
    state, samples = 1, []
    for at in range(int(rate * seconds)):
        state = (state * 1664525 + 1013904223) % 2**32
        phase = at * 31 % rate / rate
        samples.append(round((state / 2**31 - 1) * (9000 if phase < 0.2 else 600)))
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(np.array(samples, "<i2").tobytes())


def read(path):
    with wave.open(path, "rb") as file:
        data = file.readframes(file.getnframes())
        return np.frombuffer(data, "<i2") / 32768, file.getframerate()


write_pulses(f"{FOLDER}/wav/pulses_22k_1p2s.wav")
for clip in CLIPS:
    values = modulation(*read(f"{FOLDER}/wav/{clip}.wav"))
    np.save(f"{FOLDER}/features/{clip}__modulation.npy", values.astype("<f4"))
