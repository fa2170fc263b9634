# SPDX-License-Identifier: Apache-2.0
"""Vision models of torchvision and timm, without trained weights."""
import torch
import timm
import torchvision
from torch import nn

from registry import model

CLASSIFIERS = """alexnet:224 vgg11:224 vgg16_bn:224 resnet18:64 resnet50:64
resnext50_32x4d:64 wide_resnet50_2:64 densenet121:64 squeezenet1_0:64
squeezenet1_1:64 mobilenet_v2:64 mobilenet_v3_small:64 mobilenet_v3_large:64
shufflenet_v2_x0_5:64 shufflenet_v2_x1_0:64 mnasnet0_5:64 efficientnet_b0:64
efficientnet_v2_s:64 regnet_x_400mf:64 regnet_y_400mf:64 convnext_tiny:64
swin_t:64 swin_v2_t:64 vit_b_16:224 maxvit_t:224 googlenet:96
inception_v3:96"""

TIMM = """resnet18:64 resnetv2_50:64 resnest14d:64 res2net50_14w_8s:64
seresnet18:64 skresnet18:64 ecaresnet26t:64 gernet_s:64 regnety_002:64
mobilenetv3_small_050:64 mobilenetv4_conv_small:64 efficientnet_lite0:64
tf_efficientnetv2_b0:64 tinynet_e:64 mixnet_s:64 ghostnet_050:64
ghostnetv2_100:64 repghostnet_050:64 lcnet_050:64 hardcorenas_a:64 fbnetc_100:64
spnasnet_100:64 mnasnet_small:64 semnasnet_075:64 rexnet_100:64 dla34:64
hrnet_w18_small:64 selecsls42b:64 vovnet39a:64 xception41:64 darknet17:64
cspresnet50:64 cspdarknet53:64 nfnet_l0:64 dm_nfnet_f0:64 repvgg_a0:64
mobileone_s0:64 fastvit_t8:64 starnet_s1:64 convnext_atto:64 convnextv2_atto:64
convmixer_768_32:64 mixer_s32_224:224 gmixer_12_224:224 resmlp_12_224:224
gmlp_ti16_224:224 vit_tiny_patch16_224:224 vit_relpos_small_patch16_224:224
deit_tiny_distilled_patch16_224:224 cait_xxs24_224:224 xcit_nano_12_p16_224:224
beit_base_patch16_224:224 eva02_tiny_patch14_224:224 levit_128s:224
efficientvit_b0:64 efficientvit_m0:224 efficientformer_l1:224
efficientformerv2_s0:224 edgenext_xx_small:64 mobilevit_xxs:64
mobilevitv2_050:64 coatnet_nano_rw_224:224 coat_tiny:224 crossvit_tiny_240:240
pit_ti_224:224 poolformer_s12:64 pvt_v2_b0:64 twins_svt_small:224
swin_tiny_patch4_window7_224:224 swinv2_cr_tiny_ns_224:224 tiny_vit_5m_224:224
tnt_s_patch16_224:224 volo_d1_224:224 visformer_tiny:224 davit_tiny:224
focalnet_tiny_srf:224 hgnet_tiny:64 inception_next_tiny:64 repvit_m0_9:64
rdnet_tiny:64 sequencer2d_s:224 nest_tiny:224 hiera_tiny_224:224
vit_tiny_r_s16_p8_224:224 botnet26t_256:256 lambda_resnet26rpt_256:256
halonet26t:256 bat_resnext26ts:256 convit_tiny:224 mambaout_femto:64
shvit_s1:64 swiftformer_xs:224"""


def images(side, batch=1):
    return (torch.randn(batch, 3, side, side),)


def pairs(text):
    for word in text.split():
        name, side = word.split(":")
        yield name, int(side)


for _name, _side in pairs(CLASSIFIERS):
    @model("classification", "torchvision_" + _name)
    def _(name=_name, side=_side):
        more = {}
        if name in ("googlenet", "inception_v3"):
            more = {"aux_logits": False, "init_weights": False}
        return torchvision.models.get_model(name, weights=None,
                                            **more), images(side)

for _name, _side in pairs(TIMM):
    @model("classification", "timm_" + _name)
    def _(name=_name, side=_side):
        return timm.create_model(name, pretrained=False), images(side)


class First(nn.Module):
    """The main result of a segmentation model, which gives a dictionary."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)["out"]


for _name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large",
              "lraspp_mobilenet_v3_large"):
    @model("segmentation", "torchvision_" + _name)
    def _(name=_name):
        inner = torchvision.models.get_model(name, weights=None,
                                             weights_backbone=None)
        return First(inner), images(64)

DETECTION = ("ssdlite320_mobilenet_v3_large", "retinanet_resnet50_fpn",
             "fcos_resnet50_fpn", "fasterrcnn_mobilenet_v3_large_320_fpn",
             "maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn")
for _name in DETECTION:
    @model("keypoints" if "keypoint" in _name else "detection",
           "torchvision_" + _name)
    def _(name=_name):
        inner = torchvision.models.get_model(
            name, weights=None, weights_backbone=None,
            **({} if "ssd" in name else {"min_size": 96, "max_size": 128}))
        return inner, ([torch.rand(3, 96, 96)],)

for _name, _frames, _side in (("r3d_18", 8, 64), ("s3d", 16, 224),
                              ("mc3_18", 8, 64)):
    @model("video", "torchvision_" + _name)
    def _(name=_name, frames=_frames, side=_side):
        inner = torchvision.models.get_model(name, weights=None)
        return inner, (torch.randn(1, 3, frames, side, side),)


@model("optical flow", "torchvision_raft_small")
def _():
    class Last(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torchvision.models.optical_flow.raft_small(
                weights=None)

        def forward(self, a, b):
            return self.inner(a, b, num_flow_updates=2)[-1]

    return Last(), images(128) + images(128)
