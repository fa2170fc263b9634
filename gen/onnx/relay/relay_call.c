/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of operators and functions. Most operators become one node of the domain
 * tvm.relay; here are those with any number of inputs or outputs. */
#include "relay_read.h"

enum { RESULTS_MAX = 4096 };

static const struct relay_attr *
find(const struct relay_call *c, const char *name)
{
	for (int i = 0; i < c->n_attrs; i++) {
		if (strcmp(c->attrs[i].name, name) == 0 &&
		    c->attrs[i].kind != RELAY_ATTR_NONE) {
			return &c->attrs[i];
		}
	}
	return NULL;
}

/* The integer attribute, `otherwise` if it is absent. */
static int64_t
find_int(const struct relay_call *c, const char *name, int64_t otherwise)
{
	const struct relay_attr *a = find(c, name);

	return a != NULL && a->kind == RELAY_ATTR_INT && a->n == 1 ? a->ints[0]
								   : otherwise;
}

static struct relay_attr
int_attr(const char *name, const int64_t *value)
{
	return (struct relay_attr){
		.name = name, .kind = RELAY_ATTR_INT, .n = 1, .ints = value
	};
}

/* The name for a result: of nn.conv2d in %3, conv2d_3. */
static const char *
result_name(struct relay_reader *r, const char *op)
{
	const char *point = strrchr(op, '.');
	const char *word = point != NULL ? point + 1 : op;

	return r->hint != NULL ? r->hint
	       : r->number != NULL
		       ? arena_printf(r->tmp, "%s_%s", word, r->number)
		       : word;
}

/* Appends a node with n results and sets *out to them: a tensor, or, if `tuple`
 * is set, a tuple. */
static bool
put(struct relay_reader *r, const struct relay_call *c, const char *domain,
    const char *op, const relay_names *inputs, const struct relay_attr *attrs,
    int n_attrs, int n, bool tuple, struct relay_value *out)
{
	struct relay_value *items = arena_array(r->tmp, struct relay_value,
						n + 1);
	const char **names = arena_array(r->tmp, const char *, n + 1);

	for (int i = 0; i < n; i++) {
		names[i] = relay_new_name(r, result_name(r, c->op));
		items[i] = (struct relay_value){ .kind = RELAY_TENSOR,
						 .name = names[i] };
	}
	*out = items[0];
	return (!tuple || relay_tuple(r, items, n, out)) &&
	       relay_put_node(r, domain, op, inputs->data, inputs->n, attrs,
			      n_attrs, names, n);
}

/* The tensors of the tuple in argument i; NULL after a diagnostic. */
static const struct relay_value *
tuple_of(struct relay_reader *r, const struct relay_call *c, int i)
{
	const struct relay_value *v = i < c->n_args ? &c->args[i] : NULL;

	for (int k = 0; v != NULL && v->kind == RELAY_TUPLE && k < v->n; k++) {
		if (v->items[k].kind != RELAY_TENSOR) {
			v = NULL;
			break;
		}
	}
	if (v == NULL || v->kind != RELAY_TUPLE || v->n == 0) {
		relay_fail(r, &c->at, "argument %d of %s is a tuple of tensors",
			   i + 1, c->op);
		return NULL;
	}
	return v;
}

/* Appends the tensors of the tuple that is the only argument; false after a
 * diagnostic. */
static bool
only_tuple(struct relay_reader *r, const struct relay_call *c,
	   relay_names *inputs)
{
	const struct relay_value *of = tuple_of(r, c, 0);

	if (of == NULL) {
		return false;
	}
	relay_tensors(r, of, inputs);
	return c->n_args == 1 ||
	       relay_fail(r, &c->at, "%s takes one argument, a tuple", c->op);
}

static bool
concatenate(struct relay_reader *r, const struct relay_call *c,
	    struct relay_value *out)
{
	int64_t axis = find_int(c, "axis", 0);
	const struct relay_attr attr = int_attr("axis", &axis);
	relay_names inputs = { 0 };

	return only_tuple(r, c, &inputs) &&
	       put(r, c, "", "Concat", &inputs, &attr, 1, 1, false, out);
}

static bool
stack(struct relay_reader *r, const struct relay_call *c,
      struct relay_value *out)
{
	int64_t axis = find_int(c, "axis", 0);
	const struct relay_attr attr = int_attr("axis", &axis);
	relay_names inputs = { 0 };

