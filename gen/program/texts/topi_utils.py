# SPDX-License-Identifier: Apache-2.0
"""topi.utils and topi.tag: sizes, constants, and tags of stages."""
from tvm import te, tir, topi


def get_const_int(expr):
    value = topi._number(expr)
    if value is None:
        raise ValueError("%s is no constant" % expr)
    return value


def get_const_float(expr):
    return float(expr) if isinstance(expr, (int, float)) else expr.value


def get_const_tuple(in_tuple):
    return tuple([x if topi._number(x) is None else topi._number(x)
                  for x in in_tuple])


def get_float_tuple(in_tuple):
    return tuple([get_const_float(x) for x in in_tuple])


def equal_const_int(expr, value):
    return topi._number(expr) == value


def simplify(expr):
    return expr


def prod(x):
    return topi._product(x)


def ravel_index(indices, shape):
    return topi._flat(indices, shape)


def unravel_index(idx, shape):
    return topi._split(idx, shape)


def _one_of(values, k, dtype):
    """An expression for values[k], where k is an expression."""
    made = topi._const(values[-1], dtype)
    for i in reversed(range(len(values) - 1)):
        made = tir.Select(k == i, topi._const(values[i], dtype), made)
    return made


def const_vector(vector, name="const_vector", dtype=None):
    vector = list(vector)
    if dtype is None:
        dtype = "int32" if all([isinstance(v, int) for v in vector]) \
            else "float32"
    return te.compute((len(vector),), lambda i: _one_of(vector, i, dtype),
                      name=name)


def const_matrix(matrix, name="const_matrix", dtype=None):
    rows = [[v for v in row] for row in matrix]
    if dtype is None:
        dtype = "float32"

    def element(i, j):
        made = _one_of(rows[-1], j, dtype)
        for k in reversed(range(len(rows) - 1)):
            made = tir.Select(i == k, _one_of(rows[k], j, dtype), made)
        return made
    return te.compute((len(rows), len(rows[0])), element, name=name)


def get_max_power2_factor(n, max_value=None):
    made = 1
    while n % 2 == 0 and (max_value is None or made < max_value):
        made, n = made * 2, n // 2
    return made


def get_shape(src_shape, src_layout, dst_layout):
    if src_layout == dst_layout:
        return tuple(src_shape)
    return tuple([src_shape[src_layout.index(c)] for c in dst_layout])


def within_index(b, e, s, i):
    return topi._within(b, e, s, i)


def make_idx(b, e, s, z, i):
    return topi._place(b, e, s, i)


def is_empty_shape(shape):
    return 0 in [topi._number(s) for s in shape]


def is_dynamic_shape(shape):
    return None in [topi._number(s) for s in shape]


def ceil_div(a, b):
    return (a + b - 1) // b


def swap(arr, axis):
    arr = list(arr)
    return arr[:axis] + [arr[-1]] + arr[axis + 1:-1] + [arr[axis]]


def nchw_pack_layout(layout_info):
    return layout_info[0] == "NCHW"


def traverse_inline(s, final_op, callback):
    """Inlines elementwise stages that another stage reads, and calls callback
    for all other stages, beginning with the last one."""
    seen = []

    def visit(op):
        if op in seen:
            return
        seen.append(op)
        if is_injective(op.tag):
            if op not in s.outputs:
                s[op].compute_inline()
            for t in op.input_tensors:
                if len(t.op.input_tensors) > 0:
                    visit(t.op)
        callback(op)
    visit(final_op)


def is_broadcast(tag):
    return tag in ("elemwise", "broadcast") or tag.startswith("elemwise") or \
        tag.startswith("broadcast")


def is_injective(tag):
    return is_broadcast(tag) or tag.startswith("injective")
