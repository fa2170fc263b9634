/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter: the oracle. Executes any function, phase 0 or lowered,
 * one scalar at a time, with every access checked; threads of a kernel one
 * after the other, from barrier to barrier. And the executor: the same
 * meaning, bytecode over strided loops, for folding and packing. */
#ifndef TIRC_INTERP_H
#define TIRC_INTERP_H

#include "func.h"

struct run_arg {
	void *data;     /* for buffer parameters: dense, dtype_bytes a unit */
	int64_t scalar; /* for scalar parameters */
};

/* args: one per parameter. Functions called by name are looked up in the
 * module. False with DIAG_INTERPRET: out-of-bounds, uninitialised local read,
 * unknown extern, division by zero. */
bool interp_run(struct func *f, const struct run_arg *args, int n);
/* The same; also false where two threads of a lowered kernel touch one
 * element, one of them writing, with no barrier between. */
bool interp_run_races(struct func *f, const struct run_arg *args, int n);

/* Compiles a lowered or phase-0 function of plain serial loops; NULL if it
 * uses something the executor lacks (then use interp_run). */
struct exec *exec_compile(struct arena *a, const struct func *f);
/* No bounds are checked: f was verified. Thread-safe for distinct args. */
bool exec_run(const struct exec *x, const struct run_arg *args, int n);
/* exec if it can, else interp. */
bool run_func(struct func *f, const struct run_arg *args, int n);

#endif
