/* SPDX-License-Identifier: Apache-2.0 */
/* The values of names and attributes in the texts of compositions, and the
 * conversion of values to tensors. */
#include "body_value.h"

#include <math.h>

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

/* Changes an attribute to the kind that the function declares. ONNX: an
 * attribute of another kind counts as absent, as everywhere in the import;
 * false. Relay: an integer may be given for a real number or for a list; false
 * after a diagnostic for other kinds. */
static bool
as_declared(struct body_frame *f, enum attr_kind kind, struct attr *a)
{
	int64_t *one;

	if (!body_is_relay(f->body)) {
		return false;
	}
	if (a->kind == ATTR_INT && kind == ATTR_FLOAT) {
		a->f = (double)a->i;
		a->kind = kind;
		return true;
	}
	if (a->kind == ATTR_INT && kind == ATTR_INTS) {
		one = arena_array(&f->c->m->arena, int64_t, 1);
		one[0] = a->i;
		a->ints = one;
		a->n = 1;
		a->kind = kind;
		return true;
	}
	return compose_error(f->c, DIAG_BAD_ATTRIBUTE,
			     "the attribute '%s' is of another kind than the "
			     "operator takes",
			     a->name);
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
		if (strcmp(given.name, name) != 0) {
			continue;
		}
		if (p && given.kind != out->kind &&
		    !as_declared(f, out->kind, &given)) {
			break;
		}
		*out = given;
		break;
	}
	return !f->c->failed && out->name != NULL;
}

struct body_value
body_attribute_value(struct body_frame *f, const struct attr *a)
{
	struct body_value *items;

	if (a->n > BODY_LIST_MOST) {
		return body_long_list(f);
	}
	items = body_items(f, a->n);
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
	if (body_attribute(f, name, &a)) {
		return body_attribute_value(f, &a);
	}
	if (strcmp(name, "inf") == 0) {
		return number(INFINITY);
	}
	return strcmp(name, "end") == 0
		       ? size(expr_int(f->c->m, dtype_of(DT_I64), INT64_MAX))
		       : none();
}

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
	const struct expr **sizes = arena_exprs(&f->c->m->arena, of->n + 1);

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
