#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A runner for `tirc tune --runner "cmd:python3 examples/tune/runner.py"`.

It gets a folder with the files of a job and job.json, builds the program, runs it
in the target's simulator (here, if the target names none), and prints the
instructions (here, nanoseconds) of a call. To measure on a board of yours, replace
run(): the program reads arguments.txt and array_*.bin, and writes times.txt and
result_*.bin, with which tirc checks what it computed."""
import json
import os
import shlex
import statistics
import subprocess
import sys


def run(job, folder):
    command = ["./" + job["program"]]
    if job["simulator"]:
        command = shlex.split(job["simulator"]) + command
        command += shlex.split(job["simulator_argument"]) + [""]
    subprocess.run(command, cwd=folder, check=True, timeout=600,
                   stdin=subprocess.DEVNULL, stdout=sys.stderr)


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    try:
        subprocess.run(shlex.split(job["compile"]), cwd=folder, check=True,
                       timeout=600, stdout=sys.stderr)
        run(job, folder)
        with open(os.path.join(folder, job["times"]), encoding="utf-8") as file:
            times = [float(line) for line in file]
        answer = {"time": statistics.median(times),
                  "unit": "instructions" if job["simulator"] else "ns"}
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        answer = {"error": str(error)}
    print(json.dumps(answer))


main()
