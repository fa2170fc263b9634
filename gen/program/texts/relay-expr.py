# SPDX-License-Identifier: Apache-2.0
"""tvm.relay: expressions. They are shared, as in TVM: an expression that two others use
is one object, printed and computed once. relay-print.py prints them, relay-types.py
finds their types, relay-module.py makes modules of them.

A walk marks what it has seen with a number of its own, since a dict of objects would
take linear time for each look-up."""
import numpy as np
import tvm
from tvm import relay

_numbers = [0]


def _number():
    """A number that no walk and no expression had before."""
    _numbers[0] += 1
    return _numbers[0]


class Any:
    """A size that is not known before the run."""

    def __str__(self):
        return "?"

    def __repr__(self):
        return "?"


# -- types

class Type:
    def __repr__(self):
        return str(self)

    def __eq__(self, other):
        return isinstance(other, Type) and str(self) == str(other)

    def __ne__(self, other):
        return not self == other


def _size(value):
    if isinstance(value, Any):
        return value
    if isinstance(value, (int, np.int32, np.int64)):
        if value >= -1:
            return Any() if value == -1 else int(value)
        raise ValueError("a size is from 0 on, or relay.Any(), not %d" % value)
    if isinstance(value, (str, list, tuple, dict, float)) or value is None:
        raise TypeError("a size is an int or relay.Any()")
    try:
        return int(value)
    except Exception:
        return Any()  # an expression of variables


class TensorType(Type):
    def __init__(self, shape, dtype="float32"):
        if isinstance(shape, int):
            shape = [shape]
        self.shape = [_size(one) for one in shape]
        self.dtype = relay._dtype(dtype)

    @property
    def concrete_shape(self):
        return tuple(self.shape)

    def __str__(self):
        if not self.shape:
            return self.dtype
        return "Tensor[(%s), %s]" % (", ".join([str(one) for one in self.shape]), self.dtype)


class TupleType(Type):
    def __init__(self, fields):
        self.fields = list(fields)

    def __str__(self):
        return "(%s%s)" % (", ".join([str(one) for one in self.fields]),
                           "," if len(self.fields) == 1 else "")


class FuncType(Type):
    def __init__(self, arg_types, ret_type, type_params=None, type_constraints=None):
        self.arg_types = list(arg_types)
        self.ret_type = ret_type

    def __str__(self):
        return "fn (%s) -> %s" % (", ".join([str(one) for one in self.arg_types]),
                                  self.ret_type)


def scalar_type(dtype):
    return TensorType([], dtype)


def _dtype(value):
    """The name of a type of elements."""
    if isinstance(value, str):
        return value
    try:
        return str(np.zeros([], value).dtype)
    except TypeError:
        raise TypeError("a type of elements is expected, such as \"float32\"")


# -- expressions

class Expr:
    """An expression. _at: the place of the call that made it; _type: its type, None
    before InferType. Other members belong to one walk each."""

    def __init__(self):
        self._at = relay._here()
        self._type = None
        self._seen = self._open = 0
        self._id = _number()
        self.span = None

    @property
    def checked_type(self):
        if self._type is None:
            raise ValueError("the type checker has not populated the checked_type of this "
                             "expression; run relay.transform.InferType() before")
        return self._type

    def _parts(self):
        """The expressions that this one is made of, in the order in which they are
        printed."""
        return []

    def __add__(self, other):
        return relay.add(self, _operand(other))

    def __radd__(self, other):
        return relay.add(_operand(other), self)

    def __sub__(self, other):
        return relay.subtract(self, _operand(other))

    def __rsub__(self, other):
        return relay.subtract(_operand(other), self)

    def __mul__(self, other):
        return relay.multiply(self, _operand(other))

    def __rmul__(self, other):
        return relay.multiply(_operand(other), self)

    def __truediv__(self, other):
        return relay.divide(self, _operand(other))

    def __rtruediv__(self, other):
        return relay.divide(_operand(other), self)

    def __lt__(self, other):
        return relay.less(self, _operand(other))

    def __gt__(self, other):
        return relay.greater(self, _operand(other))

    def __le__(self, other):
        return relay.less_equal(self, _operand(other))

    def __ge__(self, other):
        return relay.greater_equal(self, _operand(other))

    def __neg__(self):
        return relay.negative(self)

    def astype(self, dtype):
        return relay.cast(self, dtype)

    def __call__(self, *args):
        return Call(self, args)

    def same_as(self, other):
        return isinstance(other, Expr) and self._id == other._id

    def astext(self, show_meta_data=True, annotate=None):
        return "#[version = \"0.0.5\"]\n" + relay._text_of(self, show_meta_data)

    def script(self, *args, **options):
        return str(self)

    def show(self, *args, **options):
        print(str(self))

    def __str__(self):
        return relay._text_of(self, False)

    def __repr__(self):
        return relay._text_of(self, False)


