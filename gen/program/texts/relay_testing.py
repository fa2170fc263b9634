# SPDX-License-Identifier: Apache-2.0
"""tvm.relay.testing: models, and values for their parameters. The models are those of
TVM's tests: their layers, names and orders of parameters, so that a seed gives the same
values."""
import math

import numpy as np
import tvm
from tvm import relay
from tvm.relay import Function, IRModule, const, var


# -- values for parameters

class _Initializer:
    """Fills the array of a parameter; the end of its name says what it is."""

    def __init__(self, **options):
        self._options = options

    def __call__(self, desc, arr):
        if desc.endswith("weight"):
            self._init_weight(desc, arr)
        elif desc.endswith("gamma") or desc.endswith("var"):
            arr[:] = 1.0
        elif desc.endswith("bias") or desc.endswith("beta") or desc.endswith("mean"):
            arr[:] = 0.0
        else:
            raise ValueError("%s is no name of a weight, bias, gamma, beta, mean or var" %
                             desc)


class _Xavier(_Initializer):
    """Uniform weights of the size of sqrt(magnitude / fan)."""

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name, arr):
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError("Xavier needs a weight of two dimensions, not %s" % name)
        area = 1.0
        for one in shape[2:]:
            area = area * one
        fans = {"in": shape[1] * area, "out": shape[0] * area,
                "avg": (shape[1] * area + shape[0] * area) / 2.0}
        if self.rnd_type != "uniform" or self.factor_type not in fans:
            raise ValueError("Xavier has the types uniform, and avg, in and out")
        factor = area if "depthwise" in name else fans[self.factor_type]
        scale = math.sqrt(self.magnitude / factor)
        arr[:] = np.random.uniform(-scale, scale, size=shape)


class _Constant(_Initializer):
    """Weights of one value, whose sum is 1."""

    def _init_weight(self, name, arr):
        arr[:] = 1.0 / arr.size


def create_workload(net, initializer=None, seed=0):
    """The module of a function, with its types, and values of all parameters but data."""
    mod = relay.transform.InferType()(IRModule.from_expr(net))
    np.random.seed(seed)
    if initializer is None:
        initializer = _Xavier()
    params = {}
    for one in mod["main"].params:
        if one.name_hint != "data":
            kind = one.checked_type
            value = np.zeros(kind.concrete_shape, kind.dtype)
            initializer(one.name_hint, value)
            params[one.name_hint] = tvm.nd.array(value)
    return mod, params


class _Init:
    Initializer = _Initializer
    Xavier = _Xavier
    Constant = _Constant

    def create_workload(self, net, initializer=None, seed=0):
        return create_workload(net, initializer, seed)


init = _Init()


# -- expressions and passes

def run_opt_pass(expr, opt_pass, import_prelude=False):
    mod = opt_pass(relay.transform.InferType()(IRModule.from_expr(expr)))
    main = mod["main"]
    return main if isinstance(expr, Function) else main.body


def run_infer_type(expr):
    return run_opt_pass(expr, relay.transform.InferType())


def rand(dtype, *shape):
    return tvm.nd.array(np.random.rand(*shape).astype(dtype))


# -- layers, whose weights have names of the layer's name

class _Layers:
    def batch_norm_infer(self, data, gamma=None, beta=None, moving_mean=None, moving_var=None,
                         name="", **options):
        given = [gamma, beta, moving_mean, moving_var]
        names = ["_gamma", "_beta", "_moving_mean", "_moving_var"]
        values = [var(name + end) if one is None else one for one, end in zip(given, names)]
        return relay.nn.batch_norm(data, *values, **options)[0]

    def conv2d(self, data, weight=None, name="", **options):
        weight = var(name + "_weight") if weight is None else weight
        return relay.nn.conv2d(data, weight, **options)

    def conv3d(self, data, weight=None, name="", **options):
        weight = var(name + "_weight") if weight is None else weight
        return relay.nn.conv3d(data, weight, **options)

    def conv2d_transpose(self, data, weight=None, name="", **options):
        weight = var(name + "_weight") if weight is None else weight
        return relay.nn.conv2d_transpose(data, weight, **options)

    def dense_add_bias(self, data, weight=None, bias=None, units=None, name="", **options):
        weight = var(name + "_weight") if weight is None else weight
        bias = var(name + "_bias") if bias is None else bias
        data = relay.nn.dense(data, weight, units, **options)
        return relay.nn.bias_add(data, bias, axis=-1)

    def conv_kernel_layout(self, data_layout, is_depthwise=False):
        layouts = {"NCHW": "OIHW", "NHWC": "HWOI" if is_depthwise else "HWIO"}
        if data_layout not in layouts:
            raise ValueError("Unknown data layout %s" % data_layout)
        return layouts[data_layout]


