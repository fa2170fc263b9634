/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches and barriers as text, in dialects that have them. */
#include "assembly.h"
#include "host_device.h"
#include "iterate.h"
#include "walk_stmt.h"

static struct piece
failed(struct walker *w, const char *why)
{
	walk_fail(w, "%s", why);
	return (struct piece){ "", w->d->primary };
}

/* The text of an extent of a grid. An extent that may exceed 32 bits is passed
 * through a helper, which maps a value that does not fit to a value with which
 * every launch fails. */
static const char *
extent_text(struct walker *w, const struct expr *e)
{
	const char *key = w->d->device.extent, *name;
	struct bounds b = analyse_bounds(&w->an, e);
	const char *text = walk_expr(w, e, w->d->assignment);
	struct piece call;

	if (key == NULL || dtype_bits(e->type) <= 32 ||
	    (b.max != BOUND_POS_INF && b.max <= INT32_MAX)) {
		return text;
	}
	name = unit_helper(w->u, dialect_helper(w->d, key), e->type, e->type);
	if (name == NULL) {
		return failed(w, "an extent of 64 bits").text;
	}
	call = walk_call(w, name, &text, 1);
	return call.text;
}

/* Adds the extents along x, y, z to the list `key`, without extents of 1 at the
 * end, and sets the flag `many` if there are several. */
static void
add_extents(struct walker *w, struct tdata *data, const char *key,
	    const char *many, const struct expr *const *extents)
{
	int n = 3;

	while (n > 1 && expr_is_value(extents[n - 1], 1)) {
		n--;
	}
	tdata_flag(data, many, n > 1);
	for (int i = 0; i < n; i++) {
		tdata_text(tdata_item(data, key), "extent",
			   layout_flat(w->a, extent_text(w, extents[i])));
	}
}

/* The text of the arguments of a launch in a model. The dialect has forms for
 * handles and numbers, because a launch does not pass them like parameters in
 * C. */
static const char *
form_arguments(struct walker *w, const struct expr *e)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	strbuf_putc(&s, MARK_OPEN);
	for (int i = 7; i < e->n_args; i++) {
		const struct binding *b = e->args[i]->kind == EXPR_VAR
						  ? walk_find(w,
							      e->args[i]->u.var)
						  : NULL;
		bool pointer = b != NULL && b->kind != VALUE_SCALAR;
		struct tdata *data = tdata_new(w->a);

		tdata_text(data, "type",
			   pointer ? NULL : unit_type(w->u, e->args[i]->type));
		tdata_text(data, "value",
			   pointer ? b->text
				   : walk_expr(w, e->args[i],
					       w->d->assignment));
		strbuf_printf(&s, "%s%s", i > 7 ? "," TEXT_SPACE : "",
			      walk_render(w,
					  pointer ? w->d->device.pointer
						  : w->d->device.number,
					  data));
	}
	strbuf_putc(&s, MARK_CLOSE);
	text = arena_strdup(w->a, s.data);
	strbuf_release(&s);
	return text;
}

int64_t
walk_pooled_bytes(const struct walker *w, const struct func *kernel)
{
	int64_t bytes = 0;

	if (w->d->device.pool_beyond > 0 && lower_is_kernel(kernel)) {
		bytes = lower_shared_place(kernel, NULL);
	}
	return bytes > w->d->device.pool_beyond ? bytes : 0;
}

const struct func *
walk_kernel(struct walker *w, const char *name)
{
	/* kernels only: a host function may have the same name as a kernel */
	for (int i = 0; i < w->m->funcs.n; i++) {
		const struct func *f = w->m->funcs.data[i];

		if (lower_is_kernel(f) && strcmp(f->name, name) == 0) {
			return f;
		}
	}
	return NULL;
}

static int64_t
launched_bytes(struct walker *w, const struct expr *e)
{
	const struct func *kernel = walk_kernel(w, e->args[0]->u.text);

	return kernel != NULL ? walk_pooled_bytes(w, kernel) : 0;
}

const char *
walk_before_launch(struct walker *w, const struct expr *e)
{
	struct tdata *data = tdata_new(w->a);
	int64_t bytes;

	if (e->kind != EXPR_CALL || e->u.intrin != INTRIN_LAUNCH ||
	    w->u->model != NULL || (bytes = launched_bytes(w, e)) == 0) {
		return NULL;
	}
	tdata_text(data, "callee", e->args[0]->u.text);
	tdata_int(data, "shared", bytes);
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "close", TEXT_CLOSE);
	return walk_render(w, w->d->device.pool_before, data);
}

