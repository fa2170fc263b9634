# SPDX-License-Identifier: Apache-2.0
"""tvm.relay: types of expressions, and modules of functions. Both come from the reader of
Relay's text: a text with all expressions as results gives their types, the text of a
module its model."""
import tvm
from tvm import relay
from tvm.relay import (Call, Constant, Expr, FuncType, Function, GlobalVar, If, Let, Op,
                       TensorType, Tuple, TupleGetItem, TupleType, Var, _Bound, _Printer,
                       _fields, _is_number, _number, _number_text, _post_order, _quoted)


# -- types

def _results(call):
    """The number of items of an operator's result; 0: it is no tuple."""
    name, attrs = call.op.name, call.attrs
    if name in ("nn.batch_norm", "nn.dropout"):
        return 3 if name == "nn.batch_norm" else 2
    if name == "topk":
        return 2 if attrs is None or attrs["ret_type"] == "both" else 0
    if name == "split" and attrs is not None:
        parts = attrs["indices_or_sections"]
        return parts if isinstance(parts, int) else len(parts) + 1
    return 0


def _type_of(constant):
    return TensorType(constant.data.shape, str(constant.data.dtype))


class _Types:
    """Gives types to expressions by texts of one function, whose results are the results
    of all calls of operators. One text is enough, unless the type of a weight follows
    from the type of what it is multiplied with: then the expressions before are read
    first, and are parameters of the next text."""

    def __init__(self, function_of):
        self.function_of = function_of
        self.start()

    def start(self):
        """Begins a text."""
        self.token = _number()
        self.params, self.lines, self.outputs, self.places = [], [], [], []
        self.names, self.arrays = [], []
        self.done, self.taken = [], []

    def param(self, name, kind):
        text = "%" + _quoted(name)
        self.params.append("%s: %s" % (text, kind))
        return text

    def define(self, e, text):
        """A line that gives the text a name."""
        name = "%" + str(len(self.places))
        self.places.append(e._at)
        self.lines.append("  %s = %s;" % (name, text))
        return name

    def known(self, kind, name, e):
        """The name of a value whose type is known: of parameters."""
        if isinstance(kind, TupleType):
            return self.define(e, "(%s,)" % ", ".join(
                [self.known(one, name, e) for one in kind.fields]))
        if name in self.taken or "#" in name:
            name = "%s#%d" % (name, len(self.params))
        self.taken.append(name)
        return self.param(name, kind)

    def constant(self, e):
        if _is_number(e):
            return _number_text(e)
        self.names.append("array#%d" % len(self.names))
        self.arrays.append(e.data)
        return self.param(self.names[-1], _type_of(e))

    def flat(self, e):
        """The name of an expression in the text."""
        if getattr(e, "_flat_in", 0) != self.token:
            e._flat_in = self.token
            if isinstance(e, Constant):
                e._flat = self.constant(e)
            else:
                if e._type is None and not isinstance(e, Var):
                    raise ValueError("an expression is a part of itself, or a function calls "
                                     "itself; recursion is not supported")
                if e._type is None:
                    relay._fail(e._at, "the type of %%%s is not known; relay.var takes a "
                                "shape" % e.name_hint)
                e._flat = self.known(e._type, getattr(e, "name_hint", "value#"), e)
        return e._flat

    def called(self, e):
        """The function that is called."""
        fn = e.op if isinstance(e.op, Function) else self.function_of(e.op)
        if not isinstance(fn, Function) or getattr(fn, "_done_in", 0) != self.run:
            raise ValueError("a function that calls itself is not supported")
        return fn

    def text_of(self, e):
        """The text of an expression whose parts have names."""
        if isinstance(e, Call):
            args = [self.flat(one) for one in e.args] + _fields(e.attrs)
            return "%s(%s)" % (e.op.name, ", ".join(args))
        if isinstance(e, Tuple):
            return "(%s,)" % ", ".join([self.flat(one) for one in e.fields])
        if isinstance(e, TupleGetItem):
            return "%s.%d" % (self.flat(e.tuple_value), e.index)
        return "if (%s) { %s } else { %s }" % tuple([self.flat(one) for one in e._parts()])

    def alias(self, e, of):
        """The expression has the value of another one."""
        e._flat, e._flat_in = self.flat(of), self.token

    def add(self, e):
        """Adds an expression, whose parts were added before."""
        if isinstance(e, Call) and isinstance(e.op, Op):
            self.deduce(e)
            e._n = _results(e)
        if isinstance(e, _Bound):
            self.alias(e.let.var, e.let.value)
        elif isinstance(e, Let):
            self.alias(e, e.body)
        elif isinstance(e, Call) and not isinstance(e.op, Op):
            self.alias(e, self.called(e).body)
        elif isinstance(e, (Call, Tuple, TupleGetItem, If)):
            e._flat = self.define(e, self.text_of(e))
            e._flat_in = self.token
            if isinstance(e, Call):
                self.outputs.extend(["%s.%d" % (e._flat, i) for i in range(e._n)]
                                    if e._n else [e._flat])
        self.done.append(e)
        e._done_in = self.run

    def deduce(self, call):
        """Gives types to the weights of a call that have none."""
        weights = [one for one in call.args if isinstance(one, Var) and one._type is None and
                   getattr(one, "_flat_in", 0) != self.token]
        if weights:
            if call.args[0] not in weights and call.args[0]._type is None:
                self.finish()
            relay._deduce(call)

    def kind(self, e):
        """The type of an expression that is no call of an operator, from its parts."""
        if isinstance(e, Call):
            return self.called(e).body._type
        if isinstance(e, Tuple):
            return TupleType([one._type for one in e.fields])
        if isinstance(e, TupleGetItem):
            return e.tuple_value._type.fields[e.index]
        if isinstance(e, If):
            return e.true_branch._type
        if isinstance(e, Let):
            return e.body._type
        if isinstance(e, Function):
            e.ret_type = e.body._type
            return FuncType([one._type for one in e.params], e.body._type)
        return e._type

    def finish(self):
        """Reads the text; gives types to all expressions in it."""
        found, at = [], 0
        if self.outputs:
            text = "def @main(%s) {\n%s\n  (%s,)\n}\n" % (
                ", ".join(self.params), "\n".join(self.lines), ", ".join(self.outputs))
            found = [TensorType(shape, dtype) for shape, dtype in relay._types(
                text, self.names, self.arrays, self.places)]
        for e in self.done:
            if isinstance(e, Call) and isinstance(e.op, Op):
                n = e._n if e._n else 1
                e._type = TupleType(found[at:at + n]) if e._n else found[at]
                at += n
            elif isinstance(e, _Bound):
                e.let.var._type = e.let.value._type
            elif not isinstance(e, (Var, Op, GlobalVar)):
                e._type = self.kind(e)
        self.start()

    def infer(self, roots):
        """Gives types to all expressions below the roots."""
        self.run = _number()
        order = _post_order(roots, lambda variable: [self.function_of(variable)])
        for e in order:
            for one in e.params if isinstance(e, Function) else [e]:
                if isinstance(one, Var) and one.type_annotation is not None:
                    one._type = one.type_annotation
            if isinstance(e, Constant):
                e._type = _type_of(e)
        for e in order:
            self.add(e)
        self.finish()


