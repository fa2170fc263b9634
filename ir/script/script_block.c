/* SPDX-License-Identifier: Apache-2.0 */
/* The TVMScript reader: blocks, their axes and regions, and annotations. */
#include "block_regions.h"
#include "script_read.h"
#include "sum.h"

bool
script_range(struct script_reader *r, const struct py_node *min,
	     const struct py_node *end, struct range *out)
{
	struct script_value a, b;
	const struct expr *x, *y;

	if (!script_eval(r, min, &a) || !script_eval(r, end, &b) ||
	    !script_unify(r, end, &a, &b, &x, &y)) {
		return false;
	}
	if (!dtype_is_int(x->type) || x->type.lanes != 1) {
		return script_fail(r, min,
				   "a range of something else than "
				   "integers; use integers");
	}
	out->min = x;
	out->extent = range_extent(r->m, x, y);
	return true;
}

bool
script_slice(struct script_reader *r, const struct py_node *slice,
	     const struct expr *size, struct range *out)
{
	const struct py_node *min = slice->kids[0], *end = slice->kids[1];
	struct script_value a = { .kind = SCRIPT_EXPR }, b = a;
	int64_t step = 1;

	if (slice->kids[2] && !script_constant(r, slice->kids[2], &step)) {
		return false;
	}
	if (step != 1) {
		return script_fail(r, slice,
				   "a slice with the step %lld; use T.Ramp, or "
				   "a loop",
				   (long long)step);
	}
	if (min && end) {
		return script_range(r, min, end, out);
	}
	out->min = expr_int(r->m, size->type, 0);
	a.e = size;
	if (min && !script_index(r, min, &out->min)) {
		return false;
	}
	if (end && !script_index(r, end, &a.e)) {
		return false;
	}
	b.e = out->min;
	if (!script_unify(r, slice, &b, &a, &out->min, &a.e)) {
		return false;
	}
	out->extent = range_extent(r->m, out->min, a.e);
	return true;
}

/* ---- regions */

/* The size in dimension i of v, a buffer or a part of one. */
static const struct expr *
size_of(const struct script_value *v, int i)
{
	return v->view ? v->view->shape[i] : v->buffer->shape[i];
}

/* Sets out's ranges, which are ranges of a view of a part of a buffer, to
 * ranges of the whole buffer. False after an error. */
static bool
widen(struct script_reader *r, const struct py_node *node,
      const struct script_value *v, struct region *out)
{
	int lead = v->buffer->ndim - v->view->ndim;
	struct range *all = arena_array(&r->m->arena, struct range,
					v->buffer->ndim + 1);

	for (int i = 0; i < v->buffer->ndim; i++) {
		const struct expr *min = v->view->min[i];

		if (i < lead) {
			all[i].min = min;
			all[i].extent = expr_int(r->m, min->type, 1);
			continue;
		}
		all[i] = out->ranges[i - lead];
		if (!script_plus(r, node, min, all[i].min, &all[i].min)) {
			return false;
		}
	}
	out->ranges = all;
	return true;
}

/* The n indices of a subscript: one node, or those of a tuple, which may be
 * empty. */
static const struct py_node *const *
subscripts(const struct py_node *node, int *n)
{
	const struct py_node *const *list = &node->kids[1];

	*n = 0;
	if (node->kind != PY_SUBSCRIPT) {
		return NULL;
	}
	*n = 1;
	if ((*list)->kind == PY_TUPLE) {
		*n = (*list)->n_kids;
		list = (*list)->kids;
	}
	return list;
}

bool
script_ranges(struct script_reader *r, const struct py_node *node,
	      struct script_value *v, struct range **out)
{
	bool whole = node->kind != PY_SUBSCRIPT;
	int n, rank;
	const struct py_node *const *list = subscripts(node, &n);

