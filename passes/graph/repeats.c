/* SPDX-License-Identifier: Apache-2.0 */
/* Stores constants without the elements that they repeat, for example the
 * result of Expand, ConstantOfShape or Tile, or an initializer with equal
 * rows.
 *
 *	const c: float32[64, 128, 128] = Expand (v, s)    # v: float32[64, 1, 1]
 *	y = Add (x, c)
 *
 *	const c.once: float32[64, 1, 1]                                ->
 *	const c: float32[64, 128, 128] = tirc.Repeat (c.once) {…}
 *	y = Add (x, c)
 *
 * c keeps its elements: a region of a backend, or weights in the layout of a
 * product, are stored as before. Generated kernels read c.once at the indices
 * of tirc.Repeat: 0, i / run, or i % extent; a constant with a single number
 * becomes a literal in their code.
 *
 * A dimension is stored once if c does not vary along it. The period of a
 * dimension (Tile) and runs of equal elements (Resize) take a division for each
 * index, which costs little unless the dimension is the innermost one. In the
 * innermost dimension, and for the weights of products, whose layouts are
 * chosen for speed, repeats are left out only if the graph has the setting
 * small_constants. */
#include "repeats.h"

#include "identifiers.h"
#include "pointer_map.h"

/* The least number of bytes that a repetition must save if it takes a division
 * for each index; and the least size of an operand of a product, whose kernel
 * may become slower. */
enum { WORTH = 1024 };

/* The pass computes constants as a whole that could be computed in parts when
 * they are written. Limits, so that a small file does not take long:
 * WHOLE_BYTES for each constant; in total, BASE_BYTES plus BYTES_TIMES the
 * bytes of the model's files. */
enum { WHOLE_BYTES = 64 << 20, BASE_BYTES = 8 << 20, BYTES_TIMES = 16 };

/* The number of elements in the corner of a constant that is checked first. */
enum { CORNER_ELEMS = 4096 };

/* The most recipes of a constant that are examined. */
enum { RECIPES_MAX = 256 };

/* The most divisors of an extent that are tried as its period; each reads all
 * elements. */
enum { DIVISORS_MAX = 24 };

/* The repetition along a dimension: element i equals the stored element (i /
 * run) % period. */
struct repeat {
	int64_t run, period;
};

/* -- readers */

/* The most uses that are examined; a constant with more uses counts as an
 * operand. */
enum { USES_MAX = 256 };

/* Is input `input` of n an operand of a product: is n a product and the input
 * one of its first two inputs, or does the result of n reach such an input
 * through nodes that compute single elements? *room: the number of uses that
 * may still be examined. */
static bool
is_operand(const struct node *n, int input, int depth, int *room)
{
	const struct tensor *x = n->inputs[input], *y = n->outputs[0];
	int64_t elems, all;

	if (--*room < 0) {
		return true;
	}
	if (n->op->fuse == FUSE_COMPUTE) {
		return input < 2;
	}
	/* A tensor with fewer elements than the node's result does not count as
	 * an operand: a scale of weights, or a small constant that is added. */
	if (depth == 0 || y == NULL || !tensor_const_elems(x, &elems) ||
	    !tensor_const_elems(y, &all) || elems < all) {
		return false;
	}
	for (int i = 0; i < y->uses.n; i++) {
		if (is_operand(y->uses.data[i].node, y->uses.data[i].input,
			       depth - 1, room)) {
			return true;
		}
	}
	return false;
}

/* May n read its input i at computed indices, from a smaller constant? */
static bool
may_read_once(const struct graph *g, const struct node *n, int i)
{
	enum { DEPTH = 4 };
	int room = USES_MAX;

	return node_reads_elements(n) &&
	       (!is_operand(n, i, DEPTH, &room) ||
		(g->settings->small_constants &&
		 tensor_bytes_max(n->inputs[i]) > WORTH));
}

bool
group_reads_once(const struct group *group, const struct tensor *t)
{
	if (!tensor_is_repeat(t)) {
		return false;
	}
	for (int i = 0; i < group->nodes.n; i++) {
		const struct node *n = group->nodes.data[i];

		for (int k = 0; k < n->n_inputs; k++) {
			if (n->inputs[k] == t &&
			    !may_read_once(n->graph, n, k)) {
				return false;
			}
		}
	}
	return true;
}

static bool
has_reader(const struct graph *g, const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (may_read_once(g, t->uses.data[i].node,
				  t->uses.data[i].input)) {
			return true;
		}
	}
	return false;
}

/* -- bytes */

