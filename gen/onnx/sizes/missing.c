/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that neither the model nor an option gives. The import uses a number of
 * its own for each and goes on, so that one message lists all of them:
 *
 * 	the model does not define these sizes: 'height', 'width'; give each …
 * 	add, for example: --dim height=256 --dim width=256 --bound boxes=256
 * 	('batch' is taken as 1; for others: --dim batch=1..8)
 *
 * A missing bound is found only when inference needs it: the import is then
 * repeated with this bound added. */
#include "import_inputs.h"
#include "process.h"
#include "sizes.h"

bool
missing_add(struct importer *imp, enum missing_kind kind, const char *name,
	    const char *what, int size)
{
	struct arena *a = &imp->m->arena;
	struct text_map *names = &imp->missing->names[kind];
	struct missing_size one = {
		.kind = kind,
		.name = arena_strdup(a, name),
		.what = what ? arena_strdup(a, what) : NULL,
		.size = size,
	};

	if (!names->arena) {
		text_map_init(names, a);
	}
	if (!text_map_add(names, one.name, imp->missing->n)) {
		return false;
	}
	vec_push(a, imp->missing, one);
	return true;
}

void
missing_note_batch(struct importer *imp, const char *name)
{
	missing_list *list = imp->missing;

	for (int i = 0; i < list->batches.n; i++) {
		if (strcmp(list->batches.data[i], name) == 0) {
			return;
		}
	}
	vec_push(&imp->m->arena, &list->batches,
		 (const char *)arena_strdup(&imp->m->arena, name));
}

static int
count(const missing_list *list, enum missing_kind kind)
{
	int n = 0;

	for (int i = 0; i < list->n; i++) {
		n += list->data[i].kind == kind;
	}
	return n;
}

void
missing_options(struct arena *a, const missing_list *list,
		const struct import_options *given, struct import_options *out)
{
	int n = given->n_bounds, total = n + count(list, MISSING_BOUND);
	struct size_bound *bounds = arena_array(a, struct size_bound,
						total + 1);
	static const int64_t least = 0, most = MISSING_SIZE;

	if (n > 0) {
		memcpy(bounds, given->bounds, sizeof *bounds * (size_t)n);
	}
	for (int i = 0; i < list->n; i++) {
		if (list->data[i].kind == MISSING_BOUND) {
			bounds[n++] = (struct size_bound){
				.name = list->data[i].name,
				.n = 1,
				.min = &least,
				.max = &most,
			};
		}
	}
	*out = *given;
	out->bounds = bounds;
	out->n_bounds = n;
}

/* -- the message -- */

/* The missing sizes of one kind in words: "'a', 'b' (dimension 2 of input
 * 'x')". */
static const char *
names_of(struct arena *a, const missing_list *list, enum missing_kind kind)
{
	const char *text = "";
	int shown = 0;

	for (int i = 0; i < list->n; i++) {
		const struct missing_size *m = &list->data[i];

		if (m->kind != kind) {
			continue;
		}
		if (shown == 20) {
			return arena_printf(a, "%s, …", text);
		}
		text = arena_printf(a, "%s%s%s%s%s%s", text,
				    shown++ > 0 ? ", " : "",
				    import_quote(a, m->name),
				    m->what ? " (" : "", m->what ? m->what : "",
				    m->what ? ")" : "");
	}
	return text;
}

/* Does the name of the size contain a word that stands for an axis whose length
 * often differs from run to run? */
static bool
often_varies(const struct missing_size *m)
{
	static const char *const words[] = { "frame", "time",  "seq",   "len",
					     "step",  "token", "sample" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (m->kind == MISSING_DIM &&
		    strstr(m->name, words[i]) != NULL) {
			return true;
		}
	}
	return false;
}

/* The options that would give the missing sizes: "--dim a=256 --bound 'b
 * c=256'". ranges: "a=1..256" where a size often varies. */
