/* SPDX-License-Identifier: Apache-2.0 */
/* Converts ensembles of decision trees of ai.onnx.ml to the tables of
 * tirc.TreeEnsemble (passes/ops/ml/trees.c). The tables allow only two
 * comparisons, x <= value and x == value:
 *
 *	x < v		x <= the number before v
 *	x > v, x >= v	the same as x <= v, x < v with exchanged next nodes
 *	x != v		the same as x == v with exchanged next nodes
 *	x in {u, v}	x == u, and x == v at its second next node */
#include <math.h>
#include <stdlib.h>

#include "ml.h"
#include "ops.h"

enum mode { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, LEAF };

/* A node of the model's trees. next: the indices of its two children in the
 * list of nodes; the first is the child for "true". */
struct model_node {
	int64_t tree, id; /* the search key */
	enum mode mode;
	int64_t feature, next[2];
	double value;
	bool missing; /* NaN continues at next[0] */
	int64_t first_member, n_members;
	int64_t first_weight, n_weights;
};

struct weight {
	int64_t node, target;
	double value;
};

/* An entry of the tables of tirc's operator, which has the content of model
 * node `source`. A MEMBER node takes one entry for each of its members;
 * `member` is the index of the entry's member. */
struct place {
	int64_t source, member, depth;
};

struct forest {
	struct ml *m;
	struct arena *a;
	struct dtype type;
	struct model_node *nodes;
	int64_t n_nodes;
	struct model_node **sorted; /* nodes by tree and id */
	int64_t *roots, n_roots;
	const double *members;
	/* the weights of the leaves, by node, then by target */
	struct weight *weights;
	int64_t n_weights, n_targets;
	bool single; /* every leaf has exactly one weight */
	/* the attributes that have the limits of branches, the weights of leaves,
	 * and the targets of these weights */
	const char *limits_from, *weights_from, *targets_from;
	/* the tables, by entry */
	VEC(struct place) places;
	VEC(double) feature, value, next, flags, row;
	double *root, *depth;
	double mean_depth; /* the mean depth of the leaves of a tree, summed
			    * over all trees */
	bool has_flags;
};

static bool
bad_trees(struct forest *f)
{
	return ml_refuse(f->m, "its trees are not valid: lists of different "
			       "lengths, nodes without a place in their tree, "
			       "or features that the input lacks; correct the "
			       "model");
}

/* -- the tables -- */

static double
before(const struct forest *f, double v)
{
	return f->type.kind == DT_F64 ? nextafter(v, -INFINITY)
				      : nextafterf((float)v, -INFINITY);
}

/* Reserves the next entry for model node `at`; depth: its distance from the
 * root. Returns the index of the entry. */
static double
add_place(struct forest *f, int64_t at, int64_t member, int64_t depth)
{
	struct place p = { at, member, depth };

	vec_push(f->a, &f->places, p);
	return (double)(f->places.n - 1);
}

static void
add_row(struct forest *f, double feature, double value, double flags,
	double row, const double *next)
{
	vec_push(f->a, &f->feature, feature);
	vec_push(f->a, &f->value, value);
	vec_push(f->a, &f->flags, flags);
	vec_push(f->a, &f->row, row);
	vec_push(f->a, &f->next, next[0]);
	vec_push(f->a, &f->next, next[1]);
	f->has_flags = f->has_flags || flags != 0;
}

static void
add_leaf(struct forest *f, const struct model_node *s)
{
	double self[2] = { f->feature.n, f->feature.n }, value = 0, row = 0;

	if (f->single && s->n_weights == 1) {
		value = f->weights[s->first_weight].value;
		row = (double)f->weights[s->first_weight].target;
	} else if (!f->single) {
		row = (double)(s - f->nodes);
	}
	add_row(f, 0, value, 0, row, self);
}

