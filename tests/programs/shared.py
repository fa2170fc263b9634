#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs beside the repository run as they stand. Texts that are fixed
there (PROGRAM.N.py: what print number N prints, in the old spelling) match to
the character; those of the others are in expected/shared/, reviewed by
reading. REGEN=1 rewrites them. Skips where the folder is absent."""
import difflib
import glob
import os
import subprocess
import sys

import helper

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.normpath(os.path.join(HERE, "..", "..", "..", "shared",
                                       "programs"))
FOLDER = os.environ.get("TIRC_PROGRAMS", FOLDER)
OURS = os.path.join(HERE, "expected", "shared")
# Programs that people published: those that read models of another folder, and those
# that run with --execute, too.
MODELS = ["nnvm_compiler", "relay_build", "relay_byoc", "relay_custom_pass",
          "tvmc_driver"]
EXECUTED = ["add_lower_pass", "cumsum_gpu", "irmodule", "printed_script",
            "slides", "te_build", "tensorize", "topi_sum"]


def lower(path, *options):
    done = subprocess.run([os.environ["TIRC"], "lower", path, *options],
                          text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit("%s: exit status %d\n%s" % (path, done.returncode,
                                             done.stderr))
    return done.stdout


def differs(name, want, got):
    diff = list(difflib.unified_diff(want.splitlines(True),
                                     got.splitlines(True),
                                     "expected/" + name, "got/" + name))
    sys.stdout.writelines(diff)
    return bool(diff)


programs = [path for path in sorted(glob.glob(os.path.join(FOLDER, "*.py")))
            if not helper.lacks_target(path)]
if not programs:
    print("skipped: there are no programs in " + FOLDER)
    sys.exit(77)
programs += [path for path in (os.path.join(FOLDER, "published", name + ".py")
                               for name in MODELS + EXECUTED)
             if os.path.exists(path) and not helper.lacks_target(path)]
failed = False
for path in programs:
    stem = os.path.basename(path)[:-3]
    fixed = sorted(glob.glob(os.path.join(FOLDER, "expected", stem + ".*.py")))
    if fixed:
        want = ""
        for part in fixed:
            with open(part, encoding="utf-8") as file:
                want += file.read()
        failed |= differs(stem, want, lower(path, "--script-version", "old"))
    options = ["--allow-files"] if stem in MODELS else []
    got = lower(path, *options)
    if stem in EXECUTED:
        failed |= differs(stem, got, lower(path, "--execute"))
    got = got.rstrip("\n") + "\n"
    mine = os.path.join(OURS, stem + ".txt")
    if os.environ.get("REGEN") == "1":
        os.makedirs(OURS, exist_ok=True)
        with open(mine, "w", encoding="utf-8") as file:
            file.write(got)
        continue
    with open(mine, encoding="utf-8") as file:
        failed |= differs(stem + ".txt", file.read(), got)
sys.exit(failed)
