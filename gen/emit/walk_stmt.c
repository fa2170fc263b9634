/* SPDX-License-Identifier: Apache-2.0 */
/* Statements as text. An empty line follows a run of declarations. A name never
 * shadows another one in scope. */
#include "walk_stmt.h"
#include "comment_text.h"
#include "host_device.h"
#include "iterate.h"
#include "long_names.h"

static struct layout
layout_of(const struct walker *w, bool align_with_tabs)
{
	return dialect_layout(w->d, w->out, align_with_tabs, w->deep);
}

static void
put_line(struct walker *w, const char *text)
{
	struct layout l = layout_of(w, false);

	layout_line(&l, w->indent, text);
}

void
walk_put(struct walker *w, bool declaration, const char *text)
{
	if ((w->wrote == WROTE_DECLARATION && !declaration) ||
	    (w->wrote == WROTE_STATEMENT && declaration)) {
		strbuf_putc(w->out, '\n');
	}
	w->wrote = declaration ? WROTE_DECLARATION : WROTE_STATEMENT;
	put_line(w, text);
}

static const struct lines *
lines_of(struct walker *w, enum statement_id id)
{
	const struct lines *s = &w->d->statements[id];

	if (s->rejected != NULL) {
		walk_refuse(w, s->file, s->rejected);
		return NULL;
	}
	for (int i = 0; i < s->needs.n; i++) {
		unit_need(w->u, s->needs.data[i]);
	}
	return s;
}

void
walk_declare_bounded(struct walker *w, enum statement_id id, const char *name,
		     int64_t most, const struct tdata *data)
{
	const struct lines *s = lines_of(w, id), *b = lines_of(w, SAY_BOUND);
	struct tdata *bound = tdata_new(w->a);
	const char *text, *note;

	if (s == NULL || b == NULL) {
		return;
	}
	tdata_text(bound, "name", name);
	tdata_printf(bound, "most", "%lld", (long long)most);
	text = walk_render(w, s->line, data);
	note = walk_render(w, b->line, bound);
	if (w->indent * layout_of(w, false).step + layout_width(text) + 1 +
		    layout_width(note) <=
	    w->d->line_columns) {
		walk_put(w, true, arena_printf(w->a, "%s %s", text, note));
	} else {
		walk_put(w, true, note);
		walk_put(w, true, text);
	}
}

void
walk_say(struct walker *w, enum statement_id id, bool declaration,
	 const struct tdata *data)
{
	const struct lines *s = lines_of(w, id);

	if (s != NULL) {
		walk_put(w, declaration, walk_render(w, s->line, data));
	}
}

/* -- blocks -- */

struct inner {
	int bindings, visible, wrote;
	struct analyser_mark mark;
};

static void
open_lines(struct walker *w, struct names lines, const struct tdata *data)
{
	for (int i = 0; i < lines.n; i++) {
		const char *text = walk_render(w, lines.data[i], data);

		/* the text may be empty because all of its sections are */
		if (text[0] != '\0') {
			walk_put(w, false, text);
		}
	}
}

static struct inner
enter(struct walker *w)
{
	struct inner i = { w->bindings.n, w->visible.n, (int)w->wrote,
			   analyser_mark(&w->an) };

	return i;
}

static void
leave(struct walker *w, struct inner i)
{
	walk_drop(w, i.bindings, i.visible);
	analyser_pop(&w->an, i.mark);
}

static void
walk_inside(struct walker *w, struct stmt *s)
{
	w->indent++;
	w->wrote = WROTE_NOTHING;
	walk_stmt(w, s);
	w->indent--;
	w->wrote = WROTE_STATEMENT;
}

static void
close_lines(struct walker *w, struct names lines)
{
	for (int i = 0; i < lines.n; i++) {
		put_line(w, lines.data[i]);
	}
}

/* -- kinds -- */

/* Is v used in s or below, except in extents of thread loops? The launch
 * evaluates these extents, not the kernel. */