static void
add_branch(struct forest *f, const struct model_node *s, struct place p)
{
	enum mode mode = s->mode == MEMBER ? EQ : s->mode;
	bool exchanged = mode == GTE || mode == GT || mode == NEQ;
	bool equal = mode == EQ || mode == NEQ;
	double value = s->value, next[2], flags;
	bool nan_first;

	if (s->mode == MEMBER) {
		value = f->members[s->first_member + p.member];
	}
	if (mode == LT || mode == GTE) {
		value = before(f, value);
	}
	/* nan_first: does a row go to next[0] if its feature is NaN? NaN takes
	 * the model's true branch if the node says so (missing) or tests x !=
	 * value, else the false branch; next[0] is the child for "true" unless
	 * the children are exchanged. */
	nan_first = (s->missing || mode == NEQ) != exchanged;
	flags = (equal ? 2 : 0) + (nan_first ? 1 : 0);
	for (int k = 0; k < 2; k++) {
		int side = exchanged ? !k : k;

		next[k] = s->mode == MEMBER && k == 1 &&
					  p.member + 1 < s->n_members
				  ? add_place(f, p.source, p.member + 1,
					      p.depth + 1)
				  : add_place(f, s->next[side], 0, p.depth + 1);
	}
	add_row(f, (double)s->feature, value, flags, 0, next);
}

/* Fills the entries of tree t in breadth-first order. False after a
 * diagnostic. */
static bool
place_tree(struct forest *f, int64_t t)
{
	const int64_t most = ((int64_t)1 << 20) + 64 * f->n_nodes;
	int64_t depth = 0, leaves = 0, sum = 0;

	f->root[t] = add_place(f, f->roots[t], 0, 0);
	while (f->feature.n < f->places.n) {
		struct place p = f->places.data[f->feature.n];
		const struct model_node *s = &f->nodes[p.source];

		if (f->places.n > most || p.depth > f->n_nodes + most / 64) {
			return bad_trees(f);
		}
		depth = p.depth > depth ? p.depth : depth;
		if (s->mode == LEAF) {
			add_leaf(f, s);
			sum += p.depth;
			leaves++;
		} else {
			add_branch(f, s, p);
		}
	}
	f->depth[t] = (double)depth;
	f->mean_depth += (double)sum / (double)leaves;
	return true;
}

/* Decides how the search for a leaf ends. A fixed number of steps needs no
 * branch that the processor may predict wrongly; but if the leaves are on
 * average more than a few steps above the deepest leaf, a search that ends at
 * the leaf is faster. In that case sets the feature of leaves to -1, which ends
 * the search, and returns true. */
static bool
ends_early(struct forest *f)
{
	const double wrong_guess = 3;
	double depth = 0;

	for (int64_t t = 0; t < f->n_roots; t++) {
		depth += f->depth[t];
	}
	if (depth <= f->mean_depth + wrong_guess * (double)f->n_roots) {
		return false;
	}
	for (int i = 0; i < f->places.n; i++) {
		if (f->nodes[f->places.data[i].source].mode == LEAF) {
			f->feature.data[i] = -1;
		}
	}
	return true;
}

/* Shortens f->next to the first child of each entry: the second child is always
 * the entry after the first one. */
static void
keep_first(struct forest *f)
{
	for (int i = 0; 2 * i < f->next.n; i++) {
		f->next.data[i] = f->next.data[2 * i];
	}
}

static int
compare_weights(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	return x->node != y->node ? (x->node > y->node) - (x->node < y->node)
	       : x->target != y->target
		       ? (x->target > y->target) - (x->target < y->target)
		       : 0;
}

/* Sorts the weights, and gives each leaf the range of weights that belong to
 * it. False after a diagnostic. */
static bool
sort_weights(struct forest *f)
{
	qsort(f->weights, (size_t)f->n_weights, sizeof *f->weights,
	      compare_weights);
	f->single = true;
	if (f->n_targets < 1 || f->n_targets > INT32_MAX) {
		return bad_trees(f);
	}
	for (int64_t i = 0; i < f->n_weights; i++) {
		struct weight *w = &f->weights[i];
		struct model_node *s = &f->nodes[w->node];

		if (w->target < 0 || w->target >= f->n_targets) {
			return bad_trees(f);
		}
		s->first_weight = s->n_weights++ ? s->first_weight : i;
	}
	for (int64_t i = 0; i < f->n_nodes; i++) {
		const struct model_node *s = &f->nodes[i];

		f->single = f->single && (s->mode != LEAF || s->n_weights == 1);
	}
	return true;
}