def _operand(value):
    if isinstance(value, (Expr, TupleWrapper)):
        return value
    raise TypeError("convert \"%s\" with `const` first" % str(value))


def _expr(value, what):
    """The expression that an argument is."""
    if isinstance(value, TupleWrapper):
        return value.tuple_value
    if isinstance(value, Expr):
        return value
    raise TypeError("%s is an expression of relay, not %s; use relay.var or relay.const" % (
        what, type(value).__name__))


class Op(Expr):
    """An operator, which calls name."""

    def __init__(self, name):
        Expr.__init__(self)
        self.name = name


class GlobalVar(Expr):
    """The name of a function of a module."""

    def __init__(self, name_hint, type_annot=None):
        Expr.__init__(self)
        self.name_hint = name_hint


class Var(Expr):
    def __init__(self, name_hint, type_annotation=None):
        Expr.__init__(self)
        self.name_hint = name_hint
        self.type_annotation = type_annotation

    @property
    def vid(self):
        return self


def var(name_hint, type_annotation=None, shape=None, dtype="float32", span=None):
    if not isinstance(name_hint, str):
        raise TypeError("the name of a variable is a str")
    if type_annotation is not None and shape is not None:
        raise ValueError("Can only specify either type_annotation or shape.")
    if shape is not None:
        type_annotation = TensorType(shape, dtype)
    elif isinstance(type_annotation, str):
        type_annotation = TensorType([], type_annotation)
    if type_annotation is not None and not isinstance(type_annotation, Type):
        raise TypeError("a type is expected, such as relay.TensorType((1, 3), \"float32\")")
    return Var(name_hint, type_annotation)


class Constant(Expr):
    """data: an array of TVM."""

    def __init__(self, data):
        Expr.__init__(self)
        if not isinstance(data, tvm.nd.NDArray):
            raise TypeError("relay.Constant takes an array of TVM; relay.const takes others")
        self.data = data


def const(value, dtype=None, span=None):
    if isinstance(value, tvm.nd.NDArray):
        return Constant(value)
    if isinstance(value, np.ndarray):
        if dtype is not None:
            value = value.astype(_dtype(dtype))
    elif isinstance(value, (bool, int, float, list, np.bool_, np.int32, np.int64, np.float32,
                            np.float64)):
        value = np.array(value, dtype=None if dtype is None else _dtype(dtype))
        if dtype is None and str(value.dtype) == "float64":
            value = value.astype("float32")
        if dtype is None and str(value.dtype) == "int64":
            value = value.astype("int32")
    else:
        raise ValueError("value has to be scalar or NDArray")
    return Constant(tvm.nd.array(value))


class Tuple(Expr):
    def __init__(self, fields, span=None):
        Expr.__init__(self)
        self.fields = [_expr(one, "a field of a tuple") for one in fields]

    def _parts(self):
        return self.fields

    def __len__(self):
        return len(self.fields)

    def __getitem__(self, index):
        return self.fields[index]