	if (!script_eval(r, whole ? node : node->kids[0], v)) {
		return false;
	}
	if (v->kind != SCRIPT_BUFFER) {
		return script_fail(r, node,
				   "no part of a buffer; write it as "
				   "A[i, 0:16]");
	}
	rank = script_rank(v);
	if (!whole && n != rank) {
		return script_fail(r, node,
				   "%d ranges for the %d dimensions of '%s'; "
				   "give one for each",
				   n, rank, v->buffer->name);
	}
	*out = arena_array(&r->m->arena, struct range, rank + 1);
	for (int i = 0; i < rank; i++) {
		struct range *range = &(*out)[i];
		const struct expr *extent = size_of(v, i);

		if (whole) {
			range->min = expr_int(r->m, extent->type, 0);
			range->extent = extent;
		} else if (list[i]->kind != PY_SLICE) {
			if (!script_index(r, list[i], &range->min)) {
				return false;
			}
			range->extent = expr_int(r->m, range->min->type, 1);
		} else if (!script_slice(r, list[i], extent, range)) {
			return false;
		}
	}
	return true;
}

bool
script_region(struct script_reader *r, const struct py_node *node,
	      struct region *out)
{
	struct script_value v;
	struct range *ranges;

	if (!script_ranges(r, node, &v, &ranges)) {
		return false;
	}
	out->buffer = v.buffer;
	out->ranges = ranges;
	return !v.view ||
	       (v.view->flat ? script_view_region(r, node, v.view, out)
			     : widen(r, node, &v, out));
}

/* Replaces the lets of the block's suite, which its regions are outside of, by their
 * values. */
static void
write_out_lets(struct script_reader *r, struct region *region)
{
	struct module *m = r->m;

	for (int k = r->lets.n - 1; k >= r->block->n_lets; k--) {
		struct script_let_value *let = &r->lets.data[k];
		struct var_map map = { &let->var, &let->value, 1 };

		for (int i = 0; i < region->buffer->ndim; i++) {
			struct range *one = &region->ranges[i];

			one->min = expr_substitute(m, one->min, &map);
			one->extent = expr_substitute(m, one->extent, &map);
		}
	}
}

/* Reads the regions of T.reads(A[i], B[…]) or T.reads([A[i], B[…]]) into the
 * block. False after an error. */
static bool
regions(struct script_reader *r, const struct py_node *call, bool writes)
{
	struct script_block *b = r->block;
	const struct py_node *const *list = call->kids + 1;
	int n = call->n_kids - 1;

	if (writes ? b->has_writes : b->has_reads) {
		return script_fail(r, call,
				   "a second T.%s; say all of it in "
				   "one",
				   writes ? "writes" : "reads");
	}
	if (n == 1 && list[0]->kind == PY_LIST) {
		n = list[0]->n_kids;
		list = list[0]->kids;
	}
	for (int i = 0; i < n; i++) {
		struct region one;

		if (!script_region(r, list[i], &one)) {
			return false;
		}
		write_out_lets(r, &one);
		if (writes) {
			vec_push(&r->m->arena, &b->writes, one);
		} else {
			vec_push(&r->m->arena, &b->reads, one);
		}
	}
	b->has_reads |= !writes;
	b->has_writes |= writes;
	return true;
}

/* ---- annotations */

bool
script_note_value(struct script_reader *r, const struct py_node *node,
		  const struct expr **out)
{
	if (node->kind != PY_LIST && node->kind != PY_TUPLE &&
	    node->kind != PY_DICT) {
		struct script_value v;

		if (!script_eval(r, node, &v)) {
			return false;
		}
		if (v.kind == SCRIPT_BUFFER || v.kind == SCRIPT_HANDLE) {
			*out = expr_string(r->m, node->kind == PY_NAME
							 ? node->text
							 : "");
			return true;
		}
		return script_settle(r, node, &v, out);
	}
	/* a dict is the list of its keys and values, in turn */
	const struct expr **list = arena_exprs(&r->m->arena, node->n_kids + 1);

	for (int i = 0; i < node->n_kids; i++) {
		if (!script_note_value(r, node->kids[i], &list[i])) {
			return false;
		}
	}
	*out = expr_list(r->m, list, node->n_kids);
	return true;
}

bool
script_notes(struct script_reader *r, const struct py_node *dict,
	     struct note **out)
{
	struct note **end = out;

