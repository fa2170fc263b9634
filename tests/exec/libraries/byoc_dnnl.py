#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""byoc_dnnl.py float32|bytes|bfloat16

Backend dnnl, with each version of oneDNN that is installed: networks of all
that it takes, a third of them by turns, beside onnxruntime; no warning in what is emitted; two contexts
in two threads, each run with a workspace of other bytes, under AddressSanitizer;
how many regions there are, and how many reorders a run makes; nothing is lost
or touched where lists are too short at any point, or any call fails."""
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper as oh, numpy_helper

import exact
import turns
from helper import (STRICT, compilers, execute, fail, processor_features,
                    results_alone, skip, tirc, work_folder)

results_alone()

DRIVER = r"""
#include "model.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float x[MODEL_X_COUNT];
static float y[2][MODEL_Y_COUNT];
static int runs;

static void *work(void *arg)
{
	float *const result = arg;
	struct model_config config;
	struct model m;
	struct model_inputs in;
	struct model_outputs out;
	void *space;

	memset(&config, 0, sizeof config);
	config.workspace_bytes = model_workspace_bytes(&m);
	space = config.workspace = aligned_alloc(64,
		(config.workspace_bytes + 64) / 64 * 64);
	if (config.workspace == NULL) return arg;
	if (config.workspace_bytes > 0) {
		config.workspace_bytes--;
		if (model_init(&m, &config) != MODEL_SMALL_WORKSPACE) return arg;
		config.workspace_bytes++;
	}
	if (model_init(&m, &config) != MODEL_OK) return arg;
	in.x = x;
	out.y = result;
	for (int i = 0; i < runs; i++) {
		memset(space, i % 2 ? 0xff : 0x40, config.workspace_bytes);
		memset(result, 0xff, sizeof y[0]);
		if (model_run(&m, &in, &out) != MODEL_OK) return arg;
	}
	model_fini(&m);
	free(space);
	return NULL;
}

int main(int argc, char **argv)
{
	FILE *file = fopen(argv[1], "rb");
	pthread_t other;
	void *a, *b;

	if (argc != 4 || file == NULL ||
	    fread(x, sizeof x, 1, file) != 1 || fclose(file) != 0) return 2;
	runs = atoi(argv[3]);
	if (pthread_create(&other, NULL, work, y[1]) != 0) return 3;
	a = work(y[0]);
	pthread_join(other, &b);
	if (a != NULL || b != NULL) return 4;
	if (memcmp(y[0], y[1], sizeof y[0]) != 0) return 5;
	file = fopen(argv[2], "wb");
	if (file == NULL || fwrite(y[0], sizeof y[0], 1, file) != 1 ||
	    fclose(file) != 0) return 6;
	return 0;
}
"""


# Each list has too few places, down to one less than init needs.
SHORT = r"""
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int short_values, short_steps, short_uses;

int main(void)
{
	int *const lists[] = { &short_values, &short_steps, &short_uses };
	const int many = 1000;
	static struct model m;
	struct model_config config;

	memset(&config, 0, sizeof config);
	short_values = short_steps = short_uses = -1;
	config.workspace_bytes = model_workspace_bytes(&m);
	config.workspace = aligned_alloc(64,
		(config.workspace_bytes + 64) / 64 * 64);
	for (int i = 0; i < 3; i++) {
		int few = 0, enough = many;

		while (few + 1 < enough) {
			const int k = (few + enough) / 2;
			int status;

			*lists[i] = k;
			status = model_init(&m, &config);
			if (status == MODEL_OK) model_fini(&m);
			else if (status != MODEL_LIBRARY) return 3;
			if (status == MODEL_OK) enough = k;
			else few = k;
		}
		*lists[i] = -1;
		if (model_workspace_bytes(&m) == 0) return 4;
		if (enough == many) return 5;
		printf("%d ", enough);
	}
	free(config.workspace);
	return 0;
}
"""


# Each call of the library in turn fails: the model says so, unless it can do
# without, and nothing is lost.
FAILING = r"""
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fails(void);

static long calls, failing = -1;

int fails(void)
{
	return calls++ == failing;
}

