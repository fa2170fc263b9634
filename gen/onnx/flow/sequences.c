/* SPDX-License-Identifier: Apache-2.0 */
/* The import removes sequences and optionals: a sequence is a list of tensors
 * that is known when the code is generated; an optional is its element or
 * empty.
 *
 *	before	s = SequenceConstruct(a, b); y = SequenceAt(s, 1)
 *	after	y = Identity(b)
 */
#include "bodies.h"
#include "import_inputs.h"
#include "ops.h"

/* Makes the sequence s the value of the node's only output, and removes the
 * node: a sequence needs no node in the graph. False after a diagnostic. */
static bool
give(struct importer *imp, struct deferred *d, const struct sequence *s)
{
	sequence_set(imp, d->node->outputs[0], s);
	d->node->outputs[0]->producer = NULL;
	d->node->outputs[0] = NULL;
	return deferred_finish(imp, d,
			       s->is_none ? "an optional without an element is "
					    "known at compile time"
					  : "a sequence is a list of tensors "
					    "that is known at compile time");
}

static bool
give_tensor(struct importer *imp, struct deferred *d, struct tensor *t)
{
	deferred_output(imp, d, 0, t);
	return deferred_finish(imp, d, NULL);
}

static bool
give_scalar(struct importer *imp, struct deferred *d, enum dtype_kind kind,
	    int64_t v)
{
	void *data = arena_alloc(&imp->m->arena, sizeof v);

	number_store(dtype_of(kind), data, 0, (union number){ .i = v });
	return give_tensor(imp, d,
			   graph_constant(imp->g, d->node->outputs[0]->name,
					  dtype_of(kind), 0, NULL, data));
}

/* Input 0 as a sequence; NULL after a diagnostic. */
static const struct sequence *
input_sequence(struct importer *imp, const struct deferred *d)
{
	const struct tensor *t = node_input(d->node, 0);
	const struct sequence *s = t ? sequence_find(imp, t) : NULL;

	if (!s || s->is_none) {
		deferred_refuse(imp, d,
				"its input is not a sequence of a length that "
				"is known at compile time");
		return NULL;
	}
	return s;
}

/* Sets *at to the position that input i gives in a list of n elements (a
 * negative one counts from the end), or to `otherwise` if the input is absent.
 * False after a diagnostic if the position is greater than `last` or depends on
 * data. */
static bool
position(struct importer *imp, const struct deferred *d, int i, int n, int last,
	 int otherwise, int *at)
{
	int64_t v = otherwise;

	if (i < d->n_inputs && node_input(d->node, i) &&
	    !deferred_known(imp, d, i, &v)) {
		return deferred_refuse(imp, d,
				       "its position depends on data, which "
				       "is not supported");
	}
	v = v < 0 ? v + n : v;
	if (v < 0 || v > last) {
		return deferred_refuse(imp, d,
				       "position %lld is outside of the "
				       "sequence; correct the model",
				       (long long)v);
	}
	*at = (int)v;
	return true;
}

static bool
construct(struct importer *imp, struct deferred *d)
{
	return give(imp, d, sequence_new(imp, d->node->inputs, d->n_inputs));
}

static bool
insert(struct importer *imp, struct deferred *d)
{
	const struct sequence *from = input_sequence(imp, d);
	int at;

	return from && position(imp, d, 2, from->n, from->n, from->n, &at) &&
	       give(imp, d, sequence_insert(imp, from, at, d->node->inputs[1]));
}

static bool
erase(struct importer *imp, struct deferred *d)
{
	const struct sequence *from = input_sequence(imp, d);
	int at;

	return from &&
	       position(imp, d, 1, from->n, from->n - 1, from->n - 1, &at) &&
	       give(imp, d, sequence_erase(imp, from, at));
}

static bool
element(struct importer *imp, struct deferred *d)
{
	const struct sequence *s = input_sequence(imp, d);
	int at;

	return s && position(imp, d, 1, s->n, s->n - 1, 0, &at) &&
	       give_tensor(imp, d, sequence_at(s, at));
}

static bool
length(struct importer *imp, struct deferred *d)
{
	const struct sequence *s = input_sequence(imp, d);

	return s && give_scalar(imp, d, DT_I64, s->n);
}

static bool
concat(struct importer *imp, struct deferred *d)
{
	const struct sequence *s = input_sequence(imp, d);
	int64_t axis = node_attr_int(d->node, "axis", 0);
	struct tensor **parts, *out = d->node->outputs[0];
	struct node *n;

	if (!s || s->n == 0) {
		return s &&
		       deferred_refuse(imp, d, "its sequence has no elements");
	}
	parts = sequence_elems(imp, s);
	for (int i = 0; node_attr_int(d->node, "new_axis", 0) && i < s->n;
	     i++) {
		parts[i] = deferred_change_rank(imp, d, "Unsqueeze", parts[i],
						axis);
	}
	out->producer = NULL;
	d->node->outputs[0] = NULL;
	n = deferred_make(imp, d, "Concat", parts, s->n, out);
	node_set_attr_int(imp->g, n, "axis", axis);
	return deferred_finish(imp, d, NULL);
}

