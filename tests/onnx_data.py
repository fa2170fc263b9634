# SPDX-License-Identifier: Apache-2.0
"""Data sets beside a model, as `tirc test` finds them."""
import os

from onnx import TensorProto, numpy_helper


def tensor_of(name, array):
    """Types that numpy lacks are tensors already."""
    if isinstance(array, TensorProto):
        return array
    return numpy_helper.from_array(array, name)


def write_data(folder, inputs, outputs, number=0):
    """Arrays, or pairs of a name and an array, as the files of
    test_data_set_NUMBER in the model's folder; gives that."""
    data = os.path.join(folder, "test_data_set_%d" % number)
    os.makedirs(data)
    for prefix, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            name, array = value if isinstance(value, tuple) else (None, value)
            with open(os.path.join(data, "%s_%d.pb" % (prefix, i)),
                      "wb") as file:
                file.write(tensor_of(name, array).SerializeToString())
    return data