int main(void)
{
	static struct model m;
	struct model_config config;
	long failed = 0, all;

	memset(&config, 0, sizeof config);
	config.workspace_bytes = model_workspace_bytes(&m);
	config.workspace = aligned_alloc(64,
		(config.workspace_bytes + 64) / 64 * 64);
	calls = 0;
	if (model_init(&m, &config) != MODEL_OK) return 3;
	model_fini(&m);
	all = calls;
	for (failing = 0; failing < all; failing++) {
		int status;

		calls = 0;
		status = model_init(&m, &config);
		if (status == MODEL_OK) model_fini(&m);
		else if (status == MODEL_LIBRARY) failed++;
		else return 4;
	}
	free(config.workspace);
	printf("%ld calls, %ld wanted\n", all, failed);
	return failed == 0;
}
"""

SANITIZE = [compilers()[0], "-std=gnu11", "-g1", "-O0",
            "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


class Net:
    """A model of one input and one output, random where it has numbers."""

    def __init__(self, shape, real=TensorProto.FLOAT):
        self.real = real
        self.random = np.random.default_rng(7)
        self.nodes, self.constants, self.last = [], [], "x"
        self.shape = shape

    def constant(self, *shape, scale=0.3):
        return self.put(self.random.standard_normal(shape) * scale)

    def put(self, array, dtype=np.float32):
        name = "c%d" % len(self.constants)
        array = np.asarray(array, dtype)
        if dtype == np.float32 and self.real != TensorProto.FLOAT:
            self.constants.append(oh.make_tensor(
                name, self.real, array.shape, array.ravel()))
        else:
            self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, *inputs, **attributes):
        name = "t%d" % len(self.nodes)
        self.nodes.append(oh.make_node(op, [self.last, *inputs], [name],
                                       **attributes))
        self.last = name
        return name

    def stored(self, scale, zero, dtype=np.int8):
        """What is last goes through bytes."""
        at = [self.put(scale), self.put(zero, dtype)]
        self.bytes = self.add("QuantizeLinear", *at)
        return self.add("DequantizeLinear", *at)

    def weights(self, axis, *shape):
        """Bytes with a scale for all, or one for each index along an axis."""
        count = () if axis is None else shape[axis]
        scales = self.random.uniform(0.005, 0.01, count)
        values = self.random.integers(-127, 128, shape)
        return self.restored(self.put(values, np.int8), scales, np.int8,
                             {} if axis is None else {"axis": axis}), scales

    def restored(self, what, scales, dtype, attributes):
        name = "t%d" % len(self.nodes)
        self.nodes.append(oh.make_node(
            "DequantizeLinear",
            [what, self.put(scales), self.put(np.zeros_like(scales), dtype)],
            [name], **attributes))
        return name

    def product(self, op, scale, axis, *shape, bias=True, **attributes):
        """Of what was stored by `scale`, by weights in bytes."""
        inputs, scales = self.weights(axis, *shape)
        inputs = [inputs]
        if bias:
            one = np.broadcast_to(scales, shape[0 if op == "Conv" else 1])
            numbers = self.random.integers(-3000, 3000, one.shape)
            inputs.append(self.restored(
                self.put(numbers, np.int32), one * scale, np.int32,
                {"axis": 0}))
        return self.add(op, *inputs, **attributes)

    def model(self):
        self.nodes[-1].output[0] = "y"
        graph = oh.make_graph(
            self.nodes, "model",
            [oh.make_tensor_value_info("x", self.real, self.shape)],
            [oh.make_tensor_value_info("y", self.real, None)],
            self.constants)
        return onnx.shape_inference.infer_shapes(oh.make_model(
            graph, opset_imports=[oh.make_opsetid(
                "", 20 if self.real == TensorProto.FLOAT else 22)],
            ir_version=9))


def pictures():
    """What networks for pictures have, residuals of all kinds included."""
    n = Net([1, 3, 20, 22])
    n.add("Conv", n.constant(16, 3, 3, 3), n.constant(16), pads=[1, 1, 1, 1])
    stem = n.add("Relu")
    n.add("Conv", n.constant(16, 1, 3, 3), n.constant(16), group=16,
          pads=[1, 1, 1, 1])
    n.add("Clip", n.put(0.0), n.put(6.0))
    n.add("Conv", n.constant(16, 4, 3, 3), group=4, pads=[2, 2, 2, 2],
          dilations=[2, 2])
    kept = n.add("Add", stem)            # stem is read again below
    n.add("HardSwish")
    n.add("Conv", n.constant(16, 16, 1, 1), n.constant(16))
    gate = n.add("Sigmoid")
    n.last = n.nodes[-1].input[0]
    n.add("Mul", gate)                   # swish
    n.add("Add", kept)                   # read for the last time
    n.add("Concat", stem, axis=1)
    n.add("LRN", size=5, alpha=1e-3, beta=0.75, bias=1.0)
    n.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    n.add("ConvTranspose", n.constant(32, 6, 3, 3), n.constant(12), group=2,
          strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 0])
    n.add("LeakyRelu", alpha=0.2)
    n.add("AveragePool", kernel_shape=[3, 3], strides=[2, 2],
          pads=[1, 1, 1, 1], count_include_pad=1)
    n.add("AveragePool", kernel_shape=[2, 2], pads=[0, 0, 1, 1])
    n.add("Resize", "", "", n.put([1, 12, 20, 16], np.int64), mode="linear")
    n.add("Reshape", n.put([1, -1], np.int64))
    n.add("Gemm", n.constant(12 * 20 * 16, 40, scale=0.02), n.constant(40))
    n.add("Elu", alpha=0.7)
    n.add("Gemm", n.constant(10, 40), n.constant(10), transB=1)
    n.add("Softmax", axis=-1)
    return n.model(), 1


def tiles():
    """Convolutions that version 2 computes by tiles, and others beside them."""
    n = Net([2, 3, 26, 26])
    n.add("Conv", n.constant(32, 3, 5, 5), n.constant(32), strides=[2, 2],
          pads=[2, 2, 2, 2])
    stem = n.add("MaxPool", kernel_shape=[2, 2], pads=[0, 0, 1, 1])
    n.add("Conv", n.constant(48, 32, 3, 3, scale=0.1), n.constant(48),
          pads=[1, 1, 1, 1])
    n.add("Relu")
    n.add("Conv", n.constant(32, 48, 3, 3, scale=0.1), pads=[1, 1, 1, 1])
    n.add("Add", stem)
    n.add("Relu")
    n.add("Conv", n.constant(64, 32, 1, 1), n.constant(64), strides=[2, 2])
    n.add("GlobalAveragePool")
    return n.model(), 1


def volumes():
    """One dimension, then three; columns that are multiplied."""
    n = Net([2, 4, 36])
    n.add("Conv", n.constant(8, 4, 5), n.constant(8), strides=[2], pads=[2, 2])
    n.add("Tanh")
    n.add("Reshape", n.put([2, 2, 2, 6, 6], np.int64))
    n.add("Conv", n.constant(16, 2, 2, 3, 3), n.constant(16),
          pads=[0, 1, 1, 0, 1, 1])
    n.add("Mish")
    n.add("Resize", "", n.put([1, 1, 1, 2, 3]), mode="nearest",
          nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    n.add("MaxPool", kernel_shape=[1, 2, 2], strides=[1, 2, 2])
    n.add("Resize", "", n.put([1, 1, 1, 1.5, 2]), mode="linear")
    n.add("Resize", "", "", n.put([2, 16, 1, 5, 7], np.int64), mode="nearest",
          nearest_mode="round_prefer_ceil")
    n.add("GlobalAveragePool")
    n.add("Reshape", n.put([2, 16], np.int64))
    n.add("Gemm", n.constant(2, 12), n.constant(12), transA=1)
    n.add("Gemm", n.constant(9, 16), transA=1, transB=1)
    n.add("Gemm", n.constant(9, 7), n.constant(1))  # a number, no row
    return n.model(), 1


def words():
    """Attention, normalisation, and numbers beside each other."""
    n = Net([2, 6, 16])
    start = n.add("LayerNormalization", n.constant(16), n.constant(16),
                  axis=-1)
    n.add("MatMul", n.constant(16, 16))
    keys = n.add("Add", n.constant(16))
    n.last = start
    n.add("MatMul", n.constant(16, 16))
    n.add("Transpose", perm=[0, 2, 1])
    turned = n.last
    n.last = keys
    n.add("MatMul", turned)
    n.add("Softmax", axis=-1)
    n.add("MatMul", start)
    n.add("Clip", n.put(-0.8), n.put(0.9))
    n.add("Add", start)
    n.add("Clip", n.put(-1.1), n.put(1.2))  # others than before
    n.add("Add", keys)                      # not where the first sum is
    n.add("MatMul", n.constant(16, 32))
    n.add("Gelu")
    n.add("Mul", n.constant(1, 6, 1))
    n.add("Gelu", approximate="tanh")
    n.add("ReduceMean", n.put([1], np.int64), keepdims=1)
    n.add("LogSoftmax", axis=2)
    return n.model(), 1


def stored_pictures():
    """Bytes: what is outside of a picture is not 0, sums of bytes, functions
    and means in between. No result lies half-way between two steps: where that
    goes is up to the last bit of a float."""
    n = Net([1, 3, 20, 22])
    n.stored(0.0213, -40)
    n.product("Conv", 0.0213, 0, 16, 3, 3, 3, pads=[1, 1, 1, 1])
    n.add("Relu")
    stem = n.stored(0.0517, -128)
    n.product("Conv", 0.0517, 0, 16, 1, 3, 3, group=16, pads=[1, 1, 1, 1])
    n.add("Clip", n.put(-1.0), n.put(2.0))
    n.stored(0.0329, 5)
    n.product("Conv", 0.0329, None, 16, 16, 1, 1)
    n.stored(0.0431, -7)
    n.add("Add", stem)
    n.add("Relu")
    kept = n.stored(0.0609, -100)
    n.product("Conv", 0.0609, 0, 16, 4, 3, 3, group=4, pads=[2, 2, 2, 2],
              dilations=[2, 2])
    n.stored(0.0837, 3)
    n.add("Add", kept)
    n.stored(0.0941, -2)
    n.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    pooled = n.stored(0.0941, -2)
    n.product("Conv", 0.0941, 0, 8, 16, 1, 1, bias=False)
    n.stored(0.1019, -6)
    n.add("HardSwish")
    n.stored(0.0703, 9)
    n.last = pooled
    branch = n.nodes[-1].output[0]
    n.product("Conv", 0.0941, 0, 8, 16, 3, 3, pads=[0, 1, 2, 1])
    n.stored(0.1237, 11)
    n.add("Clip", n.put(-4.0), n.put(5.0))
    n.add("Elu", alpha=0.5)
    n.stored(0.0703, 9)
    n.add("Concat", branch, axis=1)
    n.stored(0.0703, 9)
    n.add("AveragePool", kernel_shape=[2, 2], strides=[2, 2])
    n.stored(0.0703, 9)
    n.add("Reshape", n.put([1, -1], np.int64))
    n.product("Gemm", 0.0703, None, 400, 10)
    n.stored(0.3117, 4)
    return n.model(), 1


def stored_words():
    """Bytes without signs, more than two dimensions, functions behind."""
    n = Net([2, 6, 16])
    n.stored(0.02, 128, np.uint8)
    n.product("MatMul", 0.02, None, 16, 24, bias=False)
    n.stored(0.02, 120, np.uint8)
    n.add("Sigmoid")
    n.stored(0.004, 3, np.uint8)
    n.product("MatMul", 0.004, None, 24, 16, bias=False)
    n.stored(0.01, 128, np.uint8)
    n.add("LeakyRelu", alpha=0.1)
    n.add("Clip", n.put(-0.5), n.put(0.5))
    n.stored(0.005, 90, np.uint8)
    n.add("Softmax", axis=-1)
    n.stored(0.004, 0, np.uint8)
    return n.model(), 1


def halves():
    """A network in bfloat16, for the patterns of 16-bit floats."""
    n = Net([1, 3, 12, 12], TensorProto.BFLOAT16)
    n.add("Conv", n.constant(16, 3, 3, 3), n.constant(16), pads=[1, 1, 1, 1])
    stem = n.add("Relu")
    n.add("Conv", n.constant(16, 1, 3, 3), n.constant(16), group=16,
          pads=[1, 1, 1, 1])
    n.add("Conv", n.constant(16, 16, 1, 1))
    n.add("Add", stem)
    n.add("Clip", n.put(0.0), n.put(3.0))
    n.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    n.add("Concat", n.add("Sigmoid"), axis=1)
    n.add("GlobalAveragePool")
    n.add("Reshape", n.put([1, -1], np.int64))
    n.add("Gemm", n.constant(32, 24), n.constant(24))
    n.add("Reshape", n.put([1, 4, 6], np.int64))
    n.add("MatMul", n.constant(6, 10))
    n.add("Add", n.constant(10))
    n.add("Softmax", axis=-1)
    return n.model()


def check_halves(prefix):
    """Against generated code, where the processor is one that has them."""
    path = os.path.join(work_folder(), "halves.onnx")
    onnx.save(halves(), path)
    out = tirc("test", path, "--byoc", "dnnl", "--each-region",
               env=environment(prefix)).stdout
    if "1 region compared, all alike" not in out:
        fail("bfloat16:\n" + out)


def libraries():
    """Where versions of oneDNN are: None is the system's, else a prefix."""
    found = []
    source = ("#include <oneapi/dnnl/dnnl.h>\nint main(void) "
              "{ return dnnl_version()->major != DNNL_VERSION_MAJOR; }\n")
    folder = work_folder()
    for prefix in (None, sys.prefix):
        if prefix and not os.path.isdir(os.path.join(
                prefix, "include", "oneapi")):
            continue
        done = subprocess.run(
            [compilers()[0], "-x", "c", "-", "-o",
             os.path.join(folder, "there"), "-ldnnl"],
            input=source, text=True, capture_output=True,
            env=environment(prefix))
        if done.returncode == 0:
            found.append(prefix)
    return found


