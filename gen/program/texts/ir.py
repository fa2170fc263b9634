# SPDX-License-Identifier: Apache-2.0
"""tvm.ir: are two functions, modules or expressions of the same structure?"""
from tvm import relay


def structural_equal(lhs, rhs, map_free_vars=False):
    if isinstance(lhs, (relay.Expr, relay.IRModule, relay.Type)):
        return type(lhs) == type(rhs) and relay._structure(lhs) == relay._structure(rhs)
    return str(lhs) == str(rhs)


def assert_structural_equal(lhs, rhs, map_free_vars=False):
    if not structural_equal(lhs, rhs, map_free_vars):
        raise ValueError("StructuralEqual check failed:\n%s\nis not\n%s" % (lhs, rhs))
