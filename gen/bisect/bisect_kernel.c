/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the function of a kernel after a pass of lowering in the interpreter,
 * on a case whose results are known from the kernel's function before its
 * schedule. */
#include <string.h>

#include "bisect.h"
#include "interp.h"
#include "intrinsic_make.h"
#include "iterate.h"
#include "plan.h"

void
lowering_add(void *ctx, const char *pass, const struct func *f)
{
	struct lowering *l = ctx;
	struct lowered_step step = { pass, func_clone(f, f->name) };

	vec_push(&f->module->arena, &l->steps, step);
}

/* The elements of a constant in the layout of the schedule, packed or not, so
 * that they take exactly `bytes` bytes. NULL if neither form has this size. */
static void *
constant(struct arena *a, struct graph *g, const struct weight *stored,
	 int64_t bytes)
{
	struct weight w = *stored;
	void *data = arena_alloc(a, (size_t)bytes + 1);

	for (int paired = 0; paired <= stored->paired; paired++) {
		w.paired = paired;
		if (weight_copy(g, &w, data, (size_t)bytes)) {
			return data;
		}
	}
	return NULL;
}

/* Does the interpreter know all functions that f calls? The module gets a function
 * with the semantics of each tensor intrinsic. */
static bool
knows_calls(const struct program *p, const struct func *f)
{
	struct module *m = p->graph->module;
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct expr *x;
	const char *why;
	bool all = true;

	if (p->target->intrins != NULL) {
		intrinsic_references(m, p->target->intrins, &why);
	}
	while (all && (x = tree_next(&it))) {
		all = x->u.intrin != INTRIN_CALL_EXTERN ||
		      module_find_func(m, x->args[0]->u.text) != NULL;
	}
	tree_stop(&it);
	return all;
}

const char *
lowering_intrinsic(const struct lowering *l)
{
	const struct tensor_intrins *known = l->of->program->target->intrins;
	const struct func *f = l->steps.data[l->steps.n - 1].func;
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct tensor_call *found = NULL;
	const struct expr *x;

	while (found == NULL && (x = tree_next(&it))) {
		if (x->u.intrin == INTRIN_CALL_EXTERN) {
			found = tensor_intrins_call(known, x->args[0]->u.text);
		}
	}
	tree_stop(&it);
	return found != NULL ? found->intrin->name : NULL;
}

/* Sets args to the arguments of f for the case, and got[i] to the array that
 * f writes as parameter i. False if the parameters of f are not those of the
 * case. */
static bool
set_arguments(struct arena *a, const struct lowering *l, const struct kernel *k,
	      const struct func *f, struct run_arg *args, unsigned char **got)
{
	const struct func *plain = l->of->plain;
	const struct verify_cases *c = &l->one;

	if (f->params.n != plain->params.n || k->args.n > f->params.n) {
		return false;
	}
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		int64_t elems;

		args[i] = (struct run_arg){ .scalar = c->values[i] };
		if (b == NULL) {
			continue; /* a symbolic size is no argument of k yet */
		}
		if (i >= k->args.n) {
			return false;
		}
		if (k->args.data[i].kind != ARG_WEIGHT) {
			args[i].bytes = c->bytes[i];
			args[i].data = arena_copy(a, c->in[i],
						  (size_t)c->bytes[i]);
			got[i] = args[i].data;
			continue;
		}
		if (!buffer_const_elems(b, &elems)) {
			return false;
		}
		args[i].bytes = elems * buffer_element_bytes(b);
		args[i].data = constant(a, l->of->program->graph,
					k->args.data[i].weight, args[i].bytes);
		if (args[i].data == NULL) {
			return false;
		}
	}
	return true;
}

enum bisect_state
lowering_ask(struct arena *a, const struct lowering *l, const struct kernel *k,
	     struct func *f, const char **why)
{
	struct diags *diags = &f->module->diags;
	int n_diags = diags->list.n;
	struct run_arg *args = arena_array(a, struct run_arg, f->params.n + 1);
	unsigned char **got = arena_array(a, unsigned char *, f->params.n + 1);
	struct verify_result result = { .cases = 0 };
	enum bisect_state state = BISECT_UNKNOWN;

	*why = NULL;
	if (knows_calls(l->of->program, f) &&
	    set_arguments(a, l, k, f, args, got)) {
		if (!run_func(f, args, f->params.n)) {
			*why = arena_strdup(a,
					    diags->list.data[diags->list.n - 1]
						    .message);
		} else {
			verify_compare(a, l->of, &l->one, l->seed, got,
				       &result);
			*why = result.differs;
		}
		state = *why != NULL ? BISECT_WRONG : BISECT_RIGHT;
	}
	diags_drop_errors(diags, n_diags, DIAG_COUNT);
	return state;
}

/* Case `index` of the cases, alone. */
static struct verify_cases
case_alone(struct arena *a, const struct verify_kernel *k,
	   const struct verify_cases *all, int index)
{
	int n = k->plain->params.n;
	struct verify_cases one = { .n = 1,
				    .values = all->values,
				    .bytes = all->bytes };

	one.moods[0] = all->moods[index];
	one.in = arena_array(a, unsigned char *, n + 1);
	one.want = arena_array(a, unsigned char *, n + 1);
	for (int i = 0; i < n; i++) {
		size_t at = (size_t)all->bytes[i] * (size_t)index;

		if (all->in[i] != NULL) {
			one.in[i] = all->in[i] + at;
		}
		if (all->want[i] != NULL) {
			one.want[i] = all->want[i] + at;
		}
	}
	return one;
}

enum bisect_state
lowering_find_case(struct arena *a, struct lowering *l, struct func *f)
{
	enum bisect_state state = BISECT_UNKNOWN;
	const char *why;

	for (int size = 0; size < verify_sizes(l->of); size++) {
		struct verify_cases all;

		if (verify_cases_make(a, l->of, size, l->seed, &all) != NULL) {
			continue;
		}
		for (int i = 0; i < all.n; i++) {
			struct arena scratch;

			l->one = case_alone(a, l->of, &all, i);
			arena_init(&scratch);
			state = lowering_ask(&scratch, l, l->again.kernel, f,
					     &why);
			arena_release(&scratch);
			if (state != BISECT_RIGHT) {
				return state;
			}
		}
	}
	return state;
}
