#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sizes that a run gives beside sizes of the compilation: small nets of one
kind of layer each, compiled once with a range for each size and once with its
value, and run at that value, beside onnxruntime, one thread.

The three run in turn, a few milliseconds each; a time is the least median of
such a turn. Results of both are compared with onnxruntime's before."""
import argparse
import fnmatch
import json
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests"))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, numpy_helper  # noqa: E402
from onnx import helper as oh  # noqa: E402
import cpu  # noqa: E402
import cpu_driver  # noqa: E402

TURN_SECONDS = 0.003
CASES = {}


class Net:
    """A graph under construction; a layer's method returns its output."""

    def __init__(self):
        self.nodes, self.weights, self.inputs = [], [], []
        self.rng = np.random.default_rng(0)

    def input(self, *shape):
        name = "x%d" % len(self.inputs)
        self.inputs.append((name, shape))
        return name

    def weight(self, *shape, scale=None):
        fan = math.prod(shape[1:]) if len(shape) > 1 else 1
        array = self.rng.standard_normal(shape) * (
            scale if scale is not None else 1 / math.sqrt(fan))
        return self.constant(array.astype(np.float32))

    def constant(self, array):
        name = "w%d" % len(self.weights)
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op_type, *inputs, outputs=1, **attributes):
        names = ["t%d_%d" % (len(self.nodes), i) for i in range(outputs)]
        self.nodes.append(oh.make_node(op_type, list(inputs), names,
                                       **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, ic, oc, kernel, relu=True, group=1, **attributes):
        x = self.node("Conv", x, self.weight(oc, ic // group, *kernel),
                      self.weight(oc), group=group, **attributes)
        return self.node("Relu", x) if relu else x

    def dense(self, x, ic, oc):
        x = self.node("MatMul", x, self.weight(ic, oc,
                                               scale=1 / math.sqrt(ic)))
        return self.node("Add", x, self.weight(oc))

    def norm(self, x, width):
        return self.node("LayerNormalization", x, self.weight(width),
                         self.weight(width), axis=-1)

    def heads(self, x, heads, width):
        x = self.node("Reshape", x, self.constant(
            np.array([0, 0, heads, width], np.int64)))
        return self.node("Transpose", x, perm=[0, 2, 1, 3])

    def attention(self, q, k, v, width):
        k = self.node("Transpose", k, perm=[0, 1, 3, 2])
        scores = self.node("MatMul", q, k)
        scores = self.node("Mul", scores, self.constant(
            np.float32(1 / math.sqrt(width))))
        return self.node("MatMul", self.node("Softmax", scores, axis=-1), v)

    def save(self, output, path):
        graph = oh.make_graph(
            self.nodes, "g",
            [oh.make_tensor_value_info(name, TensorProto.FLOAT, shape)
             for name, shape in self.inputs],
            [oh.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            self.weights)
        onnx.save(oh.make_model(graph, ir_version=9, opset_imports=[
            oh.make_opsetid("", 17)]), path)


def case(name, **sizes):
    """The function of a case gets a Net and returns its output. sizes: the
    range of each, and the value at which it runs."""
    def add(build):
        CASES[name] = (build, sizes)
        return build
    return add


@case("Conv1d, 1 -> 257 channels, 90 taps, stride 160", n=(512, 17280, 17280))
def _(net):
    return net.conv(net.input(1, 1, "n"), 1, 257, [90], False, strides=[160])


@case("Conv1d, 64 -> 64 channels, 3 taps, padded", n=(1, 1000, 400))
def _(net):
    return net.conv(net.input(1, 64, "n"), 64, 64, [3], pads=[1, 1])


@case("Conv1d, 20 -> 200 channels, 96 taps", n=(96, 1000, 300))
def _(net):
    return net.conv(net.input(1, 20, "n"), 20, 200, [96])


@case("Conv1d, depthwise, 64 channels, 15 taps", n=(1, 1000, 400))
def _(net):
    return net.conv(net.input(1, 64, "n"), 64, 64, [15], group=64,
                    pads=[7, 7])


@case("Conv2d 3x3, 32 -> 32 channels, H and W", h=(1, 256, 48),
      w=(1, 256, 56))
def _(net):
    return net.conv(net.input(1, 32, "h", "w"), 32, 32, [3, 3],
                    pads=[1, 1, 1, 1])


@case("Conv2d 3x3, 3 -> 16 channels, stride 2, H and W", h=(1, 640, 160),
      w=(1, 640, 160))
def _(net):
    return net.conv(net.input(1, 3, "h", "w"), 3, 16, [3, 3],
                    pads=[1, 1, 1, 1], strides=[2, 2])


@case("Conv2d 1x1, 64 -> 24 channels, H and W", h=(1, 256, 40),
      w=(1, 256, 40))
def _(net):
    return net.conv(net.input(1, 64, "h", "w"), 64, 24, [1, 1])


@case("Conv2d 3x3, depthwise, 32 channels, H and W", h=(1, 256, 60),
      w=(1, 256, 60))
def _(net):
    return net.conv(net.input(1, 32, "h", "w"), 32, 32, [3, 3], group=32,
                    pads=[1, 1, 1, 1])


@case("Conv2d 3x3, 32 -> 64 channels, 24 rows, W", w=(1, 640, 160))
def _(net):
    return net.conv(net.input(1, 32, 24, "w"), 32, 64, [3, 3],
                    pads=[1, 1, 1, 1])


@case("Conv2d chain of a detector, H and W", h=(32, 640, 96),
      w=(32, 640, 128))
def _(net):
    x = net.conv(net.input(1, 3, "h", "w"), 3, 16, [3, 3],
                 pads=[1, 1, 1, 1], strides=[2, 2])
    x = net.conv(x, 16, 16, [3, 3], group=16, pads=[1, 1, 1, 1])
    x = net.conv(x, 16, 32, [1, 1])
    x = net.conv(x, 32, 32, [3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    y = net.conv(x, 32, 32, [3, 3], pads=[1, 1, 1, 1])
    return net.conv(net.node("Add", x, y), 32, 6, [1, 1], False)


@case("MaxPool 3x3, stride 2, H and W", h=(3, 256, 80), w=(3, 256, 80))
def _(net):
    return net.node("MaxPool", net.input(1, 32, "h", "w"),
                    kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])


@case("AveragePool 2x2, stride 2, H and W", h=(2, 256, 80), w=(2, 256, 80))
def _(net):
    return net.node("AveragePool", net.input(1, 32, "h", "w"),
                    kernel_shape=[2, 2], strides=[2, 2])


@case("GlobalAveragePool, H and W", h=(1, 256, 40), w=(1, 256, 40))
def _(net):
    return net.node("GlobalAveragePool", net.input(1, 64, "h", "w"))


@case("MatMul of tokens, 256 -> 256", n=(1, 512, 100))
def _(net):
    return net.dense(net.input(1, "n", 256), 256, 256)


@case("Gemm of rows, 256 -> 100, Relu", n=(1, 512, 100))
def _(net):
    x = net.node("Gemm", net.input("n", 256), net.weight(100, 256),
                 net.weight(100), transB=1)
    return net.node("Relu", x)


@case("MatMul of tokens, 64 -> 5", n=(1, 4096, 1000))
def _(net):
    return net.dense(net.input(1, "n", 64), 64, 5)


@case("q k^T of 4 heads, 64 wide", n=(1, 512, 128))
def _(net):
    q, k = net.input(1, 4, "n", 64), net.input(1, 4, "n", 64)
    return net.node("MatMul", q, net.node("Transpose", k,
                                          perm=[0, 1, 3, 2]))


@case("weights times v of 4 heads, 64 wide", n=(1, 512, 128))
def _(net):
    return net.node("MatMul", net.input(1, 4, "n", "n"),
                    net.input(1, 4, "n", 64))


@case("q times k of columns, 4 heads", n=(1, 512, 128))
def _(net):
    return net.node("MatMul", net.input(1, 4, "n", 64),
                    net.input(1, 4, 64, "n"))


@case("attention of 4 heads", n=(1, 512, 128))
def _(net):
    x = net.input(1, "n", 256)
    q, k, v = [net.heads(net.dense(x, 256, 256), 4, 64) for _ in range(3)]
    x = net.node("Transpose", net.attention(q, k, v, 64), perm=[0, 2, 1, 3])
    return net.node("Reshape", x, net.constant(
        np.array([0, 0, 256], np.int64)))


@case("transformer layer, 128 wide", n=(1, 512, 64))
def _(net):
    x = net.input(1, "n", 128)
    y = net.norm(x, 128)
    q, k, v = [net.heads(net.dense(y, 128, 128), 2, 64) for _ in range(3)]
    y = net.node("Transpose", net.attention(q, k, v, 64), perm=[0, 2, 1, 3])
    y = net.node("Reshape", y, net.constant(np.array([0, 0, 128], np.int64)))
    x = net.node("Add", x, net.dense(y, 128, 128))
    y = net.dense(net.norm(x, 128), 128, 512)
    y = net.node("Mul", y, net.node("Sigmoid", y))
    return net.node("Add", x, net.dense(y, 512, 128))


@case("LayerNorm of tokens, 256 wide", n=(1, 512, 128))
def _(net):
    return net.norm(net.input(1, "n", 256), 256)


@case("Softmax of n by n", n=(1, 512, 128))
def _(net):
    return net.node("Softmax", net.input(1, 4, "n", "n"), axis=-1)


@case("Softmax beside n, 64 wide", n=(1, 4096, 512))
def _(net):
    return net.node("Softmax", net.input(1, "n", 64), axis=-1)


@case("Softmax of channels, n positions", n=(1, 4096, 512))
def _(net):
    return net.node("Softmax", net.input(1, 64, "n"), axis=1)


@case("ReduceMean over n", n=(1, 4096, 1000))
def _(net):
    return net.node("ReduceMean", net.input(1, 64, "n"), axes=[2])


@case("ReduceMean over n, of channels last", n=(1, 4096, 1000))
def _(net):
    return net.node("ReduceMean", net.input(1, "n", 64), axes=[1])


@case("elementwise, n last", n=(1, 4096, 1000))
def _(net):
    x = net.input(1, 64, "n")
    y = net.node("Add", net.node("Mul", x, net.weight(64, 1)),
                 net.weight(64, 1))
    return net.node("Mul", y, net.node("Sigmoid", y))


@case("elementwise, n first", n=(1, 4096, 1000))
def _(net):
    x = net.input(1, "n", 64)
    y = net.node("Add", net.node("Mul", x, net.weight(64)), net.weight(64))
    return net.node("Mul", y, net.node("Tanh", y))


@case("Transpose of n by 64", n=(1, 4096, 1000))
def _(net):
    return net.node("Transpose", net.input(1, "n", 64), perm=[0, 2, 1])


def recurrent(op_type, gates):
    @case("%s, n times, 64 -> 128" % op_type, n=(1, 200, 50))
    def _(net):
        return net.node(op_type, net.input("n", 1, 64),
                        net.weight(1, gates * 128, 64, scale=1 / 8),
                        net.weight(1, gates * 128, 128, scale=1 / 16),
                        net.weight(1, 2 * gates * 128), outputs=2,
                        hidden_size=128)[0]


recurrent("LSTM", 4)
recurrent("GRU", 3)


@case("LSTM in both directions, n times, 64 -> 64", n=(1, 200, 50))
def _(net):
    return net.node("LSTM", net.input("n", 1, 64),
                    net.weight(2, 256, 64, scale=1 / 8),
                    net.weight(2, 256, 64, scale=1 / 16),
                    net.weight(2, 512), outputs=2, hidden_size=64,
                    direction="bidirectional")[0]


def words(values):
    return [word for name, value in values.items()
            for word in ("--dim", "%s=%s" % (name, value))]


def least_times(processes, rounds):
    """Microseconds of a run of each."""
    least = [process.seconds(3) for process in processes]
    for _ in range(rounds):
        for which, process in enumerate(processes):
            runs = max(1, min(1000, int(TURN_SECONDS / least[which])))
            least[which] = min(least[which], process.seconds(runs))
    return [1e6 * seconds for seconds in least]


def measure(name, folder, args):
    """Microseconds with a range of sizes, with sizes, of onnxruntime."""
    build, sizes = CASES[name]
    net = Net()
    path = os.path.join(folder, "model.onnx")
    net.save(build(net), path)
    ranges = {size: "%d..%d" % (low, high)
              for size, (low, high, _) in sizes.items()}
    values = {size: value for size, (_, _, value) in sizes.items()}
    inputs = {}
    for given, shape in net.inputs:
        array = net.rng.standard_normal(
            [values.get(d, d) for d in shape]).astype(np.float32)
        inputs[given] = (os.path.join(folder, given), "float32", array.shape)
        array.tofile(inputs[given][0])
    files = [file for file, _, _ in inputs.values()]
    keep = args.keep and os.path.join(args.keep, "".join(
        c if c.isalnum() else "_" for c in name))
    reference = os.path.join(folder, "reference.npz")
    built = []
    for form, dims in (("range", ranges), ("fixed", values)):
        into = os.path.join(keep or folder, form)
        program, facts, _ = cpu_driver.build(
            path, into, args.target, args.cc, words(dims) + args.option,
            values if form == "range" else {})
        built.append((program, facts, into))
    processes = [cpu.Process([program, into] + files, 1)
                 for program, _, into in built]
    processes.append(cpu.Process(
        [sys.executable, os.path.join(HERE, "cpu_ort.py"), path, "1",
         reference, json.dumps(inputs)], 1))
    try:
        for _, facts, into in built:
            error = cpu.agree(facts, into, reference)
            if not error <= cpu.TOLERANCE:
                print("%s: the outputs of %s differ by %.3g of the allowed "
                      "error" % (name, os.path.basename(into), error))
        return least_times(processes, args.rounds)
    finally:
        for process in processes:
            process.stop()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="PATTERN",
                        help="cases with such names alone (Conv*)")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--target", default="native")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--option", action="append", default=[],
                        help="one more word for `tirc compile`")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--keep", metavar="FOLDER",
                        help="leave the sources and programs there")
    args = parser.parse_args()
    names = [name for name in CASES if not args.only or
             any(fnmatch.fnmatch(name, p) for p in args.only)]
    if args.list:
        print("\n".join(names))
        return
    args.target = cpu_driver.resolved(args.target, args.cc)
    print("target: " + args.target)
    print("%-50s %9s %9s %9s %6s %6s" % (
        "net", "range us", "fixed us", "ort us", "/fixed", "/ort"))
    for name in names:
        with tempfile.TemporaryDirectory(prefix="tirc-sizes-") as folder:
            mine, fixed, theirs = measure(name, folder, args)
            print("%-50s %9.1f %9.1f %9.1f %6.2f %6.2f" % (
                name, mine, fixed, theirs, mine / fixed, mine / theirs),
                  flush=True)


if __name__ == "__main__":
    main()
