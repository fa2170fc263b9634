/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the target: passes over a function read them. The code that
 * builds a function for a target sets them; if a fact does not hold after a
 * pass, the pass clears it. In TVMScript each fact is an entry of T.func_attr
 * with the name of the field. */
#ifndef TIRC_TARGET_FACTS_H
#define TIRC_TARGET_FACTS_H

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

/* Default alignments of arrays in shared memory: TVM's, and the one that bulk
 * tensor copies (TMA) need. */
enum { SHARED_ALIGN_BYTES = 64, BOX_ALIGN_BYTES = 1024 };

struct target_facts {
	/* Vectorized loops become statements on `vectors`; if the list is
	 * empty, the compiler vectorizes them. Both fields are printed as the
	 * entry "vectors". */
	bool has_vectors;
	/* the vector types that local arrays may have, the preferred first */
	struct dtype_list vectors;
	/* A parameter that is only accessed by whole vectors may become an
	 * array of vectors, because tirc emits all callers. */
	bool vector_params;
	bool byte_vectors; /* vectors of bytes can be converted to vectors of
			       * 32-bit integers */
	bool fmax_vectors; /* the dialect has fmax for vectors */
	bool half_vectors; /* vectors of 16-bit floats can be converted to
			       * vectors of float32 */
	/* the largest number of bytes that a thread of a device can access at
	 * once; 0: one element */
	int64_t wide_bytes;
	/* the number of threads that can exchange values without memory; 0:
	 * threads cannot */
	int64_t warp_size;
	/* the largest number of bytes of an array; 0: no limit */
	int64_t object_bytes;
	/* Alignments of arrays in shared memory: of arrays whose address an
	 * instruction takes, and of arrays that bulk tensor copies fill. */
	int64_t shared_align_bytes, box_align_bytes;
};

/* The facts of a function that is not built for a target: none is set. */
extern const struct target_facts target_facts_unknown;

/* "float32x16 float32x8" */
const char *dtype_list_text(struct arena *a, struct dtype_list list);

/* Sets an entry of T.func_attr: the fact that the key names, or else a note of
 * the function. If value is NULL, removes the entry. */
void func_set_attribute(struct func *f, const char *key,
			const struct expr *value);
/* The list of all entries of T.func_attr: the notes, and the facts that are
 * set. */
const struct note *func_attributes(const struct func *f);
bool target_facts_equal(const struct target_facts *a,
			const struct target_facts *b);

#endif
