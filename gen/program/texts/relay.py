# SPDX-License-Identifier: Apache-2.0
"""tvm.relay: executors, which run a model when they are called with its inputs."""
import tvm
from tvm import relay
from tvm.contrib import graph_executor


class _Executor:
    """Builds models, and runs them. mod: the module whose main evaluate() takes without an
    expression; an expression may call its other functions."""

    def __init__(self, mod, device, target, params):
        self._mod, self._device, self._target, self._params = mod, device, target, params

    def _module_of(self, expr):
        if expr is None:
            if self._mod is None:
                raise ValueError("create_executor() needs a module, or evaluate() a function")
            return self._mod
        mod = relay.IRModule()
        if isinstance(self._mod, relay.IRModule):
            mod.update(self._mod)
        mod["main"] = expr
        return mod

    def evaluate(self, expr=None, binds=None):
        """A function of arrays; of an expression that is no function, its value."""
        if binds is not None:
            expr = relay.bind(expr, binds)
        lib = relay.build(self._module_of(expr), target=self._target, params=self._params)
        model = graph_executor.GraphModule(lib["default"](self._device))

        def run(*inputs, **named):
            for i, one in enumerate(inputs):
                model.set_input(i, one)
            for name, one in named.items():
                model.set_input(name, one)
            model.run()
            outputs = [model.get_output(i) for i in range(model.get_num_outputs())]
            return outputs[0] if len(outputs) == 1 else outputs

        return run if expr is None or isinstance(expr, relay.Function) else run()


def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
    if kind not in ("debug", "graph", "vm", "aot"):
        raise RuntimeError("unknown execution strategy: %s" % kind)
    return _Executor(mod, tvm.cpu(0) if device is None else device, target, params)
