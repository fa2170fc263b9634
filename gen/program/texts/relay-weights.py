# SPDX-License-Identifier: Apache-2.0
"""tvm.relay: types of weights without a type, from the type of what an operator applies
them to, and its attributes, as TVM's relations of types find them."""
from tvm import relay
from tvm.relay import TensorType, TupleType, Var


def _channels(call, attrs):
    """The number of elements along the attribute axis of the first argument."""
    shape = call.args[0]._type.shape
    axis = attrs["axis"]
    if not -len(shape) <= axis < len(shape):
        relay._fail(call._at, "axis %d of %s is outside of the %d dimensions" % (
            axis, call.op.name, len(shape)))
    return [shape[axis]]


def _kernel(call, attrs):
    """The shape of a convolution's kernel, in its layout."""
    if attrs["kernel_size"] is None or attrs["channels"] is None:
        relay._fail(call._at, "the kernel of %s has no shape: give it one, or give channels "
                    "and kernel_size" % call.op.name)
    channels = call.args[0]._type.shape[attrs["data_layout"].index("C")]
    groups, out = attrs["groups"], attrs["channels"]
    sizes = {"O": out, "I": channels // groups}
    if call.op.name.endswith("_transpose"):
        sizes = {"I": channels, "O": out // groups}
        if attrs["kernel_layout"].startswith("OI"):
            sizes = {"O": channels, "I": out // groups}
    elif groups == channels and groups != 1:
        sizes = {"O": channels, "I": out // channels}
    spatial = list(attrs["kernel_size"])
    if len(attrs["kernel_layout"]) != len(spatial) + 2:
        relay._fail(call._at, "a kernel in the layout %s needs a shape" %
                    attrs["kernel_layout"])
    return [sizes[one] if one in sizes else spatial.pop(0) for one in attrs["kernel_layout"]]


def _columns(call, attrs):
    if attrs["units"] is None:
        relay._fail(call._at, "the weight of %s has no shape: give it one, or give units" %
                    call.op.name)
    return [attrs["units"], call.args[0]._type.shape[-1]]


_RULES = {"nn.dense": _columns, "nn.bias_add": _channels, "nn.prelu": _channels,
          "nn.batch_norm": _channels, "nn.instance_norm": _channels,
          "nn.layer_norm": _channels, "nn.group_norm": _channels}


def _deduce(call):
    """Gives types to the variables among the arguments of a call that have none."""
    name, attrs, data = call.op.name, call.attrs, call.args[0]
    rule = _kernel if name.startswith("nn.conv") else _RULES.get(name)
    if rule is None or attrs is None or data._type is None or \
            isinstance(data._type, TupleType):
        return
    for one in call.args[1:]:
        if isinstance(one, Var) and one._type is None:
            one._type = TensorType(rule(call, attrs), data._type.dtype)
