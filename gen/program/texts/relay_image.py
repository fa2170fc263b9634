# SPDX-License-Identifier: Apache-2.0
"""tvm.relay.image: calls of its operators (relay-ops.py)."""
from tvm.relay import _dtype, _ints, _make


def _resize(name, n, default, data, size, roi, layout, method, mode, rounding_method,
            cubic_alpha, cubic_exclude, extrapolation_value, out_dtype):
    size = _ints(size)
    return _make(name, [data], "size roi layout=\"%s\" method=\"linear\" "
                 "coordinate_transformation_mode=\"half_pixel\" rounding_method=\"round\" "
                 "cubic_alpha=-0.5f cubic_exclude=0 extrapolation_value=0f out_dtype=None" %
                 default, size * n if len(size) == 1 else size,
                 [0.0] * (2 * n) if roi is None else [float(one) for one in roi], layout,
                 method, mode, rounding_method, float(cubic_alpha), int(cubic_exclude),
                 float(extrapolation_value),
                 None if out_dtype in (None, "") else _dtype(out_dtype))


def resize1d(data, size, roi=None, layout="NCW", method="linear",
             coordinate_transformation_mode="half_pixel", rounding_method="",
             cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None):
    return _resize("image.resize1d", 1, "NCW", data, size, roi, layout, method,
                   coordinate_transformation_mode, rounding_method, cubic_alpha,
                   cubic_exclude, extrapolation_value, out_dtype)


def resize2d(data, size, roi=None, layout="NCHW", method="linear",
             coordinate_transformation_mode="half_pixel", rounding_method="",
             cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None):
    return _resize("image.resize2d", 2, "NCHW", data, size, roi, layout, method,
                   coordinate_transformation_mode, rounding_method, cubic_alpha,
                   cubic_exclude, extrapolation_value, out_dtype)


def resize3d(data, size, roi=None, layout="NCDHW", method="linear",
             coordinate_transformation_mode="half_pixel", rounding_method="",
             cubic_alpha=-0.5, cubic_exclude=0, extrapolation_value=0.0, out_dtype=None):
    return _resize("image.resize3d", 3, "NCDHW", data, size, roi, layout, method,
                   coordinate_transformation_mode, rounding_method, cubic_alpha,
                   cubic_exclude, extrapolation_value, out_dtype)


def grid_sample(data, grid, method="bilinear", layout="NCHW", padding_mode="zeros",
                align_corners=True):
    return _make("image.grid_sample", [data, grid], "method=\"bilinear\" layout=\"NCHW\" "
                 "padding_mode=\"zeros\" align_corners=True", method, layout, padding_mode,
                 bool(align_corners))