def environment(prefix):
    env = dict(os.environ, OMP_NUM_THREADS="1")
    if prefix:
        for variable, below in (("CPATH", "include"), ("LIBRARY_PATH", "lib"),
                                ("LD_LIBRARY_PATH", "lib")):
            env[variable] = os.path.join(prefix, below)
    return env


def close(have, want, what, step):
    """Up to rounding; where results are multiples of a step, a few of them may
    go to the next one."""
    errors = np.abs(have.ravel() - want.ravel())
    allowed = step * 1.001 if step else 2e-5 * np.abs(want).max()
    if not errors.max() < allowed or (
            step and np.count_nonzero(errors > step / 2) > errors.size / 50):
        fail("%s: differs by %g" % (what, errors.max()))


def reorders(program, arguments, env):
    """Those of the last run; the ones before and in init are as many."""
    counts = []
    for runs in 1, 2:
        out = execute([program, *arguments, str(runs)], env=dict(
            env, ONEDNN_VERBOSE="1", DNNL_VERBOSE="1")).stdout
        counts.append(len(re.findall(r"(?:,|:)exec[^\n]*,reorder,", out)))
    return (counts[1] - counts[0]) // 2  # two contexts


def check_tiles(program, arguments, env):
    """Those of the library, if it is a version that has them for this
    processor."""
    out = execute([program, *arguments, "1"], env=dict(
        env, ONEDNN_VERBOSE="1", DNNL_VERBOSE="1")).stdout
    tiled = len(re.findall(r",exec[^\n]*,convolution,[^,]*wino", out))
    has_tiles = "oneDNN v2." in out and "avx512bw" in processor_features()
    if tiled != (2 * 2 if has_tiles else 0):
        fail("%d convolutions by tiles in a run" % tiled)


