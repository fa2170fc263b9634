/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, for operators that can be written neither as one expression for
 * each element nor as ordered stores, because their loops run until a condition
 * holds. The statements are executed once at each point of some axes; the
 * points may be in any order. */
#ifndef TIRC_STEPS_H
#define TIRC_STEPS_H

#include "define.h"
#include "script.h"

struct steps {
	struct define *c;
	struct module *m;
	struct func *f;
	struct te_tensor **out;
	int n_out;
	VEC(struct script_binding) names;
};

/* Begins a stage with n outputs; sets out[0..n). */
struct steps steps_begin(struct define *c, const char *name, const char *tag,
			 const char *const *names, const struct dtype *types,
			 const int *ndims,
			 const struct expr *const *const *shapes, int n,
			 struct te_tensor *const *in, int n_in,
			 struct te_tensor **out);
/* Ends the stage: body is executed at each point of the axes. */
void steps_end(struct steps *s, struct iter_var *axes, int n_axes,
	       struct stmt *body);

/* The steps of an operator may be a text, passes/ops/steps/NAME.py, in the
 * language of script_read_steps(). Each of these functions defines a name that
 * the text uses: steps_tensor for a whole tensor; steps_part for those elements
 * of a tensor whose index in dimension d is at[d], for each d for which at[d]
 * is not NULL; steps_row for the elements with the leading indices at[0..n);
 * steps_value for an expression; steps_number, steps_flag and steps_type for a
 * number, a condition and a type that are known when the text is read. */
void steps_tensor(struct steps *s, const char *name, const struct te_tensor *t);
void steps_part(struct steps *s, const char *name, const struct te_tensor *t,
		const struct expr *const *at);
void steps_row(struct steps *s, const char *name, const struct te_tensor *t,
	       const struct expr *const *at, int n);
void steps_value(struct steps *s, const char *name, const struct expr *value);
void steps_number(struct steps *s, const char *name, int64_t value);
void steps_flag(struct steps *s, const char *name, bool value);
/* Defines `name` in the text as the list of the bytes of the string `text`. */
void steps_bytes(struct steps *s, const char *name, const char *text);
void steps_type(struct steps *s, const char *name, struct dtype type);
/* Makes is_less() available in the text: it compares elements of this type,
 * with NaN as the largest. */
void steps_order(struct steps *s, struct dtype type);
/* Reads the function `name` of the text passes/ops/steps/NAME.py, and ends the
 * stage with the statements of that function. False after a diagnostic. */
bool steps_run(struct steps *s, const char *name, struct iter_var *axes,
	       int n_axes);

/* A scalar that steps may change; the statement step_alloc around the steps
 * declares it. */
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
/* A SEQ of the first n of the statements a, b, c, d, in this order; n <= 4. The
 * remaining statements are not used. */
struct stmt *step_seq(struct steps *s, int n, struct stmt *a, struct stmt *b,
		      struct stmt *c, struct stmt *d);
/* Values that have names: the definitions of step_name, in their order. */
struct step_names {
	struct steps *s;
	VEC(struct te_let) list;
};

/* Gives the value a name: returns a new variable, and adds its definition to
 * names. If the value is a literal or a variable, returns the value itself. */
const struct expr *step_name(struct step_names *names, const char *name,
			     const struct expr *value);
/* Returns `body` inside the definitions (LETs) of the names that it uses. */
struct stmt *step_named(struct step_names *names, struct stmt *body);

#endif
