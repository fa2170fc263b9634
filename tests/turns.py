# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is where each run takes a part of the cases, another one after
each commit."""
import datetime
import functools
import hashlib
import subprocess

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


def either(name, choices):
    """One of the choices, for a case."""
    return sorted(choices)[(this_turn()[0] + number_of(name)) % len(choices)]
