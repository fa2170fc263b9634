# SPDX-License-Identifier: Apache-2.0
from tvm.driver import tvmc

model = tvmc.load("../../../examples/digits/digits.onnx")
tvmc.tune(model, target="llvm")