/* The sizes of the parts into which a dimension of `size` is split; sets *n to
 * the number of parts. NULL after a diagnostic. */
static const int64_t *
part_sizes(struct importer *imp, const struct deferred *d, int64_t size, int *n)
{
	const struct tensor *split = d->n_inputs > 1 ? d->node->inputs[1]
						     : NULL;
	const int64_t *given;
	int64_t *sizes, each = 1;
	int count = 0;

	if (split && !input_ints(imp->m, d->node, 1, &given, &count)) {
		deferred_refuse(imp, d,
				"the number of its parts depends on data, "
				"which is not supported");
		return NULL;
	}
	if (split && split->ndim > 0) {
		*n = count;
		return given;
	}
	each = split ? given[0] : 1;
	if (each < 1 || (size - 1) / each >= INT16_MAX) {
		deferred_refuse(imp, d, "it makes too many parts");
		return NULL;
	}
	*n = size > 0 ? (int)((size - 1) / each) + 1 : 0;
	sizes = arena_array(&imp->tmp, int64_t, *n + 1);
	for (int i = 0; i < *n; i++) {
		sizes[i] = i < *n - 1 ? each : size - each * (*n - 1);
	}
	return sizes;
}

static bool
split(struct importer *imp, struct deferred *d)
{
	struct tensor *x = d->node->inputs[0], *in[2] = { x };
	int64_t axis = node_attr_int(d->node, "axis", 0), size;
	const int64_t *sizes;
	struct tensor **parts;
	struct node *n;
	int count;

	axis = axis < 0 ? axis + x->ndim : axis;
	if (axis < 0 || axis >= x->ndim ||
	    !expr_is_int(x->shape[axis], &size)) {
		return deferred_refuse(imp, d,
				       "the size of the dimension that it "
				       "splits is not known at compile time");
	}
	sizes = part_sizes(imp, d, size, &count);
	if (!sizes) {
		return false;
	}
	parts = arena_array(&imp->tmp, struct tensor *, count + 1);
	for (int i = 0; i < count; i++) {
		parts[i] = graph_tensor(imp->g, d->node->outputs[0]->name);
	}
	in[1] = graph_constant_ints(imp->g, "split", count, sizes);
	n = import_add_node(imp, "", "Split", d->node->name, in, 2, parts,
			    count, d->origin, GRAPH_CANONICAL_OPSET);
	n->op = op_find("", "Split");
	node_set_attr_int(imp->g, n, "axis", axis);
	for (int i = 0; d->n_inputs < 2 && i < count &&
			node_attr_int(d->node, "keepdims", 1) == 0;
	     i++) {
		parts[i] = deferred_change_rank(imp, d, "Squeeze", parts[i],
						axis);
	}
	d->node->origins.n = 0; /* the Split now has the node's origins */
	return give(imp, d, sequence_new(imp, parts, count));
}

/* SequenceMap: output k is the sequence of the body's results k, one for each
 * element. */
static bool
map(struct importer *imp, struct deferred *d)
{
	const struct sequence *first = input_sequence(imp, d);
	const Onnx__GraphProto *body = deferred_graph(d, "body");
	int n_in = d->n_inputs, n_out = d->node->n_outputs;
	struct tensor **in, **out, ***made, ***elems;

	if (!first || !body || body->n_output < (size_t)n_out) {
		return first && deferred_refuse(imp, d,
						"its body is missing, or has "
						"too few outputs");
	}
	in = arena_array(&imp->tmp, struct tensor *, n_in + 1);
	out = arena_array(&imp->tmp, struct tensor *, body->n_output + 1);
	made = arena_array(&imp->tmp, struct tensor **, n_out + 1);
	for (int k = 0; k < n_out; k++) {
		made[k] = arena_array(&imp->tmp, struct tensor *, first->n + 1);
	}
	elems = arena_array(&imp->tmp, struct tensor **, n_in + 1);
	for (int k = 0; k < n_in; k++) {
		const struct sequence *s = sequence_find(imp,
							 d->node->inputs[k]);

		if (s && s->n != first->n) {
			return deferred_refuse(imp, d,
					       "its sequences have %d and %d "
					       "elements",
					       first->n, s->n);
		}
		elems[k] = s ? sequence_elems(imp, s) : NULL;
	}
	for (int i = 0; i < first->n; i++) {
		for (int k = 0; k < n_in; k++) {
			in[k] = elems[k] ? elems[k][i] : d->node->inputs[k];
		}
		if (!deferred_inline(imp, d, body, place_of_body(imp, d->body),
				     in, n_in, out)) {
			return false;
		}
		for (int k = 0; k < n_out; k++) {
			made[k][i] = out[k];
		}
	}
	for (int k = 0; k < n_out; k++) {
		if (d->node->outputs[k]) {
			sequence_set(imp, d->node->outputs[k],
				     sequence_new(imp, made[k], first->n));
			d->node->outputs[k]->producer = NULL;
			d->node->outputs[k] = NULL;
		}
	}
	return deferred_finish(imp, d, NULL);
}