/* A table of the operator as a constant; `from` says in comments which attributes
 * of the model its elements come from. */
static struct tensor *
table_of(struct forest *f, const char *name, struct dtype type,
	 const double *values, int n_dims, const int64_t *shape,
	 const char *from)
{
	return graph_made_of(f->m->imp->g,
			     ml_constant(f->m, name, type, values, n_dims,
					 shape),
			     from, f->m->n, NULL, 0);
}

/* The weights as a table [leaves, targets]; if a leaf has no weight for a
 * target, the element is the neutral element of the aggregation. Sets f->row to
 * the row of each leaf in the table. */
static struct tensor *
weight_table(struct forest *f, const char *how)
{
	double none = strcmp(how, "MIN") == 0   ? INFINITY
		      : strcmp(how, "MAX") == 0 ? -INFINITY
						: 0;
	int64_t *numbers = arena_array(f->a, int64_t, f->n_nodes + 1), n = 0;
	int64_t shape[2];
	double *table;

	for (int64_t i = 0; i < f->n_nodes; i++) {
		numbers[i] = f->nodes[i].mode == LEAF ? n++ : 0;
	}
	table = arena_array(f->a, double, n * f->n_targets + 1);
	for (int64_t i = 0; i < n * f->n_targets; i++) {
		table[i] = none;
	}
	for (int64_t i = 0; i < f->n_weights; i++) {
		const struct weight *w = &f->weights[i];
		double *at =
			&table[numbers[w->node] * f->n_targets + w->target];

		*at = strcmp(how, "MIN") == 0   ? fmin(*at, w->value)
		      : strcmp(how, "MAX") == 0 ? fmax(*at, w->value)
						: *at + w->value;
	}
	for (int i = 0; i < f->row.n; i++) {
		const struct model_node *s =
			&f->nodes[f->places.data[i].source];

		f->row.data[i] = s->mode == LEAF ? (double)numbers[s - f->nodes]
						 : 0;
	}
	shape[0] = n;
	shape[1] = f->n_targets;
	return table_of(f, "weights", f->type, table, 2, shape,
			arena_printf(&f->m->imp->g->module->arena,
				     "%s of each leaf by %s", f->weights_from,
				     f->targets_from));
}

/* Makes the tables of the operator, in[1] to in[8] but for the weights. early: the
 * search ends at a leaf. */
static void
add_tables(struct forest *f, struct tensor **in, bool early)
{
	struct dtype i32 = dtype_of(DT_I32), u8 = dtype_of(DT_U8);
	struct arena *a = &f->m->imp->g->module->arena;
	const int64_t n = f->feature.n, pairs[2] = { n, 2 };

	in[1] = table_of(f, "feature", i32, f->feature.data, 1, &n,
			 early ? "nodes_featureids, at leaves -1"
			       : "nodes_featureids");
	in[2] = table_of(
		f, "value", f->type, f->value.data, 1, &n,
		arena_printf(a,
			     f->single
				     ? "%s, for < and >= the float before; at "
				       "leaves %s"
				     : "%s, for < and >= the float before",
			     f->limits_from, f->weights_from));
	in[3] = table_of(f, "next", i32, f->next.data, early ? 1 : 2, pairs,
			 early ? "nodes_truenodeids (false: the next place), "
				 "exchanged for >, >= and !="
			       : "nodes_truenodeids and nodes_falsenodeids, "
				 "exchanged for >, >= and !=; at leaves "
				 "themselves");
	in[4] = table_of(f, "root", i32, f->root, 1, &f->n_roots,
			 "the place of each tree's root");
	in[5] = early ? NULL
		      : table_of(f, "depth", i32, f->depth, 1, &f->n_roots,
				 "the depth of each tree");
	in[6] = f->single && f->n_targets == 1
			? NULL
			: table_of(f, "row", i32, f->row.data, 1, &n,
				   f->single ? arena_printf(a, "%s of leaves",
							    f->targets_from)
					     : "the row of each leaf in the "
					       "weights");
	in[8] = f->has_flags
			? table_of(f, "flags", u8, f->flags.data, 1, &n,
				   "nodes_modes (2: ==, else <=) + "
				   "nodes_missing_value_tracks_true (1: NaN "
				   "goes to the first of next)")
			: NULL;
}

