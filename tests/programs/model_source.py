# SPDX-License-Identifier: Apache-2.0
"""tirc codegen of a program that builds a model: the files of tirc compile, but for the
model's path in comments; what such a program cannot be asked for."""
import shutil

from helper import *

folder = work_folder()
shutil.copy(DIGITS, folder)
PROGRAM = """
import onnx
from tvm import relay

mod, params = relay.frontend.from_onnx(onnx.load("digits.onnx"))
lib = relay.build(mod, target="c", executor=%r)
"""
for executor in ("graph", "aot"):
    name = executor + ".py"
    with open(os.path.join(folder, name), "w") as f:
        f.write(PROGRAM % executor)
    tirc("codegen", name, "-o", "by_program", cwd=folder)
    tirc("compile", "digits.onnx", "--form", executor, "--target", "c99", "-o",
         "by_compile", cwd=folder)
    got = contents(os.path.join(folder, "by_program"))
    want = contents(os.path.join(folder, "by_compile"))
    if got.keys() != want.keys():
        fail("%s: %s, not %s" % (executor, sorted(got), sorted(want)))
    for file, text in want.items():
        if got[file] != text and not file.endswith("digits.json"):
            fail("%s: %s differs" % (executor, file))
    shown = tirc("codegen", name, cwd=folder).stdout
    if "#include" not in shown:
        fail("no source is printed\n" + shown)
    for old in ("by_program", "by_compile"):
        shutil.rmtree(os.path.join(folder, old))
done = tirc("test", "aot.py", cwd=folder, status=1)
if "builds a model and no function" not in done.stderr:
    fail(done.stderr)

# A link in the program's folder leads out of it.
os.symlink(DIGITS, os.path.join(folder, "link.onnx"))
with open(os.path.join(folder, "link.py"), "w") as f:
    f.write('import onnx\nonnx.load("link.onnx")\n')
if "symbolic link" not in tirc("lower", "link.py", cwd=folder, status=1).stderr:
    fail("a link is read")
tirc("lower", "link.py", "--allow-files", cwd=folder)
