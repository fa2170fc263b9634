# SPDX-License-Identifier: Apache-2.0
"""tvm.relay.nn: calls of its operators (relay-ops.py)."""
import numpy as np
from tvm import relay
from tvm.relay import TupleWrapper, _dtype, _ints, _make, _one


def _each(value, n):
    """A list of n integers, from one or from n."""
    value = _ints(value)
    return value * n if len(value) == 1 else value


def _padding(value, n):
    """The padding at the begin of each of n dimensions, then at their ends."""
    value = _ints(value)
    if len(value) == 1:
        return value * (2 * n)
    if len(value) == n:
        return value * 2
    if len(value) == 2 * n:
        return value
    raise ValueError("padding is 1, %d or %d integers, not %d" % (n, 2 * n, len(value)))


def _type_or_none(dtype):
    return "" if dtype in ("", None) else _dtype(dtype)


# -- element by element

relu = _one("nn.relu")
gelu = _one("nn.gelu")
silu = _one("nn.silu")
softplus = _one("nn.softplus")
batch_flatten = _one("nn.batch_flatten")


def leaky_relu(data, alpha=0.01):
    return _make("nn.leaky_relu", [data], "alpha=0.25f", float(alpha))


def prelu(data, alpha, axis=1):
    return _make("nn.prelu", [data, alpha], "axis=1", int(axis))


def bias_add(data, bias, axis=1):
    return _make("nn.bias_add", [data, bias], "axis=1", int(axis))


def dropout(data, rate=0.5):
    return TupleWrapper(dropout_raw(data, rate), 2)[0]


def dropout_raw(data, rate=0.5):
    return _make("nn.dropout", [data], "rate=0.5f", float(rate))


def pad(data, pad_width, pad_value=0, pad_mode="constant"):
    if not isinstance(pad_value, relay.Expr):
        pad_value = relay.const(pad_value)
    return _make("nn.pad", [data, pad_value], "pad_width pad_mode=\"constant\"",
                 [[int(one) for one in pair] for pair in pad_width], pad_mode)


def mirror_pad(data, pad_width, mode="SYMMETRIC"):
    return _make("nn.mirror_pad", [data], "mode=\"SYMMETRIC\" pad_width", mode,
                 [[int(one) for one in pair] for pair in pad_width])


# -- products

def dense(data, weight, units=None, out_dtype=""):
    return _make("nn.dense", [data, weight], "units out_dtype=\"\"", units,
                 _type_or_none(out_dtype))


def matmul(tensor_a, tensor_b, units=None, out_dtype="", transpose_a=False,
           transpose_b=False):
    return _make("nn.matmul", [tensor_a, tensor_b],
                 "units out_dtype=\"\" transpose_a=False transpose_b=False", units,
                 _type_or_none(out_dtype), bool(transpose_a), bool(transpose_b))


def batch_matmul(tensor_a, tensor_b, out_dtype="", transpose_a=False, transpose_b=True):
    return _make("nn.batch_matmul", [tensor_a, tensor_b],
                 "out_dtype=\"\" transpose_a=False transpose_b=False",
                 _type_or_none(out_dtype), bool(transpose_a), bool(transpose_b))


# -- convolutions

def _conv(name, n, data, weight, strides, padding, dilation, groups, channels, kernel_size,
          layouts, data_layout, kernel_layout, out_layout, out_dtype):
    ones = "=[%s] " % ",".join(["1"] * n)
    spec = "strides" + ones + "padding=[%s] " % ",".join(["0"] * n) + "dilation" + ones
    return _make(name, [data, weight], spec + "groups=1 channels=None kernel_size=None "
                 "data_layout=\"%s\" kernel_layout=\"%s\" out_layout=\"\" out_dtype=\"\"" %
                 layouts, _each(strides, n), _padding(padding, n), _each(dilation, n), groups,
                 channels, None if kernel_size is None else _each(kernel_size, n),
                 data_layout, kernel_layout, out_layout, _type_or_none(out_dtype))


def conv1d(data, weight, strides=1, padding=0, dilation=1, groups=1, channels=None,
           kernel_size=None, data_layout="NCW", kernel_layout="OIW", out_layout="",
           out_dtype=""):
    return _conv("nn.conv1d", 1, data, weight, strides, padding, dilation, groups, channels,
                 kernel_size, ("NCW", "OIW"), data_layout, kernel_layout, out_layout,
                 out_dtype)


def conv2d(data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1,
           channels=None, kernel_size=None, data_layout="NCHW", kernel_layout="OIHW",
           out_layout="", out_dtype=""):
    return _conv("nn.conv2d", 2, data, weight, strides, padding, dilation, groups, channels,
                 kernel_size, ("NCHW", "OIHW"), data_layout, kernel_layout, out_layout,
                 out_dtype)