/* For each row of x, the weights of the leaves that the trees give, aggregated
 * over all trees as `how` says: [rows, targets]. NULL after a diagnostic. */
static struct tensor *
forest_sums(struct forest *f, struct tensor *x, const char *how)
{
	struct ml *m = f->m;
	struct tensor *in[9] = { x };
	struct node *node;
	bool early;

	if (!sort_weights(f)) {
		return NULL;
	}
	f->root = arena_array(f->a, double, f->n_roots + 1);
	f->depth = arena_array(f->a, double, f->n_roots + 1);
	for (int64_t t = 0; t < f->n_roots; t++) {
		if (!place_tree(f, t)) {
			return NULL;
		}
	}
	early = ends_early(f);
	if (early) {
		keep_first(f);
	}
	in[7] = f->single ? NULL : weight_table(f, how);
	add_tables(f, in, early);
	node = ml_trees(m, in, f->has_flags ? 9 : f->single ? 7 : 8);
	node_set_attr_int(m->imp->g, node, "targets", f->n_targets);
	node_set_attr_string(m->imp->g, node, "aggregate_function", how);
	return node->outputs[0];
}

/* -- older operators: one list of the nodes of all trees, each node with the
 * number of its tree -- */

static int
compare_ids(const void *a, const void *b)
{
	const struct model_node *x = *(struct model_node *const *)a;
	const struct model_node *y = *(struct model_node *const *)b;

	return x->tree != y->tree ? (x->tree > y->tree) - (x->tree < y->tree)
				  : (x->id > y->id) - (x->id < y->id);
}

/* The index in f->nodes of the node with this tree and this id; -1 if there is
 * none. */
static int64_t
find_node(const struct forest *f, int64_t tree, int64_t id)
{
	const struct model_node key = { .tree = tree, .id = id };
	const struct model_node *at = &key;
	struct model_node *const *found = bsearch(&at, f->sorted,
						  (size_t)f->n_nodes,
						  sizeof *f->sorted,
						  compare_ids);

	return found ? *found - f->nodes : -1;
}

static enum mode
mode_of(const char *name)
{
	static const char *const names[] = { "BRANCH_LEQ",    "BRANCH_LT",
					     "BRANCH_GTE",    "BRANCH_GT",
					     "BRANCH_EQ",     "BRANCH_NEQ",
					     "BRANCH_MEMBER", "LEAF" };

	for (int k = 0; k <= LEAF; k++) {
		if (strcmp(name, names[k]) == 0) {
			return (enum mode)k;
		}
	}
	return MEMBER;
}

