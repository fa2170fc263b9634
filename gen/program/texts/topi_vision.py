# SPDX-License-Identifier: Apache-2.0
"""topi.vision: regions of interest, boxes, and suppression of boxes."""
import math

from tvm import te, tir, topi


# -- regions of interest: (batch, left, top, right, bottom)

def _align(data, rois, pooled_size, spatial_scale, mode, sample_ratio, last):
    pooled = topi.nn._each(pooled_size, 2)
    if mode not in ("avg", "max", 0, 1):
        raise ValueError("samples are combined by avg or max, not by %s" % mode)
    average = mode in ("avg", 0)
    if last:
        _, height, width, channels = data.shape
    else:
        _, channels, height, width = data.shape
    dtype = rois.dtype
    # without a ratio, a bin has a sample for each of its pixels, but not more
    # than a bin of the whole image
    many = [sample_ratio] * 2 if sample_ratio > 0 else [
        int(math.ceil(size / p)) for size, p in zip((height, width), pooled)]
    over = [te.reduce_axis((0, m), name=n) for m, n in zip(many, ("rh", "rw"))]

    def sample(i, c, ph, pw):
        batch = tir.Cast("int32", rois(i, 0))
        at, count, inside = [], 1, []
        for k, place in enumerate((ph, pw)):
            begin = rois(i, 2 - k) * spatial_scale
            size = tir.max(rois(i, 4 - k) * spatial_scale - begin,
                           tir.const(1.0, dtype))
            step = size / float(pooled[k])
            if sample_ratio > 0:
                n = tir.const(sample_ratio, "int32")
            else:
                n = tir.Cast("int32", tir.ceil(step))
                inside.append(over[k] < n)
            count = n * count
            at.append(begin + tir.Cast(dtype, place) * step + (tir.Cast(
                dtype, over[k]) + 0.5) * step / tir.Cast(dtype, n))
        y, x = at
        outside = tir.any(y < -1.0, x < -1.0, y > float(height),
                          x > float(width))
        y = tir.min(tir.max(y, 0.0), float(height - 1))
        x = tir.min(tir.max(x, 0.0), float(width - 1))
        value = topi.nn._bilinear(
            lambda v, u: data(batch, v, u, c) if last else data(
                batch, c, v, u), y, x, height - 1, width - 1)
        value = tir.if_then_else(outside, tir.const(0.0, dtype), value)
        if average:
            value = value / tir.Cast(dtype, count)
        if inside:
            value = tir.if_then_else(
                tir.all(*inside), value, tir.const(0.0, dtype) if average
                else te.min_value(dtype))
        return te.sum(value, axis=over) if average \
            else te.max(value, axis=over)
    rows = rois.shape[0]
    if last:
        return te.compute((rows, pooled[0], pooled[1], channels),
                          lambda i, ph, pw, c: sample(i, c, ph, pw),
                          name="roi_align", tag="pool,roi_align_nhwc")
    return te.compute((rows, channels, pooled[0], pooled[1]), sample,
                      name="roi_align", tag="pool,roi_align_nchw")


def roi_align_nchw(data, rois, pooled_size, spatial_scale, mode,
                   sample_ratio=-1):
    return _align(data, rois, pooled_size, spatial_scale, mode, sample_ratio,
                  False)


def roi_align_nhwc(data, rois, pooled_size, spatial_scale, mode,
                   sample_ratio=-1):
    return _align(data, rois, pooled_size, spatial_scale, mode, sample_ratio,
                  True)


