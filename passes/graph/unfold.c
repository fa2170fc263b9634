/* SPDX-License-Identifier: Apache-2.0 */
/* With the setting small_constants, a constant that is larger than the
 * constants from which it is computed is computed at run time: the nodes that
 * were folded into it are added to the graph again.
 *
 *	const m: float32[64, 64]                  r = Range (0, 64, 1)
 *	y = Add (x, m)                     ->     c = Less (r, k)
 *	                                          m = Where (c, low, zero)
 *	                                          y = Add (x, m)
 *
 * A node that computes single elements then becomes a part of each kernel that
 * reads the constant; any other node, and a costly node that several kernels
 * read, gets a kernel, which stores the result in the workspace (fuse.c).
 *
 * The node that computes a constant is its recipe (see struct tensor). A
 * constant that the recipe reads is stored if it has no more bytes than the
 * constants from which it is computed itself; otherwise it is computed, too.
 * The later pass `repeats` may store fewer elements of a constant than it has:
 * the bytes that remain are compared. The result is exact, except for functions
 * such as Exp, which the target may compute differently. A product skips the
 * zeros that its kernel computes beyond an edge (guarded_updates.c), as those
 * of a Pad, and 0 times inf or NaN with them: floats with such zeros stay
 * stored where a product reads them. */
#include "repeats.h"

#include "pointer_map.h"

/* Constants with fewer bytes are stored. */
enum { WORTH = 1024 };

/* A constant that is computed from more tensors than this, or through a chain
 * of as many nodes, stays stored. */
enum { TENSORS_MAX = 64 };

/* WORK_MAX: the largest number of operations that computing an element of the
 * constant may take. COSTLY_WORK: the number of operations for which a function
 * such as Exp counts. */
enum { WORK_MAX = 64, COSTLY_WORK = 24 };

/* A constant that may be computed at run time, or a constant from which it is
 * computed. In unfolding.parts, a part comes after the parts for the constants
 * that its recipe reads. */
struct part {
	struct tensor *tensor;
	/* the node that computes the constant; NULL if it is stored */
	const struct node *recipe;
	/* the bytes of all constants that are stored so that the constant can
	 * be computed */
	int64_t bytes;
	/* the tensor that readers get: the stored constant, or the result of a
	 * new node; NULL: not made yet */
	struct tensor *made;
};

struct unfolding {
	struct graph *g;
	VEC(struct part) parts;
	/* maps a tensor to the index of its part in parts */
	struct pointer_map index;
	/* the index in `parts` of the first part that was added for the current
	 * constant */
	int first;
	/* the bytes that constant_look may still compute */
	int64_t left;
	/* Does a product of floats read the constant that is being unfolded? */
	bool for_product;
};

/* -- what could be computed -- */

/* The node that computes the constant t, if generated code can compute the
 * node, and if t is the node's only output and all its inputs are constants;
 * else NULL. */
static const struct node *
recipe_of(const struct tensor *t)
{
	const struct node *n = t->recipe != NULL ? t->recipe : t->made_by;

	if (n == NULL || n->op == NULL || n->n_outputs != 1 ||
	    n->op->fuse == FUSE_CONTROL || n->op->fuse == FUSE_OPAQUE ||
	    node_is_internal(n, "Repeat")) {
		return NULL;
	}
	for (int i = 0; i < n->n_inputs; i++) {
		if (n->inputs[i] != NULL && !tensor_is_constant(n->inputs[i])) {
			return NULL;
		}
	}
	return n;
}

static bool
is_number(const struct tensor *t)
{
	return !t->is_string && dtype_class(t->type) != DTC_STRING &&
	       dtype_bits(t->type) >= 8;
}

/* May t be computed at run time, as an input of a node that is computed at run
 * time? */
static bool
may_be_computed(const struct tensor *t)
{
	int64_t elems;

	return is_number(t) && tensor_const_elems(t, &elems) &&
	       (elems > FEW_ELEMS || dtype_is_float(t->type) ||
		dtype_class(t->type) == DTC_BOOL);
}

/* Do all readers of the constant read it in generated code, like any other
 * tensor? */
static bool
is_read_as_tensor(const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (!node_reads_elements(t->uses.data[i].node)) {
			return false;
		}
	}
	return t->uses.n > 0;
}

static bool
is_read_by_product(const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		const struct op *op = t->uses.data[i].node->op;

		if (op != NULL && op->fuse == FUSE_COMPUTE) {
			return true;
		}
	}
	return false;
}

