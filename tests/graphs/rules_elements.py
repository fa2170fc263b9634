# SPDX-License-Identifier: Apache-2.0
"""Rules for operators that work element by element."""
import values
from large import ROW, case

UNARY = """Abs Neg Sign Floor Ceil Round Sqrt Reciprocal Exp Log Sin Cos Tan
    Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Erf IsNaN Not BitwiseNot
    Identity Relu HardSwish Sigmoid Softplus Softsign Mish""".split()
BINARY = """Add Sub Mul Div Pow And Or Xor BitwiseAnd BitwiseOr BitwiseXor
    Equal Greater GreaterOrEqual Less LessOrEqual""".split()


def unary(op):
    def rule(g):
        g.node(op, [g.data(g.types(op))])
    return rule


def numbers(op, **ranges):
    """A rule for an operator with float attributes, each of them at times
    absent. `ranges` gives the least and largest value of each."""
    def rule(g):
        x = g.data(g.types(op))
        g.node(op, [x], **{
            name: round(float(g.rng.uniform(low, high)), 2)
            for name, (low, high) in ranges.items() if g.chance(0.7)})
    return rule


def is_inf(g):
    x = g.data(g.types("IsInf"), profile="special")
    g.node("IsInf", [x], detect_negative=g.number(0, 1),
           detect_positive=g.number(0, 1))


def gelu(g):
    g.node("Gelu", [g.data(g.types("Gelu"))],
           approximate=g.choice(["none", "tanh"]))


def clip(g):
    x = g.data(g.types("Clip"))
    kind = g.dtype(x)
    bounds = [g.exact(kind, [], "plain") if g.chance(0.7) else None
              for _ in range(2)]
    g.node("Clip", [x] + bounds)


def cast(g):
    x = g.data(g.types("Cast"))
    to = g.type(values.CODES)
    more = {"saturate": 0} if "float8" in to and g.chance(0.3) else {}
    g.node("Cast", [x], to=values.CODES[to], **more)


def bit_cast(g):
    x = g.data(g.types("BitCast"))
    bits = g.value(x).dtype.itemsize * 8
    to = g.choice([name for name in values.CODES if name.endswith(str(bits))
                   and name.startswith(("int", "uint"))])
    g.node("BitCast", [x], to=values.CODES[to])


def cast_like(g):
    x = g.data(g.types("CastLike"))
    g.node("CastLike", [x, g.data(list(values.CODES))])


def dropout(g):
    x = g.data(g.types("Dropout"))
    inputs = [x]
    if g.chance():
        inputs.append(g.constant(0.4, values.DTYPES["float32"]))
        if g.chance():
            inputs.append(g.constant(False, bool))
    g.node("Dropout", inputs, g.number(1, 2))


def certain(g):
    """Chances of 0 and 1, which leave nothing to chance; tirc makes its random
    numbers nevertheless."""
    x = g.data(["float32", "int32"])
    chance = g.node("Cast", [g.node("Cast", [x], to=values.CODES["bool"])],
                    to=values.CODES["float32"])
    g.node("Bernoulli", [chance])


def short_input(g):
    """An input of fewer than 8 bits, of which kernels read the low bits."""
    x = g.fresh(g.choice(values.SHORT), g.shape(), constant=False)
    g.node("Cast", [x], to=values.CODES[g.choice(["int32", "float32"])])


def prelu(g):
    x = g.data(g.types("PRelu"))
    shape = g.value(x).shape
    start = g.number(0, len(shape))
    slope = [1 if g.chance(0.3) else n for n in shape[start:]]
    g.node("PRelu", [x, g.exact(g.dtype(x), slope)])


def binary(op):
    def rule(g):
        x = g.data(g.types(op))
        inputs = [x, g.partner(x)]
        if g.chance():
            inputs.reverse()
        g.node(op, inputs)
    return rule


def power(g):
    x = g.data(g.types("Pow"), profile=g.choice(["positive", None]))
    g.node("Pow", [x, g.partner(x, g.types("Pow", 1)
                                if g.chance(0.3) else None)])


def remainder(g):
    x = g.data(g.types("Mod"))
    fmod = 1 if values.is_float(g.value(x)) else g.number(0, 1)
    g.node("Mod", [x, g.partner(x)], fmod=fmod)


def shift(g):
    x = g.data(g.types("BitShift"))
    y = g.partner(x)
    g.node("BitShift", [x, y], direction=g.choice(["LEFT", "RIGHT"]))


def variadic(op):
    def rule(g):
        x = g.data(g.types(op))
        inputs = [x] + [g.partner(x) for _ in range(g.number(0, 3))]
        g.rng.shuffle(inputs)
        g.node(op, [str(name) for name in inputs])
    return rule


def where(g):
    x = g.data(g.types("Where", 1))
    condition = g.partner(x, ["bool"])
    inputs = [condition, x, g.partner(x)]
    if g.chance():
        inputs = [condition, inputs[2], x]
    g.node("Where", inputs)


RULES = {op: unary(op) for op in UNARY}
RULES.update({op: binary(op) for op in BINARY})
RULES.update({op: variadic(op) for op in ["Min", "Max", "Sum", "Mean"]})
RULES.update({
    "LeakyRelu": numbers("LeakyRelu", alpha=(-0.5, 1.5)),
    "Elu": numbers("Elu", alpha=(0.2, 2)),
    "Selu": numbers("Selu", alpha=(0.5, 2), gamma=(0.5, 2)),
    "Celu": numbers("Celu", alpha=(0.3, 2)),
    "ThresholdedRelu": numbers("ThresholdedRelu", alpha=(-1, 1)),
    "HardSigmoid": numbers("HardSigmoid", alpha=(0.1, 1), beta=(-1, 1)),
    "Shrink": numbers("Shrink", bias=(-1, 1), lambd=(0, 1)),
    "Swish": numbers("Swish", alpha=(0.5, 2)),
    "IsInf": is_inf, "Gelu": gelu, "Clip": clip, "Cast": cast,
    "BitCast": bit_cast, "CastLike": cast_like, "Dropout": dropout, "PRelu": prelu, "Pow": power,
    "Mod": remainder, "BitShift": shift, "Where": where})

# One node of the size that models have, for tests/ops/work.py.
LARGE = {
    "Dropout": case([ROW]),
}
