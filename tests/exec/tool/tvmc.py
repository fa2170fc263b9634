#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tirc tvmc: packages of each format, as other readers of archives and of the Model
Library Format see them; their runs against those of tirc run; options that are noted or
refused; broken packages."""
import io
import json
import shutil
import struct
import subprocess
import tarfile
import zipfile

from helper import *

folder = work_folder()
IMAGE = [((7 * i) % 17) / 16 for i in range(64)]


def run(*arguments, status=0, program=(TIRC, "tvmc")):
    done = subprocess.run([*program, *arguments], cwd=folder, text=True,
                          capture_output=True)
    if done.returncode != status:
        fail("tvmc %s: status %d, not %d\n%s" % (
            " ".join(arguments), done.returncode, status, done.stderr))
    return done


def path(name):
    return os.path.join(folder, name)


def npz(name, arrays):
    """Writes float32 arrays: shape and elements by name."""
    with zipfile.ZipFile(path(name), "w") as z:
        for key, (shape, elements) in arrays.items():
            head = "{'descr': '<f4', 'fortran_order': False, 'shape': %r, }" % (
                tuple(shape),)
            head += " " * (-(10 + len(head) + 1) % 64) + "\n"
            z.writestr(key + ".npy", b"\x93NUMPY\x01\x00" + struct.pack(
                "<H", len(head)) + head.encode() + struct.pack(
                    "<%df" % len(elements), *elements))


def elements(name, key):
    with zipfile.ZipFile(path(name)) as z:
        data = z.read(key + ".npy")
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return struct.unpack("<%df" % ((len(data) - start) // 4), data[start:])


npz("in.npz", {"image": ((1, 1, 8, 8), IMAGE)})
tirc("run", DIGITS, "--input", path("in.npz"), "--output", path("want.npz"), "-q")
with zipfile.ZipFile(path("want.npz")) as z:
    want = elements("want.npz", z.namelist()[0][:-len(".npy")])

MEMBERS = {
    ("mlf", "graph"): {"metadata.json", "executor-config/graph/digits.graph",
                       "parameters/digits.params", "src/digits.relay",
                       "codegen/host/src/digits_kernels.c",
                       "codegen/host/include/digits_kernels.h"},
    ("mlf", "aot"): {"metadata.json", "src/digits.relay",
                     "codegen/host/src/digits.c", "codegen/host/include/digits.h"},
    ("source", "graph"): {"digits_kernels.c", "digits_graph.json", "digits.params"},
    ("so", "graph"): {"mod.so", "mod.json", "mod.params"},
}
for (form, executor), members in MEMBERS.items():
    arguments = ["compile", "--target", "llvm", "--input-shapes",
                 "image:[1, 1, 8, 8]", "--executor", executor,
                 "--output-format", form, "--output", "m.tar", DIGITS]
    run(*arguments)
    with open(path("m.tar"), "rb") as f:
        first = f.read()
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        names = set(tar.getnames())
        if not members | {"src/model.json", "src/model.weights"} <= names:
            fail("%s, %s: members %s" % (form, executor, sorted(names)))
        if form == "mlf":
            top = json.load(tar.extractfile("metadata.json"))
            module = top["modules"]["digits"]
            if top["version"] != 7 or module["executors"] != [executor] or \
                    module["style"] != "full-model":
                fail("metadata.json: %r" % top)
            text = tar.extractfile("src/digits.relay").read().decode()
            if "nn.conv2d(" not in text:
                fail("src/digits.relay:\n" + text)
    if form != "so":
        run(*arguments)
        with open(path("m.tar"), "rb") as f:
            if f.read() != first:
                fail("%s: two packages of a model differ" % form)
    done = run("run", "--inputs", "in.npz", "--outputs", "got.npz", "--print-time",
               "--repeat", "2", "--number", "3", "m.tar")
    if "Execution time summary:\n" not in done.stdout:
        fail("no times\n" + done.stdout)
    got = elements("got.npz", "output_0")
    if any(abs(a - b) > 1e-5 for a, b in zip(got, want)) or len(got) != len(want):
        fail("%s, %s: %r, not %r" % (form, executor, got, want))

# Inputs that are made, and the largest elements.
done = run("run", "m.tar", "--fill-mode", "ones", "--print-top", "2")
if len(done.stdout.strip().split("\n")) != 2:
    fail("--print-top 2 prints\n" + done.stdout)

# The program by its other name; a board's package runs on its simulator.
os.symlink(TIRC, path("tvmc"))
run("compile", "-f", "mlf", "-o", "b.tar", "--target=c -model=stm32f746xx", DIGITS,
    program=[path("tvmc")])
run("compile", "-f", "mlf", "-o", "b.tar", "--target-llvm-mcpu=cortex-m4", DIGITS)
with tarfile.open(path("b.tar")) as tar:
    module = json.load(tar.extractfile("metadata.json"))["modules"]["digits"]
if module["target"] != ["cortex-m4"]:
    fail("--target-llvm-mcpu: %r" % module)


def says(words, *arguments, status):
    done = run(*arguments, status=status)
    if words not in done.stderr:
        fail("tvmc %s says\n%s" % (" ".join(arguments), done.stderr))


if shutil.which("cc"):
    says("--timeout is not read", "tune", "--target", "c", "--trials", "1",
         "--timeout", "10", "--output", "r.jsonl", DIGITS, status=0)
    with open(path("r.jsonl")) as file:
        records = [json.loads(line) for line in file]
    if not records or {r["target"] for r in records} != {"c99"}:
        fail("tvmc tune wrote %d records" % len(records))
    run("compile", "-f", "mlf", "-o", "c.tar", "--target", "c",
        "--tuning-records", "r.jsonl", DIGITS)
says("No such file", "compile", "-f", "mlf", "-o", "c.tar", "--tuning-records",
     "none.json", DIGITS, status=1)
says("add --output", "tune", "--target", "llvm", DIGITS, status=2)
says("--queue", "tune", "--rpc-tracker", "x:1", "-o", "r.jsonl", DIGITS, status=2)
says("--package", "micro", "create", status=1)
says("did you mean --output?", "compile", "--outptu", "x", DIGITS, status=2)
says("it is so|mlf|source", "compile", "-f", "elf", DIGITS, status=2)
says("--output-format source", "compile", "--dump-code", "relay", DIGITS, status=2)
says("--input-shapes image:[1 has no ]", "compile", "--input-shapes", "image:[1",
     DIGITS, status=1)
says("no model is given", "compile", status=2)
says("--device cuda", "run", "m.tar", "--device", "cuda", status=2)
says("cannot be read", "run", "none.tar", status=1)

# Files that are not packages, or are damaged.
with open(path("m.tar"), "rb") as f:
    whole = f.read()
for broken in (b"", b"PK\x03\x04" + b"\0" * 600, whole[:700], whole[:-2000],
               whole[:300] + b"\xff" + whole[301:], b"\0" * 1024):
    with open(path("broken.tar"), "wb") as f:
        f.write(broken)
    says("package", "run", "broken.tar", status=1)
with tarfile.open(path("twice.tar"), "w") as tar:
    for name in ("src/model.json", "src/model.json"):
        member = tarfile.TarInfo(name)
        member.size = 2
        tar.addfile(member, io.BytesIO(b"{}"))
says("not a complete package of tirc tvmc compile", "run", "twice.tar", status=1)
with tarfile.open(path("link.tar"), "w") as tar:
    member = tarfile.TarInfo("src/model.json")
    member.type = tarfile.SYMTYPE
    member.linkname = "/etc/passwd"
    tar.addfile(member)
says("not a complete package of tirc tvmc compile", "run", "link.tar", status=1)
