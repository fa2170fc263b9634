# SPDX-License-Identifier: Apache-2.0
"""tvm.relay.analysis: walks over expressions."""
from tvm.relay import (Call, Function, GlobalVar, IRModule, Let, Op, Var, _Bound, _number,
                       _post_order)


def _all(expr):
    """All expressions below one, or below the functions of a module."""
    roots = expr._functions if isinstance(expr, IRModule) else [expr]
    return [e for e in _post_order(roots, lambda variable: []) if not isinstance(e, _Bound)]


def all_vars(expr):
    found = [e for e in _all(expr) if isinstance(e, Var)]
    return _with_bound(expr, found)


def _bound_of(expr):
    bound = []
    for e in _all(expr):
        if isinstance(e, Let):
            bound.append(e.var)
        elif isinstance(e, Function):
            bound.extend(e.params)
    return bound


def _with_bound(expr, found):
    """The variables, and those that are bound but not used."""
    token = _number()
    for one in found:
        one._listed = token
    for one in _bound_of(expr):
        if getattr(one, "_listed", 0) != token:
            one._listed = token
            found.append(one)
    return found


def bound_vars(expr):
    return _with_bound(expr, [])


def free_vars(expr):
    """The variables that neither a function nor a let binds, in the order in which the
    expression uses them."""
    if isinstance(expr, IRModule):
        return []
    bound, roots = ([], [expr]) if not isinstance(expr, Function) else (
        expr.params, [expr.body])
    used = []
    for e in _post_order(roots):
        if isinstance(e, Function):
            used.extend(free_vars(e))
        elif isinstance(e, Var):
            used.append(e)
        elif isinstance(e, Let):
            bound = bound + [e.var]
    token = _number()
    for one in bound:
        one._listed = token
    found = []
    for one in used:
        if getattr(one, "_listed", 0) != token:
            one._listed = token
            found.append(one)
    return found


def post_order_visit(expr, fvisit):
    """Calls the function for each expression, once, behind its parts, and for each
    operator."""
    token = _number()
    seen = []
    for e in _all(expr):
        if isinstance(e, Function):
            for one in e.params:
                if getattr(one, "_listed", 0) != token:
                    one._listed = token
                    fvisit(one)
        if isinstance(e, Call) and isinstance(e.op, (Op, GlobalVar)):
            name = e.op.name if isinstance(e.op, Op) else "@" + e.op.name_hint
            if name not in seen:
                seen.append(name)
                fvisit(e.op)
        if getattr(e, "_listed", 0) != token:
            e._listed = token
            fvisit(e)


def well_formed(expr):
    """Is each variable bound once?"""
    bound = _bound_of(expr)
    token = _number()
    for one in bound:
        if getattr(one, "_listed", 0) == token:
            return False
        one._listed = token
    return True


def list_op_freqs(mod):
    """The number of calls of each operator, by its name."""
    counts = {}
    for e in _all(mod):
        if isinstance(e, Call) and isinstance(e.op, Op):
            counts[e.op.name] = counts.get(e.op.name, 0) + 1
    return counts