static bool
is_used(struct stmt *s, const struct var *v)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		for (int i = 0; i < s->n_args; i++) {
			if (tag_of(s) < 0 && expr_uses_var(s->args[i], v)) {
				return true;
			}
		}
	}
	return false;
}

/* Prints the body of the loop of a thread without a loop: the loop's variable
 * becomes the index of the thread. */
static void
walk_thread(struct walker *w, struct stmt *s)
{
	struct var *v = s->u.loop.var;
	struct tdata *data = tdata_new(w->a);
	const struct lines *lines = lines_of(w, SAY_THREAD);
	int tag = tag_of(s);

	if (lines == NULL || dialect_type(w->d, v->type) == NULL) {
		w->failed = true;
		return;
	}
	if (w->d->device.rejected != NULL || tag >= TAG_COUNT) {
		walk_fail(
			w, "%s",
			w->d->device.rejected != NULL
				? w->d->device.rejected
				: "a loop of virtual threads was not lowered");
		return;
	}
	if (is_used(s->children[0], v)) {
		unit_need_type(w->u, v->type);
		tdata_text(data, "type", w->d->types[v->type.kind].spelling);
		tdata_text(data, "index", w->d->device.indices[tag]);
		tdata_text(data, "var", walk_bind(w, v, v->name)->text);
		for (int i = 0; i < lines->open.n; i++) {
			walk_put(w, true,
				 walk_render(w, lines->open.data[i], data));
		}
	}
	analyser_bind(&w->an, v, s->args[0], s->args[1]);
	walk_stmt(w, s->children[0]);
}

/* Does one of `lines` use the placeholder `what`? A value that no line prints
 * must not be computed, because it would add helpers to the unit. */
static bool
uses_name(struct names lines, const char *what)
{
	for (int i = 0; i < lines.n; i++) {
		if (strstr(lines.data[i], what)) {
			return true;
		}
	}
	return false;
}

/* Prints a loop over vectors of type t, whose last iteration may compute fewer
 * lanes. */
static void
walk_parts_loop(struct walker *w, struct stmt *s, struct dtype t)
{
	const struct vector_forms *f = &w->d->vectors;
	struct var *v = s->u.loop.var;
	const struct expr *end = simplify(&w->an, expr_add(w->m, s->args[0],
							   s->args[1]));
	struct tdata *data = tdata_new(w->a);
	struct stmt *body = walk_parts(w, s, t);
	struct inner inner = enter(w);

	unit_need_type(w->u, v->type);
	tdata_text(data, "type", w->d->types[v->type.kind].spelling);
	tdata_text(data, "min", walk_expr(w, s->args[0], w->d->assignment));
	tdata_text(data, "end", walk_compared(w, end));
	tdata_int(data, "lanes", t.lanes);
	tdata_text(data, "var", walk_bind(w, v, v->name)->text);
	open_lines(w, f->loop, data);
	analyser_bind(&w->an, v, s->args[0], s->args[1]);
	w->count = layout_flat(w->a, walk_expr(w, expr_sub(w->m, end, v->expr),
					       w->d->assignment));
	walk_inside(w, body);
	w->count = NULL;
	leave(w, inner);
	close_lines(w, f->loop_end);
}

/* Adds facts about the loop's trip count, `extent`, to data: minimum, maximum
 * and a divisor. */
static void
add_trips(struct walker *w, struct tdata *data, const struct expr *extent)
{
	struct bounds b = analyse_bounds(&w->an, extent);
	int64_t n;

	tdata_text(data, "trips_min", NULL);
	tdata_text(data, "trips_max", NULL);
	tdata_text(data, "trips_multiple", NULL);
	if (expr_is_int(extent, &n)) {
		tdata_int(data, "trips_min", n);
		tdata_int(data, "trips_max", n);
		tdata_int(data, "trips_multiple", n > 0 ? n : 1);
	} else if (b.min != BOUND_NEG_INF && b.max != BOUND_POS_INF &&
		   b.max < INT32_MAX - WIDTH_ROOM) {
		tdata_int(data, "trips_min", b.min > 0 ? b.min : 0);
		tdata_int(data, "trips_max", b.max);
		tdata_int(data, "trips_multiple", 1);
	}
}

