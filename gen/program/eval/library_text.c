/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the texts of libraries, and looks up what they define
 * (library_text.h). */
#include "library_text.h"

#include "library.h"

/* For each row of library_text_table: the scope with the names that the row's text
 * defines; NULL before the first use of the text. */
struct library_scopes {
	struct scope **data;
};

/* Evaluates the statements of a text in the scope s, in which the text's
 * functions can call each other. */
static void
evaluate(struct eval *ev, const struct library_text *text, struct scope *s)
{
	const struct source *src = ev->src;
	const struct py_node *tree = py_parse(ev->m, &text->source);
	struct scope *frame = ev->frame;
	struct pval unused;

	if (!tree) {
		return;
	}
	ev->src = ev->typing.src = &text->source;
	ev->frame = NULL;
	eval_suite(ev, s, tree, &unused);
	ev->src = ev->typing.src = src;
	ev->frame = frame;
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
		/* a text that is evaluated may look for names of its own
		 * module */
		ev->library_scopes->data[i] = arena_new(ev->a, struct scope);
		evaluate(ev, &library_text_table[i],
			 ev->library_scopes->data[i]);
	}
	return ev->library_scopes->data[i];
}

/* Is the name a function, a class or an object that the text itself defines, not
 * a name that it imports? */
static bool
is_defined(const struct scope_entry *e)
{
	return e->value.kind == PV_CLOSURE || e->value.kind == PV_USER_CLASS ||
	       e->value.kind == PV_OBJECT;
}

/* The names of text i; NULL if the text is of none of the modules. */
static const struct scope *
scope_for(struct eval *ev, int i, uint64_t in)
{
	return names_share(in, library_text_table[i].in) ? scope_of(ev, i)
							 : NULL;
}

/* What a text of one of the modules defines under the name; NULL if none
 * defines it. */
static const struct scope_entry *
find_entry(struct eval *ev, uint64_t in, const char *name)
{
	for (int i = 0; i < library_text_count; i++) {
		const struct scope *s = scope_for(ev, i, in);

		for (int k = 0; s && k < s->names.n; k++) {
			const struct scope_entry *e = &s->names.data[k];

			if (is_defined(e) && strcmp(e->name, name) == 0) {
				return e;
			}
		}
	}
	return NULL;
}

/* The value of a name: what a text defines. */
static bool
text_value(struct call *c, struct pval *out)
{
	*out = find_entry(c->ev, c->row->in, c->row->name)->value;
	return true;
}

bool
library_text_apply(struct eval *ev, struct py_span at, uint64_t in,
		   const char *name, const struct pval *args, int n,
		   struct pval *out)
{
	return eval_apply(ev, at, &find_entry(ev, in, name)->value, args, n,
			  out);
}

static const struct name_row *
find(struct eval *ev, uint64_t in, enum pv_kind of, const char *name)
{
	struct name_row row = { .fn = text_value };

	(void)of;
	if (!in || !find_entry(ev, in, name)) {
		return NULL;
	}
	row.in = in;
	row.name = name;
	return arena_copy(ev->a, &row, sizeof row);
}

static void
list_names(struct eval *ev, uint64_t in, enum pv_kind of, struct pv_names *list)
{
	(void)of;
	for (int i = 0; i < library_text_count; i++) {
		const struct scope *s = scope_for(ev, i, in);

		for (int k = 0; s && k < s->names.n; k++) {
			const struct scope_entry *e = &s->names.data[k];

			if (is_defined(e) && e->name[0] != '_') {
				vec_push(ev->a, list, e->name);
			}
		}
	}
}

const struct library text_library = { .find = find, .list = list_names };
