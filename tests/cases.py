# SPDX-License-Identifier: Apache-2.0
"""The reference models as `tirc test` takes them: model, data, options. The
light ones also with random weights, for their own outputs are uniform; the
one of symbolic batch also at every batch."""
import os
import subprocess
import sys

import helper

SUPER = "super_resolution"
BATCHES = range(1, 5)


class Case:
    """One model with its data. `close` removes what was made for it."""

    def __init__(self, name, model, data=(), options=(), made=()):
        self.name, self.model = name, model
        self.data, self.options = list(data), list(options)
        self.made = list(made)

    def close(self):
        for path in self.made:
            os.remove(path)


def randomized(name, folder):
    """Path of a light model with random weights, made in `folder` unless
    TIRC_RANDOM_MODELS names a folder that has it; whether it was made."""
    kept = os.path.join(os.environ.get("TIRC_RANDOM_MODELS", ""),
                        name + ".onnx")
    if os.path.exists(kept):
        return kept, False
    top = os.path.join(helper.shared(), "models")
    path = os.path.join(folder, name + ".onnx")
    helper.execute([sys.executable, os.path.join(top, "randomize.py"),
                    os.path.join(top, name, "model.onnx"), path])
    return path, True


def batch_data(model, folder):
    """A data set for each batch in BATCHES, as onnxruntime computes it."""
    import numpy
    import onnx
    from onnx import numpy_helper

    import exact

    session = exact.session(model)
    given = session.get_inputs()[0]
    random = numpy.random.default_rng(1)
    made = []
    for batch in BATCHES:
        data = os.path.join(folder, "test_data_set_%d" % batch)
        os.makedirs(data)
        shape = [batch if isinstance(d, str) else d for d in given.shape]
        x = random.random(shape, numpy.float32)
        y = session.run(None, {given.name: x})
        for stem, array in [("input_0", x)] + [
                ("output_%d" % i, array) for i, array in enumerate(y)]:
            onnx.save_tensor(numpy_helper.from_array(array),
                             os.path.join(data, stem + ".pb"))
        made.append(data)
    return made


def make(name, folder):
    """A case by its name: that of a folder, of a light model's with `_random`
    behind it, or super_resolution_batches."""
    if name == SUPER + "_batches":
        model = os.path.join(helper.shared_model(SUPER), "model.onnx")
        return Case(name, model, batch_data(model, folder),
                    ["--dim", "batch_size=1..4"])
    if name.endswith("_random"):
        path = helper.shared_model(name[:-len("_random")])
        model, made = randomized(os.path.basename(path), folder)
        return Case(name, model,
                    [os.path.join(path, "random_seed0", "test_data_set_0")],
                    made=[model] if made else [])
    options = []
    if name == SUPER:
        options = ["--dim", "batch_size=1"]
    return Case(name, os.path.join(helper.shared_model(name), "model.onnx"),
                options=options)


def names(top):
    """Of all cases, small ones first."""
    light, small = [], []
    top = os.path.join(top, "models")
    for folder, _, files in os.walk(top):
        name = os.path.relpath(folder, top)
        if "model.onnx" in files:
            if name.startswith("light_"):
                light += [name, name + "_random"]
            else:
                small.append(name)
            if name == SUPER:
                small.append(name + "_batches")
    return sorted(small) + sorted(light)


def all_cases(only=()):
    """Every case with one of the texts `only` in its name."""
    top = helper.shared() or helper.skip("no reference models")
    folder = helper.work_folder()
    for name in names(top):
        if not only or any(text in name for text in only):
            yield make(name, folder)
