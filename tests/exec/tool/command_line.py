#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_line.py: what a newcomer meets: the lists of targets and passes, the next
step that `tirc compile` prints, files named for the model, `tirc test` without
data, a program for another processor; a manual page and completions that know all
options."""
import os
import platform
import pty
import re
import shlex
import shutil
import subprocess

from helper import (DIGITS, TIRC, compiler_of_old_processor, execute, fail,
                    has_dialect, need, tirc, work_folder)
from proto import graph, model, node, value_info

need("cc")
FAST = ["--cc", "tcc", "--cflags", "-w"] if shutil.which("tcc") else []
folder = work_folder()


def expect(what, condition):
    if not condition:
        fail(what)


def check_output(text, words):
    expect("%r is not in:\n%s" % (words, text), words in text)


# -- lists --
targets = tirc("targets").stdout
names = tirc("targets", "--names").stdout.split()
passes = tirc("passes").stdout
expect("the targets", [row.split()[0] for row in targets.splitlines()] == names)
for name, mark in [("c99", "(default)"), ("native", "(default of run and test)")]:
    row = re.search(r"^ +%s +.*$" % name, targets, re.M)
    expect("%s is not marked %s" % (name, mark), row and row[0].endswith(mark))
expect("the passes", [row.split()[0] for row in passes.splitlines()[2:]]
       == tirc("passes", "--names").stdout.split())
helped = tirc("compile", "--help").stdout
expect("help compile", tirc("help", "compile").stdout == helped)
expect("help", tirc("help").stdout == tirc("--help").stdout)

seen = tirc("lower", "--explain-schedule", "conv", status=2)
check_output(seen.stderr, "--explain-schedule needs a model")
seen = tirc("compile", "model.onnx", "-o", "-", status=2)
check_output(seen.stderr, "-o cannot be -; -o DIR: folder for the files")

# -- a model without data, whose exporter gives all graphs one name --
path = os.path.join(folder, "two words.onnx")
with open(path, "wb") as file:
    file.write(model(graph([node("Softmax", ["x"], ["y"], axis=1)],
                           [value_info("x", ["n", 5])],
                           [value_info("y", ["n", 5])], name="main_graph")))
out = os.path.join(folder, "out")
options = ["--dim", "n=1..4", "--conv", "direct"]
said = tirc("compile", path, "-o", out, *options, "--force",
            "--time-passes").stdout
expect("files are named main_graph: %s" % os.listdir(out),
       "two_words.c" in os.listdir(out))
step = re.search(r"^next     tirc (test .*)$", said, re.M)
expect("no next step:\n" + said, step and shlex.split(step[1]) == [
    "test", path, *options, "--target", "c99"])
seen = tirc(*shlex.split(step[1]), *FAST)
for size in (4, 1, 2):
    check_output(seen.stdout, "ok    random inputs, n = %d  y" % size)
check_output(seen.stderr, "random values for 1 input, compared")
check_output(seen.stderr, "tirc test %s data.npz" % shlex.quote(path))
check_output(seen.stdout, "random inputs passed")
check_output(seen.stderr, "compared with the interpreter")
# On a terminal each long step is shown while it takes its time.
terminal, theirs = pty.openpty()
subprocess.run([TIRC, *shlex.split(step[1]), *FAST], stderr=theirs,
               stdout=subprocess.DEVNULL, check=True)
os.close(theirs)
shown = os.read(terminal, 1 << 16).decode()
for part in ("source", "compiling two_words.c", "1/1 interpreter",
             "running the program"):
    check_output(shown, part)

said = tirc("compile", DIGITS, "-o", os.path.join(folder, "package"), "--package",
            "plain", "--target", "gnu-c").stdout
step = re.search(r"^next     (cd .*)$", said, re.M)
expect("no next step of a package:\n" + said, step)
if shutil.which("make"):
    check_output(execute(["sh", "-c", step[1]]).stdout, "are right")

# A graph has no header, and its executor does not run on simulated boards.
for target in "cortex-m4", "aarch64":
    said = tirc("compile", DIGITS, "-o", os.path.join(folder, "graph"), "--form",
                "graph", "--target", target).stdout
    check_output(said, "next     the executor of runtime-c runs digits_graph.json;")

# --seed chooses the random inputs of a model.
given = []
plain = shutil.copy(DIGITS, os.path.join(folder, "plain.onnx"))
for seed in ([], ["--seed", "0"], ["--seed", "1"], ["--seed", "2"]):
    kept = os.path.join(folder, "kept%d" % len(given))
    tirc("test", plain, "--target", "c99", "--keep", kept, *seed)
    given.append([open(os.path.join(kept, name), "rb").read()
                  for name in sorted(os.listdir(kept)) if "input" in name])
expect("--seed: %s" % [len(x) for x in given], given[0] and
       given[0] == given[1] != given[2] != given[3] != given[0])

# Only a target with threads shares loops, whatever its number of cores is.
for target, says in (
        ("c99 -cores=4", "threads  one; for several see docs/how-to/threads.md\n"),
        ("c-openmp -cores=4", "planned for 4 cores (-cores=N in --target); "
         "-fopenmp is linked\n"),
        ("c-threads -cores=3", "the caller provides the threads\n")):
    if target.startswith("c99") or has_dialect(target.split()[0]):
        check_output(tirc("compile", DIGITS, "-o", os.path.join(folder, "threads"),
                          "--target", target).stdout, says)
said = tirc("compile", DIGITS, "-o", os.path.join(folder, "board"), "--package",
            "cmake", "--target", "cortex-m4").stdout
check_output(said, "CMAKE_TOOLCHAIN_FILE=YOUR.cmake")

# A wrong program is found without data.
wrong = os.path.join(folder, "wrong-cc")
with open(wrong, "w", encoding="utf-8") as file:
    file.write("#!/bin/sh\nsed -i 's/exp_f32(x/exp_f32(-x/' two_words.c\n"
               "exec cc \"$@\"\n")
os.chmod(wrong, 0o755)
seen = tirc("test", path, *options, "--target", "c99", "--cc", wrong, status=1)
check_output(seen.stdout, "random inputs failed")

# -- a program with instructions that the processor lacks --
for name, lines in [("killed", "kill -ILL $$"), ("status", "exit 132")]:
    runner = os.path.join(folder, name)
    with open(runner, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n%s\n" % lines)
    os.chmod(runner, 0o755)
    seen = tirc("test", path, *options, *FAST, "--runner", runner, status=1)
    check_output(seen.stderr, "instructions that this processor lacks")

if platform.machine() == "x86_64" and has_dialect("gnu-c") and shutil.which("gcc"):
    old = compiler_of_old_processor(os.path.join(folder, "old_cc"))
    seen = tirc("test", path, *options, "--target", "x86-64-v3", "--cc", old,
                status=1)
    check_output(seen.stderr, "instructions that this processor lacks (AVX2)")
    expect("a program was run", not seen.stdout)

# -- the manual page and completions --
options = sorted(set(re.findall(r"--([a-z][a-z-]*)", "".join(
    line[:32] for verb in ("compile", "run", "test", "lower", "dialect")
    for line in tirc(verb, "--help").stdout.splitlines(True)
    if re.match("  (-.,|   ) --", line)))))
expect("few options: %s" % options, len(options) > 50)
texts = {word: tirc("help", word).stdout for word in ("man", "bash", "zsh")}
for option in options:
    for word, text in texts.items():
        shown = option.replace("-", "\\-") if word == "man" else "--" + option
        expect("%s lacks --%s" % (word, option), shown in text)
for word, command in [("man", ["groff", "-ww", "-man", "-Tutf8", "-z"]),
                      ("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"])]:
    if shutil.which(command[0]):
        done = subprocess.run(command, input=texts[word], text=True,
                              capture_output=True)
        expect("%s: %s" % (word, done.stderr),
               done.returncode == 0 and not done.stderr)
if shutil.which("bash"):
    script = os.path.join(folder, "completions.bash")
    with open(script, "w", encoding="utf-8") as file:
        file.write(texts["bash"])
    for words, want in [
            (["compi"], "compile"), (["test", "--lay"], "--layers"),
            (["compile", "--target", "cortex-m0p"], "cortex-m0plus"),
            (["compile", "m.onnx", "--weights", "in"], "incbin"),
            (["compile", "--out", ""], ""), (["compile", "mod"], "")]:
        words = ["tirc", *words]
        done = execute(["bash", "-c", ". %s; COMP_WORDS=(%s); COMP_CWORD=%d; "
                        "_tirc; echo ${COMPREPLY[@]}"
                        % (shlex.quote(script), shlex.join(words),
                           len(words) - 1)]).stdout.strip()
        expect("%s is completed to %s" % (words, done), done == want)
