/* SPDX-License-Identifier: Apache-2.0 */
/* Declares local arrays and variables; stores of constants at the start of the
 * body become their initializers. */
#include "host_device.h"
#include "walk_stmt.h"

/* Nested ALLOCs: ALLOC x { ALLOC y { x = 0; … } }. The first stores of the body
 * to these variables become initializers, unless the stores read one of the
 * arrays. */
struct chain {
	struct stmt *first, *body; /* the outermost ALLOC, and the body of the
				    * innermost one */
	VEC(const struct stmt *) starts; /* the stores that initialize */
};

static bool
uses_chain(const struct chain *c, const struct expr *e)
{
	for (const struct stmt *s = c->first; s != c->body;
	     s = s->children[0]) {
		if (expr_uses_buffer(e, s->u.buffer)) {
			return true;
		}
	}
	return false;
}

static bool
in_chain(const struct chain *c, const struct buffer *b)
{
	for (const struct stmt *s = c->first; s != c->body;
	     s = s->children[0]) {
		if (s->u.buffer == b) {
			return true;
		}
	}
	return false;
}

static const struct stmt *
start_of(const struct chain *c, const struct buffer *b)
{
	for (int i = 0; i < c->starts.n; i++) {
		if (c->starts.data[i]->u.buffer == b) {
			return c->starts.data[i];
		}
	}
	return NULL;
}

static void
find_starts(struct walker *w, struct chain *c)
{
	bool several = c->body->kind == STMT_SEQ;
	int n = several ? c->body->n_children : 1;

	for (int i = 0; i < n; i++) {
		const struct stmt *s = several ? c->body->children[i] : c->body;

		if (s->kind != STMT_STORE || s->u.buffer->ndim != 0 ||
		    buffer_is_shared(s->u.buffer) ||
		    !in_chain(c, s->u.buffer) ||
		    start_of(c, s->u.buffer) != NULL ||
		    uses_chain(c, s->args[0])) {
			return;
		}
		vec_push(w->a, &c->starts, s);
		vec_push(w->a, &w->done, s);
	}
}

/* How the dialect spells the elements of b, a buffer of fragments (struct
 * fragment_form); NULL after a diagnostic. */
static const struct fragment_form *
fragment_of(struct walker *w, const struct buffer *b)
{
	const struct device_forms *d = &w->d->device;

	for (int i = 0; i < d->fragments.n; i++) {
		const struct fragment_form *f = &d->fragments.data[i];

		if (strcmp(f->scope, b->scope) == 0 &&
		    dtype_equal(f->type, b->type) && b->ndim >= 2 &&
		    expr_is_value(b->shape[b->ndim - 2], f->tile[0]) &&
		    expr_is_value(b->shape[b->ndim - 1], f->tile[1])) {
			return f;
		}
	}
	if (d->fragments.n == 0) {
		walk_fail(w,
			  "buffer %s has the scope '%s', and there are no "
			  "fragments; use \"shared\" or \"local\"",
			  b->name, b->scope);
		return NULL;
	}
	walk_fail(w,
		  "buffer %s: no fragment of the scope '%s' with that type "
		  "and those last two dimensions; transform_layout, so that "
		  "each tile stands together",
		  b->name, b->scope);
	return NULL;
}

const struct buffer *
walk_first_of(const struct walker *w, const struct buffer *b)
{
	for (int i = 0; i < w->same.n; i++) {
		if (w->same.data[i].later == b) {
			return w->same.data[i].first;
		}
	}
	return b;
}

/* Sets *most to a bound of the magnitudes of elements in b and in all arrays
 * that use the declaration of b; false if one of these arrays has no bound. */
static bool
bound_of_all(struct walker *w, const struct buffer *b, int64_t *most)
{
	int64_t one;

	if (!walk_bound(w, b, most)) {
		return false;
	}
	for (int i = 0; i < w->same.n; i++) {
		if (w->same.data[i].first != b) {
			continue;
		}
		if (!walk_bound(w, w->same.data[i].later, &one)) {
			return false;
		}
		*most = one > *most ? one : *most;
	}
	return true;
}