def _infer(roots, function_of):
    """Gives types to all expressions below the roots that have none. function_of: gives
    the function that a GlobalVar names."""
    _Types(function_of).infer([one for one in roots if one._type is None])


# -- modules

def _no_function(variable):
    raise ValueError("@%s is a function of a module, and there is none here" %
                     variable.name_hint)


def _needs_of(fn, function_of, busy):
    """Finds the arrays that a function uses, with those that it calls; names them."""
    if getattr(fn, "_needs_in", 0) == busy:
        return fn._needs
    fn._needs_in, fn._needs = busy, []
    token = _number()
    for e in _post_order([fn.body]):
        more = []
        if isinstance(e, Constant) and not _is_number(e):
            more = [e]
        elif isinstance(e, Function):
            more = _needs_of(e, function_of, busy)
        elif isinstance(e, Call) and isinstance(e.op, GlobalVar):
            more = _needs_of(function_of(e.op), function_of, busy)
            e.op._needs = more
        for one in more:
            if getattr(one, "_needed", 0) != token:
                one._needed = token
                fn._needs.append(one)
    return fn._needs


class IRModule:
    """Functions of relay by their names, in the order in which they came."""

    def __init__(self, functions=None, type_definitions=None):
        self._names, self._vars, self._functions = [], [], []
        self._model = None
        for key, fn in ({} if functions is None else functions).items():
            self[key] = fn

    @staticmethod
    def from_expr(expr, functions=None, type_defs=None):
        mod = IRModule(functions)
        mod["main"] = expr
        return mod

    def _at(self, key):
        name = key.name_hint if isinstance(key, GlobalVar) else key
        if name not in self._names:
            raise ValueError("the module has no function %s; it has %s" % (
                name, ", ".join(self._names) if self._names else "none"))
        return self._names.index(name)

    def _function(self, variable):
        return self._functions[self._at(variable)]

    def __getitem__(self, key):
        return self._functions[self._at(key)]

    def __setitem__(self, key, value):
        name = key.name_hint if isinstance(key, GlobalVar) else key
        if not isinstance(value, Expr):
            raise TypeError("a module of relay has functions of relay, not %s" %
                            type(value).__name__)
        if not isinstance(value, Function):
            value = Function(relay.analysis.free_vars(value), value)
        free = relay.analysis.free_vars(value)
        if free:
            raise ValueError("the function %s has free variables: %s; make them parameters" % (
                name, ", ".join([one.name_hint for one in free])))
        self._model = None
        if name in self._names:
            self._functions[self._names.index(name)] = value
            for one in self._functions:
                # a function that calls the earlier one may have another type now
                one._type = None
            return
        self._names.append(name)
        self._vars.append(key if isinstance(key, GlobalVar) else GlobalVar(name))
        self._functions.append(value)

    def __contains__(self, key):
        return (key.name_hint if isinstance(key, GlobalVar) else key) in self._names

    @property
    def functions(self):
        return dict(zip(self._vars, self._functions))

    def functions_items(self):
        return list(zip(self._vars, self._functions))

    def get_global_vars(self):
        return list(self._vars)

    def get_global_var(self, name):
        return self._vars[self._at(name)]

    def update(self, other):
        for variable, fn in zip(other._vars, other._functions):
            self[variable] = fn

    def update_func(self, variable, fn):
        self[variable] = fn

    def _infer_types(self):
        """Finds all types; the expressions keep them."""
        _infer(self._functions, self._function)
        return self

    def _graph(self):
        """The model."""
        if self._model is not None:
            return self._model
        if "main" not in self._names:
            raise ValueError("the module has no function main")
        self._infer_types()
        busy, arrays = _number(), []
        for fn in self._functions:
            arrays += _needs_of(fn, self._function, busy)
        printer = _Printer(False, True)
        count = 0
        for one in arrays:
            if getattr(one, "_array_in", 0) != busy:
                one._array_in, one._array = busy, "%%\"#%d\"" % count
                count += 1
        main = self._function("main")
        done, parts = [], []
        for e in _post_order([main], lambda variable: [self._function(variable)]):
            if isinstance(e, Call) and isinstance(e.op, GlobalVar):
                name = e.op.name_hint
                if name not in done:
                    done.append(name)
                    parts.append(printer.function("def @" + name, self._function(name)))
        parts.append(printer.function("def @main", main))
        needs = main._needs
        self._model = relay._model("\n".join(parts), [one._array[2:-1] for one in needs],
                                   [one.data for one in needs])
        return self._model

    def astext(self, show_meta_data=True, annotate=None):
        return "#[version = \"0.0.5\"]\n" + relay._module_text(
            self._names, self._functions, show_meta_data)

    def script(self, *args, **options):
        return str(self)

    def show(self, *args, **options):
        print(str(self))

    def __str__(self):
        return relay._module_text(self._names, self._functions, False)

    def __repr__(self):
        return str(self)


def _module_of(expr):
    """For tvm.IRModule.from_expr."""
    return IRModule.from_expr(expr)


def _module_with(functions=None):
    """For tvm.IRModule."""
    return IRModule(functions)


def _names_of(mod):
    return mod.get_global_vars()


def _graph(value):
    """The model of a module, a function or an expression."""
    if isinstance(value, IRModule):
        return value._graph()
    if isinstance(value, Expr):
        return IRModule.from_expr(value)._graph()
    raise TypeError("a module of relay is needed, not %s" % type(value).__name__)


def _infer_module(mod):
    return mod._infer_types()


def _map_functions(mod, context, transform):
    """A module of what a pass over functions gives for each."""
    new = IRModule()
    for variable, fn in mod.functions_items():
        new[variable] = transform(fn, mod, context)
    return new


def _print_ir(header):
    """The function of the pass PrintIR."""
    def run(mod, context):
        print("PrintIR(%s):\n%s" % (header, mod))
        return mod

    return run