static void
walk_for(struct walker *w, struct stmt *s)
{
	const struct expr *min = s->args[0], *extent = s->args[1];
	const struct expr *end = simplify(&w->an, expr_add(w->m, min, extent));
	enum statement_id id = (enum statement_id)s->u.loop.kind;
	struct var *v = s->u.loop.var;
	struct tdata *data = tdata_new(w->a);
	const struct lines *lines;
	struct inner inner;
	bool shares = w->shares, vectorizes = w->vectorizes;
	struct dtype vector;
	int64_t n;

	if (id == SAY_VECTORIZED && walk_part_type(w, s, &vector)) {
		walk_parts_loop(w, s, vector);
		return;
	}
	if (id == SAY_THREAD) {
		walk_thread(w, s);
		return;
	}
	if (id == SAY_PARALLEL && walk_share(w, s, data)) {
		tdata_text(data, "iterations",
			   walk_expr(w, extent, w->d->assignment));
		walk_put(w, true, walk_render(w, w->d->tasks.declare, data));
		walk_put(w, false, walk_render(w, w->d->tasks.call, data));
		return;
	}
	if ((id == SAY_UNROLLED && !expr_is_int(extent, &n)) ||
	    (id == SAY_VECTORIZED && w->u->no_lanes) ||
	    (id == SAY_PARALLEL && (w->shares || w->vectorizes))) {
		id = SAY_SERIAL; /* Printed as serial loops: unrolled ones
				  * without a constant extent, vectorized ones
				  * without vectors, parallel ones in another
				  * parallel loop or in a vectorized one. */
	}
	lines = lines_of(w, id);
	if (lines == NULL || dialect_type(w->d, v->type) == NULL) {
		w->failed = true;
		return;
	}
	unit_need_type(w->u, v->type);
	tdata_text(data, "type", w->d->types[v->type.kind].spelling);
	tdata_text(data, "min", walk_expr(w, min, w->d->assignment));
	tdata_text(data, "end", walk_compared(w, end));
	if (uses_name(lines->open, "{{trips_")) {
		add_trips(w, data, extent);
	}
	if (uses_name(lines->open, "{{extent}}")) {
		tdata_text(data, "extent",
			   walk_expr(w, extent, w->d->assignment));
	}
	inner = enter(w);
	tdata_text(data, "var", walk_bind(w, v, v->name)->text);
	open_lines(w, lines->open, data);
	analyser_bind(&w->an, v, min, extent);
	w->shares = shares || id == SAY_PARALLEL;
	w->vectorizes = vectorizes || id == SAY_VECTORIZED;
	walk_inside(w, s->children[0]);
	w->shares = shares;
	w->vectorizes = vectorizes;
	leave(w, inner);
	close_lines(w, lines->close);
}

static void
walk_if(struct walker *w, struct stmt *s)
{
	const struct lines *lines = lines_of(w, SAY_IF);
	bool otherwise = s->n_children > 1 && s->children[1] != NULL;
	struct tdata *data = tdata_new(w->a);
	struct inner inner;

	if (lines == NULL) {
		return;
	}
	tdata_text(data, "condition",
		   walk_expr(w, s->args[0], w->d->assignment));
	open_lines(w, lines->open, data);
	inner = enter(w);
	analyser_assume(&w->an, s->args[0]);
	walk_inside(w, s->children[0]);
	leave(w, inner);
	if (otherwise) {
		close_lines(w, lines->otherwise);
		inner = enter(w);
		walk_inside(w, s->children[1]);
		leave(w, inner);
	}
	close_lines(w, lines->close);
}

