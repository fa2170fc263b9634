# SPDX-License-Identifier: Apache-2.0
"""What a program of TVM computes, from its expressions before TVM simplifies
them: every operator in the type that TVM gave it, integers wrap, floats are
rounded after each operator. Used by types_tvm.py, with TVM."""
import itertools
import math

import numpy as np


class Undefined(Exception):
    """An element without a defined value: division by zero, a float beyond an
    integer's range, a shift by the type's bits, int32 or int64 beyond its
    range."""


def is_float(name):
    return name.startswith(("float", "bfloat"))


def limits(name):
    if name == "bool":
        return 0, 1
    bits = int(name.lstrip("uint"))
    if name[0] == "u":
        return 0, 2 ** bits - 1
    return -2 ** (bits - 1), 2 ** (bits - 1) - 1


def key(x):
    """Of a tensor or a buffer; == of tensors is an expression."""
    return "array", hash(x)


class Evaluator:
    """wrapped: an integer did not fit its type. Arrays are dicts from indices to
    values; an element that is not defined is absent."""

    def __init__(self, feeds):
        self.wrapped = False
        self.env = {key(x): values for x, values in feeds}

    def number(self, name, value):
        """value as a number of the type."""
        if is_float(name):
            with np.errstate(all="ignore"):
                return np.dtype(name).type(value)
        if name == "bool":
            return bool(value)
        low, high = limits(name)
        value = int(value)
        if not low <= value <= high:
            if name in ("int32", "int64"):
                # Both take it that these do not overflow, as index arithmetic.
                raise Undefined
            self.wrapped = True
            value = (value - low) % (high - low + 1) + low
        return value

    def cast(self, to, value):
        if isinstance(value, np.floating) and not is_float(to):
            if to == "bool":
                return value != 0
            low, high = limits(to)
            if not math.isfinite(value) or not low <= int(value) <= high:
                raise Undefined
            return int(value)
        if to != "bool" and not is_float(to):
            # A cast between integers keeps the low bits, by definition. TVM's
            # bounds take it that a cast to a signed type keeps the value: it
            # divides a uint32 of 2^31 and more, cast to int32, as one that is
            # not negative.
            low, high = limits(to)
            value = int(value)
            if low < 0 and not low <= value <= high:
                self.wrapped = True
            return (value - low) % (high - low + 1) + low
        return self.number(to, value)

    # -- expressions

    def binary(self, e, function):
        a, b = self.make(e.a), self.make(e.b)
        name = str(e.ty.dtype)

        def run(env):
            x, y = a(env), b(env)
            with np.errstate(all="ignore"):
                return self.number(name, function(x, y))
        return run

    def make(self, e):
        kind = type(e).__name__
        name = str(e.ty.dtype) if hasattr(e.ty, "dtype") else ""
        if kind in ("IntImm", "FloatImm"):
            value = self.number(name, e.value)
            return lambda env: value
        if kind == "Var":
            return lambda env: env[e]
        if kind == "Cast":
            inner = self.make(e.value)
            return lambda env: self.cast(name, inner(env))
        if kind in ARITHMETIC:
            if name == "bool" and kind in COMPUTING:
                # TVM's targets differ; tirc computes them in int32.
                raise NotImplementedError(kind + " of bool")
            return self.binary(e, ARITHMETIC[kind])
        if kind in ("And", "Or"):
            a, b = self.make(e.a), self.make(e.b)
            if kind == "And":
                return lambda env: a(env) and b(env)
            return lambda env: a(env) or b(env)
        if kind == "Not":
            a = self.make(e.a)
            return lambda env: not a(env)
        if kind == "BitwiseNot":
            a = self.make(e.a)
            if name == "bool":
                return lambda env: not a(env)
            return lambda env: self.cast(name, ~a(env))
        if kind in ("LShift", "RShift"):
            a, b = self.make(e.a), self.make(e.b)
            return lambda env: self.shift(name, kind, a(env), b(env))
        if kind == "Select":
            return self.choice(e.condition, e.true_value, e.false_value)
        if kind == "TensorLoad":
            return self.load(e.source, e.indices)
        if kind == "Call" and e.op.name == "te.tensor_load":
            self.tensor(e.args[0])
            return self.load(e.args[0], e.args[1:])
        if kind == "Call" and e.op.name.endswith("if_then_else"):
            return self.choice(*e.args)
        if kind == "Call" and e.op.name.split(".")[-1] in CALLS:
            function = CALLS[e.op.name.split(".")[-1]]
            args = [self.make(x) for x in e.args]

            def run(env):
                with np.errstate(all="ignore"):
                    return self.number(name, function(*[x(env)
                                                        for x in args]))
            return run
        raise NotImplementedError(
            "%s %s" % (kind, e.op.name if kind == "Call" else ""))

    def choice(self, c, x, y):
        c, x, y = self.make(c), self.make(x), self.make(y)
        return lambda env: x(env) if c(env) else y(env)

    def shift(self, name, kind, x, by):
        bits = limits(name)[1].bit_length() + (name[0] == "i")
        if not 0 <= by < bits:
            raise Undefined
        if kind == "RShift":
            return x >> by
        return self.number(name, x << by)

    def load(self, array, indices):
        index = [self.make(i) for i in indices]
        array = key(array)
        return lambda env: env[array][tuple(i(env) for i in index)]

    # -- stages of te

    def tensor(self, t):
        """Computes t and the tensors before it; returns its elements."""
        if key(t) in self.env:
            return self.env[key(t)]
        body = t.op.body[t.value_index]
        axes = t.op.axis
        value = (self.reduction(body) if type(body).__name__ == "Reduce"
                 else self.make(body))
        elements = {}
        for at in itertools.product(*[range(int(x.dom.extent)) for x in axes]):
            for axis, i in zip(axes, at):
                self.env[axis.var] = i
            try:
                elements[at] = value(self.env)
            except (Undefined, KeyError):
                pass
        self.env[key(t)] = elements
        return elements

    def reduction(self, r):
        source, where = self.make(r.source[0]), self.make(r.condition)
        combine = self.make(r.combiner.result[0])
        start = self.make(r.init[0] if r.init
                          else r.combiner.identity_element[0])
        left, right = r.combiner.lhs[0], r.combiner.rhs[0]
        spaces = [range(int(x.dom.extent)) for x in r.axis]

        def run(env):
            total = start(env)
            for at in itertools.product(*spaces):
                for axis, i in zip(r.axis, at):
                    env[axis.var] = i
                if where(env):
                    env[left], env[right] = total, source(env)
                    total = combine(env)
            return total
        return run

    # -- statements of TVMScript

    def stmt(self, s):
        kind = type(s).__name__
        if kind == "SeqStmt":
            for part in s.seq:
                self.stmt(part)
        elif kind == "For":
            first = self.make(s.min)(self.env)
            for i in range(first, first + self.make(s.extent)(self.env)):
                self.env[s.loop_var] = i
                self.stmt(s.body)
        elif kind == "BufferStore":
            at = tuple(self.make(i)(self.env) for i in s.indices)
            stored = self.env[key(s.buffer)]
            try:
                stored[at] = self.make(s.value)(self.env)
            except (Undefined, KeyError):
                stored.pop(at, None)
        else:
            raise NotImplementedError(kind)


