# SPDX-License-Identifier: Apache-2.0
"""Relay's expressions as TVM prints them, their types, walks over them, passes, and models
of relay.testing."""
import numpy as np
import tvm
from tvm import relay
from tvm.relay import ExprMutator, ExprVisitor
from tvm.relay.analysis import free_vars, post_order_visit

x = relay.var("x", shape=(1, 3, 8, 8))
w = relay.var("w")
conv = relay.nn.conv2d(x, w, strides=(2, 2), padding=1, channels=4, kernel_size=(3, 3))
print(conv)
norm = relay.nn.batch_norm(conv, *[relay.var(n) for n in ("gamma", "beta", "mean", "var")],
                           epsilon=2e-5, scale=False)[0]
body = relay.nn.relu(norm) * relay.const(0.5) + relay.const(np.ones((4, 1, 1), "float32"))
main = relay.Function(free_vars(body), body)
mod = tvm.IRModule.from_expr(main)
print(mod)
print([v.name_hint for v in main.params], main.body.op.name, main.body.args[0].op)
try:
    main.body.checked_type
except ValueError as e:
    print(e)
mod = relay.transform.InferType()(mod)
print(mod)
typed = mod["main"]
print(typed.checked_type)
print(typed.body.checked_type.shape, typed.body.checked_type.dtype, typed.ret_type)
print(isinstance(mod, tvm.IRModule), conv.attrs.strides, conv.attrs["padding"])
assert typed.body.checked_type == relay.TensorType((1, 4, 4, 4), "float32")

# Tuples, lets, ifs, functions.
t, c = relay.var("t", "float32"), relay.var("c", "bool")
parts = relay.split(relay.concatenate([x, x], axis=1), [2, 4], axis=1)
print(relay.Tuple([parts[0], relay.topk(x, 3)[1]]))
scope = relay.ScopeBuilder()
one = scope.let("one", t + relay.const(1.0))
with scope.if_scope(c):
    scope.ret(relay.exp(one) * relay.const(2, "float32"))
with scope.else_scope():
    scope.ret(one)
chosen = relay.Function([t, c], scope.get())
print(chosen)
shared = relay.exp(t)
both = relay.If(c, shared + shared, relay.negative(shared))
print(tvm.IRModule.from_expr(relay.Function([t, c], relay.multiply(both, both))))
called = tvm.IRModule()
called["twice"] = relay.Function([t], t + t)
called["main"] = relay.Function([t], relay.GlobalVar("twice")(t))
print(called)
print(called["main"].body.op)
inner = relay.Function([t], t * t)
print(relay.Function([x], inner(relay.sum(x)), attrs={"Primitive": 1}))
print(relay.var("x", shape=(2,)) + relay.var("x", shape=(2,)) + relay.const(2) *
      relay.const(True) + relay.const(7, "int64"))
print(relay.var("s", shape=(relay.Any(), 4)), relay.var("u"))

# Walks.
names = []


def note(node):
    if isinstance(node, relay.Call):
        names.append(node.op.name)


post_order_visit(main, note)
print(names)


class Counter(ExprVisitor):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def visit_call(self, call):
        self.calls += 1
        super().visit_call(call)


class Tripled(ExprMutator):
    def visit_constant(self, const):
        return relay.multiply(relay.const(3.0), const)


counter = Counter()
counter.visit(main)
print(counter.calls)


@relay.transform.function_pass(opt_level=1)
class Custom:
    def __init__(self, note):
        self.note = note

    def transform_function(self, func, mod, ctx):
        print(self.note, len(mod.get_global_vars()))
        return Tripled().visit(func)


custom = Custom("of one function:")
print(custom.info.name)
print(custom(called))
print(custom(tvm.IRModule.from_expr(relay.Function([t], t + relay.const(2.0)))))

# Models.
for model in (relay.testing.mlp.get_workload(1), relay.testing.dqn.get_workload(1),
              relay.testing.resnet.get_workload(num_layers=8, image_shape=(3, 28, 28))):
    mod, params = model
    text = mod.astext(show_meta_data=False).split("\n")
    print(len(text), text[-2], len(params))
print(params["conv0_weight"].shape, params["conv0_weight"].numpy()[0, 0, 0])
mod, params = relay.testing.mlp.get_workload(2)
lib = relay.build(mod, "llvm", params=params)
print(mod["main"].params[1].checked_type, len(lib.get_params()) > 0)

# Structures, and sizes that are not known.
n = tvm.te.size_var("n")
u, v = relay.var("u", shape=(n, 3)), relay.var("v", shape=(4, 3))
assert tvm.ir.structural_equal(relay.Function([u], relay.exp(u)),
                               relay.Function([t], relay.exp(t))) is False
other = relay.var("other", shape=(4, 3))
tvm.ir.assert_structural_equal(relay.Function([v], v + relay.const(1.0)),
                               relay.Function([other], other + relay.const(1.0)))
open_sizes = relay.testing.run_infer_type(relay.nn.dense(u, v))
print(open_sizes.checked_type, open_sizes.checked_type == relay.TensorType((n, 4)))


# What is called around passes.
@tvm.instrument.pass_instrument
class Told:
    def enter_pass_ctx(self):
        print("enter")

    def exit_pass_ctx(self):
        print("exit")

    def should_run(self, mod, info):
        return info.name != "EliminateCommonSubexpr"

    def run_before_pass(self, mod, info):
        print("before", info.name)

    def run_after_pass(self, mod, info):
        print("after", info.name)


passes = tvm.transform.Sequential([relay.transform.InferType(), tvm.transform.PrintIR(),
                                   relay.transform.EliminateCommonSubexpr(),
                                   relay.transform.FoldConstant()])
with tvm.transform.PassContext(opt_level=3, instruments=[Told()]):
    mod = passes(tvm.IRModule.from_expr(relay.Function([v], v + relay.const(1.0))))
print(mod)
timing = tvm.ir.instrument.PassTimingInstrument()
with tvm.transform.PassContext(instruments=[timing]):
    relay.transform.InferType()(mod)
    print(timing.render().startswith("InferType: "))