/* A constant's bytes as `outer` rows along one dimension; each row has n parts
 * of `inner` bytes. */
struct rows {
	const char *data;
	int64_t outer, n, inner;
};

/* Does each part of each row equal the part that the repetition r stores in its
 * place? */
static bool
rows_repeat(const struct rows *x, struct repeat r)
{
	for (int64_t o = 0; o < x->outer; o++) {
		const char *row = x->data + o * x->n * x->inner;

		for (int64_t i = 1; i < x->n; i++) {
			int64_t of = i / r.run % r.period * r.run;

			if (memcmp(row + i * x->inner, row + of * x->inner,
				   (size_t)x->inner) != 0) {
				return false;
			}
		}
	}
	return true;
}

/* The repetition of a dimension that leaves the fewest elements; with
 * `divisions` also one that takes a division for each index. */
static struct repeat
repeat_of_rows(const struct rows *x, bool divisions)
{
	const struct repeat once = { 1, 1 };

	if (rows_repeat(x, once)) {
		return once;
	}
	for (int64_t part = 2, tried = 0;
	     divisions && part <= x->n / 2 && tried < DIVISORS_MAX; part++) {
		struct repeat period = { 1, part };
		struct repeat runs = { x->n / part, part };

		if (x->n % part != 0) {
			continue;
		}
		tried++;
		if (rows_repeat(x, period)) {
			return period;
		}
		if (rows_repeat(x, runs)) {
			return runs;
		}
	}
	return (struct repeat){ 1, x->n };
}

static int
last_dim(const int64_t *shape, int ndim)
{
	int last = ndim - 1;

	while (last > 0 && shape[last] == 1) {
		last--;
	}
	return last;
}

/* Sets r[d] to the repetition of each dimension d, found by comparing the
 * constant's bytes. */
static void
repeats_of_bytes(const struct graph *g, const struct tensor *t,
		 const struct value *v, const int64_t *shape, struct repeat *r)
{
	int64_t before = 1, bytes = (int64_t)v->bytes;
	int last = last_dim(shape, t->ndim);

	for (int d = 0; d < t->ndim; d++) {
		struct rows rows = { v->data, before, shape[d], 0 };
		bool divisions = g->settings->small_constants || d != last;

		bytes /= shape[d];
		before *= shape[d];
		rows.inner = bytes;
		r[d] = v->data == NULL ? (struct repeat){ 1, 1 }
				       : repeat_of_rows(&rows, divisions);
	}
}

/* -- recipes */

/* A constant with the elements 0, step, 2 * step, … below `ends` of each
 * dimension of t. NULL after a diagnostic. */
static struct tensor *
sliced(struct graph *g, struct tensor *t, const char *name, const int64_t *ends,
       const int64_t *steps)
{
	struct arena *a = &g->module->arena;
	int64_t *zeros = arena_array(a, int64_t, t->ndim + 1);
	struct tensor *in[5] = { t };

	in[1] = graph_constant_ints(g, "starts", t->ndim, zeros);
	in[2] = graph_constant_ints(g, "ends", t->ndim, ends);
	in[4] = graph_constant_ints(g, "steps", t->ndim, steps);
	return finish_constant(g, insert_node(g, NULL, "Slice", name, in, 5));
}

/* Does a recipe have larger results than sources? Of the recipes that t is
 * computed by, only the nearest RECIPES_MAX are examined. */
static bool
grows(struct graph *g, const struct tensor *t)
{
	VEC(const struct tensor *) list = { 0 };
	struct arena *a = &g->module->arena;
	struct pointer_map seen;

	pointer_map_init(&seen, a);
	vec_push(a, &list, t);
	for (int i = 0; i < list.n && i < RECIPES_MAX; i++) {
		const struct tensor *y = list.data[i];
		int64_t sources = 0;

		if (y->recipe == NULL || y->value != NULL) {
			continue;
		}
		for (int k = 0; k < y->recipe->n_inputs; k++) {
			const struct tensor *x = y->recipe->inputs[k];

			if (x == NULL) {
				continue;
			}
			sources = quota_plus(sources, tensor_bytes_max(x));
			if (pointer_map_add(&seen, x)) {
				vec_push(a, &list, x);
			}
		}
		if (sources < tensor_bytes_max(y)) {
			return true;
		}
	}
	return false;
}

/* Sets *repeats if a corner of t, a constant with a recipe, repeats its
 * elements along some dimension. Only the corner is computed: most constants do
 * not repeat. False if the corner cannot be computed. */
