/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the walker: names in scope, rendering of the dialect's
 * texts, and the printing of whole functions. */
#include "host_device.h"
#include "iterate.h"
#include "walk_stmt.h"

bool
walk_fail(struct walker *w, const char *fmt, ...)
{
	struct diag_place place = { .file = w->d->file };
	va_list ap;

	if (!w->failed) {
		place.item = w->f->name;
		va_start(ap, fmt);
		diag_error(&w->m->diags, DIAG_UNSUPPORTED, place,
			   "dialect %s: %s", w->d->name,
			   arena_vprintf(w->a, fmt, ap));
		va_end(ap);
	}
	w->failed = true;
	return false;
}

bool
walk_refuse(struct walker *w, const char *file, const char *why)
{
	struct diag_place place = { .file = file, .item = w->f->name };

	if (!w->failed) {
		diag_error(&w->m->diags, DIAG_UNSUPPORTED, place,
			   "dialect %s: %s", w->d->name, why);
	}
	w->failed = true;
	return false;
}

const char *
walk_render(struct walker *w, const char *text, const struct tdata *data)
{
	struct strbuf s;
	const char *result = "";

	strbuf_init(&s);
	if (!template_render(&w->m->diags, w->d->file, text, text, data, &s)) {
		w->failed = true;
	} else if (s.data != NULL) {
		result = arena_strdup(w->a, s.data);
	}
	strbuf_release(&s);
	return result;
}

/* -- names -- */

int
walk_binding(const struct walker *w, const struct var *v)
{
	return pointer_map_get(&w->bound, v, -1);
}

struct binding *
walk_find(struct walker *w, const struct var *v)
{
	int at = walk_binding(w, v);

	return at >= 0 ? &w->bindings.data[at] : NULL;
}

struct binding *
walk_add(struct walker *w, const struct binding *b)
{
	int at = w->bindings.n;

	vec_push(w->a, &w->bindings, *b);
	w->bindings.data[at].outer = walk_binding(w, b->var);
	pointer_map_put(&w->bound, b->var, at);
	return &w->bindings.data[at];
}

/* A key for `name` in pointer maps: the same pointer for equal names, in all
 * walkers of the module. */
static const struct expr *
name_key(const struct walker *w, const char *name)
{
	return expr_string(w->m, name);
}

static bool
is_visible(const struct walker *w, const char *name)
{
	return pointer_map_get(&w->times_visible, name_key(w, name), 0) > 0;
}

static void
count_visible(struct walker *w, const char *name, int step)
{
	const struct expr *key = name_key(w, name);

	pointer_map_put(&w->times_visible, key,
			step + pointer_map_get(&w->times_visible, key, 0));
}

/* Adds a name to the names in scope: later bindings get other names. */
static void
walk_show(struct walker *w, const char *name)
{
	vec_push(w->a, &w->visible, name);
	count_visible(w, name, 1);
}

void
walk_drop(struct walker *w, int bindings, int visible)
{
	while (w->bindings.n > bindings) {
		const struct binding *b = &w->bindings.data[--w->bindings.n];

		pointer_map_put(&w->bound, b->var, b->outer);
	}
	while (w->visible.n > visible) {
		count_visible(w, w->visible.data[--w->visible.n], -1);
	}
}

/* A name made from `base` that differs from all names in scope and at file
 * scope. */
static const char *
fresh_name(struct walker *w, const char *base)
{
	struct name_set names;
	const char *name;

	name_set_init(&names, w->a);
	names.reserved = w->u->globals.reserved;
	names.n_reserved = w->u->globals.n_reserved;
	names.max_length = w->u->globals.max_length;
	do {
		name = name_set_add(&names, base);
	} while (is_visible(w, name) || name_set_has(&w->u->globals, name));
	return name;
}

struct binding *
walk_bind(struct walker *w, const struct var *v, const char *base)
{
	struct binding b = { .var = v };

	b.text = fresh_name(w, base);
	walk_show(w, b.text);
	return walk_add(w, &b);
}

/* -- functions -- */

static void
init(struct walker *w, struct unit *u, const struct func *f, struct strbuf *out)
{
	memset(w, 0, sizeof *w);
	w->u = u;
	w->d = u->d;
	w->a = u->a;
	w->m = u->m;
	w->f = f;
	w->out = out;
	pointer_map_init(&w->bound, w->a);
	pointer_map_init(&w->times_visible, w->a);
	analyser_init(&w->an, u->m);
	width_bind_sizes(&w->an, f, u->d->object_bytes);
	walk_init_ranges(w);
}

