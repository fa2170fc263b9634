/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the string attributes of nodes against the values in the table
 * attr_values.def. */
#include <strings.h>

#include "ops.h"

static const struct row {
	const char *ops, *attribute, *values;
	bool is_needed, any_case;
} rows[] = {
#define VALUES(ops, attribute, values) { ops, attribute, values, false, false },
#define NEEDED(ops, attribute, values) { ops, attribute, values, true, false },
#define ANY_CASE(ops, attribute, values)                                       \
	{ ops, attribute, values, false, true },
#include "attr_values.def"
#undef VALUES
#undef NEEDED
#undef ANY_CASE
};

/* Is `word` one of the words of `list`, which are separated by '|'? */
static bool
lists(const char *list, const char *word, bool any_case)
{
	size_t n = strlen(word);

	for (;; list++) {
		size_t length = strcspn(list, "|");

		if (length == n && (any_case ? strncasecmp(list, word, n)
					     : strncmp(list, word, n)) == 0) {
			return true;
		}
		list += length;
		if (*list == '\0') {
			return false;
		}
	}
}

/* The words of a list for a message: "'a', 'b' or 'c'", without an empty word
 * at the end. */
static const char *
choices(struct arena *a, const char *list)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	while (*list != '\0') {
		size_t length = strcspn(list, "|");
		bool is_last = list[length] == '\0' || list[length + 1] == '\0';

		strbuf_printf(&s, "%s'%.*s'",
			      s.len == 0 ? ""
			      : is_last  ? " or "
					 : ", ",
			      (int)length, list);
		list += length + (list[length] != '\0');
	}
	text = arena_strdup(a, s.data);
	strbuf_release(&s);
	return text;
}

static bool
check_value(struct graph *g, const struct node *n, const struct row *row,
	    const char *value)
{
	struct module *m = g->module;

	return lists(row->values, value, row->any_case) ||
	       diag_error(&m->diags, DIAG_BAD_ATTRIBUTE, node_place(g, n),
			  "its attribute %s is '%.100s'; it must be %s",
			  row->attribute, value,
			  choices(&m->arena, row->values));
}

static bool
check_row(struct graph *g, const struct node *n, const struct row *row)
{
	const struct attr *a = node_attr(n, row->attribute);
	struct module *m = g->module;
	bool ok = true;

	if (a == NULL) {
		return !row->is_needed ||
		       diag_error(&m->diags, DIAG_BAD_ATTRIBUTE,
				  node_place(g, n),
				  "its attribute %s is missing; it must be %s",
				  row->attribute,
				  choices(&m->arena, row->values));
	}
	if (a->kind == ATTR_STRING) {
		return check_value(g, n, row, a->s);
	}
	for (int i = 0; a->kind == ATTR_STRINGS && ok && i < a->n; i++) {
		ok = check_value(g, n, row, a->strings[i]);
	}
	return ok;
}

bool
op_check_strings(struct graph *g, const struct node *n)
{
	bool ok = true;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (lists(rows[i].ops, n->op_type, false)) {
			ok = check_row(g, n, &rows[i]) && ok;
		}
	}
	return ok;
}
