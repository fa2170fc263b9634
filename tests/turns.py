# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is where each run takes a part of the cases, another one after
each commit. With TIRC_TURNS=all in the environment, a run takes all.

    turns.py PARTS NAME...      prints the names whose turn it is, one in PARTS
"""
import datetime
import functools
import hashlib
import os
import subprocess
import sys

from helper import ROOT


@functools.lru_cache(maxsize=None)
def this_turn():
    """(number, where it is from): the commits, else the day."""
    done = subprocess.run(["git", "-C", ROOT, "rev-list", "--count", "HEAD"],
                          text=True, capture_output=True)
    if done.returncode == 0:
        return int(done.stdout), "%d commits" % int(done.stdout)
    day = datetime.date.today()
    return day.toordinal(), "the day %s" % day


def number_of(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)


def all_turns():
    return os.environ.get("TIRC_TURNS") == "all"


def some(name, choices, n=1):
    """n of the choices, for a case, in their order; each has its turn."""
    first = this_turn()[0] + number_of(name)
    if all_turns() or n >= len(choices):
        return list(choices)
    taken = {(first * n + i) % len(choices) for i in range(n)}
    return [choice for i, choice in enumerate(choices) if i in taken]


def first_and_some(name, choices):
    """The first choice, and that of the others whose turn it is."""
    return [*choices[:1], *some(name, choices[1:])]


def is_turn_of(name, parts):
    """Whether a test runs that does so once in `parts` commits. Which one it is
    changes from time to time: the cases of the test, which may take turns, too,
    would else meet the same ones each time."""
    turn = this_turn()[0]
    return all_turns() or \
        (turn + turn // 10 + number_of(name)) % parts == 0


if __name__ == "__main__":
    for name in sys.argv[2:]:
        if is_turn_of(name, int(sys.argv[1])):
            print(name)