/* Does a kernel that the function f launches write the array p? */
static bool
is_written(struct walker *w, const struct param *p)
{
	const struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(w->f->body, STMT_EVALUATE);
	     (s = stmt_next(&it));) {
		const struct expr *e = s->args[0];
		const struct func *kernel;

		if (e->kind != EXPR_CALL || e->u.intrin != INTRIN_LAUNCH) {
			continue;
		}
		kernel = walk_callee(w, e->args[0]->u.text);
		for (int i = 7; kernel != NULL && i < e->n_args; i++) {
			const struct buffer *b =
				kernel->params.data[i - 7].buffer;

			if (e->args[i] == p->var->expr && b != NULL &&
			    func_writes(kernel, b)) {
				return true;
			}
		}
	}
	return false;
}

const char *
unit_elements(struct arena *a, const struct buffer *b)
{
	int64_t all = 1, extent;

	for (int i = 0; i < b->ndim; i++) {
		if (!expr_is_int(b->shape[i], &extent)) {
			return NULL;
		}
		all *= extent > 0 ? extent : 1;
	}
	return arena_printf(a, "%lld", (long long)all);
}

static const char *
parameter(struct walker *w, const struct param *p, bool is_restrict)
{
	struct tdata *data = tdata_new(w->a);
	struct dtype t = p->buffer != NULL ? p->buffer->type : p->var->type;
	struct binding *bound;
	const char *type;
	bool flat, is_const, is_kernel = lower_is_kernel(w->f);

	type = p->buffer != NULL ? unit_element_type(w->u, p->buffer)
				 : unit_type(w->u, t);
	if (type == NULL) {
		w->failed = true;
		return "";
	}
	bound = walk_bind(w, p->var,
			  p->buffer != NULL ? p->buffer->name : p->var->name);
	bound->space = p->space;
	tdata_text(data, "space", w->d->spaces[p->space]);
	tdata_text(data, "type", type);
	tdata_text(data, "name", bound->text);
	if (p->buffer == NULL) {
		bool handle = dtype_class(t) == DTC_HANDLE;

		if (p->var == w->u->model_var) {
			bound->kind = VALUE_VOID_POINTER;
			tdata_text(data, "model", w->u->model);
			return walk_render(w, w->d->regions.parameter, data);
		}
		if (walk_is_stored_only(w, t)) {
			walk_fail(w,
				  "parameter %s: %s can be stored, but not "
				  "passed; pass an array of one element",
				  p->var->name, dtype_name(t));
			return "";
		}
		bound->kind = handle ? VALUE_VOID_POINTER : VALUE_SCALAR;
		return walk_render(w,
				   handle      ? w->d->functions.pointer
				   : is_kernel ? w->d->device.scalar
					       : w->d->functions.scalar,
				   data);
	}
	flat = walk_is_flat(w, p->buffer);
	if (8 * dtype_bytes(p->buffer->type) < w->d->char_bits) {
		walk_fail(w,
			  "array %s: its elements, %s, are narrower than a "
			  "char of %d bits",
			  p->buffer->name, dtype_name(t), w->d->char_bits);
		return "";
	}
	is_const = !func_writes(w->f, p->buffer) && !is_written(w, p);
	bound->buffer = p->buffer;
	bound->flat = flat;
	bound->is_const = is_const;
	bound->kind = p->buffer->ndim > 1 && !flat ? VALUE_ARRAY
						   : VALUE_POINTER;
	tdata_flag(data, "const", is_const);
	tdata_flag(data, "unaliased", is_restrict);
	tdata_flag(data, "array", bound->kind == VALUE_ARRAY);
	tdata_text(data, "extent", NULL);
	tdata_list(data, "inner");
	if (flat && !buffer_is_flat(p->buffer)) {
		tdata_text(data, "extent", unit_elements(w->a, p->buffer));
	}
	for (int i = 0; i < p->buffer->ndim && !flat; i++) {
		int64_t extent;

		if (!expr_is_int(p->buffer->shape[i], &extent)) {
			continue;
		}
		tdata_printf(i == 0 ? data : tdata_item(data, "inner"),
			     "extent", "%lld", (long long)extent);
	}
	if (p->buffer->ndim == 0) {
		tdata_int(data, "extent", 1);
	}
	return walk_render(w,
			   is_kernel ? w->d->device.array
				     : w->d->functions.array,
			   data);
}

/* Adds the number of threads in a block, if it is constant: along x, y, z (list
 * "block") and in total ("threads"). */
