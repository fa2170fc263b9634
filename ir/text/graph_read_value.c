/* SPDX-License-Identifier: Apache-2.0 */
/* Types and values of constants in the text form of graphs. */
#include <errno.h>
#include <stdlib.h>

#include "graph_lex.h"
#include "size_text.h"

/* the most elements of a constant whose values graph_make_value() may invent */
#define MAX_MADE ((int64_t)1 << 24)

/* -- types */

static bool
read_dtype(struct graph_reader *r, struct dtype *out)
{
	const char *word = graph_peek(r);
	size_t from = r->at;

	r->at += strlen(word);
	return (dtype_from_name(word, out) && out->lanes == 1 &&
		dtype_bits(*out) > 0 && out->kind != DT_HANDLE) ||
	       graph_fail(r, from,
			  "an element type is expected here, such as float32 "
			  "or int64");
}

/* The offset of the end of the size that begins at r->at: the next comma
 * outside of brackets, the next closing bracket that the size does not open, or
 * the end of the line. */
static size_t
size_end(const struct graph_reader *r)
{
	const char *s = r->src->text;
	size_t end = r->at;
	int open = 0;
	bool quoted = false;

	for (; end < r->src->length && s[end] != '\n' && s[end] != '\r';
	     end++) {
		if (s[end] == '"') {
			quoted = !quoted;
		} else if (quoted) {
			continue;
		} else if (s[end] == '(') {
			open++;
		} else if (s[end] == ')') {
			open--;
		} else if (open == 0 && strchr(",]}", s[end])) {
			break;
		}
	}
	return end;
}

static const struct expr *
read_size(struct graph_reader *r)
{
	size_t from, end;
	const char *text, *place;
	char *rest;
	int64_t v;
	const struct expr *e;

	graph_line_ends(r);
	from = r->at;
	end = size_end(r);
	text = arena_strndup(&r->module->arena, r->src->text + from,
			     end - from);
	r->at = end;
	errno = 0;
	v = strtoll(text, &rest, 10);
	if (rest != text && *rest == '\0' && errno == 0) {
		return expr_index(r->module, v);
	}
	if (!r->symbols) {
		r->symbols = size_symbols(r->graph);
	}
	place = arena_printf(&r->module->arena, "%s:%d", r->src->name, r->line);
	e = size_read(r->graph, r->symbols, text, place);
	r->failed = r->failed || !e;
	return e;
}

struct sizes {
	VEC(const struct expr *) list;
};

/* Reads sizes up to and with the closing bracket; the opening one has been
 * read. */
static bool
read_sizes(struct graph_reader *r, const char *close, struct sizes *out)
{
	if (graph_accept(r, close)) {
		return true;
	}
	do {
		const struct expr *e = read_size(r);

		if (!e) {
			return false;
		}
		vec_push(&r->module->arena, &out->list, e);
	} while (graph_accept(r, ","));
	return graph_expect(r, close,
			    "sizes are in brackets, separated by "
			    "commas");
}

static bool
read_shape(struct graph_reader *r, struct tensor *t)
{
	struct sizes sizes = { 0 };
	size_t from = r->at;
	int64_t elems, v;

	if (!graph_expect(r, "[", "the sizes follow the type")) {
		return false;
	}
	if (graph_accept(r, "?")) {
		return graph_expect(r, "]", "the shape is unknown");
	}
	if (!read_sizes(r, "]", &sizes)) {
		return false;
	}
	t->ndim = sizes.list.n;
	t->shape = arena_exprs(&r->module->arena, t->ndim + 1);
	for (int i = 0; i < t->ndim; i++) {
		t->shape[i] = sizes.list.data[i];
		if (!size_is_index(t->shape[i]->type) ||
		    (expr_is_int(t->shape[i], &v) && v < 0)) {
			return graph_fail(r, from,
					  "sizes are integers of at least 0, "
					  "of the type int32 or int64");
		}
	}
	for (int i = 0; i < t->ndim; i++) {
		if (!expr_is_int(t->shape[i], &v)) {
			return true;
		}
	}
	return (tensor_const_elems(t, &elems) && elems <= INT64_MAX / 8) ||
	       graph_fail(r, from,
			  "the tensor has more elements than any "
			  "machine can address");
}

bool
graph_read_type(struct graph_reader *r, struct tensor *t)
{
	if (!graph_accept(r, "?")) {
		t->typed = read_dtype(r, &t->type);
	}
	return !r->failed && read_shape(r, t);
}

bool
graph_read_elems(struct graph_reader *r, struct tensor *t)
{
	struct sizes sizes = { 0 };
	size_t from = r->at;
	int64_t elems;

	if (!graph_expect(r, "{", "known elements are in braces") ||
	    !read_sizes(r, "}", &sizes)) {
		return false;
	}
	t->n_elems = sizes.list.n;
	t->elems = sizes.list.data ? sizes.list.data
				   : arena_exprs(&r->module->arena, 1);
	for (int i = 0; i < t->n_elems; i++) {
		if (!size_is_element(t->type, t->elems[i])) {
			return graph_fail(r, from,
					  "element %d is none of a tensor of "
					  "type %s; write a number, or make "
					  "the type int64",
					  i, dtype_name(t->type));
		}
	}
	return (tensor_const_elems(t, &elems) && elems == t->n_elems) ||
	       graph_fail(r, from,
			  "the number of values, %d, is not the number of "
			  "elements; give one value per element",
			  t->n_elems);
}

