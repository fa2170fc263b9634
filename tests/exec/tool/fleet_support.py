# SPDX-License-Identifier: Apache-2.0
"""What the tests of a fleet share: a Redis server, a model of three products, and a
runner that invents times from the decisions. The runner is this file, with a folder
as its argument."""
import json
import os
import shlex
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", ".."))
from helper import *
from proto import floats, node, simple, tensor


def runner(folder):
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    subprocess.run(shlex.split(job["compile"]), cwd=folder, check=True)
    subprocess.run("./harness", cwd=folder, check=True)
    spent = 1000.0
    for words in job["decisions"].split(", "):
        value = words.split(" ")[1]
        spent += 25 * abs(int(value) - 6) if value.isdigit() else 100
    time.sleep(float(os.environ.get("FLEET_TEST_SLEEP", "0")))
    print(json.dumps({"time": spent, "unit": "instructions"}))


if __name__ == "__main__":
    runner(sys.argv[1])
    sys.exit(0)

need("redis-server")
need("cc")
work = work_folder()
os.chdir(work)
COMMAND = "cmd:%s %s" % (shlex.quote(sys.executable),
                         shlex.quote(os.path.abspath(__file__)))
TARGET = ["--target", "c99"]
TRIALS = ["--trials", "4"]
CHANNELS = (32, 96, 40, 24)

weights = [[(k * 7 % 11 - 5) / 8 for k in range(a * b)]
           for a, b in zip(CHANNELS, CHANNELS[1:])]
with open("net.onnx", "wb") as file:
    file.write(simple(
        [node("MatMul", ["x" if i == 0 else "t%d" % i, "w%d" % i],
              ["y" if i == len(weights) - 1 else "t%d" % (i + 1)], "m%d" % i)
         for i in range(len(weights))],
        [tensor("w%d" % i, (CHANNELS[i], CHANNELS[i + 1]), floats(*w))
         for i, w in enumerate(weights)], (24, CHANNELS[0]),
        (24, CHANNELS[-1])))
MODEL = os.path.join(work, "net.onnx")


# -- the server ---------------------------------------------------------------------
class Redis:
    """What this test asks of a server."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 10)
        self.file = self.socket.makefile("rb")

    def answer(self):
        line = self.file.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"$":
            n = int(rest)
            return None if n < 0 else self.file.read(n + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        return int(rest) if kind == b":" else rest

    def __call__(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(
            b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        return self.answer()


def wait(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            fail("it takes too long until " + what)
        time.sleep(0.05)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


started = []


def start(*command, **options):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, **options)
    started.append(process)
    return process


def server(port, *options):
    """(process, connection) of a server that has started."""
    process = start("redis-server", "--port", str(port), "--bind", "127.0.0.1",
                    "--save", "", "--dir", work, "--logfile", "redis.log",
                    *options)
    end = time.monotonic() + 20
    while True:
        try:
            return process, Redis(port)
        except OSError:
            if time.monotonic() > end:
                fail("redis-server does not start")
            time.sleep(0.05)


def read(name):
    with open(name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def by_kernel(name):
    """The records of each kernel in their order, without their dates."""
    found = {}
    for record in read(name):
        found.setdefault(record["workload"], []).append(
            {k: v for k, v in record.items()
             if k not in ("date", "machine", "compiler")})
    return found


def expect(what, condition, *shown):
    if not condition:
        fail(what + "".join("\n" + str(x) for x in shown))


def owners(redis):
    """The workers that have a job now."""
    names = redis("KEYS", "tirc:jobs:*")
    try:
        rows = redis("XPENDING", names[0], "workers", "-", "+", "100") \
            if names else []
    except RuntimeError:
        return []
    return [row[1].decode() for row in rows]


def process_of(worker):
    return int(worker.rsplit("-", 2)[1])


def url_or_skip(port):
    """The address of the queue; skips the test if tirc has no queues."""
    probe = subprocess.run([TIRC, "worker", *TARGET, "--queue",
                            "redis://127.0.0.1:1"], text=True,
                           capture_output=True, check=False)
    if "built without hiredis" in probe.stderr:
        skip("tirc was built without hiredis")
    expect("a queue that is not there", probe.returncode == 1 and
           "cannot be reached" in probe.stderr, probe.stderr)
    return "redis://127.0.0.1:%d" % port


def start_worker(url, how, **environment):
    return start(TIRC, "worker", *TARGET, "--queue", url, "--takeover", "1.5s",
                 "--runner", how, env=dict(os.environ, **environment))


def end_all():
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()
