/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter executes any function, phase 0 or lowered, one scalar at a
 * time. It checks every access, and runs the threads of a kernel in turn from
 * barrier to barrier. Its results are correct by definition. The executor
 * computes the same results faster, with bytecode over strided loops; it is
 * used for constant folding and for packing weights. */
#ifndef TIRC_INTERP_H
#define TIRC_INTERP_H

#include "func.h"

struct run_arg {
	/* For a buffer parameter: its elements, dense, dtype_bytes each.
	 * `read`: if the function does not write the buffer. */
	union {
		void *data;
		const void *read;
	};
	/* the value of a scalar parameter, if it is an integer */
	int64_t scalar;
	/* The number of bytes of `data`; 0: as many as the parameter's shape
	 * requires. If the shape requires more than `bytes`, the function is
	 * not run. */
	int64_t bytes;
};

/* Runs f. args: one for each parameter. Functions called by name are looked up
 * in the module. False after a DIAG_INTERPRET: an access out of bounds, a read
 * of an uninitialised local, an unknown extern, or a division by zero. */
bool interp_run(struct func *f, const struct run_arg *args, int n);
/* The number of statements that a run may still take; the filling of local
 * arrays counts, too. */
struct run_steps {
	/* negative after a run for which the steps did not suffice */
	int64_t left;
	/* NULL, or called whenever `every` more were taken, with their number in
	 * this run */
	void (*tell)(void *ctx, int64_t taken);
	void *ctx;
	int64_t every;
	int64_t first,
		/* private to the run: the value of `left` when the run began,
		 * and the value at which it reports its progress next */
		next;
};

/* Like interp_run, but runs at most steps->left statements. False after a
 * DIAG_INTERPRET also if they do not suffice. */
bool interp_run_steps(struct func *f, const struct run_arg *args, int n,
		      struct run_steps *steps);
/* Overflows of floats in a run. If both members are set, a compiler that fuses
 * products into sums, where a product does not overflow, may give other
 * results. */
struct run_overflow {
	bool product; /* a product of two finite floats is infinite */
	bool sum;     /* an operand of a sum or difference is not finite */
};

/* Like interp_run; also sets *out. */
bool interp_run_overflow(struct func *f, const struct run_arg *args, int n,
			 struct run_overflow *out);
/* A function under the name by which a source calls it, with T.call_extern if
 * `external`, else with T.call_func. */
struct run_callee {
	const char *name;
	const struct func *func;
	bool external;
};

/* A function as its source will run. */
struct run_source {
	/* the file of messages about statements that have no position of their
	 * own */
	const char *file;
	int line, col;
	const char *ending; /* of each message */
	/* The caller gives values to the parameters with an index below
	 * n_given; the remaining parameters are scratch memory, whose elements
	 * nobody has written. */
	int n_given;
	/* by parameter: the bytes that its array has, whatever the parameter's
	 * shape says */
	const int64_t *bytes;
	const struct run_callee *callees;
	int n_callees;
	struct run_steps *steps; /* as in interp_run_steps; NULL: no limit */
};

/* Like interp_run, for a lowered function whose source will be run: calls go to
 * the callees of `how`. Also false after an access outside of the bytes that an
 * array has, a read of scratch memory that nobody has written, after an array
 * is given to a callee that declares a larger one, after an index, a size or a
 * bound of a loop that does not fit in its type, or after two iterations of a
 * parallel or vectorized loop access the same integer and one of them writes
 * it. */
bool interp_run_source(const struct func *f, const struct run_arg *args, int n,
		       const struct run_source *how);
/* Like interp_run, for an entry function of a model. Accesses through handles
 * (addresses) are not checked, so the memory must be large enough; never call
 * it for a user's program. An entry function gives its callees memory by
 * handles, which interp_run refuses. */
bool interp_run_entry(struct func *f, const struct run_arg *args, int n);
/* Like interp_run; also false if two threads of a lowered kernel access the
 * same element without a barrier in between, and at least one of them writes
 * it. */
bool interp_run_races(struct func *f, const struct run_arg *args, int n);

/* Compiles a lowered or phase-0 function of plain serial loops; NULL if it uses
 * something that the executor does not support (then use interp_run). */
struct exec *exec_compile(struct arena *a, const struct func *f);
/* Runs the compiled function. Accesses are checked against whole arrays, not by
 * dimension: f must have passed the verifier. Several threads may run it at once
 * with different args. False, without a diagnostic, after a division by zero, an
 * access outside of an array, or if an argument has too few bytes: interp_run()
 * then reports it. */
bool exec_run(const struct exec *x, const struct run_arg *args, int n);
/* Like exec_run; also sets *out, as interp_run_overflow() does, but counts values that
 * only a choice not taken has, too. False, without a diagnostic, also for sums and
 * products over lanes, whose overflows it does not see. */
bool exec_run_overflow(const struct exec *x, const struct run_arg *args, int n,
		       struct run_overflow *out);
/* Runs f with the executor if possible, else with the interpreter. */
bool run_func(struct func *f, const struct run_arg *args, int n);
/* The same; also sets *out. */
bool run_func_overflow(struct func *f, const struct run_arg *args, int n,
		       struct run_overflow *out);

#endif
