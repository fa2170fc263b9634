# SPDX-License-Identifier: Apache-2.0
"""tirc's side of bench/cpu.py: a C program around the emitted functions, and
one that finds the peak of a core."""
import glob
import json
import os
import platform
import re
import shlex
import subprocess
import tempfile
import time

import helper

# Argument 1 is the folder of the weights and for the outputs, the others are
# the files of the inputs. Answers as cpu_ort.py does.
DRIVER = r"""
@POOL@#include "@NAME@.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double
now(void)
{
	struct timespec t;

	clock_gettime(@CLOCK@, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void *
space(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 64) / 64 * 64);

	if (!p)
		exit(3);
	return p;
}

/* The file has at most so many bytes, and at least `least`. */
static void *
load(const char *path, size_t bytes, size_t least)
{
	void *p = space(bytes);
	FILE *f = fopen(path, "rb");

	if (!f || fread(p, 1, bytes, f) < least || fgetc(f) != EOF)
		exit(4);
	fclose(f);
	return p;
}

static void
save(const char *folder, int index, const void *p, size_t bytes)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/output_%d", folder, index);
	f = fopen(path, "wb");
	if (!f || fwrite(p, 1, bytes, f) != bytes || fclose(f))
		exit(5);
}

int
main(int argc, char **argv)
{
	struct @NAME@_config config = { 0 };
	struct @NAME@ m;
	struct @NAME@_inputs in = { 0 };
	struct @NAME@_outputs out = { 0 };
	char path[4096];
	int n, i;

	(void)path;
	if (argc != 2 + @INPUTS@)
		return 2;
@SETUP@
	if (@NAME@_init(&m, &config) || @NAME@_run(&m, &in, &out))
		return 6;
@SAVE@
	puts("0");
	fflush(stdout);
	while (scanf("%d", &n) == 1 && n > 0) {
		double *times = malloc((size_t)n * sizeof(*times));

		if (!times)
			return 3;
		for (i = 0; i < n; i++) {
			double start = now();

			@NAME@_run(&m, &in, &out);
			times[i] = now() - start;
		}
		qsort(times, (size_t)n, sizeof(*times), by_size);
		printf("%.9g\n", n % 2 ? times[n / 2]
			: (times[n / 2 - 1] + times[n / 2]) / 2);
		fflush(stdout);
		free(times);
	}
	return 0;
}
"""

# Twelve sums hide the latency of two multiply-adds per cycle and leave
# registers for the factors even where there are sixteen. Their starts are read
# from a volatile one by one: equal sums would become one.
PEAK = r"""
#include <stdio.h>
#include <time.h>

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
#define ALL(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define DECLARE(i) vec s##i = (vec){ 0 } + start_value;
#define STEP(i) s##i = s##i * x + y;
#define TOTAL(i) + s##i

typedef float vec __attribute__((vector_size(BYTES)));
volatile float factor = 0.5f, term = 1.0f, start_value = 3.0f, sink;

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double
measure(void)
{
	vec x = (vec){ 0 } + factor, y = (vec){ 0 } + term, total;
	double start;
	long n = 1000000, i;

	ALL(DECLARE)
	start = now();
	for (i = 0; i < n; i++) {
		ALL(STEP)
	}
	total = (vec){ 0 } ALL(TOTAL);
	sink = total[0];
	return (double)n * 12 * 2 * (BYTES / 4) / (now() - start) * 1e-9;
}

int
main(void)
{
	double best = 0;
	int i;

	for (i = 0; i < 20; i++) {
		double rate = measure();

		best = rate > best ? rate : best;
	}
	printf("%.6g\n", best);
	return 0;
}
"""

C_BYTES = {"float32": 4, "int32": 4, "uint32": 4, "float64": 8, "int64": 8,
           "uint64": 8, "float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2,
           "int8": 1, "uint8": 1, "bool": 1}


def tensor_bytes(tensor):
    return max(1, tensor["max_elements"] * C_BYTES[tensor["dtype"]])


