#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is stored in order (running sums, updates) gives the same on each target
for a processor, with the sanitizers too."""
import os
import shutil
import sys

import helper

try:
    import ordered_nodes
except ImportError as missing:
    helper.skip(str(missing))

helper.results_alone()


def main():
    model, data = ordered_nodes.write(helper.work_folder())
    for target in ("c99", "gnu-c", "misra", "c-openmp", "c-threads"):
        if helper.has_dialect(target):
            helper.tirc("test", model, data, "--target", target)
    if shutil.which("gcc"):
        helper.tirc("test", model, data, "--target", "c99",
                    env=dict(os.environ, CC=(
                        "gcc -fsanitize=address,undefined "
                        "-fno-sanitize-recover=all")))


if __name__ == "__main__":
    sys.exit(main())
