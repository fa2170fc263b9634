#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Indices that ONNX forbids do what the manual says, under the sanitizers too:
Gather* take them modulo the size, Scatter* ignore the update, OneHot gives a
row of `off`, ReverseSequence reverses the whole sequence."""
import os
import shutil
import sys

import helper

try:
    import numpy as np
    import onnx
    from onnx import parser
    from onnx_data import write_data
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()

MODEL = """
<ir_version: 10, opset_import: ["" : 21]>
wild (float[5, 4] x, int64[6] i, int64[6, 4] e, int64[6, 2] t, float[6] u,
      float[6, 4] v, int64[4] l)
  => (float[6, 4] a, float[6, 4] b, float[6] c, float[5, 4] d, float[5, 4] f,
      float[6, 5] g, float[5, 4] h)
<int64 five = {5}, float[2] offon = {0.5, 2.0}>
{
  a = Gather (x, i)
  b = GatherElements (x, e)
  c = GatherND (x, t)
  d = ScatterND (x, t, u)
  f = ScatterElements <reduction = "add"> (x, e, v)
  g = OneHot (i, five, offon)
  h = ReverseSequence <time_axis = 0, batch_axis = 1> (x, l)
}
"""
BIG = 2 ** 63 - 1


def expected(x, i, e, t, u, v, l):
    a = x[i % 5]
    b = np.take_along_axis(x, e % 5, axis=0)
    c = x[t[:, 0] % 5, t[:, 1] % 4]
    d, f = x.copy(), x.copy()
    for (row, column), value in zip(t.tolist(), u):
        if -5 <= row < 5 and -4 <= column < 4:
            d[row, column] = value
    for k, row in enumerate(e.tolist()):
        for column, index in enumerate(row):
            if -5 <= index < 5:
                f[index, column] += v[k, column]
    g = np.full((6, 5), 0.5, np.float32)
    for k, index in enumerate(i.tolist()):
        if -5 <= index < 5:
            g[k, index] = 2
    h = x.copy()
    for column, length in enumerate(l.tolist()):
        n = min(max(length, 0), 5)
        h[:n, column] = x[:n, column][::-1]
    return a, b, c, d, f, g, h


def main():
    folder = helper.work_folder()
    path = os.path.join(folder, "wild.onnx")
    onnx.save(parser.parse_model(MODEL), path)
    rng = np.random.default_rng(2)
    wild = np.array([0, -1, 5, -6, 99, -99, BIG, -BIG - 1, -5, 4])
    values = (rng.integers(-9, 9, (5, 4)).astype(np.float32),
              np.array([4, -5, 5, -6, BIG, -BIG - 1]),
              rng.choice(wild, (6, 4)), rng.choice(wild, (6, 2)),
              rng.integers(-9, 9, 6).astype(np.float32),
              rng.integers(-9, 9, (6, 4)).astype(np.float32),
              np.array([0, 3, 99, -7]))
    write_data(folder, values, expected(*values))
    helper.tirc("test", path)
    if shutil.which("gcc"):
        helper.tirc("test", path, env=dict(os.environ, CC=(
            "gcc -fsanitize=address,undefined -fno-sanitize-recover=all")))


if __name__ == "__main__":
    sys.exit(main())
