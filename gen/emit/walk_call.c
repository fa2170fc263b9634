/* SPDX-License-Identifier: Apache-2.0 */
/* Calls as text; pointers to arrays are cast where needed. */
#include "kernel.h"
#include "text.h"
#include "walk_stmt.h"

const char *
walk_with_commas(struct walker *w, const char *const *args, int n)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	strbuf_putc(&s, MARK_OPEN);
	for (int i = 0; i < n; i++) {
		strbuf_printf(&s, "%s%s", i > 0 ? "," TEXT_SPACE : "", args[i]);
	}
	strbuf_putc(&s, MARK_CLOSE);
	text = arena_strdup(w->a, s.data);
	strbuf_release(&s);
	return text;
}

struct piece
walk_call(struct walker *w, const char *callee, const char *const *args, int n)
{
	struct tdata *data = tdata_new(w->a);
	const char *text;

	tdata_text(data, "callee", callee);
	tdata_text(data, "arguments", walk_with_commas(w, args, n));
	text = walk_render(w, w->d->access.call, data);
	return (struct piece){ text, w->d->primary };
}

const struct func *
walk_callee(struct walker *w, const char *name)
{
	int at = pointer_map_get(&w->u->callee, expr_string(w->m, name), -1);

	return at >= 0 ? w->u->callees.data[at] : module_find_func(w->m, name);
}

bool
walk_names_function(struct walker *w, const char *name)
{
	if (!text_is_identifier(name, "")) {
		walk_fail(w, "'%s' is not the name of a function", name);
	}
	return !w->failed;
}

/* Do a and b have the same type and rank, and the same extents except in the
 * first dimension, so that a pointer to the first elements of one needs no cast
 * to be a pointer of the other? */
static bool
same_inner(const struct buffer *a, const struct buffer *b)
{
	if (a->ndim != b->ndim || !dtype_equal(a->type, b->type)) {
		return false;
	}
	for (int i = 1; i < a->ndim; i++) {
		if (a->shape[i] != b->shape[i]) {
			return false;
		}
	}
	return true;
}

/* Makes w fail with an error if a pointer has another address space than the
 * parameter b. */
static void
check_space(struct walker *w, const struct binding *value,
	    const struct buffer *b, enum memory_space space)
{
	const char *from = w->d->spaces[value->space];
	const char *to = w->d->spaces[space];

	if (strcmp(from != NULL ? from : "", to != NULL ? to : "") != 0) {
		walk_fail(w,
			  "%s is %s memory, and the parameter %s takes %s "
			  "memory",
			  value->text, memory_space_name(value->space), b->name,
			  memory_space_name(space));
	}
}

const char *
walk_pointer_argument(struct walker *w, const struct binding *value,
		      const struct buffer *b, bool is_const,
		      enum memory_space space)
{
	bool flat = walk_is_flat(w, b) || b->ndim <= 1;
	struct tdata *data = tdata_new(w->a);

	check_space(w, value, b, space);
	if ((value->kind == VALUE_VOID_POINTER && !w->d->access.always_cast) ||
	    (value->kind == VALUE_CONST_VOID_POINTER && flat &&
	     !w->d->access.always_cast) ||
	    (value->kind == VALUE_POINTER && flat &&
	     dtype_equal(value->buffer->type, b->type)) ||
	    (value->kind == VALUE_ARRAY && !flat &&
	     same_inner(value->buffer, b)) ||
	    (value->kind == VALUE_ARRAY && flat && value->buffer->ndim <= 1 &&
	     dtype_equal(value->buffer->type, b->type))) {
		return value->text;
	}
	tdata_text(data, "type", unit_element_type(w->u, b));
	tdata_text(data, "space", w->d->spaces[space]);
	tdata_flag(data, "const", is_const);
	tdata_text(data, "value", value->text);
	tdata_list(data, "inner");
	for (int i = 1; i < b->ndim && !flat; i++) {
		tdata_text(tdata_item(data, "inner"), "extent",
			   walk_expr(w, b->shape[i], w->d->assignment));
	}
	return walk_render(w,
			   flat ? w->d->access.pointer_cast
				: w->d->access.array_cast,
			   data);
}

