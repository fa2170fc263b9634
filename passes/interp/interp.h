/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter executes any function, phase 0 or lowered, one scalar at a
 * time, checks every access, and runs the threads of a kernel in turn from
 * barrier to barrier: it is the oracle. The executor computes the same, as
 * bytecode over strided loops, for folding and packing. */
#ifndef TIRC_INTERP_H
#define TIRC_INTERP_H

#include "func.h"

struct run_arg {
	/* For buffer parameters: dense, dtype_bytes each. read: of a buffer
	 * that the function does not write. */
	union {
		void *data;
		const void *read;
	};
	int64_t scalar; /* for scalar parameters */
};

/* args: one per parameter. Functions called by name are looked up in the
 * module. False with DIAG_INTERPRET: an access out of bounds, a read of an
 * uninitialised local, an unknown extern, a division by zero. */
bool interp_run(struct func *f, const struct run_arg *args, int n);
/* The same, and also false if two threads of a lowered kernel access one
 * element, one of them writing it, with no barrier in between. */
bool interp_run_races(struct func *f, const struct run_arg *args, int n);

/* Compiles a lowered or phase-0 function of plain serial loops; NULL if it uses
 * something that the executor does not support (then use interp_run). */
struct exec *exec_compile(struct arena *a, const struct func *f);
/* Does not check bounds: f was verified. Thread-safe for distinct args. */
bool exec_run(const struct exec *x, const struct run_arg *args, int n);
/* Runs f by the executor if possible, else by the interpreter. */
bool run_func(struct func *f, const struct run_arg *args, int n);

#endif
