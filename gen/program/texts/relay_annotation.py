# SPDX-License-Identifier: Apache-2.0
"""tvm.relay.annotation: marks, which change no element (relay-ops.py)."""
from tvm.relay import _make


def stop_fusion(data):
    return _make("annotation.stop_fusion", [data])


def compiler_begin(data, compiler):
    return _make("annotation.compiler_begin", [data], "compiler", compiler)


def compiler_end(data, compiler):
    return _make("annotation.compiler_end", [data], "compiler", compiler)