def check_options(folder, env):
    """Without tiles nothing is left of them. From a file of weights, nothing is
    declared that nobody reads."""
    path = os.path.join(folder, "model.onnx")
    plain = os.path.join(folder, "plain")
    tirc("compile", path, "--byoc", "dnnl:tiles=never", "--name", "model",
         "-q", "--weights", "file", "-o", plain)
    with open(os.path.join(plain, "model.c")) as file:
        text = file.read()
    found = re.search(".*(tiled|by_tiles|winograd).*", text)
    if found:
        fail("dnnl:tiles=never has tiles: " + found[0])
    execute([compilers()[0], "-std=c99", "-O1", "-c", "-o", os.devnull, *STRICT,
             os.path.join(plain, "model.c")], env=env)


def run_short(folder, env):
    """Lists that are too short give a status, and nothing is lost; of one
    region also how much it needs, and how much there is."""
    with open(os.path.join(folder, "model.c")) as file:
        text = file.read()
    there = [int(n) for n in re.findall(r"most_\w+ = (\d+);", text)]
    text = re.sub(r"most_(\w+) = (\d+);",
                  r"most_\1 = short_\1 < 0 || short_\1 > \2 ? \2 : short_\1;",
                  text)
    with open(os.path.join(folder, "short.c"), "w") as file:
        file.write("extern int short_values, short_steps, short_uses;\n" +
                   text)
    with open(os.path.join(folder, "short_driver.c"), "w") as file:
        file.write(SHORT.lstrip())
    flags = SANITIZE
    execute([*flags, "short.c", "short_driver.c", weights_object(folder, flags),
             *runtime_objects(folder, env, flags), "-o", "short", "-ldnnl",
             "-lm"], env=env, cwd=folder)
    needed = execute([os.path.join(folder, "short")], env=env).stdout.split()
    if len(there) == 3:
        print("values, steps, uses: %s of %s" % (", ".join(needed), there))


