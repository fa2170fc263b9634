#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Backend cblas: products of matrices of every kind as calls of a library, right
to the last form of bias; compiled without a warning, clean under sanitizers
over 100 runs, two contexts in two threads; each region against generated code;
other targets refuse."""
import json
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from helper import (DIGITS, LIBRARIES, ROOT, STRICT, compile_model, compilers,
                    execute, fail, has_dialect, has_library, need,
                    results_alone, skip, tirc, work_folder)

results_alone()

need("gcc")
rng = np.random.default_rng(3)


class Cases:
    """Independent products in one model: a compiler's start for all."""

    def __init__(self):
        self.nodes, self.weights, self.inputs = [], [], []
        self.outputs, self.values, self.wants = [], {}, {}
        self.n_products = 0

    def value(self, name, shape, kind, constant=False):
        x = rng.uniform(-1, 1, shape).astype(kind)
        if constant:
            self.weights.append(numpy_helper.from_array(x, name))
        else:
            self.values[name] = x
            self.inputs.append(helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape))
        return x

    def output(self, name, want):
        self.outputs.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(want.dtype), want.shape))
        self.wants[name] = want

    def gemm(self, name, a, b, c=None, relu=False, kind=np.float32, **attrs):
        x = self.value(name + "_x", a, kind)
        w = self.value(name + "_w", b, kind, constant=True)
        names = [name + "_x", name + "_w"]
        xs = x.T if attrs.get("transA") else x
        ws = w.T if attrs.get("transB") else w
        want = kind(attrs.get("alpha", 1.0)) * (xs @ ws)
        if c is not None:
            bias = self.value(name + "_c", c, kind, constant=True)
            names.append(name + "_c")
            want = want + kind(attrs.get("beta", 1.0)) * bias
        self.add(name, "Gemm", names, want, relu, attrs)

    def matmul(self, name, a, b, bias=None, relu=False, constant=False,
               kind=np.float32):
        x = self.value(name + "_x", a, kind)
        w = self.value(name + "_w", b, kind, constant)
        want = x @ w
        extra = None
        if bias is not None:
            extra = self.value(name + "_b", bias, kind, constant=True)
            want = want + extra
        self.add(name, "MatMul", [name + "_x", name + "_w"], want, relu, {},
                 name + "_b" if bias is not None else None)

    def turned(self, name, a, a_perm, b, b_perm, bias=None):
        """Of what is exchanged before: calls read it where it is."""
        names, values = [], []
        for side, shape, perm in (("x", a, a_perm), ("w", b, b_perm)):
            v = self.value("%s_%s" % (name, side), shape, np.float32)
            at = "%s_%s" % (name, side)
            if perm is not None:
                self.nodes.append(helper.make_node(
                    "Transpose", [at], [at + "_t"], perm=perm))
                at, v = at + "_t", v.transpose(perm)
            names.append(at)
            values.append(v)
        want = values[0] @ values[1]
        if bias is not None:
            want = want + self.value(name + "_b", bias, np.float32,
                                     constant=True)
        self.add(name, "MatMul", names, want, False, {},
                 name + "_b" if bias is not None else None)

    def add(self, name, kind, names, want, relu, attrs, bias=None):
        self.n_products += 1
        tail = [n for n, wanted in (("bias", bias), ("relu", relu)) if wanted]
        y = name + "_y" if tail else name
        self.nodes.append(helper.make_node(kind, names, [y], name, **attrs))
        for i, step in enumerate(tail):
            out = name if i + 1 == len(tail) else name + "_" + step
            self.nodes.append(helper.make_node(
                "Add" if step == "bias" else "Relu",
                [y] + ([bias] if step == "bias" else []), [out]))
            y = out
        if relu:
            want = np.maximum(want, 0)
        self.output(name, np.asarray(want))

    def write(self):
        folder = work_folder()
        graph = helper.make_graph(self.nodes, "products", self.inputs,
                                  self.outputs, self.weights)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        path = os.path.join(folder, "products.onnx")
        onnx.save(model, path)
        np.savez(os.path.join(folder, "in.npz"), **self.values)
        return path, folder


