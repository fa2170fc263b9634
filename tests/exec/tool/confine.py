#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run and test keep the program that they build from files, networks and
processes. A compiler adds to it what a model that left its arrays might do."""
import os
import platform
import stat

from helper import *

if platform.system() != "Linux":
    skip("programs are confined on Linux")
need("gcc")
FOLDER = work_folder()
SECRET = text_file(FOLDER, "secret", "secret")
KEPT = os.path.join(FOLDER, "kept")
ATTACK = text_file(FOLDER, "attack.c", r"""
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void
say(const char *what, int done)
{
	fprintf(stderr, "%s %s\n", what, done ? "done" : "refused");
}

__attribute__((constructor)) static void
attack(void)
{
	pid_t child;

	say("read", open("SECRET", O_RDONLY) >= 0);
	say("write", open("SECRET", O_WRONLY) >= 0);
	say("make", open("made", O_WRONLY | O_CREAT, 0644) >= 0);
	say("source", open("digits.c", O_WRONLY) >= 0);
	say("remove", unlink("digits.h") == 0);
	say("socket", socket(AF_INET, SOCK_STREAM, 0) >= 0);
	child = fork();
	if (child == 0) {
		_exit(0);
	}
	say("fork", child > 0 && waitpid(child, NULL, 0) == child);
}
""".replace("SECRET", SECRET))
CC = text_file(FOLDER, "compiler", "#!/bin/sh\nexec gcc \"$@\" %s\n" % ATTACK)
os.chmod(CC, os.stat(CC).st_mode | stat.S_IXUSR)
FILES = ["read", "write", "make", "source", "remove"]
CALLS = ["socket", "fork"]


def attempts(*arguments, verb="run", status=0):
    """What the program could do, and what was refused."""
    done = tirc(verb, DIGITS, "--target", "c99", "--cc", CC, "--cflags", "-O1",
                *arguments, status=status)
    words = [line.split() for line in done.stderr.split("\n")]
    return tuple({w[0] for w in words if w[1:] == [how]}
                 for how in ("done", "refused"))


def message(text, *arguments):
    done = tirc("run", DIGITS, "--confine", "require", *arguments, status=1)
    if text not in done.stderr:
        fail("no %r in:\n%s" % (text, done.stderr))


# Without confinement all of it is possible; so the attempts are real.
done, refused = attempts("--confine", "off", "--keep", KEPT)
if refused or done != set(FILES + CALLS):
    fail("free, but refused: %s" % refused)

message("the command of --runner is not confined", "--target", "c99",
        "--runner", "env")
message("programs for devices are not confined", "--target", "opencl")
said = execute([TIRC, "run", DIGITS, "--target", "c99", "--confine",
                "require"], status=None).stderr
lacking = []
if "Landlock" in said:
    lacking += FILES
if "seccomp" in said:
    lacking += CALLS
if lacking:
    print("not tried: " + said)
if set(lacking) == set(FILES + CALLS):
    skip("this system confines nothing")

# With it, results are written, and nothing else.
for verb in "run", "test":
    done, refused = attempts(verb=verb)
    if done != set(lacking):
        fail("%s: done though confined: %s" % (verb, done))
before = contents(KEPT)
for name in before:
    os.remove(os.path.join(KEPT, name))
done, refused = attempts("--keep", KEPT, *(
    ["--confine", "require"] if not lacking else []))
if done != set(lacking):
    fail("--keep: done though confined: %s" % done)
if contents(KEPT)["digits.h"] != contents(compile_model(
        DIGITS, "--target", "c99"))["digits.h"]:
    fail("the program changed its source")
