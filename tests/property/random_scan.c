/* SPDX-License-Identifier: Apache-2.0 */
/* Scans in random programs: one or two states, stages between, reductions in
 * a step, results of steps read by later stages of the same step. */
#include "random_maker.h"

#include <stdio.h>

struct scan {
	struct maker *k;
	struct te_tensor *input; /* [time, …], of the type of all */
	int ndim, steps;
	struct te_tensor *state[2];
	int n;
};

/* The tensors that a stage reads are gathered in k->inputs. */
static struct te_tensor *
stage(struct scan *s, const char *name, struct iter_var *axes,
      const struct expr *body)
{
	struct maker *k = s->k;
	struct te_tensor *t = te_compute(k->m, name, "random", s->ndim, axes,
					 body, k->inputs, k->n_inputs);

	k->n_inputs = 0;
	return t;
}

static struct iter_var *
step_axes(struct scan *s, const struct expr *times)
{
	const struct expr *shape[MAX_DIMS];

	for (int d = 0; d < s->ndim; d++) {
		shape[d] = d == 0 && times ? times : s->input->buffer->shape[d];
	}
	return te_axes(s->k->m, s->ndim, shape, NULL);
}

/* t at the axes, offset steps from now. */
static const struct expr *
at(struct scan *s, struct te_tensor *t, const struct iter_var *axes, int offset)
{
	const struct expr *index[MAX_DIMS];

	for (int d = 0; d < s->ndim; d++) {
		index[d] = axes[d].var->expr;
	}
	index[0] = expr_add(s->k->m, index[0], expr_i32(s->k->m, offset));
	return read_at(s->k, t, index);
}

static int
some_step(struct scan *s)
{
	return -1 - rng_below(s->k->r, s->steps);
}

/* Grows slowly: small integers stay small. */
static const struct expr *
join(struct scan *s, const struct expr *a, const struct expr *b)
{
	static const enum expr_kind kinds[] = { EXPR_ADD, EXPR_MAX, EXPR_MIN,
						EXPR_SUB };

	return expr_binary(s->k->m,
			   kinds[rng_below(s->k->r,
					   s->k->options->positive ? 3 : 4)],
			   a, b);
}

/* What the update starts from: a state, a stage between or a reduction. */
static const struct expr *
earlier(struct scan *s, struct iter_var *axes, struct iter_var *reduced)
{
	struct maker *k = s->k;
	struct te_tensor *state = s->state[rng_below(k->r, s->n)];
	const struct expr *index[MAX_DIMS];
	struct iter_var *own;
	struct te_tensor *t;
	int back = some_step(s);

	switch (rng_below(k->r, 3)) {
	case 0:
		return at(s, state, axes, back);
	case 1:
		own = step_axes(s, NULL);
		t = stage(s, "between", own,
			  random_unary(k, at(s, state, own, -1)));
		/* At two times of the stage, where there are enough. */
		return s->steps == 1
			       ? at(s, t, axes, 0)
			       : join(s, at(s, t, axes, 0), at(s, t, axes, -1));
	default:
		if (s->ndim < 2) {
			return at(s, state, axes, back);
		}
		for (int d = 0; d < s->ndim; d++) {
			index[d] = axes[d].var->expr;
		}
		*reduced = te_reduce_axis(k->m, "k",
					  s->input->buffer->shape[s->ndim - 1]);
		index[0] = expr_add(k->m, index[0], expr_i32(k->m, back));
		index[s->ndim - 1] = reduced->var->expr;
		return read_at(k, state, index);
	}
}

static struct te_tensor *
update(struct scan *s, const char *name, struct te_tensor *same_step)
{
	struct maker *k = s->k;
	struct iter_var *axes = step_axes(s, NULL);
	struct iter_var reduced = { 0 };
	const struct expr *x = earlier(s, axes, &reduced);

	if (reduced.var) {
		return stage(s, name, axes,
			     te_reduce(k->m, reducer_max(k->m, x->type), x,
				       &reduced, 1));
	}
	x = join(s, x, at(s, s->input, axes, 0));
	if (same_step) {
		x = expr_max(k->m, x, at(s, same_step, axes, 0));
	}
	return stage(s, name, axes, x);
}

void
make_scan(struct maker *k)
{
	struct scan s = { .k = k, .input = random_tensor(k) };
	const struct buffer *b = s.input->buffer;
	struct te_tensor *init[2], *updates[2] = { NULL, NULL }, *out[2];
	int times = b->ndim > 0 ? extent_of(s.input, 0) : 0;
	const char *why = NULL;
	char name[16];

	if (times < 2 || dtype_class(b->type) == DTC_BOOL) {
		make_elementwise(k);
		return;
	}
	s.ndim = b->ndim;
	/* A size that is not known may be 1. */
	s.steps = times == SYMBOLIC ? 1 : 1 + rng_below(k->r, 2);
	s.n = 1 + rng_below(k->r, 2);
	for (int i = 0; i < s.n; i++) {
		struct iter_var *axes = step_axes(&s, expr_i32(k->m, s.steps));

		s.state[i] = te_placeholder(k->m, "state", b->type, b->ndim,
					    b->shape);
		init[i] = stage(&s, "first", axes,
				random_unary(k, at(&s, s.input, axes, 0)));
	}
	if (s.n == 2 && rng_below(k->r, 4) == 0) {
		init[1] = init[0];
	}
	for (int i = 0; i < s.n; i++) {
		updates[i] = update(&s, i ? "second" : "next", updates[0]);
	}
	snprintf(name, sizeof name, "scan%d", k->n_stages++);
	if (!te_scan(k->m, name, "random", init, updates, s.state, s.n, NULL, 0,
		     out, &why)) {
		fprintf(stderr, "%s: %s\n", name, why);
		make_elementwise(k);
		return;
	}
	for (int i = 0; i < s.n; i++) {
		k->tensors[k->n_tensors++] = out[i];
	}
}
