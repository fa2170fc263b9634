/* SPDX-License-Identifier: Apache-2.0 */
/* Reads nodes with their inputs, outputs and attributes, and checks that the
 * nodes are consistent with each other. */

#include "analyse.h"
#include "ops.h"
#include "passes.h"
#include "reading.h"
#include "text.h"

/* -- attributes -- */

/* Reads a string that is a text, or {"bytes": "00ff"}. False after a
 * diagnostic. */
static bool
read_string(struct reading *in, struct json j, const char **s, size_t *length)
{
	struct json bytes = json_get(j, "bytes");
	const char *text = json_text(cJSON_IsObject(j.value) ? bytes : j, true);
	char *out;

	if (text == NULL) {
		return false;
	}
	*s = text;
	*length = strlen(text);
	if (!cJSON_IsObject(j.value)) {
		return true;
	}
	out = arena_alloc(&in->m->arena, *length / 2 + 1);
	for (size_t i = 0; i < *length; i++) {
		int d = text_hex_digit(text[i]);

		if (d < 0 || *length % 2 != 0) {
			return json_error(bytes,
					  "two hexadecimal digits per byte "
					  "are expected here");
		}
		out[i / 2] = (char)(out[i / 2] << 4 | d);
	}
	*s = out;
	*length /= 2;
	return true;
}

static bool
read_ints(struct reading *in, struct json j, struct attr *a)
{
	int n = json_length(j);
	int64_t *ints = arena_array(&in->m->arena, int64_t, n + 1);

	for (struct json one = json_first(j); one.value;
	     one = json_next(j, one)) {
		if (!read_int(one, &ints[one.index])) {
			return false;
		}
	}
	a->kind = ATTR_INTS;
	a->n = n;
	a->ints = ints;
	return true;
}

static double
as_single(double v)
{
	return number_round(dtype_of(DT_F32), (union number){ .f = v }).f;
}

static bool
read_floats(struct reading *in, struct json j, struct attr *a, bool single)
{
	int n = json_length(j);
	double *floats = arena_array(&in->m->arena, double, n + 1);

	if (!cJSON_IsArray(j.value)) {
		return false;
	}
	for (struct json one = json_first(j); one.value;
	     one = json_next(j, one)) {
		if (!read_float(one, &floats[one.index])) {
			return false;
		}
		floats[one.index] = single ? as_single(floats[one.index])
					   : floats[one.index];
	}
	a->kind = ATTR_FLOATS;
	a->n = n;
	a->floats = floats;
	return true;
}

static bool
read_strings(struct reading *in, struct json j, struct attr *a)
{
	int n = json_length(j);
	const char **strings = arena_array(&in->m->arena, const char *, n + 1);
	size_t length;

	if (!cJSON_IsArray(j.value)) {
		return false;
	}
	for (struct json one = json_first(j); one.value;
	     one = json_next(j, one)) {
		if (!read_string(in, one, &strings[one.index], &length)) {
			return false;
		}
	}
	a->kind = ATTR_STRINGS;
	a->n = n;
	a->strings = strings;
	return true;
}

static bool
read_tensor_attr(struct reading *in, struct json j, struct attr *a)
{
	struct json shape = json_get(j, "shape");
	struct attr dims = { 0 };
	struct dtype type;
	int64_t elems = 1;

	json_check_keys(j, "type shape values splat offset bytes digest");
	if (!read_type(in, json_get(j, "type"), &type) ||
	    !cJSON_IsArray(shape.value) || !read_ints(in, shape, &dims)) {
		return in->r.failed
			       ? false
			       : json_error(j, "type and shape are expected "
					       "here");
	}
	if (!tensor_check_dims(in->m,
			       (struct diag_place){
				       .file = in->r.layers[0].file,
				       .item = json_pointer(shape) },
			       dims.n, dims.ints, type, &elems)) {
		in->r.failed = true;
		return false;
	}
	a->kind = ATTR_TENSOR;
	a->tensor_ndim = dims.n;
	a->tensor_shape = dims.ints;
	return read_value(in, j, type, elems, &a->tensor);
}

static bool
read_tagged(struct reading *in, struct json j, struct attr *a)
{
	const cJSON *one = j.value->child;
	const char *kind = one != NULL && one->next == NULL ? one->string : "";
	struct json v = json_get(j, kind);

	if (strcmp(kind, "int") == 0) {
		a->kind = ATTR_INT;
		return read_int(v, &a->i);
	}
	if (strcmp(kind, "float") == 0 || strcmp(kind, "double") == 0) {
		a->kind = ATTR_FLOAT;
		if (!read_float(v, &a->f)) {
			return false;
		}
		a->f = *kind == 'f' ? as_single(a->f) : a->f;
		return true;
	}
	if (strcmp(kind, "bytes") == 0) {
		a->kind = ATTR_STRING;
		return read_string(in, j, &a->s, &a->s_len);
	}
	if (strcmp(kind, "floats") == 0 || strcmp(kind, "doubles") == 0) {
		return read_floats(in, v, a, *kind == 'f');
	}
	if (strcmp(kind, "strings") == 0) {
		return read_strings(in, v, a);
	}
	if (strcmp(kind, "tensor") == 0) {
		return read_tensor_attr(in, v, a);
	}
	return json_error(j, "one of int, float, double, floats, doubles, "
			     "bytes, strings and tensor is expected here");
}