layers = _Layers()


def _whole(net):
    return Function(relay.analysis.free_vars(net), net)


# -- models

class _Mlp:
    """Three dense layers."""

    def get_net(self, batch_size, num_classes=10, image_shape=(1, 28, 28), dtype="float32"):
        data = var("data", shape=(batch_size,) + tuple(image_shape), dtype=dtype)
        data = relay.nn.batch_flatten(data)
        for name, units in (("fc1", 128), ("fc2", 64)):
            data = relay.nn.relu(layers.dense_add_bias(data, units=units, name=name))
        data = layers.dense_add_bias(data, units=num_classes, name="fc3")
        return _whole(relay.nn.softmax(data))

    def get_workload(self, batch_size, num_classes=10, image_shape=(1, 28, 28),
                     dtype="float32"):
        return create_workload(self.get_net(batch_size, num_classes, image_shape, dtype))


class _Resnet:
    """Residual networks whose units normalize before they convolve."""

    _units = {18: [2, 2, 2, 2], 34: [3, 4, 6, 3], 50: [3, 4, 6, 3], 101: [3, 4, 23, 3],
              152: [3, 8, 36, 3], 200: [3, 24, 36, 3], 269: [3, 30, 48, 8]}

    def _conv(self, data, channels, size, stride, name, layouts):
        return layers.conv2d(data, channels=channels, kernel_size=(size, size),
                             strides=(stride, stride), padding=(size // 2, size // 2),
                             name=name, data_layout=layouts[0], kernel_layout=layouts[1])

    def _norm(self, data, name, layouts, scale=True):
        return layers.batch_norm_infer(data, epsilon=2e-5, axis=layouts[0].index("C"),
                                       scale=scale, name=name)

    def _unit(self, data, channels, stride, same, name, bottle_neck, layouts):
        first = relay.nn.relu(self._norm(data, name + "_bn1", layouts))
        narrow = channels // 4
        # the channels, size and stride of each convolution
        convs = [(narrow, 1, stride), (narrow, 3, 1), (channels, 1, 1)] if bottle_neck else \
            [(channels, 3, stride), (channels, 3, 1)]
        body = first
        for i, (wide, size, by) in enumerate(convs):
            if i > 0:
                body = relay.nn.relu(self._norm(body, "%s_bn%d" % (name, i + 1), layouts))
            body = self._conv(body, wide, size, by, "%s_conv%d" % (name, i + 1), layouts)
        if not same:
            data = self._conv(first, channels, 1, stride, name + "_sc", layouts)
        return body + data

    def resnet(self, units, num_stages, filter_list, num_classes, data_shape, bottle_neck=True,
               layout="NCHW", dtype="float32"):
        layouts = (layout, "OIHW" if layout == "NCHW" else "HWIO")
        data = self._norm(var("data", shape=data_shape, dtype=dtype), "bn_data", layouts,
                          scale=False)
        if data_shape[2 if layout == "NCHW" else 1] <= 32:
            body = self._conv(data, filter_list[0], 3, 1, "conv0", layouts)
        else:
            body = self._conv(data, filter_list[0], 7, 2, "conv0", layouts)
            body = relay.nn.relu(self._norm(body, "bn0", layouts))
            body = relay.nn.max_pool2d(body, pool_size=(3, 3), strides=(2, 2), padding=(1, 1),
                                       layout=layout)
        for i in range(num_stages):
            for j in range(units[i]):
                body = self._unit(body, filter_list[i + 1], 2 if i > 0 and j == 0 else 1,
                                  j > 0, "stage%d_unit%d" % (i + 1, j + 1), bottle_neck,
                                  layouts)
        body = relay.nn.relu(self._norm(body, "bn1", layouts))
        body = relay.nn.batch_flatten(relay.nn.global_avg_pool2d(body, layout=layout))
        body = layers.dense_add_bias(body, units=num_classes, name="fc1")
        return _whole(relay.nn.softmax(body))

    def get_net(self, batch_size, num_classes, num_layers=50, image_shape=(3, 224, 224),
                layout="NCHW", dtype="float32", **options):
        height = image_shape[1 if layout == "NCHW" else 0]
        if height <= 28:
            bottle_neck = num_layers >= 164
            if (num_layers - 2) % (9 if bottle_neck else 6) != 0:
                raise ValueError("no experiments done on num_layers %d" % num_layers)
            units = [(num_layers - 2) // (9 if bottle_neck else 6)] * 3
            filters = [16, 64, 128, 256] if bottle_neck else [16, 16, 32, 64]
        else:
            if num_layers not in self._units:
                raise ValueError("no experiments done on num_layers %d" % num_layers)
            bottle_neck = num_layers >= 50
            units = self._units[num_layers]
            filters = [64, 256, 512, 1024, 2048] if bottle_neck else [64, 64, 128, 256, 512]
        return self.resnet(units, len(units), filters, num_classes,
                           (batch_size,) + tuple(image_shape), bottle_neck, layout, dtype)

    def get_workload(self, batch_size=1, num_classes=1000, num_layers=18,
                     image_shape=(3, 224, 224), layout="NCHW", dtype="float32", **options):
        return create_workload(self.get_net(batch_size, num_classes, num_layers, image_shape,
                                            layout, dtype))


class _Mobilenet:
    """Depthwise convolutions, each followed by one of single elements."""

    def _block(self, data, name, channels_in, channels, stride, layout, dtype):
        axis = layout.index("C")
        shape = (channels_in, 1, 3, 3) if layout == "NCHW" else (3, 3, channels_in, 1)
        body = layers.conv2d(data, var(name + "_weight", shape=shape, dtype=dtype),
                             channels=channels_in, groups=channels_in, kernel_size=(3, 3),
                             strides=(stride, stride), padding=(1, 1), data_layout=layout,
                             kernel_layout=layers.conv_kernel_layout(layout, True))
        body = relay.nn.relu(layers.batch_norm_infer(body, epsilon=1e-5, axis=axis,
                                                     name=name + "_bn1"))
        body = layers.conv2d(body, channels=channels, kernel_size=(1, 1), data_layout=layout,
                             kernel_layout=layers.conv_kernel_layout(layout),
                             name=name + "_conv2")
        return relay.nn.relu(layers.batch_norm_infer(body, epsilon=1e-5, axis=axis,
                                                     name=name + "_bn2"))

    def mobile_net(self, num_classes=1000, data_shape=(1, 3, 224, 224), dtype="float32",
                   alpha=1.0, is_shallow=False, layout="NCHW"):
        body = layers.conv2d(var("data", shape=data_shape, dtype=dtype),
                             channels=int(32 * alpha), kernel_size=(3, 3), strides=(2, 2),
                             padding=(1, 1), data_layout=layout,
                             kernel_layout=layers.conv_kernel_layout(layout),
                             name="conv_block_1_conv")
        body = relay.nn.relu(layers.batch_norm_infer(
            body, epsilon=1e-5, axis=layout.index("C"), name="conv_block_1_bn"))
        # the channels and the stride of each block
        blocks = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)]
        blocks += [(1024, 2), (1024, 2)] if is_shallow else \
            [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
        before = 32
        for i, (channels, stride) in enumerate(blocks):
            body = self._block(body, "separable_conv_block_%d" % (i + 1), int(before * alpha),
                               int(channels * alpha), stride, layout, dtype)
            before = channels
        body = relay.nn.batch_flatten(relay.nn.global_avg_pool2d(body, layout=layout))
        body = relay.nn.dense(body, var("fc_weight"), units=num_classes)
        return _whole(relay.nn.softmax(relay.nn.bias_add(body, var("fc_bias"))))

    def get_workload(self, batch_size=1, num_classes=1000, image_shape=(3, 224, 224),
                     dtype="float32", layout="NCHW"):
        return create_workload(self.mobile_net(
            num_classes, (batch_size,) + tuple(image_shape), dtype, 1.0, False, layout))


class _Dqn:
    """Three convolutions and two dense layers."""

    def get_net(self, batch_size, num_actions=18, image_shape=(4, 84, 84), dtype="float32",
                layout="NCHW"):
        body = var("data", shape=(batch_size,) + tuple(image_shape), dtype=dtype)
        for name, channels, size, stride in (("conv1", 32, 8, 4), ("conv2", 64, 4, 2),
                                             ("conv3", 64, 3, 1)):
            body = layers.conv2d(body, channels=channels, kernel_size=(size, size),
                                 strides=(stride, stride), data_layout=layout, name=name,
                                 kernel_layout=layers.conv_kernel_layout(layout))
            body = relay.nn.bias_add(body, var(name + "_bias"), layout.index("C"))
            body = relay.nn.relu(body)
        body = layers.dense_add_bias(relay.nn.batch_flatten(body), units=512, name="dense1")
        return _whole(layers.dense_add_bias(relay.nn.relu(body), units=num_actions,
                                            name="dense2"))

    def get_workload(self, batch_size, num_actions=18, image_shape=(4, 84, 84),
                     dtype="float32", layout="NCHW"):
        return create_workload(self.get_net(batch_size, num_actions, image_shape, dtype,
                                            layout))


mlp = _Mlp()
resnet = _Resnet()
mobilenet = _Mobilenet()
dqn = _Dqn()
