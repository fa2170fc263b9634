# SPDX-License-Identifier: Apache-2.0
"""topi.generic, topi.x86, topi.cuda and so on: schedules by tirc's rules, for
the target of the build or of the enclosing `with`."""
from tvm import te


def schedule_injective(outs, *rest, **options):
    tensors = outs if isinstance(outs, (list, tuple)) else [outs]
    return te.create_schedule([t.op for t in tensors]).use_rules()


def default_schedule(outs, auto_inline=False):
    return schedule_injective(outs)


def schedule_injective_from_existing(sch, out, *rest):
    return sch.use_rules()


schedule_adaptive_pool = schedule_injective
schedule_argsort = schedule_injective
schedule_argwhere = schedule_injective
schedule_batch_matmul = schedule_injective
schedule_batch_matmul_int8 = schedule_injective
schedule_batch_norm = schedule_injective
schedule_binarize_pack = schedule_injective
schedule_binary_dense = schedule_injective
schedule_bitpack = schedule_injective
schedule_bitserial_conv2d_nchw = schedule_injective
schedule_bitserial_conv2d_nhwc = schedule_injective
schedule_bitserial_dense = schedule_injective
schedule_broadcast = schedule_injective
schedule_concatenate = schedule_injective
schedule_conv1d_ncw = schedule_injective
schedule_conv1d_nwc = schedule_injective
schedule_conv1d_transpose_ncw = schedule_injective
schedule_conv2d = schedule_injective
schedule_conv2d_NCHWc = schedule_injective
schedule_conv2d_NCHWc_int8 = schedule_injective
schedule_conv2d_gemm_weight_transform = schedule_injective
schedule_conv2d_hwcn = schedule_injective
schedule_conv2d_nchw = schedule_injective
schedule_conv2d_nhwc = schedule_injective
schedule_conv2d_nhwc_pack = schedule_injective
schedule_conv2d_transpose = schedule_injective
schedule_conv2d_transpose_nchw = schedule_injective
schedule_conv2d_winograd_nnpack_weight_transform = schedule_injective
schedule_conv2d_winograd_weight_transform = schedule_injective
schedule_conv2d_winograd_without_weight_transform = schedule_injective
schedule_conv3d_ncdhw = schedule_injective
schedule_conv3d_ndhwc = schedule_injective
schedule_conv3d_transpose_ncdhw = schedule_injective
schedule_conv3d_winograd_weight_transform = schedule_injective
schedule_correlation_nchw = schedule_injective
schedule_deformable_conv2d_nchw = schedule_injective
schedule_deformable_conv2d_nhwc = schedule_injective
schedule_dense = schedule_injective
schedule_dense_large_batch = schedule_injective
schedule_dense_nopack = schedule_injective
schedule_dense_pack = schedule_injective
schedule_dense_small_batch = schedule_injective
schedule_depthwise_conv2d_NCHWc = schedule_injective
schedule_depthwise_conv2d_nchw = schedule_injective
schedule_depthwise_conv2d_nhwc = schedule_injective
schedule_dilate = schedule_injective
schedule_dilation2d_nchw = schedule_injective
schedule_dilation2d_nhwc = schedule_injective
schedule_einsum = schedule_injective
schedule_elemwise = schedule_injective
schedule_extern = schedule_injective
schedule_fast_softmax = schedule_injective
schedule_flatten = schedule_injective
schedule_get_valid_counts = schedule_injective
schedule_global_pool = schedule_injective
schedule_group_conv1d_ncw = schedule_injective
schedule_group_conv1d_nwc = schedule_injective
schedule_group_conv2d_nchw = schedule_injective
schedule_group_conv2d_nhwc = schedule_injective
schedule_group_conv2d_transpose_nchw = schedule_injective
schedule_l2_normalize = schedule_injective
schedule_layer_norm = schedule_injective
schedule_lrn = schedule_injective
schedule_lstm = schedule_injective
schedule_matmul = schedule_injective
schedule_matmul_default = schedule_injective
schedule_multibox_detection = schedule_injective
schedule_multibox_prior = schedule_injective
schedule_multibox_transform_loc = schedule_injective
schedule_nms = schedule_injective
schedule_pool = schedule_injective
schedule_pool_grad = schedule_injective
schedule_proposal = schedule_injective
schedule_reduce = schedule_injective
schedule_reorg = schedule_injective
schedule_resize = schedule_injective
schedule_roi_align = schedule_injective
schedule_roi_pool = schedule_injective
schedule_scan = schedule_injective
schedule_scatter = schedule_injective
schedule_scatter_add = schedule_injective
schedule_softmax = schedule_injective
schedule_sort = schedule_injective
schedule_sparse_conv2d = schedule_injective
schedule_sparse_dense = schedule_injective
schedule_sparse_fill_empty_rows = schedule_injective
schedule_sparse_transpose = schedule_injective
schedule_topk = schedule_injective
schedule_unique = schedule_injective
schedule_upsampling = schedule_injective