def driver_text(facts, asks, sizes=(), dims=None, clock="CLOCK_MONOTONIC"):
    """asks: a library of the model's tells how much memory it wants; sizes: the
    fields for sizes of outputs that are known when the model has run; dims: the
    values of the sizes that the caller gives; clock: what measures a run."""
    name = facts["model"]
    setup, save = [], []
    work = facts["memory"]["workspace_bytes"]
    if asks:
        setup += ["config.workspace_bytes = %s_workspace_bytes(&m);"
                  % name,
                  "config.workspace = space(config.workspace_bytes);"]
    elif work:
        setup += ["config.workspace = space(%d);" % work,
                  "config.workspace_bytes = %d;" % work]
    if facts["weights_form"] == "file":
        size = "%s_WEIGHTS_BYTES" % name.upper()
        setup += ['snprintf(path, sizeof path, "%%s/%s_weights.bin", argv[1]);'
                  % name, "config.weights = load(path, %s, %s);" % (size, size),
                  "config.weights_bytes = %s;" % size]
    for index, tensor in enumerate(facts["inputs"]):
        size = tensor_bytes(tensor)
        setup.append("in.%s = load(argv[%d], %d, %d);" % (
            tensor["field"], index + 2, size, 1 if dims else size))
    for index, tensor in enumerate(facts["outputs"]):
        setup.append("out.%s = space(%d);" % (
            tensor["field"], tensor_bytes(tensor)))
        save.append("save(argv[1], %d, out.%s, %d);" % (
            index, tensor["field"], tensor_bytes(tensor)))
    for dim in facts.get("dims", ()):
        setup.append("in.%s = %d;" % (dim["field"], dims[dim["name"]]))
    for field in sizes:
        setup.append("static int32_t found_%s;" % field)
        setup.append("out.%s = &found_%s;" % (field, field))
    pool = ""
    if facts["target"].split()[0] == "c-threads":
        pool = '#include "%s"\n' % os.path.join(
            helper.ROOT, "runtime-c", "tirc_pool.h")
        setup += ["static struct tirc_pool pool;",
                  'if (tirc_pool_start(&pool, atoi(getenv("TIRC_THREADS"))))'
                  " return 7;",
                  "config.parallel_for = tirc_pool_for;",
                  "config.pool = &pool;"]
    text = DRIVER.lstrip()
    for key, value in (("@NAME@", name), ("@POOL@", pool), ("@CLOCK@", clock),
                       ("@INPUTS@", len(facts["inputs"])),
                       ("@SETUP@", "\n".join("\t" + s for s in setup)),
                       ("@SAVE@", "\n".join("\t" + s for s in save))):
        text = text.replace(key, str(value))
    return text


def resolved(target, cc):
    """What `native` stands for with this compiler; another target as it is."""
    with tempfile.TemporaryDirectory(prefix="tirc-target-") as folder:
        subprocess.run([helper.TIRC, "compile", helper.DIGITS, "-o", folder,
                        "-q", "--name", "model", "--target", target],
                       check=True, env=dict(os.environ, CC=cc))
        with open(os.path.join(folder, "model.json")) as file:
            return json.load(file)["target"]


def shared_target(target):
    """c-openmp with vectors as those of a target that `native` stands for."""
    for start, facts in (("x86-64-v3", " -vector_bytes=32"
                          " -vector_registers=16"),
                         ("x86-64-v2", " -vector_bytes=16"
                          " -vector_registers=16"),
                         ("aarch64", " -vector_bytes=16"),
                         ("gnu-c", " -vector_bytes=16")):
        if target.startswith(start):
            return "c-openmp" + facts
    return "c-openmp"


def build(path, folder, target, cc, options, dims=None, cflags=None,
          clock="CLOCK_MONOTONIC"):
    """The program, tirc's facts of it, and the seconds the compiler took. dims:
    the values at which sizes that have ranges are run; cflags: the compiler's
    options in place of the target's; clock: what measures a run."""
    os.makedirs(folder)
    subprocess.run([helper.TIRC, "compile", path, "-o", folder, "-q",
                    "--name", "model", "--target", target, *options],
                   check=True, env=dict(os.environ, CC=cc))
    with open(os.path.join(folder, "model.json")) as file:
        facts = json.load(file)
    words = shlex.split(facts["cc"])
    if cflags is not None:
        words = [words[0], *cflags.split(), *words[words.index("-I."):]]
    start = time.monotonic()
    subprocess.run([cc, *words[1:]], cwd=folder, check=True)
    seconds = time.monotonic() - start
    with open(os.path.join(folder, "model.h")) as file:
        header = file.read()
    with open(os.path.join(folder, "driver.c"), "w") as file:
        file.write(driver_text(
            facts, "model_workspace_bytes(" in header,
            re.findall(r"int32_t \*(\w+); /\* run stores the size", header),
            dims, clock))
    objects = [os.path.basename(p)
               for p in sorted(glob.glob(os.path.join(folder, "*.o")))]
    shared = [w for w in words if w == "-fopenmp"]
    subprocess.run([cc, "-std=gnu11", "-O2", "-o", "program", "driver.c",
                    *objects, *shared, *facts.get("libraries", "").split(),
                    "-lm", "-lpthread"],
                   cwd=folder, check=True)
    return os.path.join(folder, "program"), facts, seconds


class Peak:
    """Multiply-adds of one core; the best seen counts."""

    def __init__(self, folder, compilers):
        source = os.path.join(folder, "peak.c")
        with open(source, "w") as file:
            file.write(PEAK.lstrip())
        self.programs = []
        # Compilers may prefer half of the vectors there are.
        wide = (["-mprefer-vector-width=512"]
                if platform.machine() == "x86_64" else [])
        for cc in compilers:
            program = os.path.join(folder, "peak-" + os.path.basename(cc))
            subprocess.run([cc, "-std=gnu11", "-O2", "-march=native",
                            *wide, "-ffp-contract=fast", "-o", program, source],
                           check=True)
            self.programs.append(program)
        self.gflops = 0.0
        self.again()

    def again(self):
        for program in self.programs:
            out = subprocess.run([program], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
            self.gflops = max(self.gflops, float(out))
