#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN in every form, against numpy, and numpy against
onnxruntime where that supports the form.

    recurrent.py NAME

NAME is a function here; it makes models and checks each with several
targets."""
import sys

import helper

try:
    import numpy as np
    from answers_model import Known, Model
except ImportError as missing:
    helper.skip(str(missing))

ALL = ["c99", "gnu-c", "misra", "opencl-cpu", "cuda"]
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
DEFAULTS = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"],
            "RNN": ["Tanh"]}
# By name: the defaults of alpha and beta, and the function.
FUNCTIONS = {
    "Affine": ([1, 0], lambda x, a, b: a * x + b),
    "Elu": ([1], lambda x, a: np.where(x < 0, a * np.expm1(x), x)),
    "HardSigmoid": ([.2, .5], lambda x, a, b: np.clip(a * x + b, 0, 1)),
    "LeakyRelu": ([.01], lambda x, a: np.where(x < 0, a * x, x)),
    "Relu": ([], lambda x: np.maximum(x, 0)),
    "ScaledTanh": ([1, 1], lambda x, a, b: a * np.tanh(b * x)),
    "Sigmoid": ([], lambda x: 1 / (1 + np.exp(-x))),
    "Softplus": ([], lambda x: np.log1p(np.exp(x))),
    "Softsign": ([], lambda x: x / (1 + abs(x))),
    "Tanh": ([], np.tanh),
    "ThresholdedRelu": ([1], lambda x, a: np.where(x < a, 0, x)),
}
rng = np.random.default_rng(23)


def functions(op, directions, names, alphas, betas):
    """The activations of each direction; they use up the parameters in
    order."""
    alphas, betas = list(alphas), list(betas)

    def one(name):
        defaults, function = FUNCTIONS[name]
        given = [values.pop(0) if values else default
                 for values, default in zip((alphas, betas), defaults)]
        return lambda x: function(x, *given)
    made = [one(name) for name in names or DEFAULTS[op] * directions]
    count = len(DEFAULTS[op])
    return [made[i * count:(i + 1) * count] for i in range(directions)]


def steps(op, x, length, w, r, b, h, c, p, act, attrs):
    """The states of one sequence x[time, input], in the order of steps."""
    n, bound = len(h), attrs.get("clip", np.inf)
    wb, rb = b[:len(w)], b[len(w):]
    states = []

    def clip(e):
        return np.clip(e, -bound, bound)
    for t in range(length):
        part = np.split(w @ x[t] + wb, GATES[op])
        of_h = np.split(r @ h + rb, GATES[op])
        if op == "RNN":
            h = act[0](clip(part[0] + of_h[0]))
        elif op == "GRU":
            z = act[0](clip(part[0] + of_h[0]))
            reset = act[0](clip(part[1] + of_h[1]))
            if attrs.get("linear_before_reset"):
                inner = part[2] + reset * of_h[2]
            else:
                inner = part[2] + r[2 * n:] @ (reset * h) + rb[2 * n:]
            h = (1 - z) * act[1](clip(inner)) + z * h
        else:
            i, o, f, g = (a + b for a, b in zip(part, of_h))
            i = act[0](clip(i + p[:n] * c))
            f = act[0](clip(f + p[2 * n:] * c))
            if attrs.get("input_forget"):
                f = 1 - i
            c = f * c + i * act[1](clip(g))
            h = act[0](clip(o + p[n:2 * n] * c)) * act[2](c)
        states.append(h)
    return states, h, c


def results(op, x, w, r, b, lens, h0, c0, p, attrs):
    """Y, Y_h and Y_c with times first."""
    times, rows, _ = x.shape
    directions, _, n = r.shape
    acts = functions(op, directions, attrs.get("activations"),
                     attrs.get("activation_alpha", ()),
                     attrs.get("activation_beta", ()))
    y = np.zeros((times, directions, rows, n))
    last = np.zeros((2, directions, rows, n))
    for d in range(directions):
        back = d == 1 or attrs.get("direction") == "reverse"
        for k in range(rows):
            length = times if lens is None else int(lens[k])
            order = np.arange(length)[::-1] if back else np.arange(length)
            states, h, c = steps(op, x[order, k], length, w[d], r[d], b[d],
                                 h0[d, k], c0[d, k], p[d], acts[d], attrs)
            for at, state in zip(order, states):
                y[at, d, k] = state
            last[0, d, k], last[1, d, k] = h, c
    return y, last[0], last[1]


def check(op, targets, times=4, rows=2, size=3, hidden=5, lens=False,
          bias=True, first=False, peepholes=False, constant=True,
          outputs=(0, 1, 2), kind=np.float32, by_runtime=False, options=(),
          **attrs):
    both = attrs.get("direction") == "bidirectional"
    d, batch = 1 + both, attrs.get("layout", 0)

    def values(*shape):
        return rng.uniform(-1, 1, shape).astype(kind)
    x, w = values(times, rows, size), values(d, GATES[op] * hidden, size)
    r, b = values(d, GATES[op] * hidden, hidden), values(
        d, 2 * GATES[op] * hidden) * kind(bias)
    h0, c0 = (values(d, rows, hidden) * kind(first) for _ in range(2))
    p = values(d, 3 * hidden) * kind(peepholes)
    long = rng.permutation(np.arange(rows) % times + 1).astype(np.int32)
    want = results(op, *(v.astype(np.float64) for v in (x, w, r, b)),
                   long if lens else None,
                   *(v.astype(np.float64) for v in (h0, c0, p)), attrs)
    m = (Model if by_runtime else Known)(op.lower())

    def swapped(v):
        return np.swapaxes(v, 0, 1) if batch else v

    def weights(v):
        return m.constant(v, "w") if constant else m.input(m.fresh("w"), v)
    ins = [m.input("x", swapped(x)), weights(w), weights(r),
           weights(b) if bias else "",
           m.input("lens", long) if lens else "",
           m.input("h0", swapped(h0)) if first else ""]
    if op == "LSTM":
        ins += [m.input("c0", swapped(c0)) if first else "",
                weights(p) if peepholes else ""]
    if batch:
        want = (want[0].transpose(2, 0, 1, 3), swapped(want[1]),
                swapped(want[2]))
    outputs = [k for k in outputs if k < 2 + (op == "LSTM")]
    names = ["y%d" % k if k in outputs else "" for k in range(3)]
    while not names[-1]:
        names.pop()
    m.node(op, ins, names=names, hidden_size=hidden, **attrs)
    for k in outputs:
        m.output(names[k], want[k].astype(kind))
    if by_runtime:
        runtime = Model.reference(m)
        for name in m.outputs:
            error = abs(runtime[name] - m.outputs[name]).max()
            if not error < 1e-4:
                helper.fail("%s: onnxruntime's %s is off by %g" % (
                    op, name, error))
    rtol = {np.float16: 2e-2, np.float64: 1e-10}.get(kind, 1e-4)
    atol = {np.float16: 2e-2, np.float64: 1e-12}.get(kind, 1e-5)
    m.check(targets, "--rtol", str(rtol), "--atol", str(atol), *options)


def forms():
    """Directions, optional inputs, subsets of outputs."""
    for op in GATES:
        for direction in ["forward", "reverse", "bidirectional"]:
            check(op, ALL, direction=direction, by_runtime=True)
            check(op, ["gnu-c"], direction=direction, lens=True, first=True,
                  by_runtime=True, rows=3)
            check(op, ["c99"], direction=direction, layout=1, lens=True,
                  first=True)
        check(op, ["gnu-c"], bias=False, outputs=[0])
        check(op, ["gnu-c"], outputs=[1])
        check(op, ["c99"], outputs=[2] if op == "LSTM" else [0, 1],
              layout=1)
        check(op, ALL, constant=False, lens=True, first=True)
        check(op, ["gnu-c"], times=1, rows=1, size=1, hidden=1)


def attributes():
    """Peepholes, clip, input_forget, linear_before_reset."""
    both = "bidirectional"
    check("LSTM", ALL, peepholes=True, direction=both, by_runtime=True)
    check("LSTM", ["gnu-c"], clip=0.3, peepholes=True)
    check("LSTM", ["gnu-c"], input_forget=1, peepholes=True,
          by_runtime=True)
    for linear in range(2):
        check("GRU", ALL, linear_before_reset=linear, direction=both,
              by_runtime=True)
        check("GRU", ["gnu-c"], linear_before_reset=linear, clip=0.3)
        check("GRU", ["gnu-c"], linear_before_reset=linear, bias=False)
    check("RNN", ["gnu-c"], clip=0.3, by_runtime=True)


def activations():
    for name, (defaults, _) in FUNCTIONS.items():
        given = {"activation_" + key: [value] * 2 for key, value in
                 zip(("alpha", "beta"), (0.7, 0.4)[:len(defaults)])}
        check("RNN", ["gnu-c"], activations=[name])
        check("RNN", ["c99"], activations=["Tanh", name],
              direction="bidirectional", **given)
    names = ["HardSigmoid", "LeakyRelu", "ScaledTanh"]
    check("LSTM", ["gnu-c"], activations=names * 2,
          activation_alpha=[.3, .1, 1.2, .25, .2, 1.5],
          activation_beta=[.4, .9, .6, .8], direction="bidirectional",
          by_runtime=True)
    check("GRU", ["gnu-c"], activations=["HardSigmoid", "Softsign"])


def types():
    """float64 and float16; symbolic sizes; sizes of whole vectors."""
    for op in GATES:
        check(op, ["c99", "gnu-c"], kind=np.float64)
        check(op, ["c99", "gnu-c"], kind=np.float16)
        check(op, ["c99", "gnu-c", "c-openmp"], times=5, rows=6, size=16,
              hidden=48, lens=True)
        check(op, ["gnu-c", "misra"], hidden=40, rows=1)
        check(op, ["gnu-c"], options=["--fp", "strict"])


CASES = [forms, attributes, activations, types]

for case in CASES:
    if sys.argv[1:] == [case.__name__]:
        case()
        break
else:
    helper.fail("recurrent.py: one of " +
                ", ".join(case.__name__ for case in CASES))
