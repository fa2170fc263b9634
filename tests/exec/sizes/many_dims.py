#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bounded symbolic dimension: one source, right at every size, sizes
outside the bounds come back as a code, the workspace fits the largest."""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

import exact
from helper import (compile_model, execute, fail, results_alone, tirc,
                    work_folder)

results_alone()

rng = np.random.default_rng(3)


def weight(name, *shape):
    return numpy_helper.from_array(
        rng.standard_normal(shape).astype(np.float32), name)


graph = helper.make_graph(
    [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], "conv1",
                      pads=[1, 1, 1, 1]),
     helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
     helper.make_node("MaxPool", ["r1"], ["p1"], "pool1",
                      kernel_shape=[2, 2], strides=[2, 2]),
     helper.make_node("Shape", ["p1"], ["s"], "shape"),
     helper.make_node("Gather", ["s", "zero"], ["n"], "n"),
     helper.make_node("Concat", ["n", "minus"], ["to"], "to", axis=0),
     helper.make_node("Reshape", ["p1", "to"], ["flat"], "flat"),
     helper.make_node("Gemm", ["flat", "w2", "b2"], ["fc"], "fc"),
     helper.make_node("Softmax", ["fc"], ["prob"], "prob", axis=1)],
    "net",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT,
                                   ["batch", 2, 6, 6])],
    [helper.make_tensor_value_info("prob", TensorProto.FLOAT,
                                   ["batch", 5])],
    [weight("w1", 4, 2, 3, 3), weight("b1", 4), weight("w2", 36, 5),
     weight("b2", 5),
     numpy_helper.from_array(np.array([0], np.int64), "zero"),
     numpy_helper.from_array(np.array([-1], np.int64), "minus")])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                          ir_version=8)
folder = work_folder()
path = os.path.join(folder, "net.onnx")
save(model, path)
net = exact.Model(path)
for batch in (1, 2, 3, 4):
    x = rng.standard_normal((batch, 2, 6, 6)).astype(np.float32)
    data = os.path.join(folder, "test_data_set_%d" % batch)
    os.mkdir(data)
    for name, array in (("input_0", x),
                        ("output_0", net.run({"x": x})[0])):
        with open(os.path.join(data, name + ".pb"), "wb") as f:
            f.write(numpy_helper.from_array(array).SerializeToString())
tirc("test", path, "--dim", "batch=1..4")
tirc("test", path, os.path.join(folder, "test_data_set_2"), "--dim",
     "batch=2")
out = compile_model(path, "--dim", "batch=1..4")
driver = os.path.join(out, "driver.c")
with open(driver, "w") as f:
    f.write(r"""
#include "net.h"
#include <stdio.h>
#include <string.h>
static float x[NET_X_COUNT], prob[NET_PROB_COUNT];
static char space[NET_WORKSPACE_BYTES + 64];
int main(void)
{
	struct net m;
	struct net_config c;
	struct net_inputs in;
	struct net_outputs o;
	memset(&c, 0, sizeof c);
	c.workspace = space + (64 - (size_t)space % 64);
	c.workspace_bytes = NET_WORKSPACE_BYTES;
	in.x = x;
	o.prob = prob;
	if (net_init(&m, &c) != NET_OK) return 1;
	for (int n = -1; n < 7; n++) {
		in.batch = n;
		if ((net_run(&m, &in, &o) == NET_OK) != (n >= 1 && n <= 4)) {
			printf("batch %d\n", n);
			return 1;
		}
	}
	return 0;
}
""")
program = os.path.join(out, "driver")
execute(["cc", "-fsanitize=address,undefined", "-o", program, driver,
         *[os.path.join(out, n) for n in sorted(os.listdir(out))
           if n.endswith((".c", ".S")) and n != "driver.c"], "-lm"])
execute([program])
if not os.path.getsize(driver):
    fail("no driver")
