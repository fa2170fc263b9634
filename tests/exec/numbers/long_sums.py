#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sums of many floats are within the bound that docs/reference/results.md states, of
static and of symbolic sizes.

    long_sums.py TARGET[_FP]

One term of each row is 1, and the thousands of others are about a quarter of the
difference between 1 and the next float, so that an accumulator which adds them
one by one loses all of them."""
import os
import sys

from helper import fail, need_processor, skip, tirc, work_folder

try:
    import numpy as np
    import onnxruntime  # answers_model needs it
except ImportError:
    skip("numpy or onnxruntime is not installed")
from answers_model import Known, arguments_of

TERMS, PRODUCTS = 256, 1024  # of a block
UNIT = 2.0 ** -24
random = np.random.default_rng(5)
target, _, fp = sys.argv[1].partition("_")
options = ["--fp", fp] if fp else []


def row(*shape):
    """The first term of each row (the last axis) is 1."""
    x = random.uniform(2e-8, 3e-8, shape).astype(np.float32)
    x[..., 0] = 1
    return x


def bound(n, most=TERMS):
    """Of the error of a sum of n positive terms, in parts of the sum."""
    return UNIT * (most + -(-n // most) + 16)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normalized(x, epsilon):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)


class Sums:
    """A model with an output, and its bound, for each kind of sum."""

    def __init__(self, name):
        self.model = Known(name, 18)
        self.bounds = {}

    def input(self, name, array):
        self.model.input(name, array)
        return name, array.astype(np.float64)

    def node(self, op, inputs, value, allowed, **attributes):
        name = self.model.node(op, inputs, **attributes)
        self.model.output(name, np.asarray(value, np.float64))
        self.bounds[name] = allowed

    def check(self, *arguments):
        path = self.model.write_model()
        folder = work_folder()
        data, out = (os.path.join(folder, name + ".npz")
                     for name in ("in", "out"))
        np.savez(data, **self.model.inputs)
        tirc("run", path, *arguments_of(target), *options, *arguments,
             "--input", data, "--output", out)
        results = np.load(out)
        for name, right in self.model.outputs.items():
            off = np.abs(results[name] - right) / np.abs(right).max()
            print("%-28s %.2e, allowed %.2e" % (name, off.max(),
                                                self.bounds[name]))
            if not off.max() <= self.bounds[name]:
                fail("%s is off by %g of its largest element, more than %g" % (
                    name, off.max(), self.bounds[name]))


def static():
    s = Sums("sums")
    axis = {k: s.model.constant(np.array([k])) for k in (0, 1)}
    x, v = s.input("x", row(2, 18385))
    for op, value, factor in (
            ("ReduceSum", v.sum(1), 1), ("ReduceMean", v.mean(1), 1),
            ("ReduceL1", v.sum(1), 1), ("ReduceLogSum", np.log(v.sum(1)), 0),
            ("ReduceLogSumExp", np.log(np.exp(v).sum(1)), 1)):
        # The logarithm of a sum near 1 has the error of the sum.
        allowed = bound(v.shape[1]) * factor
        s.node(op, [x, axis[1]], value, allowed
               or bound(v.shape[1]) / np.abs(value).max(), keepdims=0)
    z = s.model.constant(np.float32(17))
    scaled = s.model.node("Mul", [x, z])
    s.node("Softmax", [scaled], softmax(np.float32(17) * v),
           2 * bound(v.shape[1]), axis=1)
    s.node("CumSum", [x, s.model.constant(np.array(1))], v.cumsum(1),
           bound(v.shape[1]))

    roots = np.sqrt(row(4, 8000)).astype(np.float32)
    x, v = s.input("roots", roots)
    s.node("ReduceSumSquare", [x, axis[1]], (v * v).sum(1), bound(8000),
           keepdims=0)
    s.node("ReduceL2", [x, axis[1]], np.sqrt((v * v).sum(1)), bound(8000),
           keepdims=0)

    x, v = s.input("columns", np.ascontiguousarray(row(5, 9001).T))
    s.node("ReduceSum", [x, axis[0]], v.sum(0), bound(9001), keepdims=0)

    x, v = s.input("volume", row(100100).reshape(7, 11, 1300))
    every = s.model.constant(np.array([0, 1, 2]))
    s.node("ReduceSum", [x, every], v.sum(), bound(100100), keepdims=0)

    x, v = s.input("image", row(2, 19600).reshape(1, 2, 140, 140))
    flat = v.reshape(1, 2, -1)
    s.node("GlobalAveragePool", [x], flat.mean(2).reshape(1, 2, 1, 1),
           bound(19600))
    one, none = (s.model.constant(np.full(2, n, np.float32)) for n in (1, 0))
    s.node("InstanceNormalization", [x, one, none],
           normalized(flat, 1e-12).reshape(v.shape), 4 * bound(19600),
           epsilon=1e-12)

    x, v = s.input("norm", row(3, 8000))
    s.node("LayerNormalization", [x, s.model.constant(np.ones(8000, "f"))],
           normalized(v, 1e-12), 4 * bound(8000), epsilon=1e-12)

    for shape in ((1, 20000), (9, 20000)):
        x, v = s.input("a%d" % shape[0], row(*shape))
        w = random.uniform(0.5, 1, (20000, 24)).astype(np.float32)
        s.node("MatMul", [x, s.model.constant(w)], v @ w.astype(np.float64),
               bound(20000, PRODUCTS))
    x, v = s.input("channels", row(7, 7, 9000).transpose(2, 0, 1)[None])
    w = random.uniform(0.5, 1, (20, 9000, 1, 1)).astype(np.float32)
    s.node("Conv", [x, s.model.constant(w)],
           np.einsum("nchw,oc->nohw", v, w[..., 0, 0].astype(np.float64)),
           bound(9000, PRODUCTS))
    s.check()


def symbolic():
    s = Sums("sizes")
    x, v = s.input("x", row(2, 18385))
    s.node("ReduceSum", [x, s.model.constant(np.array([1]))], v.sum(1),
           bound(v.shape[1]), keepdims=0)
    z = s.model.constant(np.float32(17))
    s.node("Softmax", [s.model.node("Mul", [x, z])],
           softmax(np.float32(17) * v), 2 * bound(v.shape[1]), axis=1)
    s.model.sizes = {"x": [2, "N"]}
    s.check("--dim", "N=1..100000")


need_processor(target)
if arguments_of(target) is None:
    skip("what target %s needs is not installed" % target)
static()
symbolic()
