/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how the loads and the store of a block use its iter vars. */
#include "access_pattern.h"

#include "edit.h"
#include "iterate.h"

struct use_probe {
	const struct var *var;
	/* the number of uses of v that are neither v // c nor v % c */
	int plain;
	/* the number of uses of v as v // c, and as v % c */
	int quotients, remainders;
	/* the number c; 0: no access was seen; -1: accesses have different c */
	int64_t granularity;
};

static void
probe_index(struct use_probe *p, const struct expr *e)
{
	int64_t c;

	if (e->kind == EXPR_VAR && e->u.var == p->var) {
		p->plain++;
		return;
	}
	if ((e->kind == EXPR_FLOORDIV || e->kind == EXPR_FLOORMOD) &&
	    e->args[0]->kind == EXPR_VAR && e->args[0]->u.var == p->var &&
	    expr_is_int(e->args[1], &c)) {
		p->quotients += e->kind == EXPR_FLOORDIV;
		p->remainders += e->kind == EXPR_FLOORMOD;
		p->granularity = p->granularity == 0 || p->granularity == c
					 ? c
					 : -1;
		return;
	}
	for (int i = 0; i < e->n_args; i++) {
		probe_index(p, e->args[i]);
	}
}

/* The dimension d whose index is v % c, if the dimension before it has the
 * index v // c and c is the extent of d; -1: there is no such dimension. */
static int
split_dim(const struct expr *const *index, const struct buffer *b,
	  const struct var *v)
{
	for (int d = 1; d < b->ndim; d++) {
		const struct expr *row = index[d - 1], *at = index[d];

		if (row->kind == EXPR_FLOORDIV && at->kind == EXPR_FLOORMOD &&
		    row->args[0] == v->expr && at->args[0] == v->expr &&
		    row->args[1] == at->args[1] && at->args[1] == b->shape[d]) {
			return d;
		}
	}
	return -1;
}

/* Sets how iter var number iter, with the variable v, is used in an access of
 * b. */
static void
classify(struct load_access *a, const struct expr *const *index,
	 const struct buffer *b, int iter, const struct var *v)
{
	int n = b->ndim;
	struct use_probe p = { .var = v };
	int plain_dims = 0;

	a->dim[iter] = -1;
	for (int d = 0; d < n; d++) {
		probe_index(&p, index[d]);
		if (index[d]->kind == EXPR_VAR && index[d]->u.var == v) {
			a->dim[iter] = d;
			plain_dims++;
		}
	}
	a->granularity[iter] = p.granularity;
	if (p.plain == 0 && p.granularity == 0) {
		a->use[iter] = AXIS_UNUSED;
	} else if (p.plain == 0 && p.remainders == 1 && p.quotients == 1 &&
		   split_dim(index, b, v) > 0) {
		a->use[iter] = AXIS_PLAIN;
		a->dim[iter] = split_dim(index, b, v);
		a->granularity[iter] = 0;
	} else if (p.plain == 0 && p.granularity > 0 && p.remainders == 0) {
		a->use[iter] = AXIS_GRANULAR;
	} else if (p.plain == 0 && p.granularity > 0 && p.remainders == 1 &&
		   p.quotients == 1 && index[n - 1]->kind == EXPR_FLOORMOD &&
		   index[n - 1]->args[0] == v->expr) {
		a->use[iter] = AXIS_BLOCKED;
	} else if (p.plain == 1 && plain_dims == 1 && p.granularity == 0) {
		a->use[iter] = AXIS_PLAIN;
	} else {
		a->use[iter] = AXIS_MIXED;
	}
}

static void
classify_all(struct rules *r, const struct block *info, struct load_access *a,
	     const struct expr *const *index, const struct buffer *b)
{
	struct arena *arena = &r->module->arena;

	a->use = arena_array(arena, enum axis_use, info->n_iters + 1);
	a->granularity = arena_array(arena, int64_t, info->n_iters + 1);
	a->dim = arena_array(arena, int, info->n_iters + 1);
	for (int i = 0; i < info->n_iters; i++) {
		classify(a, index, b, i, info->iters[i].var);
	}
}

static struct weight *
weight_behind(const struct rules *r, const struct buffer *b)
{
	const struct func *f = r->s.func;

	for (int i = 0; i < f->params.n && i < r->kernel->args.n; i++) {
		if (f->params.data[i].buffer == b) {
			return r->kernel->args.data[i].weight;
		}
	}
	return NULL;
}

static int64_t
largest_extent(struct rules *r, const struct expr *extent)
{
	struct analyser a;
	struct bounds b;
	int64_t v;

	if (expr_is_int(extent, &v)) {
		return v;
	}
	analyser_init(&a, r->module);
	b = analyse_bounds(&a, extent);
	return b.max < INT32_MAX ? b.max : INT32_MAX;
}