static void
walk_while(struct walker *w, struct stmt *s)
{
	const struct lines *lines = lines_of(w, SAY_WHILE);
	struct tdata *data = tdata_new(w->a);
	struct inner inner;

	if (lines == NULL) {
		return;
	}
	tdata_text(data, "condition",
		   walk_expr(w, s->args[0], w->d->assignment));
	open_lines(w, lines->open, data);
	inner = enter(w);
	walk_inside(w, s->children[0]);
	leave(w, inner);
	close_lines(w, lines->close);
}

/* The binding of the buffer into which the pointer `value` points; NULL if that
 * is unknown. */
static const struct binding *
pointed_at(struct walker *w, const struct expr *value)
{
	while (value->kind == EXPR_CALL && value->n_args > 0) {
		value = value->args[0];
	}
	return value->kind == EXPR_VAR    ? walk_find(w, value->u.var)
	       : value->kind == EXPR_LOAD ? walk_find(w, value->u.buffer->data)
					  : NULL;
}

/* Prints the declaration of the variable of a LET; the caller prints the LET's
 * body. */
static void
walk_let(struct walker *w, struct stmt *s)
{
	struct var *v = s->u.var;
	const struct expr *value = s->args[0];
	struct tdata *data = tdata_new(w->a);
	bool handle = dtype_class(v->type) == DTC_HANDLE;
	const struct binding *root = handle ? pointed_at(w, value) : NULL;
	enum memory_space space = root != NULL ? root->space : SPACE_LOCAL;
	bool is_const = root != NULL && root->is_const;
	bool is_data = !handle && walk_is_data(w, value);
	const struct buffer *points = handle && value->kind == EXPR_CALL &&
						      intrin_is_address(
							      value->u.intrin)
					      ? value->args[0]->u.buffer
					      : NULL;
	const char *type = unit_type(w->u, walk_computed(w, v->type));
	struct binding *b;
	int64_t most;

	if (type == NULL) {
		w->failed = true;
		return;
	}
	tdata_text(data, "space", w->d->spaces[space]);
	tdata_text(data, "type", type);
	tdata_text(data, "element",
		   points != NULL ? unit_element_type(w->u, points)
				  : w->d->types[DT_VOID].spelling);
	tdata_text(data, "br", TEXT_ASSIGN);
	tdata_text(data, "value", walk_expr(w, value, w->d->assignment));
	b = walk_bind(w, v, v->name);
	b->data = is_data;
	b->value = value;
	b->is_const = is_const;
	b->space = space;
	if (handle) {
		b->kind = is_const ? VALUE_CONST_VOID_POINTER
				   : VALUE_VOID_POINTER;
	}
	if (handle) {
		vec_push(w->a, &w->u->pointers,
			 ((struct named_pointer){ v, b->text }));
	}
	if (points != NULL && w->d->access.arena != NULL) {
		b->kind = VALUE_POINTER;
		b->buffer = points;
	}
	tdata_text(data, "name", b->text);
	if (is_data && walk_value_bound(w, value, &most)) {
		walk_shifted_bound(w, s, &most);
		walk_declare_bounded(w, SAY_LET, b->text, most, data);
	} else {
		walk_say(w,
			 !handle    ? SAY_LET
			 : is_const ? SAY_LET_CONST_POINTER
				    : SAY_LET_POINTER,
			 true, data);
	}
	if (dtype_is_int(v->type)) {
		analyser_bind_value(&w->an, v, value);
	}
}

/* -- stores -- */

static bool
is_load_of(const struct expr *e, const struct stmt *store)
{
	if (e->kind != EXPR_LOAD || e->u.buffer != store->u.buffer) {
		return false;
	}
	for (int i = 0; i < e->n_args; i++) {
		if (e->args[i] != store->args[i + 1]) {
			return false;
		}
	}
	return true;
}

/* Does the dialect have an infix operator for v, a sum, difference or product,
 * so that x = x + y may be printed as x += y? */
static bool
is_operator(struct walker *w, const struct expr *v)
{
	enum form_id id = v->kind == EXPR_ADD   ? FORM_ADD
			  : v->kind == EXPR_SUB ? FORM_SUB
						: walk_product(w, v->type);
	const struct form *f = v->type.lanes == 1
				       ? w->d->forms[id][v->type.kind]
				       : w->d->vectors.forms[id];

	return f != NULL && f->kind == FORM_IS_INFIX;
}

