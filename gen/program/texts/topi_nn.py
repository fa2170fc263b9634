# SPDX-License-Identifier: Apache-2.0
"""topi.nn: convolutions, pooling, matrix products, normalisations."""
import math

from tvm import te, tir, topi


# -- sizes and padding

def _each(value, n):
    """A list of n ints from one int for all dimensions, or from n ints."""
    if isinstance(value, int):
        return [value] * n
    value = list(value)
    if len(value) == 1:
        return [value[0]] * n
    if len(value) != n:
        raise ValueError("%d numbers for %d dimensions" % (len(value), n))
    return value


def get_pad_tuple_generic(padding, kernel):
    n = len(kernel)
    if isinstance(padding, str):
        if padding == "VALID":
            return [0] * (2 * n)
        if not padding.startswith("SAME"):
            raise ValueError("padding is numbers, SAME or VALID, not %s" %
                             padding)
        both = [k - 1 for k in kernel]
        return [(b + 1) // 2 for b in both] + [b - (b + 1) // 2 for b in both]
    if isinstance(padding, (list, tuple)) and len(padding) == 2 * n:
        return list(padding)
    return _each(padding, n) * 2


def get_pad_tuple(padding, kernel):
    return tuple(get_pad_tuple_generic(padding, kernel))


def get_pad_tuple1d(padding, kernel):
    return tuple(get_pad_tuple_generic(
        padding, [kernel] if isinstance(kernel, int) else kernel))


def get_pad_tuple3d(padding, kernel):
    return tuple(get_pad_tuple_generic(padding, kernel))


def infer_pad(data, data_pad):
    """Half of the rows and half of the columns that padding adds."""
    if data_pad is None:
        return 0, 0
    return ((data_pad.shape[2] - data.shape[2]) // 2,
            (data_pad.shape[3] - data.shape[3]) // 2)


def infer_pad3d(data, data_pad, layout):
    if data_pad is None:
        return 0, 0, 0
    at = 2 if layout == "NCDHW" else 1
    return tuple([(data_pad.shape[at + d] - data.shape[at + d]) // 2
                  for d in range(3)])


def infer_stride(data, kernel, out):
    return ((data.shape[2] - kernel.shape[2]) // (out.shape[2] - 1),
            (data.shape[3] - kernel.shape[3]) // (out.shape[3] - 1))


def pad(data, pad_before, pad_after=None, pad_value=0.0, name="PadInput",
        attrs=None):
    n = len(data.shape)
    before = list(pad_before)
    after = list(pad_after) if pad_after else before
    if len(before) != n or len(after) != n:
        raise ValueError("%d and %d numbers pad %d dimensions" % (
            len(before), len(after), n))
    shape = [s + b + a for s, b, a in zip(data.shape, before, after)]
    value = topi._const(pad_value, data.dtype) \
        if isinstance(pad_value, (int, float)) else pad_value

    def element(*i):
        inside, index = [], []
        for d in range(n):
            if topi._number(before[d]) == 0 and topi._number(after[d]) == 0:
                index.append(i[d])
                continue
            index.append(i[d] - before[d])
            inside.append(i[d] >= before[d])
            inside.append(i[d] < data.shape[d] + before[d])
        if not inside:
            return data(*index)
        return tir.if_then_else(tir.all(*inside), data(*index), value)
    return te.compute(shape, element, name=name, tag="injective,pad")


def mirror_pad(data, pad_before, pad_after=None, mode="SYMMETRIC",
               name="MirrorPadInput"):
    n = len(data.shape)
    before = list(pad_before)
    after = list(pad_after) if pad_after else before
    if mode not in ("SYMMETRIC", "REFLECT"):
        raise ValueError("a mirror is SYMMETRIC or REFLECT, not %s" % mode)
    edge = 1 if mode == "SYMMETRIC" else 0

    def element(*i):
        index = []
        for d in range(n):
            size = data.shape[d]
            x = i[d] - before[d]
            if topi._number(before[d]) != 0 or topi._number(after[d]) != 0:
                x = tir.if_then_else(
                    x < 0, -x - edge, tir.if_then_else(
                        x >= size, 2 * size - x - 2 + edge, x))
            index.append(x)
        return data(*index)
    return te.compute([s + b + a for s, b, a in zip(data.shape, before, after)],
                      element, name=name, tag="injective,pad")


def _border(data, pad_before, pad_after, name, inner):
    """Pads data; a place outside gets the element at inner(index, size)."""
    n = len(data.shape)
    before = list(pad_before)
    after = list(pad_after) if pad_after else before
    return te.compute(
        [s + b + a for s, b, a in zip(data.shape, before, after)],
        lambda *i: data(*[inner(i[d] - before[d], data.shape[d])
                          for d in range(n)]), name=name, tag="injective,pad")


def reflect_pad(data, pad_before, pad_after=None, name="ReflectPadInput"):
    return mirror_pad(data, pad_before, pad_after, "REFLECT", name)


def replicate_pad(data, pad_before, pad_after=None, name="ReplicatePadInput"):
    return _border(data, pad_before, pad_after, name, lambda x, size:
                   tir.min(tir.max(x, 0), size - 1))


def circular_pad(data, pad_before, pad_after=None, name="CircularPadInput"):
    return _border(data, pad_before, pad_after, name, lambda x, size:
                   tir.floormod(x, size))


def dilate(data, strides, dilation_value=0.0, name="DilatedInput"):
    n = len(data.shape)
    if len(strides) != n:
        raise ValueError("%d strides for %d dimensions" % (len(strides), n))

    def element(*i):
        index, there = [], []
        for d in range(n):
            if topi._number(strides[d]) == 1:
                index.append(i[d])
            else:
                index.append(i[d] // strides[d])
                there.append(i[d] % strides[d] == 0)
        if not there:
            return data(*index)
        return tir.if_then_else(tir.all(*there), data(*index),
                                topi._const(dilation_value, data.dtype))
    return te.compute([(s - 1) * t + 1 for s, t in zip(data.shape, strides)],
                      element, name=name, tag="injective,dilate")


# -- convolutions

def _spatial(layout):
    return [c for c in layout if c in "DHW"]


def _convolve(data, kernel, stride, padding, dilation, groups, layout,
              kernel_layout, out_dtype, name, tag):
    """A convolution; layouts give the order of the axes."""
    dims = _spatial(layout)
    n = len(dims)
    out_dtype = data.dtype if out_dtype is None else out_dtype
    stride, dilation = _each(stride, n), _each(dilation, n)
    size = [kernel.shape[kernel_layout.index(c)] for c in dims]
    span = [(k - 1) * d + 1 for k, d in zip(size, dilation)]
    pads = get_pad_tuple_generic(padding, span)
    channels = data.shape[layout.index("C")]
    filters = kernel.shape[kernel_layout.index("O")]
    if topi._number(channels) is not None and (
            channels % groups != 0 or filters % groups != 0 or
            channels // groups != kernel.shape[kernel_layout.index("I")]):
        raise ValueError(
            "%d channels in %d groups, and filters of %d" % (
                channels, groups, kernel.shape[kernel_layout.index("I")]))
    before = [pads[dims.index(c)] if c in dims else 0 for c in layout]
    after = [pads[n + dims.index(c)] if c in dims else 0 for c in layout]
    padded = pad(data, before, after, name="pad_temp")
    over = {"C": te.reduce_axis((0, channels // groups), name="rc")}
    for c, k in zip(dims, size):
        over[c] = te.reduce_axis((0, k), name="r" + {"D": "z", "H": "y",
                                                     "W": "x"}[c])
    shape = []
    for c, s in zip(layout, padded.shape):
        if c in dims:
            d = dims.index(c)
            s = (s - span[d]) // stride[d] + 1
        shape.append(filters if c == "C" else s)

    def element(*i):
        x, w = [], []
        f = i[layout.index("C")]
        for c, v in zip(layout, i):
            if c in dims:
                d = dims.index(c)
                x.append(v * stride[d] + over[c] * dilation[d])
            elif c == "C":
                x.append(f // (filters // groups) * (channels // groups) +
                         over["C"] if groups != 1 else over["C"])
            else:
                x.append(v)
        for c in kernel_layout:
            w.append(f if c == "O" else over["C"] if c == "I" else over[c])
        return te.sum(padded(*x).astype(out_dtype) *
                      kernel(*w).astype(out_dtype),
                      axis=[over[c] for c in layout if c in over])
    return te.compute(shape, element, name=name, tag=tag)


def conv(inp, filt, stride, padding, dilation, groups, data_layout,
         kernel_layout="", out_dtype=None):
    dims = "".join(_spatial(data_layout))
    if kernel_layout == "":
        kernel_layout = "OI" + dims if data_layout[1] == "C" else dims + "IO"
    name = "conv%dd_%s" % (len(dims), data_layout.lower())
    return _convolve(inp, filt, stride, padding, dilation, groups, data_layout,
                     kernel_layout, out_dtype, name,
                     name if groups == 1 else "group_" + name)


def conv1d(data, kernel, strides=1, padding="VALID", dilation=1,
           data_layout="NCW", kernel_layout="", out_dtype=None):
    return conv(data, kernel, strides, padding, dilation, 1, data_layout,
                kernel_layout, out_dtype)


def conv1d_ncw(data, kernel, strides=1, padding="VALID", dilation=1,
               out_dtype=None):
    return conv(data, kernel, strides, padding, dilation, 1, "NCW", "OIW",
                out_dtype)


def conv1d_nwc(data, kernel, strides=1, padding="VALID", dilation=1,
               out_dtype=None):
    return conv(data, kernel, strides, padding, dilation, 1, "NWC", "WIO",
                out_dtype)


def group_conv1d_ncw(data, kernel, strides=1, padding="VALID", dilation=1,
                     groups=1, out_dtype=None):
    return conv(data, kernel, strides, padding, dilation, groups, "NCW", "OIW",
                out_dtype)


def group_conv1d_nwc(data, kernel, strides=1, padding="VALID", dilation=1,
                     groups=1, out_dtype=None):
    return conv(data, kernel, strides, padding, dilation, groups, "NWC", "WIO",
                out_dtype)


def conv2d(Input, Filter, strides, padding, dilation, data_layout="NCHW",
           kernel_layout="", out_dtype=None):
    return conv(Input, Filter, strides, padding, dilation, 1, data_layout,
                "HWIO" if data_layout == "HWCN" and kernel_layout == ""
                else kernel_layout, out_dtype)


def conv2d_nchw(Input, Filter, stride, padding, dilation=1, out_dtype=None):
    return conv(Input, Filter, stride, padding, dilation, 1, "NCHW", "OIHW",
                out_dtype)


def conv2d_hwcn(Input, Filter, stride, padding, dilation=1, out_dtype=None):
    return conv(Input, Filter, stride, padding, dilation, 1, "HWCN", "HWIO",
                out_dtype)


def conv2d_nhwc(Input, Filter, stride, padding, dilation=1,
                out_dtype="float32", auto_scheduler_rewritten_layout="",
                meta_schedule_original_shape=None):
    return conv(Input, Filter, stride, padding, dilation, 1, "NHWC", "HWIO",
                out_dtype)


def group_conv2d_nchw(Input, Filter, stride, padding, dilation, groups,
                      out_dtype=None):
    return conv(Input, Filter, stride, padding, dilation, groups, "NCHW",
                "OIHW", out_dtype)


def group_conv2d_nhwc(Input, Filter, stride, padding, dilation, groups,
                      out_dtype=None):
    return conv(Input, Filter, stride, padding, dilation, groups, "NHWC",
                "HWIO", out_dtype)


def conv3d_ncdhw(Input, Filter, stride, padding, dilation, groups=1,
                 out_dtype=None):
    return conv(Input, Filter, stride, padding, dilation, groups, "NCDHW",
                "OIDHW", out_dtype)


def conv3d_ndhwc(Input, Filter, stride, padding, dilation, groups=1,
                 out_dtype=None, auto_scheduler_rewritten_layout="",
                 meta_schedule_origin_shape=None):
    return conv(Input, Filter, stride, padding, dilation, groups, "NDHWC",
                "DHWIO", "float32" if out_dtype is None else out_dtype)


def _blocked(data, kernel, stride, padding, dilation, out_dtype, n_elems,
             name):
    """A convolution with blocks of channels, layout NCHWc. The filters are
    OIHWio, or OIHWioi if n_elems channels are multiplied together."""
    out_dtype = data.dtype if out_dtype is None else out_dtype
    stride, dilation = _each(stride, 2), _each(dilation, 2)
    batch, chunks, height, width, block = data.shape
    out_chunks, filter_chunks, kh, kw = list(kernel.shape)[:4]
    out_block = kernel.shape[5]
    groups = chunks // filter_chunks
    span = [(kh - 1) * dilation[0] + 1, (kw - 1) * dilation[1] + 1]
    top, left, bottom, right = get_pad_tuple(padding, span)
    padded = pad(data, (0, 0, top, left, 0), (0, 0, bottom, right, 0),
                 name="data_pad") if top + left + bottom + right > 0 else data
    shape = (batch, out_chunks, (padded.shape[2] - span[0]) // stride[0] + 1,
             (padded.shape[3] - span[1]) // stride[1] + 1, out_block)
    ry = te.reduce_axis((0, kh), name="kh")
    rx = te.reduce_axis((0, kw), name="kw")
    if n_elems:
        outer = te.reduce_axis((0, filter_chunks), name="ic_outer")
        inner = te.reduce_axis((0, block // n_elems), name="ic_f_inner")
        elem = te.reduce_axis((0, n_elems), name="ic_s_inner")
        axes, where = [ry, rx, outer, inner, elem], inner * n_elems + elem
    else:
        channel = te.reduce_axis((0, filter_chunks * block), name="ic")
        outer, where = channel // block, channel % block
        axes = [channel, ry, rx]

    def element(b, o, y, x, c):
        first = o * out_block // (out_chunks * out_block // groups) * \
            filter_chunks if groups > 1 else 0
        pixel = padded(b, outer + first, y * stride[0] + ry * dilation[0],
                       x * stride[1] + rx * dilation[1], where)
        weight = kernel(o, outer, ry, rx, inner, c, elem) if n_elems \
            else kernel(o, outer, ry, rx, where, c)
        return te.sum(pixel.astype(out_dtype) * weight.astype(out_dtype),
                      axis=axes)
    return te.compute(shape, element, name=name, tag=name)


def conv2d_NCHWc(data, kernel, stride, padding, dilation, layout, out_layout,
                 out_dtype="float32"):
    return _blocked(data, kernel, stride, padding, dilation, out_dtype, 0,
                    "conv2d_NCHWc")


def conv2d_NCHWc_int8(data, kernel, stride, padding, dilation, layout,
                      out_layout, out_dtype="int32", n_elems=4):
    return _blocked(data, kernel, stride, padding, dilation, out_dtype, n_elems,
                    "conv2d_NCHWc_int8")


def unpack_NCHWc_to_nchw(packed_out, out_dtype):
    n, chunks, height, width, block = packed_out.shape
    return te.compute((n, chunks * block, height, width), lambda b, c, y, x:
                      packed_out(b, c // block, y, x, c % block).astype(
                          out_dtype),
                      name="output_unpack", tag="injective,unpack_nchwc")


def _depthwise(data, kernel, stride, padding, dilation, out_dtype, last, tag):
    """A depthwise convolution. last: the layout is NHWC and the filters are
    HWCM; else NCHW and CMHW."""
    out_dtype = data.dtype if out_dtype is None else out_dtype
    stride, dilation = _each(stride, 2), _each(dilation, 2)
    kh, kw = list(kernel.shape)[:2] if last else list(kernel.shape)[2:]
    many = kernel.shape[3] if last else kernel.shape[1]
    span = [(kh - 1) * dilation[0] + 1, (kw - 1) * dilation[1] + 1]
    top, left, bottom, right = get_pad_tuple(padding, span)
    padded = pad(data, (0, top, left, 0) if last else (0, 0, top, left),
                 (0, bottom, right, 0) if last else (0, 0, bottom, right),
                 name="PaddedInput")
    at = 1 if last else 2
    channels = data.shape[3 if last else 1]
    height = (padded.shape[at] - span[0]) // stride[0] + 1
    width = (padded.shape[at + 1] - span[1]) // stride[1] + 1
    ry = te.reduce_axis((0, kh), name="di")
    rx = te.reduce_axis((0, kw), name="dj")

    def element(b, i, j, k):
        y, x, f = (i, j, k) if last else (j, k, i)
        y, x = y * stride[0] + ry * dilation[0], x * stride[1] + rx * dilation[1]
        c, m = (f, 0) if topi._number(many) == 1 else (f // many, f % many)
        pixel = padded(b, y, x, c) if last else padded(b, c, y, x)
        weight = kernel(ry, rx, c, m) if last else kernel(c, m, ry, rx)
        return te.sum(pixel.astype(out_dtype) * weight.astype(out_dtype),
                      axis=[ry, rx])
    shape = (data.shape[0], height, width, channels * many) if last \
        else (data.shape[0], channels * many, height, width)
    return te.compute(shape, element, name="DepthwiseConv2d", tag=tag)


def depthwise_conv2d_nchw(Input, Filter, stride, padding, dilation=1,
                          out_dtype=None):
    return _depthwise(Input, Filter, stride, padding, dilation, out_dtype,
                      False, "depthwise_conv2d_nchw")


def depthwise_conv2d_nhwc(Input, Filter, stride, padding, dilation=1,
                          kernel_layout="HWOI", out_dtype=None):
    if kernel_layout not in ("HWOI", "HWIO"):
        # older releases have out_dtype as the sixth argument
        out_dtype, kernel_layout = kernel_layout, "HWOI"
    if kernel_layout == "HWIO":
        Filter = topi.transpose(Filter, (0, 1, 3, 2))
    return _depthwise(Input, Filter, stride, padding, dilation, out_dtype, True,
                      "depthwise_conv2d_nhwc")


def depthwise_conv2d_NCHWc(Input, Filter, stride, padding, dilation, layout,
                           out_layout, out_dtype=None):
    out_dtype = Input.dtype if out_dtype is None else out_dtype
    stride, dilation = _each(stride, 2), _each(dilation, 2)
    batch, chunks, height, width, block = Input.shape
    out_chunks, _, kh, kw, _, out_block = Filter.shape
    many = out_chunks * out_block // (chunks * block)
    span = [(kh - 1) * dilation[0] + 1, (kw - 1) * dilation[1] + 1]
    top, left, bottom, right = get_pad_tuple(padding, span)
    padded = pad(Input, (0, 0, top, left, 0), (0, 0, bottom, right, 0),
                 name="PaddedInput")
    ry = te.reduce_axis((0, kh), name="kh")
    rx = te.reduce_axis((0, kw), name="kw")

    def element(b, o, y, x, i):
        c = (o * out_block + i) // many
        return te.sum(
            padded(b, c // block, y * stride[0] + ry * dilation[0],
                   x * stride[1] + rx * dilation[1], c % block).astype(
                       out_dtype) *
            Filter(o, 0, ry, rx, 0, i).astype(out_dtype), axis=[ry, rx])
    return te.compute(
        (batch, out_chunks, (padded.shape[2] - span[0]) // stride[0] + 1,
         (padded.shape[3] - span[1]) // stride[1] + 1, out_block), element,
        name="DepthwiseConv2d", tag="depthwise_conv2d_NCHWc")


def depthwise_conv2d_backward_input_nhwc(Filter, Out_grad, oshape, ishape,
                                         stride, padding):
    stride = _each(stride, 2)
    kh, kw, channels, many = Filter.shape
    top, left, _, _ = get_pad_tuple(padding, (kh, kw))
    ry = te.reduce_axis((0, kh), name="dh")
    rx = te.reduce_axis((0, kw), name="dw")
    rm = te.reduce_axis((0, many), name="dc")

    def element(b, y, x, c):
        # the position in the output, times the stride, that reads this
        # element with the weight at (ry, rx)
        h, w = y + top - ry, x + left - rx
        inside = tir.all(h >= 0, w >= 0, h % stride[0] == 0,
                         w % stride[1] == 0, h // stride[0] < oshape[1],
                         w // stride[1] < oshape[2])
        return te.sum(tir.if_then_else(
            inside, Out_grad(b, h // stride[0], w // stride[1], c * many + rm) *
            Filter(ry, rx, c, rm), topi._const(0, Out_grad.dtype)),
            axis=[ry, rx, rm])
    return te.compute(ishape, element, name="depthwise_backward_input",
                      tag="depthwise_conv2d_backward_input_nhwc")


def depthwise_conv2d_backward_weight_nhwc(Input, Out_grad, oshape, fshape,
                                          stride, padding):
    stride = _each(stride, 2)
    batch, out_height, out_width, _ = oshape
    kh, kw, channels, many = fshape
    top, left, bottom, right = get_pad_tuple(padding, (kh, kw))
    padded = pad(Input, (0, top, left, 0), (0, bottom, right, 0),
                 name="padded_in")
    rb = te.reduce_axis((0, Input.shape[0]), name="db")
    ry = te.reduce_axis((0, out_height), name="dh")
    rx = te.reduce_axis((0, out_width), name="dw")
    return te.compute(fshape, lambda h, w, c, m: te.sum(
        Out_grad(rb, ry, rx, c * many + m) *
        padded(rb, ry * stride[0] + h, rx * stride[1] + w, c),
        axis=[rb, ry, rx]), name="depthwise_backward_weight",
        tag="depthwise_conv2d_backward_weight_nhwc")


# -- transposed convolutions

def _transposed_parts(data, kernel, strides, padding, out_dtype,
                      output_padding):
    """The parts of a transposed convolution as a plain one: the input with
    zeros between and around its elements; and the flipped filters with their
    outputs first. kernel: inputs, outputs, then spatial dimensions."""
    n = len(data.shape) - 2
    out_dtype = data.dtype if out_dtype is None else out_dtype
    strides = _each(strides, n)
    more = _each(output_padding, n)
    size = list(kernel.shape)[2:]
    pads = get_pad_tuple_generic(padding, size)
    spread = dilate(data, [1, 1] + strides, name="data_dilate")
    before = [k - 1 - p for k, p in zip(size, pads[:n])]
    after = [k - 1 - p + m for k, p, m in zip(size, pads[n:], more)]
    padded = pad(spread, [0, 0] + before, [0, 0] + after, name="data_pad")
    # padding that exceeds the filter cuts off places that no result needs
    flipped = te.compute(
        [kernel.shape[1], kernel.shape[0]] + size, lambda o, i, *at: kernel(
            *([i, o] + [k - 1 - x for k, x in zip(size, at)])),
        name="kernel_transform")
    return padded, flipped, out_dtype


def _transposed(data, kernel, strides, padding, out_dtype, output_padding,
                groups, tag):
    padded, flipped, out_dtype = _transposed_parts(
        data, kernel, strides, padding, out_dtype, output_padding)
    size = list(flipped.shape)[2:]
    per_group = flipped.shape[0]
    channels = data.shape[1] // groups
    rc = te.reduce_axis((0, channels), name="dc")
    over = [te.reduce_axis((0, k), name="d" + c)
            for k, c in zip(size, "dhw"[3 - len(size):])]

    def element(b, f, *at):
        c = f // per_group * channels + rc if groups != 1 else rc
        o = f % per_group if groups != 1 else f
        return te.sum(
            padded(*([b, c] + [x + k for x, k in zip(at, over)])).astype(
                out_dtype) *
            flipped(*([o, c] + over)).astype(out_dtype), axis=[rc] + over)
    shape = [data.shape[0], per_group * groups] + [
        s - k + 1 for s, k in zip(list(padded.shape)[2:], size)]
    return te.compute(shape, element, name=tag, tag=tag)


def conv1d_transpose_ncw(data, kernel, stride, padding, out_dtype=None,
                         output_padding=0):
    return _transposed(data, kernel, stride, padding, out_dtype,
                       output_padding, 1, "conv1d_transpose_ncw")


def group_conv1d_transpose_ncw(data, kernel, stride, padding, out_dtype,
                               output_padding, groups):
    return _transposed(data, kernel, stride, padding, out_dtype,
                       output_padding, groups, "group_conv1d_transpose_ncw")


def conv2d_transpose_nchw(Input, Filter, strides, padding, out_dtype=None,
                          output_padding=0):
    return _transposed(Input, Filter, strides, padding, out_dtype,
                       output_padding, 1, "conv2d_transpose_nchw")


def group_conv2d_transpose_nchw(data, kernel, stride, padding, out_dtype,
                                output_padding, groups):
    return _transposed(data, kernel, stride, padding, out_dtype,
                       output_padding, groups, "group_conv2d_transpose_nchw")


def conv3d_transpose_ncdhw(Input, Filter, strides, padding, out_dtype=None,
                           output_padding=0):
    return _transposed(Input, Filter, strides, padding, out_dtype,
                       output_padding, 1, "conv3d_transpose_ncdhw")


def group_conv3d_transpose_ncdhw(data, kernel, strides, padding, out_dtype,
                                 output_padding, groups):
    return _transposed(data, kernel, strides, padding, out_dtype,
                       output_padding, groups, "group_conv3d_transpose_ncdhw")


def conv2d_transpose_nchw_preprocess(data, kernel, strides, padding, out_dtype,
                                     output_padding):
    return _transposed_parts(data, kernel, strides, padding, out_dtype,
                             output_padding)[:2]


def conv3d_transpose_ncdhw_preprocess(data, kernel, strides, padding,
                                      out_dtype, output_padding):
    return _transposed_parts(data, kernel, strides, padding, out_dtype,
                             output_padding)[:2]


def declaration_conv2d_transpose_impl(data, kernel, strides, padding,
                                      out_dtype, output_padding):
    return conv2d_transpose_nchw(data, kernel, strides, padding, out_dtype,
                                 output_padding)


def declaration_conv3d_transpose_impl(data, kernel, strides, padding,
                                      out_dtype, output_padding):
    return conv3d_transpose_ncdhw(data, kernel, strides, padding, out_dtype,
                                  output_padding)


# -- convolutions by fewer products

def _times(a, b):
    """The product of two polynomials; coefficients begin with that of power
    0."""
    made = [0.0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for k, y in enumerate(b):
            made[i + k] = made[i + k] + x * y
    return made


def _winograd_numbers(tile_size, kernel_size):
    """The matrices A, B and G of F(tile_size, kernel_size) by Cook and Toom,
    with y = A' ((G g) * (B' d)). Besides infinity, the points are those with
    the smallest errors (Barabasz and others, arXiv 1803.10986)."""
    alpha = tile_size + kernel_size - 1
    chosen = {3: [0.0, -1.0, 1.0], 4: [0.0, -1.0, 1.0, 0.5],
              5: [0.0, -1.0, 1.0, 0.5, -2.0],
              6: [0.0, -1.0, 1.0, 0.5, -2.0, -0.5],
              7: [0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0],
              8: [0.0, -1.0, 1.0, 0.5, -0.5, 2.0, -2.0, -0.25]}
    if tile_size < 2 or kernel_size < 2 or alpha - 1 not in chosen:
        raise ValueError("there is no F(%d, %d) here" % (
            tile_size, kernel_size))
    points = chosen[alpha - 1]
    scale = []
    for i, p in enumerate(points):
        f = 1.0
        for k, q in enumerate(points):
            f = f * (p - q) if k != i else f
        scale.append(f)
    A = [[p ** k for k in range(tile_size)] for p in points] + [
        [0.0] * (tile_size - 1) + [1.0]]
    G = [[p ** k / f for k in range(kernel_size)]
         for p, f in zip(points, scale)] + [[0.0] * (kernel_size - 1) + [1.0]]
    columns = []
    for i in range(len(points)):
        row = [1.0]
        for k, q in enumerate(points):
            row = _times(row, [-q, 1.0]) if k != i else row
        columns.append(row + [0.0])
    row = [1.0]
    for q in points:
        row = _times(row, [-q, 1.0])
    columns.append(row)
    B = [[columns[j][i] for j in range(alpha)] for i in range(alpha)]
    # the first column of B and the first row of G have an arbitrary common
    # sign; this choice makes the scale of the first point positive
    if scale[0] < 0:
        for r in range(alpha):
            B[r][0] = -B[r][0]
        G[0] = [-x for x in G[0]]
    return A, B, G


def winograd_transform_matrices(tile_size, kernel_size, out_dtype):
    A, B, G = _winograd_numbers(tile_size, kernel_size)
    return (topi.utils.const_matrix(A, "A", out_dtype),
            topi.utils.const_matrix(B, "B", out_dtype),
            topi.utils.const_matrix(G, "G", out_dtype))


def conv2d_winograd_weight_transform(kernel, tile_size):
    filters, channels, size, _ = kernel.shape
    _, _, G = winograd_transform_matrices(tile_size, size, kernel.dtype)
    ry = te.reduce_axis((0, size), name="r_kh")
    rx = te.reduce_axis((0, size), name="r_kw")
    alpha = tile_size + size - 1
    return te.compute((alpha, alpha, filters, channels), lambda p, q, o, i:
                      te.sum(kernel(o, i, ry, rx) * G(p, ry) * G(q, rx),
                             axis=[ry, rx]), name="transform_weight")


def conv3d_winograd_weight_transform(kernel, tile_size):
    filters, channels, depth, size, _ = kernel.shape
    _, _, G = winograd_transform_matrices(tile_size, size, kernel.dtype)
    ry = te.reduce_axis((0, size), name="r_kh")
    rx = te.reduce_axis((0, size), name="r_kw")
    alpha = tile_size + size - 1
    if topi._number(depth) == topi._number(size):
        rz = te.reduce_axis((0, size), name="r_kd")
        return te.compute(
            (alpha, alpha, alpha, filters, channels), lambda s, p, q, o, i:
            te.sum(kernel(o, i, rz, ry, rx) * G(s, rz) * G(p, ry) * G(q, rx),
                   axis=[rz, ry, rx]), name="transform_weight")
    return te.compute((alpha, alpha, depth, filters, channels),
                      lambda p, q, z, o, i: te.sum(
                          kernel(o, i, z, ry, rx) * G(p, ry) * G(q, rx),
                          axis=[ry, rx]), name="transform_weight")


def conv2d_gemm_weight_transform(kernel, tile_rows, tile_cols):
    kh, kw, channels, filters = kernel.shape
    whole = kh * kw * channels
    flat = te.compute((whole, filters), lambda x, y: kernel(
        x // channels // kw, x // channels % kw, x % channels, y),
        name="weight_flatten")
    rows = (whole + tile_cols - 1) // tile_cols
    columns = (filters + tile_rows - 1) // tile_rows
    if rows * tile_cols != whole or columns * tile_rows != filters:
        flat = pad(flat, (0, 0), (rows * tile_cols - whole,
                                  columns * tile_rows - filters),
                   name="weight_padding")
    return te.compute((columns, rows, tile_rows, tile_cols),
                      lambda x, y, z, w: flat(w + tile_cols * y,
                                              z + tile_rows * x),
                      name="weight_block_reshape")


def _winograd(data, kernel, padding, out_dtype, tile, pre_computed, last):
    """A convolution by Winograd's algorithm. last: the layout is NHWC, and
    transformed filters are (alpha, alpha, O, I)."""
    if last:
        batch, height, width, channels = data.shape
    else:
        batch, channels, height, width = data.shape
    filters = kernel.shape[2] if pre_computed else \
        kernel.shape[3] if last else kernel.shape[0]
    alpha = tile + 2
    A, B, G = winograd_transform_matrices(tile, 3, out_dtype)
    top, left, bottom, right = get_pad_tuple(padding, (3, 3))
    out_height, out_width = height + top + bottom - 2, width + left + right - 2
    down, along = (out_height + tile - 1) // tile, (out_width + tile - 1) // tile
    more = (down * tile - out_height + bottom, along * tile - out_width + right)
    padded = pad(data, (0, top, left, 0) if last else (0, 0, top, left),
                 (0, more[0], more[1], 0) if last else (0, 0, more[0], more[1]),
                 name="data_pad")
    if pre_computed:
        weight = kernel
    else:
        ry = te.reduce_axis((0, 3), name="r_kh")
        rx = te.reduce_axis((0, 3), name="r_kw")
        weight = te.compute((alpha, alpha, filters, channels), lambda p, q, o, i:
                            te.sum((kernel(ry, rx, i, o) if last
                                    else kernel(o, i, ry, rx)) *
                                   G(p, ry) * G(q, rx), axis=[ry, rx]),
                            name="kernel_pack")
    tiles = batch * down * along

    def pixel(y, x, p, c):
        b = p // (down * along)
        y, x = p // along % down * tile + y, p % along * tile + x
        return padded(b, y, x, c) if last else padded(b, c, y, x)
    tile_of = te.compute((alpha, alpha, tiles, channels), pixel,
                         name="input_tile")
    ra = te.reduce_axis((0, alpha), name="r_a")
    rb = te.reduce_axis((0, alpha), name="r_b")
    packed = te.compute((alpha, alpha, tiles, channels), lambda p, q, t, c:
                        te.sum(tile_of(ra, rb, t, c) * B(ra, p) * B(rb, q),
                               axis=[ra, rb]), name="data_pack")
    rc = te.reduce_axis((0, channels), name="ci")
    products = te.compute((alpha, alpha, tiles, filters), lambda p, q, t, o:
                          te.sum(packed(p, q, t, rc) * weight(p, q, o, rc),
                                 axis=rc), name="bgemm")
    sa = te.reduce_axis((0, alpha), name="r_a")
    sb = te.reduce_axis((0, alpha), name="r_b")
    inverse = te.compute((tile, tile, tiles, filters), lambda y, x, t, o:
                         te.sum(products(sa, sb, t, o) * A(sa, y) * A(sb, x),
                                axis=[sa, sb]), name="inverse")

    def result(b, y, x, o):
        return inverse(y % tile, x % tile, (b * down + y // tile) * along +
                       x // tile, o)
    if last:
        return te.compute((batch, out_height, out_width, filters), result,
                          name="conv2d_winograd", tag="conv2d_winograd_nhwc")
    return te.compute((batch, filters, out_height, out_width),
                      lambda b, o, y, x: result(b, y, x, o),
                      name="conv2d_winograd", tag="conv2d_winograd_nchw")


def _winograd_checked(data, kernel, strides, padding, dilation, out_dtype,
                      pre_computed, last):
    if _each(strides, 2) != [1, 1] or _each(dilation, 2) != [1, 1]:
        raise ValueError("the algorithm of Winograd has strides and dilations "
                         "of 1")
    tile = kernel.shape[0] - 2 if pre_computed else 4
    return _winograd(data, kernel, padding,
                     data.dtype if out_dtype is None else out_dtype, tile,
                     pre_computed, last)


def conv2d_winograd_nhwc(data, weight, strides, padding, dilation, out_dtype,
                         pre_computed=False,
                         auto_scheduler_rewritten_layout="",
                         meta_schedule_original_shape=None):
    return _winograd_checked(data, weight, strides, padding, dilation,
                             out_dtype, pre_computed, True)


def conv2d_winograd_nchw(data, weight, strides, padding, dilation, out_dtype,
                         pre_computed=False,
                         auto_scheduler_rewritten_layout="",
                         meta_schedule_original_shape=None):
    return _winograd_checked(data, weight, strides, padding, dilation,
                             out_dtype, pre_computed, False)


def conv2d_winograd_nhwc_without_weight_transform(
        data, weight, strides, padding, dilation, out_dtype,
        auto_scheduler_rewritten_layout="", meta_schedule_original_shape=None):
    return conv2d_winograd_nhwc(data, weight, strides, padding, dilation,
                                out_dtype, True)


def conv2d_winograd_nchw_without_weight_transform(
        data, weight, strides, padding, dilation, out_dtype,
        auto_scheduler_rewritten_layout="", meta_schedule_original_shape=None):
    return conv2d_winograd_nchw(data, weight, strides, padding, dilation,
                                out_dtype, True)


# -- other windows

def correlation_nchw(data1, data2, kernel_size, max_displacement, stride1,
                     stride2, padding, is_multiply):
    batch, channels, height, width = data1.shape
    top, left, bottom, right = get_pad_tuple(padding, (1, 1))
    first = pad(data1, (0, 0, top, left), (0, 0, bottom, right))
    second = pad(data2, (0, 0, top, left), (0, 0, bottom, right))
    border = max_displacement + (kernel_size - 1) // 2
    radius = max_displacement // stride2
    across = 2 * radius + 1
    out_height = (height + top + bottom - 2 * border + stride1 - 1) // stride1
    out_width = (width + left + right - 2 * border + stride1 - 1) // stride1
    rc = te.reduce_axis((0, channels), name="rc")
    ry = te.reduce_axis((0, kernel_size), name="ry")
    rx = te.reduce_axis((0, kernel_size), name="rx")

    def element(b, q, i, j):
        y, x = i * stride1 + max_displacement, j * stride1 + max_displacement
        a = first(b, rc, y + ry, x + rx)
        c = second(b, rc, y + (q // across - radius) * stride2 + ry,
                   x + (q % across - radius) * stride2 + rx)
        return te.sum(a * c if is_multiply else tir.abs(a - c),
                      axis=[rc, ry, rx])
    total = te.compute((batch, across * across, out_height, out_width), element,
                       name="correlation", tag="correlation_nchw")
    return topi.divide(total, float(kernel_size * kernel_size * channels))


def bilinear_sample_nchw(data, indices, max_y, max_x):
    b, c, y, x = indices
    return _bilinear(lambda v, w: data(b, c, v, w), y, x, max_y, max_x)


def bilinear_sample_nhwc(data, indices, max_y, max_x):
    b, y, x, c = indices
    return _bilinear(lambda v, w: data(b, v, w, c), y, x, max_y, max_x)


def _bilinear(pixel, y, x, max_y, max_x):
    """The value between four pixels by bilinear interpolation; pixels outside
    of the image are 0."""
    total = None
    for down in range(2):
        for along in range(2):
            v = tir.Cast("int32", tir.floor(y)) + down
            u = tir.Cast("int32", tir.floor(x)) + along
            y_part, x_part = y - tir.floor(y), x - tir.floor(x)
            weight = (y_part if down else 1 - y_part) * (
                x_part if along else 1 - x_part)
            value = pixel(v, u)
            share = tir.if_then_else(
                tir.all(v >= 0, v <= max_y, u >= 0, u <= max_x),
                weight * value, tir.const(0, value.dtype))
            total = share if total is None else total + share
    return total


def _deformable(data, offset, kernel, strides, padding, dilation,
                deformable_groups, groups, out_dtype, last):
    if groups != 1:
        raise ValueError("deformable convolutions have one group, not %d" %
                         groups)
    out_dtype = data.dtype if out_dtype is None else out_dtype
    strides, dilation = _each(strides, 2), _each(dilation, 2)
    if last:
        batch, height, width, channels = data.shape
        kh, kw, _, filters = kernel.shape
        _, out_height, out_width, _ = offset.shape
    else:
        batch, channels, height, width = data.shape
        filters, _, kh, kw = kernel.shape
        _, _, out_height, out_width = offset.shape
    span = [(kh - 1) * dilation[0] + 1, (kw - 1) * dilation[1] + 1]
    top, left, _, _ = get_pad_tuple(padding, span)
    per_group = channels // deformable_groups

    def moved(b, c, h, w, y, x):
        k = c // per_group * (kh * kw * 2) + (h * kw + w) * 2
        down = offset(b, y, x, k) if last else offset(b, k, y, x)
        along = offset(b, y, x, k + 1) if last else offset(b, k + 1, y, x)
        v = y * strides[0] - top + h * dilation[0] + down
        u = x * strides[1] - left + w * dilation[1] + along
        value = _bilinear(lambda p, q: data(b, p, q, c) if last
                          else data(b, c, p, q), v, u, height - 1, width - 1)
        return tir.if_then_else(
            tir.any(v < 0, u < 0, v >= height, u >= width),
            topi._const(0, data.dtype), value.astype(data.dtype))
    rc = te.reduce_axis((0, channels), name="rc")
    ry = te.reduce_axis((0, kh), name="ry")
    rx = te.reduce_axis((0, kw), name="rx")
    if last:
        sampled = te.compute((batch, kh, kw, channels, out_height, out_width),
                             lambda b, h, w, c, y, x: moved(b, c, h, w, y, x),
                             name="data_deform", tag="data_deform")
        return te.compute((batch, out_height, out_width, filters),
                          lambda b, y, x, f: te.sum(
            sampled(b, ry, rx, rc, y, x).astype(out_dtype) *
            kernel(ry, rx, rc, f).astype(out_dtype), axis=[ry, rx, rc]),
            name="deformable_conv2d", tag="deformable_conv2d_nhwc")
    sampled = te.compute((batch, channels, kh, kw, out_height, out_width), moved,
                         name="data_deform", tag="data_deform")
    return te.compute((batch, filters, out_height, out_width),
                      lambda b, f, y, x: te.sum(
        sampled(b, rc, ry, rx, y, x).astype(out_dtype) *
        kernel(f, rc, ry, rx).astype(out_dtype), axis=[rc, ry, rx]),
        name="deformable_conv2d", tag="deformable_conv2d_nchw")


def deformable_conv2d_nchw(data, offset, kernel, strides, padding, dilation,
                           deformable_groups, groups, out_dtype=None):
    return _deformable(data, offset, kernel, strides, padding, dilation,
                       deformable_groups, groups, out_dtype, False)


def deformable_conv2d_nhwc(data, offset, kernel, strides, padding, dilation,
                           deformable_groups, groups, out_dtype=None):
    return _deformable(data, offset, kernel, strides, padding, dilation,
                       deformable_groups, groups, out_dtype, True)


# -- pooling

def _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode, layout,
          count_include_pad):
    dims = _spatial(layout)
    n = len(dims)
    axes = [layout.index(c) for c in dims]
    kernel, stride = _each(kernel, n), _each(stride, n)
    dilation = _each(dilation, n)
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    pads = get_pad_tuple_generic(padding, span)
    before, after = [0] * len(layout), [0] * len(layout)
    # the padding at the end that ceil_mode adds
    extra = [s - 1 if ceil_mode else 0 for s in stride]
    shape = list(data.shape)
    for d, a in enumerate(axes):
        before[a], after[a] = pads[d], pads[n + d] + extra[d]
        shape[a] = (data.shape[a] + before[a] + after[a] - span[d]) // \
            stride[d] + 1
    over = [te.reduce_axis((0, k), name="rv%d" % d)
            for d, k in enumerate(kernel)]

    def window(of, i):
        index = list(i)
        for d, a in enumerate(axes):
            index[a] = i[a] * stride[d] + over[d] * dilation[d]
        return of(*index)
    padded = sum(before) + sum(after) > 0
    if pool_type == "max":
        inner = pad(data, before, after, te.min_value(data.dtype),
                    name="pad_temp") if padded else data
        return te.compute(shape, lambda *i: te.max(window(inner, i), axis=over),
                          name="pool_max", tag="pool_max")
    if pool_type != "avg":
        raise ValueError("pooling is max or avg, not %s" % pool_type)
    inner = pad(data, before, after, 0, name="pad_temp") if padded else data
    total = te.compute(shape, lambda *i: te.sum(window(inner, i), axis=over),
                       name="pool_sum", tag="pool_sum")

    def mean(*i):
        count = tir.const(1, "int32")
        for d, a in enumerate(axes):
            begin = i[a] * stride[d] - before[a]
            end = begin + (kernel[d] - 1) * dilation[d]
            if count_include_pad:
                last = data.shape[a] + after[a] - extra[d] - 1
            else:
                begin = tir.if_then_else(
                    begin < 0, begin + (-begin + dilation[d] - 1) //
                    dilation[d] * dilation[d], begin)
                last = data.shape[a] - 1
            if not count_include_pad or extra[d] > 0:
                end = tir.min(end, last)
                count = count * ((end - begin) // dilation[d] + 1)
            else:
                count = count * kernel[d]
        count = tir.max(count, 1) if not isinstance(count, int) else count
        if topi._is_float(data.dtype):
            return total(*i) / tir.Cast(data.dtype, count)
        return tir.div(total(*i), tir.Cast(data.dtype, count))
    return te.compute(shape, mean, name="pool_avg", tag="elemwise")


def pool1d(data, kernel, stride, dilation, padding, pool_type, ceil_mode=False,
           layout="NCW", count_include_pad=True):
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode,
                 layout, count_include_pad)


def pool2d(data, kernel, stride, dilation, padding, pool_type, ceil_mode=False,
           layout="NCHW", count_include_pad=True):
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode,
                 layout, count_include_pad)


def pool3d(data, kernel, stride, dilation, padding, pool_type, ceil_mode=False,
           layout="NCDHW", count_include_pad=True):
    return _pool(data, kernel, stride, dilation, padding, pool_type, ceil_mode,
                 layout, count_include_pad)


def pool(data, kernel, stride, padding, pool_type, ceil_mode=False,
         layout="NCHW", count_include_pad=True):
    """pool2d of TVM's first releases."""
    return pool2d(data, kernel, stride, 1, padding, pool_type, ceil_mode,
                  layout, count_include_pad)


def pool_grad(grads, data, kernel, stride, padding, pool_type, ceil_mode=False,
              count_include_pad=True, layout="NCHW"):
    axes = [layout.index("H"), layout.index("W")]
    kernel, stride = _each(kernel, 2), _each(stride, 2)
    pads = get_pad_tuple(padding, kernel)
    extra = [s - 1 if ceil_mode else 0 for s in stride]
    # the windows that may contain an element, counted back from the last one
    back = [te.reduce_axis((0, (k + s - 1) // s), name="w%d" % d)
            for d, (k, s) in enumerate(zip(kernel, stride))]

    def windows(i):
        index, inside = list(i), []
        for d, a in enumerate(axes):
            at = (i[a] + pads[d]) // stride[d] - back[d]
            inside.append(at >= 0)
            inside.append(at < grads.shape[a])
            inside.append(i[a] + pads[d] < at * stride[d] + kernel[d])
            index[a] = at
        return index, tir.all(*inside)
    if pool_type == "avg":
        def share(index):
            count = tir.const(1, "int32")
            for d, a in enumerate(axes):
                begin = index[a] * stride[d] - pads[d]
                end = begin + kernel[d]
                if not count_include_pad:
                    begin = tir.max(begin, 0)
                    end = tir.min(end, data.shape[a])
                count = count * (end - begin)
            return grads(*index) / tir.Cast(data.dtype, tir.max(count, 1))

        def mean(*i):
            index, inside = windows(i)
            return te.sum(tir.if_then_else(inside, share(index), topi._const(
                0, data.dtype)), axis=back)
        return te.compute(data.shape, mean, name="pool_grad",
                          tag="pool_grad_avg")
    if pool_type != "max":
        raise ValueError("pooling is max or avg, not %s" % pool_type)
    before, after = [0] * 4, [0] * 4
    for d, a in enumerate(axes):
        before[a], after[a] = pads[d], pads[2 + d] + extra[d]
    padded = pad(data, before, after, te.min_value(data.dtype),
                 name="pad_temp")
    over = [te.reduce_axis((0, k), name="d%d" % d)
            for d, k in enumerate(kernel)]
    first = te.comm_reducer(
        lambda x, y: (tir.Select(tir.any(x[1] > y[1], tir.all(
            x[1] == y[1], x[0] < y[0])), x[0], y[0]),
            tir.Select(tir.any(x[1] > y[1], tir.all(
                x[1] == y[1], x[0] < y[0])), x[1], y[1])),
        lambda t0, t1: (tir.const(-1, t0), te.min_value(t1)), name="maxpool")

    def largest(*i):
        index = list(i)
        for d, a in enumerate(axes):
            index[a] = i[a] * stride[d] + over[d]
        where = topi._flat(index, padded.shape)
        return first((tir.Cast("int32", where), padded(*index)), axis=over)
    at, _ = te.compute(grads.shape, largest, name="maxpool_position")

    def element(*i):
        index, inside = windows(i)
        here = topi._flat([x + b for x, b in zip(i, before)], padded.shape)
        return te.sum(tir.if_then_else(
            tir.all(inside, at(*[tir.max(tir.min(x, s - 1), 0) for x, s in
                                 zip(index, grads.shape)]) == here),
            grads(*index), topi._const(0, data.dtype)), axis=back)
    return te.compute(data.shape, element, name="pool_grad",
                      tag="pool_grad_max")


def global_pool(data, pool_type, layout="NCHW"):
    return _adaptive(data, [1] * len(_spatial(layout)), pool_type, layout)


def _adaptive(data, output_size, pool_type, layout):
    dims = _spatial(layout)
    sizes = _each(output_size, len(dims))
    axes = [layout.index(c) for c in dims]
    shape = list(data.shape)
    over = []
    for d, a in enumerate(axes):
        shape[a] = sizes[d]
        uneven = topi._number(data.shape[a] % sizes[d]) != 0
        over.append(te.reduce_axis(
            (0, (data.shape[a] + sizes[d] - 1) // sizes[d] +
             (1 if uneven and sizes[d] != 1 else 0)), name="rv%d" % d))

    def bounds(i, d):
        size = data.shape[axes[d]]
        k = i[axes[d]]
        return (k * size // sizes[d],
                ((k + 1) * size + sizes[d] - 1) // sizes[d])

    def window(i, otherwise):
        index, inside = list(i), []
        for d, a in enumerate(axes):
            begin, end = bounds(i, d)
            index[a] = begin + over[d]
            if sizes[d] != 1 and topi._number(data.shape[a] % sizes[d]) != 0:
                inside.append(begin + over[d] < end)
        return tir.if_then_else(tir.all(*inside), data(*index), otherwise) \
            if inside else data(*index)
    if pool_type == "max":
        return te.compute(shape, lambda *i: te.max(
            window(i, te.min_value(data.dtype)), axis=over),
            name="adaptive_pool_max", tag="adaptive_pool_max")
    if pool_type != "avg":
        raise ValueError("pooling is max or avg, not %s" % pool_type)
    total = te.compute(shape, lambda *i: te.sum(
        window(i, topi._const(0, data.dtype)), axis=over),
        name="adaptive_pool_sum", tag="adaptive_pool_sum")

    def mean(*i):
        count = 1
        for d in range(len(dims)):
            begin, end = bounds(i, d)
            count = count * (end - begin)
        return total(*i) / tir.Cast(data.dtype, count)
    return te.compute(shape, mean, name="adaptive_pool_avg", tag="elemwise")


def adaptive_pool(data, output_size, pool_type, layout="NCHW"):
    return _adaptive(data, output_size, pool_type, layout)


def adaptive_pool1d(data, output_size, pool_type, layout="NCW"):
    return _adaptive(data, output_size, pool_type, layout)


def adaptive_pool3d(data, output_size, pool_type, layout="NCDHW"):
    return _adaptive(data, output_size, pool_type, layout)


# -- products of matrices

def matmul(tensor_a, tensor_b, bias=None, out_dtype=None, transpose_a=False,
           transpose_b=False, auto_scheduler_rewritten_layout="",
           meta_schedule_original_shape=None):
    out_dtype = tensor_a.dtype if out_dtype is None else out_dtype
    batch = list(tensor_a.shape)[:-2] if transpose_a \
        else list(tensor_a.shape)[:-1]
    if transpose_a:
        batch.append(tensor_a.shape[-1])
    k = te.reduce_axis((0, tensor_a.shape[-2 if transpose_a else -1]),
                       name="k")
    columns = tensor_b.shape[-2 if transpose_b else -1]

    def element(*i):
        i = list(i)
        x = i[:-2] + [k, i[-2]] if transpose_a else i[:-1] + [k]
        y = (i[-1], k) if transpose_b else (k, i[-1])
        return te.sum(tensor_a(*x).astype(out_dtype) *
                      tensor_b(*y).astype(out_dtype), axis=k)
    plain = not transpose_a and transpose_b
    made = te.compute(batch + [columns], element, name="T_matmul_" + (
        "T" if transpose_a else "N") + ("T" if transpose_b else "N"),
        tag="dense" if plain else "matmul")
    if bias is None:
        return made
    return te.compute(made.shape, lambda *i: made(*i) +
                      bias(i[-1]).astype(out_dtype), name="T_add",
                      tag="broadcast")


def dense(data, weight, bias=None, out_dtype=None,
          auto_scheduler_rewritten_layout="",
          meta_schedule_original_shape=None):
    return matmul(data, weight, bias, out_dtype, False, True)


def dense_pack(data, weight, bias=None, out_dtype=None):
    """A matrix product with weights (filters / block, inputs, block)."""
    out_dtype = data.dtype if out_dtype is None else out_dtype
    block = weight.shape[2]
    k = te.reduce_axis((0, data.shape[1]), name="k")
    made = te.compute((data.shape[0], weight.shape[0] * block), lambda y, x:
                      te.sum(data(y, k).astype(out_dtype) *
                             weight(x // block, k, x % block).astype(out_dtype),
                             axis=k), name="T_dense_pack", tag="dense_pack")
    if bias is None:
        return made
    return te.compute(made.shape, lambda i, j: made(i, j) +
                      bias(j).astype(out_dtype), name="T_add", tag="broadcast")


def batch_matmul(tensor_a, tensor_b, oshape=None, out_dtype=None,
                 transpose_a=False, transpose_b=True,
                 auto_scheduler_rewritten_layout="",
                 meta_schedule_original_shape=None):
    out_dtype = tensor_a.dtype if out_dtype is None else out_dtype
    k = te.reduce_axis((0, tensor_a.shape[1 if transpose_a else 2]), name="k")
    batch = topi._common_size(tensor_a.shape[0], tensor_b.shape[0])

    def element(b, i, j):
        x = 0 if topi._number(tensor_a.shape[0]) == 1 else b
        y = 0 if topi._number(tensor_b.shape[0]) == 1 else b
        left = tensor_a(x, k, i) if transpose_a else tensor_a(x, i, k)
        right = tensor_b(y, j, k) if transpose_b else tensor_b(y, k, j)
        return te.sum(left.astype(out_dtype) * right.astype(out_dtype), axis=k)
    return te.compute(
        (batch, tensor_a.shape[2 if transpose_a else 1],
         tensor_b.shape[1 if transpose_b else 2]), element,
        name="T_batch_matmul_" + ("T" if transpose_a else "N") +
        ("T" if transpose_b else "N"), tag="batch_matmul")


# -- elements

def relu(x):
    return topi._elements("T_relu", x, lambda v: tir.max(
        v, topi._const(0, x.dtype)))


def leaky_relu(x, alpha):
    return topi._elements("T_leaky_relu", x, lambda v: tir.Select(
        v > topi._const(0, x.dtype), v, v * topi._const(alpha, x.dtype)))


def prelu(x, slope, axis=1):
    axis = topi._axis(axis, len(x.shape))
    return te.compute(x.shape, lambda *i: tir.Select(
        x(*i) > 0, x(*i), x(*i) * slope(i[axis])), name="T_prelu",
        tag="broadcast")


def softplus(x, beta=1.0, threshold=20.0):
    return topi._elements("T_softplus", x, lambda v: tir.Select(
        v * topi._const(beta, x.dtype) > topi._const(threshold, x.dtype), v,
        tir.log(1 + tir.exp(v * topi._const(beta, x.dtype))) /
        topi._const(beta, x.dtype)))


def flatten(data):
    rest = list(data.shape)[1:]
    return te.compute((data.shape[0], topi._product(rest)), lambda i, j: data(
        *([i] + topi._split(j, rest))), name="compute", tag="injective")


def scale_shift_nchw(Input, Scale, Shift):
    return te.compute(Input.shape, lambda b, c, i, j: Input(b, c, i, j) *
                      Scale(c) + Shift(c), name="ScaleShift", tag="broadcast")


def scale_shift_nhwc(Input, Scale, Shift):
    return te.compute(Input.shape, lambda b, i, j, c: Input(b, i, j, c) *
                      Scale(c) + Shift(c), name="ScaleShift", tag="broadcast")


def scale_shift_nchwc(Input, Scale, Shift):
    return te.compute(Input.shape, lambda b, o, i, j, c: Input(b, o, i, j, c) *
                      Scale(o, c) + Shift(o, c), name="ScaleShift",
                      tag="broadcast")


def fifo_buffer(data, buffer, axis):
    kept = buffer.shape[axis] - data.shape[axis]

    def element(*i):
        old, new = list(i), list(i)
        old[axis] = i[axis] + data.shape[axis]
        new[axis] = i[axis] - kept
        return tir.if_then_else(i[axis] < kept, buffer(*old), data(*new))
    return te.compute(buffer.shape, element, name="new_buffer",
                      tag="injective,fifo_buffer")


# -- normalisations

def _row(x, axis, name, f):
    """Applies f(index with k, index without the axis, k) to each row along an
    axis; k is the reduction axis."""
    k = te.reduce_axis((0, x.shape[axis]), name="k")
    shape = [s for d, s in enumerate(x.shape) if d != axis]

    def element(*i):
        index = list(i)
        index.insert(axis, k)
        return f(index, list(i), k)
    return te.compute(shape, element, name=name)


def softmax_common(x, axis, use_fast_exp):
    axis = topi._axis(axis, len(x.shape))
    most = _row(x, axis, "T_softmax_maxelem",
                lambda index, i, k: te.max(x(*index), axis=k))

    def row_of(i):
        return [v for d, v in enumerate(i) if d != axis]
    power = te.compute(x.shape, lambda *i: tir.exp(x(*i) - most(*row_of(i))),
                       name="T_softmax_exp", tag="elemwise")
    total = _row(power, axis, "T_softmax_expsum",
                 lambda index, i, k: te.sum(power(*index), axis=k))
    return te.compute(x.shape, lambda *i: power(*i) / total(*row_of(i)),
                      name="T_softmax_norm",
                      tag="fast_softmax_output" if use_fast_exp
                      else "softmax_output")


def softmax(x, axis=-1):
    return softmax_common(x, axis, False)


def fast_softmax(x, axis=-1):
    return softmax_common(x, axis, True)


def log_softmax(x, axis=-1):
    axis = topi._axis(axis, len(x.shape))
    most = _row(x, axis, "T_softmax_maxelem",
                lambda index, i, k: te.max(x(*index), axis=k))
    total = _row(x, axis, "T_softmax_expsum", lambda index, i, k: te.sum(
        tir.exp(x(*index) - most(*i)), axis=k))

    def element(*i):
        row = [v for d, v in enumerate(i) if d != axis]
        return x(*i) - most(*row) - tir.log(total(*row))
    return te.compute(x.shape, element, name="T_log_softmax_norm",
                      tag="log_softmax_output")


def batch_norm(data, gamma, beta, moving_mean, moving_var, axis=None,
               epsilon=None, center=None, scale=None, training=None,
               momentum=None):
    axis = topi._axis(1 if axis is None else axis, len(data.shape))
    epsilon = 1e-5 if epsilon is None else epsilon
    mean, var = moving_mean, moving_var
    if training:
        others = [d for d in range(len(data.shape)) if d != axis]
        count = float(topi._product([data.shape[d] for d in others]))
        mean = topi.divide(topi.sum(data, axis=others), count)
        centered = te.compute(data.shape, lambda *i: (
            data(*i) - mean(i[axis])) * (data(*i) - mean(i[axis])),
            name="squared_difference")
        var = topi.divide(topi.sum(centered, axis=others), count)

    def element(*i):
        c = i[axis]
        value = (data(*i) - mean(c)) / tir.sqrt(
            var(c) + topi._const(epsilon, data.dtype))
        value = value * gamma(c) if scale is not False else value
        return value + beta(c) if center is not False else value
    made = te.compute(data.shape, element, name="T_batch_norm",
                      tag="broadcast")
    if not training:
        return [made, moving_mean, moving_var]
    momentum = 0.1 if momentum is None else momentum

    def follow(old, new):
        return te.compute(old.shape, lambda c: old(c) * (1 - momentum) +
                          new(c) * momentum, name="T_moving")
    return [made, follow(moving_mean, mean), follow(moving_var, var)]


def _moments(data, axes, name):
    """[sum, sum of squares] over axes; float16 is summed in float32."""
    wide = "float32" if data.dtype == "float16" else data.dtype
    pair = te.comm_reducer(
        lambda x, y: (x[0] + y[0], x[1] + y[1]),
        lambda t0, t1: (tir.const(0, t0), tir.const(0, t1)), name="sum2")
    return topi._reduced(data, axes, False, name, "comm_reduce", lambda v, over,
                         at: pair((v.astype(wide), v.astype(wide) *
                                   v.astype(wide)), axis=over))


def _normalised(data, axes, gamma, beta, epsilon, of_scale, name):
    """(x - mean) / deviation over axes, times gamma, plus beta."""
    sums = _moments(data, axes, name + "_moments")
    count = topi._product([data.shape[d] for d in axes])
    wide = sums[0].dtype

    def element(*i):
        kept = [v for d, v in enumerate(i) if d not in axes]
        mean = sums[0](*kept) / tir.Cast(wide, count)
        var = sums[1](*kept) / tir.Cast(wide, count) - mean * mean
        value = (data(*i).astype(wide) - mean) * tir.rsqrt(
            var + topi._const(epsilon, wide))
        value = value.astype(data.dtype) * gamma(*of_scale(i)) \
            if gamma is not None else value.astype(data.dtype)
        return value + beta(*of_scale(i)) if beta is not None else value
    return te.compute(data.shape, element, name=name, tag="injective")


def layer_norm(data, gamma, beta, axis, epsilon=1e-5):
    axes = topi._axes(axis, len(data.shape))
    return _normalised(data, axes, gamma, beta, epsilon,
                       lambda i: [i[d] for d in axes], "T_layer_norm")


def instance_norm(data, gamma, beta, channel_axis, axis, epsilon=1e-5):
    axes = topi._axes(axis, len(data.shape))
    channel = topi._axis(channel_axis, len(data.shape))
    return _normalised(data, axes, gamma, beta, epsilon,
                       lambda i: [i[channel]], "T_instance_norm")


def group_norm(data, gamma, beta, num_groups, channel_axis, axes,
               epsilon=1e-5):
    channel_axis = topi._axis(channel_axis, len(data.shape))
    axes = topi._axes(axes, len(data.shape))
    shape = list(data.shape)
    size = shape[channel_axis] // num_groups
    parts = shape[:channel_axis] + [num_groups, size] + \
        shape[channel_axis + 1:]
    grouped = topi.reshape(data, parts)
    over = [channel_axis + 1] + [d + 1 if d > channel_axis else d
                                 for d in axes if d != channel_axis]
    made = _normalised(grouped, sorted(over), None, None, epsilon, None,
                       "T_group_norm")

    def element(*i):
        index = list(i)
        c = index[channel_axis]
        index[channel_axis] = c % size
        index.insert(channel_axis, c // size)
        value = made(*index)
        value = value * gamma(c) if gamma is not None else value
        return value + beta(c) if beta is not None else value
    return te.compute(shape, element, name="T_group_norm_scaled",
                      tag="injective")


def rms_norm(data, weight, axis, epsilon=1e-5):
    axes = topi._axes(axis, len(data.shape))
    wide = "float32" if data.dtype == "float16" else data.dtype
    squares = topi._reduced(data, axes, False, "T_rms_sum", "comm_reduce",
                            lambda v, over, at: te.sum(
                                v.astype(wide) * v.astype(wide), axis=over))
    count = topi._product([data.shape[d] for d in axes])

    def element(*i):
        kept = [v for d, v in enumerate(i) if d not in axes]
        scale = tir.rsqrt(squares(*kept) / tir.Cast(wide, count) +
                          topi._const(epsilon, wide))
        return (data(*i).astype(wide) * scale * weight(
            *[i[d] for d in axes]).astype(wide)).astype(data.dtype)
    return te.compute(data.shape, element, name="T_rms_norm", tag="injective")


def lrn(data, size, axis=1, alpha=0.0001, beta=0.75, bias=2):
    axis = topi._axis(axis, len(data.shape))
    around = [size // 2 if d == axis else 0 for d in range(len(data.shape))]
    padded = pad(data, around, around, name="pad_data")
    k = te.reduce_axis((0, size), name="rxs")

    def squares(*i):
        index = list(i)
        index[axis] = i[axis] + k
        return te.sum(padded(*index) * padded(*index), axis=k)
    total = te.compute(data.shape, squares, name="tensor", tag="sqr_sum")
    dtype = data.dtype
    return te.compute(data.shape, lambda *i: data(*i) / tir.power(
        topi._const(bias, dtype) + topi._const(alpha, dtype) * total(*i) /
        topi._const(size, dtype), topi._const(beta, dtype)),
        name="T_divide", tag="broadcast")


def nll_loss(predictions, targets, weights, reduction, ignore_index):
    dtype = predictions.dtype

    def weighted(value):
        def element(*i):
            t = targets(*i)
            index = list(i)
            index.insert(1, t)
            return tir.Select(t != ignore_index, value(t, index),
                              topi._const(0, dtype))
        return element
    if len(targets.shape) == 0:
        loss = te.compute((), lambda: tir.Select(
            targets() != ignore_index, -predictions(targets()) *
            weights(targets()), topi._const(0, dtype)), name="nll_loss")
        share = te.compute((), lambda: tir.Select(
            targets() != ignore_index, weights(targets()),
            topi._const(0, dtype)), name="nll_weights")
    else:
        loss = te.compute(targets.shape, weighted(
            lambda t, index: -predictions(*index) * weights(t)),
            name="nll_loss", tag="nll_loss")
        share = te.compute(targets.shape, weighted(
            lambda t, index: weights(t)), name="nll_weights")
    if reduction == "none":
        return loss
    total = topi.sum(loss) if len(targets.shape) > 0 else loss
    if reduction == "sum":
        return total
    if reduction != "mean":
        raise ValueError("a reduction is none, sum or mean, not %s" %
                         reduction)
    return topi.divide(total, topi.sum(share)
                       if len(targets.shape) > 0 else share)


# -- blocks of pixels

def depth_to_space(data, block_size, layout="NCHW", mode="DCR"):
    b = block_size
    if layout not in ("NCHW", "NHWC"):
        raise ValueError("layouts are NCHW and NHWC, not %s" % layout)
    last = layout == "NHWC"
    n, channels = data.shape[0], data.shape[3 if last else 1] // (b * b)
    height, width = data.shape[1 if last else 2], data.shape[2 if last else 3]

    def element(*i):
        y, x, c = (i[1], i[2], i[3]) if last else (i[2], i[3], i[1])
        part = b * (y % b) + x % b
        c = channels * part + c if mode == "DCR" else c * b * b + part
        return data(i[0], y // b, x // b, c) if last \
            else data(i[0], c, y // b, x // b)
    shape = (n, height * b, width * b, channels) if last \
        else (n, channels, height * b, width * b)
    return te.compute(shape, element, name="depth_to_space", tag="injective")


def space_to_depth(data, block_size, layout="NCHW"):
    b = block_size
    if layout not in ("NCHW", "NHWC"):
        raise ValueError("layouts are NCHW and NHWC, not %s" % layout)
    last = layout == "NHWC"
    n, channels = data.shape[0], data.shape[3 if last else 1]
    height, width = data.shape[1 if last else 2], data.shape[2 if last else 3]

    def element(*i):
        y, x, c = (i[1], i[2], i[3]) if last else (i[2], i[3], i[1])
        part = c // channels
        y, x, c = y * b + part // b, x * b + part % b, c % channels
        return data(i[0], y, x, c) if last else data(i[0], c, y, x)
    shape = (n, height // b, width // b, channels * b * b) if last \
        else (n, channels * b * b, height // b, width // b)
    return te.compute(shape, element, name="space_to_depth", tag="injective")


def space_to_batch_nd(data, block_shape, pad_before, pad_after, pad_value=0.0):
    rank, n = len(data.shape), len(block_shape)
    rest = [0] * (rank - n - 1)
    padded = pad(data, [0] + list(pad_before) + rest,
                 [0] + list(pad_after) + rest, pad_value)
    blocks = topi._product(block_shape)
    shape = [padded.shape[0] * blocks]
    for d in range(1, rank):
        size = padded.shape[d]
        shape.append(size // block_shape[d - 1] if d <= n else size)

    def element(*i):
        parts = topi._split(i[0] // data.shape[0], block_shape)
        index = [i[0] % data.shape[0]]
        for d in range(1, rank):
            index.append(i[d] * block_shape[d - 1] + parts[d - 1]
                         if d <= n else i[d])
        return padded(*index)
    return te.compute(shape, element, name="space_to_batch_nd",
                      tag="injective")


def batch_to_space_nd(data, block_shape, crop_begin_list, crop_end_list):
    rank, n = len(data.shape), len(block_shape)
    batch = data.shape[0] // topi._product(block_shape)
    shape = [batch]
    for d in range(1, rank):
        size = data.shape[d]
        shape.append(size * block_shape[d - 1] - crop_begin_list[d - 1] -
                     crop_end_list[d - 1] if d <= n else size)

    def element(*i):
        whole = [i[d] + crop_begin_list[d - 1] for d in range(1, n + 1)]
        part = topi._flat([x % b for x, b in zip(whole, block_shape)],
                          block_shape)
        return data(*([part * batch + i[0]] +
                      [x // b for x, b in zip(whole, block_shape)] +
                      list(i)[n + 1:]))
    return te.compute(shape, element, name="batch_to_space_nd",
                      tag="injective")


def upsampling(data, scale_h, scale_w, layout="NCHW",
               method="nearest_neighbor", align_corners=False,
               output_shape=None):
    at = layout.index("H")
    size = [int(math.floor(data.shape[at] * scale_h + 0.5)),
            int(math.floor(data.shape[at + 1] * scale_w + 0.5))]
    return topi.image.resize2d(
        data, [0.0] * 4, size, layout,
        {"bilinear": "linear", "bicubic": "cubic"}.get(method, method),
        "align_corners" if align_corners else "asymmetric",
        output_shape=output_shape)


def upsampling3d(data, scale_d, scale_h, scale_w, layout="NCDHW",
                 method="nearest_neighbor",
                 coordinate_transformation_mode="half_pixel",
                 output_shape=None):
    at = layout.index("D")
    size = [int(math.floor(data.shape[at + d] * s + 0.5))
            for d, s in enumerate((scale_d, scale_h, scale_w))]
    return topi.image.resize3d(
        data, [0.0] * 6, size, layout,
        "linear" if method == "trilinear" else method,
        coordinate_transformation_mode, output_shape=output_shape)


# -- numbers with few bits

def _word(bits):
    """The word with these bits, the highest bit first. It joins two halves, so
    that the depth of the expression grows with the logarithm of the length."""
    n = len(bits) // 2
    if n == 0:
        return bits[0]
    return (_word(bits[:-n]) << n) | _word(bits[-n:])


def bitpack(data, bits, pack_axis, bit_axis, pack_type, name="QuantizeInput"):
    width = int(pack_type[4:])
    shape = list(data.shape)
    if shape[pack_axis] % width != 0:
        raise ValueError("%d elements are no words of %d bits" % (
            shape[pack_axis], width))
    shape[pack_axis] = shape[pack_axis] // width
    shape.insert(bit_axis, bits)

    def element(*i):
        index = list(i)
        bit = index.pop(bit_axis)
        word = []
        for k in range(width):
            at = list(index)
            at[pack_axis] = index[pack_axis] * width + k
            value = tir.Cast("int32", data(*at)) >> bit
            word.append((value & 1).astype(pack_type))
        return _word(word)
    return te.compute(shape, element, name=name, tag="bitpack")


def binary_op_multiplier(pack_dtype):
    return int(pack_dtype[4:])


def _bits_product(x, w, unipolar, shift, out_dtype):
    """The product of two words of bits, times 2^shift."""
    count = tir.popcount(x & w)
    if unipolar:
        count = tir.Cast("int32", count) - tir.Cast("int32",
                                                    tir.popcount(x & ~w))
    return (tir.Cast("int32", count) << shift).astype(out_dtype)


def bitserial_dense(data, weight, data_bits, weight_bits, pack_dtype="uint32",
                    out_dtype="int16", unipolar=True):
    x = bitpack(data, data_bits, 1, 1, pack_dtype)
    w = bitpack(weight, weight_bits, 1, 1, pack_dtype) \
        if len(weight.shape) == 2 else weight
    k = te.reduce_axis((0, x.shape[2]), name="k")
    xb = te.reduce_axis((0, x.shape[1]), name="db")
    wb = te.reduce_axis((0, w.shape[1]), name="wb")
    return te.compute((x.shape[0], w.shape[0]), lambda i, j: te.sum(
        _bits_product(x(i, xb, k), w(j, wb, k), unipolar, xb + wb, out_dtype),
        axis=[wb, xb, k]), name="bitserial_dense", tag="bitserial_dense")


def _bitserial_conv(data, kernel, stride, padding, activation_bits,
                    weight_bits, pack_dtype, out_dtype, unipolar, last):
    stride = _each(stride, 2)
    if last:
        x = bitpack(data, activation_bits, 3, 4, pack_dtype)
        w = bitpack(kernel, weight_bits, 2, 4, pack_dtype) \
            if len(kernel.shape) == 4 else kernel
        kh, kw, _, filters, wbits = w.shape
        channels, xbits = x.shape[3], x.shape[4]
    else:
        x = bitpack(data, activation_bits, 1, 2, pack_dtype)
        w = bitpack(kernel, weight_bits, 1, 4, pack_dtype) \
            if len(kernel.shape) == 4 else kernel
        filters, _, kh, kw, wbits = w.shape
        channels, xbits = x.shape[1], x.shape[2]
    top, left, bottom, right = get_pad_tuple(padding, (kh, kw))
    padded = pad(x, (0, top, left, 0, 0) if last else (0, 0, 0, top, left),
                 (0, bottom, right, 0, 0) if last
                 else (0, 0, 0, bottom, right), name="PaddedInput")
    at = 1 if last else 3
    height = (padded.shape[at] - kh) // stride[0] + 1
    width = (padded.shape[at + 1] - kw) // stride[1] + 1
    rc = te.reduce_axis((0, channels), name="rc")
    ry = te.reduce_axis((0, kh), name="ry")
    rx = te.reduce_axis((0, kw), name="rx")
    xb = te.reduce_axis((0, xbits), name="b1")
    wb = te.reduce_axis((0, wbits), name="b2")

    def element(b, y, x, f):
        y, x = y * stride[0] + ry, x * stride[1] + rx
        return te.sum(_bits_product(
            padded(b, y, x, rc, xb) if last else padded(b, rc, xb, y, x),
            w(ry, rx, rc, f, wb) if last else w(f, rc, ry, rx, wb), unipolar,
            xb + wb, out_dtype), axis=[rc, ry, rx, wb, xb])
    if last:
        return te.compute((data.shape[0], height, width, filters), element,
                          name="Conv2dOutput", tag="spatial_bitserial_conv_nhwc")
    return te.compute((data.shape[0], filters, height, width),
                      lambda b, f, y, x: element(b, y, x, f),
                      name="Conv2dOutput", tag="spatial_bitserial_conv_nchw")


def bitserial_conv2d_nchw(data, kernel, stride, padding, activation_bits,
                          weight_bits, pack_dtype="uint32", out_dtype="int16",
                          unipolar=True):
    return _bitserial_conv(data, kernel, stride, padding, activation_bits,
                           weight_bits, pack_dtype, out_dtype, unipolar, False)


def bitserial_conv2d_nhwc(data, kernel, stride, padding, activation_bits,
                          weight_bits, pack_dtype="uint32", out_dtype="int16",
                          unipolar=True):
    return _bitserial_conv(data, kernel, stride, padding, activation_bits,
                           weight_bits, pack_dtype, out_dtype, unipolar, True)


def binarize_pack(data, axis=None, name="PackedInput"):
    axis = len(data.shape) - 1 if axis is None else axis
    shape = list(data.shape)
    if shape[axis] % 32 != 0:
        raise ValueError("%d signs are no words of 32 bits" % shape[axis])
    shape[axis] = shape[axis] // 32

    def element(*i):
        word = []
        for k in range(32):
            at = list(i)
            at[axis] = i[axis] * 32 + k
            word.append((data(*at) >= 0).astype("uint32"))
        return _word(word)
    return te.compute(shape, element, name=name, tag="binarize_pack")


def binary_dense(data, weight):
    if data.dtype != "uint32" or weight.dtype != "uint32":
        raise ValueError("words of signs are uint32")
    k = te.reduce_axis((0, data.shape[1]), name="k")
    different = te.compute((data.shape[0], weight.shape[0]), lambda i, j:
                           te.sum(tir.popcount(data(i, k) ^ weight(j, k)),
                                  axis=k), name="T_popcount",
                           tag="binary_dense")
    bits = 32.0 * data.shape[1]
    return te.compute(different.shape, lambda i, j: bits -
                      2.0 * different(i, j), name="binary_dense",
                      tag="elemwise")


def _code(out_dtype):
    """The number of a type: an expression, or the element of a tensor."""
    if isinstance(out_dtype, te.Tensor):
        return out_dtype(*([0] * len(out_dtype.shape)))
    return out_dtype


def _channel(t, i, axis):
    """The element of t for index i: one for all channels or one for each."""
    if len(t.shape) == 0:
        return t()
    return t(0 if topi._number(t.shape[0]) == 1 else i[axis] % t.shape[0])


def simulated_quantize(data, out_dtype, output_scale=None,
                       output_zero_point=None, axis=-1):
    """Quantized values in data's type. out_dtype: 0 leaves the values
    unchanged, 1 is int8, 2 uint8, 3 int32."""
    def element(*i):
        value = data(*i)
        if output_scale is None or output_zero_point is None:
            return value
        step = tir.round(value / _channel(output_scale, i, axis)) + \
            _channel(output_zero_point, i, axis)
        made = value
        for code, kind in ((1, "int8"), (2, "uint8"), (3, "int32")):
            low = tir.Cast(data.dtype, te.min_value(kind))
            high = tir.Cast(data.dtype, te.max_value(kind))
            made = tir.if_then_else(_code(out_dtype) == code, tir.max(
                tir.min(step, high), low), made)
        return made
    return te.compute(data.shape, element, name="simulated_quantize",
                      tag="elemwise")


def simulated_dequantize(data, in_dtype, input_scale=None,
                         input_zero_point=None, axis=-1):
    def element(*i):
        value = data(*i)
        if input_scale is None or input_zero_point is None:
            return value
        real = (value - _channel(input_zero_point, i, axis)) * \
            _channel(input_scale, i, axis)
        return tir.if_then_else(tir.all(_code(in_dtype) >= 1,
                                        _code(in_dtype) <= 3), real, value)
    return te.compute(data.shape, element, name="simulated_dequantize",
                      tag="elemwise")


# -- sparse matrices: the elements by rows or blocks of rows, and their
# columns

def _rows(name, shape, dtype, inputs, indptr_at, fill, blocks):
    """A stage in which fill() adds the contribution of each element of each
    row (or block of rows) to y."""
    def body(ins, outs):
        ib = tir.ir_builder.create()
        pointers = [ib.buffer_ptr(b) for b in ins]
        y = ib.buffer_ptr(outs[0])
        with ib.for_range(0, topi._product(shape), "i") as i:
            y[tuple(topi._split(i, shape))] = topi._const(0, dtype)
        indptr = pointers[indptr_at]
        with ib.for_range(0, blocks, "row") as row:
            with ib.for_range(0, indptr[row + 1] - indptr[row], "k") as k:
                fill(ib, pointers, y, row, indptr[row] + k)
        return ib.get()
    return te.extern([shape], inputs, body, name=name, dtype=[dtype])


def sparse_dense_sp_rhs(data, weight_data, weight_indices, weight_indptr):
    blocks = weight_indptr.shape[0] - 1
    if len(weight_data.shape) == 1:
        def element(ib, p, y, row, k):
            with ib.for_range(0, data.shape[0], "m") as m:
                y[m, row] = y[m, row] + p[0][m, p[2][k]] * p[1][k]
        return _rows("sparse_dense_sp_rhs_csrmm", (data.shape[0], blocks),
                     data.dtype,
                     [data, weight_data, weight_indices, weight_indptr], 3,
                     element, blocks)
    _, high, wide = weight_data.shape

    def block(ib, p, y, row, k):
        with ib.for_range(0, data.shape[0], "m") as m:
            with ib.for_range(0, high, "r") as r:
                with ib.for_range(0, wide, "c") as c:
                    to = row * high + r
                    y[m, to] = y[m, to] + p[0][m, p[2][k] * wide + c] * \
                        p[1][k, r, c]
    return _rows("sparse_dense_sp_rhs_bsrmm", (data.shape[0], blocks * high),
                 data.dtype, [data, weight_data, weight_indices, weight_indptr],
                 3, block, blocks)


def sparse_dense_sp_lhs(data_data, data_indices, data_indptr, weight):
    blocks = data_indptr.shape[0] - 1
    if len(data_data.shape) == 1:
        def element(ib, p, y, row, k):
            with ib.for_range(0, weight.shape[0], "n") as n:
                y[row, n] = y[row, n] + p[0][k] * p[3][n, p[1][k]]
        return _rows("sparse_dense_sp_lhs_csrmm", (blocks, weight.shape[0]),
                     weight.dtype,
                     [data_data, data_indices, data_indptr, weight], 2, element,
                     blocks)
    _, high, wide = data_data.shape

    def block(ib, p, y, row, k):
        with ib.for_range(0, weight.shape[0], "n") as n:
            with ib.for_range(0, high, "r") as r:
                with ib.for_range(0, wide, "c") as c:
                    to = row * high + r
                    y[to, n] = y[to, n] + p[0][k, r, c] * \
                        p[3][n, p[1][k] * wide + c]
    return _rows("sparse_dense_sp_lhs_bsrmm", (blocks * high, weight.shape[0]),
                 weight.dtype, [data_data, data_indices, data_indptr, weight],
                 2, block, blocks)


def sparse_dense(dense_data, sparse_data, sparse_indices, sparse_indptr,
                 sparse_lhs=False):
    if sparse_lhs:
        return sparse_dense_sp_lhs(sparse_data, sparse_indices, sparse_indptr,
                                   dense_data)
    return sparse_dense_sp_rhs(dense_data, sparse_data, sparse_indices,
                               sparse_indptr)


def sparse_add(dense_data, sparse_data, sparse_indices, sparse_indptr):
    def fill(ib, ins, y):
        with ib.for_range(0, sparse_indptr.shape[0] - 1, "row") as row:
            with ib.for_range(0, ins[2][row + 1] - ins[2][row], "k") as k:
                at = ins[2][row] + k
                y[row, ins[1][at]] = y[row, ins[1][at]] + ins[0][at]
    return topi._update(dense_data, [sparse_data, sparse_indices,
                                     sparse_indptr], fill, "sparse_add_csr")


def sparse_transpose(sparse_data, sparse_indices, sparse_indptr):
    """[data, indices, indptr] of the transposed matrix, which is square."""
    rows = sparse_indptr.shape[0] - 1
    count = sparse_data.shape[0]

    def body(ins, outs):
        ib = tir.ir_builder.create()
        x, columns, begins = [ib.buffer_ptr(b) for b in ins]
        y, to, ends = [ib.buffer_ptr(b) for b in outs]
        with ib.for_range(0, rows + 1, "i") as i:
            ends[i] = tir.const(0, "int32")
        with ib.for_range(0, count, "i") as i:
            ends[columns[i] + 1] = ends[columns[i] + 1] + 1
        with ib.for_range(0, rows, "i") as i:
            ends[i + 1] = ends[i + 1] + ends[i]
        # ends[c] advances as elements of column c are placed; then it is set
        # back
        with ib.for_range(0, rows, "row") as row:
            with ib.for_range(0, begins[row + 1] - begins[row], "k") as k:
                at = begins[row] + k
                place = ends[columns[at]]
                y[place] = x[at]
                to[place] = tir.Cast("int32", row)
                ends[columns[at]] = ends[columns[at]] + 1
        with ib.for_range(0, rows, "i") as i:
            last = rows - i
            ends[last] = ends[last - 1]
        ends[0] = tir.const(0, "int32")
        return ib.get()
    return te.extern([sparse_data.shape, sparse_indices.shape,
                      sparse_indptr.shape],
                     [sparse_data, sparse_indices, sparse_indptr], body,
                     name="sparse_transpose_csr",
                     dtype=[sparse_data.dtype, "int32", "int32"])


def sparse_conv2d(dense_data, sparse_data, sparse_indices, sparse_indptr,
                  layout="NHWC", kernel_size=1):
    if kernel_size != 1:
        raise ValueError("sparse filters are of one pixel, not of %d" %
                         kernel_size)
    n, h, w, c = dense_data.shape if layout == "NHWC" else \
        [dense_data.shape[k] for k in (0, 2, 3, 1)]
    rows = topi.reshape(dense_data if layout == "NHWC" else topi.transpose(
        dense_data, (0, 2, 3, 1)), (n * h * w, c))
    made = sparse_dense_sp_rhs(rows, sparse_data, sparse_indices,
                               sparse_indptr)
    made = topi.reshape(made, (n, h, w, made.shape[1]))
    return made if layout == "NHWC" else topi.transpose(made, (0, 3, 1, 2))


# -- recurrence

def lstm(Xs, Wi, Wh, Bi=None, Bh=None, h_init=None, c_init=None, proj=None,
         p_i=None, p_f=None, p_o=None, f_act=None, g_act=None, h_act=None,
         reverse=False, weight_layout="IFGO"):
    f_act = tir.sigmoid if f_act is None else f_act
    g_act = tir.tanh if g_act is None else g_act
    h_act = tir.tanh if h_act is None else h_act
    if sorted(list(weight_layout)) != ["F", "G", "I", "O"]:
        raise ValueError("gates are an order of I, F, G and O, not %s" %
                         weight_layout)
    place = {g: list(weight_layout).index(g) for g in "IFGO"}
    steps, batch, inputs = Xs.shape
    hidden = Wi.shape[0] // 4
    out = proj.shape[0] if proj is not None else hidden
    dtype = Xs.dtype
    ki = te.reduce_axis((0, inputs), name="ki2h")
    from_input = te.compute((steps, batch, 4 * hidden), lambda t, b, j: te.sum(
        Xs(t, b, ki) * Wi(j, ki), axis=ki), name="Xi2h")
    h_state = te.placeholder((steps + 1, batch, out), dtype, name="h_state")
    c_state = te.placeholder((steps + 1, batch, hidden), dtype, name="c_state")

    def start(given, size, name):
        return te.compute((1, batch, size), lambda t, b, j: given(b, j)
                          if given is not None else topi._const(0, dtype),
                          name=name)
    kh = te.reduce_axis((0, out), name="kh2h")
    from_state = te.compute((steps + 1, batch, 4 * hidden), lambda t, b, j:
                            te.sum(h_state(t - 1, b, kh) * Wh(j, kh), axis=kh),
                            name="s_h2h")

    def gate(t, b, j, letter, peephole):
        k = place[letter] * hidden + j
        value = from_input(steps - t if reverse else t - 1, b, k) + \
            from_state(t, b, k)
        value = value + Bi(k) if Bi is not None else value
        value = value + Bh(k) if Bh is not None else value
        return value + peephole if peephole is not None else value
    shape = (steps + 1, batch, hidden)

    def cell(t, b, j):
        before = c_state(t - 1, b, j)
        i = f_act(gate(t, b, j, "I", p_i(b, j) * before
                       if p_i is not None else None))
        f = f_act(gate(t, b, j, "F", p_f(b, j) * before
                       if p_f is not None else None))
        return f * before + i * g_act(gate(t, b, j, "G", None))
    next_c = te.compute(shape, cell, name="next_c")
    next_h = te.compute(shape, lambda t, b, j: f_act(gate(
        t, b, j, "O", p_o(b, j) * next_c(t, b, j) if p_o is not None else None)
        ) * h_act(next_c(t, b, j)), name="next_h")
    if proj is not None:
        kr = te.reduce_axis((0, hidden), name="kh2p")
        whole = next_h
        next_h = te.compute((steps + 1, batch, out), lambda t, b, j: te.sum(
            whole(t, b, kr) * proj(j, kr), axis=kr), name="next_h_proj")
    all_h, all_c = te.scan([start(h_init, out, "h_init"),
                            start(c_init, hidden, "c_init")],
                           [next_h, next_c], [h_state, c_state],
                           name="lstm_scan")
    return [te.compute((steps, batch, out), lambda t, b, j: all_h(t + 1, b, j),
                       name="hidden_states"),
            te.compute((steps, batch, hidden), lambda t, b, j:
                       all_c(t + 1, b, j), name="cell_states")]