def run_failing(folder, env):
    """Each call of a function that returns a status fails once, but for
    functions that only ask or destroy."""
    with open(os.path.join(folder, "oneapi.h"), "w") as file:
        file.write("#include <oneapi/dnnl/dnnl.h>\n")
    declared = execute([compilers()[0], "-E", "-P", "oneapi.h"], env=env,
                       cwd=folder).stdout
    names = {n for n in re.findall(r"\bdnnl_status_t\s+(dnnl_\w+)\s*\(",
                                   declared)
             if not re.search("destroy|query|_get_", n)}
    with open(os.path.join(folder, "failing_driver.c"), "w") as file:
        file.write(FAILING.lstrip())
    flags = [*SANITIZE, "-include",
             header_of_failures(sorted(names), env.get("CPATH"))]
    execute([*flags, "model.c", "failing_driver.c",
             weights_object(folder, SANITIZE),
             *runtime_objects(folder, env, flags), "-o", "failing", "-ldnnl",
             "-lm"], env=env, cwd=folder)
    print(execute([os.path.join(folder, "failing")], env=env).stdout, end="")


def runtime(folder):
    return sorted(f for f in os.listdir(folder)
                  if re.fullmatch(r"tirc_dnnl\w*\.c", f))


def header_of_failures(names, version, made={}):
    """Makes each of these functions fail when fails() says so; one file for
    each version of the library."""
    if version not in made:
        made[version] = os.path.join(work_folder(), "failing.h")
        with open(made[version], "w") as file:
            file.write("#include <oneapi/dnnl/dnnl.h>\nint fails(void);\n")
            for n in names:
                file.write("#define %s(...) \\\n\t(fails() ? "
                           "dnnl_runtime_error : %s(__VA_ARGS__))\n" % (n, n))
    return made[version]


