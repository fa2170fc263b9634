/* SPDX-License-Identifier: Apache-2.0 */
/* How much stack the emitted program takes: an estimate, meant as a bound, of the
 * frame of its entry function and of the kernel with the largest one.
 *
 * A compiler's frame holds the local arrays, the named values that live at
 * once, the arguments, the registers that it saves, and the values that it has
 * no register for. The last are estimated as a few times what all vector
 * registers hold: a schedule keeps the accumulators of a tile in them, and a
 * compiler that interleaves iterations, or evaluates a function of several
 * vectors at once, has some multiple of that under way. A test compares the
 * bound with the frames of two compilers at the flags that the target names; a
 * compiler that does not optimise needs more. */
#include "kernel_build.h"

/* Bytes of an address or of a saved register, at most; so many are saved; values
 * without a register take so many times what all vector registers hold. */
enum { WORD_BYTES = 8, SAVED_WORDS = 24, SPILLED_FILES = 4 };

static int64_t
value_bytes(const struct expr *e)
{
	int64_t bytes = (int64_t)dtype_bytes(e->type) * e->type.lanes;

	return bytes > WORD_BYTES ? bytes : WORD_BYTES;
}

/* The most that named values take which are known at one place. */
static int64_t
named_bytes(const struct stmt *s)
{
	int64_t most = 0, here = 0;

	if (s == NULL) {
		return 0;
	}
	if (s->kind == STMT_FOR) {
		here = WORD_BYTES;
	} else if (s->kind == STMT_LET) {
		here = value_bytes(s->args[0]);
	}
	for (int i = 0; i < s->n_children; i++) {
		int64_t below = named_bytes(s->children[i]);

		most = below > most ? below : most;
	}
	return most + here;
}

int64_t
kernel_frame_bytes(const struct kernel *k, const struct target *t)
{
	return k->stack_bytes + named_bytes(k->func->body) +
	       (int64_t)k->args.n * WORD_BYTES + SAVED_WORDS * WORD_BYTES +
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
	entry = (args + p->graph->inputs.n + p->graph->outputs.n +
		 p->graph->dims.n + SAVED_WORDS) *
		WORD_BYTES;
	return kernel + entry + p->target->align_bytes;
}
