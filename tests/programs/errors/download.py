# SPDX-License-Identifier: Apache-2.0
# A program has no network.
from tvm.contrib.download import download_testdata

path = download_testdata("https://host/model.onnx", "model.onnx", module="onnx")