struct piece
walk_launch(struct walker *w, const struct expr *e)
{
	const struct device_forms *f = &w->d->device;
	struct tdata *data = tdata_new(w->a);

	const char *launch = w->u->model != NULL ? f->model_launch : f->launch;

	if (launch == NULL) {
		return failed(w,
			      f->rejected != NULL ? f->rejected : f->no_launch);
	}
	if (!walk_names_function(w, e->args[0]->u.text)) {
		return (struct piece){ "", w->d->primary };
	}
	tdata_text(data, "callee", e->args[0]->u.text);
	tdata_text(data, "arguments",
		   w->u->model != NULL && f->pointer != NULL
			   ? form_arguments(w, e)
			   : walk_arguments(w, e, 7));
	tdata_int(data, "count", e->n_args - 7);
	tdata_text(data, "shared", NULL);
	if (launched_bytes(w, e) > 0) {
		tdata_int(data, "shared", launched_bytes(w, e));
	}
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "close", TEXT_CLOSE);
	add_extents(w, data, "grid", "many_grid", e->args + 1);
	add_extents(w, data, "block", "many_block", e->args + 4);
	return (struct piece){ walk_render(w, launch, data), w->d->primary };
}

struct piece
walk_barrier(struct walker *w, const struct expr *e)
{
	const struct device_forms *f = &w->d->device;
	const char *scope = e->args[0]->u.text;
	int which = strcmp(scope, "shared") == 0  ? BARRIER_SHARED
		    : strcmp(scope, "block") == 0 ? BARRIER_BLOCK
						  : -1;

	if (f->rejected != NULL) {
		return failed(w, f->rejected);
	}
	if (which < 0) {
		walk_fail(w,
			  "a barrier of scope '%s'; there are 'shared' and "
			  "'block'",
			  scope);
		return (struct piece){ "", w->d->primary };
	}
	return (struct piece){ f->barriers[which], w->d->primary };
}

struct piece
walk_shuffle(struct walker *w, const struct expr *e)
{
	const struct device_forms *f = &w->d->device;
	struct tdata *data = tdata_new(w->a);

	if (f->rejected != NULL || f->shuffle_xor == NULL) {
		return failed(
			w,
			f->rejected != NULL
				? f->rejected
				: "threads that exchange values without memory");
	}
	tdata_text(data, "value", walk_expr(w, e->args[0], w->d->assignment));
	tdata_text(data, "bits", walk_expr(w, e->args[1], w->d->assignment));
	return (struct piece){ walk_render(w, f->shuffle_xor, data),
			       w->d->primary };
}

static const struct instruction_form *
instruction_of(const struct walker *w, const char *name)
{
	for (int i = 0; i < w->d->device.instructions.n; i++) {
		const struct instruction_form *f =
			&w->d->device.instructions.data[i];

		if (strcmp(f->name, name) == 0) {
			return f;
		}
	}
	return NULL;
}

/* The texts of the arguments behind the instruction's name. */
static const char *const *
argument_texts(struct walker *w, const struct expr *e)
{
	const char **texts = arena_array(w->a, const char *, e->n_args + 1);

	for (int i = 1; i < e->n_args; i++) {
		texts[i - 1] = walk_passed(w, e->args[i]);
	}
	return texts;
}

/* The instruction as an expression with up to six arguments. */
static struct piece
from_text(struct walker *w, const struct instruction_form *f,
	  const struct expr *e, const char *const *texts)
{
	static const char *const keys[] = { "a", "b", "c", "d", "e", "f" };
	const int most = sizeof keys / sizeof *keys;
	struct tdata *data = tdata_new(w->a);
	struct piece p = { "", w->d->primary };

	if (e->n_args - 1 > most) {
		walk_fail(w,
			  "more arguments of %s than the text of an "
			  "instruction takes",
			  f->name);
		return p;
	}
	tdata_text(data, "type",
		   dtype_class(e->type) == DTC_VOID ? "void"
						    : unit_type(w->u, e->type));
	for (int i = 0; i < most; i++) {
		tdata_text(data, keys[i], i + 1 < e->n_args ? texts[i] : NULL);
	}
	p.text = walk_render(w, f->text, data);
	return p;
}

static struct piece
from_helper(struct walker *w, const struct instruction_form *f,
	    const struct expr *e, const char *const *texts)
{
	const char *name = unit_helper(w->u, dialect_helper(w->d, f->helper),
				       e->type, e->type);

	return name != NULL ? walk_call(w, name, texts, e->n_args - 1)
			    : walk_failed_piece(w);
}

/* Is e the number 0 as a pointer? */
static bool
is_null(const struct expr *e)
{
	return dtype_class(e->type) == DTC_HANDLE && e->n_args == 2 &&
	       strcmp(e->args[0]->u.text, "reinterpret") == 0 &&
	       expr_is_value(e->args[1], 0);
}

