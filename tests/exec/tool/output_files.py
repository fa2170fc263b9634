#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files are written under names that nobody can foresee, and no link leads what
is written elsewhere: in output folders, for single files, with --keep."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from helper import (DIGITS, ROOT, TIRC, contents, fail, results_alone, tirc,
                    work_folder)

results_alone()

folder = work_folder()
# 500 statements that take longer than this test looks.
SLOW = "import tvm\nx = 0\n" + "\n".join(
    ["for i in range(100000):\n    x = x + i"] * 500) + "\nprint(x)\n"


def path(name):
    return os.path.join(folder, name)


def expect(what, condition):
    if not condition:
        fail(what)


# -- the names of temporary files --
with open(path("slow.py"), "w") as file:
    file.write(SLOW)
names = []
for _ in range(2):
    process = subprocess.Popen([TIRC, "lower", path("slow.py"), "-o",
                                path("text")], stderr=subprocess.DEVNULL)
    deadline = time.time() + 30
    found = []
    while not found and time.time() < deadline and process.poll() is None:
        found = [n for n in os.listdir(folder) if n.endswith(".part")]
    process.send_signal(signal.SIGKILL)
    process.wait()
    expect("no temporary file was seen", len(found) == 1)
    match = re.fullmatch(r"\.text\.([0-9a-f]{16})\.%d\.part" % process.pid,
                         found[0])
    expect("a temporary file is called " + found[0], match)
    names.append(match.group(1))
    os.remove(path(found[0]))
expect("two runs take the same name", names[0] != names[1])

# -- links in the place of a file --
victim = path("victim")


def victim_is_unharmed(what):
    with open(victim, encoding="utf-8") as file:
        expect(what + " wrote behind a link", file.read() == "tirc 1\n")


with open(victim, "w", encoding="utf-8") as file:
    file.write("tirc 1\n")         # may be replaced, but for the link
with open(path("p.py"), "w", encoding="utf-8") as file:
    file.write("import tvm\nprint(1)\n")
for what, name, command in [
        ("compile", "out/digits.c", ["compile", DIGITS, "-q", "-o",
                                     path("out"), "--force"]),
        ("compile", "out/digits.json", ["compile", DIGITS, "-q", "-o",
                                        path("out"), "--force"]),
        ("--depfile", "d", ["compile", DIGITS, "-q", "-o", path("o"),
                            "--depfile", path("d")]),
        ("partition", "p.json", ["partition", DIGITS, "-q", "-o",
                                 path("p.json")]),
        ("partition", "p.weights", ["partition", DIGITS, "-q", "-o",
                                    path("p.json")]),
        ("lower", "text", ["lower", path("p.py"), "-o", path("text")]),
        ("run --output", "y.npy", ["run", DIGITS, "-q", "--output",
                                   path("y.npy")]),
        ("run --output", "y.npz", ["run", DIGITS, "-q", "--output",
                                   path("y.npz")]),
        ("run --json", "t.json", ["run", DIGITS, "-q", "--profile",
                                  "--json", path("t.json")])]:
    os.makedirs(path("out"), exist_ok=True)
    if os.path.lexists(path(name)):
        os.remove(path(name))
    os.symlink(victim, path(name))
    tirc(*command)
    victim_is_unharmed(what)
    expect("%s did not replace the link" % what,
           not os.path.islink(path(name)) and os.path.getsize(path(name)))

# -- names in a dependency file: some would be commands or assignments of make --
for name, rule in (("a b#c$d:e.onnx", r"a\ b\#c$$d\:e.onnx"), ("a;b.onnx", None),
                   ("a=b.onnx", None), ("a\\ b.onnx", None), ("[a].onnx", None)):
    shutil.copyfile(DIGITS, path(name))
    seen = tirc("compile", path(name), "-q", "-o", path("named"), "--force",
                "--depfile", path("named.d"), status=0 if rule else 1)
    if rule:
        with open(path("named.d"), encoding="utf-8") as file:
            expect("the rule has no %s" % rule, rule in file.read())
    else:
        expect("no word of the name: " + seen.stderr,
               "dependency file cannot hold" in seen.stderr)

# -- the names of open files, which may be files --
for name in ("/dev/stdout", "/dev/fd/1"):
    with open(path("redirected"), "w", encoding="utf-8") as file:
        file.write("before\n")
        file.flush()
        there = os.readlink(name) if os.path.islink(name) else None
        done = subprocess.run([TIRC, "lower", path("p.py"), "-o", name],
                              stdout=file, stderr=subprocess.PIPE)
    with open(path("redirected"), encoding="utf-8") as file:
        expect("-o %s: %s" % (name, done.stderr),
               file.read() == "before\n1\n")
    expect(name + " has been replaced",
           there is None or os.readlink(name) == there)

# -- a link in the place of a package's folder --
os.mkdir(path("package"))
os.mkdir(path("elsewhere"))
os.symlink(path("elsewhere"), path("package/src"))
seen = tirc("compile", DIGITS, "-q", "--target", "cortex-m4", "--package",
            "cmake", "-o", path("package"), status=1)