static enum statement_id
compound(struct walker *w, const struct stmt *s, const struct expr **rest)
{
	const struct expr *v = s->args[0];
	enum dtype_class c = dtype_class(v->type);
	int64_t most;
	bool sums = (v->kind == EXPR_ADD || v->kind == EXPR_SUB) &&
		    walk_bound(w, s->u.buffer, &most) && !walk_fuses(w, v);
	bool plain = sums || c == DTC_FLOAT ||
		     (c == DTC_UINT && !w->d->types[v->type.kind].promoted);

	if (!plain || v->n_args != 2 || walk_multiplies_too(w, v) ||
	    walk_is_stored_only(w, v->type) ||
	    ((v->type.lanes > 1 || v->kind == EXPR_MUL) &&
	     !is_operator(w, v))) {
		return SAY_STORE;
	}
	for (int i = 0; i < 2; i++) {
		enum statement_id id = v->kind == EXPR_ADD   ? SAY_STORE_ADD
				       : v->kind == EXPR_MUL ? SAY_STORE_MUL
				       : v->kind == EXPR_SUB && i == 0
					       ? SAY_STORE_SUB
					       : SAY_STORE;

		if (id != SAY_STORE && is_load_of(v->args[i], s)) {
			*rest = v->args[1 - i];
			return id;
		}
	}
	return SAY_STORE;
}

/* Prints s, a store of a vector to an array of vectors, if the dialect has a
 * form for such stores other than assignment; else returns false. */
static bool
write_vector(struct walker *w, struct stmt *s)
{
	const struct buffer *b = s->u.buffer;
	const struct binding *bound = walk_find(w, b->data);
	struct tdata *data;

	if (w->d->vectors.rejected != NULL || w->d->vectors.write == NULL ||
	    b->type.lanes == 1 || bound == NULL || bound->local) {
		return false;
	}
	data = tdata_new(w->a);
	tdata_text(data, "type", unit_element_type(w->u, b));
	tdata_text(data, "space", w->d->spaces[bound->space]);
	tdata_text(data, "short", dtype_short(b->type));
	tdata_int(data, "lanes", b->type.lanes);
	tdata_text(data, "first",
		   walk_element(w, b, s->args + 1, s->n_args - 1,
				ELEMENT_VALUE));
	tdata_text(data, "value", walk_expr(w, s->args[0], w->d->assignment));
	walk_put(w, false, walk_render(w, w->d->vectors.write, data));
	return true;
}

/* Prints s, a store of a vector to an array of scalars, if the dialect has a
 * form for such stores other than assignment; else returns false. */
static bool
store_vector(struct walker *w, struct stmt *s)
{
	const struct vector_forms *v = &w->d->vectors;
	const struct buffer *b = s->u.buffer;
	int lanes = s->args[0]->type.lanes, last = s->n_args - 1;
	const struct expr *index[32];
	const struct binding *bound;
	struct tdata *data;

	if (b->type.lanes > 1 || lanes == 1 || last < 1 || last > 32 ||
	    v->rejected != NULL ||
	    (w->count != NULL ? v->store_part : v->store) == NULL ||
	    s->args[last]->kind != EXPR_RAMP) {
		return false;
	}
	for (int i = 0; i < last; i++) {
		index[i] = s->args[i + 1];
	}
	index[last - 1] = index[last - 1]->args[0];
	data = tdata_new(w->a);
	tdata_text(data, "type", unit_vector(w->u, s->args[0]->type, true));
	bound = walk_find(w, b->data);
	tdata_text(data, "space",
		   bound != NULL ? w->d->spaces[bound->space] : NULL);
	tdata_text(data, "short", dtype_short(s->args[0]->type));
	tdata_int(data, "lanes", lanes);
	tdata_text(data, "first",
		   walk_element(w, b, index, last, ELEMENT_VALUE));
	tdata_text(data, "value", walk_expr(w, s->args[0], w->d->assignment));
	if (w->count != NULL) {
		tdata_text(data, "count", w->count);
	}
	walk_put(w, false,
		 walk_render(w, w->count != NULL ? v->store_part : v->store,
			     data));
	return true;
}