class TupleGetItem(Expr):
    def __init__(self, tuple_value, index, span=None):
        Expr.__init__(self)
        self.tuple_value = _expr(tuple_value, "the tuple of an item")
        self.index = int(index)

    def _parts(self):
        return [self.tuple_value]


class TupleWrapper:
    """A tuple of a known number of items."""

    def __init__(self, tuple_value, size):
        self.tuple_value = tuple_value
        self.size = size

    def astuple(self):
        return self.tuple_value

    def astext(self, show_meta_data=True):
        return self.tuple_value.astext(show_meta_data)

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if isinstance(index, int) and not -self.size <= index < self.size:
            raise IndexError("Tuple index out of range")
        return TupleGetItem(self.tuple_value, index % self.size)

    def __iter__(self):
        return iter([TupleGetItem(self.tuple_value, i) for i in range(self.size)])


class _Attrs:
    """The attributes of a call: a list of triples of a name, a value, and the text of
    the default, "!" if there is none."""

    def __init__(self, fields):
        self._fields = fields
        for name, value, _ in fields:
            setattr(self, name, value)

    def keys(self):
        return [name for name, _, _ in self._fields]

    def __getitem__(self, key):
        for name, value, _ in self._fields:
            if name == key:
                return value
        raise AttributeError("the call has no attribute %s" % key)

    def get_str(self, key):
        return self[key]

    def get_int(self, key):
        return int(self[key])

    def get_int_tuple(self, key):
        return tuple(self[key])


class Call(Expr):
    def __init__(self, op, args, attrs=None, type_args=None, span=None):
        Expr.__init__(self)
        self.op = _expr(op, "what is called")
        self.args = [_expr(one, "argument %d of %s" % (i + 1, getattr(op, "name", "a call")))
                     for i, one in enumerate(args)]
        self.attrs = attrs
        self.type_args = []

    def _parts(self):
        if isinstance(self.op, (Op, GlobalVar)):
            return self.args
        return self.args + [self.op]


class _Bound(Expr):
    """Where a let gives its value to its variable: a walk meets it between the value and
    the body."""

    def __init__(self, let):
        Expr.__init__(self)
        self.let = let


class Let(Expr):
    def __init__(self, variable, value, body, span=None):
        Expr.__init__(self)
        if not isinstance(variable, Var):
            raise TypeError("relay.Let takes a variable, a value and a body")
        self.var = variable
        self.value = _expr(value, "the value of a let")
        self.body = _expr(body, "the body of a let")
        self._bound = _Bound(self)

    def _parts(self):
        return [self.value, self._bound, self.body]


class If(Expr):
    def __init__(self, cond, true_branch, false_branch, span=None):
        Expr.__init__(self)
        self.cond = _expr(cond, "the condition of an if")
        self.true_branch = _expr(true_branch, "a branch of an if")
        self.false_branch = _expr(false_branch, "a branch of an if")

    def _parts(self):
        return [self.cond, self.true_branch, self.false_branch]


class Function(Expr):
    """attrs: a dict."""

    def __init__(self, params, body, ret_type=None, type_params=None, attrs=None, span=None):
        Expr.__init__(self)
        self.params = list(params)
        for one in self.params:
            if not isinstance(one, Var):
                raise TypeError("a parameter of a function is a variable, not %s" %
                                type(one).__name__)
        self.body = _expr(body, "the body of a function")
        self.ret_type = ret_type
        self.type_params = []
        self.attrs = {} if attrs is None else attrs

    def _parts(self):
        return [self.body]

    def with_attr(self, key, value=None):
        attrs = dict(self.attrs)
        attrs.update(key if isinstance(key, dict) else {key: value})
        return Function(self.params, self.body, self.ret_type, None, attrs)


