#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""golden.py [--status N] [--files] [--alone] EXPECTED COMMAND...

Runs COMMAND and compares what it prints, standard output and then standard
error, with the file EXPECTED; with --files, EXPECTED is a folder, `{out}` in
the command an empty folder, and the text files that the command leaves there
are compared instead. --alone: it finds no other program. REGEN=1 rewrites
EXPECTED. `{out}` and the source root are written as OUT and ROOT, so that no path
of this machine is compared."""
import argparse
import difflib
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.environ["TIRC_ROOT"]


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def differs(name, want, got):
    if want == got:
        return False
    sys.stdout.writelines(difflib.unified_diff(
        want.splitlines(True), got.splitlines(True),
        "expected/" + name, "got/" + name))
    return True


def compare_folder(expected, out, regen):
    got = sorted(os.listdir(out))
    if regen:
        shutil.rmtree(expected, ignore_errors=True)
        os.makedirs(expected)
        for name in got:
            shutil.copy(os.path.join(out, name), expected)
        return False
    want = sorted(os.listdir(expected)) if os.path.isdir(expected) else []
    failed = differs("(file names)", "\n".join(want) + "\n",
                     "\n".join(got) + "\n")
    for name in sorted(set(want) & set(got)):
        if name.endswith(".bin"):
            if not filecmp.cmp(os.path.join(expected, name),
                               os.path.join(out, name), shallow=False):
                print(name + " differs")
                failed = True
            continue
        failed |= differs(name, read(os.path.join(expected, name)),
                          read(os.path.join(out, name)))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--status", type=int, default=0)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("expected")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    regen = os.environ.get("REGEN") == "1"

    with tempfile.TemporaryDirectory() as out:
        command = [word.replace("{out}", out) for word in args.command]
        environment = dict(os.environ)
        if args.alone:
            environment["PATH"] = os.path.join(out, "bin")
        done = subprocess.run(command, cwd=ROOT, text=True, env=environment,
                              capture_output=True, stdin=subprocess.DEVNULL)
        text = done.stdout + done.stderr
        if done.returncode != args.status:
            print(text)
            sys.exit("exit status %d, want %d"
                     % (done.returncode, args.status))
        if args.files:
            failed = compare_folder(args.expected, out, regen)
        else:
            text = text.replace(out, "OUT").replace(ROOT, "ROOT")
            want = ""
            if regen:
                write(args.expected, text)
                want = text
            elif os.path.exists(args.expected):
                want = read(args.expected)
            failed = differs(os.path.basename(args.expected), want, text)
    sys.exit(1 if failed else 0)


main()