static void
say_value(struct walker *w, const char *text)
{
	struct tdata *data = tdata_new(w->a);

	tdata_text(data, "value", text);
	walk_say(w, SAY_EVALUATE, false, data);
}

static void
walk_store(struct walker *w, struct stmt *s)
{
	struct tdata *data = tdata_new(w->a);
	const struct expr *value = s->args[0];
	enum statement_id id;
	const char *later;

	if (vec_has(&w->done, s)) {
		return;
	}
	later = walk_async_copy(w, s);
	if (later != NULL) {
		say_value(w, later);
		return;
	}
	if (store_vector(w, s) || write_vector(w, s)) {
		return;
	}
	id = compound(w, s, &value);
	tdata_text(data, "target",
		   walk_element(w, s->u.buffer, s->args + 1, s->n_args - 1,
				ELEMENT_VALUE));
	/* a scalar is enough for a compound assignment, which broadcasts it */
	if (id != SAY_STORE && value->kind == EXPR_BROADCAST) {
		value = value->args[0];
	}
	tdata_text(data, "br", TEXT_ASSIGN);
	tdata_text(data, "value", walk_stored(w, value));
	walk_say(w, id, false, data);
}

static bool
are_alike(const struct buffer *a, const struct buffer *b)
{
	/* Arrays in copies of a loop nest have the same name; other arrays do
	 * not share a declaration, since a name describes the contents. */
	bool same = strcmp(a->name, b->name) == 0 &&
		    dtype_equal(a->type, b->type) && a->ndim == b->ndim &&
		    a->align_bytes == b->align_bytes &&
		    strcmp(a->scope, b->scope) == 0 && a->strides == NULL &&
		    b->strides == NULL;

	for (int d = 0; same && d < a->ndim; d++) {
		same = a->shape[d] == b->shape[d];
	}
	return same;
}

/* `first` and `later` are nests of ALLOCs. If each array of `later` equals the
 * array at the same position of `first`, makes the arrays of `later` use the
 * declarations of `first`; else returns false. */
static bool
take_places(struct walker *w, const struct stmt *first,
	    const struct stmt *later)
{
	int n = w->same.n;

	while (first->kind == STMT_ALLOC && later->kind == STMT_ALLOC &&
	       !buffer_is_shared(first->u.buffer) &&
	       are_alike(first->u.buffer, later->u.buffer)) {
		struct same_array one = { walk_first_of(w, first->u.buffer),
					  later->u.buffer };

		if (one.first != one.later) {
			vec_push(w->a, &w->same, one);
		}
		first = first->children[0];
		later = later->children[0];
	}
	if (first->kind != STMT_ALLOC && later->kind != STMT_ALLOC) {
		return true;
	}
	w->same.n = n;
	return false;
}

/* Do all children of s that begin with ALLOCs declare equal arrays? If so,
 * records in w->same that the later children use the declarations of the first;
 * else w->same does not change. */
static bool
find_same(struct walker *w, const struct stmt *s)
{
	const struct stmt *first = NULL;
	int n = w->same.n;

	for (int i = 0; i < s->n_children; i++) {
		const struct stmt *child = s->children[i];

		if (child->kind != STMT_ALLOC) {
			continue;
		}
		if (first == NULL) {
			first = child;
		} else if (!take_places(w, first, child)) {
			w->same.n = n;
			return false;
		}
	}
	return true;
}