static bool
read_nodes(struct forest *f, int64_t n_features)
{
	static const char *const names[] = { "treeids", "nodeids", "featureids",
					     "truenodeids", "falsenodeids" };
	const struct attr *modes = node_attr(f->m->n, "nodes_modes");
	const int64_t *lists[5], *missing;
	struct model_node **sorted;
	const double *values;
	int n = modes && modes->kind == ATTR_STRINGS ? modes->n : 0, n_missing;

	for (int k = 0; k < 5; k++) {
		if (ml_attr_ints(f->m, arena_printf(f->a, "nodes_%s", names[k]),
				 &lists[k]) != n) {
			return bad_trees(f);
		}
	}
	n_missing = ml_attr_ints(f->m, "nodes_missing_value_tracks_true",
				 &missing);
	if (n == 0 || ml_floats(f->m, "nodes_values", &values) != n) {
		return bad_trees(f);
	}
	f->limits_from = "nodes_values";
	f->n_nodes = n;
	f->nodes = arena_array(f->a, struct model_node, n + 1);
	f->roots = arena_array(f->a, int64_t, n + 1);
	sorted = arena_array(f->a, struct model_node *, n + 1);
	for (int i = 0; i < n; i++) {
		struct model_node *s = &f->nodes[i];

		*s = (struct model_node){
			.tree = lists[0][i],
			.id = lists[1][i],
			.mode = mode_of(modes->strings[i]),
			.feature = lists[2][i],
			.value = values[i],
			.missing = n_missing == n && missing[i],
		};
		sorted[i] = s;
		if (i == 0 || s->tree != f->nodes[i - 1].tree) {
			f->roots[f->n_roots++] = i;
		}
	}
	qsort(sorted, (size_t)n, sizeof *sorted, compare_ids);
	f->sorted = sorted;
	for (int i = 0; i < n; i++) {
		struct model_node *s = &f->nodes[i];

		for (int k = 0; k < 2 && s->mode != LEAF; k++) {
			s->next[k] = find_node(f, s->tree, lists[3 + k][i]);
		}
		if (s->mode == MEMBER || s->next[0] < 0 || s->next[1] < 0 ||
		    (s->mode != LEAF &&
		     (s->feature < 0 || s->feature >= n_features))) {
			return bad_trees(f);
		}
	}
	return true;
}

/* Reads the weights of the leaves from attributes whose names begin with
 * target_ or class_. False after a diagnostic. */
static bool
read_weights(struct forest *f, const char *what)
{
	const int64_t *trees, *nodes, *ids;
	const double *values;
	int n = ml_attr_ints(f->m, arena_printf(f->a, "%s_treeids", what),
			     &trees);

	if (ml_attr_ints(f->m, arena_printf(f->a, "%s_nodeids", what),
			 &nodes) != n ||
	    ml_attr_ints(f->m, arena_printf(f->a, "%s_ids", what), &ids) != n ||
	    ml_floats(f->m, arena_printf(f->a, "%s_weights", what), &values) !=
		    n) {
		return bad_trees(f);
	}
	f->weights_from = arena_printf(f->a, "%s_weights", what);
	f->targets_from = arena_printf(f->a, "%s_ids", what);
	f->weights = arena_array(f->a, struct weight, n + 1);
	f->n_weights = n;
	for (int i = 0; i < n; i++) {
		f->weights[i] = (struct weight){
			find_node(f, trees[i], nodes[i]), ids[i], values[i]
		};
		if (f->weights[i].node < 0 ||
		    f->nodes[f->weights[i].node].mode != LEAF) {
			return bad_trees(f);
		}
	}
	return true;
}

static bool
forest_begin(struct ml *m, struct forest *f, int64_t *n_features)
{
	*f = (struct forest){ .m = m, .a = &m->imp->tmp };
	f->type = dtype_of(m->x->type.kind == DT_F64 ? DT_F64 : DT_F32);
	if (m->x->ndim < 1 || m->x->ndim > 2 ||
	    !expr_is_int(m->x->shape[m->x->ndim - 1], n_features)) {
		return ml_refuse(m,
				 "the number of its input's features is not "
				 "known, or the input is not a matrix; correct "
				 "the model");
	}
	return true;
}

/* Adds the n elements of the attribute base_values to the sums. Returns the
 * sums themselves if the attribute does not have n elements. */
static struct tensor *
add_base(struct forest *f, struct tensor *sums, int64_t n)
{
	const double *base;

	return ml_floats(f->m, "base_values", &base) == n
		       ? ml_op(f->m, "Add", "sums", 2, sums,
			       ml_constant(f->m, "base", f->type, base, 1, &n))
		       : sums;
}

bool
ml_tree_regressor(struct ml *m)
{
	struct forest f;
	struct dtype type;
	struct tensor *y;
	int64_t n;

	if (!forest_begin(m, &f, &n) || !read_nodes(&f, n) ||
	    !read_weights(&f, "target")) {
		return false;
	}
	f.n_targets = node_attr_int(m->n, "n_targets", 1);
	y = forest_sums(&f, ml_rows(m, &type),
			node_attr_string(m->n, "aggregate_function", "SUM"));
	y = y ? ml_post_transform(m, add_base(&f, y, f.n_targets)) : NULL;
	if (!y) {
		return false;
	}
	ml_output(m, 0, ml_cast(m, y, type, dtype_of(DT_F32)));
	return true;
}

