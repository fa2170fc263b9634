# SPDX-License-Identifier: Apache-2.0
"""topi.image: changes the sizes of images, and samples between pixels."""
from tvm import te, tir, topi


# -- coordinates

def get_1d_indices(indices, layout="NCW"):
    """The parts of an index: n, c, x, and cc, ib, ic for packed layouts."""
    if layout == "NWC":
        n, x, c = indices
        return n, c, x, None, 0, 0
    if layout == "NCW":
        n, c, x = indices
        return n, c, x, None, 0, 0
    n, c, x, cc = indices
    return n, c, x, cc, 0, 0


def get_2d_indices(indices, layout="NCHW"):
    if layout == "NHWC":
        n, y, x, c = indices
        return n, c, y, x, None, 0, 0
    if layout == "NCHW":
        n, c, y, x = indices
        return n, c, y, x, None, 0, 0
    n, c, y, x, cc = indices
    return n, c, y, x, cc, 0, 0


def get_3d_indices(indices, layout="NCDHW"):
    if layout == "NDHWC":
        n, z, y, x, c = indices
        return n, c, z, y, x, None
    if layout == "NCDHW":
        n, c, z, y, x = indices
        return n, c, z, y, x, None
    n, c, z, y, x, cc = indices
    return n, c, z, y, x, cc


def _within(x, size):
    return tir.max(tir.min(x, size - 1), 0)


def _pixel(data, layout, index, at):
    """The pixel, in float32, at `index` with the spatial indices replaced by
    `at`, which are limited to the image."""
    place, dims = list(index), [k for k, c in enumerate(layout) if c in "DHW"]
    for d, x in zip(dims, at):
        place[d] = _within(x, data.shape[d])
    return data(*place).astype("float32")


def get_1d_pixel(data, layout, image_width, n, c, x, cc, ib, ic):
    x = _within(x, image_width)
    index = (n, x, c) if layout == "NWC" else (n, c, x) \
        if layout == "NCW" else (n, c, x, cc)
    return data(*index).astype("float32")


def get_2d_pixel(data, layout, image_height, image_width, n, c, y, x, cc, ib,
                 ic):
    y, x = _within(y, image_height), _within(x, image_width)
    index = (n, y, x, c) if layout == "NHWC" else (n, c, y, x) \
        if layout == "NCHW" else (n, c, y, x, cc)
    return data(*index).astype("float32")


def get_3d_pixel(data, layout, image_depth, image_height, image_width, n, c, z,
                 y, x, cc):
    z, y = _within(z, image_depth), _within(y, image_height)
    x = _within(x, image_width)
    index = (n, z, y, x, c) if layout == "NDHWC" else (n, c, z, y, x) \
        if layout == "NCDHW" else (n, c, z, y, x, cc)
    return data(*index).astype("float32")


def _float(x):
    return float(x) if isinstance(x, int) else x.astype("float32")


def get_inx(x, image_width, target_width, coordinate_transformation_mode,
            start_x=0, end_x=-1):
    """The coordinate in the image of the result's pixel x."""
    mode = coordinate_transformation_mode
    size, target = _float(image_width), _float(target_width)
    x = tir.Cast("float32", x)
    scale = size / target
    many = topi._number(target_width) != 1
    if mode == "half_pixel" or mode == "pytorch_half_pixel" and many:
        return (x + 0.5) * scale - 0.5
    if mode == "pytorch_half_pixel":
        return tir.const(0.0, "float32")
    if mode == "align_corners":
        return x * (_float(image_width - 1) / _float(target_width - 1)) \
            if many else x
    if mode == "asymmetric":
        return x * scale
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) * scale
    if mode == "tf_crop_and_resize":
        last = _float(image_width - 1)
        if not many:
            return (start_x + end_x) * 0.5 * last + x * 0.0
        return x * ((end_x - start_x) * last / _float(target_width - 1)) + \
            start_x * last
    raise ValueError("there is no coordinate_transformation_mode %s" % mode)


def get_closest_index(in_x, rounding_method, boxes, use_int_div=False):
    if rounding_method == "round" or boxes is not None:
        near = tir.round(in_x)
    elif rounding_method == "round_prefer_floor":
        near = tir.ceil(in_x - 0.5)
    elif rounding_method == "round_prefer_ceil":
        near = tir.floor(in_x + 0.5)
    elif rounding_method == "floor":
        near = tir.floor(in_x + 1e-5)
    elif rounding_method == "ceil":
        near = tir.ceil(in_x - 1e-5)
    else:
        raise ValueError("there is no rounding_method %s" % rounding_method)
    return tir.Cast("int32", near)


