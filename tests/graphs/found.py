#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single nodes of which random graphs found that tirc's results were wrong, or
that a reference's are, compared as random graphs are."""
import sys

import helper

try:
    import ml_dtypes  # noqa: F401
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime  # noqa: F401
except ImportError as missing:
    helper.skip(str(missing))

from graphs import try_graph
from maker import Maker
from reference import Evaluator

RAMP = np.linspace(-3, 4, 24).reshape(2, 3, 4)
WIDE = np.array([[2 ** 63 - 1, -2 ** 63], [2 ** 53 + 1, -9]], np.int64)
BYTES = np.array([[[[-100, 7, 3, -2, 90, 1]]]], np.int8)
EQUAL = np.ones((16, 1, 4, 8), np.float32)
# operator, inputs (lists and tuples are constants of float32 and of int64),
# outputs, attributes
CASES = [
    # attributes that are not there are float32's numbers
    ("LRN", [RAMP.reshape(1, 3, 4, 2)], 1, {"size": 3}),
    ("LeakyRelu", [RAMP], 1, {}),
    # squares of float16 are added up in float32
    ("LRN", [(RAMP.reshape(1, 3, 4, 2) * 200).astype(np.float16)], 1,
     {"size": 3}),
    ("LayerNormalization", [RAMP * 1e-3, np.ones(4)], 1, {}),
    # a condition longer than the axis
    ("Compress", [RAMP, np.array([True, False, True, True])], 1, {"axis": 1}),
    ("Compress", [RAMP, np.arange(30) % 3 > 0], 1, {}),
    # integers beyond float32
    ("Shrink", [WIDE], 1, {}), ("Shrink", [WIDE], 1, {"lambd": 8.5}),
    ("Shrink", [WIDE.view(np.uint64)], 1, {"lambd": 8.5, "bias": 1.0}),
    # powers of integers are integers, modulo the type's range
    ("Pow", [np.array([3, -3, 7, 2, -1, 0, 10]),
             np.array([39, 39, 20, 64, -3, -1, 18])], 1, {}),
    ("Pow", [np.array([3, -7, 46341], np.int32),
             np.array([20, 11, 2], np.uint8)], 1, {}),
    # the mean of no integers is 0
    ("ReduceMean", [np.zeros(0, np.int64)], 1, {"keepdims": 0}),
    # integers are cut, not rounded
    ("Resize", [BYTES, None, [1, 1, 1, 1.75]], 1, {"mode": "linear"}),
    # one update, of which the compiler knows where it goes
    ("ScatterElements", [RAMP[0, 0].astype(np.float32),
                         np.array([-4], np.int64), [-7.0]], 1, {}),
    ("ScatterND", [RAMP[0].astype(np.float32), np.array([[2, -1]], np.int64),
                   [-7.0]], 1, {}),
    # NaN is the largest and the least
    ("ScatterElements", [RAMP[0, 0].astype(np.float32),
                         np.array([0, 1], np.int64), [np.nan, 7]], 1,
     {"reduction": "max"}),
    ("ScatterElements", [np.array([np.nan, 2], np.float32),
                         np.array([0, 1], np.int64), [7, np.nan]], 1,
     {"reduction": "min"}),
    # 1e-9 is added to the deviation, not under its root
    ("MeanVarianceNormalization", [RAMP.reshape(2, 3, 4, 1) * 1e-5], 1, {}),
    # groups whose mean is large beside the deviation
    ("GroupNormalization", [
        np.array([[[2.9579415], [2.9184926]]], np.float32), [1, 4], [0, 1]],
     1, {"num_groups": 1}),
    ("GroupNormalization", [RAMP[:, :2] * 1e-2 + 9, np.ones(2), np.ones(2)],
     1, {"num_groups": 2}),
    # quotients beyond int32
    ("QuantizeLinear", [np.array([-2 ** 31, 2 ** 31 - 1, 9], np.int32),
                        np.array(2 ** -5, np.float32),
                        np.array(-3, np.int8)], 1, {}),
    # sums of integers wrap
    ("Einsum", [np.array([2 ** 62, 2 ** 62, 5])], 1, {"equation": "i->"}),
    ("Einsum", [np.array([2 ** 30, 2 ** 30 + 7], np.int32)], 1,
     {"equation": "i->"}),
    # integers that no float is
    ("Resize", [WIDE, None, [1, 2]], 1, {"mode": "nearest"}),
    ("Resize", [WIDE, None, [1, 2]], 1, {"mode": "linear"}),
    ("Resize", [WIDE, None, [1, 2.5]], 1, {"mode": "cubic"}),
    ("Resize", [WIDE.view(np.uint64), None, [1, 2.5]], 1, {"mode": "cubic"}),
    ("Resize", [BYTES, None, [1, 1, 1, 2.5]], 1, {"mode": "cubic"}),
    # beyond the border there is the border's element alone
    *(("GridSample", [
        np.array([[[[np.inf, 2, 3], [4, np.inf, 6], [7, 8, 9]]]], np.float32),
        np.array([[[[-2, -.9], [.9, -.95], [-.3, 1.2], [0, -7], [.1, 9]]]],
                 np.float32)], 1, {"mode": mode, "padding_mode": "border",
                                   "align_corners": align})
      for mode in ("linear", "nearest", "cubic") for align in (0, 1)),
    # a sum of nothing is quantized as 0 is
    ("QLinearMatMul", [
        np.zeros((4, 0), np.int8), np.float32(.5), np.int8(1),
        np.zeros((0, 9), np.int8), np.float32(.5), np.int8(2),
        np.float32(.25), np.int8(6)], 1, {}),
    # samples outside of an image whose first element is an infinity
    *(("RoiAlign", [
        np.array([[[[np.inf, 2, 3], [4, 5, 6]]]], np.float32),
        np.array([[-9, -9, -5, -7], [0, 0, 2, 1], [1, 1, 2, 9]], np.float32),
        np.zeros(3, np.int64)], 1,
       {"output_height": 2, "output_width": 2, "mode": mode})
      for mode in ("avg", "max")),
    # an image of one axis
    ("Col2Im", [np.arange(72, dtype=np.float32).reshape(2, 6, 6),
                (7,), (2,)], 1,
     {"dilations": [2], "pads": [0, 1]}),
    # infinities between the taps of a dilated window
    ("Conv", [np.where(RAMP > 2, np.inf, RAMP), RAMP[:, :, :2], RAMP[0, 0, :2]],
     1, {"dilations": [2], "pads": [1, 0]}),
    ("Conv", [np.where(RAMP > 2, np.inf, RAMP)[:, :2], RAMP[:, :1, :2]], 1,
     {"dilations": [2], "group": 2, "pads": [0, 1]}),
    # the length of the result is 1, not 1.5
    ("Resize", [RAMP[0].astype(np.float32), None, [.375, 1]], 1, {
        "mode": "linear",
        "coordinate_transformation_mode": "pytorch_half_pixel"}),
    ("Resize", [RAMP[0].astype(np.float32), None, [.375, 1.5]], 1, {
        "mode": "cubic",
        "coordinate_transformation_mode": "pytorch_half_pixel"}),
    # cubic coefficients of float64
    ("Resize", [RAMP, None, [1, 1, 1.5]], 1, {"mode": "cubic"}),
    # dilated windows that stay inside
    ("AveragePool", [RAMP], 1, {"auto_pad": "VALID", "dilations": [2],
                                "kernel_shape": [2]}),
    # the last window reaches beyond the input
    ("LpPool", [RAMP], 1, {"ceil_mode": 1, "kernel_shape": [3],
                           "strides": [3]}),
    # exp(x) beside which 1 has no such digit
    ("Softplus", [RAMP * 20], 1, {}),
    ("Softplus", [(RAMP * 20).astype(np.float32)], 1, {}),
    # NaN in a bin is no number
    ("MaxRoiPool", [np.array([[[[np.nan, 2, 3, np.nan], [7, np.nan, np.nan, 5],
                                [np.nan] * 4]]], np.float32),
                    np.array([[0, 0, 0, 3, 2], [0, 1, 1, 2, 2], [0, -3, 0, 9, 0]],
                             np.float32)], 1, {"pooled_shape": [2, 2]}),
    # a sum of integers that no float is
    ("ReduceLogSum", [np.array([[2 ** 63 - 1, 30, -2 ** 63],
                                [-2 ** 62, 2 ** 62, -7]]), (1,)], 1, {}),
    ("ReduceLogSum", [np.array([[2 ** 31 - 1] * 3], np.int32)], 1, {}),
    # statistics of float64 are float32
    ("LayerNormalization", [RAMP, np.ones(4)], 3, {}),
    ("LayerNormalization", [RAMP.astype(np.float32),
                            np.ones(4, np.float32)], 3, {}),
    # equal numbers, whose mean is rounded: noise over noise
    ("MeanVarianceNormalization", [EQUAL * np.float32(-7.458878e-06)], 1, {}),
    ("LayerNormalization", [EQUAL * np.float32(76.77069), [1] * 8], 1, {}),
    ("LayerNormalization", [EQUAL * np.float32(76.77069),
                            np.ones(EQUAL.shape, np.float32)], 1, {"axis": 0}),
    ("GroupNormalization", [EQUAL * np.float32(76.77069), [1], [0]], 1,
     {"num_groups": 1}),
    ("LayerNormalization", [EQUAL * np.float32(-.0764981663),
                            np.full(EQUAL.shape, np.inf, np.float32)], 1,
     {"axis": 0}),
]


def main():
    evaluator, failed = Evaluator(), 0
    for op, arrays, outputs, attributes in CASES:
        maker = Maker(np.random.default_rng(0), evaluator)
        maker.graph.symbolic = False
        names = [maker.constant(a, np.float32) if isinstance(a, list)
                 else maker.constant(a) if isinstance(a, tuple)
                 else None if a is None else maker.add(a, "input")
                 for a in arrays]
        made = maker.node(op, names, outputs, **attributes)
        maker.graph.outputs = [made] if outputs == 1 else made
        result = try_graph(maker.graph, "c99", evaluator)
        if result.what != "passed":
            failed += 1
            print("%s %s: %s: %s" % (op, attributes, result.what,
                                     result.text))
    return 1 if failed else 0


sys.exit(main())
