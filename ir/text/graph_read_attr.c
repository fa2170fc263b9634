/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of nodes in the text form of graphs: 1 is an integer, 1.0 a
 * float32, double 1.0 a float64; "[1, 2]", "[1.0, 2.0]", "[a, b]"; words and
 * texts in quotes; tensor float32[2] = {1, 2}. */
#include "graph_lex.h"

static bool
is_real(const char *word)
{
	word += *word == '-';
	return strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0 ||
	       ((*word == '.' || (*word >= '0' && *word <= '9')) &&
		strpbrk(word, ".e") != NULL);
}

static bool
is_number(const char *word)
{
	return is_real(word) ||
	       (*word != '\0' && strchr("-0123456789", *word) != NULL);
}

static bool
read_real(struct graph_reader *r, bool single, double *out)
{
	union number v;

	if (!graph_read_number(r, dtype_of(DT_F64), &v)) {
		return false;
	}
	*out = single ? number_round(dtype_of(DT_F32), v).f : v.f;
	return true;
}

static bool
read_floats(struct graph_reader *r, bool single, struct attr *a)
{
	struct arena *arena = &r->module->arena;
	VEC(double) list = { 0 };
	double v;

	a->kind = ATTR_FLOATS;
	while (!graph_accept(r, "]")) {
		if (list.n > 0 &&
		    !graph_expect(r, ",",
				  "numbers are in brackets, separated by "
				  "commas")) {
			return false;
		}
		if (!read_real(r, single, &v)) {
			return false;
		}
		vec_push(arena, &list, v);
	}
	a->n = list.n;
	a->floats = list.data ? list.data : arena_array(arena, double, 1);
	return true;
}

static bool
read_ints(struct graph_reader *r, struct attr *a)
{
	struct arena *arena = &r->module->arena;
	VEC(int64_t) list = { 0 };
	int64_t v;

	a->kind = ATTR_INTS;
	while (!graph_accept(r, "]")) {
		if (list.n > 0 &&
		    !graph_expect(r, ",",
				  "integers are in brackets, separated by "
				  "commas")) {
			return false;
		}
		if (!graph_read_int(r, &v)) {
			return false;
		}
		vec_push(arena, &list, v);
	}
	a->n = list.n;
	a->ints = list.data ? list.data : arena_array(arena, int64_t, 1);
	return true;
}

static bool
read_strings(struct graph_reader *r, struct attr *a)
{
	struct arena *arena = &r->module->arena;
	VEC(const char *) list = { 0 };
	const char *s;

	a->kind = ATTR_STRINGS;
	while (!graph_accept(r, "]")) {
		size_t from, length;

		if (list.n > 0 && !graph_expect(r, ",",
						"strings are in brackets, "
						"separated by commas")) {
			return false;
		}
		graph_line_ends(r);
		from = r->at;
		if (!graph_read_string(r, &s, &length)) {
			return false;
		}
		if (strlen(s) != length) {
			return graph_fail(r, from,
					  "strings in a list cannot contain "
					  "zero bytes");
		}
		vec_push(arena, &list, s);
	}
	a->n = list.n;
	a->strings = list.data ? list.data
			       : arena_array(arena, const char *, 1);
	return true;
}

/* Reads "[1, 2]", "[1.0, 2.0]" or "[a, b]" to *a: the first entry decides the
 * type of the list. False after a diagnostic. */
static bool
read_list(struct graph_reader *r, struct attr *a)
{
	const char *word = graph_peek(r);

	if (is_real(word)) {
		return read_floats(r, true, a);
	}
	if (is_number(word)) {
		return read_ints(r, a);
	}
	graph_line_ends(r);
	if (r->at < r->src->length && r->src->text[r->at] == ']') {
		return read_ints(r, a);
	}
	return read_strings(r, a);
}

static bool
read_tensor(struct graph_reader *r, struct attr *a)
{
	struct tensor t = { .ndim = -1 };
	int64_t elems, *shape;
	size_t from;

	graph_line_ends(r);
	from = r->at;
	if (!graph_read_type(r, &t)) {
		return false;
	}
	if (!t.typed || !tensor_const_elems(&t, &elems)) {
		return graph_fail(r, from,
				  "a type with constant sizes is expected "
				  "here");
	}
	shape = arena_array(&r->module->arena, int64_t, t.ndim + 1);
	for (int i = 0; i < t.ndim; i++) {
		expr_is_int(t.shape[i], &shape[i]);
	}
	a->kind = ATTR_TENSOR;
	a->tensor_ndim = t.ndim;
	a->tensor_shape = shape;
	return graph_accept(r, "=")
		       ? graph_read_value(r, t.type, elems, &a->tensor)
		       : graph_make_value(r, from, t.type, elems, &a->tensor);
}

static bool
read_tagged(struct graph_reader *r, const char *tag, struct attr *a)
{
	size_t from = r->at;

	r->at += strlen(tag);
	if (strcmp(tag, "tensor") == 0) {
		return read_tensor(r, a);
	}
	if (strcmp(tag, "double") == 0) {
		a->kind = ATTR_FLOAT;
		return read_real(r, false, &a->f);
	}
	if (strcmp(tag, "graph") == 0) {
		return graph_fail(r, from,
				  "subgraphs cannot be read; remove the node");
	}
	if (!graph_expect(r, "[", "a list is expected here")) {
		return false;
	}
	return strcmp(tag, "strings") == 0
		       ? read_strings(r, a)
		       : read_floats(r, strcmp(tag, "floats") == 0, a);
}

bool
graph_read_attr(struct graph_reader *r, struct attr *a)
{
	const char *word;

	if (graph_accept(r, "[")) {
		return read_list(r, a);
	}
	word = graph_peek(r);
	if (is_real(word)) {
		a->kind = ATTR_FLOAT;
		return read_real(r, true, &a->f);
	}
	if (is_number(word)) {
		a->kind = ATTR_INT;
		return graph_read_int(r, &a->i);
	}
	if (*word != '\0' && !graph_is_word(word)) {
		return read_tagged(r, word, a);
	}
	a->kind = ATTR_STRING;
	return graph_read_string(r, &a->s, &a->s_len);
}
