# SPDX-License-Identifier: Apache-2.0
"""Models of many small nodes, what they give, and `tirc test` with several
targets. A test that uses this needs numpy, onnx and onnxruntime:

    m = Model("name")
    x = m.input("x", array)
    y = m.node("Relu", [x])
    m.output(y)                   # onnxruntime says what it is
    m.output(z, numpy_array)      # the test says what it is
    m.check(["c99", "gnu-c"])
"""
import os
import shutil

import numpy as np
import onnx
from onnx import helper as make
from onnx import numpy_helper

import exact
from helper import (QUICK_OPENCL, ROOT, STRICT_C, has_dialect, tirc,
                    work_folder)
from onnx_data import write_data
from processors import by_turn
from turns import some

OPSET = 21


# Where a program's results are all that counts: strict C by the fastest compiler,
# vectors without optimisation, and kernels of OpenCL nearly so. The models that run
# for another processor, too, have the flags of its target.
QUICK = {
    "c99": STRICT_C,
    "misra": STRICT_C,
    "opencl": STRICT_C,
    "opencl-cpu": STRICT_C,
    "gnu-c": ["--cflags", "-std=gnu11 -O0 -fopenmp-simd -march=native"],
    "c-openmp": ["--cflags", "-std=gnu11 -O0 -fopenmp -march=native"],
    "c-threads": ["--cflags", "-std=gnu11 -O0 -pthread -march=native"],
}


class Model:
    checked = 0  # models of this test so far
    optimised = False  # with the flags of the target

    def __init__(self, name, opset=OPSET):
        self.name, self.opset = name, opset
        self.nodes, self.constants = [], []
        self.inputs, self.outputs = {}, {}
        self.sizes = {}  # shapes of inputs with names among the sizes
        self.used = 0

    def fresh(self, stem):
        self.used += 1
        return "%s_%d" % (stem.lower(), self.used)

    def input(self, name, array):
        self.inputs[name] = np.asarray(array)
        return name

    def constant(self, array, stem="c"):
        name = self.fresh(stem)
        self.constants.append(numpy_helper.from_array(np.asarray(array),
                                                      name))
        return name

    def node(self, op, inputs, n=1, names=None, **attributes):
        """Its output; of several, a list."""
        out = names or [self.fresh(op) for _ in range(n)]
        self.nodes.append(make.make_node(op, inputs, out, **attributes))
        return out[0] if len(out) == 1 else out

    def quantized(self, x, scale, zero):
        """x through QuantizeLinear and through both, QuantizeLinear and
        DequantizeLinear. The type of zero is the type of the quantized."""
        given = [self.constant(np.float32(scale), "scale"),
                 self.constant(zero, "zero")]
        q = self.node("QuantizeLinear", [x] + given)
        return q, self.node("DequantizeLinear", [q] + given)

    def dequantized(self, array, scale, zero=None, stem="w", **attributes):
        """A constant behind DequantizeLinear."""
        array = np.asarray(array)
        scale = np.float32(scale)
        zero = np.zeros(scale.shape) if zero is None else zero
        return self.node("DequantizeLinear", [
            self.constant(array, stem), self.constant(scale, "scale"),
            self.constant(np.asarray(zero, array.dtype), "zero")],
            **attributes)

    def output(self, name, value=None):
        self.outputs[name] = value
        return name

    def proto(self):
        def described(name, array):
            return make.make_tensor_value_info(
                name, make.np_dtype_to_tensor_dtype(array.dtype),
                self.sizes.get(name, array.shape))
        graph = make.make_graph(
            self.nodes, self.name,
            [described(*item) for item in self.inputs.items()],
            [make.make_empty_tensor_value_info(name)
             for name in self.outputs], self.constants)
        return make.make_model(
            graph, opset_imports=[make.make_opsetid("", self.opset)],
            ir_version=9)

    def reference(self):
        """The outputs by name, of onnxruntime where that is right on every
        processor (exact.py)."""
        return dict(zip(self.outputs, exact.run(self.proto(), self.inputs)))

    def write(self):
        """The model's path, its data beside it."""
        reference = self.reference()
        for name, value in self.outputs.items():
            if value is not None:
                reference[name] = np.asarray(value).astype(
                    reference[name].dtype).reshape(reference[name].shape)
        path = self.write_model()
        write_data(os.path.dirname(path), list(self.inputs.items()),
                   list(reference.items()))
        return path

    def write_model(self):
        """The model's path, without data."""
        path = os.path.join(work_folder(), self.name + ".onnx")
        onnx.save(self.proto(), path)
        return path

    def check(self, targets, *options):
        """With the first target and with that of the others whose turn it is, and
        a part of the models for another processor, too."""
        path = self.write()
        Model.checked += 1
        case = "%s %d" % (self.name, Model.checked)
        for target in [*targets[:1], *some(case, targets[1:])]:
            arguments = arguments_of(target, quick=not (
                self.optimised or {"--cc", "--cflags"} & set(options)))
            if arguments is not None:
                tirc("test", path, *arguments, *options)
        processor = by_turn(case, 8) if "gnu-c" in targets else None
        if processor:
            tirc("test", path, *processor.options(),
                 *without(without(options, "--cflags"), "--cc"))


class Known(Model):
    """A model whose outputs the test gives, all of them."""

    def reference(self):
        return dict(self.outputs)


def without(options, name):
    """The options but for one with a value."""
    if name not in options:
        return options
    at = options.index(name)
    return options[:at] + options[at + 2:]


def arguments_of(target, quick=False):
    """What `tirc test` needs for the target; None: not to be had here."""
    arguments = ["--target", target, *(QUICK.get(target, []) if quick else [])]
    if target == "cuda":
        cxx = shutil.which("g++") or shutil.which("clang++")
        gpu = os.path.join(ROOT, "tests", "gpu")
        arguments += ["--cc", cxx or "", "--cflags", "-x c++ -std=c++14 -O0 "
                      "-I%s -I%s" % (gpu, os.path.join(gpu, "toolkit"))]
        if cxx is None:
            return None
    if target in ("opencl", "opencl-cpu"):
        if not os.path.exists("/usr/include/CL/cl.h"):
            return None
        os.environ.setdefault("POCL_CACHE_DIR", work_folder())
        if quick:
            os.environ.setdefault("POCL_EXTRA_BUILD_FLAGS", QUICK_OPENCL)
    if target.startswith("cortex") and not (
            shutil.which("arm-none-eabi-gcc") and
            shutil.which("qemu-system-arm")):
        return None
    dialects = {"opencl": "opencl-host", "cortex-m4": "gnu-c", "opencl-cpu": "opencl-host",
                "x86-64-v3": "gnu-c", "x86-64-v4": "gnu-c"}
    return arguments if has_dialect(dialects.get(target, target)) else None
