# SPDX-License-Identifier: Apache-2.0
"""Compiles a graph with tirc, builds the source and runs it. For targets in C
the main() is written here: its arrays have guards on both sides, and it checks
that the inputs are unchanged. For the others `tirc run` makes the calls of the
device."""
import json
import os
import re
import shutil
import subprocess

import numpy as np
import onnx

import helper
import processors
import values

GPU = os.path.join(helper.ROOT, "tests", "gpu")
# For targets whose instructions this processor need not have.
ANY = "-DTIRC_ANY_PROCESSOR"
# Compiler and flags of each target: the fastest compiler, or no optimisation.
BUILDS = {
    "c99": ["tcc", "-w"],
    "misra": ["tcc", "-w"],
    "x86-64-v3": ["gcc", "-std=gnu11", "-O0", "-march=x86-64-v3", "-w"],
    "gnu-c": ["gcc", "-std=gnu11", "-O0", "-w"],
    "c-openmp": ["gcc", "-std=c99", "-O0", "-fopenmp", "-w", ANY],
    "c-threads": ["gcc", "-std=gnu11", "-O0", "-pthread", "-w", ANY],
    # What its instructions have as plain C for other processors.
    "cortex-m4": ["gcc", "-std=gnu11", "-O0", "-w", ANY],
    "x86-64-v2": ["gcc", "-std=gnu11", "-O0", "-march=x86-64-v2", "-w"],
    "x86-64-v3": ["gcc", "-std=gnu11", "-O0", "-march=x86-64-v3", "-w"],
    "aarch64": ["aarch64-linux-gnu-gcc", "-std=gnu11", "-O0", "-w"],
}
# What executes the programs of those targets.
RUNNERS = {one.target: one.runner for one in processors.ALL}
# Targets that `tirc run` builds and runs, with its options.
DEVICES = {
    "opencl-cpu": [],
    "cuda": ["--cc", "g++", "--cflags",
             "-x c++ -std=c++14 -O0 -w -I%s -I%s" % (
                 GPU, os.path.join(GPU, "toolkit"))],
}
# Operators whose last input is sizes.
SIZED = {"Expand", "Reshape", "Resize", "Tile", "ConstantOfShape", "TopK"}
COMPILE_SECONDS, BUILD_SECONDS, RUN_SECONDS = 60, 120, 60
BISECT_SECONDS = 300

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "g.h"

#define GUARD 64

/* `bytes` with guards of 64 bytes before and behind, aligned to 64. */
static unsigned char *
room(size_t bytes)
{
	size_t all = (bytes + 3 * GUARD + 63) / 64 * 64;
	unsigned char *p = malloc(all + 64);

	p += 64 - (size_t)p % 64;
	memset(p, 0xa5, all);
	return p + GUARD;
}

static int
is_whole(const unsigned char *p, size_t bytes)
{
	for (int i = 0; i < GUARD; i++) {
		if (p[-1 - i] != 0xa5 || p[bytes + (size_t)i] != 0xa5) {
			return 0;
		}
	}
	return 1;
}

static void
fill(FILE *file, unsigned char *p, size_t bytes)
{
	if (fread(p, 1, bytes, file) != bytes) {
		exit(3);
	}
}