static void
block_size(struct walker *w, const struct func *f, struct tdata *data)
{
	static const int tags[] = { TAG_THREAD_X, TAG_THREAD_Y, TAG_THREAD_Z };
	struct stmt *loops[TAG_COUNT];
	int64_t all = 1, n;

	threads_body(f->body, loops);
	tdata_list(data, "block");
	tdata_text(data, "threads", NULL);
	for (int i = 0; i < 3; i++) {
		n = 1;
		if (loops[tags[i]] != NULL &&
		    !expr_is_int(loops[tags[i]]->args[1], &n)) {
			tdata_list(data, "block");
			return;
		}
		all *= n;
	}
	for (int i = 0; i < 3; i++) {
		n = 1;
		if (loops[tags[i]] != NULL) {
			expr_is_int(loops[tags[i]]->args[1], &n);
		}
		tdata_int(tdata_item(data, "block"), "extent", n);
	}
	(void)w;
	tdata_int(data, "threads", all);
}

static int
count_arrays(const struct func *f)
{
	int n = 0;

	for (int i = 0; i < f->params.n; i++) {
		n += f->params.data[i].buffer != NULL;
	}
	return n;
}

static void
add_parameter(struct strbuf *s, const char *text)
{
	strbuf_printf(s, "%s%s", s->len > 1 ? "," TEXT_SPACE : "", text);
}

static void
signature(struct walker *w, const struct func *f, struct names lines)
{
	struct layout l = dialect_layout(w->d, w->out, true, false);
	struct tdata *data = tdata_new(w->a);
	struct strbuf s;
	int arrays = count_arrays(f);

	walk_find_boxes(w, lower_is_kernel(f) ? f : NULL, &w->boxes);
	strbuf_init(&s);
	strbuf_putc(&s, MARK_OPEN);
	for (int i = 0; i < f->params.n; i++) {
		const char *text = parameter(w, &f->params.data[i],
					     arrays > 1 && !w->declares &&
						     func_note(f, "aliased") ==
							     NULL);

		if (!walk_only_boxes(&w->boxes, i)) {
			add_parameter(&s, text);
		}
	}
	for (int i = 0; i < w->boxes.list.n; i++) {
		add_parameter(&s,
			      walk_box_parameter(w, &w->boxes.list.data[i]));
	}
	if (unit_shares(w->u, f)) {
		tdata_text(data, "model", w->u->model);
		strbuf_printf(&s, "%s%s", f->params.n > 0 ? "," TEXT_SPACE : "",
			      walk_render(w, w->d->tasks.parameter, data));
		walk_show(w, w->d->tasks.argument);
	} else if (f->params.n == 0) {
		strbuf_puts(&s, w->d->functions.no_parameters);
	}
	strbuf_putc(&s, MARK_CLOSE);
	tdata_text(data, "name", f->name);
	tdata_text(data, "parameters", arena_strdup(w->a, s.data));
	strbuf_release(&s);
	if (lower_is_kernel(f)) {
		block_size(w, f, data);
		tdata_text(data, "model", w->u->model);
	}
	for (int i = 0; i < lines.n; i++) {
		layout_line(&l, 0, walk_render(w, lines.data[i], data));
	}
}

/* Prints the body of f, with the texts before and after it that external
 * functions called in it need (w->begin, w->end). */
static void
print_body(struct walker *w)
{
	struct strbuf *out = w->out, body;
	struct layout l = dialect_layout(w->d, out, true, w->deep);

	strbuf_init(&body);
	w->out = &body;
	walk_stmt(w, w->f->body);
	w->out = out;
	if (w->begin != NULL) {
		layout_line(&l, 1, w->begin);
	}
	if (walk_pooled_bytes(w, w->f) > 0) {
		layout_line(&l, 1, w->d->device.pool_declare);
	}
	walk_box_begin(w, &l);
	strbuf_puts(out, body.data != NULL ? body.data : "");
	if (w->end != NULL) {
		layout_line(&l, 1, w->end);
	}
	strbuf_release(&body);
}

static bool
print_indented(struct unit *u, const struct func *f, struct names lines,
	       bool deep, struct strbuf *out)
{
	struct walker w;
	struct layout l = dialect_layout(u->d, out, true, false);

	init(&w, u, f, out);
	w.deep = deep;
	if (lower_is_kernel(f) && u->d->device.rejected != NULL) {
		return walk_refuse(&w, u->d->device.file,
				   u->d->device.rejected);
	}
	signature(&w, f, lines);
	w.indent = 1;
	if (!w.failed) {
		print_body(&w);
	}
	for (int i = 0; i < u->d->functions.close.n; i++) {
		layout_line(&l, 0, u->d->functions.close.data[i]);
	}
	return !w.failed;
}

