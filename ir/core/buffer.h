/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: immutable descriptions of N-dimensional storage. A buffer is
 * identified by its address; to change a buffer, make a new one and replace the
 * uses of the old one by it. */
#ifndef TIRC_BUFFER_H
#define TIRC_BUFFER_H

#include "expr.h"

struct buffer {
	const char *name;
	struct dtype type;
	int id;
	int ndim; /* 0: a scalar cell */
	const struct expr *const *shape;
	const struct expr *const
		*strides; /* the strides in elements; NULL: the buffer is dense,
			   * in row-major order */
	const char *scope; /* "global", "shared", "local", "warp", "const", … */
	/* the alignment of the memory in bytes; 0: that of the type */
	int align_bytes;
	struct var *data; /* the pointer variable, a handle */
};

struct buffer_spec {
	const char *name;
	struct dtype type;
	int ndim;
	const struct expr *const *shape; /* the array is copied */
	const struct expr *const *strides;
	const char *scope; /* NULL: "global" */
	int align_bytes;
};

struct buffer *buffer_new(struct module *m, const struct buffer_spec *spec);
/* A copy of b with another scope, or with another shape. */
struct buffer *buffer_with_scope(struct module *m, const struct buffer *b,
				 const char *scope);
struct buffer *buffer_with_shape(struct module *m, const struct buffer *b,
				 int ndim, const struct expr *const *shape);
/* The size of one element, with all its lanes. */
int buffer_element_bytes(const struct buffer *b);
/* The address of the first element of b, for a call that gets the whole buffer. */
const struct expr *buffer_first_address(struct module *m,
					const struct buffer *b);
/* Sets *elems to the number of elements from the first to the last one of b in
 * memory, with the gaps that its strides leave; 0 if it has no elements. False if
 * sizes or strides are not constant, a stride is negative, or the number is too
 * large. */
bool buffer_span(const struct buffer *b, int64_t *elems);
/* Returns b itself unless b has vector elements and no strides; else a copy of
 * b with scalar elements, whose last dimension is the lanes and replaces a last
 * dimension of extent 1. */
const struct buffer *buffer_of_numbers(struct module *m,
				       const struct buffer *b);
/* Sets *elems to the number of elements of b. False if an extent is not
 * constant or the number does not fit in int64. */
bool buffer_const_elems(const struct buffer *b, int64_t *elems);
/* Sets *elems to the largest number of elements of b, by the bounds of the
 * symbolic dimensions. False if the number is not bounded or does not fit in
 * int64. */
bool buffer_max_elems(const struct buffer *b, int64_t *elems);

#endif