static bool
read_attr(struct reading *in, struct json j, struct attr *a)
{
	if (cJSON_IsNumber(j.value)) {
		a->kind = ATTR_INT;
		return read_int(j, &a->i);
	}
	if (cJSON_IsString(j.value)) {
		a->kind = ATTR_STRING;
		return read_string(in, j, &a->s, &a->s_len);
	}
	if (cJSON_IsArray(j.value)) {
		return read_ints(in, j, a);
	}
	if (cJSON_IsObject(j.value)) {
		return read_tagged(in, j, a) || in->r.failed
			       ? !in->r.failed
			       : json_error(j, "a list is expected here");
	}
	return json_error(j, "this is not a value of an attribute");
}

static bool
read_attrs(struct reading *in, struct json object, struct node *n)
{
	struct arena *a = &in->m->arena;

	if (object.value == NULL) {
		return true;
	}
	if (!json_is_object(object, true)) {
		return false;
	}
	json_check_once(object);
	for (struct json j = json_first(object); j.value;
	     j = json_next(object, j)) {
		struct attr attr = { .name = arena_strdup(a, j.value->string) };

		if (!read_attr(in, j, &attr)) {
			return false;
		}
		node_set_attr(in->g, n, &attr);
	}
	return true;
}

/* -- nodes -- */

struct tensor *
read_tensor_name(struct reading *in, struct json j)
{
	const char *name = json_text(j, true);
	struct tensor *t = name != NULL ? graph_find_tensor(in->g, name) : NULL;

	if (name != NULL && t == NULL) {
		json_error(j, "no tensor '%s'; list it under tensors", name);
	}
	return t;
}

static struct tensor **
read_names(struct reading *in, struct json list, int *n)
{
	struct tensor **names;

	*n = json_length(list);
	names = arena_array(&in->m->arena, struct tensor *, *n + 1);
	if (list.value == NULL) {
		json_error(list, "is missing");
		return NULL;
	}
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		if (!cJSON_IsNull(j.value)) {
			names[j.index] = read_tensor_name(in, j);
			if (names[j.index] == NULL) {
				return NULL;
			}
		}
	}
	return names;
}

static bool
check_outputs(struct json list, struct tensor *const *out, int n)
{
	bool any = false;

	for (int i = 0; i < n; i++) {
		const struct tensor *t = out[i];
		bool twice = false;

		for (int k = 0; k < i; k++) {
			twice = twice || (t != NULL && out[k] == t);
		}
		any = any || t != NULL;
		if (twice ||
		    (t != NULL && (t->producer || t->is_input ||
				   tensor_is_constant(t) || t->elems))) {
			return json_error(json_at(list, i),
					  "'%s' has a value already: %s; "
					  "give each tensor a single producer",
					  t->name,
					  twice || t->producer
						  ? "by another node"
					  : t->is_input ? "it is an input"
							: "it is a constant");
		}
	}
	return any ||
	       json_error(list, "a node without outputs computes nothing; "
				"remove it");
}

static const struct op *
find_op(struct reading *in, struct json j, const char *domain, const char *name)
{
	const struct op *op = op_find(domain, name);
	const struct op *list;
	const char **names;
	const char *near;
	int n;

	if (op != NULL && strncmp(name, "Winograd", 8) == 0) {
		json_error(json_get(j, "op"),
			   "only passes after the partition make %s; write "
			   "Conv",
			   name);
		return NULL;
	}
	if (op != NULL) {
		return op;
	}
	list = op_list(&n);
	names = arena_array(&in->m->arena, const char *, n + 1);
	for (int i = 0; i < n; i++) {
		names[i] = list[i].name;
	}
	near = text_nearest(name, names, n);
	json_error(json_get(j, "op"), "there is no operator %s%s%s%s%s%s",
		   domain, *domain != '\0' ? "." : "", name,
		   near != NULL ? "; did you mean " : "",
		   near != NULL ? near : "", near != NULL ? "?" : "");
	return NULL;
}

