#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fleet_failures.py: the tuner is killed, the server is killed and starts anew from
its append-only file, and the disk of the records is full. No record is damaged or
lost, and after all of it the records are those of a run alone."""
import resource
import signal

from fleet_support import *

DURABLE = ["--appendonly", "yes", "--appendfsync", "always"]


def tune(out, **options):
    return start(TIRC, "tune", MODEL, *TARGET, *TRIALS, "-o", out, "--queue",
                 URL, **options)


def records(name):
    """The number of records; all lines are whole."""
    return len(read(name)) if os.path.exists(name) else 0


def is_as_alone(name):
    expect("the records are not those of a run alone",
           by_kernel(name) == by_kernel("alone.jsonl"), by_kernel(name))


def limit_files(most):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


try:
    port = free_port()
    process, redis = server(port, *DURABLE)
    URL = url_or_skip(port)
    tirc("tune", MODEL, *TARGET, *TRIALS, "-o", "alone.jsonl", "--runner",
         COMMAND)
    workers = [start_worker(URL, COMMAND, FLEET_TEST_SLEEP="0.2")
               for _ in range(4)]

    tuner = tune("fleet.jsonl")
    wait("there are records", lambda: records("fleet.jsonl") >= 2)
    tuner.kill()
    tuner.wait()
    before = records("fleet.jsonl")
    tuner = tune("fleet.jsonl")
    wait("the second tuner measures", lambda: records("fleet.jsonl") > before)
    process.kill()
    process.wait()
    expect("the tuner has ended too early", tuner.poll() is None)
    server(port, *DURABLE)
    wait("the tuner ends", lambda: tuner.poll() is not None)
    expect("the tuner fails", tuner.returncode == 0, tuner.stderr.read())
    is_as_alone("fleet.jsonl")
    expect("a worker has ended", all(p.poll() is None for p in workers))

    most = os.path.getsize("alone.jsonl") // 2
    tuner = tune("full.jsonl", preexec_fn=lambda: limit_files(most))
    wait("the tuner ends", lambda: tuner.poll() is not None)
    said = tuner.stderr.read()
    expect("a full disk is no error", tuner.returncode == 1 and
           "the record cannot be written" in said, said)
    expect("a full disk leaves no records, or too many",
           0 < records("full.jsonl") < records("alone.jsonl"))
    tuner = tune("full.jsonl")
    wait("the tuner ends", lambda: tuner.poll() is not None)
    expect("the tuner fails", tuner.returncode == 0, tuner.stderr.read())
    is_as_alone("full.jsonl")
finally:
    end_all()