def weights_object(folder, flags):
    """The model's weights, compiled once for all sanitized programs."""
    made = os.path.join(folder, "model_weights.o")
    if not os.path.exists(made):
        execute([*flags, "-c", "model_weights.c", "-o", made], cwd=folder)
    return made


def runtime_objects(folder, env, flags, made={}):
    """Compiled once for each version of the library and all flags."""
    key = (env.get("CPATH"), *flags)
    if key not in made:
        out = work_folder()
        execute([*flags, "-c", *[os.path.join(folder, f)
                                 for f in runtime(folder)]], env=env, cwd=out)
        made[key] = sorted(os.path.join(out, f) for f in os.listdir(out))
    return made[key]


def as_graph(name, path, env):
    """The executor's kernels keep the same and give the same bits, and what
    the library says goes where messages go."""
    cc = shutil.which("tcc") or compilers()[0]  # the runtime, 24 times
    results = []
    for form in ("aot", "graph"):
        out = os.path.join(work_folder(), "out.npz")
        done = tirc("run", path, "--byoc", "dnnl", "--form", form, "--output",
                    out, "-q", "--cc", cc, "--cflags", "-O0",
                    env=dict(env, ONEDNN_VERBOSE="1", DNNL_VERBOSE="1"))
        if done.stdout or "exec" not in done.stderr:
            fail("%s, %s: oneDNN speaks:\n%s" % (name, form, done.stdout))
        with open(out, "rb") as file:
            results.append(file.read())
    if results[0] != results[1]:
        fail(name + ": as a graph other values come out")


def check_source(name, folder, env):
    """Each region reads all constants that it is given; the runtime is in files
    of its own, which take nothing of a heap; the header knows nothing of
    oneDNN's. Lines are no longer than those of people."""
    with open(os.path.join(folder, "model.c")) as file:
        text = file.read()
    parts = []
    for region, body in re.findall(r"^(\w+)_describe\((.*?)^}", text,
                                   re.M | re.S):
        struct = re.search(r"^struct %s_weights {\n(.*?)^}" % region, text,
                           re.M | re.S)
        given = set(re.findall(r"\*(\w+);", struct[1] if struct else ""))
        used = set(re.findall(r"w->(\w+)", body))
        if used != given:
            fail("%s: %s reads the constants %s of %s" % (
                name, region, sorted(used), sorted(given)))
        parts.append(body)
    for file in ["model.c", *runtime(folder)]:
        with open(os.path.join(folder, file)) as source:
            found = re.search(r"\b(malloc|calloc|realloc|free|dnnl_\w+_create)"
                              r"\(" if file == "model.c" else
                              r"\b(malloc|calloc|realloc|free)\(",
                              source.read())
        if found:
            fail("%s: %s has %s" % (name, file, found[1]))
    for cc in ([compilers()[0], "-std=c99"], ["g++", "-std=c++11"]):
        known = execute([*cc, *STRICT, "-x", "c" if cc[0] != "g++" else "c++",
                         "-M", "model.h"], env=env, cwd=folder).stdout
        if "tirc_dnnl.h" not in known or "oneapi" in known:
            fail("the header needs others: " + known)
    for line in "".join(parts).splitlines():
        if len(line.expandtabs()) > 80:
            fail("%s: a long line: %s" % (name, line))
    if name == "words" and not re.search(
            r"tirc_dnnl_matmul\(\n.*\n.*\n.*\n\t\ttirc_dnnl_constant\(r, w->\w+, "
            r"dnnl_f32, 1,\s+\(dnnl_dims_t\){ 16 }\),\n", text):
        fail("a row that is added to a product is not its bias:\n" + text)
    return len(parts)


