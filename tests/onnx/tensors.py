#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tensors.py: every way in which ONNX stores a tensor (raw, typed lists,
packed or not, elements of few bits, Constant's attributes, external files) is read as
onnx reads it."""
import os

import numpy as np
import onnx
from onnx import TensorProto as T, helper as make, numpy_helper

import dtypes
from helper import execute, fail, work_folder

PROGRAM = os.environ["EVALUATE_MODEL"]
KINDS = [t.code for t in dtypes.TYPES.values()]
folder = work_folder()


def read_back(tensor, name):
    """What the importer makes of it, cast to double."""
    graph = make.make_graph(
        [make.make_node("Cast", ["t"], ["y"], to=T.DOUBLE)], "g", [],
        [make.make_empty_tensor_value_info("y")], [tensor])
    model = make.make_model(graph, ir_version=10,
                            opset_imports=[make.make_opsetid("", 21)])
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    execute([PROGRAM, path, folder])
    out = onnx.TensorProto()
    with open(os.path.join(folder, "output_0.pb"), "rb") as file:
        out.ParseFromString(file.read())
    return numpy_helper.to_array(out)


def compare(tensor, name, want):
    tensor.name = "t"
    got = read_back(tensor, name)
    if got.shape != want.shape or not np.array_equal(
            got, want, equal_nan=True):
        fail("%s\ngot  %s\nwant %s" % (name, got, want))
    print("ok", name)


def values(kind, shape):
    n = int(np.prod(shape))
    if kind == T.BOOL:
        return (np.arange(n) % 3 == 0).reshape(shape)
    t = next(t for t in dtypes.TYPES.values() if t.code == kind)
    count = min(2 ** t.bits, 8)
    low = 0 if t.of == "UINT" else 1 - count // 2 if t.bits > 2 else -2
    return (np.arange(n) % count + low).astype(np.float64).reshape(shape)


for kind in KINDS:
    for shape in (), (1,), (7,), (2, 5), (3, 0), (33, 77):
        data = values(kind, shape)
        name = "%s %s" % (T.DataType.Name(kind), shape)
        typed = make.make_tensor("t", kind, shape, data.ravel().tolist())
        want = numpy_helper.to_array(typed).astype(np.float64)
        compare(typed, name + " list", want)
        raw = numpy_helper.from_array(numpy_helper.to_array(typed))
        compare(raw, name + " raw", want)
        with open(os.path.join(folder, "w.bin"), "wb") as file:
            file.write(b"\xee" * 3 + raw.raw_data + b"\xdd" * 5)
        away = T(data_type=kind, dims=shape, data_location=T.EXTERNAL)
        for key, value in ("location", "w.bin"), ("offset", "3"), \
                ("length", str(len(raw.raw_data))):
            away.external_data.add(key=key, value=value)
        compare(away, name + " external", want)


# Every pattern of floats of 16 bits and fewer.
for name in dtypes.names("FLOAT", most=16):
    t = dtypes.TYPES[name]
    every = np.arange(2 ** t.bits)
    if t.bits < 8:
        every = every[::2] | every[1::2] << t.bits
    raw = T(data_type=t.code, dims=[2 ** t.bits],
            raw_data=every.astype("<u2" if t.bits > 8 else "u1").tobytes())
    compare(raw, t.onnx + " patterns",
            numpy_helper.to_array(raw).astype(np.float64))


def unpacked(tensor):
    """The same with every number of a list in a field of its own."""
    head = T(data_type=tensor.data_type, dims=tensor.dims, name="t")
    out = head.SerializeToString()
    for value in tensor.float_data:
        out += b"\x25" + np.float32(value).tobytes()
    for value in tensor.double_data:
        out += b"\x51" + np.float64(value).tobytes()
    for value in tensor.int64_data:
        out += T(int64_data=[value]).SerializeToString()[:1].replace(
            b"\x3a", b"\x38") + varint(value)
    return out


def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    return bytes(out + bytes([v]))


for kind in T.FLOAT, T.DOUBLE, T.INT64:
    typed = make.make_tensor("t", kind, (5,), values(kind, (5,)).tolist())
    parts = unpacked(typed)
    again = T()
    again.ParseFromString(parts)
    want = numpy_helper.to_array(again).astype(np.float64)
    # Put the bytes in as they are: a model is a concatenation of fields.
    graph = make.make_graph(
        [make.make_node("Cast", ["t"], ["y"], to=T.DOUBLE)], "g", [],
        [make.make_empty_tensor_value_info("y")])
    body = graph.SerializeToString() + b"\x2a" + varint(len(parts)) + parts
    head = onnx.ModelProto(ir_version=10)
    head.opset_import.add(version=21)
    path = os.path.join(folder, "parts.onnx")
    with open(path, "wb") as file:
        file.write(head.SerializeToString() + b"\x3a" + varint(len(body))
                   + body)
    execute([PROGRAM, path, folder])
    out = T()
    with open(os.path.join(folder, "output_0.pb"), "rb") as file:
        out.ParseFromString(file.read())
    if not np.array_equal(numpy_helper.to_array(out), want):
        fail("one by one: " + T.DataType.Name(kind))
    print("ok", T.DataType.Name(kind), "one by one")
