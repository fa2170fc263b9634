/* SPDX-License-Identifier: Apache-2.0 */
/* Values in the texts of compositions: names and attributes, numbers, and their
 * conversion to tensors. */
#include "body_value.h"

#include <math.h>

/* -- values */

struct body_value *
body_items(struct body_frame *f, int n)
{
	return arena_array(&f->c->imp->tmp, struct body_value, n + 1);
}

struct body_value
body_no_value(struct body_frame *f)
{
	compose_error(f->c, DIAG_BAD_ATTRIBUTE,
		      "'%s', which its composition needs, has no value; "
		      "correct its attributes and inputs",
		      f->expressed);
	return none();
}

/* The value is a size that must be known. */
struct body_value
body_unknown_size(struct body_frame *f)
{
	compose_error(f->c, DIAG_UNKNOWN_SHAPE,
		      "'%s', which its composition needs, must be known when "
		      "the code is generated; give the sizes with --dim",
		      f->expressed);
	return none();
}

bool
body_is_number(const struct body_value *v)
{
	return v->kind == BODY_INT || v->kind == BODY_FLOAT ||
	       v->kind == BODY_BOOL;
}

/* The integer of v; false after a diagnostic. */
bool
body_int(struct body_frame *f, const struct body_value *v, int64_t *out)
{
	if (v->kind == BODY_BOOL) {
		*out = v->truth;
		return true;
	}
	if (v->kind != BODY_INT) {
		body_no_value(f);
		return false;
	}
	if (!expr_is_int(v->size, out)) {
		body_unknown_size(f);
		return false;
	}
	return true;
}

/* The same as a real number. */
bool
body_real(struct body_frame *f, const struct body_value *v, double *out)
{
	int64_t i;

	if (v->kind == BODY_FLOAT) {
		*out = v->number;
		return true;
	}
	if (!body_int(f, v, &i)) {
		return false;
	}
	*out = (double)i;
	return true;
}

bool
body_is_true(const struct body_value *v)
{
	switch (v->kind) {
	case BODY_NONE:
		return false;
	case BODY_BOOL:
		return v->truth;
	case BODY_INT:
		return !expr_is_value(v->size, 0);
	case BODY_FLOAT:
		return v->number != 0;
	case BODY_STRING:
		return *v->text != '\0';
	case BODY_LIST:
		return v->n > 0;
	default:
		return true;
	}
}

/* -- names */

struct body_value *
body_name(struct body_frame *f, const char *name)
{
	int at = text_map_get(&f->names, name, -1);

	return at < 0 ? NULL : &f->values.data[at];
}

void
body_bind(struct body_frame *f, const char *name, struct body_value v)
{
	struct body_value *slot = body_name(f, name);

	if (slot) {
		*slot = v;
		return;
	}
	text_map_add(&f->names, name, f->values.n);
	vec_push(&f->c->imp->tmp, &f->values, v);
}

bool
body_attribute(struct body_frame *f, const char *name, struct attr *out)
{
	const Onnx__AttributeProto *p = body_default(f->body, name);
	struct attr given;

	*out = (struct attr){ 0 };
	if (p && !import_attribute(f->c->imp, &f->body->source, p,
				   f->body->row->op_type, out)) {
		f->c->failed = true;
		return false;
	}
	for (int i = 0; i < f->n_attrs; i++) {
		given = f->attrs[i];
		/* as elsewhere, an attribute of another kind does not count */
		if (strcmp(given.name, name) == 0 &&
		    (!p || given.kind == out->kind)) {
			*out = given;
			break;
		}
	}
	return out->name != NULL;
}

struct body_value
body_attribute_value(struct body_frame *f, const struct attr *a)
{
	struct body_value *items = body_items(f, a->n);

	for (int i = 0; i < a->n; i++) {
		items[i] = a->kind == ATTR_INTS     ? integer(f, a->ints[i])
			   : a->kind == ATTR_FLOATS ? number(a->floats[i])
						    : text(a->strings[i]);
	}
	switch (a->kind) {
	case ATTR_INT:
		return integer(f, a->i);
	case ATTR_FLOAT:
		return number(a->f);
	case ATTR_STRING:
		return text(a->s);
	case ATTR_INTS:
	case ATTR_FLOATS:
	case ATTR_STRINGS:
		return list(items, a->n);
	default:
		return body_no_value(f);
	}
}