def _roi_pool(data, rois, pooled_size, spatial_scale, last):
    pooled = topi.nn._each(pooled_size, 2)
    if last:
        _, height, width, channels = data.shape
    else:
        _, channels, height, width = data.shape
    dtype = rois.dtype
    over = [te.reduce_axis((0, size), name=n)
            for size, n in zip((height, width), ("rh", "rw"))]

    def sample(i, c, ph, pw):
        batch = tir.Cast("int32", rois(i, 0))
        index, inside, filled = [], [], []
        for k, (place, size) in enumerate(((ph, height), (pw, width))):
            begin = tir.Cast("int32", tir.round(rois(i, 2 - k) * spatial_scale))
            end = tir.Cast("int32", tir.round(rois(i, 4 - k) * spatial_scale))
            step = tir.Cast(dtype, tir.max(end - begin + 1, 1)) / \
                float(pooled[k])
            first = tir.Cast("int32", tir.floor(
                tir.Cast(dtype, place) * step + 1e-5)) + begin
            after = tir.Cast("int32", tir.ceil(
                tir.Cast(dtype, place + 1) * step - 1e-5)) + begin
            first = tir.min(tir.max(first, 0), size)
            after = tir.min(tir.max(after, 0), size)
            index.append(tir.min(first + over[k], size - 1))
            inside.append(first + over[k] < after)
            filled.append(first < after)
        value = data(batch, index[0], index[1], c) if last \
            else data(batch, c, index[0], index[1])
        # the result for a bin without pixels is 0
        return te.max(tir.if_then_else(
            tir.all(*inside), value, tir.if_then_else(
                tir.all(*filled), te.min_value(data.dtype),
                topi._const(0, data.dtype))), axis=over)
    rows = rois.shape[0]
    if last:
        return te.compute((rows, pooled[0], pooled[1], channels),
                          lambda i, ph, pw, c: sample(i, c, ph, pw),
                          name="roi_pool", tag="pool,roi_pool")
    return te.compute((rows, channels, pooled[0], pooled[1]), sample,
                      name="roi_pool", tag="pool,roi_pool")


def roi_pool_nchw(data, rois, pooled_size, spatial_scale):
    return _roi_pool(data, rois, pooled_size, spatial_scale, False)


def roi_pool_nhwc(data, rois, pooled_size, spatial_scale):
    return _roi_pool(data, rois, pooled_size, spatial_scale, True)


