#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The queue of tirc tune and tirc worker under a simulated fleet: a Redis server
on this machine, and processes that offer and take jobs as tuners and workers do.
Nothing is compiled: a worker takes half a second to a second and a half for each
job. Prints how many jobs a second are answered, how long a job waits for a worker,
and how long its answer takes to the tuner. Exit status 1 if a job has no answer or
two."""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

DRIVER = os.path.join(os.path.dirname(os.environ.get("TIRC", "build/tirc")),
                      "bench", "fleet_driver")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_server(port, folder):
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save",
         "", "--dir", folder, "--logfile", "redis.log"])
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server
        except OSError:
            time.sleep(0.05)
    server.kill()
    sys.exit("fleet.py: redis-server does not start")


def main():
    parser = argparse.ArgumentParser(
        prog="./run bench fleet", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--tuners", type=int, default=20)
    parser.add_argument("--seconds", type=int, default=120)
    given = parser.parse_args()
    if not os.path.exists(DRIVER):
        sys.exit("fleet.py: tirc was built without hiredis")
    folder = tempfile.mkdtemp(prefix="tirc-bench-")
    port = free_port()
    server = start_server(port, folder)
    try:
        done = subprocess.run(
            [DRIVER, "redis://127.0.0.1:%d" % port, str(given.workers),
             str(given.tuners), str(given.seconds)],
            stdout=subprocess.PIPE, text=True, check=False)
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder)
    if done.returncode > 1:
        sys.exit(done.returncode)
    found = json.loads(done.stdout)
    print("%d workers, %d tuners, a job takes 0.5 to 1.5 s" %
          (given.workers, given.tuners))
    print("%d jobs, %d answers, %d of them twice" %
          (found["jobs"], found["answers"], found["twice"]))
    print("%.0f answers a second" % (found["answers"] / found["seconds"]))
    print("%-34s %8s %8s %8s %8s" % ("milliseconds", "median", "95 %", "99 %",
                                     "most"))
    for name, key in (("a job waits for a worker", "wait"),
                      ("an answer waits for the tuner", "back")):
        print("%-34s %8.1f %8.1f %8.1f %8.1f" % (name, *found[key]))
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
