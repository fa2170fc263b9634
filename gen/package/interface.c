/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the header: dimensions, sizes, status codes, and the structures that
 * the caller fills in. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "comment_text.h"
#include "packer.h"
#include "plan.h"
#include "size_bounds.h"
#include "version.h"

int64_t
largest_size(const struct expr *size)
{
	int64_t most = 0;
	bool known = size_max(size, &most);

	/* limits_check() has rejected models without this bound */
	assert(known);
	(void)known;
	return most;
}

int64_t
largest_count(const struct tensor *t)
{
	int64_t elems = 0;
	bool known = tensor_max_elems(t, &elems);

	/* limits_check() has rejected models without this bound */
	assert(known);
	(void)known;
	return elems;
}

static bool
is_dynamic(const struct tensor *t)
{
	int64_t v;

	for (int i = 0; i < t->ndim; i++) {
		if (!expr_is_int(t->shape[i], &v)) {
			return true;
		}
	}
	return false;
}

/* Adds the scale and the zero point of a quantized input or output to its row:
 * real = (stored - zero_point) * scale. */
static void
add_scale(struct packer *k, struct tdata *row, struct tdata *size,
	  const struct tensor *t)
{
	const char *scale;

	if (t->reals == NULL) {
		tdata_text(row, "reals", "");
		tdata_text(size, "scale", NULL);
		tdata_text(size, "zero_point", NULL);
		return;
	}
	scale = arena_printf(k->a, "%.9g", t->reals->scale);
	if (strpbrk(scale, ".e") == NULL) {
		scale = arena_printf(k->a, "%s.0", scale);
	}
	if (t->reals->zero_point != 0) {
		tdata_printf(row, "reals", ", real = (stored %c %lld) * %s",
			     t->reals->zero_point > 0 ? '-' : '+',
			     llabs((long long)t->reals->zero_point), scale);
	} else {
		tdata_printf(row, "reals", ", real = stored * %s", scale);
	}
	tdata_text(size, "scale", scale);
	tdata_printf(size, "zero_point", "%lld",
		     (long long)t->reals->zero_point);
}

/* The text of an expression of sizes, for a macro or for a function whose
 * parameters are these sizes. */
struct size_text {
	const struct packer *k;
	/* used[i]: does size i occur in the text? The sizes that the caller
	 * gives come first, then those that the model computes. */
	bool *used;
	bool in_macro;
	/* The largest magnitude that a partial result may have; 0: no limit,
	 * because sizes are cast to 64 bits. */
	int64_t most;
	struct strbuf s;
};

/* A longer text is not emitted. Texts can become very long, because min and max
 * repeat their operands. */
enum { SIZE_TEXT_MAX = 1000 };

/* The name of the structure's member for the size v, which the caller sets or
 * gets; marks the size as used. NULL if there is no such member. */
static const char *
size_field(const struct size_text *t, const struct var *v)
{
	const struct packer *k = t->k;

	for (int i = 0; i < k->g->dims.n; i++) {
		if (graph_given_dim(k->g, k->g->dims.data[i]).given == v) {
			t->used[i] = true;
			return k->dim_fields[i];
		}
	}
	for (int i = 0; i < k->p->given_sizes.n; i++) {
		if (k->p->given_sizes.data[i].size == v) {
			t->used[k->g->dims.n + i] = true;
			return k->size_fields[i];
		}
	}
	return NULL;
}

/* The operator of C for an expression, or NULL. For division and modulo the
 * dividend must not be negative and the divisor must be above 0, since C does
 * not round down otherwise. */
static const char *
operator_of(const struct expr *e)
{
	int64_t low, high;

	switch (e->kind) {
	case EXPR_ADD:
		return " + ";
	case EXPR_SUB:
		return " - ";
	case EXPR_MUL:
		return " * ";
	case EXPR_MIN:
		return " < ";
	case EXPR_MAX:
		return " > ";
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		if (!size_bounds(e->args[0], &low, &high) || low < 0 ||
		    !size_bounds(e->args[1], &low, &high) || low <= 0) {
			return NULL;
		}
		return e->kind == EXPR_FLOORDIV ? " / " : " % ";
	default:
		return NULL;
	}
}

/* Appends the text of e. Returns false if C cannot express it, if it is too
 * long, or if a partial result may exceed the limit. */