/* A classifier of two classes, only one of which has weights: the score of this
 * class decides. The score of the other class is 1 - score if the weights are
 * positive (probabilities) and there is no post_transform, else -score. */
static bool
classify_one(struct forest *f, struct tensor *score, const int64_t *labels,
	     bool positive)
{
	struct ml *m = f->m;
	bool as_it_is = strcmp(node_attr_string(m->n, "post_transform", "NONE"),
			       "NONE") == 0;
	struct dtype f32 = dtype_of(DT_F32), boolean = dtype_of(DT_BOOL);
	const int64_t column = 1;
	struct tensor *best, *other;
	struct node *n;

	best = ml_op(m, "Greater", "above", 2, score,
		     ml_number(m, "limit", f->type, positive ? 0.5 : 0));
	best = ml_cast(m, best, boolean, dtype_of(DT_I64));
	best = ml_op(m, "Squeeze", "best", 2, best,
		     ml_ints(m, "axes", 1, &column));
	other = positive && as_it_is
			? ml_op(m, "Sub", "other", 2,
				ml_number(m, "one", f->type, 1), score)
			: ml_op(m, "Neg", "other", 1, score);
	n = ml_node(m, "Concat", "scores", 2, other, score);
	node_set_attr_int(m->imp->g, n, "axis", 1);
	return ml_classify(m, best, ml_cast(m, n->outputs[0], f->type, f32),
			   labels, 2);
}

bool
ml_tree_classifier(struct ml *m)
{
	const double *base;
	const int64_t *labels;
	struct tensor *x, *sums;
	struct forest f;
	struct dtype type;
	struct node *best;
	bool positive = true, one = true;
	int64_t n;
	int n_labels, n_base;

	ml_labels(m, "classlabels_int64s", "classlabels_strings", &labels,
		  &n_labels);
	if (!forest_begin(m, &f, &n) || !read_nodes(&f, n) ||
	    !read_weights(&f, "class")) {
		return false;
	}
	if (n_labels < 2) {
		return ml_refuse(m, "it has fewer than two classes, which is "
				    "not supported");
	}
	f.n_targets = n_labels;
	for (int64_t i = 0; i < f.n_weights; i++) {
		positive = positive && f.weights[i].value >= 0;
		one = one && f.weights[i].target == f.weights[0].target;
	}
	one = one && n_labels == 2;
	for (int64_t i = 0; i < f.n_weights && one; i++) {
		f.weights[i].target = 0;
	}
	f.n_targets = one ? 1 : n_labels;
	x = ml_rows(m, &type);
	sums = forest_sums(&f, x, "SUM");
	if (!sums) {
		return false;
	}
	n_base = ml_floats(m, "base_values", &base);
	if (one) {
		if (n_base > 0) {
			sums = ml_op(m, "Add", "sums", 2, sums,
				     ml_number(m, "base", f.type,
					       base[n_base - 1]));
		}
		return classify_one(&f, sums, labels, positive);
	}
	sums = add_base(&f, sums, f.n_targets);
	best = ml_node(m, "ArgMax", "best", 1, sums);
	node_set_attr_int(m->imp->g, best, "axis", 1);
	node_set_attr_int(m->imp->g, best, "keepdims", 0);
	return ml_classify(m, best->outputs[0],
			   ml_cast(m, sums, type, dtype_of(DT_F32)), labels,
			   n_labels);
}

/* -- TreeEnsemble: separate lists of nodes and leaves -- */

/* membership_values has a list for each MEMBER node, each ended by a NaN: gives
 * each node its list. */
static bool
read_members(struct forest *f, int64_t n_nodes)
{
	int n = ml_floats(f->m, "membership_values", &f->members), at = 0;

	for (int64_t i = 0; i < n_nodes; i++) {
		struct model_node *s = &f->nodes[i];

		if (s->mode != MEMBER) {
			continue;
		}
		s->first_member = at;
		while (at < n && !isnan(f->members[at])) {
			at++;
		}
		s->n_members = at++ - s->first_member;
		if (s->n_members < 1) {
			return bad_trees(f);
		}
	}
	return true;
}