static const char *
options_of(struct arena *a, const missing_list *list, bool ranges)
{
	const char *text = "";

	for (int i = 0; i < list->n && i < 40; i++) {
		const struct missing_size *m = &list->data[i];
		bool varies = often_varies(m);
		const char *word =
			arena_printf(a,
				     m->kind == MISSING_SHAPE ? "%s:1,%d"
				     : ranges && varies       ? "%s=1..%d"
							      : "%s=%d",
				     m->name, varies ? MISSING_SIZE : m->size);

		text = arena_printf(a, "%s %s %s", text,
				    m->kind == MISSING_DIM ? "--dim"
				    : m->kind == MISSING_BOUND
					    ? "--bound"
					    : "--input-shape",
				    command_quoted(a, word));
	}
	return text;
}

/* A text about the sizes that the import assumed to be 1: " ('batch' is taken
 * as 1; for others: --dim batch=1..8)"; "" if there is no such size. */
static const char *
batches_of(struct arena *a, const missing_list *list)
{
	const char *names = "", *options = "";
	int n = list->batches.n;

	for (int i = 0; i < n; i++) {
		const char *name = list->batches.data[i];

		names = arena_printf(a, "%s%s%s", names, i > 0 ? ", " : "",
				     import_quote(a, name));
		options = arena_printf(a, "%s --dim %s", options,
				       command_quoted(a,
						      arena_printf(a, "%s=1..8",
								   name)));
	}
	return n == 0 ? ""
		      : arena_printf(a, " (%s %s taken as 1; for others:%s)",
				     names, n == 1 ? "is" : "are", options);
}

static bool
report_bound(struct module *m, const char *path, const struct missing_size *one)
{
	return diag_error(&m->diags, DIAG_UNKNOWN_SHAPE,
			  (struct diag_place){ .file = path,
					       .item = one->what },
			  "the size of its result depends on %s, which is "
			  "known only when the model runs; make it constant "
			  "with --const-input, or give its largest value with "
			  "--bound %s",
			  import_quote(&m->arena, one->name),
			  command_quoted(&m->arena,
					 arena_printf(&m->arena, "%s=N",
						      one->name)));
}

bool
missing_report(struct module *m, const char *path, const missing_list *list,
	       int first)
{
	struct arena *a = &m->arena;
	int dims = count(list, MISSING_DIM),
	    shapes = count(list, MISSING_SHAPE);
	int bounds = count(list, MISSING_BOUND);
	const char *text = "", *example = options_of(a, list, false);
	const char *range = options_of(a, list, true);

	if (strcmp(range, example) != 0) {
		example = arena_printf(a, "%s  or %s", range, example);
	}
	diags_drop_errors(&m->diags, first, DIAG_UNSUPPORTED_OPERATOR);
	if (list->n == 1 && bounds == 1) {
		return report_bound(m, path, &list->data[0]);
	}
	if (dims > 0) {
		text = arena_printf(a,
				    "the model does not define these sizes: "
				    "%s; give each with --dim NAME=VALUE or "
				    "--dim NAME=1..MAX, or the whole shape "
				    "with --input-shape NAME:SIZE,SIZE,…; ",
				    names_of(a, list, MISSING_DIM));
	}
	if (shapes > 0) {
		text = arena_printf(a,
				    "%sthe model does not define the shape of "
				    "%s; give it with --input-shape "
				    "NAME:SIZE,SIZE,…; ",
				    text, names_of(a, list, MISSING_SHAPE));
	}
	if (bounds > 0) {
		text = arena_printf(a,
				    "%ssizes of results depend on %s, known "
				    "only when the model runs; make %s "
				    "constant with --const-input, or give the "
				    "largest value with --bound NAME=MAX; ",
				    text, names_of(a, list, MISSING_BOUND),
				    bounds == 1 ? "it" : "them");
	}
	return diag_error(&m->diags, DIAG_UNKNOWN_SHAPE,
			  (struct diag_place){ .file = path },
			  "%sfor example:%s%s", text, example,
			  batches_of(a, list));
}
