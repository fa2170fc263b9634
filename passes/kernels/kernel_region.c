/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the kernel of a backend's region: its parameters are one-dimensional
 * arrays, and it has no loops; the backend's templates give the text.
 *
 *   region cblas_0 { Gemm, Relu }   ->   cblas_0(x[40], w[80], bias[8], y[8])
 *
 * If the backend keeps state between runs, its functions get the model as their
 * first parameter, and constants are passed to the init function:
 *
 *   dnnl_0_init(m, memory, w[36], bias[4])    dnnl_0(m, x[64], y[256]) */
#include "backend.h"
#include "kernel_build.h"
#include "ops.h"

/* The parameter name of a constant, by its role in the match that reads it. In
 * a region of several matches, the name of the match precedes the role. */
static const char *
constant_role(struct joint *j, const struct tensor *t)
{
	struct arena *a = &j->b->m->arena;
	const struct graph_region *r = j->k->group->region;

	for (int i = 0; i < r->matches.n; i++) {
		const struct region_match *match = r->matches.data[i];

		for (int n = 0; n < match->nodes.n; n++) {
			struct node *node = match->nodes.data[n].node;

			for (int k = 0; k < node->n_inputs; k++) {
				const char *role;
				struct group alone = {
					.id = -1,
					.anchor = match->anchor,
				};

				if (node->inputs[k] != t) {
					continue;
				}
				for (int x = 0; x < match->nodes.n; x++) {
					vec_push(a, &alone.nodes,
						 match->nodes.data[x].node);
				}
				role = kernel_role(a, &alone, t);
				return r->matches.n == 1
					       ? role
					       : arena_printf(
							 a, "%s_%s",
							 kernel_stem(j->b->g,
								     &alone),
							 role);
			}
		}
	}
	return "c";
}

/* Is t, a result of the given match, read by another match of the region and
 * not a result of the region? */
static bool
stays_within(const struct graph_region *r, const struct region_match *match,
	     const struct tensor *t)
{
	bool read = false;

	if (vec_has(&r->outputs, t)) {
		return false;
	}
	for (int i = 0; i < t->uses.n; i++) {
		read = read || t->uses.data[i].node->match != match;
	}
	return read;
}

/* The name of a value within the region: its name in the model, or, if it has
 * none, a name made from the node that computes it. */
static const char *
value_name(struct joint *j, const struct tensor *t)
{
	struct group alone = { .id = -1, .anchor = t->producer->match->anchor };
	const char *stem = name_stem(&j->b->m->arena, t->name);

	return stem != NULL ? stem
			    : arena_printf(&j->b->m->arena, "%s_out",
					   kernel_stem(j->b->g, &alone));
}

static void
add_region_arg(struct joint *j, struct tensor *t, bool written)
{
	struct module *m = j->b->m;
	struct kernel_arg arg = {
		.kind = ARG_TENSOR,
		.tensor = t,
		.read = !written,
		.written = written,
	};
	const char *name = written ? "y" : "x";
	const struct expr *elems = NULL;
	struct buffer_spec spec = {
		.type = t->type,
		.ndim = 1,
		.shape = &elems,
	};

	for (int d = 0; d < t->ndim; d++) {
		elems = elems != NULL ? expr_mul_sizes(m, elems, t->shape[d])
				      : t->shape[d];
	}
	if (elems == NULL) {
		elems = expr_i32(m, 1);
	}
	if (tensor_is_constant(t)) {
		arg.kind = ARG_WEIGHT;
		name = constant_role(j, t);
	}
	if (written &&
	    stays_within(j->k->group->region, t->producer->match, t)) {
		name = value_name(j, t);
	}
	spec.name = name_set_add(&j->names, name);
	arg.buffer = buffer_new(m, &spec);
	if (arg.kind == ARG_WEIGHT) {
		arg.weight = arena_new(&m->arena, struct weight);
		arg.weight->tensor = t;
		arg.weight->buffer = arg.buffer;
	}
	vec_push(&m->arena, &j->k->args, arg);
}

/* For a backend without memory of its own: adds a scratch argument for each
 * value that one match passes to another, so that these values are in the
 * workspace. False after an error, because the size of a value has no upper
 * bound. */