def products():
    c = Cases()
    c.gemm("plain", [3, 5], [5, 7])
    c.gemm("layer", [1, 64], [10, 64], [10], transB=1)
    c.gemm("layer_relu", [4, 64], [64, 10], [10], relu=True)
    c.gemm("scaled", [5, 3], [7, 5], [1, 7], transA=1, transB=1, alpha=0.5,
           beta=2.0)
    c.gemm("whole_bias", [3, 5], [5, 7], [3, 7], beta=-1.5)
    c.gemm("row_bias", [3, 5], [5, 7], [3, 1])
    c.gemm("one_bias", [3, 5], [5, 7], [1], relu=True)
    c.gemm("doubles", [3, 5], [7, 5], [7], kind=np.float64, transB=1,
           relu=True)
    c.matmul("flat", [6, 8], [8, 9])
    c.matmul("folded", [2, 3, 8], [8, 9], [9], relu=True, constant=True)
    c.matmul("heads", [2, 4, 5, 8], [2, 4, 8, 6])
    c.matmul("shared_left", [4, 5, 8], [3, 4, 8, 6])
    c.matmul("shared_right", [3, 4, 5, 8], [4, 8, 6])
    c.matmul("crossed", [3, 1, 5, 8], [1, 4, 8, 6])
    c.matmul("vector_left", [8], [8, 9], [9])
    c.matmul("vector_right", [3, 6, 8], [8])
    c.turned("columns", [8, 5], [1, 0], [9, 8], [1, 0], [9])
    c.turned("one_row", [2, 8, 3, 1], [0, 2, 3, 1], [8, 9], None)
    c.turned("keys", [2, 5, 3, 8], [0, 2, 1, 3], [2, 6, 3, 8], [0, 2, 3, 1])
    c.turned("shared_keys", [4, 5, 8], [1, 0, 2], [6, 8], [1, 0])
    c.turned("values", [2, 3, 5, 6], None, [2, 6, 3, 8], [0, 2, 1, 3])
    return c


def check_products():
    c = products()
    model, folder = c.write()
    arguments = ["--input", os.path.join(folder, "in.npz")]
    for target in ("c99", "gnu-c"):
        out = os.path.join(folder, target + ".npz")
        flags = "-O1 -g -fsanitize=address,undefined -Werror " + " ".join(
            STRICT[:-1])
        tirc("run", "-q", model, "--byoc", "cblas", "--target", target,
             "--cc", "gcc", "--cflags",
             ("-std=c99 " if target == "c99" else "-std=gnu11 ") + flags,
             "--repeat", "100", *arguments, "--output", out)
        got = np.load(out)
        for name, want in c.wants.items():
            if got[name].shape != want.shape or not np.allclose(
                    got[name], want, 1e-5, 1e-6):
                fail("%s for %s: %s, not %s" % (name, target, got[name],
                                                want))
    text = source(compile_model(model, "--byoc", "cblas", "--name", "p"), "p")
    calls = text.count("cblas_sgemm(") + text.count("cblas_sgemv(") + \
        text.count("cblas_dgemm(")
    if calls != c.n_products:
        fail("%d of %d products are calls" % (calls, c.n_products))
    if "/* Transpose" in text:
        fail("a transposition that a call could do:\n" + text)
    done = tirc("test", model, "--byoc", "cblas", "--each-region")
    if "%d regions compared, all alike" % c.n_products not in done.stdout:
        fail("regions and generated code: " + done.stdout)


def source(folder, name):
    with open(os.path.join(folder, name + ".c")) as file:
        return file.read()