static bool
has_element(struct importer *imp, const struct deferred *d)
{
	const struct tensor *t = d->n_inputs > 0 ? d->node->inputs[0] : NULL;
	const struct sequence *s = t ? sequence_find(imp, t) : NULL;

	return t && !(s && s->is_none);
}

static bool
optional(struct importer *imp, struct deferred *d)
{
	struct sequence *none;

	if (d->n_inputs > 0) {
		return give_tensor(imp, d, d->node->inputs[0]);
	}
	none = sequence_new(imp, NULL, 0);
	none->is_none = true;
	return give(imp, d, none);
}

static bool
get_element(struct importer *imp, struct deferred *d)
{
	if (!has_element(imp, d)) {
		return deferred_refuse(imp, d,
				       "its input is an optional without an "
				       "element");
	}
	return give_tensor(imp, d, d->node->inputs[0]);
}

bool
expand_sequence(struct importer *imp, struct deferred *d)
{
	static const struct {
		const char *op;
		bool (*fn)(struct importer *imp, struct deferred *d);
	} rows[] = {
		{ "ConcatFromSequence", concat },
		{ "Optional", optional },
		{ "OptionalGetElement", get_element },
		{ "SequenceAt", element },
		{ "SequenceConstruct", construct },
		{ "SequenceEmpty", construct },
		{ "SequenceErase", erase },
		{ "SequenceInsert", insert },
		{ "SequenceLength", length },
		{ "SequenceMap", map },
		{ "SplitToSequence", split },
	};

	for (int i = 0; i < d->node->n_inputs; i++) {
		const struct sequence *s = sequence_find(imp,
							 d->node->inputs[i]);

		if (s && s->is_map) {
			return deferred_refuse(imp, d,
					       "its input is a list of maps, "
					       "which is not supported; make "
					       "it an output of the model");
		}
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].op, d->node->op_type) == 0) {
			return rows[i].fn(imp, d);
		}
	}
	return give_scalar(imp, d, DT_BOOL, has_element(imp, d));
}

/* -- outputs of the model -- */

/* Makes a new output of the model, which has the value of t. */
static bool
add_output(struct importer *imp, struct tensor *t, const char *name)
{
	struct graph *g = imp->g;
	struct tensor *out = graph_tensor(g, name);
	struct node *n = import_add_node(imp, "", "Identity", "", &t, 1, &out,
					 1, -1, GRAPH_CANONICAL_OPSET);

	n->op = op_find("", "Identity");
	out->model_name = arena_strdup(&imp->m->arena, name);
	out->is_output = true;
	vec_push(&imp->m->arena, &g->outputs, out);
	return ops_infer_node(g, n);
}

static const char *
element_name(struct importer *imp, const struct sequence *s,
	     const struct tensor *t, int k)
{
	return s->is_map ? arena_printf(&imp->tmp, "%s_%s", t->name,
					k == 0 ? "keys" : "values")
			 : arena_printf(&imp->tmp, "%s_%d", t->name, k);
}

bool
sequence_outputs(struct importer *imp)
{
	struct graph *g = imp->g;
	tensor_list old = { 0 };
	bool any = false;

	for (int i = 0; i < g->outputs.n; i++) {
		vec_push(&imp->tmp, &old, g->outputs.data[i]);
		any = any || sequence_find(imp, g->outputs.data[i]);
	}
	if (!any) {
		return true;
	}
	g->outputs.n = 0;
	for (int i = 0; i < old.n; i++) {
		struct tensor *t = old.data[i];
		const struct sequence *s = sequence_find(imp, t);
		struct tensor **elems;

		if (!s) {
			vec_push(&imp->m->arena, &g->outputs, t);
			continue;
		}
		t->is_output = false;
		elems = sequence_elems(imp, s);
		for (int k = 0; k < s->n; k++) {
			if (!add_output(imp, elems[k],
					element_name(imp, s, t, k))) {
				return false;
			}
		}
	}
	return g->outputs.n > 0 ||
	       diag_error(&imp->m->diags, DIAG_UNSUPPORTED,
			  import_place(imp, NULL),
			  "its outputs are sequences or optionals without "
			  "elements; there is nothing to compute");
}