class ScopeBuilder:
    """Lets, ifs and a result, in the order in which a program writes them."""

    def __init__(self):
        self._lets = [[]]
        self._results = [None]
        self._branches = []

    def let(self, variable, value):
        if isinstance(variable, str):
            variable = Var(variable)
        value = _expr(value, "the value of a let")
        self._lets[-1].append((variable, value))
        return variable

    def if_scope(self, cond):
        return _Branch(self, cond)

    def else_scope(self):
        if not self._branches:
            raise RuntimeError("else_scope must follow if_scope")
        return _Branch(self, None)

    def ret(self, value):
        if self._results[-1] is not None:
            raise RuntimeError("ret already called, a scope can only have one return value")
        self._results[-1] = _expr(value, "a result")

    def _pop(self):
        lets, value = self._lets.pop(), self._results.pop()
        if value is None:
            raise RuntimeError("no return value set in the scope")
        for variable, one in reversed(lets):
            value = Let(variable, one, value)
        return value

    def get(self):
        if len(self._lets) != 1:
            raise RuntimeError("can only call get at the outmost scope")
        return self._pop()


class _Branch:
    """The scope of a branch of an if; cond is None for the branch of the else."""

    def __init__(self, builder, cond):
        self._builder = builder
        self._cond = cond

    def __enter__(self):
        self._builder._lets.append([])
        self._builder._results.append(None)
        return self

    def __exit__(self, *error):
        of = self._builder
        value = of._pop()
        if self._cond is not None:
            of._branches.append((self._cond, value))
            return
        cond, first = of._branches.pop()
        of.ret(If(cond, first, value))


# -- walks

def _post_order(roots, into=None):
    """All expressions below the roots, each once, behind those that it is made of. Of a
    call of a GlobalVar, also what into(variable) gives. Functions as values are
    entered only if `into` is given."""
    token = _number()
    order, stack = [], list(reversed(roots))
    while stack:
        e = stack.pop()
        if e._seen == token:
            continue
        if e._open == token:
            e._seen = token
            order.append(e)
            continue
        e._open = token
        stack.append(e)
        parts = [] if into is None and isinstance(e, Function) else e._parts()
        if into is not None and isinstance(e, Call) and isinstance(e.op, GlobalVar):
            parts = parts + into(e.op)
        for one in reversed(parts):
            if one._seen != token:
                stack.append(one)
    return order


def _rebuilt(e):
    """The expression with its parts replaced by their members _new; itself, if none has
    another one."""
    if isinstance(e, Call):
        op = e.op if isinstance(e.op, (Op, GlobalVar)) else e.op._new
        args = [one._new for one in e.args]
        same = _all_same(args + [op], e.args + [e.op])
        return e if same else _placed(Call(op, args, e.attrs), e)
    if isinstance(e, Tuple):
        fields = [one._new for one in e.fields]
        return e if _all_same(fields, e.fields) else _placed(Tuple(fields), e)
    if isinstance(e, TupleGetItem):
        of = e.tuple_value._new
        return e if of is e.tuple_value else _placed(TupleGetItem(of, e.index), e)
    if isinstance(e, Let):
        same = _all_same([e.value._new, e.body._new, e.var._new], [e.value, e.body, e.var])
        return e if same else _placed(Let(e.var._new, e.value._new, e.body._new), e)
    if isinstance(e, If):
        parts = [one._new for one in e._parts()]
        return e if _all_same(parts, e._parts()) else _placed(If(*parts), e)
    if isinstance(e, Function):
        if e.body._new is e.body:
            return e
        return _placed(Function(e.params, e.body._new, None, None, e.attrs), e)
    return e


def _all_same(xs, ys):
    for x, y in zip(xs, ys):
        if x is not y:
            return False
    return True


def _placed(new, e):
    new._at = e._at
    return new


def bind(expr, binds):
    """The expression, with variables, the keys of the dict, replaced by expressions;
    parameters that are replaced are no longer parameters."""
    roots = [expr.body] if isinstance(expr, Function) else [expr]
    token = _number()
    for variable, value in binds.items():
        variable._bound_in, variable._value = token, value
    for e in _post_order(roots, _nothing):
        if isinstance(e, Let):
            e.var._new = e.var
        e._new = e._value if getattr(e, "_bound_in", 0) == token else _rebuilt(e)
    if not isinstance(expr, Function):
        return expr._new
    params = [one for one in expr.params if getattr(one, "_bound_in", 0) != token]
    return _placed(Function(params, expr.body._new, None, None, expr.attrs), expr)