/* Prints a function indented by tabs. If a line is longer than the hard limit,
 * prints it again, indented by a few spaces for each level; but not if loops
 * were outlined, which would be emitted twice. */
static bool
print_func(struct unit *u, const struct func *f, struct names lines,
	   struct strbuf *out)
{
	struct layout l = dialect_layout(u->d, out, true, false);
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	ok = print_indented(u, f, lines, false, &text);
	if (ok && text.data != NULL && layout_is_wide(&l, text.data) &&
	    !unit_shares(u, f)) {
		strbuf_release(&text);
		strbuf_init(&text);
		ok = print_indented(u, f, lines, true, &text);
	}
	strbuf_puts(out, text.data != NULL ? text.data : "");
	strbuf_release(&text);
	return ok;
}

bool
unit_func(struct unit *u, const struct func *f, struct strbuf *out)
{
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	ok = print_func(u, f,
			lower_is_kernel(f) ? u->d->device.kernel
					   : u->d->functions.kernel,
			&text);
	for (int i = 0; i < u->parts.n && !u->in_part; i++) {
		strbuf_puts(out, u->parts.data[i]);
	}
	u->parts.n = u->in_part ? u->parts.n : 0;
	strbuf_puts(out, text.data != NULL ? text.data : "");
	strbuf_release(&text);
	return ok;
}

bool
unit_prototype(struct unit *u, const struct func *f, struct strbuf *out)
{
	struct walker w;

	init(&w, u, f, out);
	w.declares = true;
	signature(&w, f, u->d->functions.prototype);
	return !w.failed;
}

bool
unit_exported(struct unit *u, const struct func *f, struct strbuf *out)
{
	return print_func(u, f, u->d->functions.exported, out);
}

bool
unit_parameters(struct unit *u, const struct func *f, struct tdata *data,
		const char *list, struct binding *bound)
{
	struct strbuf none;
	struct walker w;

	strbuf_init(&none);
	init(&w, u, f, &none);
	tdata_list(data, list);
	for (int i = 0; i < f->params.n; i++) {
		tdata_text(tdata_item(data, list), "text",
			   parameter(&w, &f->params.data[i],
				     count_arrays(f) > 1));
	}
	for (int i = 0; i < f->params.n && !w.failed; i++) {
		bound[i] = *walk_find(&w, f->params.data[i].var);
	}
	return !w.failed;
}

const char *
unit_argument(struct unit *u, const struct binding *value,
	      const struct buffer *b)
{
	struct strbuf none;
	struct walker w;

	strbuf_init(&none);
	init(&w, u, func_new(u->m, "none"), &none);
	return layout_flat(u->a, walk_pointer_argument(&w, value, b, true,
						       value->space));
}

const char *
unit_expr(struct unit *u, const struct func *f, const struct expr *e)
{
	struct strbuf none;
	struct walker w;

	strbuf_init(&none);
	init(&w, u, f, &none);
	for (int i = 0; i < f->params.n; i++) {
		if (f->params.data[i].buffer == NULL) {
			walk_bind(&w, f->params.data[i].var,
				  f->params.data[i].var->name);
		}
	}
	w.whole = true;
	e = simplify(&w.an, e);
	return layout_flat(u->a, walk_expr(&w, e, u->d->assignment));
}

const char *
unit_bound_expr(struct unit *u, const struct func *f,
		const struct binding *params, int n, const struct expr *e)
{
	struct strbuf none;
	struct walker w;

	strbuf_init(&none);
	init(&w, u, f, &none);
	for (int i = 0; i < n; i++) {
		walk_add(&w, &params[i]);
	}
	e = simplify(&w.an, e);
	return layout_flat(u->a, walk_expr(&w, e, u->d->assignment));
}

bool
unit_body(struct unit *u, const struct func *f, const struct binding *params,
	  int n, struct strbuf *out)
{
	struct walker w;

	init(&w, u, f, out);
	w.entry = true;
	for (int i = 0; i < n; i++) {
		walk_add(&w, &params[i]);
	}
	for (int i = 0; i < u->d->entry_names.n; i++) {
		walk_show(&w, u->d->entry_names.data[i]);
	}
	w.indent = u->d->access.entry_tabs;
	walk_stmt(&w, f->body);
	return !w.failed;
}