def conv3d(data, weight, strides=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1), groups=1,
           channels=None, kernel_size=None, data_layout="NCDHW", kernel_layout="OIDHW",
           out_layout="", out_dtype=""):
    return _conv("nn.conv3d", 3, data, weight, strides, padding, dilation, groups, channels,
                 kernel_size, ("NCDHW", "OIDHW"), data_layout, kernel_layout, out_layout,
                 out_dtype)


def _conv_transpose(name, n, data, weight, strides, padding, dilation, groups, channels,
                    kernel_size, layouts, data_layout, kernel_layout, out_layout,
                    output_padding, out_dtype):
    ones, zeros = [",".join([one] * n) for one in ("1", "0")]
    spec = "channels=None kernel_size=None strides=[%s] output_padding=[%s] padding=[%s] " \
        "dilation=[%s] groups=1 " % (ones, zeros, zeros, ones)
    return _make(name, [data, weight], spec + "data_layout=\"%s\" kernel_layout=\"%s\" "
                 "out_layout=\"\" out_dtype=\"\"" % layouts, channels,
                 None if kernel_size is None else _each(kernel_size, n), _each(strides, n),
                 _each(output_padding, n), _padding(padding, n), _each(dilation, n), groups,
                 data_layout, kernel_layout, out_layout, _type_or_none(out_dtype))


def conv1d_transpose(data, weight, strides=(1,), padding=(0,), dilation=(1,), groups=1,
                     channels=None, kernel_size=None, data_layout="NCW",
                     kernel_layout="OIW", out_layout="", output_padding=(0,), out_dtype=""):
    # TVM's default names the layout OIW, and means IOW
    return _conv_transpose("nn.conv1d_transpose", 1, data, weight, strides, padding, dilation,
                           groups, channels, kernel_size, ("NCW", "OIW"), data_layout,
                           kernel_layout, out_layout, output_padding, out_dtype)


def conv2d_transpose(data, weight, strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1,
                     channels=None, kernel_size=None, data_layout="NCHW",
                     kernel_layout="IOHW", out_layout="", output_padding=(0, 0),
                     out_dtype=""):
    return _conv_transpose("nn.conv2d_transpose", 2, data, weight, strides, padding, dilation,
                           groups, channels, kernel_size, ("NCHW", "OIHW"), data_layout,
                           kernel_layout, out_layout, output_padding, out_dtype)


def conv3d_transpose(data, weight, strides=(1, 1, 1), padding=(0, 0, 0), dilation=(1, 1, 1),
                     groups=1, channels=None, kernel_size=None, data_layout="NCDHW",
                     kernel_layout="OIDHW", out_layout="", output_padding=(0, 0, 0),
                     out_dtype=""):
    return _conv_transpose("nn.conv3d_transpose", 3, data, weight, strides, padding, dilation,
                           groups, channels, kernel_size, ("NCDHW", "OIDHW"), data_layout,
                           kernel_layout, out_layout, output_padding, out_dtype)


# -- pools

def _pool(name, n, data, pool_size, strides, dilation, padding, default_layout, layout,
          out_layout, ceil_mode, more="", *values):
    ones, zeros = [",".join([one] * n) for one in ("1", "0")]
    spec = "pool_size strides=[%s] dilation=[%s] padding=[%s] layout=\"%s\" " \
        "out_layout=\"\" ceil_mode=False " % (ones, ones, zeros, default_layout)
    return _make(name, [data], spec + more, _each(pool_size, n), _each(strides, n),
                 _each(dilation, n), _padding(padding, n), layout, out_layout,
                 bool(ceil_mode), *values)


def max_pool1d(data, pool_size=(1,), strides=(1,), dilation=(1,), padding=(0,), layout="NCW",
               out_layout="", ceil_mode=False):
    return _pool("nn.max_pool1d", 1, data, pool_size, strides, dilation, padding, "NCW",
                 layout, out_layout, ceil_mode)


def max_pool2d(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0),
               layout="NCHW", out_layout="", ceil_mode=False):
    return _pool("nn.max_pool2d", 2, data, pool_size, strides, dilation, padding, "NCHW",
                 layout, out_layout, ceil_mode)


def max_pool3d(data, pool_size=(1, 1, 1), strides=(1, 1, 1), dilation=(1, 1, 1),
               padding=(0, 0, 0), layout="NCDHW", out_layout="", ceil_mode=False):
    return _pool("nn.max_pool3d", 3, data, pool_size, strides, dilation, padding, "NCDHW",
                 layout, out_layout, ceil_mode)


def avg_pool1d(data, pool_size=(1,), strides=(1,), dilation=(1,), padding=(0,), layout="NCW",
               out_layout="", ceil_mode=False, count_include_pad=False):
    return _pool("nn.avg_pool1d", 1, data, pool_size, strides, dilation, padding, "NCW",
                 layout, out_layout, ceil_mode, "count_include_pad=False",
                 bool(count_include_pad))


