/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the texts of libraries, and looks up their functions
 * (library_text.h). */
#include "library_text.h"

#include "library.h"

extern const struct library_text library_text_table[];
extern const int library_text_count;

/* For each row of library_text_table: the scope with the names that the row's text
 * defines; NULL before the first use of the text. */
struct library_scopes {
	struct scope **data;
};

/* Evaluates the statements of a text in a new scope, in which the text's
 * functions can call each other. Returns the scope. */
static struct scope *
evaluate(struct eval *ev, const struct library_text *text)
{
	struct scope *s = arena_new(ev->a, struct scope);
	const struct source *src = ev->src;
	const struct py_node *tree = py_parse(ev->m, &text->source);
	struct scope *frame = ev->frame;
	struct pval unused;

	if (!tree) {
		return s;
	}
	ev->src = ev->typing.src = &text->source;
	ev->frame = NULL;
	eval_suite(ev, s, tree, &unused);
	ev->src = ev->typing.src = src;
	ev->frame = frame;
	return s;
}

static struct scope *
scope_of(struct eval *ev, int i)
{
	if (!ev->library_scopes) {
		ev->library_scopes = arena_new(ev->a, struct library_scopes);
		ev->library_scopes->data = arena_array(ev->a, struct scope *,
						       library_text_count);
	}
	if (!ev->library_scopes->data[i]) {
		ev->library_scopes->data[i] = evaluate(ev,
						       &library_text_table[i]);
	}
	return ev->library_scopes->data[i];
}

/* Is the name a function that the text itself defines, not a name that it
 * imports? */
static bool
is_function(const struct scope_entry *e)
{
	return e->value.kind == PV_CLOSURE;
}

bool
library_is_text(const struct source *src)
{
	for (int i = 0; i < library_text_count; i++) {
		if (src == &library_text_table[i].source) {
			return true;
		}
	}
	return false;
}

/* The value of a name: the function that a text defines. */
static bool
function_value(struct call *c, struct pval *out)
{
	for (int i = 0; i < library_text_count; i++) {
		struct pval *found = library_text_table[i].in & c->row->in
					     ? eval_scope_find(c->ev,
							       scope_of(c->ev,
									i),
							       c->row->name)
					     : NULL;

		if (found) {
			*out = *found;
			return true;
		}
	}
	return false;
}

static const struct name_row *
find(struct eval *ev, uint64_t in, enum pv_kind of, const char *name)
{
	(void)of;
	if (name[0] == '_' && !library_is_text(ev->src)) {
		return NULL;
	}
	for (int i = 0; i < library_text_count; i++) {
		const struct scope *s = in & library_text_table[i].in
						? scope_of(ev, i)
						: NULL;

		for (int k = 0; s && k < s->names.n; k++) {
			const struct scope_entry *e = &s->names.data[k];
			struct name_row row = { library_text_table[i].in,
						PV_MISSING, name, NULL,
						function_value };

			if (is_function(e) && strcmp(e->name, name) == 0) {
				return arena_copy(ev->a, &row, sizeof row);
			}
		}
	}
	return NULL;
}

static void
list_names(struct eval *ev, uint64_t in, enum pv_kind of, struct pv_names *list)
{
	(void)of;
	for (int i = 0; i < library_text_count; i++) {
		const struct scope *s = in & library_text_table[i].in
						? scope_of(ev, i)
						: NULL;

		for (int k = 0; s && k < s->names.n; k++) {
			const struct scope_entry *e = &s->names.data[k];

			if (is_function(e) && e->name[0] != '_') {
				vec_push(ev->a, list, e->name);
			}
		}
	}
}

const struct library text_library = { .find = find, .list = list_names };
