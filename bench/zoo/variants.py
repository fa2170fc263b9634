# SPDX-License-Identifier: Apache-2.0
"""Other number formats of some of the models: of 8 bits, as onnxruntime's
quantizer writes them, and of 16; and graphs that onnxruntime has optimized."""
from registry import MODELS, model

QUANTIZED = ("qdq", "qoperator", "dynamic")
HALF = ("float16", "bfloat16")
OPTIMIZED = ("ort_basic", "ort_extended")

for _name in ("torchvision_resnet18", "torchvision_mobilenet_v2",
              "torchvision_efficientnet_b0", "transformers_bert",
              "transformers_vit", "ctc_lstm", "espcn"):
    model(MODELS[_name][0], _name + "_int8", QUANTIZED)(
        lambda name=_name: name)
for _name in ("torchvision_resnet18", "transformers_llama",
              "transformers_bert", "unet"):
    model(MODELS[_name][0], _name + "_16", HALF)(MODELS[_name][2])
for _name in ("torchvision_resnet18", "transformers_bert", "transformers_gpt2",
              "transformers_t5", "timm_vit_tiny_patch16_224"):
    model(MODELS[_name][0], _name + "_optimized", OPTIMIZED)(
        lambda name=_name: name)
