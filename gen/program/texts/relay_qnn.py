# SPDX-License-Identifier: Apache-2.0
"""tvm.relay.qnn.op: calls of its operators (relay-ops.py)."""
from tvm.relay import Tuple, _dtype, _make, _tensors
from tvm.relay.nn import _each, _padding


def quantize(data, output_scale, output_zero_point, axis=-1, out_dtype="int8"):
    return _make("qnn.quantize", [data, output_scale, output_zero_point],
                 "out_dtype axis=-1", _dtype(out_dtype), int(axis))


def dequantize(data, input_scale, input_zero_point, axis=-1):
    return _make("qnn.dequantize", [data, input_scale, input_zero_point], "axis=-1",
                 int(axis))


def requantize(data, input_scale, input_zero_point, output_scale, output_zero_point, axis=-1,
               rounding="None", compute_dtype="None", out_dtype="int8"):
    return _make("qnn.requantize", [data, input_scale, input_zero_point, output_scale,
                                    output_zero_point],
                 "axis=-1 rounding=\"None\" compute_dtype=\"None\" out_dtype", int(axis),
                 rounding, compute_dtype, _dtype(out_dtype))


def _binary(name):
    def call(lhs, rhs, lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point, output_scale,
             output_zero_point, lhs_axis=-1, rhs_axis=-1):
        return _make(name, [lhs, rhs, lhs_scale, lhs_zero_point, rhs_scale, rhs_zero_point,
                            output_scale, output_zero_point], "lhs_axis=-1 rhs_axis=-1",
                     int(lhs_axis), int(rhs_axis))

    return call


add = _binary("qnn.add")
mul = _binary("qnn.mul")


def concatenate(data, input_scales, input_zero_points, output_scale, output_zero_point, axis):
    data, scales, zeros = [_tensors(one, "qnn.concatenate")
                           for one in (data, input_scales, input_zero_points)]
    return _make("qnn.concatenate", [data, scales, zeros, output_scale, output_zero_point],
                 "axis", int(axis))


def dense(data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale, units,
          out_dtype="int32"):
    return _make("qnn.dense", [data, weight, input_zero_point, kernel_zero_point, input_scale,
                               kernel_scale], "units out_dtype=\"\"", units,
                 _dtype(out_dtype))


def batch_matmul(x, y, x_zero_point, y_zero_point, x_scale, y_scale, out_dtype="int32"):
    return _make("qnn.batch_matmul", [x, y, x_zero_point, y_zero_point, x_scale, y_scale],
                 "out_dtype=\"\" transpose_a=False transpose_b=False", _dtype(out_dtype),
                 False, True)


def conv2d(data, kernel, input_zero_point, kernel_zero_point, input_scale, kernel_scale,
           kernel_size, channels, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1,
           data_layout="NCHW", kernel_layout="OIHW", out_layout="", out_dtype="int32"):
    return _make("qnn.conv2d", [data, kernel, input_zero_point, kernel_zero_point,
                                input_scale, kernel_scale],
                 "strides=[1,1] padding=[0,0] dilation=[1,1] groups=1 channels=None "
                 "kernel_size=None data_layout=\"NCHW\" kernel_layout=\"OIHW\" "
                 "out_layout=\"\" out_dtype=\"\"", _each(strides, 2), _padding(padding, 2),
                 _each(dilation, 2), groups, channels,
                 None if kernel_size is None else _each(kernel_size, 2), data_layout,
                 kernel_layout, out_layout, _dtype(out_dtype))