def reorg(data, stride):
    """Moves elements in the order of YOLO's layer "reorg"."""
    batch, channels, height, width = data.shape
    part = channels // (stride * stride)

    def element(b, k, j, i):
        offset = k // part
        x = i * stride + offset % stride
        y = j * stride + offset // stride
        at = x + width * stride * (y + height * stride * (
            k % part + part * b))
        return data(*topi._split(at, data.shape))
    whole = te.compute(data.shape, element, name="reorg", tag="reorg_output")
    return topi.reshape(whole, (batch, channels * stride * stride,
                                height // stride, width // stride))


# -- boxes

def multibox_prior(data, sizes=(1,), ratios=(1,), steps=(-1, -1),
                   offsets=(0.5, 0.5), clip=False):
    height, width = data.shape[2], data.shape[3]
    step = [s if s > 0 else 1.0 / n for s, n in zip(steps, (height, width))]
    boxes = [(s * height / width / 2.0, s / 2.0) for s in sizes] + [
        (sizes[0] * height / width * math.sqrt(r) / 2.0,
         sizes[0] / math.sqrt(r) / 2.0) for r in list(ratios)[1:]]
    n = len(boxes)

    def element(b, at, k):
        row, column = at // (n * width), at // n % width
        x = (tir.Cast("float32", column) + offsets[1]) * step[1]
        y = (tir.Cast("float32", row) + offsets[0]) * step[0]
        w = topi.utils._one_of([box[0] for box in boxes], at % n, "float32")
        h = topi.utils._one_of([box[1] for box in boxes], at % n, "float32")
        value = tir.if_then_else(k == 0, x - w, tir.if_then_else(
            k == 1, y - h, tir.if_then_else(k == 2, x + w, y + h)))
        return tir.min(tir.max(value, 0.0), 1.0) if clip else value
    return te.compute((1, height * width * n, 4), element,
                      name="multibox_prior")


def multibox_transform_loc(cls_prob, loc_pred, anchor, clip=True,
                           threshold=0.01, variances=(0.1, 0.1, 0.2, 0.2)):
    """[(class, score, box) for each anchor with an object, number of
    these]."""
    batch, classes, anchors = cls_prob.shape
    dtype = loc_pred.dtype

    def body(ins, outs):
        ib = tir.ir_builder.create()
        prob, loc, box = [ib.buffer_ptr(b) for b in ins]
        y, count = [ib.buffer_ptr(b) for b in outs]
        best = ib.allocate(dtype, (1,), name="best", scope="local")
        which = ib.allocate("int32", (1,), name="which", scope="local")
        with ib.for_range(0, batch, "i") as i:
            count[i] = tir.const(0, "int32")
            with ib.for_range(0, anchors, "j") as j:
                with ib.for_range(0, 6, "l") as at:
                    y[i, j, at] = topi._const(-1, dtype)
            with ib.for_range(0, anchors, "j") as j:
                best[0] = topi._const(-1, dtype)
                which[0] = tir.const(0, "int32")
                with ib.for_range(0, classes - 1, "k") as k:
                    with ib.if_scope(prob[i, k + 1, j] > best[0]):
                        best[0] = prob[i, k + 1, j]
                        which[0] = k + 1
                with ib.if_scope(tir.all(which[0] > 0, best[0] >= topi._const(
                        threshold, dtype))):
                    at = count[i]
                    y[i, at, 0] = (which[0] - 1).astype(dtype)
                    y[i, at, 1] = best[0]
                    for d in range(2):
                        low, high = box[0, j, d], box[0, j, d + 2]
                        size = high - low
                        middle = loc[i, j * 4 + d] * variances[d] * size + \
                            (low + high) / 2.0
                        half = tir.exp(loc[i, j * 4 + 2 + d] *
                                       variances[2 + d]) * size / 2.0
                        for k, value in ((d, middle - half),
                                         (d + 2, middle + half)):
                            y[i, at, 2 + k] = tir.max(tir.min(
                                value, 1.0), 0.0) if clip else value
                    count[i] = count[i] + 1
        return ib.get()
    return te.extern([(batch, anchors, 6), (batch,)],
                     [cls_prob, loc_pred, anchor], body,
                     name="multibox_transform_loc", dtype=[dtype, "int32"])


def multibox_detection(cls_prob, loc_pred, anchor, clip=True, threshold=0.01,
                       nms_threshold=0.5, force_suppress=False,
                       variances=(0.1, 0.1, 0.2, 0.2), nms_topk=-1):
    boxes, count = multibox_transform_loc(cls_prob, loc_pred, anchor, clip,
                                          threshold, variances)
    return non_max_suppression(boxes, count, count, -1, nms_threshold,
                               force_suppress, nms_topk, return_indices=False)


def get_valid_counts(data, score_threshold=0, id_index=0, score_index=1):
    """[number of valid boxes, the valid boxes and then rows of -1, the
    position of each in data]."""
    batch, anchors, length = data.shape

    def body(ins, outs):
        ib = tir.ir_builder.create()
        x = ib.buffer_ptr(ins[0])
        count, y, where = [ib.buffer_ptr(b) for b in outs]
        limit = ib.buffer_ptr(ins[1])[0] if len(ins) > 1 \
            else topi._const(score_threshold, data.dtype)
        with ib.for_range(0, batch, "i") as i:
            count[i] = tir.const(0, "int32")
            with ib.for_range(0, anchors, "j") as j:
                with ib.for_range(0, length, "k") as k:
                    y[i, j, k] = topi._const(-1, data.dtype)
                where[i, j] = tir.const(-1, "int32")
            with ib.for_range(0, anchors, "j") as j:
                valid = x[i, j, score_index] > limit
                if id_index >= 0:
                    valid = tir.all(valid, x[i, j, id_index] >= 0)
                with ib.if_scope(valid):
                    with ib.for_range(0, length, "k") as k:
                        y[i, count[i], k] = x[i, j, k]
                    where[i, count[i]] = tir.Cast("int32", j)
                    count[i] = count[i] + 1
        return ib.get()
    inputs = [data]
    if isinstance(score_threshold, te.Tensor):
        inputs.append(topi.reshape(score_threshold, (1,)))
    return te.extern([(batch,), (batch, anchors, length), (batch, anchors)],
                     inputs, body, name="get_valid_counts",
                     dtype=["int32", data.dtype, "int32"])


def _overlap(box):
    """The intersection of two boxes divided by their union. box(which, k):
    coordinate k of box 0 or 1."""
    def edges(which):
        return [f(box(which, a), box(which, a + 2)) for f, a in
                ((tir.min, 0), (tir.min, 1), (tir.max, 0), (tir.max, 1))]
    left, top, right, bottom = edges(0)
    west, north, east, south = edges(1)
    wide = tir.max(tir.min(right, east) - tir.max(left, west), 0.0)
    high = tir.max(tir.min(bottom, south) - tir.max(top, north), 0.0)
    both = wide * high
    either = (right - left) * (bottom - top) + \
        (east - west) * (south - north) - both
    return tir.if_then_else(either <= 0.0, tir.const(0.0, "float32"),
                            both / either)


def non_max_suppression(data, valid_count, indices, max_output_size=-1,
                        iou_threshold=0.5, force_suppress=False, top_k=-1,
                        coord_start=2, score_index=1, id_index=0,
                        return_indices=True, invalid_to_bottom=False):
    batch, anchors, length = data.shape
    dtype = data.dtype
    scores = te.compute((batch, anchors), lambda i, j: data(i, j, score_index),
                        name="scores")
    order = topi.argsort(scores, valid_count, 1, False, "int32")

    def body(ins, outs):
        ib = tir.ir_builder.create()
        x, counts, sorting, named = [ib.buffer_ptr(b) for b in ins]
        y, where = ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        valid = ib.allocate("int32", (1,), name="is_valid", scope="local")
        kept = ib.allocate("int32", (1,), name="kept", scope="local")

        def remove(i, j):
            with ib.for_range(0, length, "e") as e:
                y[i, j, e] = topi._const(-1, dtype)
            where[i, j] = tir.const(-1, "int32")

        with ib.for_range(0, batch, "i") as i:
            count = counts[i]
            most = tir.min(count, top_k) if top_k > 0 else count
            with ib.for_range(0, anchors, "j") as j:
                with ib.if_scope(j < (most if iou_threshold > 0 else count)):
                    at = sorting[i, j] if iou_threshold > 0 else j
                    with ib.for_range(0, length, "e") as e:
                        y[i, j, e] = x[i, at, e]
                    where[i, j] = tir.Cast("int32", at)
                with ib.else_scope():
                    remove(i, j)
            kept[0] = tir.const(0, "int32")
            if iou_threshold > 0:
                with ib.for_range(0, anchors, "j") as j:
                    valid[0] = tir.const(1, "int32")
                    with ib.if_scope(tir.any(
                            j >= count, y[i, j, score_index] <= 0)):
                        valid[0] = tir.const(2, "int32")
                    if not isinstance(max_output_size, int) or \
                            max_output_size >= 0:
                        with ib.if_scope(tir.all(
                                j < count, kept[0] == max_output_size)):
                            valid[0] = tir.const(0, "int32")
                    with ib.for_range(0, j, "k") as k:
                        check = tir.all(valid[0] == 1,
                                        y[i, k, score_index] > 0)
                        if id_index >= 0:
                            check = tir.all(check, y[i, k, id_index] >= 0)
                            if not force_suppress:
                                check = tir.all(check, y[i, j, id_index] ==
                                                y[i, k, id_index])
                        with ib.if_scope(check):
                            with ib.if_scope(_overlap(
                                    lambda which, c: y[i, k if which else j,
                                                       coord_start + c]) >=
                                    topi._const(iou_threshold, dtype)):
                                valid[0] = tir.const(0, "int32")
                    with ib.if_scope(valid[0] == 0):
                        remove(i, j)
                    with ib.if_scope(valid[0] == 1):
                        kept[0] = kept[0] + 1
            if return_indices:
                # moves the numbers of the kept boxes to the front
                y_count = ib.buffer_ptr(outs[2])
                kept[0] = tir.const(0, "int32")
                with ib.for_range(0, anchors, "j") as j:
                    with ib.if_scope(where[i, j] >= 0):
                        where[i, kept[0]] = named[i, where[i, j]]
                        kept[0] = kept[0] + 1
                with ib.for_range(0, anchors, "j") as j:
                    with ib.if_scope(j >= kept[0]):
                        where[i, j] = tir.const(-1, "int32")
                y_count[i, 0] = kept[0]
            elif invalid_to_bottom:
                kept[0] = tir.const(0, "int32")
                with ib.for_range(0, anchors, "j") as j:
                    with ib.if_scope(y[i, j, 0] >= 0):
                        with ib.for_range(0, length, "e") as e:
                            y[i, kept[0], e] = y[i, j, e]
                        kept[0] = kept[0] + 1
                with ib.for_range(0, anchors, "j") as j:
                    with ib.if_scope(j >= kept[0]):
                        with ib.for_range(0, length, "e") as e:
                            y[i, j, e] = topi._const(-1, dtype)
        return ib.get()
    shapes = [data.shape, (batch, anchors)]
    types = [dtype, "int32"]
    if return_indices:
        shapes.append((batch, 1))
        types.append("int32")
    made = te.extern(shapes, [data, valid_count, order, indices], body,
                     name="nms", dtype=types)
    made = made[1:] if return_indices else made[:1]
    made = [topi._elements("nms_result", t, lambda v: v) for t in made]
    return made if return_indices else made[0]


def all_class_non_max_suppression(boxes, scores, max_output_boxes_per_class,
                                  iou_threshold, score_threshold,
                                  output_format="onnx"):
    """For output_format onnx: [(batch, class, box) for each kept box, number
    of these]."""
    if output_format != "onnx":
        raise ValueError("the output_format is onnx, not %s" % output_format)
    batch, classes, count = scores.shape
    order = topi.argsort(scores, None, 2, False, "int32")

    def scalar(v, dtype):
        """A tensor with one element from a number or a tensor."""
        if isinstance(v, te.Tensor):
            return topi.cast(topi.reshape(v, (1,)), dtype)
        return topi.full((1,), dtype, v)
    limits = [scalar(max_output_boxes_per_class, "int32"),
              scalar(iou_threshold, "float32"),
              scalar(score_threshold, "float32")]

    def body(ins, outs):
        ib = tir.ir_builder.create()
        x, score, sorting, most, iou, low = [ib.buffer_ptr(b) for b in ins]
        y, total = ib.buffer_ptr(outs[0]), ib.buffer_ptr(outs[1])
        own = ib.allocate("int32", (1,), name="own", scope="local")
        first = ib.allocate("int32", (1,), name="first", scope="local")
        valid = ib.allocate("int32", (1,), name="is_valid", scope="local")
        total[0] = tir.const(0, "int64")
        first[0] = tir.const(0, "int32")
        with ib.for_range(0, batch * classes * count, "i") as i:
            for k in range(3):
                y[i, k] = tir.const(0, "int64")
        with ib.for_range(0, batch * classes, "i") as i:
            b, c = i // classes, i % classes
            own[0] = tir.const(0, "int32")
            with ib.for_range(0, count, "j") as j:
                at = sorting[b, c, j]
                valid[0] = tir.const(0, "int32")
                with ib.if_scope(tir.all(score[b, c, at] > low[0],
                                         own[0] < most[0])):
                    valid[0] = tir.const(1, "int32")
                    with ib.for_range(0, own[0], "k") as k:
                        other = tir.Cast("int32", y[first[0] + k, 2])
                        with ib.if_scope(_overlap(
                                lambda which, d: x[b, other if which else at,
                                                   d]) >= iou[0]):
                            valid[0] = tir.const(0, "int32")
                with ib.if_scope(valid[0] == 1):
                    to = first[0] + own[0]
                    y[to, 0] = tir.Cast("int64", b)
                    y[to, 1] = tir.Cast("int64", c)
                    y[to, 2] = tir.Cast("int64", at)
                    own[0] = own[0] + 1
            first[0] = first[0] + own[0]
        total[0] = tir.Cast("int64", first[0])
        return ib.get()
    return te.extern([(batch * classes * count, 3), (1,)],
                     [boxes, scores, order] + limits, body,
                     name="all_class_nms", dtype=["int64", "int64"])