struct body_value
body_named(struct body_frame *f, const char *name)
{
	const struct body_value *v = body_name(f, name);
	struct attr a;

	if (v) {
		return *v;
	}
	if (strcmp(name, "inf") == 0) {
		return number(INFINITY);
	}
	if (strcmp(name, "end") == 0) {
		return size(expr_int(f->c->m, dtype_of(DT_I64), INT64_MAX));
	}
	return body_attribute(f, name, &a) ? body_attribute_value(f, &a)
					   : none();
}

struct tensor *
body_needed_tensor(struct body_frame *f, const struct body_value *v)
{
	if (v->kind == BODY_TENSOR) {
		return v->tensor;
	}
	if (v->input > 0) {
		compose_error(f->c, DIAG_BAD_MODEL,
			      "input %d is missing; %s needs it", v->input - 1,
			      f->c->node->op_type);
	} else {
		body_no_value(f);
	}
	return NULL;
}

/* A list or a number as a tensor of a type. */
struct body_value
body_typed(struct body_frame *f, struct dtype t, const struct body_value *v)
{
	const int64_t shape[] = { v->n };
	double *values = arena_array(&f->c->imp->tmp, double, v->n + 1);

	if (v->kind != BODY_LIST || dtype_equal(t, dtype_of(DT_I64))) {
		return tensor_value(body_tensor(f, v, t));
	}
	for (int i = 0; i < v->n; i++) {
		if (!body_real(f, &v->items[i], &values[i])) {
			return none();
		}
	}
	return tensor_value(compose_floats(f->c, f->what, t, 1, shape, values));
}

/* -- tensors */

const struct expr **
body_sizes(struct body_frame *f, const struct body_value *of)
{
	const struct expr **sizes = arena_array(&f->c->m->arena,
						const struct expr *, of->n + 1);

	for (int i = 0; i < of->n; i++) {
		sizes[i] = of->items[i].kind == BODY_INT ? of->items[i].size
							 : NULL;
		if (!sizes[i]) {
			body_no_value(f);
			sizes[i] = expr_index(f->c->m, 1);
		}
	}
	return sizes;
}

static struct tensor *
list_tensor(struct body_frame *f, const struct body_value *v, struct dtype type)
{
	for (int i = 0; i < v->n; i++) {
		if (v->items[i].kind != BODY_INT) {
			return body_typed(f, type, v).tensor;
		}
	}
	return compose_sizes(f->c, f->what, v->n, body_sizes(f, v));
}

/* A size as a scalar of the type. */
static struct tensor *
size_tensor(struct body_frame *f, const struct expr *size, struct dtype type)
{
	struct compose *c = f->c;
	struct tensor *t = compose_sizes(c, f->what, 1, &size);

	return compose_cast(c, f->what, compose_squeeze(c, f->what, t, 0),
			    type);
}

struct tensor *
body_tensor(struct body_frame *f, const struct body_value *v, struct dtype type)
{
	bool open = type.kind == DT_VOID;
	int64_t i;

	switch (v->kind) {
	case BODY_NONE:
		return NULL;
	case BODY_TENSOR:
		return v->tensor;
	case BODY_LIST:
		return list_tensor(f, v, open ? dtype_of(DT_F32) : type);
	case BODY_BOOL:
		return compose_scalar(f->c, f->what, dtype_of(DT_BOOL),
				      v->truth);
	case BODY_INT:
		type = open ? dtype_of(DT_I64) : type;
		return expr_is_int(v->size, &i)
			       ? compose_scalar(f->c, f->what, type, (double)i)
			       : size_tensor(f, v->size, type);
	case BODY_FLOAT:
		return compose_scalar(f->c, f->what,
				      open ? dtype_of(DT_F32) : type,
				      v->number);
	default:
		body_no_value(f);
		return f->c->stand_in;
	}
}

/* -- texts, for messages */

const char *
body_words(struct body_frame *f, const struct body_value *v)
{
	struct arena *a = &f->c->imp->tmp;
	int64_t i;

	switch (v->kind) {
	case BODY_INT:
		return expr_is_int(v->size, &i)
			       ? arena_printf(a, "%lld", (long long)i)
			       : "?";
	case BODY_FLOAT:
		return arena_printf(a, "%g", v->number);
	case BODY_STRING:
		return v->text;
	case BODY_TYPE:
		return dtype_name(v->type);
	case BODY_TENSOR:
		return v->tensor->name;
	default:
		return "";
	}
}