def _weights(part, alpha):
    """The weights of four neighbours for a cubic spline."""
    two, three = part * part, part * part * part
    return [(three - two * 2.0 + part) * alpha,
            three * (alpha + 2.0) - two * (alpha + 3.0) + 1.0,
            three * -(alpha + 2.0) + two * (2.0 * alpha + 3.0) - part * alpha,
            three * -alpha + two * alpha]


def _between(near, points, part):
    """The weighted sum of the pixels around a place, computed dimension by
    dimension. points: for each dimension the indices and their weights.
    near(at): the pixel at the indices `at`."""
    if not points:
        return near(part)
    total = None
    for index, weight in zip(points[0][0], points[0][1]):
        value = _between(near, points[1:], part + [index]) * weight
        total = value if total is None else total + value
    return total


def _resized(data, shape, layout, place, method, mode, rounding_method, alpha,
             exclude, outside, out_dtype, boxes, name):
    """An image of another size. place(index): a float coordinate in the image
    for each dimension, and the index of the batch."""
    dims = [k for k, c in enumerate(layout) if c in "DHW"]
    if method == "nearest_neighbor" and rounding_method == "":
        rounding_method = "round" if mode == "align_corners" else "floor"

    def element(*i):
        at, batch = place(i)
        index = [batch] + list(i)[1:]

        def near(where):
            return _pixel(data, layout, index, where)
        if method == "nearest_neighbor":
            value = near([get_closest_index(x, rounding_method, boxes)
                          for x in at])
        elif method == "linear":
            low = [tir.Cast("int32", tir.floor(x)) for x in at]
            points = [([v, v + 1], [1.0 - (x - tir.floor(x)), x - tir.floor(x)])
                      for v, x in zip(low, at)]
            value = _between(near, points, [])
        elif method == "cubic":
            points = []
            for d, x in zip(dims, at):
                v = tir.Cast("int32", tir.floor(x))
                weights = _weights(x - tir.floor(x), alpha)
                if exclude:
                    weights = [tir.if_then_else(
                        tir.any(v - 1 + k < 0, v + k > data.shape[d]),
                        tir.const(0.0, "float32"), w)
                        for k, w in enumerate(weights)]
                    total = weights[0] + weights[1] + weights[2] + weights[3]
                    weights = [w / total for w in weights]
                points.append(([v - 1, v, v + 1, v + 2], weights))
            value = _between(near, points, [])
        else:
            raise ValueError("methods are nearest_neighbor, linear and cubic, "
                             "not %s" % method)
        if mode == "tf_crop_and_resize":
            value = tir.if_then_else(
                tir.any(*[x < 0.0 for x in at],
                        *[x > _float(data.shape[d] - 1)
                          for d, x in zip(dims, at)]),
                tir.const(0.0 if outside is None else outside, "float32"),
                value)
        return value.astype(data.dtype if out_dtype is None else out_dtype)
    return te.compute(shape, element, name=name, tag="injective")


def _resize(data, roi, size, layout, method, mode, rounding_method, alpha,
            exclude, outside, out_dtype, output_shape):
    dims = [k for k, c in enumerate(layout) if c in "DHW"]
    n = len(dims)
    size = [size] * n if isinstance(size, int) else list(size)
    shape = list(data.shape)
    for d, s in zip(dims, size):
        shape[d] = s
    roi = [0.0] * (2 * n) if roi is None else roi

    def place(i):
        # roi: a list of numbers, or a tensor with these elements
        def edge(k):
            return roi(k) if isinstance(roi, te.Tensor) else roi[k]
        return [get_inx(i[d], data.shape[d], size[k], mode, edge(k),
                        edge(n + k)) for k, d in enumerate(dims)], i[0]
    return _resized(data, shape if output_shape is None else output_shape,
                    layout, place, method.lower(), mode, rounding_method,
                    alpha, exclude, outside, out_dtype, None, "resize")


def resize1d(data, roi, size, layout="NCW", method="linear",
             coordinate_transformation_mode="half_pixel", rounding_method="",
             bicubic_alpha=-0.5, bicubic_exclude=0, extrapolation_value=0.0,
             out_dtype=None, output_shape=None):
    return _resize(data, roi, size, layout, method,
                   coordinate_transformation_mode, rounding_method,
                   bicubic_alpha, bicubic_exclude, extrapolation_value,
                   out_dtype, output_shape)