def check(name, model, regions, prefix):
    folder = work_folder()
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    tirc("compile", path, "--byoc", "dnnl", "--name", "model", "-q",
         "--weights", "c", "-o", folder)
    count = check_source(name, folder, environment(prefix))
    if count == 0 or regions not in (None, count):
        fail("%s has %d regions, not %s" % (name, count, regions))
    with open(os.path.join(folder, "driver.c"), "w") as file:
        file.write(DRIVER.lstrip())
    shape = [d.dim_value for d in
             model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    want, = exact.run(path, {"x": x})
    x.tofile(os.path.join(folder, "x"))
    env = environment(prefix)
    files = ["driver.c", "model.c", "model_weights.c"]
    link = ["-ldnnl", "-lm", "-lpthread"]
    arguments = [os.path.join(folder, f) for f in ("x", "y")]
    step = None
    if model.graph.node[-1].op_type == "DequantizeLinear":
        step, = (numpy_helper.to_array(c).item() for c in
                 model.graph.initializer
                 if c.name == model.graph.node[-1].input[1])
    for cc in compilers():
        flags = [cc, "-std=c99", "-O1", *STRICT]
        execute([*flags, "-fsyntax-only", "model.c"], env=env, cwd=folder)
        runtime_objects(folder, env, flags)
    program = os.path.join(folder, "program")
    flags = [compilers()[0], "-std=gnu11", "-O0"]
    execute([*flags, *files, *runtime_objects(folder, env, flags), "-o",
             program, *link], env=env, cwd=folder)
    moved = reorders(program, arguments, env)
    close(np.fromfile(arguments[1], np.float32), want, name, step)
    execute([*SANITIZE, *files[:2], weights_object(folder, SANITIZE),
             *runtime_objects(folder, env, SANITIZE), "-o", "sanitized",
             *link], env=env, cwd=folder)
    os.remove(arguments[1])
    execute([os.path.join(folder, "sanitized"), *arguments, "100"], env=env)
    close(np.fromfile(arguments[1], np.float32), want, name + ", sanitized",
          step)
    as_graph(name, path, env)
    if name == "stored_words":
        # No sums of products of bytes: a status, not other sums.
        execute([program, *arguments, "1"], status=4,
                env=dict(env, ONEDNN_MAX_CPU_ISA="AVX2",
                         DNNL_MAX_CPU_ISA="AVX2"))
    if name == "tiles":
        check_tiles(program, arguments, env)
        check_options(folder, env)
    if name in ("tiles", "volumes", "stored_words"):
        run_short(folder, env)
        run_failing(folder, env)
    print("%-15s %s regions, %d reorders in a run" % (name, count, moved))
    return moved


def check_bounds(prefix):
    """One bound does not limit the other side; bounds in the other order, which the
    library refuses, and bounds that are NaN are not given to it."""
    x = np.array([-np.inf, -3.402e38, -1, -0.5, 0, 1, 3.402e38, np.inf],
                 np.float32)
    out = os.path.join(work_folder(), "out.npz")
    for low, high, taken in ((-0.75, None, True), (None, 0.75, True),
                             (-np.inf, 0.75, True), (0.5, -0.5, False),
                             (np.nan, 0.5, False)):
        for own in (False, True):       # a post-operation, a primitive
            n = Net([1, 1, 1, 8])
            bounds = ["" if low is None else n.put(low),
                      "" if high is None else n.put(high)]
            if own:
                n.add("Clip", *bounds)
            n.add("Conv", n.put([[[[1]]]]))
            if not own:
                n.add("Clip", *bounds)
            path = os.path.join(work_folder(), "bounds.onnx")
            onnx.save(n.model(), path)
            given = os.path.join(work_folder(), "in.npz")
            np.savez(given, x=x.reshape(1, 1, 1, 8))
            text = tirc("partition", path, "--byoc", "dnnl", "--explain").stdout
            if bool(re.search(r"^Clip -> \w+: dnnl", text, re.M)) != taken:
                fail("Clip by %s and %s:\n%s" % (low, high, text))
            tirc("run", path, "--byoc", "dnnl", "--input", given, "--output",
                 out, "-q", env=environment(prefix))
            with np.load(out) as file:
                got = file["y"].ravel()
            want = x if low is None else np.maximum(x, np.float32(low))
            want = want if high is None else np.minimum(want, np.float32(high))
            if low == low and not np.array_equal(got, want):
                fail("Clip by %s and %s gives %s" % (low, high, got))


def check_specials(prefix):
    """NaN and infinities: only the operators of which the documentation says so
    differ from generated code."""
    inf, nan = np.inf, np.nan
    x = np.array([[-inf] * 4, [inf] * 4, [nan] * 4, [nan, 1, -1, 2],
                  [inf, 1, -inf, 2], [1, 2, 3, nan], [-inf, -inf, -1, -2]],
                 np.float32).reshape(1, 1, 7, 4)
    differ = {"Relu", "Exp", "Softmax", "LogSoftmax", "Clip", "MaxPool",
              "ReduceMax", "ReduceMin", "Gelu", "Sigmoid"}
    n = Net([1, 1, 7, 4])
    t = n.add("Conv", n.put([[[[1]]]]))
    made = {}

    def one(op, *inputs, **attributes):
        n.last = t
        made[n.add(op, *inputs, **attributes)] = op
    for op in ("Relu", "Sigmoid", "Tanh", "Abs", "Exp", "Sqrt", "Softplus",
               "HardSwish", "Mish", "LeakyRelu", "Elu", "Gelu", "Softmax",
               "LogSoftmax", "GlobalAveragePool"):
        one(op)
    one("Clip", n.put(-0.5), n.put(0.5))
    one("MaxPool", kernel_shape=[1, 4])
    one("AveragePool", kernel_shape=[1, 4])
    for op in ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean"):
        one(op, n.put([3], np.int64))
    n.add("Identity")
    model = n.model()
    model.graph.output.extend(oh.make_tensor_value_info(
        name, TensorProto.FLOAT, None) for name in made)
    path = os.path.join(work_folder(), "specials.onnx")
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    given = os.path.join(work_folder(), "in.npz")
    np.savez(given, x=x)
    got = []
    for options in ([], ["--byoc", "dnnl"]):
        out = os.path.join(work_folder(), "out.npz")
        tirc("run", path, *options, "--input", given, "--output", out,
                    "-q", env=environment(prefix))
        with np.load(out) as file:
            got.append({name: file[name] for name in made})
    text = tirc("partition", path, "--byoc", "dnnl")
    if "NaN may become a number in Relu, Clip," not in text.stderr:
        fail("partition does not tell of NaN: " + text.stderr)
    found = {op for name, op in made.items() if not np.allclose(
        got[0][name], got[1][name], rtol=1e-4, atol=1e-6, equal_nan=True)}
    if not found <= differ or not found:
        fail("other operators differ: %s" % {op: [z[name] for z in got] for name, op in made.items() if op in found - differ})
    print("NaN and infinities differ in", ", ".join(sorted(found)))


# What is tried, with the most reorders of a run: what comes in and what leaves,
# the concatenation, the two residuals. And instructions, of which the processor
# must have one for oneDNN to take it.
MODELS = {
    "float32": ([(pictures, 6), (tiles, 2), (volumes, 3), (words, 2)], set()),
    "bytes": ([(stored_pictures, 4), (stored_words, 2)],
              {"avx512_vnni", "avx_vnni"}),
    "bfloat16": ([], {"avx512bw"}),
}


def main():
    kind = sys.argv[1]
    models, needed = MODELS[kind]
    if needed and not needed & processor_features():
        skip("this processor has no " + ", ".join(sorted(needed)))
    found = libraries()
    if not found:
        skip("no oneDNN: neither libdnnl-dev nor a package of Python's")
    ways = [(prefix, *one) for prefix in found for one in models]
    for prefix, make, most in turns.some(kind, ways, (len(ways) + 2) // 3):
        print("oneDNN of %s" % (prefix or "the system"))
        model, regions = make()
        moved = check(make.__name__, model, regions, prefix)
        if moved > most:
            fail("%d reorders; %d at most" % (moved, most))
    for prefix in found:
        if kind == "bfloat16":
            check_halves(prefix)
        if kind == "float32":
            check_bounds(prefix)
            check_specials(prefix)


main()
