#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels of a model of `bench cpu` one by one: `tirc run --profile`."""
import argparse
import os
import sys

import cpu
import helper


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="Other words go to tirc run.")
    parser.add_argument("model", help="a file, or a name of `bench cpu`")
    parser.add_argument("--target", default="native")
    args, others = parser.parse_known_args()
    path = args.model
    for name, below, is_random in cpu.TABLE:
        if name == path:
            path = cpu.find_model(cpu.shared_models(), below, is_random)
    sys.stdout.flush()
    os.execv(helper.TIRC, [helper.TIRC, "run", path, "--profile", "--target",
                           args.target, *others])


if __name__ == "__main__":
    main()
