#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files that a model or a partition names, its external data or its
constants: plain files in its folder or below, with one name. Everything else is
refused with a message that says why, and nothing else is opened."""
import json
import os
import shutil
import sys

from helper import DIGITS, TIRC, execute, fail, tirc, work_folder
from proto import *

top = work_folder()
secret = os.path.join(top, "secret.bin")
values = floats(1, 2, 3)


def model_naming(folder, name):
    path = os.path.join(folder, "m.onnx")
    with open(path, "wb") as file:
        file.write(simple([node("Mul", ["x", "w"], ["y"])],
                          [external("w", [3], location=name)], (3,), (3,)))
    return path


def partition_naming(folder, name):
    path = os.path.join(folder, "p.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**partition, "weights": name}, file)
    return path


tirc("partition", DIGITS, "-o", os.path.join(top, "digits.json"))
with open(os.path.join(top, "digits.json"), encoding="utf-8") as file:
    partition = json.load(file)
with open(os.path.join(top, "digits.weights"), "rb") as file:
    constants = file.read()


def plain(path, data):
    with open(path, "wb") as file:
        file.write(data)


def hard_link(path, data):
    plain(path + ".other", data)
    os.link(path + ".other", path)


def link_inside(path, data):
    plain(path + ".other", data)
    os.symlink(os.path.basename(path) + ".other", path)


def link_outside(path, data):
    plain(secret, data)
    os.symlink(secret, path)


def pipe(path, data):
    os.mkfifo(path)


def folder_itself(path, data):
    os.mkdir(path)


def device(path, data):
    os.symlink("/dev/zero", path)


def nothing(path, data):
    pass


def in_linked_folder(path, data):
    """The file's folder is a link to one that lies in the same folder."""
    there = os.path.dirname(path)
    os.rename(there, there + ".other")
    os.symlink(os.path.basename(there) + ".other", there)
    plain(path, data)


def outside(path, data):
    plain(secret, data)


# name of the file, how it is made, part of the message or None
CASES = [
    ("d.bin", plain, None),
    ("./d.bin", plain, None),
    ("below//d.bin", plain, None),
    ("größe.bin", plain, None),
    ("d.bin", hard_link, "hard link"),
    ("d.bin", link_inside, "symbolic link"),
    ("d.bin", link_outside, "symbolic link"),
    ("below/d.bin", in_linked_folder, "symbolic link"),
    ("d.bin", device, "symbolic link"),
    ("d.bin", pipe, "a pipe"),
    ("below/d.bin", pipe, "a pipe"),
    ("d.bin", folder_itself, "a folder"),
    ("below/", nothing, "a folder"),
    (".", nothing, "a folder"),
    ("d.bin", nothing, "No such file"),
    ("d.bin/x", plain, "Not a directory"),
    ("../secret.bin", outside, "outside the"),
    ("below/../../secret.bin", outside, "outside the"),
    ("below/..", outside, "outside the"),
    (secret, outside, "outside the"),
    ("/dev/zero", nothing, "outside the"),
    ("/proc/self/mem", nothing, "outside the"),
    ("/etc/passwd", nothing, "outside the"),
    ("", nothing, "outside the"),
    ("d\u202enib.bin", plain, "hidden character"),
    ("d\nall:.bin", plain, "hidden character"),
]
for naming, data, owner in ((model_naming, values, "model"),
                            (partition_naming, constants, "partition")):
    for number_, (name, make, refusal) in enumerate(CASES):
        there = os.path.join(top, "%s%d" % (owner, number_))
        os.makedirs(os.path.join(there, "below"))
        if os.path.exists(secret):
            os.remove(secret)
        at = os.path.normpath(os.path.join(there, name.replace("/x", "")))
        make(at, data)
        path = naming(there, name)
        out = os.path.join(top, "out")
        shutil.rmtree(out, True)
        done = tirc("compile", path, "-o", out, status=1 if refusal else 0,
                    timeout=20)
        if refusal and (refusal not in done.stderr or ";" not in done.stderr
                        or os.path.exists(out)):
            fail("%s of a %s, %s: %s" % (name, owner, make.__name__,
                                         done.stderr))
        if refusal and done.stderr.count("\n") != 1:
            fail("%s of a %s has several messages: %s" % (name, owner,
                                                          done.stderr))
        if refusal == "outside the" and owner not in done.stderr:
            fail("%s: %s" % (name, done.stderr))

# A data set beside the model is found, not named: its files and its folder are
# plain ones, whatever reads them.
beside = os.path.join(top, "model0", "m.onnx")
data = os.path.join(top, "model0", "test_data_set_0")
array = os.path.join(data, "input_0.pb")
good = tensor("x", [3], floats(1, 2, 3))
os.mkdir(data)
READERS = (("test", beside), ("test", beside, "--const-input", "x"),
           ("compile", beside, "--package", "cmsis-pack"),
           ("test", beside, data), ("test", beside, data + "/"))


def not_read(what, message):
    for reader in READERS:
        out = ("-o", work_folder()) if reader[0] == "compile" else ()
        done = tirc(*reader, *out, status=1, timeout=60)
        if message not in done.stderr:
            fail("%s in a data set: %s" % (what, done.stderr))


for make, message in ((pipe, "a pipe or a device"),
                      (device, "is a symbolic link"),
                      (link_inside, "is a symbolic link"),
                      (link_outside, "is a symbolic link"),
                      (hard_link, "has another name elsewhere")):
    make(array, good)
    not_read(make.__name__, message)
    os.remove(array)
plain(array, good)
plain(os.path.join(data, "output_0.pb"), tensor("y", [3], floats(1, 4, 9)))
tirc("test", beside)
tirc("test", beside, data + "//")
tirc("test", "../m.onnx", ".", cwd=data)
os.rename(data, data + ".real")
os.symlink(data + ".real", data)
not_read("a linked folder", "is behind a symbolic link")

# What the user names may be a link.
os.symlink(os.path.join(top, "model0", "m.onnx"), os.path.join(top, "l.onnx"))
shutil.copy(os.path.join(top, "model0", "d.bin"), top)
os.link(os.path.join(top, "model0", "m.onnx"), os.path.join(top, "h.onnx"))
for name in ("l.onnx", "h.onnx"):
    tirc("compile", os.path.join(top, name), "-o", os.path.join(top, "out"))
# So may a pipe.
execute(["sh", "-c", 'cat "$0" | "$1" compile /dev/stdin -q -o "$2"', DIGITS,
         TIRC, work_folder()])
print("%d files are opened or refused" % (2 * len(CASES)))
sys.exit(0)
