#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looking at the passes, leaving some out, adding one's own: a shared object
built on the headers, and a filter over text."""
import json
import os
import re
import shutil

from helper import (DIGITS, ROOT, SANITIZED, compile_model, execute, fail,
                    need, tirc, work_folder)

need("cc")


def installed_headers():
    """A folder with the headers that are installed, and no other."""
    folder = os.path.join(work_folder(), "tirc")
    plan = os.path.join(os.path.dirname(os.environ["TIRC"]), "meson-info",
                        "intro-install_plan.json")
    os.mkdir(folder)
    with open(plan) as f:
        for header in json.load(f)["headers"]:
            shutil.copy(header, folder)
    return folder


INCLUDES = ["-I" + installed_headers()]


def passes():
    """(name, is it needed?) of the list."""
    rows = tirc("passes").stdout.splitlines()[1:]
    return [(row.split()[0], row.endswith(" *")) for row in rows if row]


# The fastest compiler: the text that it gets is tested.
FAST = ["--cc", "tcc", "--cflags", "-w"] if shutil.which("tcc") else []


def right(*options):
    """The example, compiled with the options, gives what it should."""
    if not SANITIZED:
        tirc("test", DIGITS, "--quiet", *FAST, *options)


def read(folder, name):
    with open(os.path.join(folder, name)) as f:
        return f.read()


def refused(text, *options):
    out = work_folder()
    done = tirc("compile", DIGITS, "-o", out, *options, status=1)
    if text not in done.stderr:
        fail("%s: expected %r in\n%s" % (options, text, done.stderr))
    if os.listdir(out):
        fail("%s: files were written" % (options,))


def built(source, *flags):
    out = os.path.join(work_folder(), "pass.so")
    execute(["cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-shared",
             "-fPIC", *INCLUDES, *flags, source, "-o", out])
    return out


def written(text, name):
    path = os.path.join(work_folder(), name)
    with open(path, "w") as f:
        f.write(text)
    return path


# What is printed.
quiet = ["-q", "-o", work_folder()]
for phase in range(4):
    text = tirc("compile", DIGITS, "--print-phase", phase, *quiet).stdout
    if text.count("# after phase %d" % phase) != 5 or \
            text.count("T.prim_func") != 5:
        fail("--print-phase %d prints:\n%s" % (phase, text))
    if ("T.axis" in text) != (phase == 0):
        fail("phase %d has blocks, or phase 0 has none" % phase)
times = tirc("compile", DIGITS, "--time-passes", *quiet).stderr
for name, _ in passes():
    if not re.search(r"^%s +\d+ +\d+\.\d\d +\d+ %%$" % name, times, re.M):
        fail("--time-passes has no row for %s:\n%s" % (name, times))

# Passes left out.
refused("a pass that is not required", "--disable-pass", "blocks")
refused("did you mean partition", "--disable-pass", "partitoin")
optional = [name for name, needed in passes() if not needed]
if len(optional) < 10:
    fail("hardly any pass can be left out: %s" % optional)
for name in optional:
    right("--disable-pass", name)
everything = [word for name in optional for word in ("--disable-pass", name)]
right(*everything)
if read(compile_model(DIGITS, *everything), "digits.c") == \
        read(compile_model(DIGITS), "digits.c"):
    fail("leaving out passes changes nothing")

# A shared object.
vectorize = built(os.path.join(ROOT, "examples", "passes", "vectorize.c"))
before = tirc("compile", DIGITS, "--print-phase", 3, *quiet).stdout
after = tirc("compile", DIGITS, "--print-phase", 3, "--add-pass",
             "3:" + vectorize, *quiet).stdout
if after.count("T.vectorized") <= before.count("T.vectorized"):
    fail("the vectorize pass changes nothing:\n" + after)
right("--add-pass", "3:" + vectorize)
refused("expected PHASE:", "--add-pass", "4:" + vectorize)
refused("cannot open shared object", "--add-pass", "1:/nowhere.so")
empty = written("int nothing;\n", "empty.c")
refused("it defines no pass", "--add-pass", "1:" + built(empty))
old = written("#include <tirc_pass.h>\n#undef TIRC_PASS_INTERFACE\n"
              "#define TIRC_PASS_INTERFACE -1\n"
              "TIRC_PASS(f)\n{\n\treturn f;\n}\n", "old.c")
refused("compile it again", "--add-pass", "1:" + built(old))
angry = written("#include <tirc_pass.h>\nTIRC_PASS(f)\n{\n"
                "\treturn diag_error(&f->module->diags, DIAG_UNSUPPORTED,\n"
                "\t\t(struct diag_place){ .item = f->name }, \"no\");\n}\n",
                "angry.c")
refused("conv1: no", "--add-pass", "2:" + built(angry))

# A filter.
unroll = "python3 " + os.path.join(ROOT, "examples", "passes",
                                   "unroll_small.py")
after = tirc("compile", DIGITS, "--print-phase", 3, "--add-pass",
             "3:" + unroll, *quiet).stdout
if re.search(r"in range\([234]\)", after) or \
        after.count("T.unroll(3)") <= before.count("T.unroll(3)"):
    fail("the unroll pass changes nothing:\n" + after)
right("--add-pass", "3:" + unroll)
for phase in range(4):  # every phase survives the way through text
    if read(compile_model(DIGITS, "--add-pass", "%d:cat" % phase),
            "digits.c") != read(compile_model(DIGITS), "digits.c"):
        fail("cat after phase %d changes the source" % phase)
refused("ended with status 3", "--add-pass", "1:sh -c 'cat >/dev/null; exit 3'")
refused("output of echo hello:1:", "--add-pass", "1:echo hello")
refused("must be a single function named conv1", "--add-pass",
        "2:sed 's/def conv1/def conv9/'")
refused("keep the signature", "--add-pass",
        "2:sed 's/bias: T.Buffer((16,)/bias: T.Buffer((17,)/'")