def resize2d(data, roi, size, layout="NCHW", method="linear",
             coordinate_transformation_mode="half_pixel", rounding_method="",
             bicubic_alpha=-0.5, bicubic_exclude=0, extrapolation_value=0.0,
             out_dtype=None, output_shape=None):
    return _resize(data, roi, size, layout, method,
                   coordinate_transformation_mode, rounding_method,
                   bicubic_alpha, bicubic_exclude, extrapolation_value,
                   out_dtype, output_shape)


def resize3d(data, roi, size, layout="NCDHW", method="nearest_neighbor",
             coordinate_transformation_mode="align_corners",
             rounding_method="", bicubic_alpha=-0.5, bicubic_exclude=0,
             extrapolation_value=0.0, out_dtype=None, output_shape=None):
    return _resize(data, roi, size, layout, method,
                   coordinate_transformation_mode, rounding_method,
                   bicubic_alpha, bicubic_exclude, extrapolation_value,
                   out_dtype, output_shape)


def resize(data, size, layout="NCHW", method="bilinear",
           coordinate_transformation_mode="half_pixel", out_dtype=None,
           output_shape=None):
    """resize2d of TVM's releases before 0.8."""
    method = {"bilinear": "linear", "bicubic": "cubic"}.get(method, method)
    return resize2d(data, None, size, layout, method,
                    coordinate_transformation_mode, out_dtype=out_dtype,
                    output_shape=output_shape)


def crop_and_resize(data, boxes, box_indices, crop_size, layout="NCHW",
                    method="bilinear", extrapolation_value=None,
                    out_dtype=None):
    dims = [layout.index("H"), layout.index("W")]
    shape = list(data.shape)
    shape[0] = box_indices.shape[0]
    for d, s in zip(dims, crop_size):
        shape[d] = s

    def place(i):
        box = i[0]
        at = []
        for k, d in enumerate(dims):
            last = _float(data.shape[d] - 1)
            begin, end = boxes(box, k), boxes(box, k + 2)
            step = (end - begin) * last / _float(crop_size[k] - 1)
            at.append(begin * last + step * tir.Cast("float32", i[d]))
        return at, tir.Cast("int32", box_indices(box))
    return _resized(data, shape, layout, place,
                    {"bilinear": "linear"}.get(method.lower(), method.lower()),
                    "tf_crop_and_resize", "", -0.5, 0, extrapolation_value,
                    out_dtype, boxes, "crop_and_resize")


# -- windows

def _dilation(data, weights, stride, padding, dilations, out_dtype, last, tag):
    out_dtype = data.dtype if out_dtype is None else out_dtype
    stride = topi.nn._each(stride, 2)
    dilations = topi.nn._each(dilations, 2)
    kh, kw = list(weights.shape)[:2] if last else list(weights.shape)[1:]
    span = [(kh - 1) * dilations[0] + 1, (kw - 1) * dilations[1] + 1]
    top, left, bottom, right = topi.nn.get_pad_tuple(padding, span)
    padded = topi.nn.pad(
        data, (0, top, left, 0) if last else (0, 0, top, left),
        (0, bottom, right, 0) if last else (0, 0, bottom, right),
        name="pad_temp")
    at = 1 if last else 2
    height = (padded.shape[at] - span[0]) // stride[0] + 1
    width = (padded.shape[at + 1] - span[1]) // stride[1] + 1
    ry = te.reduce_axis((0, kh), name="ry")
    rx = te.reduce_axis((0, kw), name="rx")

    def element(b, y, x, c):
        y, x = y * stride[0] + ry * dilations[0], \
            x * stride[1] + rx * dilations[1]
        pixel = padded(b, y, x, c) if last else padded(b, c, y, x)
        weight = weights(ry, rx, c) if last else weights(c, ry, rx)
        return te.max(pixel.astype(out_dtype) + weight.astype(out_dtype),
                      axis=[ry, rx])
    if last:
        return te.compute((data.shape[0], height, width, data.shape[3]),
                          element, name="dilation2d", tag=tag)
    return te.compute((data.shape[0], data.shape[1], height, width),
                      lambda b, c, y, x: element(b, y, x, c),
                      name="dilation2d", tag=tag)


