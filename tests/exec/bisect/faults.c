/* SPDX-License-Identifier: Apache-2.0 */
/* Plants a fault in a pass of tirc: the linker puts each wrapper here in the place of
 * the pass (--wrap). TIRC_FAULT names the pass, what it makes wrong, and how:
 *
 *	graph_fold Sub constant       doubles a constant that the first Sub reads
 *	graph_fold Sub swap           swaps the inputs of the first Sub
 *	graph_fold Relu op Sigmoid    makes it another operator
 *	lower_storage conv times      doubles what kernel conv stores last
 *	lower_storage conv extent     leaves out the last iteration of its last loop
 *	lower_storage conv index      stores one element further
 *	lower_storage conv max        makes its first maximum a minimum
 *	prim_split conv times         the same after a step of its schedule
 *	rule_window conv times        the same after a rule
 *	import_finish Relu op Abs     a fault of a graph, in the importer
 *	plan_memory a onto b          gives tensor a the place of tensor b
 *	entry_call conv skip          calls a kernel never
 *	weight_stream conv_w sign     stores a constant with other signs
 *	sched_adopt_layouts fc map    stores a kernel's constants in another order
 *
 * A kernel's fault is planted once in each of its functions, a node's once in each
 * graph. The lists of the wrapped functions are in meson.build. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit.h"
#include "entry.h"
#include "finish.h"
#include "iterate.h"
#include "lower_passes.h"
#include "plan.h"
#include "rewrite.h"
#include "sched_rules.h"
#include "schedule.h"
#include "upgrade.h"

enum { WORD_BYTES = 64 };

struct fault {
	char where[WORD_BYTES], what[WORD_BYTES], how[WORD_BYTES],
		other[WORD_BYTES];
};

static bool
is_planted_in(const char *where, struct fault *out)
{
	const char *text = getenv("TIRC_FAULT");

	memset(out, 0, sizeof *out);
	return text != NULL &&
	       sscanf(text, "%63s %63s %63s %63s", out->where, out->what,
		      out->how, out->other) >= 3 &&
	       strcmp(out->where, where) == 0;
}

/* -- graphs -- */

static void
double_constant(struct graph *g, struct node *n)
{
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *x = n->inputs[i], *y;
		const struct value *v;
		float *data;
		int64_t shape[8];

		if (x == NULL || !tensor_is_constant(x) || x->ndim > 8 ||
		    !dtype_is_float(x->type)) {
			continue;
		}
		v = tensor_value(g, x);
		data = arena_array(&g->module->arena, float, v->elems + 1);
		for (int64_t k = 0; k < v->elems; k++) {
			data[k] = 2 * (v->data != NULL
					       ? ((const float *)v->data)[k]
					       : (float)v->fill.f);
		}
		for (int d = 0; d < x->ndim; d++) {
			expr_is_int(x->shape[d], &shape[d]);
		}
		y = graph_constant(g, "other", x->type, x->ndim, shape, data);
		y->model_name = x->model_name;
		node_set_input(n, i, y);
		return;
	}
}

static void
change_node(struct graph *g, struct node *n, const struct fault *f)
{
	struct tensor *first = n->inputs[0];

	if (strcmp(f->how, "constant") == 0) {
		double_constant(g, n);
	} else if (strcmp(f->how, "swap") == 0) {
		node_set_input(n, 0, n->inputs[1]);
		node_set_input(n, 1, first);
	} else if (strcmp(f->how, "op") == 0) {
		n->op_type = arena_strdup(&g->module->arena, f->other);
		n->op = NULL;
		ops_resolve(g);
	}
}

/* The graph in which the fault is planted. */
static const struct graph *done;

struct graph *__real_graph_new(struct module *m, const char *name);
struct graph *__wrap_graph_new(struct module *m, const char *name);
struct graph *
__wrap_graph_new(struct module *m, const char *name)
{
	done = NULL;
	return __real_graph_new(m, name);
}

static bool
plant_in_graph(struct graph *g, const char *pass)
{
	struct fault f;

	if (done == g || !is_planted_in(pass, &f)) {
		return true;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		if (strcmp(g->nodes.data[i]->op_type, f.what) == 0) {
			done = g;
			change_node(g, g->nodes.data[i], &f);
			break;
		}
	}
	return true;
}