static bool
corner_repeats(struct graph *g, struct tensor *t, const int64_t *shape,
	       bool *repeats)
{
	struct arena *a = &g->module->arena;
	int64_t *ends = arena_copy(a, shape, sizeof *shape * (size_t)t->ndim);
	int64_t *steps = arena_array(a, int64_t, t->ndim + 1), elems = 1;
	struct repeat *r = arena_array(a, struct repeat, t->ndim + 1);
	const struct value *v;
	struct tensor *corner;

	for (int d = 0; d < t->ndim; d++) {
		steps[d] = 1;
		elems *= shape[d];
	}
	while (elems > CORNER_ELEMS) {
		int most = 0;

		for (int d = 1; d < t->ndim; d++) {
			most = ends[d] > ends[most] ? d : most;
		}
		elems /= ends[most];
		ends[most] = (ends[most] + 1) / 2;
		elems *= ends[most];
	}
	corner = sliced(g, t, "corner", ends, steps);
	v = corner != NULL ? tensor_value(g, corner) : NULL;
	if (v == NULL) {
		return false;
	}
	repeats_of_bytes(g, corner, v, ends, r);
	*repeats = false;
	for (int d = 0; d < t->ndim; d++) {
		*repeats |= r[d].period < ends[d];
	}
	return true;
}

/* Sets *v to the elements of t if it is likely that some of them are repeated,
 * and if computing them takes at most *left bytes, which are then subtracted
 * from *left; else sets *v to NULL. False after a diagnostic. */
static bool
value_to_look_at(struct graph *g, struct tensor *t, const int64_t *shape,
		 int64_t *left, const struct value **v)
{
	int64_t bytes = tensor_bytes_max(t);
	bool likely = true;

	*v = t->value;
	if (t->value != NULL || bytes > WHOLE_BYTES || bytes > *left) {
		return true;
	}
	if (!grows(g, t) && !corner_repeats(g, t, shape, &likely)) {
		return false;
	}
	*left -= likely ? bytes : 0;
	*v = likely ? tensor_value(g, t) : NULL;
	return !likely || *v != NULL;
}

/* -- the smaller constant */

/* "$0[0,:,:8,::2]" */
static const char *
slice_text(struct arena *a, const int64_t *shape, const struct repeat *r,
	   int ndim)
{
	const char *text = "$0[";

	for (int d = 0; d < ndim; d++) {
		const char *comma = d > 0 ? "," : "";

		if (r[d].period == 1 && shape[d] > 1) {
			text = arena_printf(a, "%s%s0", text, comma);
		} else if (r[d].run > 1) {
			text = arena_printf(a, "%s%s::%lld", text, comma,
					    (long long)r[d].run);
		} else if (r[d].period < shape[d]) {
			text = arena_printf(a, "%s%s:%lld", text, comma,
					    (long long)r[d].period);
		} else {
			text = arena_printf(a, "%s%s:", text, comma);
		}
	}
	return arena_printf(a, "%s]", text);
}

/* Moves the value or the recipe of t to a new tensor, and returns this tensor.
 * t keeps its readers; the caller gives t a new recipe, which reads fewer
 * elements. */
static struct tensor *
whole_of(struct graph *g, struct tensor *t)
{
	const char *name = arena_printf(&g->module->arena, "%s.whole", t->name);
	struct tensor *whole = copy_constant(g, t, name);

	if (t->recipe != NULL) {
		t->recipe->outputs[t->output_index] = whole;
	}
	return whole;
}

/* Makes t a tirc.Repeat of the elements that r leaves. */
static bool
store_once(struct graph *g, struct tensor *t, const int64_t *shape,
	   const struct repeat *r)
{
	struct arena *a = &g->module->arena;
	int64_t *runs = arena_array(a, int64_t, t->ndim + 1);
	int64_t *ends = arena_array(a, int64_t, t->ndim + 1);
	const char *name = constant_name(t);
	const struct node *made_by = t->made_by;
	struct tensor *whole = whole_of(g, t), *once;
	struct node *n;

	for (int d = 0; d < t->ndim; d++) {
		runs[d] = r[d].run;
		ends[d] = r[d].run * r[d].period;
	}
	once = sliced(g, whole, arena_printf(a, "%s.once", t->name), ends,
		      runs);
	if (once == NULL) {
		return false;
	}
	once->from = name;
	graph_made_of(g, once, slice_text(a, shape, r, t->ndim), NULL, &whole,
		      1);
	t->output_index = 0;
	n = graph_node(g, "tirc", "Repeat", "", &once, 1, &t, 1);
	n->op = op_find("tirc", "Repeat");
	node_set_attr_ints(g, n, "shape", shape, t->ndim);
	node_set_attr_ints(g, n, "runs", runs, t->ndim);
	if (!ops_infer_node(g, n)) {
		return false;
	}
	graph_make_recipe(g, n, "repeats", "");
	t->made_by = made_by;
	return true;
}