static bool
read_node(struct reading *in, struct json j)
{
	struct json origins = json_get(j, "origins");
	const char *op_type = json_text(json_get(j, "op"), true);
	const char *domain = json_text(json_get(j, "domain"), false);
	const char *name = json_text(json_get(j, "name"), false);
	struct tensor **x, **y;
	const struct op *op;
	struct node *n;
	int n_x, n_y;

	json_check_keys(j, "op domain name inputs outputs attrs origins");
	x = op_type != NULL ? read_names(in, json_get(j, "inputs"), &n_x)
			    : NULL;
	y = x != NULL ? read_names(in, json_get(j, "outputs"), &n_y) : NULL;
	if (y == NULL || !check_outputs(json_get(j, "outputs"), y, n_y)) {
		return false;
	}
	op = find_op(in, j, domain != NULL ? domain : "", op_type);
	if (op == NULL) {
		return false;
	}
	n = graph_node(in->g, domain, op_type, name, x, n_x, y, n_y);
	n->op = op;
	if (json_length(origins) > 0) {
		for (struct json one = json_first(origins); one.value;
		     one = json_next(origins, one)) {
			int origin;

			if (!read_origin(in, one, &origin)) {
				return false;
			}
			vec_push(&in->m->arena, &n->origins, origin);
		}
	}
	return read_attrs(in, json_get(j, "attrs"), n);
}

bool
read_nodes(struct reading *in, struct json list)
{
	if (json_length(list) == 0) {
		return !in->r.failed;
	}
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		read_node(in, j);
	}
	return !in->r.failed;
}

bool
read_outputs(struct reading *in, struct json list)
{
	if (json_length(list) == 0) {
		return in->r.failed
			       ? false
			       : json_error(list,
					    "the graph has no outputs; there "
					    "is nothing to compute");
	}
	for (struct json j = json_first(list); j.value;
	     j = json_next(list, j)) {
		struct tensor *t = read_tensor_name(in, j);

		if (t == NULL) {
			continue;
		}
		if (t->producer == NULL || t->is_output) {
			json_error(
				j,
				t->is_output
					? "this name is listed twice; remove "
					  "one"
					: "no node computes it; put an Identity "
					  "before it");
		}
		t->is_output = true;
		vec_push(&in->m->arena, &in->g->outputs, t);
	}
	return !in->r.failed;
}

/* -- consistency -- */

static bool
in_order(const struct graph *g)
{
	bool *done = arena_array(&g->module->arena, bool, g->tensors.n + 1);

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];

		for (int k = 0; k < n->n_inputs; k++) {
			const struct tensor *t = n->inputs[k];

			if (t && t->producer && !done[t->id]) {
				return false;
			}
		}
		for (int k = 0; k < n->n_outputs; k++) {
			if (n->outputs[k]) {
				done[n->outputs[k]->id] = true;
			}
		}
	}
	return true;
}

static bool
check_links(struct reading *in, struct json tensors)
{
	struct graph *g = in->g;

	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (t->uses.n > 0 && !t->producer && !t->is_input &&
		    !tensor_is_constant(t) && !t->elems) {
			json_error(json_get(tensors, t->name),
				   "it is read, but it is not an input, a "
				   "constant or a node's output");
		}
	}
	return !in->r.failed;
}

static bool
check_readers(struct reading *in)
{
	struct graph *g = in->g;

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		bool used = false;

		for (int k = 0; k < n->n_outputs; k++) {
			used = used ||
			       (n->outputs[k] && (n->outputs[k]->uses.n > 0 ||
						  n->outputs[k]->is_output));
		}
		if (!used) {
			diag_error(&in->m->diags, DIAG_BAD_PARTITION,
				   node_place(g, n),
				   "nothing reads its outputs; remove it");
			in->r.failed = true;
		}
	}
	return !in->r.failed;
}

/* Two sizes are compared for all values of their dimensions if there are at
 * most MOST_VALUES combinations of values. */
enum { MOST_VALUES = 4096 };

/* Changes map->to to the next combination of values of the dimensions that are
 * used; returns false after the last combination. */
static bool
next_values(const struct graph *g, struct var_map *map, const bool *used)
{
	for (int i = 0; i < map->n; i++) {
		const struct var *v = g->dims.data[i];
		int64_t now;

		if (!used[i] || !expr_is_int(map->to[i], &now)) {
			continue;
		}
		if (now < v->max) {
			map->to[i] = expr_int(g->module, v->type, now + 1);
			return true;
		}
		map->to[i] = expr_int(g->module, v->type, v->min);
	}
	return false;
}

/* Are the sizes x and y proven to be equal, by trying all combinations of
 * values of their dimensions? False if there are too many combinations. */
