/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates the stack of the emitted program, intended as an upper bound: the
 * frames of the entry function and of the kernel with the largest one.
 *
 * A frame contains local arrays, simultaneously live variables, arguments,
 * saved registers and spilled values. Spills are estimated as a small multiple
 * of the vector register file: a schedule keeps a tile's accumulators in
 * registers, and a compiler that interleaves iterations, or evaluates a
 * function of several vectors at once, multiplies them. A test compares the
 * estimate with the frames of two compilers at the flags that the target names;
 * without optimization a compiler needs more. */
#include "kernel_build.h"

/* Estimates for any compiler: the registers that a function saves, and its
 * spilled values in units of the vector register file. */
enum { SAVED_WORDS = 24, SPILLED_FILES = 4 };

static int64_t
value_bytes(const struct target *t, const struct expr *e)
{
	int64_t bytes = (int64_t)dtype_bytes(e->type) * e->type.lanes;

	return bytes > t->word_bytes ? bytes : t->word_bytes;
}

/* The most bytes of variables in scope at one place. */
static int64_t
named_bytes(const struct target *t, const struct stmt *s)
{
	int64_t most = 0, here = 0;

	if (s == NULL) {
		return 0;
	}
	if (s->kind == STMT_FOR) {
		here = t->word_bytes;
	} else if (s->kind == STMT_LET) {
		here = value_bytes(t, s->args[0]);
	}
	for (int i = 0; i < s->n_children; i++) {
		int64_t below = named_bytes(t, s->children[i]);

		most = below > most ? below : most;
	}
	return most + here;
}

int64_t
kernel_frame_bytes(const struct kernel *k, const struct target *t)
{
	return k->stack_bytes + named_bytes(t, k->func->body) +
	       (int64_t)(k->args.n + SAVED_WORDS) * t->word_bytes +
	       (int64_t)t->vector_registers * t->vector_bytes * SPILLED_FILES;
}

int64_t
program_stack_bytes(const struct program *p)
{
	int64_t kernel = 0, entry, args = 0;

	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];
		int64_t bytes = kernel_frame_bytes(k, p->target);

		kernel = bytes > kernel ? bytes : kernel;
		args = k->args.n > args ? k->args.n : args;
	}
	entry = (args + entry_count_pointers(p->graph) + p->graph->dims.n +
		 SAVED_WORDS) *
		p->target->word_bytes;
	return kernel + entry + p->target->align_bytes;
}
