# SPDX-License-Identifier: Apache-2.0
"""tvm.testing: the targets on which tests run, here the interpreter's."""
import tvm


def enabled_targets():
    return [("llvm", tvm.cpu(0))]


def device_enabled(target):
    return str(target).split(" ")[0] == "llvm"
