#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""figures.py: the figures in kernels' comments. Work is that of the definition, so
that C and CUDA state the same; where it depends on values, no number is stated. On a
device, the comment has grid, block and shared bytes of each launch as the code has
them, and the bytes of scratch arrays. Borders are said where they are."""
import json
import os
import re

from helper import compile_model, fail, has_dialect, skip, work_folder

try:
    import numpy as np
    from onnx import numpy_helper, parser, save
except ImportError as missing:
    skip(str(missing))

CNN = """
<ir_version: 8, opset_import: ["" : 18]>
cnn (float[1,3,32,32] x) => (float[1,10] y)
{
  c = Conv <pads = [0, 0, 1, 1], strides = [2, 2]> (x, w)
  r = Relu (c)
  d = Conv <pads = [0, 0, 1, 1], strides = [2, 2]> (r, v)
  g = GlobalAveragePool (d)
  f = Flatten (g)
  l = Gemm <transB = 1> (f, m, b)
  y = Softmax <axis = 1> (l)
}
"""
NMS = """
<ir_version: 8, opset_import: ["" : 18]>
nms (float[1,20,4] boxes, float[1,3,20] scores) => (int64[n,3] sel)
{
  sel = NonMaxSuppression (boxes, scores, k, iou, low)
}
"""
CONSTANTS = {"w": (16, 3, 3, 3), "v": (16, 16, 3, 3), "m": (10, 16),
             "b": (10,)}
folder = work_folder()


def model(name, text, constants):
    made = parser.parse_model(text)
    made.graph.initializer.extend(
        numpy_helper.from_array(array, key) for key, array in constants.items())
    path = os.path.join(folder, name + ".onnx")
    save(made, path)
    return path


def compiled(path, target):
    """The text of the source and its description."""
    out = compile_model(path, "--target", target)
    name = os.path.basename(path)[:-len(".onnx")]
    ending = ".cu" if target == "cuda" else ".c"
    with open(os.path.join(out, name + ending)) as source, \
            open(os.path.join(out, name + ".json")) as facts:
        return source.read(), json.load(facts)


def joined(comment):
    """A comment whose rows have no breaks of lines."""
    return re.sub(r"\n \* {9,}(?=\S)", " ", comment)


def comment_of(text, function):
    at = re.search(r"/\*((?:(?!\*/).)*)\*/\nstatic [^;{]*\b%s\(" % function, text,
                   re.S)
    if at is None:
        fail("%s has no comment" % function)
    return joined(at.group(1))


rng = np.random.default_rng(1)
cnn = model("cnn", CNN, {key: rng.standard_normal(shape).astype("f4")
                         for key, shape in CONSTANTS.items()})
nms = model("nms", NMS, {"k": np.array([5]), "iou": np.array([0.5], "f4"),
                         "low": np.array([0.1], "f4")})
in_c, of_c = compiled(cnn, "c99")
if "zeros at the end of h and w" not in joined(in_c) or \
        "zeros around" in joined(in_c):
    fail("the border at the end is not said:\n" + in_c)
text, vary = compiled(nms, "c99")
selecting = vary["kernels"][0]
if not selecting.get("operations_vary") or selecting["read_bytes"] != 560 \
        or "as many operations as the values require" not in joined(text):
    fail("the work of NonMaxSuppression: %s" % selecting)
if not has_dialect("cuda"):
    skip("no dialect cuda")
in_cuda, of_cuda = compiled(cnn, "cuda")
in_cuda = joined(in_cuda)
work = {k["name"]: (k["flops"], k["operations"], k["macs"])
        for k in of_cuda["kernels"]}
for kernel in of_c["kernels"]:
    name = kernel["name"]
    figures = kernel["flops"], kernel["operations"], kernel["macs"]
    if work[name] != figures:
        fail("%s: %s in C, %s in CUDA" % (name, figures, work[name]))
launches = re.findall(r"launch\(m, (\w+), dim3\(([^)]*)\), dim3\(([^)]*)\)",
                      in_cuda)
if not launches:
    fail("no launches:\n" + in_cuda)
kernel_of = {}
for at, body in re.findall(r"/\*((?:(?!\*/).)*)\*/\n(static __global__ .*?\n\})",
                           in_cuda, re.S):
    kernel_of[re.search(r"\b(\w+)\((?!\d)", body.split("\n", 1)[1]).group(1)] = at, body
for function, grid, block in launches:
    comment, body = kernel_of[function]
    stated = re.search(r"(?:launch    |   )(?:%s: )?grid %s; block %s(; shared)?"
                       % (function, grid, block), comment)
    if stated is None or (stated.group(1) is None) == ("__shared__" in body):
        fail("%s is launched with grid %s, block %s:\n%s"
             % (function, grid, block, in_cuda))
for kernel in of_cuda["kernels"]:
    comment = comment_of(in_cuda, kernel["function"])
    scratch = kernel["scratch_bytes"]
    local = kernel["local_array_bytes"]
    if (local > 0) != ("locals %d bytes of a thread" % local in comment):
        fail("%s has %d bytes of a thread:\n%s"
             % (kernel["name"], local, comment))
    if (scratch > 0) != (
            "scratch %d bytes of the workspace" % scratch in comment):
        fail("%s has %d bytes of scratch:\n%s"
             % (kernel["name"], scratch, comment))
