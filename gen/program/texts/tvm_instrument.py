# SPDX-License-Identifier: Apache-2.0
"""tvm.instrument: instruments of pass contexts (lib_instrument.c calls their methods)."""
import time


def pass_instrument(pi_cls=None):
    """A decorator: any class may be an instrument."""
    return pass_instrument if pi_cls is None else pi_cls


class PassInstrument:
    """Does nothing around passes."""

    def enter_pass_ctx(self):
        pass

    def exit_pass_ctx(self):
        pass

    def should_run(self, mod, info):
        return True

    def run_before_pass(self, mod, info):
        pass

    def run_after_pass(self, mod, info):
        pass


class PassTimingInstrument(PassInstrument):
    """The time of each pass."""

    def __init__(self):
        self._lines, self._starts = [], []

    def enter_pass_ctx(self):
        self._lines, self._starts = [], []

    def run_before_pass(self, mod, info):
        self._starts.append((len(self._lines), time.time()))
        self._lines.append("")

    def run_after_pass(self, mod, info):
        at, start = self._starts.pop()
        self._lines[at] = "%s%s: %.0fus" % ("\t" * len(self._starts), info.name,
                                            (time.time() - start) * 1e6)

    def render(self):
        return "\n".join(self._lines) + "\n"