/* The text of an address, such as &b[i][j], with a cast to the type of a
 * parameter that is an array of arrays. */
static const char *
address_argument(struct walker *w, const char *address, const struct buffer *b,
		 bool is_const, enum memory_space space)
{
	struct tdata *data = tdata_new(w->a);

	tdata_text(data, "space", w->d->spaces[space]);
	tdata_text(data, "type", unit_element_type(w->u, b));
	tdata_flag(data, "const", is_const);
	tdata_text(data, "value", address);
	tdata_list(data, "inner");
	for (int i = 1; i < b->ndim; i++) {
		tdata_text(tdata_item(data, "inner"), "extent",
			   walk_expr(w, b->shape[i], w->d->assignment));
	}
	return walk_render(w, w->d->access.array_cast, data);
}

static bool
is_address(const struct expr *e)
{
	return e->kind == EXPR_CALL && intrin_is_address(e->u.intrin) &&
	       e->args[0]->kind == EXPR_LOAD;
}

/* Is `address` the address of the first element of an array with the binding
 * `value`? */
static bool
begins_array(const struct expr *address, const struct binding *value)
{
	const struct expr *load = address->args[0];
	int64_t index;

	for (int i = 0; i < load->n_args; i++) {
		if (!expr_is_int(load->args[i], &index) || index != 0) {
			return false;
		}
	}
	return value != NULL && value->kind == VALUE_ARRAY;
}

/* Is parameter i of the callee a multidimensional array? */
static bool
takes_arrays(const struct walker *w, const struct func *callee, int i)
{
	const struct buffer *b = callee != NULL && i < callee->params.n
					 ? callee->params.data[i].buffer
					 : NULL;

	return b != NULL && b->ndim > 1 && !walk_is_flat(w, b);
}

/* The address e as an argument for parameter p, an array of arrays. The address
 * of the array's first element is written as the name of the array, since
 * compilers treat &b[0][0] as a pointer into the first row only. A pointer to
 * arrays needs a cast to become a pointer to const arrays. */
static const char *
array_argument(struct walker *w, const struct expr *e,
	       const struct binding *value, const struct param *p,
	       bool is_const)
{
	bool whole = begins_array(e, value);

	if (whole && (!is_const || value->is_const)) {
		return walk_pointer_argument(w, value, p->buffer, is_const,
					     p->space);
	}
	return address_argument(w,
				whole ? value->text
				      : walk_expr(w, e, w->d->unary),
				p->buffer, is_const, p->space);
}

static const char *
argument(struct walker *w, const struct expr *e, const struct func *callee,
	 int i)
{
	const struct param *p = callee != NULL && i < callee->params.n
					? &callee->params.data[i]
					: NULL;
	const struct buffer *b = p != NULL ? p->buffer : NULL;
	const struct binding *value;

	if (e->kind == EXPR_VAR && b != NULL) {
		value = walk_find(w, e->u.var);
		if (value != NULL && value->kind != VALUE_SCALAR) {
			return walk_pointer_argument(w, value, b,
						     !func_writes(callee, b),
						     p->space);
		}
	}
	if (is_address(e) && b != NULL) {
		value = walk_find(w, e->args[0]->u.buffer->data);
		if (value != NULL) {
			check_space(w, value, b, p->space);
		}
		if (takes_arrays(w, callee, i)) {
			return array_argument(w, e, value, p,
					      !func_writes(callee, b));
		}
	}
	return walk_expr(w, e, w->d->assignment);
}

/* The type of the parameter of an external function for which e is passed: an
 * array becomes a pointer. *text: e as an argument. */
