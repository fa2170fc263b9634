#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tirc dialect list, show and check: what ships is listed, complete and
without a mistake; all mistakes of a folder are told at once, with file and
line or JSON pointer, and nothing is written."""
import json
import os
import shutil

from helper import ROOT, DIGITS, fail, has_dialect, tirc, work_folder

DIALECTS = os.path.join(ROOT, "templates", "dialects")
names = sorted(filter(has_dialect, os.listdir(DIALECTS)))
rows = json.loads(tirc("dialect", "list", "--json").stdout)
if [row["name"] for row in rows] != names:
    fail("list says %s" % [row["name"] for row in rows])
text = tirc("dialect", "list").stdout
for row in rows:
    if row["name"] not in text or row["description"] not in text:
        fail("%s is not in the list" % row["name"])
    if row["name"] == "gnu-c" and (row["extends"] != "c99" or
                                   "gnu-c" not in row["targets"]):
        fail("gnu-c: %s" % row)
for name in names:
    tirc("dialect", "check", os.path.join(DIALECTS, name))
    shown = json.loads(tirc("dialect", "show", name, "--json").stdout)
    text = tirc("dialect", "show", name).stdout
    for key, operation in shown["operations"].items():
        if operation and "\n" + key + " " not in text:
            fail("%s: the matrix lacks %s" % (name, key))
    # Each operation of numbers is spelled or refused for each type there is.
    for kind in ("f32", "i32", "u8"):
        if kind not in shown["operations"]["add"]:
            fail("%s: nothing about add of %s" % (name, kind))

# Every verb's own usage.
tirc("dialect", status=2)
tirc("dialect", "paint", status=2)
tirc("dialect", "show", status=2)
tirc("dialect", "selftest", "c99", status=2)
tirc("dialect", "show", "no-such", status=1)
tirc("dialect", "check", "/no/such/folder", status=1)

# A folder that holds `dialects` replaces all that tirc has; one without
# targets is checked without them.
whole = os.path.join(work_folder(), "whole")
shutil.copytree(os.path.join(DIALECTS, "c99"),
                os.path.join(whole, "dialects", "c99"))
said = tirc("dialect", "check", whole)
if said.stderr or "dialect c99: no mistake" not in said.stdout:
    fail("a folder of dialects without targets: " + said.stderr)
said = tirc("compile", DIGITS, "--dialect-path", whole, "--target", "c99",
            "-o", os.path.join(work_folder(), "out"), status=1)
if "there are: none" not in said.stderr or "mean 'c99'" in said.stderr:
    fail("a target that the folder lacks: " + said.stderr)

# -- all mistakes at once --
top = work_folder()
os.makedirs(os.path.join(top, "mine", "helpers"))


def put(path, text):
    with open(os.path.join(top, path), "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))


def check(*wanted, where="mine"):
    done = tirc("dialect", "check", os.path.join(top, where), status=1)
    for part in wanted:
        if part not in done.stderr:
            fail("'%s' is not told; what is:\n%s" % (part, done.stderr))
    return done.stderr


put("mine/dialect.json", {
    "extends": "c99", "description": "mine", "colour": 1,
    "limits": {"int_bits": 12},
    "types": {"f64": {"rejected": "none"}, "f31": {}},
    "expressions": {
        "add": {"infix": "+", "at": "nowhere"},
        "exp": {"text": "myexp({{x}})", "at": "primary"},
        "mul_wrap": {"helper": "mine_only"},
    },
    "statements": {"serial": {"open": ["for ({{variable}}) {"]}},
    "access": {"element": "{{array}}{{#indices}}[{{index}}]"},
    "helpers": {"mine_only": {"name": "m_{{short}}"}, "gone": {"name": "g"}},
    "weights": {"define": "{{type}} {{nam}} = {"},
})
put("mine/helpers/mine_only.tmpl", "{{function}} {{type}}\n{{name}}(void)\n"
    "{\n\treturn {{nothing}};\n{{#odd}}\n}\n")
said = check("/colour: unknown key", "/limits/int_bits", "/types/f31",
             "/expressions/add/at", "/expressions/exp/text: unknown "
             "placeholder 'x'", "/statements/serial/open/0",
             "/access/element: the end of this section is missing: 'indices'",
             "there is no file helpers/gone.tmpl", "'nam'",
             "mine_only.tmpl:4: unknown placeholder 'nothing'",
             "mine_only.tmpl:5: the end of this section is missing: 'odd'")
if len(said.splitlines()) < 11:
    fail("too few messages:\n" + said)
# Compiling says the same, and writes nothing.
put("t.json", {"description": "mine", "dialect": "mine", "cc": "cc",
               "cflags": ""})
out = os.path.join(top, "out")
done = tirc("compile", DIGITS, "--dialect-path", top, "--target", "t", "-o",
            out, "-q", status=1)
if done.stderr != said or os.path.exists(out):
    fail("compile says something else:\n" + done.stderr)

put("mine/dialect.json", '{\n\t"extends": "c99",\n\t"description": "m",,\n}')
check("dialect.json:3:")
put("mine/dialect.json", '{"extends": "c99", "description": "m", '
    '"limits": {}, "limits": {"int_bits": 16}}')
check("/limits: this key is given twice")
put("mine/dialect.json", {"extends": "mine", "description": "m"})
check("circle")
put("mine/dialect.json", {"extends": "c99", "description": "m",
                          "fp": {"fast": {"expressions": {"exp": {}}}}})
check("/expressions/exp")
put("mine/dialect.json", {"extends": "c99", "description": "m"})
tirc("dialect", "check", os.path.join(top, "mine"))
put("t.json", {"description": "t", "dialect": "mine", "cc": "cc",
               "cflags": "", "vector_bytes": -1})
check("t.json: /vector_bytes", where="")
put("t.json", {"description": "t", "dialect": "none", "cc": "cc",
               "cflags": ""})
check("there is no such dialect", where="")
rows = json.loads(tirc("dialect", "list", "--json", "--dialect-path",
                       top).stdout)
if rows[-1] != {"name": "mine", "description": "m", "extends": "c99",
                "targets": []}:
    fail("the folder's dialect is listed as %s" % rows[-1])

# -- constants where values are due; the file of an inherited key --
put("mine/dialect.json", {
    "extends": "c99", "description": "m",
    "types": {"f32": {"literal": "1.0f"}, "i16": {"highest": "127"},
              "u32": {"wide_literal": "0u"}},
    "expressions": {"pow": {"text": "2.0", "at": "primary"},
                    "sub": {"text": "{{a}} - {{a}}", "at": "additive",
                            "operands": "multiplicative"}},
    "limits": {"int_bits": "16"}, "access": {"entry_tabs": "2"}})
check("/types/f32/literal: a constant", "/types/u32/wide_literal: a constant",
      "/types/i16/highest: int16 has the limit 32767, not 127",
      "/expressions/pow/text: a constant, whatever {{a}} is",
      "/expressions/sub/text: a constant, whatever {{b}} is",
      "/limits/int_bits: an integer", "/access/entry_tabs: an integer")
os.makedirs(os.path.join(top, "middle"))
put("middle/dialect.json", {
    "extends": "c99", "description": "m",
    "types": {"i32": {"highest": "32767"},
              "f64": {"rejected": "there is none"}}})
put("mine/dialect.json", {"extends": "middle", "description": "m"})
check("middle/dialect.json: /types/i32/highest")
put("middle/dialect.json", {
    "extends": "c99", "description": "m", "limits": {"line_columns": 70},
    "types": {"f64": {"rejected": "there is none"}}})
put("t.json", {"description": "t", "dialect": "mine", "cc": "cc",
               "cflags": ""})
put("wide.py", """
from tvm import te
A = te.placeholder((8,), name="A", dtype="float64")
B = te.compute((8,), lambda i: A[i] + 1.0, name="B")
f = te.create_prim_func([A, B])
""")
said = tirc("codegen", os.path.join(top, "wide.py"), "--dialect-path", top,
            "--target", "t", status=1).stderr
if "middle/dialect.json" not in said or "there is none" not in said:
    fail("the file that refuses float64 is not told: " + said)
merged = json.loads(tirc("dialect", "show", os.path.join(top, "mine"),
                         "--merged").stdout)
with open(os.path.join(DIALECTS, "c99", "dialect.json"),
          encoding="utf-8") as file:
    base = json.load(file)
if set(base) - set(merged) or "extends" in merged or \
        merged["limits"] != dict(base["limits"], line_columns=70) or \
        merged["types"]["f64"]["rejected"] != "there is none" or \
        merged["expressions"] != base["expressions"]:
    fail("merged: %s" % sorted(merged))
tirc("dialect", "list", "--merged", status=2)
put("mine/dialect.json", {"extends": "c99", "description": "m"})
os.remove(os.path.join(top, "middle", "dialect.json"))
os.rmdir(os.path.join(top, "middle"))

# -- attributes and facts behind a target's name --


def target(text, *wanted, status=0):
    """What digits is for that target; `wanted` is in the metadata or said."""
    done = tirc("compile", DIGITS, "-o", out, "-q", "--dialect-path", top,
                "--target", text, status=status)
    said = done.stderr
    if status == 0:
        with open(os.path.join(out, "digits.json"), encoding="utf-8") as file:
            said = file.read()
    for part in wanted:
        if part not in said:
            fail("--target '%s': '%s' is not in:\n%s" % (text, part, said))


put("t.json", {"description": "t", "dialect": "mine", "cc": "mycc",
               "cflags": "", "attributes": {"arch": {"two": "t2"}}})
put("t2.json", {"extends": "t", "description": "t2", "cc": "mycc2"})
target("t", '"target": "t"', "mycc ")
target("t -arch=two", '"target": "t2"', "mycc2 ")
target(" t   -cc=cc1 -arch=two -cc=cc3 -int_bits=32 ",
       '"target": "t2 -cc=cc3 -int_bits=32"', "cc3 ")
target("t -arch=three", "t -arch=three: there is no -arch=three; there are: "
       "two", status=1)
target("t -int_bits=12", "t -int_bits=12: /int_bits: an integer from 16",
       status=1)
target("t -colour=1", "targets have no key colour", status=1)
for bad in ("t arch", "t -", "t -=1", "t -cc"):
    target(bad, "is not of the form -KEY=VALUE", status=1)
target("none -cc=1", "there is no such target", status=1)
put("t.json", {"description": "t", "dialect": "mine", "cc": "mycc",
               "cflags": "", "attributes": {"arch": {"two": "gone"}}})
check("/attributes/arch/two: there is no target 'gone'", where="")
put("t.json", {"description": "t", "dialect": "mine", "cc": "mycc",
               "cflags": "", "products": [
                   {"multiply": "gone"},
                   {"multiply": "gone2", "fill": "amx_zero_i32"},
                   {"multiply": "dot_16x4_vnni", "zero": "x"},
                   {"multiply": "dot_16x4_vnni", "fill": "amx_zero_i32",
                    "store": "gone3", "load": ["amx_zero_i32"]}]})
check("/products/0/multiply: there is no tensor intrinsic 'gone'",
      "/products/1/multiply: there is no tensor intrinsic 'gone2'",
      "/products/1/store", "/products/2/zero: unknown key",
      "/products/3/store: there is no tensor intrinsic 'gone3'",
      "/products/3/load: 2 texts are expected here, not 1", where="")
for key in ("byte_dot", "byte_tile", "brain_tile", "tensor_products"):
    put("t.json", {"description": "t", "dialect": "mine", "cc": "mycc",
                   "cflags": "", key: ""})
    check("/%s: there is no such key any more" % key, "/products", where="")
put("t.json", {"description": "t", "dialect": "mine", "cc": "mycc",
               "cflags": "", "signed_bytes": True, "tile_rows": 32})
check("/signed_bytes: there is no such key any more", "/shift_zero_points",
      "/tile_rows: there is no such key any more", "/limits", where="")

# -- vectors and where they lie --
top = work_folder()
os.makedirs(os.path.join(top, "wide"))
base = {"extends": "x86-64-v2", "description": "mine", "vector_bytes": 32,
        "vectors": ["f32x8", "f32x4"], "cflags": "-std=gnu11 -mavx2"}


def wide(dialect, **more):
    put("wide/dialect.json", dict({"extends": "gnu-c", "description": "mine"},
                                  **dialect))
    put("mine.json", dict(base, dialect="wide", **more))
    out = os.path.join(top, "out")
    tirc("compile", DIGITS, "--dialect-path", top, "--target", "mine", "-o",
         out, "--name", "net", "-q")
    with open(os.path.join(out, "net.h"), encoding="utf-8") as file:
        header = file.read()
    with open(os.path.join(out, "net.c"), encoding="utf-8") as file:
        return header, file.read()


if has_dialect("gnu-c"):
    # 16 bytes, which the target inherits, are too few for its vectors.
    header, source = wide({})
    if "NET_WORKSPACE_ALIGN 32u" not in header:
        fail("the workspace is not aligned for vectors of 32 bytes")
    if "const f32x8 w[" not in source:
        fail("weights are not taken as vectors")
    header, source = wide({}, align_bytes=128)
    if "NET_WORKSPACE_ALIGN 128u" not in header:
        fail("align_bytes does not count")
    # Constants that are not aligned are not taken as if they were.
    header, source = wide({"weights": {
        "define": "const {{type}} {{name}}"
                  "{{#extents}}[{{extent}}]{{/extents}} = {"}})
    if "const f32x8 w[" in source or "const f32x8_any w[" not in source:
        fail("weights that lie anywhere are taken as aligned")
    put("wide/dialect.json", {
        "extends": "gnu-c", "description": "mine",
        "vectors": {"name": "v{{lanes}}{{short}}",
                    "define": "typedef {{element}} {{name}} "
                              "__attribute__((vector_size({{bytes}})));"}})
    check("/vectors/name: vectors that lie where only elements may",
          where="wide")