	*out = NULL;
	if (dict->kind != PY_DICT) {
		return script_fail(r, dict,
				   "no dict; write "
				   "{\"name\": value}");
	}
	for (int i = 0; i < dict->n_kids; i += 2) {
		struct note *one = arena_new(&r->m->arena, struct note);

		if (!script_text(r, dict->kids[i], &one->key) ||
		    !script_note_value(r, dict->kids[i + 1], &one->value)) {
			return false;
		}
		for (const struct note *n = *out; n; n = n->next) {
			if (strcmp(n->key, one->key) == 0) {
				return script_fail(r, dict->kids[i],
						   "'%s' "
						   "is given twice; give it "
						   "once",
						   n->key);
			}
		}
		*end = one;
		end = &one->next;
	}
	return true;
}

/* Reads the lower or upper bounds of sizes: {"n": 1, "m": 2}. False after an
 * error. */
static bool
bounds(struct script_reader *r, const struct py_node *dict, bool upper)
{
	if (dict->kind != PY_DICT) {
		return script_fail(r, dict, "no dict; write {\"n\": 1}");
	}
	for (int i = 0; i < dict->n_kids; i += 2) {
		const char *name;
		const struct script_value *v;
		int64_t value;

		if (!script_text(r, dict->kids[i], &name) ||
		    !script_constant(r, dict->kids[i + 1], &value)) {
			return false;
		}
		v = script_find(r, name);
		if (!v || v->kind != SCRIPT_EXPR || v->e->kind != EXPR_VAR ||
		    !dtype_is_int(v->e->type)) {
			return script_fail(r, dict->kids[i],
					   "bounds of '%s', "
					   "which is not a size; name one that "
					   "is declared above",
					   name);
		}
		struct var *var = v->e->u.var;

		if (!var->is_dim) {
			/* a size whose lower bound is not given is at least
			 * 1 */
			var->is_dim = true;
			var->min = 1;
			var->max = (int64_t)dtype_max_int(var->type);
		}
		*(upper ? &var->max : &var->min) = value;
	}
	return true;
}

/* T.target("llvm"), tvm.target.Target("llvm", host="llvm") */
static bool
names_target(const struct script_reader *r, const struct py_node *node)
{
	const struct py_node *callee = node->kind == PY_CALL ? node->kids[0]
							     : NULL;

	return callee &&
	       (script_calls(r, node, "target") ||
		((callee->kind == PY_ATTRIBUTE || callee->kind == PY_NAME) &&
		 strcmp(callee->text, "Target") == 0));
}

bool
script_func_attr(struct script_reader *r, const struct py_node *call)
{
	const struct py_node *found[1], *dict;
	struct py_node plain;
	const struct py_node **kids;
	struct note *notes;
	int n = 0;

	if (!script_args(r, call, "attrs", found)) {
		return false;
	}
	dict = found[0];
	plain = *dict;
	kids = arena_array(&r->m->arena, const struct py_node *,
			   dict->n_kids + 1);
	for (int i = 0; dict->kind == PY_DICT && i < dict->n_kids; i += 2) {
		const struct py_node *key = dict->kids[i];
		bool lower = key->kind == PY_STRING &&
			     strcmp(key->text, "tir_var_lower_bound") == 0;
		bool upper = key->kind == PY_STRING &&
			     strcmp(key->text, "tir_var_upper_bound") == 0;

		if (lower || upper) {
			if (!bounds(r, dict->kids[i + 1], upper)) {
				return false;
			}
			continue;
		}
		if (names_target(r, dict->kids[i + 1])) {
			/* no target is known here: the build names it */
			continue;
		}
		kids[n++] = key;
		kids[n++] = dict->kids[i + 1];
	}
	if (dict->kind == PY_DICT) {
		plain.kids = kids;
		plain.n_kids = n;
	}
	if (!script_notes(r, &plain, &notes)) {
		return false;
	}
	for (; notes; notes = notes->next) {
		func_set_attribute(r->f, notes->key, notes->value);
	}
	return true;
}

/* ---- axes */

bool
script_is_axis(const struct script_reader *r, const struct py_node *node)
{
	const char *path = node->kind == PY_CALL ? script_path(r, node->kids[0])
						 : NULL;

	return path && strncmp(path, "axis.", 5) == 0;
}

