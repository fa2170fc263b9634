# SPDX-License-Identifier: Apache-2.0
"""The list of models. A maker gives (module, tuple of example inputs) for
PyTorch's exporters, or, with `forms` of its own, whatever export.py takes for
these."""

TORCH = ("torchscript", "dynamo")
# name: (family, forms, maker)
MODELS = {}


def model(family, name, forms=TORCH):
    def add(maker):
        assert name not in MODELS, name
        MODELS[name] = (family, forms, maker)
        return maker
    return add