/* Is there a condition that chooses an element of t, in the stage of t or in a
 * stage whose result that stage reads? */
static bool
has_choice(const struct te_tensor *t)
{
	const struct te_stage *s = t->stage;
	struct tree_iter it;
	const struct expr *e;
	bool found = false;

	if (s == NULL) {
		return false;
	}
	it = exprs_each(s->bodies, s->bodies != NULL ? s->n_out : 0);
	while (!found && (e = tree_next(&it)) != NULL) {
		found = e->kind == EXPR_IF || e->kind == EXPR_SELECT;
	}
	tree_stop(&it);
	for (int i = 0; i < s->n_inputs && !found; i++) {
		found = has_choice(s->inputs[i]);
	}
	return found;
}

/* Can some elements of n's result come from its input, while the rest are zeros
 * or elements of another input, as for a Pad? The answer follows from the
 * definition of n. */
static bool
has_edges(struct graph *g, const struct node *n)
{
	struct te_tensor **in = arena_array(&g->module->arena,
					    struct te_tensor *,
					    n->n_inputs + 1);
	struct te_tensor *out = NULL;

	return !ops_define_alone(g, n, in, &out) || has_choice(out);
}

/* -- the constants that a constant is computed from -- */

static int64_t
input_bytes(const struct unfolding *u, const struct node *n)
{
	int64_t sum = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *x = n->inputs[i];
		int k = x != NULL ? pointer_map_get(&u->index, x, -1) : -1;

		for (int j = 0; j < i; j++) {
			k = n->inputs[j] == x ? -1 : k;
		}
		sum = quota_plus(sum, k >= 0 ? u->parts.data[k].bytes : 0);
	}
	return sum;
}

/* Adds the constants from which t is computed to u->parts, then t itself, with
 * the number of bytes that must be stored for t: the smaller of what storing t
 * and what computing it takes. depth: the number of nodes from t to the current
 * constant. False if TENSORS_MAX is reached. */
static bool
add_parts(struct unfolding *u, struct tensor *t, int depth)
{
	struct part p = { .tensor = t };
	int64_t inputs;

	if (pointer_map_get(&u->index, t, -1) >= 0) {
		return true;
	}
	if (depth >= TENSORS_MAX || u->parts.n - u->first >= TENSORS_MAX) {
		return false;
	}
	p.recipe = depth == 0 || may_be_computed(t) ? recipe_of(t) : NULL;
	if (p.recipe != NULL && u->for_product && has_edges(u->g, p.recipe)) {
		p.recipe = NULL;
	}
	for (int i = 0; p.recipe != NULL && i < p.recipe->n_inputs; i++) {
		if (p.recipe->inputs[i] != NULL &&
		    !add_parts(u, p.recipe->inputs[i], depth + 1)) {
			return false;
		}
	}
	p.bytes = constant_bytes_once(u->g, t);
	inputs = p.recipe != NULL ? input_bytes(u, p.recipe) : INT64_MAX;
	if (inputs < p.bytes) {
		p.bytes = inputs;
	} else {
		p.recipe = NULL;
	}
	pointer_map_put(&u->index, t, u->parts.n);
	vec_push(&u->g->module->arena, &u->parts, p);
	return true;
}

/* -- time -- */

static int64_t
node_work(struct graph *g, const struct node *n)
{
	int64_t elems;

	if (node_is_costly(n) && tensor_const_elems(n->outputs[0], &elems)) {
		return quota_times(elems, COSTLY_WORK);
	}
	return ops_cost(g, n).work;
}

/* The number of operations that computing part k takes; 0 if it is stored.
 * Stops counting beyond `most`. */
static int64_t
part_work(const struct unfolding *u, int k, struct pointer_map *seen,
	  int64_t most)
{
	const struct node *n = u->parts.data[k].recipe;
	int64_t work;

	if (n == NULL || u->parts.data[k].made != NULL ||
	    !pointer_map_add(seen, u->parts.data[k].tensor)) {
		return 0;
	}
	work = node_work(u->g, n);
	for (int i = 0; i < n->n_inputs && work <= most; i++) {
		const struct tensor *x = n->inputs[i];
		int at = x != NULL ? pointer_map_get(&u->index, x, -1) : -1;

		if (at >= 0) {
			work = quota_plus(work, part_work(u, at, seen, most));
		}
	}
	return work;
}