expect("no word of the folder: " + seen.stderr, "package/src" in seen.stderr)
expect("a package has files behind a link", not os.listdir(path("elsewhere")))

# -- a pipe in an output folder, which nobody reads --
os.remove(path("out/digits.c"))
os.mkfifo(path("out/digits.c"))
tirc("compile", DIGITS, "-q", "-o", path("out"), timeout=60)
expect("a pipe is still there", os.path.isfile(path("out/digits.c")))

# -- --keep --
kept = path("kept")
tirc("run", DIGITS, "-q", "--keep", kept)
tirc("run", DIGITS, "-q", "--keep", kept)
for name in ("output_0.bin", "harness", "other"):
    if os.path.exists(os.path.join(kept, name)):
        os.remove(os.path.join(kept, name))
    os.symlink(victim, os.path.join(kept, name))
    before = contents(kept)
    seen = tirc("run", DIGITS, "-q", "--keep", kept, status=1)
    expect("no word of the link: " + seen.stderr, name in seen.stderr)
    victim_is_unharmed("run --keep")
    expect("run --keep wrote beside a link", contents(kept) == before)
    os.remove(os.path.join(kept, name))
os.link(victim, os.path.join(kept, "output_0.bin"))
tirc("run", DIGITS, "-q", "--keep", kept, status=1)
victim_is_unharmed("run --keep")
os.remove(os.path.join(kept, "output_0.bin"))
os.chmod(kept, 0o777)
seen = tirc("run", DIGITS, "-q", "--keep", kept, status=1)
expect("no word of the folder: " + seen.stderr, "everybody" in seen.stderr)
expect("parts are left", not [n for n in os.listdir(folder)
                              if n.endswith(".part")])

# -- files that an earlier compilation left --
left = path("left")


def compiled(*options):
    """The files that a note names after a compilation with these options."""
    seen = tirc("compile", DIGITS, "-o", left, "--target", "c99", *options)
    notes = re.findall(r"note: .*left over from an earlier compilation: (.*); "
                       r"remove (?:it|them), ", seen.stderr)
    expect("several notes: " + seen.stderr, len(notes) < 2)
    return set(notes[0].split(", ")) if notes else set()


def left_over(what, found, *names):
    expect("%s: left over are %s, not %s" % (what, found, names),
           found == set(names))


digits = {"digits" + end for end in (".c", ".h", ".mk", ".cmake", ".json",
                                     "_weights.c")}
left_over("an empty folder", compiled())
left_over("the same again", compiled())
left_over("other weights", compiled("--weights", "file"), "digits_weights.c")
# NAME.json does not list it any more
left_over("once more", compiled("--weights", "file"), "digits_weights.c")
left_over("-q", compiled("--weights", "file", "-q"))
os.remove(os.path.join(left, "digits_weights.bin"))
left_over("another name", compiled("--name", "net"), *digits)
# The files of another model, of a report and of somebody else are none.
for name in digits:
    os.remove(os.path.join(left, name))
with open(DIGITS, "rb") as file:
    model = file.read()
with open(path("digits.onnx"), "wb") as file:
    file.write(model + b"\xa0\x06\x00")
seen = tirc("compile", path("digits.onnx"), "-o", left, "--target", "c99",
            "--name", "net_2")
expect("another model: " + seen.stderr, "left over" not in seen.stderr)
tirc("report", DIGITS, "--target", "c99", "-o",
     os.path.join(left, "net_report.html"))
for name in "net_mine.c", "net.txt", "net_empty.c":
    with open(os.path.join(left, name), "w") as file:
        file.write("" if "empty" in name else "mine\n")
left_over("files of others", compiled("--name", "net"))
# A list from anybody names no file outside of the folder, and no link.
with open(path("other.c"), "w") as file:
    file.write("/* written by tirc 0.1.0 */\n")
os.symlink(path("other.c"), os.path.join(left, "link.c"))
about = os.path.join(left, "net.json")
with open(about, encoding="utf-8") as file:
    text = file.read()
with open(about, "w", encoding="utf-8") as file:
    file.write(text.replace('"net.json"]', '"net.json","../other.c","link.c",7,'
                            '"net_mine.c","%s"]' % path("other.c")))
left_over("a strange list", compiled("--name", "net"), "net_mine.c")
shutil.rmtree(left)
package = ("--package", "arduino")
left_over("a package", compiled(*package))
found = compiled("--name", "net", *package)
expect("of a package: %s" % found, {"src/digits.c", "extras/digits.json"} <=
       found and "library.properties" not in found)

# A program for threads, emitted twice: its launches are a file of tirc's, too.
if os.path.isdir(os.path.join(ROOT, "templates", "dialects", "cuda")):
    program = os.path.join(folder, "threads.py")
    with open(program, "w", encoding="utf-8") as file:
        file.write("from tvm.script import tir as T\n\n\n@T.prim_func\n"
                   "def twice(A: T.Buffer((8,), \"float32\")):\n"
                   "    for i in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
                   "        A[i] = A[i] * T.float32(2)\n")
    for _ in range(2):
        tirc("codegen", program, "--target", "cuda", "-o",
             os.path.join(folder, "threads"))
print("all hold")
sys.exit(0)
