#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files whose content did not change are not touched; when one cannot be
written, the command fails and leaves no temporary file; program objects made
for another version of the header do not link."""
import os
import subprocess

from helper import DIGITS, compilers, execute, fail, tirc, work_folder

out = work_folder()


def state():
    return {name: (os.stat(os.path.join(out, name)).st_ino,
                   os.stat(os.path.join(out, name)).st_mtime_ns)
            for name in os.listdir(out)}


tirc("compile", DIGITS, "-o", out, "--name", "digits")
first = state()
tirc("compile", DIGITS, "-o", out, "--name", "digits")
if state() != first:
    fail("files were written again: %s" % sorted(
        n for n in first if state().get(n) != first[n]))
with open(os.path.join(out, "digits.h"), "a") as file:
    file.write("/* mine */\n")
tirc("compile", DIGITS, "-o", out, "--name", "digits")
second = state()
changed = sorted(n for n in first if second.get(n) != first[n])
if changed != ["digits.h"] or set(second) != set(first):
    fail("changed: %s" % changed)

blocked = os.path.join(work_folder(), "out")
os.makedirs(os.path.join(blocked, "digits.json"))
done = tirc("compile", DIGITS, "-o", blocked, "--name", "digits", status=1)
hidden = [n for n in os.listdir(blocked) if n.startswith(".")]
if hidden or "digits.json" not in done.stderr:
    fail("left %s; said: %s" % (hidden, done.stderr))

# A header that says another workspace than the objects were made with.
cc = compilers()[0]
use = os.path.join(work_folder(), "use.c")
with open(use, "w") as file:
    file.write("#include <stdlib.h>\n#include \"digits.h\"\n"
               "int main(void)\n{\n\tstruct digits m;\n"
               "\tstruct digits_config c;\n\n"
               "\tc.workspace_bytes = DIGITS_WORKSPACE_BYTES;\n"
               "\tc.workspace = malloc(c.workspace_bytes);\n"
               "\treturn digits_init(&m, &c) != DIGITS_OK;\n}\n")
objects = []
for name in sorted(os.listdir(out)):
    if name.endswith(".c"):
        objects.append(os.path.join(out, name[:-2] + ".o"))
        execute([cc, "-I" + out, "-c", os.path.join(out, name), "-o",
                 objects[-1]])
objects.append(use[:-2] + ".o")
execute([cc, "-I" + out, "-c", use, "-o", objects[-1]])
execute([cc, *objects, "-o", use[:-2], "-lm"])
other = work_folder()
tirc("compile", DIGITS, "-o", other, "--name", "digits", "--weights", "file")
execute([cc, "-I" + other, "-c", use, "-o", objects[-1]])
done = subprocess.run([cc, *objects, "-o", use[:-2], "-lm"],
                      capture_output=True)
if done.returncode == 0:
    fail("a stale header linked")