	if (!only_tuple(r, c, &inputs)) {
		return false;
	}
	for (int i = 0; i < inputs.n; i++) {
		const char *apart = relay_new_name(r, inputs.data[i]);

		if (!relay_put_node(r, RELAY_DOMAIN, "expand_dims",
				    &inputs.data[i], 1, &attr, 1, &apart, 1)) {
			return false;
		}
		inputs.data[i] = apart;
	}
	return put(r, c, "", "Concat", &inputs, &attr, 1, 1, false, out);
}

static bool
einsum(struct relay_reader *r, const struct relay_call *c,
       struct relay_value *out)
{
	relay_names inputs = { 0 };

	return only_tuple(r, c, &inputs) &&
	       put(r, c, "", "Einsum", &inputs, c->attrs, c->n_attrs, 1, false,
		   out);
}

/* Appends the slice [from, to) along an axis. */
static bool
put_slice(struct relay_reader *r, const struct relay_call *c, int64_t axis,
	  int64_t from, int64_t to, struct relay_value *out)
{
	struct relay_attr attrs[] = { int_attr("begin", &from),
				      int_attr("end", &to),
				      int_attr("axes", &axis) };
	const char *name = relay_new_name(r, result_name(r, c->op));

	attrs[0].is_list = attrs[1].is_list = attrs[2].is_list = true;
	*out = (struct relay_value){ .kind = RELAY_TENSOR, .name = name };
	return relay_put_node(r, RELAY_DOMAIN, "strided_slice",
			      &c->args[0].name, 1, attrs, 3, &name, 1);
}

/* split(x, indices_or_sections, axis): the number of equal parts, or the
 * indices at which the parts after the first one begin. */
static bool
split(struct relay_reader *r, const struct relay_call *c,
      struct relay_value *out)
{
	const struct relay_attr *at = find(c, "indices_or_sections");
	int64_t axis = find_int(c, "axis", 0), n, to;
	struct relay_attr attrs[] = { int_attr("axis", &axis),
				      int_attr("num_outputs", &n) };
	struct relay_value *items;
	relay_names inputs = { 0 };

	if (c->n_args != 1 || c->args[0].kind != RELAY_TENSOR || at == NULL ||
	    at->kind != RELAY_ATTR_INT) {
		return relay_fail(r, &c->at,
				  "split takes a tensor and "
				  "indices_or_sections, a number or a list");
	}
	n = at->is_list ? at->n + 1 : at->ints[0];
	if (n < 1 || n > RESULTS_MAX) {
		return relay_fail(r, &c->at, "split has from 1 to %d results",
				  RESULTS_MAX);
	}
	if (!at->is_list) {
		relay_tensors(r, &c->args[0], &inputs);
		return put(r, c, "", "Split", &inputs, attrs, 2, (int)n, true,
			   out);
	}
	items = arena_array(r->tmp, struct relay_value, n);
	for (int i = 0; i < n; i++) {
		to = i < at->n ? at->ints[i] : INT64_MAX;
		if (!put_slice(r, c, axis, i > 0 ? at->ints[i - 1] : 0, to,
			       &items[i])) {
			return false;
		}
	}
	return relay_tuple(r, items, (int)n, out);
}

/* qnn.concatenate((x, …), (scale, …), (zero point, …), scale, zero point) */
static bool
quantized_concatenate(struct relay_reader *r, const struct relay_call *c,
		      struct relay_value *out)
{
	const struct relay_value *of[3];
	int64_t axis = find_int(c, "axis", 0);
	const struct relay_attr attr = int_attr("axis", &axis);
	const char *in[3], *real;
	relay_names inputs = { 0 };

	for (int k = 0; k < 3; k++) {
		of[k] = tuple_of(r, c, k);
		if (of[k] == NULL) {
			return false;
		}
	}
	if (c->n_args != 5 || of[1]->n != of[0]->n || of[2]->n != of[0]->n ||
	    c->args[3].kind != RELAY_TENSOR ||
	    c->args[4].kind != RELAY_TENSOR) {
		return relay_fail(r, &c->at,
				  "qnn.concatenate takes three tuples of as "
				  "many tensors, a scale and a zero point");
	}
	for (int i = 0; i < of[0]->n; i++) {
		for (int k = 0; k < 3; k++) {
			in[k] = of[k]->items[i].name;
		}
		real = relay_new_name(r, in[0]);
		if (!relay_put_node(r, RELAY_DOMAIN, "qnn_dequantize", in, 3,
				    NULL, 0, &real, 1)) {
			return false;
		}
		vec_push(r->tmp, &inputs, real);
	}
	real = relay_new_name(r, "concatenate");
	if (!relay_put_node(r, "", "Concat", inputs.data, inputs.n, &attr, 1,
			    &real, 1)) {
		return false;
	}
	inputs.n = 0;
	vec_push(r->tmp, &inputs, real);
	vec_push(r->tmp, &inputs, c->args[3].name);
	vec_push(r->tmp, &inputs, c->args[4].name);
	return put(r, c, RELAY_DOMAIN, "qnn_quantize", &inputs, NULL, 0, 1,
		   false, out);
}