/* -- numbers */

bool
graph_read_number(struct graph_reader *r, struct dtype type, union number *out)
{
	const char *word = graph_peek(r);
	size_t from = r->at;
	bool fits;
	char *end;

	if (*word == '\0' && graph_accept(r, "+")) {
		return graph_fail(r, from, "write numbers without +");
	}
	r->at += strlen(word);
	/* continues after the word: the word of a number such as "1e+10" ends
	 * before the +, because names cannot contain + */
	if (r->at < r->src->length && r->src->text[r->at] == '+' &&
	    dtype_is_float(type)) {
		r->at++;
		word = arena_printf(&r->module->arena, "%s+%s", word,
				    graph_peek(r));
		r->at = from + strlen(word);
	}
	errno = 0;
	if (dtype_is_float(type)) {
		out->f = strtod(word, &end);
		fits = true;
	} else if (dtype_is_signed(type)) {
		out->i = strtoll(word, &end, 10);
		fits = errno == 0 && out->i >= dtype_min_int(type) &&
		       (out->i < 0 || (uint64_t)out->i <= dtype_max_int(type));
	} else {
		out->u = strtoull(word, &end, 10);
		fits = errno == 0 && *word != '-' &&
		       out->u <= dtype_max_int(type);
	}
	return (*word != '\0' && *end == '\0' && fits) ||
	       graph_fail(r, from, "a number of type %s is expected here",
			  dtype_name(type));
}

struct numbers {
	VEC(union number) list;
};

static bool
read_numbers(struct graph_reader *r, struct dtype type, struct numbers *out)
{
	union number v;

	if (graph_accept(r, "}")) {
		return true;
	}
	do {
		if (!graph_read_number(r, type, &v)) {
			return false;
		}
		vec_push(&r->module->arena, &out->list, v);
	} while (graph_accept(r, ","));
	return graph_expect(r, "}",
			    "values are in braces, separated by "
			    "commas");
}

static struct value *
new_value(struct graph_reader *r, struct dtype type, int64_t elems)
{
	struct value *v = arena_new(&r->module->arena, struct value);

	v->type = type;
	v->elems = elems;
	v->bytes = (size_t)elems * (size_t)dtype_bytes(type);
	return v;
}

bool
graph_read_value(struct graph_reader *r, struct dtype type, int64_t elems,
		 const struct value **out)
{
	struct value *v = new_value(r, type, elems);
	struct numbers numbers = { 0 };
	size_t from;
	char *data;

	*out = v;
	if (strcmp(graph_peek(r), "splat") == 0) {
		r->at += strlen("splat");
		if (!graph_read_number(r, type, &v->fill)) {
			return false;
		}
		v->fill = number_round(type, v->fill);
		return true;
	}
	from = r->at;
	if (!graph_expect(r, "{",
			  "a constant has {values}, a splat with a number, "
			  "or an operator with constant inputs") ||
	    !read_numbers(r, type, &numbers)) {
		return false;
	}
	if (numbers.list.n != elems) {
		return graph_fail(r, from,
				  "%d values for %lld elements; give one "
				  "value per element",
				  numbers.list.n, (long long)elems);
	}
	data = arena_alloc(&r->module->arena, v->bytes + 1);
	for (int i = 0; i < numbers.list.n; i++) {
		number_store(type, data, (size_t)i, numbers.list.data[i]);
	}
	v->data = data;
	return true;
}

/* The values are pseudo-random, the same in each call: floats are whole numbers
 * from -4 to 4, integers from 0 to 8 (in types of 2 or 4 bits, their low bits),
 * bools 0 and 1. from: where the constant begins in the text, for messages. */
bool
graph_make_value(struct graph_reader *r, size_t from, struct dtype type,
		 int64_t elems, const struct value **out)
{
	unsigned sides = type.kind == DT_BOOL ? 2 : 9, state = 1;
	struct value *v;
	char *data;

	if (!r->make_values) {
		return graph_fail(r, from,
				  "the values are missing; write = {...} or "
				  "= splat NUMBER after the type");
	}
	if (elems > MAX_MADE) {
		return graph_fail(r, from,
				  "too many values are missing; write = "
				  "splat NUMBER");
	}
	v = new_value(r, type, elems);
	data = arena_alloc(&r->module->arena, v->bytes + 1);
	for (int64_t i = 0; i < elems; i++) {
		union number n;

		state = state * 1103515245u + 12345u;
		n.i = (int64_t)(state >> 16) % sides;
		if (dtype_is_float(type)) {
			n.f = (double)(n.i - 4);
		}
		number_store(type, data, (size_t)i, n);
	}
	v->data = data;
	*out = v;
	return true;
}