def floor_div(x, y):
    if y == 0:
        raise Undefined
    return x // y


def trunc_div(x, y):
    if isinstance(x, np.floating):
        return x / y
    if y == 0:
        raise Undefined
    q = abs(x) // abs(y)
    return q if (x < 0) == (y < 0) else -q


def remainder(x, y):
    if isinstance(x, np.floating):
        return np.fmod(x, y)
    return x - trunc_div(x, y) * y


def least(x, y):
    return x if x < y or x != x else y


def greatest(x, y):
    return x if x > y or x != x else y


COMPUTING = ("Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min",
             "Max")
ARITHMETIC = {
    "Add": lambda x, y: x + y,
    "Sub": lambda x, y: x - y,
    "Mul": lambda x, y: x * y,
    "Div": trunc_div,
    "Mod": remainder,
    "FloorDiv": floor_div,
    "FloorMod": lambda x, y: x - floor_div(x, y) * y,
    "Min": least,
    "Max": greatest,
    "EQ": lambda x, y: x == y,
    "NE": lambda x, y: x != y,
    "LT": lambda x, y: x < y,
    "LE": lambda x, y: x <= y,
    "GT": lambda x, y: x > y,
    "GE": lambda x, y: x >= y,
    "BitwiseAnd": lambda x, y: x & y,
    "BitwiseOr": lambda x, y: x | y,
    "BitwiseXor": lambda x, y: x ^ y,
}

CALLS = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "fabs": abs,
    "abs": abs,
    "round": np.rint,
    "nearbyint": np.rint,
}