static bool
need_block(struct script_reader *r, const struct py_node *call,
	   const char *path)
{
	return !r->block->is_root ||
	       script_fail(r, call,
			   "T.%s outside of a block; move it into "
			   "one",
			   path);
}

static struct script_value
add_axis(struct script_reader *r, const char *name, struct range dom,
	 enum iter_kind kind, const struct expr *binding)
{
	struct var *v = var_new(r->m, script_hint(r, name), dom.extent->type);
	struct iter_var iter = { v, dom.min, dom.extent, kind };

	vec_push(&r->m->arena, &r->block->iters, iter);
	vec_push(&r->m->arena, &r->block->bindings, binding);
	return script_value_of(v->expr, false);
}

static bool
iter_kind(const char *word, enum iter_kind *out)
{
	static const struct {
		const char *word;
		enum iter_kind kind;
	} rows[] = {
		{ "spatial", ITER_SPATIAL }, { "S", ITER_SPATIAL },
		{ "reduce", ITER_REDUCE },   { "R", ITER_REDUCE },
		{ "scan", ITER_SCAN },       { "opaque", ITER_OPAQUE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].word, word) == 0) {
			*out = rows[i].kind;
			return true;
		}
	}
	return false;
}

/* v = T.axis.spatial(dom, binding) */
static bool
one_axis(struct script_reader *r, const char *name, const struct py_node *call,
	 const char *path)
{
	const struct py_node *found[3];
	struct range dom;
	struct script_value v, unit;
	const struct expr *binding, *extent;
	enum iter_kind kind;
	int n;

	if (!iter_kind(path + 5, &kind)) {
		return script_unknown(r, call, path);
	}
	if (!script_args(r, call, "dom, binding, dtype?", found)) {
		return false;
	}
	const struct py_node *const *ends = script_items(&found[0], &n);

	if (n == 2 && found[0]->kind == PY_TUPLE) {
		if (!script_range(r, ends[0], ends[1], &dom)) {
			return false;
		}
	} else {
		if (!script_index(r, found[0], &dom.extent)) {
			return false;
		}
		dom.min = expr_int(r->m, dom.extent->type, 0);
	}
	if (!script_eval(r, found[1], &v)) {
		return false;
	}
	/* The wider type of domain and binding; a binding that is a number of
	 * Python takes the domain's type. */
	unit = script_value_of(dom.extent, dom.extent->kind == EXPR_INT &&
						   found[0]->kind == PY_INT);
	if (!script_unify(r, found[1], &v, &unit, &binding, &extent)) {
		return false;
	}
	if (!dtype_is_int(binding->type) || binding->type.lanes != 1) {
		return script_fail(r, found[1],
				   "a block variable that is not an "
				   "integer; bind it to one");
	}
	dom.extent = extent;
	dom.min = expr_cast(r->m, extent->type, dom.min);
	struct dtype t;

	if (found[2] && (!script_type(r, found[2], &t) ||
			 (!dtype_equal(t, extent->type) &&
			  !script_fail(r, found[2],
				       "another type than the "
				       "domain's, %s; leave it out",
				       dtype_name(extent->type))))) {
		return false;
	}
	script_define(r, name, add_axis(r, name, dom, kind, binding));
	return true;
}

/* The names of n axes: those of the target, or, if it is one name for all of them,
 * names made from that. */
static const struct py_node *const *
axis_names(struct script_reader *r, const struct py_node *const *target, int n,
	   int *n_names)
{
	const struct py_node **names;

	if ((*target)->kind != PY_NAME || n < 2) {
		return script_items(target, n_names);
	}
	names = arena_array(&r->m->arena, const struct py_node *, n);
	for (int i = 0; i < n; i++) {
		struct py_node *one = arena_new(&r->m->arena, struct py_node);

		*one = **target;
		one->text = arena_printf(&r->m->arena, "%s_%d", one->text, i);
		names[i] = one;
	}
	*n_names = n;
	return names;
}

/* Sets *out to the axis of kind S or R for the loop whose variable is v, at the node
 * `at`. kinds: the node of the kinds, for messages. */