bool
rules_access(struct rules *r, int block, struct block_access *out)
{
	struct arena *a = &r->module->arena;
	VEC(const struct expr *) loads = { 0 };
	const struct expr *e;

	memset(out, 0, sizeof *out);
	out->block = func_find(r->s.func, block);
	out->info = out->block->u.block;
	if (out->block->children[0]->kind != STMT_STORE ||
	    out->info->n_iters > MAX_AXES) {
		return false;
	}
	out->out = out->block->children[0]->u.buffer;
	out->most = arena_array(a, int64_t, out->info->n_iters + 1);
	for (int i = 0; i < out->info->n_iters; i++) {
		out->most[i] = largest_extent(r, out->info->iters[i].extent);
		if (out->info->iters[i].kind == ITER_SPATIAL) {
			out->n_spatial++;
		} else {
			out->n_reduce++;
		}
	}
	for (struct expr_iter it =
		     expr_each_of(out->block->children[0]->args[0], EXPR_LOAD);
	     (e = expr_next(&it));) {
		if (e->u.buffer != out->out) {
			vec_push(a, &loads, e);
		}
	}
	out->n_loads = loads.n;
	out->loads = arena_array(a, struct load_access, loads.n + 1);
	for (int l = 0; l < loads.n; l++) {
		struct load_access *x = &out->loads[l];

		x->load = loads.data[l];
		x->weight = weight_behind(r, x->load->u.buffer);
		classify_all(r, out->info, x, x->load->args, x->load->u.buffer);
	}
	classify_all(r, out->info, &out->store,
		     out->block->children[0]->args + 1, out->out);
	return true;
}

int64_t
rules_blocked_by(const struct block_access *x, int iter, bool store)
{
	int64_t c = 0;

	for (int l = store ? -1 : 0; l < x->n_loads; l++) {
		const struct load_access *a = l < 0 ? &x->store : &x->loads[l];

		if (a->use[iter] == AXIS_UNUSED ||
		    (l >= 0 && a->weight != NULL &&
		     a->use[iter] == AXIS_PLAIN)) {
			continue;
		}
		if (a->use[iter] != AXIS_BLOCKED ||
		    (c != 0 && a->granularity[iter] != c)) {
			return 0;
		}
		c = a->granularity[iter];
	}
	return c;
}

bool
rules_separate_accumulator(struct rules *r, const struct block_access *x,
			   int reduction, int *output)
{
	bool plain = true;

	if (*output != reduction) {
		return true;
	}
	for (int i = 0; i < x->n_spatial; i++) {
		plain &= x->store.use[i] == AXIS_PLAIN ||
			 x->store.use[i] == AXIS_UNUSED;
	}
	return (plain ? sched_cache_write(&r->s, reduction, 0, "local", output)
		      : sched_reindex(&r->s, reduction, 0, output)) &&
	       sched_rename_buffer(&r->s, reduction, 0, "acc");
}

bool
rules_accumulator(struct rules *r, int block, const struct buffer **out)
{
	if (!sched_rename_buffer(&r->s, block, 0, "acc")) {
		return false;
	}
	*out = func_find(r->s.func, block)->u.block->writes[0].buffer;
	return true;
}

bool
rules_same_axes(struct rules *r, const struct block_access *x, int output)
{
	struct block_access e;

	if (!rules_access(r, output, &e)) {
		return false;
	}
	for (int l = 0; l < e.n_loads; l++) {
		const struct expr *load = e.loads[l].load;

		if (load->u.buffer != x->out) {
			continue;
		}
		if (load->n_args != e.info->n_iters) {
			return false;
		}
		for (int i = 0; i < load->n_args; i++) {
			const struct iter_var *it = &e.info->iters[i];

			if (load->args[i] != it->var->expr &&
			    !(expr_is_value(it->extent, 1) &&
			      load->args[i] == it->min)) {
				return false;
			}
		}
	}
	return true;
}

int
rules_read_index(struct rules *r, int block, const struct buffer *b)
{
	const struct block *info = func_find(r->s.func, block)->u.block;

	for (int i = 0; i < info->n_reads; i++) {
		if (info->reads[i].buffer == b) {
			return i;
		}
	}
	return -1;
}

bool
rules_tests_var(const struct expr *e, const struct var *v, bool selects)
{
	bool found = false;

	for (struct expr_iter it = expr_each(e); (e = expr_next(&it));) {
		found |= (e->kind == EXPR_IF ||
			  (selects && e->kind == EXPR_SELECT)) &&
			 expr_uses_var(e->args[0], v);
	}
	return found;
}
