#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DFT and STFT against numpy's transforms in float64.

    fourier.py NAME

NAME is a function here; it makes models and checks each with several
targets."""
import sys

import helper
import turns

try:
    import numpy as np
    from answers_model import Known
except ImportError as missing:
    helper.skip(str(missing))

ALL = ["c99", "gnu-c", "misra", "opencl-cpu", "cuda"]
rng = np.random.default_rng(5)


def values(*shape, kind=np.float32):
    return rng.uniform(-1, 1, shape).astype(kind)


def parts(z, kind):
    return np.stack([z.real, z.imag], -1).astype(kind)


def signal(x):
    x = x.astype(np.float64)
    return x[..., 0] + (1j * x[..., 1] if x.shape[-1] == 2 else 0)


def expected(x, n, axis, inverse, onesided):
    z = signal(x)
    if inverse and onesided:
        n = n or 2 * (z.shape[axis] - 1)
        return np.fft.irfft(z, n, axis)[..., None].astype(x.dtype)
    y = (np.fft.ifft if inverse else np.fft.fft)(z, n, axis)
    if onesided:
        y = y.take(range(y.shape[axis] // 2 + 1), axis)
    return parts(y, x.dtype)


def compare(m, y, targets, options=()):
    """The error is relative to the largest of the results."""
    of = {np.float64: 1e-14, np.float16: 4e-3}.get(y.dtype.type, 1e-6)
    m.check(targets, "--rtol", "0", "--atol", "%g" % (of * abs(y).max()),
            *options)


def dft(x, targets, n=None, axis=-2, opset=20, options=(), **attrs):
    m = Known("transform", opset)
    ins = [m.input("x", x), m.constant(np.int64(n)) if n else ""]
    if opset >= 20:
        ins.append(m.constant(np.int64(axis)))
    elif axis != 1:
        attrs["axis"] = axis
    y = expected(x, n, axis % x.ndim, attrs.get("inverse"),
                 attrs.get("onesided"))
    m.output(m.node("DFT", ins, **attrs), y)
    compare(m, y, targets, options)


def lengths():
    """Products of short factors, primes, lengths with large primes."""
    every = [1, 2, 7, 64, 96, 100, 128, 257, 365, 521, 1000, 1024, 4096]
    for n in turns.some("lengths", every, 5):
        dft(values(2, n, 2), ["gnu-c"])
        dft(values(2, n, 1), ["gnu-c"], onesided=1)
        dft(values(2, n, 2), ["c99"], inverse=1)
        dft(values(2, n // 2 + 1, 2) * ([1, 0] if n < 3 else 1), ["gnu-c"],
            n=n, inverse=1, onesided=1)
    dft(values(1, 2 * 521, 1), ["c99"])


def forms():
    """Axes, lengths other than the signal's, types, operator sets."""
    for n in (16, 128):
        x = values(3, n, 4, 2)
        dft(x, ALL, axis=1)
        dft(x, ["gnu-c"], axis=-3, opset=17, inverse=1)
        dft(x, ["gnu-c"], axis=0, onesided=1, opset=17)
        dft(x, ["gnu-c"], axis=2, n=3)
        dft(values(3, n, 4, 1), ["gnu-c"], axis=1, inverse=1)
        dft(values(3, n, 1), ["c99"], opset=17, axis=1, onesided=1)
    for n in (8, 20, 100, 300, 521):
        dft(values(2, 70, 2), ["gnu-c"], n=n)
        dft(values(2, 70, 2), ["gnu-c"], n=n, inverse=1, onesided=1)
    dft(values(2, 9, 2), ["c99"], inverse=1, onesided=1)
    for kind in (np.float64, np.float16):
        for n in (12, 200):
            dft(values(2, n, 2, kind=kind), ["c99", "gnu-c"])
    dft(values(2, 521, 2, kind=np.float64), ["gnu-c"])


def stft(x, step, targets, window=None, n=None, onesided=1):
    m = Known("frames", 17)
    ins = [m.input("x", x), m.constant(np.int64(step)),
           m.input("window", window) if window is not None else "",
           m.constant(np.int64(n)) if n else ""]
    n = n or (len(window) if window is not None else x.shape[1])
    z = signal(x)
    z = np.stack([z[:, at:at + n] for at in
                  range(0, x.shape[1] - n + 1, step)], 1)
    y = np.fft.fft(z * (1 if window is None else window.astype(float)))
    y = parts(y[..., :n // 2 + 1] if onesided else y, x.dtype)
    m.output(m.node("STFT", ins, onesided=onesided), y)
    compare(m, y, targets)


def frames():
    for n in (16, 80, 128):
        window = np.hanning(n).astype(np.float32)
        stft(values(2, 300, 1), 7, ALL, window)
        stft(values(2, 300, 1), 50, ["gnu-c"], window, n)
        stft(values(1, 300, 2), n, ["gnu-c"], n=n, onesided=0)
    stft(values(2, 40, 1), 3, ["c99"])
    stft(values(1, 300, 1, kind=np.float64), 9, ["gnu-c"], n=64)


CASES = [lengths, forms, frames]

for case in CASES:
    if sys.argv[1:] == [case.__name__]:
        case()
        break
else:
    helper.fail("fourier.py: one of " +
                ", ".join(case.__name__ for case in CASES))
