#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tirc compare`: the trace of a run is equal to the interpreter's results; after one
token of a kernel's source is changed, the tensor that this kernel wrote is named first,
with the kernel, its nodes and the element, on this machine, on a simulated board, and
beside another trace. So is a halo with other values, and a run that takes another way.
A trace with a mistake anywhere is refused with the line."""
import os
import re
import shutil
import struct
import zlib

from helper import (DIGITS, ROOT, compile_model, compilers, execute, fail,
                    has_dialect, skip, tirc, work_folder)
from traced import EXAMPLE, RUNTIME, record, sources, trace_of, write_main

CC = [compilers()[0], "-std=c99", "-DTIRC_ANY_PROCESSOR"]
TARGET = "c99-scalar"
BOARD = "cortex-m4"
# A loop of kernel pool1, and what becomes of it.
POOL = ("kh < 2;", "kh < 1;")
folder = work_folder()


def compare(*arguments, status=0):
    done = tirc("compare", *arguments, status=status)
    return done.stdout if status < 2 else done.stderr


def plant(out, name, old, new):
    """One token of a kernel's source is another one."""
    path = os.path.join(out, "digits.c")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    at = text.find(old, text.find("\n%s(const" % name))
    if at < 0:
        fail("kernel %s has no '%s'" % (name, old))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text[:at] + new + text[at + len(old):])


def check_fault(trace, target):
    said = compare(trace, DIGITS, "--target", target, status=1)
    lines = said.splitlines()
    if not re.match(r"FAIL  run 1  pool1  max abs [\d.]+, rel .*; \d+ of 256 "
                    r"beyond, worst at \[0,\d+,\d+,\d+\]: .*, expected ",
                    lines[0]):
        fail("%s: the first tensor: %s" % (target, said))
    if lines[1] != ("      written by kernel pool1 (node MaxPool 'pool1'), "
                    "tensor 3 of 6"):
        fail("%s: the kernel: %s" % (target, said))
    if "later tensors differ, too: relu2, fc" not in lines[2] or \
            lines[-1] != "differs":
        fail("%s: what follows: %s" % (target, said))
    if compare(trace, DIGITS, "--target", target, "-q",
               status=1).count("FAIL") != 1:
        fail("%s: -q hides a difference" % target)


def kept(trace, name):
    path = os.path.join(folder, name)
    shutil.copy(trace, path)
    return path


def here():
    """On this machine. Gives the right trace."""
    out = compile_model(DIGITS, "--target", TARGET, "--trace")
    good = kept(trace_of(CC, out, EXAMPLE), "good.trace")
    if not compare(good, DIGITS, "--target", TARGET).endswith("\nequal\n"):
        fail("a right trace differs")
    plant(out, "pool1", *POOL)
    bad = trace_of(CC, out, EXAMPLE)
    check_fault(bad, TARGET)
    said = compare(bad, good, status=1)
    if not said.startswith("FAIL  run 1  pool1  ") or \
            "written by kernel pool1, tensor 3 of 6" not in said:
        fail("beside another trace: " + said)
    if compare(good, good) != ("ok    run 1  6 tensors: 6 equal, 0 within the "
                               "tolerance\nequal\n"):
        fail("a trace differs from itself")
    return good


def given_inputs(good):
    """Inputs of --data: an input of the board that is another one is named."""
    out = compile_model(DIGITS, "--target", TARGET, "--trace")
    data = os.path.join(os.path.dirname(DIGITS), "test_data_set_0")
    said = compare(good, DIGITS, "--target", TARGET, "--data", data, status=1)
    if not said.startswith("FAIL  run 1  image  ") or \
            "written by the caller" not in said:
        fail("other inputs than the trace has: " + said)
    done = tirc("compare", trace_of(CC, out, write_main(out, runs=2)), DIGITS,
                "--target", TARGET, "--data", data, status=2)
    if "2 runs, and --data gives 1 data sets" not in done.stderr:
        fail("two runs, one data set: " + done.stderr)


def halo():
    """A halo that is no halo is the fault of the kernel that wrote it."""
    out = compile_model(DIGITS, "--target", "c99", "--trace")
    plant(out, "pool1", "= 0.0f;", "= 7.0f;")
    said = compare(trace_of(CC, out, EXAMPLE), DIGITS, "--target", "c99",
                   status=1)
    if not re.search(r"pool1, written by kernel pool1 \(node MaxPool 'pool1'\), "
                     r"has 7 beside its elements, at \[0,\d+,-?\d+,-?\d+\], "
                     r"where the program has 0", said):
        fail("a halo: " + said)


