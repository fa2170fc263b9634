# SPDX-License-Identifier: Apache-2.0
"""tvm.relay: expressions as the text of Relay, in the form of TVM's printer: to be read
by people, or as a model (gen/onnx/relay). In a model, arrays are parameters of the
functions that use them, and the names of variables are in quotes where they have other
characters than names of Relay."""
import numpy as np
from tvm import relay
from tvm.relay import (Any, Call, Constant, Function, GlobalVar, If, Let, Op, Tuple,
                       TupleGetItem, Var, _Bound, _number, _post_order)

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"


# -- values

def _float(value):
    text = repr(float(value))
    return (text[:-2] if text.endswith(".0") else text) + "f"


def _quoted(text):
    return "\"%s\"" % text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")


def _value(value):
    """The text of an attribute."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join([_value(one) for one in value])
    if isinstance(value, Any):
        return "?"
    if isinstance(value, dict):
        return "{%s}" % ", ".join(["%s=%s" % (_value(k), _value(v))
                                   for k, v in value.items()])
    if isinstance(value, np.ndarray) and value.ndim > 0:
        return _value(value.tolist())
    try:
        return str(int(value))
    except TypeError:
        raise TypeError("the value of an attribute is a number, a text or a list, not %s" %
                        type(value).__name__)


def _fields(attrs):
    """The texts of the attributes of a call that differ from their defaults."""
    texts = []
    if attrs is not None:
        for name, value, default in attrs._fields:
            text = _value(value)
            if default == "!" or text.replace(" ", "") != default:
                texts.append(name + "=" + text)
    return texts


_SUFFIX = {"float32": "f", "float64": "f64", "float16": "f16", "int32": "", "int64": "i64",
           "int16": "i16"}


def _is_number(e):
    """Is the constant one that the text holds as a number?"""
    dtype = str(e.data.dtype)
    return len(e.data.shape) == 0 and (dtype in _SUFFIX or dtype == "bool")


def _number_text(e):
    value = e.data.numpy()
    dtype = str(value.dtype)
    if dtype == "bool":
        return str(bool(value))
    if dtype.startswith("int"):
        return "%d%s" % (int(value), _SUFFIX[dtype])
    # the shortest text that gives the same number
    text = str(value)
    return (text[:-2] if text.endswith(".0") else text) + _SUFFIX[dtype]


# -- scopes

class _Scope:
    """The body of a function, or a branch of an if."""

    def __init__(self, around, root):
        self.around = around
        self.depth = 0 if around is None else around.depth + 1
        while isinstance(root, Let):
            root = root.body
        self.root = root
        self.lines = []
        self.result = None


def _meet(a, b):
    """The innermost scope around both."""
    while a.depth > b.depth:
        a = a.around
    while b.depth > a.depth:
        b = b.around
    while a is not b:
        a, b = a.around, b.around
    return a


def _use(e, scope):
    e._uses = e._uses + 1
    e._scope = scope if e._scope is None else _meet(e._scope, scope)


def _place(body):
    """Finds the scope of each expression below the body of a function: the innermost one
    around all of its uses. Returns the expressions, each behind its parts, and the scope
    of the body."""
    order = _post_order([body])
    top = _Scope(None, body)
    for e in order:
        e._uses, e._scope = 0, None
    _use(body, top)
    for e in reversed(order):
        if isinstance(e, If):
            _use(e.cond, e._scope)
            e._then = _Scope(e._scope, e.true_branch)
            e._else = _Scope(e._scope, e.false_branch)
            _use(e.true_branch, e._then)
            _use(e.false_branch, e._else)
        elif not isinstance(e, Function):
            for one in e._parts():
                _use(one, e._scope)
    return order, top


# -- the printer

class _Printer:
    """typed: types follow in comments. model: the text is a model. functions: gives for a
    GlobalVar the function of that name."""

    def __init__(self, typed, model, constants=None):
        self.typed = typed
        self.model = model
        self.token = _number()
        self.count = 0
        self.taken = []
        self.arrays = [] if constants is None else constants
        self.metas = 0
        self.free = []

    # names

    def unique(self, base):
        name, k = base, 0
        while name in self.taken:
            k += 1
            name = base + str(k)
        self.taken.append(name)
        return name

    def plain(self, name):
        return len(name) > 0 and name[0] in _LETTERS and all(
            [c in _LETTERS or c.isdigit() for c in name])

    def declare(self, variable):
        """Gives a variable its name; returns its text as a parameter."""
        hint = variable.name_hint
        if not self.model and not (hint and hint[0].isalpha()):
            hint = "v" + hint
        name = self.unique(hint)
        variable._named = self.token
        variable._name = "%" + (_quoted(name) if self.model and not self.plain(name) else name)
        variable._label = name
        kind = variable.type_annotation
        if kind is None:
            kind = variable._type
        text = variable._name if kind is None else "%s: %s" % (variable._name, kind)
        return text + self.comment(variable)

    def comment(self, e):
        return " /* ty=%s */" % e._type if self.typed and e._type is not None else ""

    def temporary(self):
        self.count += 1
        return "%" + str(self.count - 1)

    # expressions

    def constant(self, e):
        if _is_number(e):
            return _number_text(e) + self.comment(e)
        if self.model:
            return e._array
        if getattr(e, "_metaed", 0) != self.token:
            e._metaed, e._meta = self.token, self.metas
            self.arrays.append(e)
            self.metas += 1
        return "meta[relay.Constant][%d]%s" % (e._meta, self.comment(e))

    def reference(self, e):
        """The text of an expression as an argument."""
        if isinstance(e, Constant):
            return self.constant(e)
        if isinstance(e, GlobalVar):
            return "@" + e.name_hint
        if isinstance(e, Op):
            return e.name
        if isinstance(e, Var):
            if getattr(e, "_named", 0) != self.token:
                self.free.append("free_var %s;" % self.declare(e))
            return e._name
        return e._name

    def call(self, e):
        args = [self.reference(one) for one in e.args]
        if self.model and not isinstance(e.op, Op):
            args += [one._array for one in getattr(e.op, "_needs", [])]
        args += _fields(e.attrs)
        return "%s(%s)" % (self.reference(e.op), ", ".join(args))

    def text(self, e):
        """The text of an expression whose parts have names."""
        if isinstance(e, Call):
            return self.call(e)
        if isinstance(e, Tuple):
            return "(%s%s)" % (", ".join([self.reference(one) for one in e.fields]),
                               "," if len(e.fields) == 1 else "")
        if isinstance(e, TupleGetItem):
            return "%s.%d" % (self.reference(e.tuple_value), e.index)
        if isinstance(e, If):
            return "if (%s) %s else %s" % (self.reference(e.cond), self.block(e._then),
                                           self.block(e._else))
        if isinstance(e, Function):
            return self.function("fn ", e)
        return self.reference(e)

    def block(self, scope):
        result = self.reference(scope.root) if scope.result is None else scope.result
        lines = scope.lines + self.free + [result]
        self.free = []
        return "{\n  %s\n}" % "\n".join(lines).replace("\n", "\n  ")

    def scope(self, body):
        """The scope of a body, with its lines."""
        order, top = _place(body)
        for e in order:
            if isinstance(e, Let):
                e.value._inline = self.token
        for e in order:
            where = e._scope
            if isinstance(e, (Var, Constant, GlobalVar, Op)):
                continue
            if isinstance(e, _Bound):
                text = "let %s = %s;" % (self.declare(e.let.var),
                                         self.reference(e.let.value))
                where.lines.extend(self.free + [text])
                self.free = []
            elif isinstance(e, Let):
                e._name = self.reference(e.body)
            else:
                self.emit(e, where)
        return top

    def emit(self, e, where):
        text = self.text(e)
        if isinstance(e, (Call, Tuple, TupleGetItem, Function)):
            text += self.comment(e)
        where.lines.extend(self.free)
        self.free = []
        if where.root is e and e._uses == 1:
            where.result = e._name = text
        elif getattr(e, "_inline", 0) == self.token and e._uses == 1:
            e._name = text
        else:
            e._name = self.temporary()
            where.lines.append("%s = %s;" % (e._name, text))

    def expression(self, e):
        """The text of an expression on its own, with its free variables."""
        if isinstance(e, Function):
            return self.function("fn ", e)
        scope = self.scope(e)
        result = self.reference(scope.root) if scope.result is None else scope.result
        return "\n".join(scope.lines + self.free + [result])

    # functions

    def function(self, prefix, fn):
        # a variable may be a parameter of a function around this one, too
        before = [(one, getattr(one, "_named", 0), getattr(one, "_name", None))
                  for one in fn.params]
        params = [self.declare(one) for one in fn.params]
        if self.model:
            params += ["%s: %s" % (one._array, one._type) for one in fn._needs]
        else:
            params += ["%s=%s" % (k, _value(v)) for k, v in fn.attrs.items()]
        head = "%s(%s) " % (prefix, ", ".join(params))
        if fn.ret_type is not None and not self.model:
            head += "-> %s " % fn.ret_type
        # a function around this one may use the same expressions
        outer = [(e, e._scope, e._uses, getattr(e, "_name", None))
                 for e in _post_order([fn.body]) if hasattr(e, "_scope")]
        text = head + self.block(self.scope(fn.body))
        for e, scope, uses, name in outer:
            e._scope, e._uses, e._name = scope, uses, name
        for one, named, name in before:
            one._named, one._name = named, name
        return text


class _Structure(_Printer):
    """Prints variables by numbers, so that expressions of the same structure have the
    same text."""

    def unique(self, base):
        self.taken.append(base)
        return "v%d" % len(self.taken)


def _structure(value):
    """A text, and arrays, which are equal for values of the same structure."""
    if isinstance(value, relay.Type):
        return str(value)
    p = _Structure(False, False)
    if isinstance(value, relay.IRModule):
        names = sorted(value._names)
        text = "\n".join([p.function("def @" + name, value[name]) for name in names])
    else:
        text = p.expression(value)
    return [text] + [one.data.numpy().tolist() for one in p.arrays]


_OMITTED = """
/* For debugging purposes the metadata section has been omitted.
 * If you would like to see the full metadata section you can set the
 * option to `True` when invoking `astext`.
 */"""


def _metadata(arrays):
    """The section with the arrays that a text names meta[relay.Constant][0] and so on: the
    nodes that TVM saves."""
    nodes = ["{\"type_key\": \"\"}",
             "{\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"], \"data\": [2]}",
             "{\"type_key\": \"Array\", \"data\": %s}" % list(range(3, len(arrays) + 3))]
    nodes += ["{\"type_key\": \"relay.Constant\", \"attrs\": {\"data\": \"%d\"}}" % i
              for i in range(len(arrays))]
    data = ["\"%s\"" % relay._base64(one.data) for one in arrays]
    return "\n#[metadata]\n{\n  \"root\": 1, \n  \"nodes\": [\n    %s\n  ], \n  " \
        "\"b64ndarrays\": [\n    %s\n  ]\n}" % (", \n    ".join(nodes), ", \n    ".join(data))


def _with_arrays(text, arrays, show):
    """The text with the arrays that it names behind it, if they are to be shown."""
    if not arrays:
        return text
    return text + (_metadata(arrays) if show else _OMITTED)


def _text_of(e, show):
    """The text of an expression, as TVM prints it."""
    p = _Printer(True, False)
    return _with_arrays(p.expression(e), p.arrays, show)


def _module_text(names, functions, show):
    """The text of the functions of a module, as TVM prints it."""
    p = _Printer(True, False)
    parts = [p.function("def @" + name, fn) for name, fn in zip(names, functions)]
    return _with_arrays("\n\n".join(parts), p.arrays, show)