static void
walk_seq(struct walker *w, struct stmt *s)
{
	int arrays = 0;
	bool same;

	for (int i = 0; i < s->n_children; i++) {
		arrays += s->children[i]->kind == STMT_ALLOC;
	}
	same = arrays > 1 && find_same(w, s);
	for (int i = 0; i < s->n_children; i++) {
		struct stmt *child = s->children[i];
		const struct lines *lines = &w->d->statements[SAY_BLOCK];

		/* A block for each child ends the lifetime of the child's
		 * arrays, so that arrays of different children may share
		 * memory. */
		if (child->kind == STMT_ALLOC && arrays > 1 && !same &&
		    !lower_is_kernel(w->f) && lines->rejected == NULL) {
			struct inner inner = enter(w);

			open_lines(w, lines->open, tdata_new(w->a));
			walk_inside(w, child);
			leave(w, inner);
			close_lines(w, lines->close);
		} else {
			walk_stmt(w, child);
		}
	}
}

static void
walk_evaluate(struct walker *w, const struct expr *e)
{
	struct piece p;

	if (e->kind != EXPR_CALL || (e->u.intrin != INTRIN_ASYNC_COMMIT &&
				     e->u.intrin != INTRIN_ASYNC_WAIT)) {
		const char *before = walk_before_launch(w, e);

		if (before != NULL) {
			say_value(w, before);
		}
		say_value(w, walk_expr(w, e, w->d->assignment));
	} else if (walk_async(w, e, &p)) {
		say_value(w, p.text);
	}
}

static void
walk_assert(struct walker *w, struct stmt *s)
{
	struct tdata *data = tdata_new(w->a);
	const char *message = s->args[1]->u.text;

	tdata_text(data, "condition",
		   walk_expr(w, s->args[0],
			     *message ? w->d->forms[FORM_AND][DT_BOOL]->level
				      : w->d->assignment));
	tdata_text(data, "message",
		   *message ? walk_text_literal(w, message) : NULL);
	walk_say(w, SAY_ASSERT, false, data);
}

/* Prints the note "comment" of the statement, if it has one, on the line before
 * the statement. The note "comment_node", if present, is the name of a node,
 * which is printed before that text. */
static void
say_comment(struct walker *w, const struct stmt *s)
{
	const char *text = note_text(stmt_note(s, "comment"));
	const char *node = note_text(stmt_note(s, "comment_node"));
	const char *clean;

	if (text != NULL) {
		node = node != NULL ? long_names_show(w->u->names, node) : "";
		clean = comment_text(w->a, w->d,
				     arena_printf(w->a, "%s%s", node, text));
		walk_put(w, false, arena_printf(w->a, "/* %s */", clean));
	}
}

void
walk_stmt(struct walker *w, struct stmt *s)
{
	struct tdata *data;

	/* A loop instead of recursion, because an entry function has one LET
	 * for each of its tensors, deeply nested. */
	for (; !w->failed && (s->kind == STMT_LET || s->kind == STMT_ATTR);
	     s = s->children[0]) {
		if (s->kind == STMT_LET) {
			walk_let(w, s);
		}
	}
	if (w->failed) {
		return;
	}
	say_comment(w, s);
	switch (s->kind) {
	case STMT_FOR:
		walk_for(w, s);
		break;
	case STMT_STORE:
		walk_store(w, s);
		break;
	case STMT_IF:
		walk_if(w, s);
		break;
	case STMT_ALLOC:
		walk_alloc(w, s);
		break;
	case STMT_EVALUATE:
		walk_evaluate(w, s->args[0]);
		break;
	case STMT_WHILE:
		walk_while(w, s);
		break;
	case STMT_RETURN:
		data = tdata_new(w->a);
		tdata_text(data, "value",
			   s->n_args > 0
				   ? walk_expr(w, s->args[0], w->d->assignment)
				   : NULL);
		walk_say(w, SAY_RETURN, false, data);
		break;
	case STMT_SEQ:
		walk_seq(w, s);
		break;
	case STMT_ASSERT:
		walk_assert(w, s);
		break;
	default:
		walk_fail(w, "%s cannot be emitted", stmt_kind_name(s->kind));
		break;
	}
}