def board_trace(out):
    """The trace of a program for the simulated board."""
    runtime = ["tirc_board.c", "tirc_board_arm.c", "tirc_trace.c"]
    flags = ("-std=gnu11 -O2 -mthumb -mcpu=cortex-m4 -mfloat-abi=hard "
             "-mfpu=fpv4-sp-d16 -nostartfiles --specs=rdimon.specs "
             "-Wl,--defsym=tirc_board_hz=25000000 -Wl,--defsym=tirc_vectors=0x0 "
             "-Wl,--defsym=tirc_flash=0x400 "
             "-Wl,--defsym=tirc_flash_bytes=0x3ffc00 "
             "-Wl,--defsym=tirc_ram=0x21000000 "
             "-Wl,--defsym=tirc_ram_bytes=0x1000000").split()
    program = os.path.join(out, "board.elf")
    execute(["arm-none-eabi-gcc", *flags, "-T",
             os.path.join(RUNTIME, "tirc_board.ld"), "-I", out, "-I", RUNTIME,
             EXAMPLE, *sources(out),
             *(os.path.join(RUNTIME, name) for name in runtime), "-lm",
             "-o", program])
    return record(os.path.join(out, "board.trace"),
                  ["qemu-system-arm", "-machine", "mps2-an386", "-icount",
                   "shift=0", "-display", "none", "-monitor", "none",
                   "-serial", "none", "-semihosting-config",
                   "enable=on,target=native", "-kernel", program])


def on_a_board(good):
    """The same, by a processor that a simulator executes."""
    missing = [tool for tool in ("arm-none-eabi-gcc", "qemu-system-arm")
               if shutil.which(tool) is None]
    if missing or not has_dialect("gnu-arm"):
        skip("no board, for want of " + (" and ".join(missing) or "gnu-arm")
             + "; the rest passed")
    out = compile_model(DIGITS, "--target", BOARD, "--trace")
    trace = board_trace(out)
    if not compare(trace, DIGITS, "--target", BOARD).endswith("\nequal\n"):
        fail("the board's trace differs")
    if not compare(trace, good).endswith("\nequal\n"):
        fail("the board's trace differs from this machine's")
    plant(out, "pool1", *POOL)
    check_fault(board_trace(out), BOARD)


# -- traces that are refused, and other ways to write one --

def tensor(kernel, name, kind, sizes, data, raw=False):
    line = "tensor %s %s %s %d%s %d %s\n" % (
        kernel, name, kind, len(sizes), "".join(" %d" % d for d in sizes),
        len(data), "raw" if raw else "hex")
    check = zlib.crc32(line.encode() + data)
    lines = data.hex() + "\n" if data else ""
    body = data + b"\n" if raw else lines.encode()
    return line.encode() + body + b"check %08x\n" % check


def run(*tensors, order="little", name="net", digest="-", count=None):
    return (b"tirc-trace 1 %s %s %s\n" % (name.encode(), digest.encode(),
                                          order.encode())
            + b"".join(tensors)
            + b"end %d\n" % (len(tensors) if count is None else count))