#define GRAPH(name)                                                            \
	bool __real_graph_##name(struct graph *g);                             \
	bool __wrap_graph_##name(struct graph *g);                             \
	bool __wrap_graph_##name(struct graph *g)                              \
	{                                                                      \
		return __real_graph_##name(g) &&                               \
		       plant_in_graph(g, "graph_" #name);                      \
	}
GRAPH_FAULTS
#undef GRAPH

/* -- functions -- */

static const struct expr *
max_to_min(void *ctx, const struct expr *e)
{
	struct func *f = ctx;

	return e->kind == EXPR_MAX ? expr_min(f->module, e->args[0], e->args[1])
				   : NULL;
}

/* The last statement of a kind, or NULL. */
static struct stmt *
last(struct func *f, enum stmt_kind kind)
{
	struct stmt_iter it = stmt_each_of(f->body, kind);
	struct stmt *s, *found = NULL;

	while ((s = stmt_next(&it)) != NULL) {
		found = s;
	}
	return found;
}

static void
change_store(struct func *f, struct stmt *s, const char *how)
{
	struct module *m = f->module;
	const struct expr *v = s->args[0];

	if (strcmp(how, "times") == 0) {
		stmt_set_arg(f, s, 0,
			     expr_mul(m, v, expr_const(m, v->type, 2)));
	} else {
		stmt_set_arg(f, s, s->n_args - 1,
			     expr_add(m, s->args[s->n_args - 1],
				      expr_i32(m, 1)));
	}
}

static bool
plant_in_func(struct func *f, const char *pass)
{
	struct fault fault;
	struct stmt *s;

	if (!is_planted_in(pass, &fault) || strcmp(f->name, fault.what) != 0 ||
	    func_note(f, "fault") != NULL) {
		return true;
	}
	func_set_note(f, "fault", expr_i32(f->module, 1));
	if (strcmp(fault.how, "max") == 0) {
		stmt_rewrite(f, f->body, max_to_min, f);
	} else if (strcmp(fault.how, "extent") == 0) {
		s = last(f, STMT_FOR);
		stmt_set_arg(f, s, 1,
			     expr_sub(f->module, s->args[1],
				      expr_i32(f->module, 1)));
	} else {
		change_store(f, last(f, STMT_STORE), fault.how);
	}
	return true;
}

#define LOWERING(name)                                                         \
	bool __real_lower_##name(struct func *f);                              \
	bool __wrap_lower_##name(struct func *f);                              \
	bool __wrap_lower_##name(struct func *f)                               \
	{                                                                      \
		return __real_lower_##name(f) &&                               \
		       plant_in_func(f, "lower_" #name);                       \
	}
LOWER_FAULTS
#undef LOWERING

#define STEP(name)                                                             \
	primitive_fn __real_prim_##name;                                       \
	primitive_fn __wrap_prim_##name;                                       \
	bool __wrap_prim_##name(struct edit *e,                                \
				const struct sched_value *args,                \
				struct sched_value *result)                    \
	{                                                                      \
		return __real_prim_##name(e, args, result) &&                  \
		       plant_in_func(e->f, "prim_" #name);                     \
	}
STEP_FAULTS
#undef STEP

#define RULE_OF(name)                                                          \
	bool __real_rule_##name(struct rules *r,                               \
				const struct kernel_blocks *k);                \
	bool __wrap_rule_##name(struct rules *r,                               \
				const struct kernel_blocks *k);                \
	bool __wrap_rule_##name(struct rules *r,                               \
				const struct kernel_blocks *k)                 \
	{                                                                      \
		return __real_rule_##name(r, k) &&                             \
		       plant_in_func(r->s.func, "rule_" #name);                \
	}
RULE_FAULTS
#undef RULE_OF

/* -- importer -- */

bool __real_import_finish(struct importer *imp);
bool __wrap_import_finish(struct importer *imp);
bool
__wrap_import_finish(struct importer *imp)
{
	return __real_import_finish(imp) &&
	       plant_in_graph(imp->g, "import_finish");
}

bool __real_upgrade_softmax(struct upgrade *u);
bool __wrap_upgrade_softmax(struct upgrade *u);
bool
__wrap_upgrade_softmax(struct upgrade *u)
{
	struct fault f;
	bool ok = __real_upgrade_softmax(u);

	if (ok && is_planted_in("upgrade_softmax", &f)) {
		node_set_attr_int(u->g, u->node, "axis", 0);
	}
	return ok;
}

/* -- memory plan, calls, constants -- */

static struct placement *
place_of(struct program *p, const char *tensor)
{
	for (int i = 0; i < p->plan.places.n; i++) {
		struct placement *at = &p->plan.places.data[i];

		if (at->tensor != NULL &&
		    strcmp(at->tensor->name, tensor) == 0) {
			return at;
		}
	}
	return NULL;
}

bool __real_plan_memory(struct program *p);
bool __wrap_plan_memory(struct program *p);
bool
__wrap_plan_memory(struct program *p)
{
	struct fault f;
	struct placement *at, *onto;
	bool ok = __real_plan_memory(p);

	if (!ok || !is_planted_in("plan_memory", &f)) {
		return ok;
	}
	at = place_of(p, f.what);
	onto = place_of(p, f.other);
	if (at != NULL && onto != NULL) {
		at->offset_bytes = onto->offset_bytes;
	}
	return true;
}

struct stmt *__real_entry_call_some(struct entry *e, const struct kernel *k);
struct stmt *__wrap_entry_call_some(struct entry *e, const struct kernel *k);
struct stmt *
__wrap_entry_call_some(struct entry *e, const struct kernel *k)
{
	struct stmt *s = __real_entry_call_some(e, k);
	struct fault f;

	return is_planted_in("entry_call", &f) && strcmp(f.what, k->name) == 0
		       ? stmt_evaluate(e->f, expr_i32(e->m, 0))
		       : s;
}

struct streaming {
	bool (*sink)(void *ctx, const void *bytes, size_t n);
	void *ctx;
};

/* Changes the sign of each float of 32 bits. */
static bool
change_signs(void *ctx, const void *bytes, size_t n)
{
	const struct streaming *s = ctx;
	unsigned char *copy = malloc(n + 1);
	bool ok;

	memcpy(copy, bytes, n);
	for (size_t i = 3; i < n; i += 4) {
		copy[i] ^= 0x80;
	}
	ok = s->sink(s->ctx, copy, n);
	free(copy);
	return ok;
}

bool __real_weight_stream(struct graph *g, const struct weight *w,
			  bool (*sink)(void *, const void *, size_t),
			  void *ctx);
bool __wrap_weight_stream(struct graph *g, const struct weight *w,
			  bool (*sink)(void *, const void *, size_t),
			  void *ctx);
bool
__wrap_weight_stream(struct graph *g, const struct weight *w,
		     bool (*sink)(void *, const void *, size_t), void *ctx)
{
	struct streaming s = { sink, ctx };
	struct fault f;

	return is_planted_in("weight_stream", &f) &&
			       strcmp(f.what, w->name) == 0
		       ? __real_weight_stream(g, w, change_signs, &s)
		       : __real_weight_stream(g, w, sink, ctx);
}

bool __real_sched_adopt_layouts(const struct sched *s, struct kernel *k);
bool __wrap_sched_adopt_layouts(const struct sched *s, struct kernel *k);
bool
__wrap_sched_adopt_layouts(const struct sched *s, struct kernel *k)
{
	struct module *m = k->func->module;
	struct fault f;
	bool ok = __real_sched_adopt_layouts(s, k);

	if (!ok || !is_planted_in("sched_adopt_layouts", &f) ||
	    strcmp(f.what, k->name) != 0) {
		return ok;
	}
	for (int i = 0; i < k->args.n; i++) {
		struct weight *w = k->args.data[i].weight;
		struct index_map *map;

		if (w == NULL || w->map == NULL) {
			continue;
		}
		/* the first axis backwards */
		map = arena_copy(&m->arena, w->map, sizeof *map);
		map->to_logical = arena_copy(&m->arena, w->map->to_logical,
					     sizeof *map->to_logical *
						     (size_t)map->n_logical);
		map->to_logical[0] =
			expr_sub(m,
				 expr_sub(m, w->tensor->shape[0],
					  expr_int(m, w->tensor->shape[0]->type,
						   1)),
				 map->to_logical[0]);
		w->map = map;
	}
	return true;
}
