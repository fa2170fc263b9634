/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, for operators that are neither one expression per element nor
 * stores in order: their loops run until a condition holds. The statements run
 * once at each point of some axes, and may run in any order of the points. */
#ifndef TIRC_STEPS_H
#define TIRC_STEPS_H

#include "define.h"

struct steps {
	struct define *c;
	struct module *m;
	struct func *f;
	struct te_tensor **out;
	int n_out;
};

/* Begins a stage with n outputs, which out[0..n) gets. */
struct steps steps_begin(struct define *c, const char *name, const char *tag,
			 const char *const *names, const struct dtype *types,
			 const int *ndims,
			 const struct expr *const *const *shapes, int n,
			 struct te_tensor *const *in, int n_in,
			 struct te_tensor **out);
/* Ends it: body runs at each point of the axes. */
void steps_end(struct steps *s, struct iter_var *axes, int n_axes,
	       struct stmt *body);

/* A scalar that steps may change; step_alloc around them declares it. */
const struct buffer *step_local(struct steps *s, const char *name,
				struct dtype type);
struct stmt *step_alloc(struct steps *s, const struct buffer *local,
			struct stmt *body);
const struct expr *step_get(struct steps *s, const struct buffer *local);
struct stmt *step_set(struct steps *s, const struct buffer *local,
		      const struct expr *value);
/* for v in range(extent): body */
struct stmt *step_for(struct steps *s, struct var *v, const struct expr *extent,
		      struct stmt *body);
/* The first n statements in order; n <= 4, the others are ignored. */
struct stmt *step_seq(struct steps *s, int n, struct stmt *a, struct stmt *b,
		      struct stmt *c, struct stmt *d);
/* Is a less than b, where NaN is larger than all numbers? */
const struct expr *step_is_less(struct module *m, const struct expr *a,
				const struct expr *b);

/* Names for values, in the order in which they were given. */
struct step_names {
	struct steps *s;
	VEC(struct te_let) list;
};

/* The variable `name` with this value; a leaf is returned as it is. */
const struct expr *step_name(struct step_names *names, const char *name,
			     const struct expr *value);
/* The definitions of the names around a body that uses them. */
struct stmt *step_named(struct step_names *names, struct stmt *body);

#endif