static bool
put_size(struct size_text *t, const struct expr *e)
{
	bool chosen = e->kind == EXPR_MIN || e->kind == EXPR_MAX;
	const char *name, *op = operator_of(e);
	int64_t v, low, high;

	if (t->most > 0 && (!size_bounds(e, &low, &high) ||
			    low < -t->most - 1 || high > t->most)) {
		return false;
	}
	if (expr_is_int(e, &v)) {
		strbuf_printf(&t->s, "%lld", (long long)v);
		return true;
	}
	if (e->kind == EXPR_CAST) {
		return put_size(t, e->args[0]);
	}
	if (e->kind == EXPR_VAR) {
		name = size_field(t, e->u.var);
		strbuf_printf(&t->s,
			      t->most == 0  ? "(int64_t)(%s)"
			      : t->in_macro ? "(%s)"
					    : "%s",
			      name != NULL ? name : "");
		return name != NULL;
	}
	if (op == NULL || t->s.len > SIZE_TEXT_MAX) {
		return false;
	}
	strbuf_puts(&t->s, chosen ? "((" : "(");
	if (!put_size(t, e->args[0])) {
		return false;
	}
	strbuf_puts(&t->s, op);
	if (!put_size(t, e->args[1])) {
		return false;
	}
	if (chosen) {
		strbuf_puts(&t->s, ") ? ");
		if (!put_size(t, e->args[0])) {
			return false;
		}
		strbuf_puts(&t->s, " : ");
		if (!put_size(t, e->args[1])) {
			return false;
		}
	}
	strbuf_putc(&t->s, ')');
	return true;
}

/* The text for the number of x's elements that a run uses. NULL if the number
 * does not follow from sizes, or if a partial result may exceed `most` (0: no
 * limit). */
static const char *
used_within(const struct packer *k, const struct tensor *x, bool in_macro,
	    int64_t most, bool *used)
{
	struct size_text t = { k, used, in_macro, most, { 0 } };
	const char *text = NULL;
	int64_t elems;
	bool ok = is_dynamic(x) &&
		  (most == 0 || (tensor_max_elems(x, &elems) && elems <= most));
	int n = 0;

	strbuf_init(&t.s);
	for (int i = 0; i < x->ndim && ok; i++) {
		if (!expr_is_value(x->shape[i], 1)) {
			strbuf_puts(&t.s, n++ > 0 ? " * " : "");
			ok = put_size(&t, graph_given_size(k->g, x->shape[i]));
		}
	}
	if (ok && t.s.data != NULL) {
		text = arena_printf(k->a, in_macro && n > 1 ? "(%s)" : "%s",
				    t.s.data);
	}
	strbuf_release(&t.s);
	return text;
}

/* The text for a macro. It computes with int if all partial results fit in an
 * int, else with 64 bits. */
static const char *
used_in_macro(const struct packer *k, const struct tensor *x, bool *used)
{
	const int64_t most = k->d->int_bits < 32 ? INT16_MAX : INT32_MAX;
	const char *text = used_within(k, x, true, most, used);

	return text != NULL ? text : used_within(k, x, true, 0, used);
}

/* Adds the text for the number of elements that a run uses, for a macro or for
 * a function. The sizes are its parameters, with the types that sizes have in
 * the structures. */
static void
add_used(struct packer *k, struct tdata *size, const struct tensor *t)
{
	int n_dims = k->g->dims.n, n_sizes = n_dims + k->p->given_sizes.n;
	bool *used = arena_array(k->a, bool, n_sizes + 1);
	const char *text = used_in_macro(k, t, used);
	struct tdata *last = NULL;

	tdata_list(size, "used_sizes");
	for (int i = 0; i < n_sizes && text != NULL; i++) {
		if (!used[i]) {
			continue;
		}
		if (last != NULL) {
			tdata_flag(last, "more", true);
		}
		last = tdata_item(size, "used_sizes");
		tdata_text(last, "size",
			   i < n_dims ? k->dim_fields[i]
				      : k->size_fields[i - n_dims]);
		tdata_flag(last, "more", false);
	}
	tdata_text(size, "used", last != NULL ? text : NULL);
	tdata_text(size, "used_value",
		   last != NULL ? used_within(k, t, false, INT32_MAX, used)
				: NULL);
}

/* The header shows names of the model up to this length. Longer names are only
 * in the comments of the source (long_names.h). */
enum { SHOWN_NAME_BYTES = 56 };

/* Adds the name of an input or output in the model, if it differs from the name
 * of the member. */
static void
add_model_name(struct packer *k, struct tdata *row, const struct tensor *t,
	       const char *field)
{
	const char *name = tensor_label(t);

	tdata_text(row, "named",
		   strcmp(name, field) == 0 || strlen(name) > SHOWN_NAME_BYTES
			   ? ""
			   : arena_printf(k->a, ", in the model \"%s\"",
					  comment_text(k->a, k->d, name)));
}