static bool
is_quick(const struct unfolding *u, int k)
{
	struct pointer_map seen;
	int64_t elems;

	pointer_map_init(&seen, &u->g->module->arena);
	return tensor_const_elems(u->parts.data[k].tensor, &elems) &&
	       part_work(u, k, &seen, quota_times(elems, WORK_MAX)) <=
		       quota_times(elems, WORK_MAX);
}

/* -- the nodes that compute it -- */

/* The stored constant t, for a new reader. If t was dropped from the graph
 * because no node read it, adds it again. */
static struct tensor *
stored(struct graph *g, struct tensor *t)
{
	return graph_find_tensor(g, t->name) == t
		       ? t
		       : copy_constant(g, t, t->name);
}

/* The tensor of part k: the constant that is stored for it, or the result of
 * new nodes before `reader` that compute the part. NULL after a diagnostic. */
static struct tensor *
make_part(struct unfolding *u, int k, const struct node *reader)
{
	struct graph *g = u->g;
	struct part *p = &u->parts.data[k];
	const struct node *n = p->recipe;
	struct tensor **in;
	struct node *made;

	if (p->made != NULL) {
		return p->made;
	}
	if (n == NULL) {
		p->made = stored(g, p->tensor);
		return p->made;
	}
	in = arena_array(&g->module->arena, struct tensor *, n->n_inputs + 1);
	for (int i = 0; i < n->n_inputs; i++) {
		struct tensor *x = n->inputs[i];

		if (x == NULL) {
			continue;
		}
		in[i] = make_part(u, pointer_map_get(&u->index, x, -1), reader);
		if (in[i] == NULL) {
			return NULL;
		}
	}
	made = insert_copy(g, reader, n, p->tensor->name, in);
	made->name = n->name;
	made->origins.n = 0;
	graph_share_origins(made, n);
	p->made = made->outputs[0];
	p->made->model_name = p->tensor->model_name;
	graph_note(g, made, "unfold", "computed at run time");
	return ops_infer_node(g, made) ? p->made : NULL;
}

/* -- the constants of the graph -- */

/* If the constant t takes more bytes than the constants from which it is
 * computed: makes its readers read the result of nodes that compute t. False
 * after a diagnostic. */
static bool
visit(struct unfolding *u, struct tensor *t)
{
	struct graph *g = u->g;
	struct arena *a = &g->module->arena;
	struct tensor *made;
	const char *name;
	int64_t bytes;
	int k;

	if (!tensor_is_constant(t) || !is_number(t) || recipe_of(t) == NULL ||
	    tensor_bytes_max(t) <= WORTH || !is_read_as_tensor(t)) {
		return true;
	}
	if (!constant_look(g, t, &u->left)) {
		return false;
	}
	bytes = constant_bytes_once(g, t);
	u->first = u->parts.n;
	u->for_product = dtype_is_float(t->type) && is_read_by_product(t);
	if (bytes <= WORTH || !add_parts(u, t, 0)) {
		return true;
	}
	k = pointer_map_get(&u->index, t, -1);
	if (u->parts.data[k].recipe == NULL) {
		return true;
	}
	if (!is_quick(u, k)) {
		u->parts.data[k].recipe = NULL;
		u->parts.data[k].bytes = bytes;
		return true;
	}
	name = t->name;
	graph_rename(g, t, arena_printf(a, "%s.stored", name));
	made = make_part(u, k, t->uses.data[0].node);
	if (made == NULL) {
		return false;
	}
	graph_assume(g,
		     arena_printf(a,
				  "%s of constants, for '%s', is computed at "
				  "run time: stored, it would take %lld "
				  "bytes, and what it is computed from takes "
				  "%lld",
				  made->producer->op_type, tensor_label(t),
				  (long long)bytes,
				  (long long)u->parts.data[k].bytes));
	graph_replace_uses(g, t, made);
	graph_rename(g, made, name);
	return true;
}

bool
graph_unfold(struct graph *g)
{
	struct unfolding u = { .g = g, .left = constant_look_bytes(g) };
	int n = g->tensors.n, nodes = g->nodes.n;

	if (!g->settings->small_constants) {
		return true;
	}
	pointer_map_init(&u.index, &g->module->arena);
	for (int i = 0; i < n; i++) {
		if (!visit(&u, g->tensors.data[i])) {
			return false;
		}
	}
	if (g->nodes.n == nodes) {
		return true;
	}
	graph_drop_unused_tensors(g);
	if (!graph_sort(g)) {
		return false;
	}
	graph_find_bodies(g);
	return true;
}