/* The number of bytes that a constant takes if only the elements that r leaves
 * are stored. */
static int64_t
bytes_left(const struct tensor *t, const int64_t *shape, const struct repeat *r)
{
	int64_t bytes = tensor_bytes_max(t);

	for (int d = 0; d < t->ndim; d++) {
		bytes = bytes / shape[d] * r[d].period;
	}
	return bytes;
}

/* Drops from r each repetition that takes a division for each index but saves
 * few bytes. */
static void
drop_small(const struct tensor *t, const int64_t *shape, struct repeat *r)
{
	int64_t bytes = bytes_left(t, shape, r);

	for (int d = 0; d < t->ndim; d++) {
		bool divides = r[d].period > 1 && r[d].period < shape[d];
		int64_t without = bytes / r[d].period * shape[d];

		if (divides && without - bytes < WORTH) {
			r[d] = (struct repeat){ 1, shape[d] };
			bytes = without;
		}
	}
}

/* Is t a constant that may be stored with fewer elements? Sets shape to its
 * extents. */
static bool
may_repeat(const struct tensor *t, int64_t *shape)
{
	int64_t elems;

	if (!tensor_is_constant(t) || t->is_string ||
	    dtype_class(t->type) == DTC_STRING || dtype_bits(t->type) < 8 ||
	    !tensor_const_elems(t, &elems) || elems < 2 ||
	    (dtype_class(t->type) == DTC_INT && dtype_bits(t->type) >= 32 &&
	     elems <= FEW_ELEMS)) {
		return false;
	}
	for (int d = 0; d < t->ndim; d++) {
		expr_is_int(t->shape[d], &shape[d]);
	}
	return true;
}

static bool
visit(struct graph *g, struct tensor *t, int64_t *left)
{
	struct arena *a = &g->module->arena;
	int ndim = t->ndim > 0 ? t->ndim : 0;
	int64_t *shape = arena_array(a, int64_t, ndim + 1);
	struct repeat *r = arena_array(a, struct repeat, ndim + 1);
	const struct value *v;
	bool any = false;

	if (!may_repeat(t, shape) || !has_reader(g, t)) {
		return true;
	}
	if (!value_to_look_at(g, t, shape, left, &v) || v == NULL) {
		return v == NULL;
	}
	repeats_of_bytes(g, t, v, shape, r);
	drop_small(t, shape, r);
	for (int d = 0; d < t->ndim; d++) {
		any |= r[d].period < shape[d];
	}
	return !any || store_once(g, t, shape, r);
}

int64_t
constant_bytes_once(struct graph *g, const struct tensor *t)
{
	struct arena *a = &g->module->arena;
	int ndim = t->ndim > 0 ? t->ndim : 0;
	int64_t *shape = arena_array(a, int64_t, ndim + 1);
	struct repeat *r = arena_array(a, struct repeat, ndim + 1);

	if (tensor_is_repeat(t)) {
		return tensor_bytes_max(t->recipe->inputs[0]);
	}
	if (t->value == NULL || !may_repeat(t, shape)) {
		return tensor_bytes_max(t);
	}
	repeats_of_bytes(g, t, t->value, shape, r);
	drop_small(t, shape, r);
	return bytes_left(t, shape, r);
}

int64_t
constant_look_bytes(const struct graph *g)
{
	return quota_plus(BASE_BYTES, quota_times(g->module->quota.input_bytes,
						  BYTES_TIMES));
}

bool
constant_look(struct graph *g, struct tensor *t, int64_t *left)
{
	int64_t *shape = arena_array(&g->module->arena, int64_t,
				     (t->ndim > 0 ? t->ndim : 0) + 1);
	const struct value *v;

	return !may_repeat(t, shape) || value_to_look_at(g, t, shape, left, &v);
}

bool
graph_repeats(struct graph *g)
{
	int n = g->tensors.n;
	int64_t left = constant_look_bytes(g);

	for (int i = 0; i < n; i++) {
		if (!visit(g, g->tensors.data[i], &left)) {
			return false;
		}
	}
	if (g->tensors.n > n) {
		graph_drop_unused_tensors(g);
	}
	return true;
}
