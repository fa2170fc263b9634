#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random operators: the numbers are those of Philox4x32-10, computed here too,
on every target; equal runs give equal numbers, others others; and numbers of a
fixed seed are distributed as ONNX says, by moments and by the test of Kolmogorov
and Smirnov, whose statistic exceeds 1.95 / sqrt(n) once in a thousand
samples."""
import math
import os

import helper

try:
    import numpy as np
    import onnx
    from onnx import TensorProto
    from onnx import helper as make
    from answers_model import arguments_of
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

TARGETS = ["c99", "gnu-c", "misra", "opencl-cpu", "cuda"]


def philox(count, run, seed, stream):
    """Two words for each number below count."""
    c = [np.arange(count, dtype=np.uint64), np.zeros(count, np.uint64),
         np.full(count, run % 2 ** 32, np.uint64),
         np.full(count, run >> 32 & 0xffffffff, np.uint64)]
    k, low = [seed, stream], np.uint64(0xffffffff)
    for _ in range(10):
        p, q = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [q >> np.uint64(32) ^ c[1] ^ np.uint64(k[0]), q & low,
             p >> np.uint64(32) ^ c[3] ^ np.uint64(k[1]), p & low]
        k = [(k[0] + 0x9E3779B9) % 2 ** 32, (k[1] + 0xBB67AE85) % 2 ** 32]
    return c[0], c[1]


def uniform(words, double=False):
    if double:
        return (words[0] * 2.0 ** 21 + (words[1] >> np.uint64(11))) * 2.0 ** -53
    return ((words[0] >> np.uint64(8)) * 2.0 ** -24).astype(np.float32)


def normal(words):
    return np.sqrt(-2 * np.log(words[0] * 2.0 ** -32 + 2.0 ** -33)) * \
        np.cos(words[1] * (2 * math.pi * 2.0 ** -32))


def save(nodes, inputs, outputs):
    graph = make.make_graph(
        nodes, "g", [make.make_tensor_value_info(name, *kind)
                     for name, kind in inputs.items()],
        [make.make_empty_tensor_value_info(name) for name in outputs])
    path = os.path.join(helper.work_folder(), "model.onnx")
    onnx.save(make.make_model(graph, ir_version=9, opset_imports=[
        make.make_opsetid("", 21)]), path)
    return path


def results(path, *options, **inputs):
    """The outputs of tirc run, by name."""
    folder = os.path.dirname(path)
    given, made = os.path.join(folder, "in.npz"), os.path.join(folder, "y.npz")
    np.savez(given, **inputs)
    helper.tirc("run", path, "--input", given, "--output", made, "--target",
                "c99", *options)
    return dict(np.load(made))


def close(name, value, want, most):
    if not abs(value - want) <= most:
        helper.fail("%s: %g, not %g within %g" % (name, value, want, most))


def distributed(name, sample, cumulative):
    """By the test of Kolmogorov and Smirnov."""
    sample = np.sort(np.asarray(sample, np.float64).ravel())
    n = len(sample)
    want = cumulative(sample)
    worst = max(np.max(np.arange(1, n + 1) / n - want),
                np.max(want - np.arange(n) / n))
    close(name + ": distance of distributions", worst, 0, 1.95 / math.sqrt(n))


# The generator's published answer for zeros.
if [int(word[0]) for word in philox(1, 0, 0, 0)] != [0x6627e8d5, 0xe169c58d]:
    helper.fail("philox() here is not Philox4x32-10")

# The same numbers on every target: two streams, a seed, a shape of another
# tensor.
key = int(np.float32(3).view(np.uint32))
run = 5 * 2 ** 32 + 7
known = save(
    [make.make_node("RandomUniform", [], ["a"], shape=[3, 4], low=-1.0,
                    high=3.0),
     make.make_node("RandomUniform", [], ["b"], shape=[5], dtype=11, seed=3.0),
     make.make_node("RandomUniformLike", ["x"], ["c"], dtype=1),
     make.make_node("RandomNormal", [], ["d"], shape=[6], mean=2.0, scale=0.5,
                    seed=3.0),
     make.make_node("Bernoulli", ["x"], ["e"], dtype=9)],
    {"x": (TensorProto.DOUBLE, ["n", 2])}, "abcde")
x = np.array([[.1, .9], [.5, .3], [0, 1]])
answers = {
    "a": (uniform(philox(12, run, 0, 1)) * 4 - 1).reshape(3, 4),
    "b": uniform(philox(5, run, key, 0), True),
    "c": uniform(philox(6, run, 0, 2)).reshape(3, 2),
    "d": (normal(philox(6, run, key, 0)) / 2 + 2).astype(np.float32),
    "e": (uniform(philox(6, run, 0, 3), True).reshape(3, 2) < x)}
write_data(os.path.dirname(known), [x, np.array([run], np.int64)],
           [value.astype(np.float32) if name in "acd" else value
            for name, value in answers.items()])
for target in TARGETS:
    words = arguments_of(target)
    if words is not None:
        helper.tirc("test", known, *words, "--dim", "n=3")
helper.tirc("test", known, "--dim", "n=1..4", "--target", "c99")

# Equal runs, equal numbers; a constant instead of the input.
first, again, other = (results(known, "--dim", "n=3", x=x, random_run=np.array(
    [number], np.int64)) for number in (1, 1, 2))
fixed = results(known, "--dim", "n=3", "--seed", "1", x=x)
for name in "abcd":
    if not np.array_equal(first[name], again[name]) or \
            not np.array_equal(first[name], fixed[name]):
        helper.fail("equal runs differ in " + name)
    if np.array_equal(first[name], other[name]):
        helper.fail("other runs have equal numbers in " + name)

# Distributions, of a fixed seed.
N = 200000
large = save(
    [make.make_node("RandomNormal", [], ["n"], shape=[N], mean=1.0, scale=2.0),
     make.make_node("RandomNormalLike", ["p"], ["n64"], dtype=11),
     make.make_node("RandomUniform", [], ["u"], shape=[N], low=-2.0, high=6.0),
     make.make_node("RandomUniformLike", ["p"], ["u16"], dtype=10),
     make.make_node("Bernoulli", ["p"], ["coins"], dtype=6),
     make.make_node("Multinomial", ["logs"], ["classes"], sample_size=N,
                    dtype=7),
     make.make_node("Dropout", ["p", "half", "yes"], ["kept", "mask"])],
    {"p": (TensorProto.FLOAT, [N]), "logs": (TensorProto.FLOAT, [2, 4]),
     "half": (TensorProto.FLOAT, []), "yes": (TensorProto.BOOL, [])},
    ["n", "n64", "u", "u16", "coins", "classes", "kept", "mask"])
chances = np.array([[.1, .2, .3, .4], [.97, .01, .01, .01]])
p = np.full(N, .3, np.float32)
got = results(large, p=p, logs=np.log(chances * 5).astype(np.float32),
              half=np.array(.25, np.float32), yes=np.array(True),
              random_run=np.array([11], np.int64))
erf = np.vectorize(math.erf)
for name, mean, scale in (("n", 1, 2), ("n64", 0, 1)):
    z = (got[name].astype(np.float64) - mean) / scale
    close(name + ": mean", z.mean(), 0, 4 / math.sqrt(N))
    close(name + ": variance", z.var(), 1, 4 * math.sqrt(2 / N))
    close(name + ": skewness", (z ** 3).mean(), 0, 4 * math.sqrt(15 / N))
    close(name + ": kurtosis", (z ** 4).mean(), 3, 4 * math.sqrt(96 / N))
    distributed(name, z, lambda v: (1 + erf(v / math.sqrt(2))) / 2)
    if not np.isfinite(z).all():
        helper.fail(name + " has a number that is not finite")
distributed("u", got["u"], lambda v: (v + 2) / 8)
if got["u"].min() < -2 or got["u"].max() >= 6 or got["u16"].dtype.itemsize != 2:
    helper.fail("u is outside of its range, or u16 no float16")
close("u16: mean", got["u16"].astype(np.float64).mean(), .5, 2e-3)
close("coins", got["coins"].mean(), .3, 4 * math.sqrt(.21 / N))
close("pairs of coins", (got["coins"][1:] & got["coins"][:-1]).mean(), .09,
      4 * math.sqrt(.09 / N))
for row in range(2):
    for k, chance in enumerate(chances[row]):
        close("class %d" % k, (got["classes"][row] == k).mean(), chance,
              4 * math.sqrt(chance / N))
close("kept", got["mask"].mean(), .75, 4 * math.sqrt(.1875 / N))
if not np.allclose(got["kept"], np.where(got["mask"], p / .75, 0)):
    helper.fail("Dropout does not scale what it keeps")
close("two streams", np.corrcoef(got["n"], got["u"])[0, 1], 0,
      4 / math.sqrt(N))

# What is refused.
drawn = make.make_graph([make.make_node("RandomNormal", [], ["t"], shape=[2])],
                        "drawn", [], [make.make_tensor_value_info(
                            "t", TensorProto.FLOAT, [2])])
said = helper.tirc("compile", save(
    [make.make_node("If", ["c"], ["y"], then_branch=drawn, else_branch=drawn)],
    {"c": (TensorProto.BOOL, [])}, "y"), "-o", helper.work_folder() + "/out",
    status=1).stderr
if "depends on data" not in said:
    helper.fail("random numbers in a branch: " + said)
for nodes, words in (
        ([make.make_node("RandomNormal", [], ["y"], shape=[2], dtype=6)],
         "its dtype"),
        ([make.make_node("RandomUniform", [], ["y"], shape=[-2])],
         "is not a size")):
    said = helper.tirc("compile", save(nodes, {}, "y"), "-o",
                       helper.work_folder() + "/out", status=1).stderr
    if words not in said:
        helper.fail("%r is not in the message\n%s" % (words, said))
print("all hold")
