/* SPDX-License-Identifier: Apache-2.0 */
/* Values of expressions in the texts of compositions: values as numbers and as
 * conditions, and messages about values. */
#include "body_value.h"

/* -- values */

struct body_value *
body_items(struct body_frame *f, int n)
{
	return arena_array(&f->c->imp->tmp, struct body_value, n + 1);
}

/* Reports a problem of the expression under evaluation; returns None. */
static struct body_value
no_value(struct body_frame *f, enum diag_id id, const char *problem)
{
	compose_error(f->c, id, "'%s', which its composition needs, %s",
		      f->expressed, problem);
	return none();
}

struct body_value
body_no_value(struct body_frame *f)
{
	return no_value(f, DIAG_BAD_ATTRIBUTE,
			"has no value; correct its attributes and inputs");
}

struct body_value
body_unknown_size(struct body_frame *f)
{
	return no_value(f, DIAG_UNKNOWN_SHAPE,
			"must be known when the code is generated; give the "
			"sizes with --dim");
}

struct body_value
body_long_list(struct body_frame *f)
{
	return no_value(f, DIAG_TOO_LARGE,
			arena_printf(&f->c->imp->tmp,
				     "is a list of more than %d elements; "
				     "correct its attributes and inputs",
				     BODY_LIST_MOST));
}

bool
body_known(const struct body_value *v, struct py_number *out)
{
	int64_t i;

	switch (v->kind) {
	case BODY_BOOL:
		*out = py_bool(v->truth);
		return true;
	case BODY_INT:
		if (!expr_is_int(v->size, &i)) {
			return false;
		}
		*out = py_int(i);
		return true;
	case BODY_FLOAT:
		*out = py_float(v->number);
		return true;
	default:
		return false;
	}
}

bool
body_symbolic(const struct body_value *a, const struct body_value *b)
{
	struct py_number x;

	return a->kind == BODY_INT && b->kind == BODY_INT &&
	       !(body_known(a, &x) && body_known(b, &x));
}

bool
body_number(struct body_frame *f, const struct body_value *v,
	    struct py_number *out)
{
	if (body_known(v, out)) {
		return true;
	}
	if (v->kind == BODY_INT) {
		body_unknown_size(f);
	} else {
		body_no_value(f);
	}
	return false;
}

bool
body_int(struct body_frame *f, const struct body_value *v, int64_t *out)
{
	struct py_number x;

	if (v->kind == BODY_FLOAT) {
		body_no_value(f);
		return false;
	}
	if (!body_number(f, v, &x)) {
		return false;
	}
	*out = x.i;
	return true;
}

bool
body_real(struct body_frame *f, const struct body_value *v, double *out)
{
	struct py_number x;

	if (!body_number(f, v, &x)) {
		return false;
	}
	*out = py_number_double(&x);
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

/* -- texts, for messages */

const char *
body_words(struct body_frame *f, const struct body_value *v)
{
	struct py_number x;
	struct strbuf words;
	const char *copy;

	if (body_known(v, &x)) {
		strbuf_init(&words);
		py_number_put(&x, &words);
		copy = arena_strdup(&f->c->imp->tmp, words.data);
		strbuf_release(&words);
		return copy;
	}
	switch (v->kind) {
	case BODY_INT:
		return "?";
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