def write(name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


X = struct.pack("<3f", 1, 2, 3)
GOOD = run(tensor("-", "x", "float32", [3], X),
           tensor("k", "y%20z", "float32", [3], X))


def other_forms():
    """The same run, written in other ways."""
    swapped = struct.pack(">3f", 1, 2, 3)
    forms = {
        "returns": GOOD.replace(b"\n", b"\r\n"),
        "around": b"boot\xff\n\n" + GOOD + b"bye",
        "raw": run(tensor("-", "x", "float32", [3], X, True),
                   tensor("k", "y%20z", "float32", [3], X, True)),
        "big": run(tensor("-", "x", "float32", [3], swapped),
                   tensor("k", "y%20z", "float32", [3], swapped), order="big"),
        "short lines": GOOD.replace(X.hex().encode(),
                                    X.hex()[:8].encode() + b"\n"
                                    + X.hex()[8:].upper().encode()),
    }
    good = write("plain.trace", GOOD)
    for name, data in forms.items():
        said = compare(write("form.trace", data), good)
        if "2 tensors: 2 equal" not in said:
            fail("%s: %s" % (name, said))
    empty = write("empty.trace", run(tensor("k", "y", "float32", [0, 3], b"")))
    if "1 equal" not in compare(empty, empty):
        fail("a tensor without elements")


def another_way():
    """A run that has other tensors from some place on."""
    good = write("plain.trace", GOOD)
    other = write("other.trace", run(tensor("-", "x", "float32", [3], X),
                                     tensor("l", "u", "float32", [3], X)))
    said = compare(other, good, status=1)
    if ("after 1 tensors comes tensor 'u' of kernel 'l', in the other trace "
            "tensor 'y z' of kernel 'k'") not in said:
        fail("another way: " + said)
    short = write("short.trace", run(tensor("-", "x", "float32", [3], X)))
    said = compare(short, good, status=1)
    if "comes the end of the run, in the other trace tensor 'y z'" not in said:
        fail("a shorter run: " + said)


BAD = {
    "no trace": (b"hello\n", "no line begins with 'tirc-trace '"),
    "version": (GOOD.replace(b"trace 1", b"trace 2"), ":1: the version"),
    "order": (GOOD.replace(b"little", b"middle"), ":1: a run begins with"),
    "cut": (GOOD[:-6], ":7: the trace ends after 2 tensors"),
    "cut in a tensor": (GOOD[:150], "ends within tensor"),
    "count": (GOOD.replace(b"end 2", b"end 3"), ":8: the run has 2 tensors"),
    "changed": (GOOD.replace(b"0000803f", b"0000803e", 1),
                ":4: the check of tensor 'x' is "),
    "lost": (GOOD.replace(b"0000803f", b"000080", 1),
             ":4: the line has 14 digits, where 1 bytes"),
    "added": (GOOD.replace(b"0000803f", b"0000803f00", 1),
              ":3: the line has 26 digits, where 12 bytes"),
    "no digit": (GOOD.replace(b"0000803f", b"0000g03f", 1),
                 ":3: column 5 has no hexadecimal digit"),
    "log": (GOOD.replace(b"tensor k", b"I (312) wifi\ntensor k"),
            ":5: the line is neither a tensor nor the end"),
    "binary": (GOOD.replace(b"tensor k", b"tensor \x07k"),
               ":5: byte 8 is not printable"),
    "type": (GOOD.replace(b"float32", b"float33", 1), ":2: the type"),
    "rank": (GOOD.replace(b"float32 1 3", b"float32 99 3", 1), ":2: the rank"),
    "size": (GOOD.replace(b"float32 1 3", b"float32 1 -3", 1),
             ":2: a size is no number"),
    "bytes": (GOOD.replace(b"3 12 hex", b"3 13 hex", 1), ":2: the bytes"),
    "many bytes": (run(b"tensor k y float32 2 4611686018427387904 "
                       b"4611686018427387904 0 hex\ncheck 00000000\n"),
                   ":2: the bytes"),
    "more than there is": (GOOD.replace(b"float32 1 3 12",
                                        b"float32 1 300000000 1200000000", 1),
                           ":2: the trace ends within"),
    "form": (GOOD.replace(b"hex", b"hax", 1), ":2: the line does not end in"),
    "name": (GOOD.replace(b"y%20z", b"y%2"), ":5: a name is missing"),
    "zero in a name": (GOOD.replace(b"y%20z", b"y%00"), ":5: a name"),
    "raw": (run(tensor("-", "x", "float32", [3], X, True)).replace(
        X, X + b"\1"), "no line ends after the bytes of tensor 'x'"),
    "long line": (GOOD.replace(b"y%20z", b"y" * 30000),
                  ":5: the line has more than"),
}


def refused(good):
    plain = write("plain.trace", GOOD)
    for name, (data, words) in BAD.items():
        said = compare(write("bad.trace", data), plain, status=2)
        if words not in said or said.count("\n") != 1:
            fail("%s: %s" % (name, said))
    for arguments, words in (
            ([good, DIGITS, "--target", "misra"], "give the options that"),
            ([good, plain, "--data", folder], "remove it"),
            ([good, write("two.trace", GOOD + GOOD)], "record the same runs"),
            ([good, os.path.join(folder, "none.trace")], "none.trace"),
            ([os.path.join(folder, "none.trace"), good], "none.trace"),
            ([write("x.trace", run(digest="00")), DIGITS],
             "the trace is of the model with digest 00"),
            ([write("x.trace", run(digest="00")), good],
             "with digest 00, ")):
        said = compare(*arguments, status=2)
        if words not in said or "error" not in said:
            fail("%s: %s" % (arguments, said))


trace = here()
given_inputs(trace)
halo()
other_forms()
another_way()
refused(trace)
on_a_board(trace)
