# SPDX-License-Identifier: Apache-2.0
"""Other processors than this one. What is emitted for them is built for the
instructions that they have, and qemu, which refuses all others, runs it:

    processor = by_turn("a case", 4)    # or None: it is none of the fourth part
    if processor:
        tirc("test", model, *processor.options())

Which part of the cases it is, and on which processor each runs, changes with every
commit, as the part of ONNX's tests that conformance.py runs does."""
import collections
import platform
import shutil

from helper import skip
from turns import number_of, this_turn

_Processor = collections.namedtuple("Processor", "name target cc runner machine")


class Processor(_Processor):
    """`target` fits it, `cc` compiles for it and `runner` is the command before
    a program's name; `machine`: whose compiler that is (None: any machine's)."""

    def missing(self):
        """What it takes that is not here, or None."""
        if self.machine not in (None, platform.machine()):
            return "a compiler for " + self.machine
        for tool in (self.cc, self.runner[0]):
            if not shutil.which(tool):
                return tool
        return None

    def options(self):
        """Those of `tirc test` and `tirc run`."""
        return ["--target", self.target, "--cc", self.cc, "--runner",
                " ".join(self.runner)]


ALL = [
    # no AVX-512
    Processor("Haswell", "x86-64-v3", "gcc",
              ("qemu-x86_64", "-cpu", "Haswell"), "x86_64"),
    # no AVX
    Processor("Nehalem", "x86-64-v2", "gcc",
              ("qemu-x86_64", "-cpu", "Nehalem"), "x86_64"),
    Processor("Cortex-A57", "aarch64", "aarch64-linux-gnu-gcc",
              ("qemu-aarch64", "-cpu", "cortex-a57", "-L",
               "/usr/aarch64-linux-gnu"), None),
]


def for_target(target):
    """The processor that a target is for, or None; skips the test where it
    cannot be had."""
    for processor in ALL:
        if processor.target == target and platform.machine() != target:
            if processor.missing():
                skip(processor.missing() + " is not installed")
            return processor
    return None


def by_turn(name, parts):
    """The processor for a case, where the turn is that of its part."""
    turn = this_turn()[0] + number_of(name)
    if turn % parts:
        return None
    processor = ALL[turn // parts % len(ALL)]
    if processor.missing():
        print("%s is not run for %s: there is no %s" % (
            name, processor.name, processor.missing()))
        return None
    print("%s is run for %s, too" % (name, processor.name))
    return processor