static bool
is_declared(struct walker *w, const struct buffer *b)
{
	return walk_first_of(w, b) != b || walk_find(w, b->data) != NULL;
}

/* Lets b use the declaration of an equal array that is no longer used (struct
 * same_array): binds b to the text of that array. */
static void
take_place(struct walker *w, const struct buffer *b)
{
	struct binding bound = *walk_find(w, walk_first_of(w, b)->data);

	bound.var = b->data;
	bound.buffer = b;
	walk_add(w, &bound);
}

static void
declare(struct walker *w, const struct stmt *s, const struct stmt *init)
{
	const struct buffer *b = s->u.buffer;
	const char *type = unit_type(w->u, b->type);
	struct tdata *data = tdata_new(w->a);
	const struct fragment_form *fragment = NULL;
	struct binding *bound;
	bool is_kernel = lower_is_kernel(w->f), shared = buffer_is_shared(b);
	int ndim = b->ndim;
	enum statement_id id;
	int64_t most;
	bool flat;

	if (type == NULL) {
		w->failed = true;
		return;
	}
	if (is_kernel && !shared && !buffer_is_private(b)) {
		walk_fail(w, "memory of the scope '%s'", b->scope);
		return;
	}
	if (buffer_is_fragment(b)) {
		fragment = fragment_of(w, b);
		if (fragment == NULL) {
			return;
		}
		for (int i = 0; i < fragment->needs.n; i++) {
			unit_need(w->u, fragment->needs.data[i]);
		}
		ndim -= 2;
	}
	tdata_text(data, "type", fragment != NULL ? fragment->spelling : type);
	tdata_list(data, "extents");
	tdata_text(data, "align", NULL);
	if (b->align_bytes > 0) {
		tdata_int(data, "align", b->align_bytes);
	}
	flat = ndim > 1 && w->d->access.flat_locals;
	for (int i = 0; i < ndim; i++) {
		const struct expr *extent = b->shape[i];

		for (int k = i + 1; flat && k < ndim; k++) {
			extent = expr_mul_sizes(w->m, extent, b->shape[k]);
		}
		tdata_text(tdata_item(data, "extents"), "extent",
			   walk_expr(w, extent, w->d->assignment));
		if (flat) {
			break;
		}
	}
	if (init != NULL) {
		tdata_text(data, "br", TEXT_ASSIGN);
		tdata_text(data, "value", walk_stored(w, init->args[0]));
	}
	bound = walk_bind(w, b->data, b->name);
	bound->buffer = b;
	bound->kind = b->ndim == 0 ? VALUE_SCALAR
		      : flat       ? VALUE_POINTER
				   : VALUE_ARRAY;
	bound->flat = flat;
	bound->fragment = fragment != NULL;
	bound->space = SPACE_LOCAL;
	bound->local = true;
	tdata_text(data, "name", bound->text);
	if (shared && walk_pooled_bytes(w, w->f) > 0) {
		tdata_int(data, "place", lower_shared_place(w->f, b));
		tdata_text(data, "br", TEXT_ASSIGN);
		walk_put(w, true,
			 walk_render(w, w->d->device.pool_array, data));
		return;
	}
	id = shared         ? SAY_SHARED_ARRAY
	     : ndim > 0     ? SAY_ARRAY
	     : init != NULL ? SAY_CELL_INIT
			    : SAY_CELL;
	if (bound_of_all(w, b, &most)) {
		walk_declare_bounded(w, id, bound->text, most, data);
	} else {
		walk_say(w, id, true, data);
	}
}

void
walk_alloc(struct walker *w, struct stmt *s)
{
	struct chain c = { .first = s, .body = s };

	while (c.body->kind == STMT_ALLOC) {
		c.body = c.body->children[0];
	}
	if (!is_declared(w, s->u.buffer)) {
		find_starts(w, &c);
	}
	for (; s != c.body; s = s->children[0]) {
		if (is_declared(w, s->u.buffer)) {
			take_place(w, s->u.buffer);
		} else {
			declare(w, s, start_of(&c, s->u.buffer));
		}
	}
	walk_stmt(w, c.body);
}