static void
add_tensor(struct packer *k, struct tdata *data, const char *list,
	   const struct tensor *t, const char *field, const char *macro,
	   int label_columns, struct unit *u)
{
	struct tdata *row = tdata_item(data, list);
	struct tdata *size = tdata_item(data, "tensors");
	struct strbuf dims;
	int64_t count = largest_count(t);

	strbuf_init(&dims);
	for (int i = 0; i < t->ndim; i++) {
		strbuf_printf(&dims, "%s%lld", i > 0 ? ", " : "",
			      (long long)largest_size(t->shape[i]));
	}
	unit_need_type(u, t->type);
	tdata_text(row, "name", field);
	tdata_printf(row, "label", "%-*s", label_columns, field);
	tdata_text(row, "short", short_name(t->type));
	tdata_text(row, "type", k->d->types[t->type.kind].spelling);
	tdata_printf(row, "shape", "%s%s",
		     t->ndim > 0 ? shape_text(k, t) : "scalar",
		     t->is_string ? ", strings with zeros after them"
		     : dtype_equal(dtype_stored(t->type), t->type)
			     ? ""
			     : ", each in a byte");
	tdata_text(size, "NAME", macro);
	tdata_text(size, "name", field);
	tdata_text(size, "dims",
		   dims.data != NULL ? arena_strdup(k->a, dims.data) : "1");
	tdata_int(size, "count", count);
	tdata_int(size, "bytes",
		  count * dtype_bytes(dtype_stored(t->type)) * 8 /
			  k->d->char_bits);
	add_scale(k, row, size, t);
	add_model_name(k, row, t, field);
	tdata_flag(row, "held", t->in_workspace);
	tdata_flag(size, "held", t->in_workspace);
	if (t->in_workspace) {
		add_workspace_place(k, size, plan_find(&k->p->plan, t));
	}
	tdata_flag(size, "dynamic", is_dynamic(t));
	add_used(k, size, t);
	strbuf_release(&dims);
}

/* Are all tensors of the list in the workspace, so that the caller passes no
 * pointers to them? */
static bool
all_held(struct tensor *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (!list[i]->in_workspace) {
			return false;
		}
	}
	return true;
}

static int
longest(const char *const *names, int n, int so_far)
{
	for (int i = 0; i < n; i++) {
		int length = (int)strlen(names[i]);

		so_far = length > so_far ? length : so_far;
	}
	return so_far;
}

bool
add_interface(struct packer *k, const char *version_hash, struct strbuf *out,
	      struct anchors *anchors)
{
	const struct settings *set = k->g->settings;
	struct tdata *data = tdata_new(k->a);
	const struct dialect_template *t = &k->d->templates[TEMPLATE_HEADER];
	struct strbuf text;
	bool ok, no_inputs;
	struct unit u;
	int columns;

	unit_init(&u, k->m, k->d);
	tdata_outer(data, k->data);
	tdata_anchored(data, "MODEL", k->upper, ANCHOR_MODEL, 0, 0);
	if (version_hash != NULL) {
		tdata_text(data, "version_hash", version_hash);
	}
	/* If the header has a version hash, the digest of the model is left
	 * out: the hash identifies the interface, which does not change with
	 * the weights. */
	tdata_text(data, "model_digest",
		   version_hash == NULL && k->g->digest != NULL
			   ? arena_printf(k->a, "%.16s", k->g->digest)
			   : NULL);
	tdata_text(data, "tirc_version", version_text());
	tdata_list(data, "inputs");
	tdata_list(data, "outputs");
	tdata_list(data, "tensors");
	columns = longest(k->input_fields, k->g->inputs.n, 0);
	columns = longest(k->output_fields, k->g->outputs.n, columns);
	for (int i = 0; i < k->g->inputs.n; i++) {
		add_tensor(k, data, "inputs", k->g->inputs.data[i],
			   k->input_fields[i], k->input_macros[i], columns, &u);
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		add_tensor(k, data, "outputs", k->g->outputs.data[i],
			   k->output_fields[i], k->output_macros[i], columns,
			   &u);
	}
	for (int i = 0; i < k->g->dims.n; i++) {
		unit_need_type(&u, k->g->dims.data[i]->type);
	}
	for (int i = 0; i < k->p->given_sizes.n; i++) {
		unit_need_type(&u, k->p->given_sizes.data[i].size->type);
	}
	for (int i = 0; i < k->p->plan.parts.n; i++) {
		unit_need_type(&u, k->p->plan.parts.data[i].type);
	}
	if (k->d->tasks.used || k->p->traced) {
		unit_need(&u, "stdint.h");
	}
	regions_need(k, &u, data, true);
	if (!regions_in_header(k, data)) {
		return false;
	}
	no_inputs = all_held(k->g->inputs.data, k->g->inputs.n);
	tdata_flag(data, "no_inputs", no_inputs && k->g->dims.n == 0);
	tdata_flag(data, "held",
		   set->inputs_in_workspace || set->outputs_in_workspace);
	tdata_flag(data, "held_inputs", set->inputs_in_workspace);
	tdata_flag(data, "held_outputs", set->outputs_in_workspace);
	tdata_flag(data, "no_outputs",
		   all_held(k->g->outputs.data, k->g->outputs.n));
	tdata_text(data, "overlap",
		   no_inputs             ? NULL
		   : k->g->inputs.n == 1 ? "the input"
					 : "the inputs");
	unit_add_includes(&u, data);
	strbuf_init(&text);
	ok = template_render_anchored(&k->m->diags, t->file, NULL, t->text,
				      data, &text, anchors);
	if (ok && text.data != NULL) {
		strbuf_puts(out,
			    dialect_comments(k->d, k->a, text.data, anchors));
	}
	strbuf_release(&text);
	return ok;
}
