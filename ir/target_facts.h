/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a target that passes over a function read. In text they are
 * entries of T.func_attr, with the names of the fields: whoever builds a function
 * for a target sets them, and the pass that uses a fact up clears it. */
#ifndef TIRC_IR_TARGET_FACTS_H
#define TIRC_IR_TARGET_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "dtype.h"

struct expr;
struct func;
struct module;

struct dtype_list {
	const struct dtype *data;
	int n;
};

/* Alignments in memory that the threads of a block share, unless the target says
 * otherwise: as TVM has them, and as bulk tensor copies want them. */
enum { SHARED_ALIGN_BYTES = 64, BOX_ALIGN_BYTES = 1024 };

struct target_facts {
	/* Loops over lanes become vectors: of `vectors`, or, without any, of the
	 * compiler's finding. Both are the entry "vectors". */
	bool has_vectors;
	struct dtype_list vectors; /* that local arrays may hold, best first */
	/* Parameters that are only accessed by whole vectors may become arrays
	 * of vectors: tirc emits all callers. */
	bool vector_params;
	bool byte_vectors; /* bytes are widened to vectors of 32-bit integers */
	bool fmax_vectors; /* the dialect has vectors for fmax */
	int64_t wide_bytes; /* of the largest access of a device's thread; 0: of
			      * one element */
	int64_t warp_size;  /* threads that exchange values without memory; 0:
			      * none do */
	int64_t object_bytes; /* of the largest object; 0: any number */
	/* Of arrays in shared memory whose address an instruction takes, and of
	 * those that the unit fills which copies boxes. */
	int64_t shared_align_bytes, box_align_bytes;
};

/* Of a function that is built for no target. */
extern const struct target_facts target_facts_unknown;

/* "float32x16 float32x8" */
const char *dtype_list_text(struct arena *a, struct dtype_list list);

/* Sets an entry of T.func_attr: a fact, or else a note of the function. value
 * NULL: takes it away. */
void func_set_attribute(struct func *f, const char *key,
			const struct expr *value);
/* All entries of T.func_attr: the notes, and the facts that are set. */
const struct note *func_attributes(const struct func *f);
bool target_facts_equal(const struct target_facts *a,
			const struct target_facts *b);

#endif