static const struct {
	const char *op;
	bool (*put)(struct relay_reader *r, const struct relay_call *c,
		    struct relay_value *out);
	const char *attrs[2];
} special[] = {
	{ "concatenate", concatenate, { "axis" } },
	{ "einsum", einsum, { "equation" } },
	{ "qnn.concatenate", quantized_concatenate, { "axis" } },
	{ "split", split, { "axis", "indices_or_sections" } },
	{ "stack", stack, { "axis" } },
};

/* Has the call no other attributes than these? An axis is an integer. */
static bool
check_attributes(struct relay_reader *r, const struct relay_call *c,
		 const char *const known[2])
{
	for (int i = 0; i < c->n_attrs; i++) {
		const struct relay_attr *a = &c->attrs[i];
		bool has = false;

		for (int k = 0; k < 2; k++) {
			has |= known[k] != NULL &&
			       strcmp(known[k], a->name) == 0;
		}
		if (!has) {
			return relay_fail(r, &c->at,
					  "%s does not have the attribute '%s'",
					  c->op, a->name);
		}
		if (strcmp(a->name, "axis") == 0 &&
		    (a->kind != RELAY_ATTR_INT || a->is_list)) {
			return relay_fail(r, &c->at,
					  "the axis of %s is an integer",
					  c->op);
		}
	}
	return true;
}

/* The number of results of an operator whose result is a tuple; else 0. */
static int
result_count(struct relay_reader *r, const struct relay_call *c)
{
	const struct relay_attr *type = find(c, "ret_type");

	if (strcmp(c->op, "nn.batch_norm") == 0) {
		return 3;
	}
	if (strcmp(c->op, "nn.dropout") == 0) {
		return 2;
	}
	if (strcmp(c->op, "topk") == 0) {
		return type == NULL || type->kind != RELAY_ATTR_STRING ||
				       strcmp(type->texts[0], "both") == 0
			       ? 2
			       : 0;
	}
	if (strncmp(c->op, "onnx.", 5) == 0 && r->number != NULL) {
		/* an item of the result, %3.1, says that it is a tuple */
		int at = text_map_get(&r->items, r->number, -1);

		return at < 0 ? 0 : r->last.data[at] + 1;
	}
	return 0;
}

/* nn.conv2d as the name of a composition: nn_conv2d */
static const char *
composition_name(struct relay_reader *r, const char *op)
{
	char *name = arena_strndup(r->tmp, op, strlen(op));

	for (char *p = name; *p != '\0'; p++) {
		*p = *p == '.' ? '_' : *p;
	}
	return name;
}

bool
relay_call(struct relay_reader *r, const struct relay_call *c,
	   struct relay_value *out)
{
	bool onnx = strncmp(c->op, "onnx.", 5) == 0;
	const char *op = c->op;
	relay_names inputs = { 0 };
	int n;

	if (strcmp(c->domain, RELAY_LOCAL_DOMAIN) != 0) {
		for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
			if (strcmp(special[i].op, c->op) == 0) {
				return check_attributes(r, c,
							special[i].attrs) &&
				       special[i].put(r, c, out);
			}
		}
	}
	for (int i = 0; i < c->n_args; i++) {
		relay_tensors(r, &c->args[i], &inputs);
		if (c->args[i].kind == RELAY_FUNCTION) {
			return relay_fail(r, &c->at,
					  "functions as arguments are not "
					  "supported");
		}
		if (c->args[i].kind == RELAY_TUPLE &&
		    strcmp(c->domain, RELAY_LOCAL_DOMAIN) != 0) {
			return relay_fail(r, &c->at,
					  "argument %d of %s is a tuple, not a "
					  "tensor",
					  i + 1, c->op);
		}
	}
	if (strcmp(c->domain, RELAY_LOCAL_DOMAIN) == 0) {
		n = text_map_get(&r->globals, c->op, 0);
		return put(r, c, c->domain, op, &inputs, NULL, 0, n > 0 ? n : 1,
			   n > 0, out);
	}
	n = result_count(r, c);
	op = onnx ? op + 5 : composition_name(r, op);
	return put(r, c, onnx ? "" : RELAY_DOMAIN, op, &inputs, c->attrs,
		   c->n_attrs, n > 0 ? n : 1, n > 0, out);
}
