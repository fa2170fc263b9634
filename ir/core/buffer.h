/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: immutable descriptions of N-dimensional storage. Identity is the
 * address; to change one, make another and replace its uses. */
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
		*strides; /* in elements; NULL: dense, row-major */
	const char *scope; /* "global", "shared", "local", "warp", "const", … */
	int align_bytes;   /* 0: the type's own */
	struct var *data; /* the pointer (handle) */
};

struct buffer_spec {
	const char *name;
	struct dtype type;
	int ndim;
	const struct expr *const *shape; /* copied */
	const struct expr *const *strides;
	const char *scope; /* NULL: "global" */
	int align_bytes;
};

struct buffer *buffer_new(struct module *m, const struct buffer_spec *spec);
/* A copy of b with another name, scope, type or shape (NULL/negative: keep). */
struct buffer *buffer_with_scope(struct module *m, const struct buffer *b,
				 const char *scope);
struct buffer *buffer_with_shape(struct module *m, const struct buffer *b,
				 int ndim, const struct expr *const *shape);
/* Size of one element with all its lanes. */
int buffer_element_bytes(const struct buffer *b);
/* A view of b with scalar elements: the lanes of vector elements become a last
 * dimension. */
const struct buffer *buffer_of_numbers(struct module *m,
				       const struct buffer *b);
/* Number of elements. False if an extent is not constant or the number does not
 * fit. */
bool buffer_const_elems(const struct buffer *b, int64_t *elems);
/* Upper bound of the number of elements, from the bounds of the dims. */
bool buffer_max_elems(const struct buffer *b, int64_t *elems);

#endif