static struct external_param
external_param(struct walker *w, const struct expr *e, const char **text)
{
	struct external_param p = { .type = e->type };
	const struct binding *value = NULL;
	const struct buffer *b = NULL;

	if (is_address(e)) {
		b = e->args[0]->u.buffer;
		value = walk_find(w, b->data);
	} else if (e->kind == EXPR_VAR) {
		value = walk_find(w, e->u.var);
		b = value != NULL && value->kind != VALUE_SCALAR ? value->buffer
								 : NULL;
	}
	if (is_address(e) && e->u.intrin == INTRIN_READ_ADDRESS_OF) {
		p.is_const = true;
	} else if (value != NULL) {
		p.is_const = value->is_const ||
			     value->kind == VALUE_CONST_VOID_POINTER;
	}
	if (b != NULL) {
		bool vector = is_address(e) && b->type.lanes > 1;

		p.type = dtype_of(b->type.kind);
		p.pointer = true;
		p.space = value != NULL ? w->d->spaces[value->space] : NULL;
		if (vector ||
		    (e->kind == EXPR_VAR && value->kind == VALUE_ARRAY)) {
			struct tdata *data = tdata_new(w->a);

			/* The address of a vector is passed as a pointer to its
			 * elements. */
			tdata_text(data, "type",
				   vector ? unit_type(w->u, p.type)
					  : unit_element_type(w->u, b));
			tdata_text(data, "space", p.space);
			tdata_flag(data, "const", p.is_const);
			tdata_text(data, "value", vector ? *text : value->text);
			*text = walk_render(w, w->d->access.pointer_cast, data);
		}
	} else if (dtype_class(e->type) == DTC_HANDLE) {
		p.type = dtype_of(DT_VOID);
		p.pointer = true;
	}
	return p;
}

const char *
walk_passed(struct walker *w, const struct expr *e)
{
	const char *text = e->kind == EXPR_STRING
				   ? walk_text_literal(w, e->u.text)
				   : walk_expr(w, e, w->d->assignment);

	if (e->kind != EXPR_STRING) {
		external_param(w, e, &text);
	}
	return text;
}

const char *
walk_arguments(struct walker *w, const struct expr *e, int first)
{
	const struct func *callee = walk_callee(w, e->args[0]->u.text);
	struct box_sources boxes = { .kernel = NULL };
	const char **args, *arg;
	int n = 0;

	walk_find_boxes(w,
			e->u.intrin == INTRIN_LAUNCH
				? walk_kernel(w, e->args[0]->u.text)
				: NULL,
			&boxes);
	args = arena_array(w->a, const char *, e->n_args + boxes.list.n + 1);
	for (int i = first; i < e->n_args; i++) {
		if (!walk_only_boxes(&boxes, i - first)) {
			args[n++] = argument(w, e->args[i], callee, i - first);
		}
	}
	for (int i = 0; i < boxes.list.n; i++) {
		int param = boxes.list.data[i].param;

		arg = argument(w, e->args[first + param], callee, param);
		args[n++] = walk_box_argument(w, &boxes.list.data[i], arg);
	}
	return walk_with_commas(w, args, n);
}

/* Sets w->begin and w->end to the texts that the external function needs at the
 * start and the end of its caller, if it needs such texts. w fails if another
 * call in this caller needs different texts, or if the call is in a loop that
 * several threads share. */
static void
note_frame(struct walker *w, const char *name, const struct expr *e)
{
	const struct intrinsic_text *t = unit_external_text(w->u, name);
	struct tdata *data = tdata_new(w->a);
	const char *begin;

	if (t == NULL || t->begin == NULL) {
		return;
	}
	for (int i = 1; i < e->n_args; i++) {
		int64_t v;

		if (expr_is_int(e->args[i], &v)) {
			tdata_int(data, arena_printf(w->a, "argument_%d", i),
				  v);
		}
	}
	begin = walk_render(w, t->begin, data);
	if (w->shares || (w->begin != NULL && strcmp(w->begin, begin) != 0)) {
		walk_fail(w, "%s: %s; schedule it in kernels of their own",
			  name,
			  w->shares ? "it cannot be called by threads "
				      "that share a loop"
				    : "two calls need different "
				      "settings");
		return;
	}
	w->begin = begin;
	w->end = t->end;
}

