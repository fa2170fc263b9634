# SPDX-License-Identifier: Apache-2.0
from tvm.contrib import cublas
from tvm import autotvm

task = autotvm.task.create("conv2d")