def avg_pool2d(data, pool_size=(1, 1), strides=(1, 1), dilation=(1, 1), padding=(0, 0),
               layout="NCHW", out_layout="", ceil_mode=False, count_include_pad=False):
    return _pool("nn.avg_pool2d", 2, data, pool_size, strides, dilation, padding, "NCHW",
                 layout, out_layout, ceil_mode, "count_include_pad=False",
                 bool(count_include_pad))


def avg_pool3d(data, pool_size=(1, 1, 1), strides=(1, 1, 1), dilation=(1, 1, 1),
               padding=(0, 0, 0), layout="NCDHW", out_layout="", ceil_mode=False,
               count_include_pad=False):
    return _pool("nn.avg_pool3d", 3, data, pool_size, strides, dilation, padding, "NCDHW",
                 layout, out_layout, ceil_mode, "count_include_pad=False",
                 bool(count_include_pad))


def _global_pool(name, default):
    def call(data, layout=default, out_layout=""):
        return _make(name, [data], "layout=\"%s\" out_layout=\"\"" % default, layout,
                     out_layout)

    return call


global_max_pool1d = _global_pool("nn.global_max_pool1d", "NCW")
global_max_pool2d = _global_pool("nn.global_max_pool2d", "NCHW")
global_avg_pool1d = _global_pool("nn.global_avg_pool1d", "NCW")
global_avg_pool2d = _global_pool("nn.global_avg_pool2d", "NCHW")
global_avg_pool3d = _global_pool("nn.global_avg_pool3d", "NCDHW")


def _adaptive_pool(name, data, output_size, layout, out_layout):
    return _make(name, [data], "output_size=[] layout=\"NCHW\" out_layout=\"\"",
                 [] if output_size is None else _each(output_size, 2), layout, out_layout)


def adaptive_max_pool2d(data, output_size=None, layout="NCHW", out_layout=""):
    return _adaptive_pool("nn.adaptive_max_pool2d", data, output_size, layout, out_layout)


def adaptive_avg_pool2d(data, output_size=None, layout="NCHW", out_layout=""):
    return _adaptive_pool("nn.adaptive_avg_pool2d", data, output_size, layout, out_layout)


def upsampling(data, scale_h=1, scale_w=1, layout="NCHW", method="nearest_neighbor",
               align_corners=False):
    return _make("nn.upsampling", [data], "scale_h scale_w layout=\"NCHW\" "
                 "method=\"nearest_neighbor\" align_corners=False", float(scale_h),
                 float(scale_w), layout, method, bool(align_corners))


def depth_to_space(data, block_size, layout="NCHW", mode="DCR"):
    return _make("nn.depth_to_space", [data], "block_size layout=\"NCHW\" mode=\"DCR\"",
                 int(block_size), layout, mode)


def space_to_depth(data, block_size, layout="NCHW"):
    return _make("nn.space_to_depth", [data], "block_size layout=\"NCHW\"", int(block_size),
                 layout)


# -- normalizations

def softmax(data, axis=-1):
    return _make("nn.softmax", [data], "axis=-1", int(axis))


def fast_softmax(data, axis=-1):
    return _make("nn.fast_softmax", [data], "axis=-1", int(axis))


def log_softmax(data, axis=-1):
    return _make("nn.log_softmax", [data], "axis=-1", int(axis))


_NORM = "=%d epsilon=1e-05f center=True scale=True"


def batch_norm(data, gamma, beta, moving_mean, moving_var, axis=1, epsilon=1e-5, center=True,
               scale=True):
    return TupleWrapper(_make("nn.batch_norm", [data, gamma, beta, moving_mean, moving_var],
                              "axis" + _NORM % 1, int(axis), float(epsilon), bool(center),
                              bool(scale)), 3)


def instance_norm(data, gamma, beta, axis=1, epsilon=1e-5, center=True, scale=True):
    return _make("nn.instance_norm", [data, gamma, beta], "axis" + _NORM % 1, int(axis),
                 float(epsilon), bool(center), bool(scale))


def layer_norm(data, gamma, beta, axis=-1, epsilon=1e-5, center=True, scale=True):
    return _make("nn.layer_norm", [data, gamma, beta], "axis" + _NORM % -1, int(axis),
                 float(epsilon), bool(center), bool(scale))


def group_norm(data, gamma, beta, num_groups, axis=1, epsilon=1e-5, center=True, scale=True):
    return _make("nn.group_norm", [data, gamma, beta], "num_groups=0 axis" + _NORM % 1,
                 int(num_groups), int(axis), float(epsilon), bool(center), bool(scale))


def lrn(data, size=5, axis=1, bias=2, alpha=1e-05, beta=0.75):
    return _make("nn.lrn", [data], "size=5 axis=1 bias=2f alpha=0.0001f beta=0.75f",
                 int(size), int(axis), float(bias), float(alpha), float(beta))


def l2_normalize(data, eps, axis=None):
    return _make("nn.l2_normalize", [data], "eps axis", float(eps), _ints(axis))