const char *
walk_text_literal(struct walker *w, const char *text)
{
	struct strbuf s;
	const char *literal;

	strbuf_init(&s);
	strbuf_putc(&s, '"');
	for (const char *c = text; *c; c++) {
		unsigned char byte = (unsigned char)*c;

		if (*c == '"' || *c == '\\' || *c == '?') {
			strbuf_printf(&s, "\\%c", *c); /* "??" is a trigraph */
		} else if (byte < ' ' || byte > '~') {
			strbuf_printf(&s, "\\%03o", (unsigned)byte);
		} else {
			strbuf_putc(&s, *c);
		}
	}
	strbuf_putc(&s, '"');
	literal = arena_strdup(w->a, s.data);
	strbuf_release(&s);
	return literal;
}

/* A text as an argument of an external function: a pointer to memory that is
 * never written. */
static const char *
text_argument(struct walker *w, const char *text, struct external_param *p)
{
	if (w->d->spaces[SPACE_INTERFACE] != NULL) {
		walk_fail(w, "a text as an argument of an external function, "
			     "which this dialect has in another memory; pass a "
			     "number");
	}
	*p = (struct external_param){ .type = dtype_of(DT_VOID),
				      .pointer = true,
				      .is_const = true };
	return walk_text_literal(w, text);
}

struct piece
walk_call_function(struct walker *w, const struct expr *e)
{
	const char *name = e->n_args > 0 && e->args[0]->kind == EXPR_STRING
				   ? e->args[0]->u.text
				   : NULL;
	const struct func *callee = NULL;
	const char **args = arena_array(w->a, const char *, e->n_args + 1);
	struct external_param *params = arena_array(w->a, struct external_param,
						    e->n_args + 1);

	if (name == NULL) {
		walk_fail(w, "a call of nothing");
		return (struct piece){ "", w->d->primary };
	}
	if (w->u->traced && strcmp(name, ENTRY_TRACED) == 0) {
		return walk_traced(w, e);
	}
	callee = walk_callee(w, name);
	if (!walk_names_function(w, name)) {
		return (struct piece){ "", w->d->primary };
	}
	for (int i = 1; i < e->n_args; i++) {
		if (e->args[i]->kind == EXPR_STRING && callee == NULL &&
		    e->u.intrin == INTRIN_CALL_EXTERN) {
			args[i - 1] = text_argument(w, e->args[i]->u.text,
						    &params[i - 1]);
			continue;
		}
		if (walk_is_stored_only(w, e->args[i]->type)) {
			walk_fail(w,
				  "%s: %s can be stored, but not "
				  "passed; pass an array of one element",
				  name, dtype_name(e->args[i]->type));
		}
		args[i - 1] = argument(w, e->args[i], callee, i - 1);
		if (e->u.intrin == INTRIN_CALL_EXTERN &&
		    !takes_arrays(w, callee, i - 1)) {
			params[i - 1] = external_param(w, e->args[i],
						       &args[i - 1]);
		}
	}
	if (e->u.intrin == INTRIN_CALL_EXTERN && callee == NULL && !w->failed &&
	    !unit_external(w->u, w->f, name, e->type, params, e->n_args - 1)) {
		w->failed = true;
	}
	if (e->u.intrin == INTRIN_CALL_EXTERN && callee == NULL && !w->failed) {
		note_frame(w, name, e);
		name = unit_external_name(w->u, name);
	}
	if (callee != NULL && unit_shares(w->u, callee)) {
		args[e->n_args - 1] = w->d->tasks.argument;
		return walk_call(w, name, args, e->n_args);
	}
	return walk_call(w, name, args, e->n_args - 1);
}
