/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the text of a graph reads back as the same graph. */
#include "graph_text.h"

/* The largest total number of elements of a graph's constants up to which the
 * graph is printed with their values, and up to which it is checked at all. */
#define MAX_WITH_VALUES ((int64_t)1 << 12)
#define MAX_VERIFIED ((int64_t)1 << 20)

static int64_t
constant_elems(const struct graph *g)
{
	int64_t elems = 0;

	for (int i = 0; i < g->tensors.n && elems <= MAX_VERIFIED; i++) {
		const struct value *v = g->tensors.data[i]->value;

		elems += v && v->data ? v->elems : 0;
	}
	return elems;
}

static bool
is_readable(const struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		if (g->nodes.data[i]->match) {
			return false;
		}
	}
	return g->groups.n == 0 && constant_elems(g) <= MAX_VERIFIED;
}

static void
print(const struct graph *g, bool with_values, struct strbuf *out)
{
	if (with_values) {
		graph_print_whole(g, out);
	} else {
		graph_print(g, out);
	}
}

static const char *
first_difference(struct arena *a, const char *x, const char *y)
{
	const char *line = x;

	for (; *x && *x == *y; x++, y++) {
		line = *x == '\n' ? x + 1 : line;
	}
	return arena_strndup(a, line, strcspn(line, "\n"));
}

bool
graph_verify_text(const struct graph *g)
{
	struct diags *diags = &g->module->diags;
	struct diag_place place = { .file = g->file, .item = g->name };
	struct module *m;
	struct source src = { .name = "the printed graph" };
	struct strbuf text, again;
	const struct graph *copy;
	bool with_values, same;

	if (!is_readable(g)) {
		return true;
	}
	with_values = constant_elems(g) <= MAX_WITH_VALUES;
	m = module_new();
	strbuf_init(&text);
	strbuf_init(&again);
	print(g, with_values, &text);
	src.text = text.data;
	src.length = text.len;
	copy = graph_read(m, &src, !with_values);
	if (copy) {
		print(copy, with_values, &again);
	}
	same = copy && again.len == text.len &&
	       memcmp(again.data, text.data, text.len) == 0;
	if (!copy) {
		struct strbuf why;

		strbuf_init(&why);
		diag_format(&m->diags.list.data[0], &why);
		diag_error(diags, DIAG_VERIFY, place,
			   "the text of the graph does not read back: %s",
			   arena_strdup(&g->module->arena, why.data));
		strbuf_release(&why);
	} else if (!same) {
		diag_error(diags, DIAG_VERIFY, place,
			   "the text of the graph reads back as another: '%s'",
			   first_difference(&g->module->arena, text.data,
					    again.data));
	}
	strbuf_release(&again);
	strbuf_release(&text);
	module_free(m);
	return same;
}
