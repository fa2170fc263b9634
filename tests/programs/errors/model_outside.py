# SPDX-License-Identifier: Apache-2.0
import onnx

onnx.load("../../../examples/digits/digits.onnx")