int
main(void)
{
	static struct g m;
	static struct g_config config;
	static struct g_inputs in;
	static struct g_outputs out;
	FILE *file = fopen("in.bin", "rb");
	unsigned char *work = room(G_WORKSPACE_BYTES);
@DECLARE@
	int status;

@READ@
	fclose(file);
	config.workspace = work;
	config.workspace_bytes = G_WORKSPACE_BYTES;
	status = (int)g_init(&m, &config);
	if (status == 0) {
		status = (int)g_run(&m, &in, &out);
	}
	if (status != 0) {
		printf("status %d\\n", status);
		return 4;
	}
	g_fini(&m);
	if (!is_whole(work, G_WORKSPACE_BYTES)) {
		printf("writes outside of the workspace\\n");
		return 5;
	}
	file = fopen("out.bin", "wb");
@WRITE@
	fclose(file);
	return 0;
}
"""


class Refused(Exception):
    """tirc refused the model with a message."""


class Broken(Exception):
    """A crash, an assert, source that does not compile, a hang."""


def call(command, folder, seconds):
    try:
        return subprocess.run(
            command, cwd=folder, text=True, capture_output=True,
            errors="replace", timeout=seconds, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        raise Broken("more than %d s: %s" % (
            seconds, os.path.basename(command[0]))) from late


def stored(dtype):
    """The type in which an integer of fewer than 8 bits lies in memory."""
    return np.int8 if values.limits(dtype.name)[0] < 0 else np.uint8


def store(array):
    """The bytes of an array as the interface has them, where an element takes
    whole bytes."""
    if array.dtype.name in values.SHORT:
        array = array.astype(stored(array.dtype))
    return np.ascontiguousarray(array).tobytes()


def load(data, dtype, shape):
    if dtype.name in values.SHORT:
        read = np.frombuffer(data, stored(dtype)).astype(dtype)
    else:
        read = np.frombuffer(data, dtype)
    return read.reshape(shape).copy()


def stored_bytes(dtype, shape):
    return dtype.itemsize * int(np.prod(shape, dtype=np.int64))


def counts(folder):
    """The members of the outputs in which run stores sizes."""
    with open(os.path.join(folder, "g.h"), encoding="utf-8") as file:
        return re.findall(r"^\tint32_t \*(\w+); /\* run stores", file.read(),
                          re.M)


def program(facts, sizes, given, want, stored_sizes):
    """The source of main() for the interface that NAME.json describes.
    `stored_sizes`: the members of the outputs for sizes."""
    declare, read, write = [], [], []
    for name in stored_sizes:
        declare.append("\tint32_t size_%s = -1;" % name)
        read.append("\tout.%s = &size_%s;" % (name, name))
    for i, item in enumerate(facts["inputs"]):
        count = len(given[item["name"]])
        declare.append("\tunsigned char *x%d = room(%d), *x%d_was = room(%d);"
                       % (i, count, i, count))
        read.append("\tfill(file, x%d, %d);\n\tmemcpy(x%d_was, x%d, %d);\n"
                    "\tin.%s = (void *)x%d;" % (
                        i, count, i, i, count, item["field"], i))
        write.append("\tif (memcmp(x%d, x%d_was, %d) != 0) {\n"
                     "\t\tprintf(\"writes into input %s\\n\");\n"
                     "\t\treturn 5;\n\t}" % (i, i, count, item["field"]))
    for item in facts.get("dims", []):
        read.append("\tin.%s = %d;" % (item["field"], sizes[item["name"]]))
    for i, item in enumerate(facts["outputs"]):
        like = want[item["name"]]
        count = stored_bytes(like.dtype, like.shape)
        most = count
        for word, size in zip(item["shape"], like.shape):
            if word in stored_sizes:
                most = stored_bytes(like.dtype, [item["max_elements"]])
                write.append("\tif (size_%s != %d) {\n"
                             "\t\tprintf(\"%s is %%d, not %d\\n\", "
                             "(int)size_%s);\n"
                             "\t\treturn 6;\n\t}" % (
                                 word, size, word, size, word))
        declare.append("\tunsigned char *y%d = room(%d);" % (i, most))
        read.append("\tout.%s = (void *)y%d;" % (item["field"], i))
        write.append("\tif (!is_whole(y%d, %d)) {\n"
                     "\t\tprintf(\"writes outside of output %s\\n\");\n"
                     "\t\treturn 5;\n\t}\n\tfwrite(y%d, 1, %d, file);" % (
                         i, most, item["field"], i, count))
    return PROGRAM.replace("@DECLARE@", "\n".join(declare)).replace(
        "@READ@", "\n".join(read)).replace("@WRITE@", "\n".join(write))


def tirc(command, folder):
    done = call([helper.TIRC, *command], folder, COMPILE_SECONDS)
    if done.returncode == 1 and "error: " in done.stderr:
        raise Refused(done.stderr.split("error: ", 1)[1].splitlines()[0])
    if done.returncode != 0:
        raise Broken("tirc: exit status %d: %s" % (
            done.returncode, done.stderr[-500:]))
    return done


def bounds(graph, inputs):
    """The options for sizes that are given when the model runs."""
    found = {}
    for node in graph.nodes:
        if node.op_type == "Range" and set(node.input) & set(inputs):
            found[node.output[0]] = "64"
        elif node.op_type in SIZED and node.input[-1] in inputs:
            found[node.input[-1]] = ",".join("%d..%d" % (
                0, size + 2) for size in graph.tensors[
                    node.input[-1]].value.ravel())
    return [word for name, most in found.items()
            for word in ("--bound", "%s=%s" % (name, most))]


def every_option(graph, options):
    """The given options, and those that the graph needs."""
    inputs = graph.model().graph.input
    words = list(options)
    if any(d.dim_param == "n" for x in inputs
           for d in x.type.tensor_type.shape.dim):
        words += ["--dim", "n=1..16"]
    words += bounds(graph, [x.name for x in inputs])
    if any(node.op_type == "Bernoulli" for node in graph.nodes):
        words += ["--seed", "1"]
    return words


class Native:
    """A graph compiled for a target, in an empty folder."""

    def __init__(self, graph, target, folder, options=()):
        self.graph, self.target, self.folder = graph, target, folder
        self.options = every_option(graph, options)
        model = graph.model()
        self.inputs = [x.name for x in model.graph.input]
        with open(os.path.join(folder, "model.onnx"), "wb") as file:
            file.write(model.SerializeToString())
        self.rows = set()  # operators in the kernels
        if target not in DEVICES:
            done = tirc(["compile", "model.onnx", "-o", ".", "--name", "g",
                         "--target", target, "--weights", "c",
                         "--print-after", "fuse", *self.options], folder)
            self.rows = set(re.findall(r" = ((?:tirc\.)?[A-Z]\w+) ",
                                       done.stdout + done.stderr))
            with open(os.path.join(folder, "g.json"),
                      encoding="utf-8") as file:
                self.facts = json.load(file)

    def run(self, given, want, size):
        """{name: array} of the outputs, whose types and shapes `want` has."""
        if self.target in DEVICES:
            return self.run_on_device(given, want)
        inputs = {item["name"]: store(given[item["name"]])
                  for item in self.facts["inputs"]}
        with open(os.path.join(self.folder, "main.c"), "w",
                  encoding="utf-8") as file:
            file.write(program(self.facts, {"n": size}, inputs, want,
                               counts(self.folder)))
        with open(os.path.join(self.folder, "in.bin"), "wb") as file:
            for data in inputs.values():
                file.write(data)
        sources = [name for name in self.facts["files"]
                   if name.endswith(".c")]
        rest = ["-I.", "main.c", *sources, "-o", "main", "-lm"]
        done = call(BUILDS[self.target] + rest, self.folder, BUILD_SECONDS)
        if done.returncode != 0 and BUILDS[self.target][0] == "tcc":
            # tcc's INFINITY and NAN are no constant expressions
            done = call(["gcc", "-std=c99", "-O0", "-w", *rest], self.folder,
                        BUILD_SECONDS)
        if done.returncode != 0:
            raise Broken("does not compile: " + done.stderr[:600])
        done = call([*RUNNERS.get(self.target, ()), "./main"], self.folder,
                    RUN_SECONDS)
        if done.returncode != 0:
            raise Broken("exit status %d: %s" % (
                done.returncode, (done.stdout + done.stderr)[-300:].strip()))
        results = {}
        with open(os.path.join(self.folder, "out.bin"), "rb") as file:
            for item in self.facts["outputs"]:
                like = want[item["name"]]
                results[item["name"]] = load(file.read(stored_bytes(
                    like.dtype, like.shape)), like.dtype, like.shape)
        return results

    def run_on_device(self, given, want):
        command = ["run", "model.onnx", "--target", self.target,
                   "--output", "out.npz", *DEVICES[self.target],
                   *self.options]
        for i, name in enumerate(self.inputs):
            path = os.path.join(self.folder, "in%d.pb" % i)
            with open(path, "wb") as file:
                file.write(onnx.numpy_helper.from_array(
                    given[name], name).SerializeToString())
            command += ["--input", "%s=%s" % (name, path)]
        done = tirc(command, self.folder)
        path = os.path.join(self.folder, "out.npz")
        if not os.path.exists(path):
            raise Broken("no output: " + done.stderr[-300:])
        results = {}
        with np.load(path) as read:
            for name in want:
                like = want[name]
                array = read[name]
                if array.dtype != like.dtype and \
                        array.dtype.itemsize == like.dtype.itemsize:
                    array = array.view(like.dtype)
                results[name] = array
        return results


def bisect(graph, target, folder, options):
    """What `tirc bisect` says about the graph, which shrink.write() has written to
    the folder: its sentence, and the path of the smallest model that is wrong,
    which it writes there, or None."""
    build = ["--cc", BUILDS[target][0], "--cflags",
             " ".join(BUILDS[target][1:])] if target in BUILDS \
        else DEVICES[target]
    runner = ["--runner", " ".join(RUNNERS[target])] if RUNNERS.get(target) \
        else []
    done = call([helper.TIRC, "bisect", "model.onnx", "--data",
                 "test_data_set_0", "-o", "bisect", "--target", target, *build,
                 *runner, *every_option(graph, options)], folder, BISECT_SECONDS)
    said = (done.stdout + done.stderr).strip().splitlines()
    path = os.path.join(folder, "bisect", "minimal.onnx")
    return (done.stdout.strip().splitlines() if done.returncode == 1 else
            said or [""])[-1], path if os.path.exists(path) else None


def missing(target):
    """What the target needs that is not there, or None."""
    for processor in processors.ALL:
        if processor.target == target:
            return processor.missing()
    needed = BUILDS.get(target, ["g++" if target == "cuda" else "cc"])[0]
    return None if shutil.which(needed) else needed
