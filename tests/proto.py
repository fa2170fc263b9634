# SPDX-License-Identifier: Apache-2.0
"""ONNX models written by hand, without the onnx package: just enough of
protobuf's wire format, and no checks, so that anything wrong can be said."""
import struct


def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v)


def blob(field, data):
    if isinstance(data, str):
        data = data.encode()
    return varint(field << 3 | 2) + varint(len(data)) + data


def real(field, v):
    return varint(field << 3 | 5) + struct.pack("<f", v)


def entry(key, value):
    return blob(1, key) + blob(2, value)


FLOAT, INT64, STRING, BOOL = 1, 7, 8, 9


def tensor(name, dims, data=b"", kind=FLOAT, more=b""):
    """raw_data; more: further fields."""
    out = b"".join(number(1, d) for d in dims) + number(2, kind)
    if name:
        out += blob(8, name)
    if data is not None:
        out += blob(9, data)
    return out + more


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def ints(*values):
    return struct.pack("<%dq" % len(values), *values)


def external(name, dims, kind=FLOAT, **entries):
    more = b"".join(blob(13, entry(k, str(v))) for k, v in entries.items())
    return tensor(name, dims, None, kind, more + number(14, 1))


def value_info(name, dims, kind=FLOAT):
    """dims: numbers and names; None: no shape."""
    inner = number(1, kind)
    if dims is not None:
        shape = b""
        for d in dims:
            shape += blob(1, blob(2, d) if isinstance(d, str)
                          else b"" if d is None else number(1, d))
        inner += blob(2, shape)
    return blob(1, name) + blob(2, blob(1, inner))


def attribute(name, value):
    if isinstance(value, bytes):        # a tensor
        return blob(1, name) + blob(5, value) + number(20, 4)
    if isinstance(value, str):
        return blob(1, name) + blob(4, value) + number(20, 3)
    if isinstance(value, float):
        return blob(1, name) + real(2, value) + number(20, 1)
    if isinstance(value, int):
        return blob(1, name) + number(3, value) + number(20, 2)
    return (blob(1, name) + b"".join(number(8, v) for v in value)
            + number(20, 7))


def reals(name, *values):
    """A list of floats."""
    return blob(1, name) + blob(7, floats(*values)) + number(20, 6)


def texts(name, *values):
    return (blob(1, name) + b"".join(blob(9, v) for v in values)
            + number(20, 8))


def nested_graph(name, body):
    return blob(1, name) + blob(6, body) + number(20, 5)


def reference(name, outer):
    return blob(1, name) + blob(21, outer) + number(20, 2)


def node(op, inputs, outputs, name="", domain="", attributes=(), **attrs):
    out = b"".join(blob(1, i) for i in inputs)
    out += b"".join(blob(2, o) for o in outputs)
    out += blob(3, name) + blob(4, op)
    for a in attributes:
        out += blob(5, a)
    for key, value in attrs.items():
        out += blob(5, attribute(key, value))
    return out + (blob(7, domain) if domain else b"")


def graph(nodes, inputs, outputs, initializers=(), name="g", more=b""):
    out = b"".join(blob(1, n) for n in nodes) + blob(2, name)
    out += b"".join(blob(5, t) for t in initializers)
    out += b"".join(blob(11, v) for v in inputs)
    out += b"".join(blob(12, v) for v in outputs)
    return out + more


def opset(version, domain=""):
    return blob(1, domain) + number(2, version)


def function(name, domain, inputs, outputs, nodes, attributes=(),
             version=21):
    out = blob(1, name) + b"".join(blob(4, i) for i in inputs)
    out += b"".join(blob(5, o) for o in outputs)
    out += b"".join(blob(6, a) for a in attributes)
    out += b"".join(blob(7, n) for n in nodes)
    return out + blob(9, opset(version)) + blob(10, domain)


def model(body, version=21, ir_version=8, functions=(), more=b""):
    out = number(1, ir_version) + blob(2, "by hand") + blob(7, body)
    out += blob(8, opset(version)) if version is not None else b""
    return out + b"".join(blob(25, f) for f in functions) + more


def simple(nodes, initializers=(), dims=(2, 3), out=(2, 3), **options):
    """One input x, one output y."""
    return model(graph(nodes, [value_info("x", dims)],
                       [value_info("y", out)], initializers), **options)


def chain():
    """A good model with a weight, a bias and an activation."""
    return simple([node("Mul", ["x", "w"], ["a"], "mul"),
                   node("Add", ["a", "b"], ["c"], "add"),
                   node("Relu", ["c"], ["y"], "relu")],
                  [tensor("w", [3], floats(1, 2, 3)),
                   tensor("b", [2, 3], floats(*range(6)))])