static bool
same_for_each_value(const struct graph *g, const struct expr *x,
		    const struct expr *y)
{
	struct arena *a = &g->module->arena;
	const int n = g->dims.n;
	bool *used = arena_array(a, bool, n + 1);
	struct var_map map = { g->dims.data, arena_exprs(a, n + 1), n };
	int64_t values = 1;

	for (int i = 0; i < n; i++) {
		const struct var *v = g->dims.data[i];
		int64_t range = v->max - v->min + 1;

		map.to[i] = expr_int(g->module, v->type, v->min);
		used[i] = expr_uses_var(x, v) || expr_uses_var(y, v);
		if (used[i] && (range > MOST_VALUES / values || range < 1)) {
			return false;
		}
		values *= used[i] ? range : 1;
	}
	do {
		if (expr_substitute(g->module, x, &map) !=
		    expr_substitute(g->module, y, &map)) {
			return false;
		}
	} while (next_values(g, &map, used));
	return true;
}

static bool
same_size(const struct graph *g, const struct expr *x, const struct expr *y)
{
	struct analyser a;

	if (x == y) {
		return true;
	}
	analyser_init(&a, g->module);
	return prove_equal(&a, x, y) || same_for_each_value(g, x, y);
}

static bool
same_type(const struct graph *g, const struct tensor *declared,
	  const struct tensor *found)
{
	if (!dtype_equal(declared->type, found->type) ||
	    declared->ndim != found->ndim) {
		return false;
	}
	for (int d = 0; d < found->ndim; d++) {
		if (!same_size(g, declared->shape[d], found->shape[d])) {
			return false;
		}
	}
	return true;
}

/* Checks that branches and loops of the graph are well-formed. False after a
 * diagnostic. */
static bool
check_control(struct reading *in)
{
	const struct node *n = NULL;
	const char *wrong = graph_wrong_control(in->g, &n);

	if (wrong != NULL) {
		in->r.failed = true;
		return diag_error(&in->m->diags, DIAG_BAD_PARTITION,
				  node_place(in->g, n),
				  "%s; write the partition again", wrong);
	}
	return true;
}

/* Infers types and shapes of the outputs of n, and compares them with the types
 * and shapes in the file. The outputs keep the shapes of the file. False after
 * a diagnostic if they differ. */
static bool
check_node(struct reading *in, struct json tensors, struct node *n)
{
	struct tensor *declared = arena_array(&in->m->arena, struct tensor,
					      n->n_outputs + 1);
	int errors = in->m->diags.n_errors;

	for (int k = 0; k < n->n_outputs; k++) {
		if (n->outputs[k]) {
			declared[k] = *n->outputs[k];
		}
	}
	if (!ops_infer_node(in->g, n)) {
		in->r.failed = true;
		return in->m->diags.n_errors > errors
			       ? false
			       : diag_error(&in->m->diags, DIAG_BAD_PARTITION,
					    node_place(in->g, n),
					    "the types and shapes of its "
					    "outputs cannot be inferred");
	}
	for (int k = 0; k < n->n_outputs; k++) {
		struct tensor *t = n->outputs[k];
		struct strbuf text;

		if (!t || same_type(in->g, &declared[k], t)) {
			if (t) {
				t->shape = declared[k].shape;
			}
			continue;
		}
		strbuf_init(&text);
		tensor_print_type(t, &text);
		json_error(json_get(json_get(tensors, t->name), "shape"),
			   "%s gives %s; correct type and shape, or the node",
			   n->op_type, text.data);
		strbuf_release(&text);
		return false;
	}
	return true;
}

/* Reports each tensor with known elements (t->elems) that no node, input or constant
 * gives, and that a kernel loads when the model runs. False after a diagnostic. */
static bool
check_known(struct reading *in, struct json tensors)
{
	struct graph *g = in->g;

	for (int i = 0; i < g->tensors.n; i++) {
		const struct tensor *t = g->tensors.data[i];

		if (!t->producer && !t->is_input && !tensor_is_constant(t) &&
		    t->elems && !graph_only_defines(g, t)) {
			json_error(json_get(tensors, t->name),
				   "its elements are read when the model runs, "
				   "but no node computes them; make it a "
				   "constant (values) or a node's output");
		}
	}
	return !in->r.failed;
}

bool
check_nodes(struct reading *in, struct json tensors)
{
	struct graph *g = in->g;

	if (!check_links(in, tensors)) {
		return false;
	}
	if (!in_order(g) && !graph_sort(g)) {
		in->r.failed = true;
		return false;
	}
	if (!check_control(in) || !check_readers(in)) {
		return false;
	}
	if (!ops_check_inputs(g)) {
		in->r.failed = true;
		return false;
	}
	for (int i = 0; i < g->nodes.n; i++) {
		if (!check_node(in, tensors, g->nodes.data[i])) {
			return false;
		}
	}
	return check_known(in, tensors);
}
