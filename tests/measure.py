#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""measure.py COMMAND...: runs it and prints one line of JSON: its exit status,
wall-clock and processor seconds, and peak resident bytes (pages of mapped files
included). A program of its own because a child's peak starts at that of the process that
started it: this one has to be small."""
import json
import os
import sys
import time

start = time.monotonic()
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                      file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
_, status, usage = os.wait4(pid, 0)
print(json.dumps({
    "status": os.waitstatus_to_exitcode(status),
    "seconds": time.monotonic() - start,
    "cpu_seconds": usage.ru_utime + usage.ru_stime,
    "peak_bytes": usage.ru_maxrss * 1024,
}))