def dilation2d_nchw(input, filter, stride, padding, dilations, out_dtype=None):
    return _dilation(input, filter, stride, padding, dilations, out_dtype,
                     False, "dilation2d_nchw")


def dilation2d_nhwc(input, filter, stride, padding, dilations, out_dtype=None):
    return _dilation(input, filter, stride, padding, dilations, out_dtype,
                     True, "dilation2d_nhwc")


# -- samples at coordinates that are data

def affine_grid(data, target_shape):
    height, width = target_shape
    if height < 2 or width < 2:
        raise ValueError("a grid of %d x %d; both are at least 2" % (
            height, width))
    down = topi._const((2.0 - 1e-7) / (height - 1), data.dtype)
    along = topi._const((2.0 - 1e-7) / (width - 1), data.dtype)

    def element(n, d, i, j):
        y, x = i * down - 1.0, j * along - 1.0
        return data(n, d, 0) * x + data(n, d, 1) * y + data(n, d, 2)
    return te.compute((data.shape[0], 2, height, width), element,
                      name="affine_grid", tag="affine_grid")


def _reflected(x, size, align_corners):
    """The coordinate, mirrored at the borders until it is inside of the
    image."""
    begin = 0.0 if align_corners else -0.5
    length = size - 1 if align_corners else size
    away = tir.abs(begin - x)
    times = tir.truncdiv(tir.Cast("int32", away), length)
    rest = away - tir.Cast("float32", times * length)
    inside = tir.all(x >= begin, x <= length + begin)
    return tir.if_then_else(inside, x, tir.if_then_else(
        tir.truncmod(times, 2) == 0, rest + begin, length - rest + begin))


def _limited(x, size):
    return tir.min(tir.max(x, 0.0), _float(size - 1))


def _sample_weights(part):
    """The weights of four neighbours for a cubic spline with a = -3/4."""
    a = -0.75

    def inner(t):
        return (t * (a + 2.0) - (a + 3.0)) * t * t + 1.0

    def outer(t):
        return ((t * a - 5.0 * a) * t + 8.0 * a) * t - 4.0 * a
    return [outer(part + 1.0), inner(part), inner(1.0 - part),
            outer(2.0 - part)]


def grid_sample(data, grid, method="bilinear", layout="NCHW",
                padding_mode="zeros", align_corners=True):
    n = len(layout) - 2
    sizes = list(data.shape)[2:]
    if layout not in ("NCHW", "NCDHW") or \
            padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError("grid_sample knows NCHW and NCDHW; zeros, border and "
                         "reflection")

    def valid(x, size):
        if padding_mode == "reflection":
            return _limited(_reflected(x, size, align_corners), size)
        return _limited(x, size) if padding_mode == "border" else x

    def pixel(b, c, at):
        inside = tir.all(*[x >= 0 for x in at],
                         *[x < s for x, s in zip(at, sizes)])
        return tir.if_then_else(inside, data(*([b, c] + at)),
                                topi._const(0, data.dtype))

    def element(*i):
        b, c, where = i[0], i[1], list(i)[2:]
        at = []
        for k, size in enumerate(sizes):
            x = grid(*([b, n - 1 - k] + where))
            at.append((x + 1.0) * _float(size - 1) / 2.0 if align_corners
                      else (x + 1.0) * _float(size) / 2.0 - 0.5)
        if method != "bicubic":
            at = [valid(x, s) for x, s in zip(at, sizes)]
        if method == "nearest":
            return pixel(b, c, [tir.Cast("int32", tir.round(x)) for x in at])
        low = [tir.Cast("int32", tir.floor(x)) for x in at]
        part = [x - tir.floor(x) for x in at]
        if method == "bilinear":
            points = [([v, v + 1], [1.0 - p, p]) for v, p in zip(low, part)]
        elif method == "bicubic" and n == 2:
            points = []
            for v, p, size in zip(low, part, sizes):
                index = [v - 1, v, v + 1, v + 2]
                if padding_mode != "zeros":
                    index = [tir.Cast("int32", valid(
                        tir.Cast("float32", x), size)) for x in index]
                points.append((index, _sample_weights(p)))
        else:
            raise ValueError("there is no method %s for %s" % (method, layout))
        return _between(lambda where: pixel(b, c, where), points, [])
    return te.compute(list(data.shape)[:2] + list(grid.shape)[2:], element,
                      name="grid_sample", tag="grid_sample")