static bool
remap_one(struct script_reader *r, const struct py_node *at,
	  const struct py_node *kinds, const struct script_value *v, char kind,
	  const struct py_node *name, struct script_value *out)
{
	const struct script_loop *loop = NULL;
	const struct expr *e;

	if (!script_settle(r, at, v, &e)) {
		return false;
	}
	for (int k = 0; k < r->loops.n; k++) {
		if (e->kind == EXPR_VAR && r->loops.data[k].var == e->u.var) {
			loop = &r->loops.data[k];
		}
	}
	if (!loop) {
		return script_fail(r, at,
				   "a binding that is not a "
				   "loop around the block; use "
				   "T.axis.spatial or T.axis.reduce");
	}
	if (kind != 'S' && kind != 'R') {
		return script_fail(r, kinds,
				   "'%c' is not a kind of "
				   "axis; write S or R",
				   kind);
	}
	if (name->kind != PY_NAME) {
		return script_fail(r, name,
				   "no name; give the "
				   "block's variable one");
	}
	*out = add_axis(r, name->text,
			(struct range){ loop->min, loop->extent },
			kind == 'S' ? ITER_SPATIAL : ITER_REDUCE, e);
	return true;
}

/* Reads a, b = T.axis.remap("SR", [i, j]), which defines an axis for each loop.
 * False after an error. */
static bool
remap(struct script_reader *r, const struct py_node *target,
      const struct py_node *call)
{
	const struct py_node *found[3];
	const char *kinds;
	int n, n_names;

	if (!script_args(r, call, "kinds, bindings, dtype?", found) ||
	    !script_text(r, found[0], &kinds)) {
		return false;
	}
	struct script_value list;

	if (!script_eval(r, found[1], &list)) {
		return false;
	}
	if (list.kind != SCRIPT_LIST) {
		list = (struct script_value){
			.kind = SCRIPT_LIST,
			.items = arena_copy(&r->m->arena, &list, sizeof list),
			.n_items = 1
		};
	}
	n = list.n_items;
	const struct py_node *const *wanted = axis_names(r, &target, n,
							 &n_names);

	if ((size_t)n != strlen(kinds) || n != n_names) {
		return script_fail(r, call,
				   "%d names, %d kinds and %d loops; "
				   "give equally many",
				   n_names, (int)strlen(kinds), n);
	}
	struct script_value *values = arena_array(&r->m->arena,
						  struct script_value, n + 1);

	for (int i = 0; i < n; i++) {
		const struct py_node *at = found[1];

		if ((at->kind == PY_LIST || at->kind == PY_TUPLE) &&
		    at->n_kids == n) {
			at = at->kids[i];
		}
		if (!remap_one(r, at, found[0], &list.items[i], kinds[i],
			       wanted[i], &values[i])) {
			return false;
		}
	}
	for (int i = 0; i < n; i++) {
		script_define(r, wanted[i]->text, values[i]);
	}
	if (target->kind == PY_NAME && n > 1) {
		script_define(r, target->text,
			      (struct script_value){ .kind = SCRIPT_LIST,
						     .items = values,
						     .n_items = n });
	}
	return true;
}

bool
script_axis(struct script_reader *r, const struct py_node *target,
	    const struct py_node *call)
{
	const char *path = script_path(r, call->kids[0]);

	if (!need_block(r, call, path)) {
		return false;
	}
	if (strcmp(path, "axis.remap") == 0) {
		return remap(r, target, call);
	}
	if (target->kind != PY_NAME) {
		return script_fail(r, target,
				   "no name; give the block's "
				   "variable one");
	}
	return one_axis(r, target->text, call, path);
}

/* T.where, T.reads, T.writes, T.block_attr */
bool
script_block_line(struct script_reader *r, const struct py_node *call,
		  const char *path)
{
	const struct py_node *found[1];
	struct script_block *b = r->block;

	if (!need_block(r, call, path)) {
		return false;
	}
	if (strcmp(path, "reads") == 0 || strcmp(path, "writes") == 0) {
		return regions(r, call, path[0] == 'w');
	}
	if (!script_args(r, call, "predicate", found)) {
		return false;
	}
	if (strcmp(path, "where") == 0) {
		const struct expr *e;

		if (!script_condition(r, found[0], &e)) {
			return false;
		}
		b->predicate = b->predicate ? expr_and(r->m, b->predicate, e)
					    : e;
		return script_expr_fits(r, call, b->predicate);
	}
	struct note **end = &b->notes;

	while (*end) {
		end = &(*end)->next;
	}
	return script_notes(r, found[0], end);
}

