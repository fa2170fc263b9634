# SPDX-License-Identifier: Apache-2.0
"""tvm.relay: executors, which run a model when they are called with its inputs."""
import tvm
from tvm import relay
from tvm.contrib import graph_executor


class _Executor:
    """A model of relay.build(), ready to run."""

    def __init__(self, mod, device, target, params):
        lib = relay.build(mod, target=target, params=params)
        self._model = graph_executor.GraphModule(lib["default"](device))

    def evaluate(self, expr=None):
        model = self._model

        def run(*inputs, **named):
            for i, one in enumerate(inputs):
                model.set_input(i, one)
            for name, one in named.items():
                model.set_input(name, one)
            model.run()
            outputs = [model.get_output(i) for i in range(model.get_num_outputs())]
            return outputs[0] if len(outputs) == 1 else outputs

        return run


def create_executor(kind="debug", mod=None, device=None, target="llvm", params=None):
    if kind not in ("debug", "graph", "vm", "aot"):
        raise RuntimeError("unknown execution strategy: %s" % kind)
    if mod is None:
        raise ValueError("create_executor() needs a module")
    return _Executor(mod, tvm.cpu(0) if device is None else device, target, params)