static struct piece
in_assembly(struct walker *w, const struct expr *e)
{
	const char *why = NULL, *text = "";

	if (e->type.kind != DT_VOID && e->type.kind != DT_HANDLE) {
		walk_fail(w, "the instruction %s is a statement, not a value",
			  e->args[0]->u.text);
		return (struct piece){ "", w->d->primary };
	}
	text = assembly_text(w->m, w->d, e, argument_texts(w, e), &why);

	if (why != NULL) {
		walk_fail(w, "%s", why);
	}
	return (struct piece){ text, w->d->primary };
}

struct piece
walk_instruction(struct walker *w, const struct expr *e)
{
	const char *name = e->args[0]->u.text;
	const struct instruction_form *f = instruction_of(w, name);

	if (f == NULL && is_null(e)) {
		return (struct piece){ w->d->access.null, w->d->unary };
	}
	if (f == NULL && assembly_has(w->d, name)) {
		return in_assembly(w, e);
	}
	if (f == NULL) {
		walk_fail(w,
			  "the dialect has no instruction %s; write what it "
			  "computes as loops, and let tensorize() choose an "
			  "instruction, or give its text in "
			  "device.instructions of a dialect",
			  name);
		return (struct piece){ "", w->d->primary };
	}
	for (int i = 0; i < f->needs.n; i++) {
		unit_need(w->u, f->needs.data[i]);
	}
	return f->helper != NULL ? from_helper(w, f, e, argument_texts(w, e))
				 : from_text(w, f, e, argument_texts(w, e));
}

/* -- asynchronous copies */

static void
need_async(struct walker *w)
{
	const struct names *needs = &w->d->device.async_needs;

	for (int i = 0; i < needs->n; i++) {
		unit_need(w->u, needs->data[i]);
	}
}

bool
walk_async(struct walker *w, const struct expr *e, struct piece *out)
{
	const struct device_forms *f = &w->d->device;
	struct tdata *data = tdata_new(w->a);

	out->level = w->d->primary;
	if (w->boxes.list.n > 0) {
		out->text = walk_box_async(w, e);
		return true;
	}
	if (f->async_copy == NULL) {
		return false;
	}
	need_async(w);
	out->text = f->async_commit;
	if (e->u.intrin == INTRIN_ASYNC_WAIT) {
		tdata_text(data, "count",
			   walk_expr(w, e->args[0], w->d->assignment));
		out->text = walk_render(w, f->async_wait, data);
	}
	return true;
}

bool
walk_is_awaited(struct walker *w, const struct buffer *b)
{
	struct tree_iter it = tree_each_of(w->f->body, EXPR_CALL);
	const struct expr *e;
	bool found = false;

	while ((e = tree_next(&it)) != NULL) {
		for (int i = 1;
		     it.at->kind == STMT_EVALUATE &&
		     e->u.intrin == INTRIN_ASYNC_WAIT && i < e->n_args;
		     i++) {
			found |= e->args[i]->args[0]->u.buffer == b;
		}
	}
	return found;
}

/* The address, as a text, of the first element that a vector index of b
 * selects. */
static const char *
first_address(struct walker *w, const struct buffer *b,
	      const struct expr *const *index, enum intrin op)
{
	const struct expr **at = arena_exprs(w->a, b->ndim + 1);
	const struct expr *first;

	for (int d = 0; d < b->ndim; d++) {
		at[d] = index[d]->kind == EXPR_RAMP ? index[d]->args[0]
						    : index[d];
	}
	first = expr_load(w->m, b, at, b->ndim);
	return walk_expr(w, expr_call(w->m, op, dtype_of(DT_HANDLE), &first, 1),
			 w->d->assignment);
}

const char *
walk_async_copy(struct walker *w, const struct stmt *s)
{
	const struct device_forms *f = &w->d->device;
	const struct expr *from = s->args[0];
	int64_t bytes = (int64_t)dtype_bits(from->type) / 8 * from->type.lanes;
	struct tdata *data;

	if (f->async_copy == NULL || w->boxes.list.n > 0 ||
	    from->kind != EXPR_LOAD || !buffer_is_shared(s->u.buffer) ||
	    buffer_is_shared(from->u.buffer) ||
	    buffer_is_private(from->u.buffer) ||
	    from->u.buffer->type.kind != s->u.buffer->type.kind || bytes < 1 ||
	    (bytes & (bytes - 1)) != 0 || (f->async_bytes & bytes) == 0) {
		return NULL;
	}
	if (!walk_is_awaited(w, s->u.buffer)) {
		return NULL;
	}
	need_async(w);
	data = tdata_new(w->a);
	tdata_text(data, "to",
		   first_address(w, s->u.buffer, s->args + 1,
				 INTRIN_ADDRESS_OF));
	tdata_text(data, "from",
		   first_address(w, from->u.buffer, from->args,
				 INTRIN_READ_ADDRESS_OF));
	tdata_int(data, "bytes", bytes);
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "close", TEXT_CLOSE);
	return walk_render(w, f->async_copy, data);
}