static bool
add_values(struct joint *j)
{
	struct module *m = j->b->m;
	const struct graph_region *r = j->k->group->region;

	for (int i = 0; i < r->matches.n; i++) {
		const struct region_match *match = r->matches.data[i];

		for (int n = 0; n < match->nodes.n; n++) {
			const struct node *node = match->nodes.data[n].node;

			for (int o = 0; o < node->n_outputs; o++) {
				struct tensor *t = node->outputs[o];
				struct kernel_arg *arg;
				int64_t elems;

				if (t == NULL || !stays_within(r, match, t)) {
					continue;
				}
				if (!tensor_max_elems(t, &elems)) {
					return diag_error(
						&m->diags, DIAG_UNKNOWN_SHAPE,
						node_place(j->b->g, node),
						"the size of its result has "
						"no upper bound; give the "
						"symbolic dimensions bounds "
						"with --dim NAME=MIN..MAX");
				}
				add_region_arg(j, t, true);
				arg = &j->k->args.data[j->k->args.n - 1];
				arg->kind = ARG_SCRATCH;
				arg->read = true;
				arg->scratch_bytes = elems *
						     buffer_element_bytes(
							     arg->buffer);
			}
		}
	}
	return true;
}

/* The region's body: an opaque call that reads and writes its arguments. */
static struct stmt *
opaque(struct joint *j, struct func *f)
{
	struct module *m = j->b->m;
	const struct expr **args = arena_exprs(&m->arena, j->k->args.n + 1);
	const struct expr *zero = expr_i32(m, 0);
	int n = 0;

	args[n++] = expr_string(m, f->name);
	for (int i = 0; i < j->k->args.n; i++) {
		const struct kernel_arg *arg = &j->k->args.data[i];
		const struct expr *load;

		if (arg->buffer == NULL) {
			continue;
		}
		load = expr_load(m, arg->buffer, &zero, 1);
		args[n++] = expr_call(m,
				      arg->written ? INTRIN_ADDRESS_OF
						   : INTRIN_READ_ADDRESS_OF,
				      dtype_of(DT_HANDLE), &load, 1);
	}
	return stmt_evaluate(f, expr_call(m, INTRIN_CALL_EXTERN,
					  dtype_of(DT_VOID), args, n));
}

static void
add_dims(struct joint *j)
{
	struct graph *g = j->b->g;
	struct kernel *k = j->k;
	int n = k->args.n;

	for (int v = 0; v < g->dims.n + g->run_sizes.n; v++) {
		struct kernel_arg arg = { .kind = ARG_DIM };
		bool used = false;
		int index;

		arg.var = v < g->dims.n ? g->dims.data[v]
					: g->run_sizes.data[v - g->dims.n].var;

		for (int i = 0; i < n && !used; i++) {
			const struct tensor *t = k->args.data[i].tensor;

			for (int d = 0; d < t->ndim && !used; d++) {
				used = expr_uses_var(t->shape[d], arg.var);
			}
		}
		if (used) {
			struct node *size = graph_run_size(g, arg.var, &index);

			arg.size_of = size != NULL ? size->outputs[0] : NULL;
			vec_push(&j->b->m->arena, &k->args, arg);
		}
	}
}

/* Makes a function of the region that has, as the flags say, the parameters for
 * the model's state, for the constants, and for all other arguments. */
static struct func *
region_func(struct joint *j, const char *name, bool state, bool weights,
	    bool rest)
{
	struct module *m = j->b->m;
	struct func *f = func_new(m, name);

	if (state) {
		func_add_param(f, j->b->p->model, NULL);
	}
	if (state && weights) {
		func_add_param(f, var_new(m, "memory", dtype_of(DT_HANDLE)),
			       NULL);
	}
	for (int i = 0; i < j->k->args.n; i++) {
		const struct kernel_arg *arg = &j->k->args.data[i];

		if (arg->kind == ARG_WEIGHT ? weights : rest) {
			func_add_param(f,
				       arg->buffer != NULL ? arg->buffer->data
							   : arg->var,
				       arg->buffer);
		}
	}
	f->body = opaque(j, f);
	return f;
}

bool
join_region(struct joint *j)
{
	struct builder *b = j->b;
	struct kernel *k = j->k;
	const struct graph_region *r = k->group->region;
	bool state = r->backend->state;

	for (int i = 0; i < r->inputs.n; i++) {
		add_region_arg(j, r->inputs.data[i], false);
	}
	for (int i = 0; i < r->constants.n; i++) {
		add_region_arg(j, r->constants.data[i], false);
	}
	for (int i = 0; i < r->outputs.n; i++) {
		add_region_arg(j, r->outputs.data[i], true);
	}
	if (!state && !add_values(j)) {
		return false;
	}
	add_dims(j);
	if (state && b->p->model == NULL) {
		b->p->model = var_new(b->m, "m", dtype_of(DT_HANDLE));
	}
	k->func = region_func(j, k->name, state, !state, true);
	if (state) {
		k->init = region_func(j,
				      arena_printf(&b->m->arena, "%s_init",
						   k->name),
				      true, true, false);
	}
	return true;
}