/* Reads the nodes, then the leaves, into f->nodes. False after a diagnostic. */
static bool
read_lists(struct forest *f, int64_t n_features)
{
	static const char *const names[] = {
		"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids",
		"nodes_trueleafs",  "nodes_falseleafs",  "nodes_modes"
	};
	const int64_t *lists[6], *targets, *missing, *roots;
	const double *splits, *weights;
	int n = ml_floats(f->m, "nodes_splits", &splits);
	int leaves = ml_floats(f->m, "leaf_weights", &weights), n_missing;

	for (int k = 0; k < 6; k++) {
		if (ml_attr_ints(f->m, names[k], &lists[k]) != n) {
			return bad_trees(f);
		}
	}
	if (n == 0 ||
	    ml_attr_ints(f->m, "leaf_targetids", &targets) != leaves) {
		return bad_trees(f);
	}
	n_missing = ml_attr_ints(f->m, "nodes_missing_value_tracks_true",
				 &missing);
	f->limits_from = "nodes_splits and membership_values";
	f->weights_from = "leaf_weights";
	f->targets_from = "leaf_targetids";
	f->n_nodes = n + leaves;
	f->nodes = arena_array(f->a, struct model_node, f->n_nodes + 1);
	f->weights = arena_array(f->a, struct weight, leaves + 1);
	f->n_weights = leaves;
	for (int i = 0; i < n; i++) {
		struct model_node *s = &f->nodes[i];

		s->mode = (enum mode)lists[5][i];
		s->feature = lists[0][i];
		s->value = splits[i];
		s->missing = n_missing == n && missing[i];
		for (int k = 0; k < 2; k++) {
			bool leaf = lists[3 + k][i] != 0;
			int64_t to = lists[1 + k][i];

			if (to < 0 || to >= (leaf ? leaves : n)) {
				return bad_trees(f);
			}
			s->next[k] = to + (leaf ? n : 0);
		}
		if (lists[5][i] < 0 || lists[5][i] > MEMBER || s->feature < 0 ||
		    s->feature >= n_features) {
			return bad_trees(f);
		}
	}
	for (int i = 0; i < leaves; i++) {
		f->nodes[n + i].mode = LEAF;
		f->weights[i] = (struct weight){ n + i, targets[i],
						 weights[i] };
	}
	f->n_roots = ml_attr_ints(f->m, "tree_roots", &roots);
	f->roots = arena_array(f->a, int64_t, f->n_roots + 1);
	for (int64_t t = 0; t < f->n_roots; t++) {
		f->roots[t] = roots[t];
		if (roots[t] < 0 || roots[t] >= n) {
			return bad_trees(f);
		}
	}
	return read_members(f, n);
}

bool
ml_tree_ensemble(struct ml *m)
{
	static const char *const how[] = { "AVERAGE", "SUM", "MIN", "MAX" };
	static const char *const post[] = { "NONE", "SOFTMAX", "LOGISTIC",
					    "SOFTMAX_ZERO", "PROBIT" };
	int64_t aggregate = node_attr_int(m->n, "aggregate_function", 1);
	int64_t transform = node_attr_int(m->n, "post_transform", 0);
	struct forest f;
	struct dtype type;
	struct tensor *y;
	int64_t n;

	if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4) {
		return ml_refuse(m, "its aggregate_function or post_transform "
				    "is not known; correct the model");
	}
	if (!forest_begin(m, &f, &n) || !read_lists(&f, n)) {
		return false;
	}
	f.n_targets = node_attr_int(m->n, "n_targets", 1);
	y = forest_sums(&f, ml_rows(m, &type), how[aggregate]);
	node_set_attr_string(m->imp->g, m->n, "post_transform",
			     post[transform]);
	y = y ? ml_post_transform(m, y) : NULL;
	if (!y) {
		return false;
	}
	ml_output(m, 0, y);
	return true;
}