def _nothing(variable):
    return []


def bind_params_by_name(func, params):
    """The function with constants in place of the parameters that the dict names."""
    if not isinstance(func, Function):
        return func  # of an imported model, whose parameters have their values
    binds = []
    for one in func.params:
        if one.name_hint in params:
            value = params[one.name_hint]
            binds.append((one, const(value if isinstance(value, tvm.nd.NDArray) else
                                     np.asarray(value))))
    return bind(func, dict(binds))


# -- visitors that programs derive from

class ExprFunctor:
    """Calls the method of an expression's class, such as visit_call."""

    def __init__(self):
        self.memo_map = {}

    def visit(self, expr):
        memo = self.memo_map
        if expr._id in memo:
            return memo[expr._id]
        if isinstance(expr, Function):
            result = self.visit_function(expr)
        elif isinstance(expr, Call):
            result = self.visit_call(expr)
        elif isinstance(expr, Let):
            result = self.visit_let(expr)
        elif isinstance(expr, Var):
            result = self.visit_var(expr)
        elif isinstance(expr, GlobalVar):
            result = self.visit_global_var(expr)
        elif isinstance(expr, If):
            result = self.visit_if(expr)
        elif isinstance(expr, Tuple):
            result = self.visit_tuple(expr)
        elif isinstance(expr, TupleGetItem):
            result = self.visit_tuple_getitem(expr)
        elif isinstance(expr, Constant):
            result = self.visit_constant(expr)
        elif isinstance(expr, Op):
            result = self.visit_op(expr)
        else:
            raise Exception("%s is no expression of relay" % type(expr).__name__)
        memo[expr._id] = result
        return result


class ExprVisitor(ExprFunctor):
    """Visits all parts of expressions."""

    def visit_function(self, fn):
        for one in fn.params:
            self.visit(one)
        self.visit(fn.body)

    def visit_call(self, call):
        self.visit(call.op)
        for one in call.args:
            self.visit(one)

    def visit_let(self, let):
        self.visit(let.var)
        self.visit(let.value)
        self.visit(let.body)

    def visit_if(self, i):
        for one in i._parts():
            self.visit(one)

    def visit_tuple(self, tup):
        for one in tup.fields:
            self.visit(one)

    def visit_tuple_getitem(self, t):
        self.visit(t.tuple_value)

    def visit_var(self, var):
        pass

    def visit_op(self, op):
        pass

    def visit_global_var(self, gv):
        pass

    def visit_constant(self, const):
        pass


class ExprMutator(ExprFunctor):
    """Makes an expression with other parts."""

    def visit_function(self, fn):
        params = [self.visit(one) for one in fn.params]
        return Function(params, self.visit(fn.body), None, None, fn.attrs)

    def visit_call(self, call):
        op = self.visit(call.op)
        return Call(op, [self.visit(one) for one in call.args], call.attrs)

    def visit_let(self, let):
        variable, value = self.visit(let.var), self.visit(let.value)
        return Let(variable, value, self.visit(let.body))

    def visit_if(self, ite):
        return If(self.visit(ite.cond), self.visit(ite.true_branch),
                  self.visit(ite.false_branch))

    def visit_tuple(self, tup):
        return Tuple([self.visit(one) for one in tup.fields])

    def visit_tuple_getitem(self, op):
        of = self.visit(op.tuple_value)
        return op if of is op.tuple_value else TupleGetItem(of, op.index)

    def visit_var(self, var):
        return var

    def visit_op(self, op):
        return op

    def visit_global_var(self, global_var):
        return global_var

    def visit_constant(self, const):
        return const
