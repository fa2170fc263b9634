# SPDX-License-Identifier: Apache-2.0
"""nvcc as the tests use it."""
import os
import shutil

from helper import execute, fail, skip


def find():
    """The path of nvcc; without one the test is skipped."""
    usual = "/usr/local/cuda/bin/nvcc"
    nvcc = shutil.which("nvcc") or (os.path.exists(usual) and usual)
    return nvcc or skip("nvcc is not installed")


def accept(source, arch, *flags, host=False):
    """nvcc compiles `source` for `arch` ("": its default) without a warning.
    The device's code is compiled alone, which takes a fourth of the time;
    with `host` so is the host's, which is the same for every arch."""
    done = execute([find(), "-Werror", "all-warnings",
                    *(["-arch=" + arch] if arch else []), *flags,
                    "-c" if host else "-cubin", source,
                    "-o", source + (".o" if host else ".cubin")])
    # ptxas warns of wgmma instructions that wait for each other by a note.
    if "serialized" in done.stdout + done.stderr:
        fail(done.stdout + done.stderr)