# A batch that is known when it runs, whatever it is called.
def check_symbolic(size):
    folder = work_folder()
    w = rng.uniform(-1, 1, (6, 4)).astype(np.float32)
    b = rng.uniform(-1, 1, 4).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w", "b"], ["g"]),
         helper.make_node("Relu", ["g"], ["y"])], "dyn",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [size, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [size, 4])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
    path = os.path.join(folder, "dyn.onnx")
    onnx.save(helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        path)
    for n in (1, 5):
        x = rng.uniform(-1, 1, (n, 6)).astype(np.float32)
        x[n // 2, 3] = np.nan  # Relu keeps it
        np.save(os.path.join(folder, "x.npy"), x)
        tirc("run", "-q", path, "--byoc", "cblas", "--dim", size + "=1..8",
             "--input", os.path.join(folder, "x.npy"), "--output",
             os.path.join(folder, "y.npz"))
        got = np.load(os.path.join(folder, "y.npz"))["y"]
        if not np.allclose(got, np.maximum(x @ w + b, 0), 1e-5, 1e-6,
                           equal_nan=True):
            fail("%d rows of a symbolic number %s: %s" % (n, size, got))


def check_formulas():
    """Sizes that are formulas of others are operands in calls, loops and offsets;
    where sizes do not tell how matrices or a third one are broadcast, generated
    code finds out when it runs."""
    folder = work_folder()
    nodes, outputs, calls = [], [], 0
    inputs = {"a": "pn", "b0": "nq", "c0": "q", "d": "p1", "e0": "pq", "f": "1",
              "g": "r", "x0": "spn", "w0": "snq", "v": "tnq"}

    def cut(name, axis):
        """All but the first along the axis."""
        nodes.append(helper.make_node(
            "Slice", [name, "one", "most", "axis%d" % axis], [name + "_cut"]))
        return name + "_cut"

    def product(op, name, *operands, called=True, relu=False):
        nonlocal calls
        calls += called
        last = name + "_product" if relu else name
        nodes.append(helper.make_node(op, operands, [last]))
        if relu:
            nodes.append(helper.make_node("Relu", [last], [name]))
        outputs.append(helper.make_tensor_value_info(
            name, TensorProto.FLOAT, None))

    b, c, e = cut("b0", 1), cut("c0", 0), cut(cut("e0", 1), 0)
    x, w = cut("x0", 0), cut("w0", 0)
    product("Gemm", "column", "a", b, c)
    product("Gemm", "row", "a", b, "d")
    product("Gemm", "element", cut("a", 0), b, e)
    product("Gemm", "tensor", "a", b, "f", relu=True)
    product("Gemm", "either", "a", "b0", "g", called=False)
    product("MatMul", "batch", x, w)
    product("MatMul", "shared", x, b, relu=True)
    product("MatMul", "batches", "x0", "v", called=False)
    constants = {"one": [1], "most": [2**62], "axis0": [0], "axis1": [1]}
    path = os.path.join(folder, "formulas.onnx")
    onnx.save(helper.make_model(helper.make_graph(
        nodes, "formulas",
        [helper.make_tensor_value_info(
            name, TensorProto.FLOAT, [1 if d == "1" else d for d in shape])
         for name, shape in inputs.items()], outputs,
        [numpy_helper.from_array(np.array(v, np.int64), name)
         for name, v in constants.items()]),
        opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    options = ["--byoc", "cblas"]
    for dim in "p=2..6 n=1..6 q=2..6 r=1..6 s=2..6 t=1..6".split():
        options += ["--dim", dim]
    text = source(compile_model(path, *options), "formulas")
    if text.count("cblas_sgemm(") + text.count("cblas_sgemv(") != calls:
        fail("not %d calls:\n%s" % (calls, text))
    for sizes in ({"p": 3, "n": 4, "q": 5, "r": 5, "s": 3, "t": 3},
                  {"p": 2, "n": 1, "q": 2, "r": 1, "s": 2, "t": 1}):
        v = {name: rng.uniform(-1, 1, [sizes.get(d, 1) for d in shape]).astype(
            np.float32) for name, shape in inputs.items()}
        a, b, x, w = v["a"], v["b0"][:, 1:], v["x0"][1:], v["w0"][1:]
        wants = {"column": a @ b + v["c0"][1:], "row": a @ b + v["d"],
                 "element": a[1:] @ b + v["e0"][1:, 1:],
                 "tensor": np.maximum(a @ b + v["f"], 0),
                 "either": a @ v["b0"] + v["g"], "batch": x @ w,
                 "shared": np.maximum(x @ b, 0), "batches": v["x0"] @ v["v"]}
        np.savez(os.path.join(folder, "in.npz"), **v)
        tirc("run", "-q", path, *options, "--cc", "gcc", "--cflags",
             "-std=c99 -g -O1 -fsanitize=address,undefined "
             "-fno-sanitize-recover=all", "--input",
             os.path.join(folder, "in.npz"), "--output",
             os.path.join(folder, "out.npz"))
        got = np.load(os.path.join(folder, "out.npz"))
        for name, want in wants.items():
            if got[name].shape != want.shape or not np.allclose(
                    got[name], want, 1e-5, 1e-6):
                fail("%s of %s: %s, not %s" % (name, sizes, got[name], want))


# Regions of several products: what goes from one to the next lies in the
# workspace.
def check_merged():
    folder = work_folder()
    os.mkdir(os.path.join(folder, "cblas"))
    for name in ("backend.json", "region.tmpl"):
        with open(os.path.join(ROOT, "templates", "byoc", "cblas",
                               name)) as file:
            text = file.read()
        with open(os.path.join(folder, "cblas", name), "w") as file:
            file.write(text.replace('"merge": false', '"merge": true'))
    nodes, weights, x, want = [], [], "x", None
    values = rng.uniform(-1, 1, (3, 6)).astype(np.float32)
    want = values
    for i, (wide, high) in enumerate(((6, 9), (9, 4), (4, 5))):
        w = rng.uniform(-1, 1, (wide, high)).astype(np.float32)
        weights.append(numpy_helper.from_array(w, "w%d" % i))
        nodes.append(helper.make_node("MatMul", [x, "w%d" % i],
                                      ["layer%d" % i]))
        nodes.append(helper.make_node("Relu", ["layer%d" % i],
                                      ["relu%d" % i]))
        x, want = "relu%d" % i, np.maximum(want @ w, 0)
    path = os.path.join(folder, "merged.onnx")
    onnx.save(helper.make_model(
        helper.make_graph(
            nodes, "merged",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 6])],
            [helper.make_tensor_value_info(x, TensorProto.FLOAT, [3, 5])],
            weights),
        opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    np.save(os.path.join(folder, "x.npy"), values)
    byoc = ["--byoc", "cblas=" + folder]
    tirc("run", "-q", path, *byoc, "--cc", "gcc", "--cflags",
         "-std=c99 -g -O1 -fsanitize=address,undefined", "--input",
         os.path.join(folder, "x.npy"), "--output",
         os.path.join(folder, "y.npz"))
    got = np.load(os.path.join(folder, "y.npz"))[x]
    if not np.allclose(got, want, 1e-5, 1e-6):
        fail("three products in one region: %s" % got)
    text = source(compile_model(path, *byoc), "merged")
    if text.count("cblas_sgemm(") != 3 or "cblas_1(" in text:
        fail("not one region:\n" + text)


THREADS = r"""
#include "digits.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static float image[DIGITS_IMAGE_COUNT];
static float want[DIGITS_PROB_COUNT];

static int runs(float *prob, int n)
{
	static _Thread_local _Alignas(64) unsigned char
		space[DIGITS_WORKSPACE_BYTES + 1];
	struct digits m;
	struct digits_config c;
	struct digits_inputs in;
	struct digits_outputs out;

	memset(&c, 0, sizeof c);
	c.workspace = space;
	c.workspace_bytes = DIGITS_WORKSPACE_BYTES;
	in.image = image;
	out.prob = prob;
	if (digits_init(&m, &c) != DIGITS_OK) return 1;
	for (int i = 0; i < n; i++) {
		memset(space, i, DIGITS_WORKSPACE_BYTES);
		if (digits_run(&m, &in, &out) != DIGITS_OK) return 1;
	}
	digits_fini(&m);
	return 0;
}

static void *work(void *arg)
{
	float prob[DIGITS_PROB_COUNT];

	(void)arg;
	return runs(prob, 100) != 0 || memcmp(prob, want, sizeof want) != 0
	       ? image : NULL;
}

int main(void)
{
	pthread_t one, two;
	void *a, *b;

	for (unsigned i = 0; i < DIGITS_IMAGE_COUNT; i++)
		image[i] = (float)(i % 7);
	if (runs(want, 1) != 0) return 2;
	pthread_create(&one, NULL, work, NULL);
	pthread_create(&two, NULL, work, NULL);
	pthread_join(one, &a);
	pthread_join(two, &b);
	if (a != NULL || b != NULL) return 1;
	return 0;
}
"""


def check_digits():
    done = tirc("test", DIGITS, "--byoc", "cblas")
    if "3 of 3" not in done.stdout:
        fail("digits with a library: " + done.stdout)
    done = tirc("test", DIGITS, "--byoc", "cblas", "--each-region")
    if "all alike" not in done.stdout:
        fail("digits, each region: " + done.stdout)
    out = compile_model(DIGITS, "--byoc", "cblas", "--weights", "c",
                        "--target", "c99")
    if "cblas_sgem" not in source(out, "digits"):
        fail("no call of the library")
    for cc in compilers():
        execute([cc, "-std=c99", "-O1", *STRICT, "-c", "-o", os.devnull,
                 os.path.join(out, "digits.c")])
    with open(os.path.join(out, "threads.c"), "w") as file:
        file.write(THREADS)
    for sanitizer in ("thread", "address,undefined"):
        execute(["gcc", "-std=c11", "-g", "-O0", "-fsanitize=" + sanitizer,
                 "-o", "threads", "threads.c", "digits.c",
                 "digits_weights.c", "-lblas", "-lm", "-lpthread"], cwd=out)
        execute([os.path.join(out, "threads")])
    with open(os.path.join(out, "digits.json")) as file:
        facts = json.load(file)
    if "-lblas" not in facts["libraries"]:
        fail("the metadata do not say what to link")
    for name in ("digits.mk", "digits.cmake"):
        with open(os.path.join(out, name)) as file:
            if "-lblas" not in file.read():
                fail(name + " does not say what to link")


def check_sizes():
    """The library's sizes are of int: a product that may have more elements, or
    none, is left to generated code."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["y"])], "sizes",
        [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["m", "k"]),
         helper.make_tensor_value_info("b", TensorProto.FLOAT, ["k", "n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m", "n"])])
    path = os.path.join(work_folder(), "sizes.onnx")
    onnx.save(helper.make_model(graph), path)
    for dims, taken in (("m=1..30000 k=1..9 n=1..70000", True),
                        ("m=1..70000 k=1..9 n=1..70000", False),
                        ("m=1..9 k=1..70000 n=1..70000", False),
                        ("m=1..9 k=0..9 n=1..9", False)):
        options = [word for dim in dims.split() for word in ("--dim", dim)]
        out = compile_model(path, "--byoc", "cblas", "--target", "c99", *options)
        if ("cblas_sgemm" in source(out, "sizes")) != taken:
            fail("%s: the library is %scalled" % (dims, "not " if taken else ""))


def check_refusals():
    for target in filter(has_dialect, ("misra", "cuda", "opencl")):
        done = tirc("compile", DIGITS, "--byoc", "cblas", "--target", target,
                    "-o", work_folder(), status=1)
        if "no places for regions" not in done.stderr:
            fail(target + ": " + done.stderr)


if not has_library(*LIBRARIES["cblas"]):
    skip("no CBLAS: install libblas-dev or libopenblas-dev")
check_refusals()
check_digits()
check_products()
check_sizes()
check_symbolic("n")
check_symbolic("i")
check_formulas()
check_merged()