/* ---- the block */

bool
script_is_block(const struct script_reader *r, const struct py_node *node)
{
	return script_calls(r, node, "block") ||
	       script_calls(r, node, "sblock");
}

/* The declared regions, followed by a region for each buffer that the block
 * accesses but does not declare. A buffer in `other`, the declared regions of the
 * other direction, counts as declared: a block may read a buffer that it writes
 * without declaring the read; and a buffer whose address the block passes counts
 * as only read if the block declares only the read. */
static struct region *
completed(struct script_reader *r, const struct region *declared, int n,
	  const struct region *found, int n_found, const struct region *other,
	  int n_other, int *count)
{
	struct region *all = arena_array(&r->m->arena, struct region,
					 n + n_found + 1);

	*count = 0;
	for (int i = 0; i < n; i++) {
		all[(*count)++] = declared[i];
	}
	for (int i = 0; i < n_found; i++) {
		if (!regions_have(declared, n, found[i].buffer) &&
		    !regions_have(other, n_other, found[i].buffer)) {
			all[(*count)++] = found[i];
		}
	}
	return all;
}

/* Puts the declared regions in place of those that were found. TVM relies on
 * declarations only when it moves blocks or cuts buffers. Here, a buffer that a
 * declaration leaves out still counts as read or written. */
static void
add_declared(struct script_reader *r, struct stmt *s,
	     const struct script_block *b)
{
	struct block block = *s->u.block;

	if (b->has_writes) {
		block.writes = completed(r, b->writes.data, b->writes.n,
					 s->u.block->writes,
					 s->u.block->n_writes, b->reads.data,
					 b->reads.n, &block.n_writes);
	}
	if (b->has_reads) {
		block.reads = completed(r, b->reads.data, b->reads.n,
					s->u.block->reads, s->u.block->n_reads,
					block.writes, block.n_writes,
					&block.n_reads);
	}
	stmt_set_block(r->f, s, &block);
}

static struct stmt *
make_block(struct script_reader *r, const struct script_block *b,
	   const char *name, struct stmt *body)
{
	struct block block = {
		.name = name,
		.iters = b->iters.data,
		.n_iters = b->iters.n,
		.reads = b->reads.data,
		.n_reads = b->reads.n,
		.writes = b->writes.data,
		.n_writes = b->writes.n,
		.allocs = b->allocs.data,
		.n_allocs = b->allocs.n,
	};
	const struct block *copy = arena_copy(&r->m->arena, &block,
					      sizeof block);
	struct stmt *s = stmt_block(r->f, copy,
				    b->predicate ? b->predicate
						 : expr_bool(r->m, true),
				    b->bindings.data, b->init, body);

	s->notes = b->notes;
	/* The root block declares no regions. */
	if (b->outer->is_root && b->iters.n == 0 && r->loops.n == 0 &&
	    strcmp(name, "root") == 0) {
		return s;
	}
	block_infer_regions(r->f, s, true, true);
	add_declared(r, s, b);
	return s;
}

bool
script_block(struct script_reader *r, const struct py_node *call,
	     const struct py_node *suite, struct stmt **out)
{
	const struct py_node *found[2];
	struct script_block block = { .outer = r->block, .n_lets = r->lets.n };
	const char *name = "";
	struct stmt *body;
	int mark = r->names.n;

	if (!script_args(r, call, "name_hint?, no_realize?", found) ||
	    (found[0] && !script_text(r, found[0], &name))) {
		return false;
	}
	r->has_blocks = true;
	r->block = &block;
	bool good = script_read_suite(r, suite, &body);

	r->block = block.outer;
	script_leave(r, mark);
	if (!good) {
		return false;
	}
	*out = make_block(r, &block, arena_strdup(&r->m->arena, name), body);
	(*out)->pos = (struct src_pos){ call->span.line, call->span.col };
	return true;
}
