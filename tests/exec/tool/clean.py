#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clean.py: what tirc leaves behind, and what it leaves alone. Errors on
standard output are errors; signals end child processes and remove temporary
files; memory that runs out is a message; the user's own files stay; files
that are written are whole; dependency files are escaped."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from helper import *

folder = work_folder()
temporary = os.path.join(folder, "temporary")
os.mkdir(temporary)
environment = dict(os.environ, TMPDIR=temporary)
PROGRAM = os.path.join(folder, "add.py")
with open(PROGRAM, "w") as f:
    f.write("""import tvm
from tvm import te
A = te.placeholder((8,), name="A")
B = te.compute((8,), lambda i: A[i] + 1.0, name="B")
print(tvm.lower(te.create_schedule(B.op), [A, B]))
""")


def path(name):
    return os.path.join(folder, name)


def expect(what, condition):
    if not condition:
        fail(what)


# -- standard output --
def to_broken_output(arguments, output, reported):
    done = subprocess.run([TIRC, *arguments], stdout=output, text=True,
                          stderr=subprocess.PIPE, env=environment)
    expect("status %d of %s with a standard output that is full or closed:\n%s"
           % (done.returncode, arguments, done.stderr),
           done.returncode == 1 and
           ("standard output" in done.stderr) == reported)


for arguments in [["--help"], ["compile", "--help"], ["lower", PROGRAM],
                  ["codegen", PROGRAM], ["dialect", "list"],
                  ["inspect", DIGITS], ["partition", DIGITS],
                  ["compile", DIGITS, "-o", path("full")]]:
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            to_broken_output(arguments, full, True)
    # As `| head` leaves it when it has enough: nothing to report.
    read, write = os.pipe()
    os.close(read)
    to_broken_output(arguments, write, False)
    os.close(write)

# -- signals: while a compiler that never ends is at work --
SLOW = path("slow-cc")
with open(SLOW, "w") as f:
    f.write("#!/bin/sh\ntouch %s\nsleep 200 &\necho $! > %s\nwait\n" %
            (path("temporary-of-cc"), path("pid")))
os.chmod(SLOW, 0o755)


def ended(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_for(what, condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    fail(what)


for sent in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
    # What ignores it, such as nohup, would have tirc ignore it, too.
    signal.signal(sent, signal.SIG_DFL)
    if os.path.exists(path("pid")):
        os.remove(path("pid"))
    child = subprocess.Popen([TIRC, "run", DIGITS, "--cc", SLOW],
                             env=environment, stderr=subprocess.PIPE)
    wait_for("the compiler did not start",
             lambda: os.path.exists(path("pid")) and
             open(path("pid")).read().endswith("\n"))
    grandchild = int(open(path("pid")).read())
    child.send_signal(sent)
    _, messages = child.communicate(timeout=60)
    expect("status %d after signal %d" % (child.returncode, sent),
           child.returncode == -sent)
    expect("messages after a signal:\n%s" % messages.decode(), not messages)
    wait_for("a process of the compiler goes on", lambda: ended(grandchild))
    expect("left in TMPDIR: %s" % os.listdir(temporary),
           not os.listdir(temporary))

# -- a run that ends by itself leaves nothing there, either --
execute([TIRC, "run", DIGITS, "-q", "--output", path("y.npz")],
        env=environment)
execute([TIRC, "run", DIGITS, "-q", "--cc", "false"], status=1,
        env=environment)
expect("left in TMPDIR: %s" % os.listdir(temporary),
       not os.listdir(temporary))

# -- memory; sanitizers reserve more address space than any limit --
if not SANITIZED:
    def limited(kibibytes):
        out = path("limited-%d" % kibibytes)
        done = subprocess.run(
            [TIRC, "compile", DIGITS, "-q", "-o", out], text=True,
            capture_output=True, preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_AS, (kibibytes * 1024, kibibytes * 1024)))
        if done.returncode == 0:
            return True
        # With less than this the dynamic loader has a message of its own.
        expect("status %d with %d KiB of memory:\n%s" %
               (done.returncode, kibibytes, done.stderr),
               done.returncode in (1, 127) and done.stderr.strip())
        expect("files of a run without memory",
               not os.path.isdir(out) or not os.listdir(out))
        return False

    size = 8192
    while not limited(size):
        size += 512
        expect("no run with %d KiB of memory" % size, size < 400000)
    expect("the limit never mattered", size > 8192)

# -- files of the user's --
out = path("own")
for target in ["c99", "misra", "opencl", "cuda", "c99"]:
    tirc("compile", DIGITS, "-o", out, "-q", "--target", target)
for form in [["--form", "graph"], ["--weights", "file"],
             ["--weights", "incbin"], ["--weights", "section"]]:
    for _ in range(2):
        tirc("compile", DIGITS, "-o", out, "-q", *form)
with open(os.path.join(out, "digits.c"), "w") as f:
    f.write("int main(void) { return 0; } /* tirc */\n")
before = contents(out)
seen = tirc("compile", DIGITS, "-o", out, "-q", "--weights", "c", status=1)
expect("no word of the file and of --force:\n" + seen.stderr,
       "digits.c" in seen.stderr and "--force" in seen.stderr)
expect("a file was changed", contents(out) == before)
tirc("compile", DIGITS, "-o", out, "-q", "--force")
expect("--force did not replace digits.c",
       contents(out)["digits.c"] != before["digits.c"])

for verb, arguments, name in [
        ("codegen", [PROGRAM, "-o", out], "add.c"),
        ("dialect", ["selftest", "c99", "-o", out], "selftest.h"),
        ("partition", [DIGITS, "-q", "-o", os.path.join(out, "p.json")],
         "p.json"),
        ("partition", [DIGITS, "-q", "-o", os.path.join(out, "q.json")],
         "q.weights")]:
    with open(os.path.join(out, name), "w") as f:
        f.write('{"mine": true}\n')
    before = contents(out)
    tirc(verb, *arguments, status=1)
    expect("%s changed a file" % verb, contents(out) == before)
    tirc(verb, *arguments, "--force")
    tirc(verb, *arguments)

# -- a file that cannot be whole is not touched --
with open(path("broken.py"), "w") as f:
    f.write("import tvm\nprint(1)\nnonsense(\n")
shutil.copy(PROGRAM, path("kept.txt"))
tirc("lower", path("broken.py"), "-o", path("kept.txt"), status=1)
with open(path("kept.txt")) as a, open(PROGRAM) as b:
    expect("lower -o changed a file and failed", a.read() == b.read())
expect("parts are left: %s" % os.listdir(folder),
       not [name for name in os.listdir(folder) if name.endswith(".part")])

# -- what a build must look at again --
strange = path("a b$c#d")
os.mkdir(strange)
shutil.copy(DIGITS, os.path.join(strange, "m 1.onnx"))
os.mkdir(path("built"))
tirc("compile", os.path.join(strange, "m 1.onnx"), "-q", "-o", strange,
     "--name", "m", "--depfile", path("m.d"))
with open(path("Makefile"), "w") as f:
    f.write("include m.d\n%.c:\n\t@true\n")
if shutil.which("make"):
    seen = execute(["make", "-s", "-C", folder, "-q",
                    os.path.join(strange, "m.c")],
                   status=None)
    expect("make does not read the dependency file:\n" + seen.stderr,
           seen.returncode == 0)
    later = time.time() + 100
    os.utime(os.path.join(strange, "m 1.onnx"), (later, later))
    seen = execute(["make", "-s", "-C", folder, "-q",
                    os.path.join(strange, "m.c")], status=None)
    expect("make does not see that the model is newer:\n" + seen.stderr,
           seen.returncode == 1)
