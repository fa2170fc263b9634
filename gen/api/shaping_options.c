/* SPDX-License-Identifier: Apache-2.0 */
/* The options that shape the source: their names, values and defaults. The first comment
 * of the source, NAME.json and the reports take them from this table, so that a reader or
 * tirc verify can write the source again. The value of a word is that of the graph's
 * setting, which a partition keeps, too. */
#include <stddef.h>
#include <string.h>

#include "backend.h"
#include "graph_region.h"
#include "quantization.h"
#include "tirc_context.h"

/* The smallest block of channels (target.block_elems) with which Winograd's
 * algorithm is used. */
enum { LEAST_BLOCK = 8 };

bool
context_takes_direct_alone(const struct target *target)
{
	return target->block_elems < LEAST_BLOCK ||
	       target->max_threads > 0 || /* it is a device */
	       strcmp(target->fp, "strict") == 0;
}

enum conv_algorithm
context_default_conv(const struct target *target)
{
	return target->core_gflops <= 1 || target->optimize_memory ||
			       context_takes_direct_alone(target)
		       ? CONV_DIRECT
		       : CONV_AUTO;
}

/* -- options whose value is a word -- */

static const char *
conv_text(enum conv_algorithm conv)
{
	int n;

	return settings_rows(&n)[settings_find("conv")].word((int)conv);
}

static const char *
optimize_of(struct tirc *t)
{
	return t->target->goal;
}

static const char *
fp_of(struct tirc *t)
{
	return t->target->fp;
}

static const char *
requant_of(struct tirc *t)
{
	return graph_rounding(t->graph);
}

static const char *
precision_of(struct tirc *t)
{
	enum dtype_kind kind = t->graph->settings->weight_type;

	return kind != DT_VOID ? dtype_short(dtype_of(kind)) : NULL;
}

static const char *
conv_of(struct tirc *t)
{
	return conv_text(t->graph->settings->conv);
}

static const char *
form_of(struct tirc *t)
{
	return t->options.form;
}

static const char *
workspace_of(struct tirc *t)
{
	const struct settings *s = t->graph->settings;

	return s->inputs_in_workspace && s->outputs_in_workspace ? "both"
	       : s->inputs_in_workspace                          ? "inputs"
	       : s->outputs_in_workspace                         ? "outputs"
								 : NULL;
}

/* The value in the text of an option of the import, "--dim n=4"; NULL if the text is of
 * another option. */
static const char *
imported_value(const char *text, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(text, name, n) == 0 && text[n] == ' ' ? text + n + 1
							     : NULL;
}

static const char *
seed_of(struct tirc *t)
{
	const struct graph *g = t->graph;
	const char *value = NULL;

	for (int i = 0; i < g->import_options.n && value == NULL; i++) {
		value = imported_value(g->import_options.data[i], "--seed");
	}
	return value;
}

static const char *
section_of(struct tirc *t)
{
	return t->options.section;
}

enum {
	SAYS = SHAPING_IN_COMMENT,
	STATES = SHAPING_IN_METADATA,
	BOTH = SAYS | STATES,
	/* the option belongs to the import of a model: graph.import_options */
	IMPORT = 4
};

static const struct word_row {
	const char *name, *what;
	const char *otherwise; /* the default; NULL: that of the target */
	unsigned places;
	const char *(*value)(struct tirc *t); /* NULL: the default */
} words[] = {
	{ "--optimize", "the goal", "speed", SAYS, optimize_of },
	{ "--fp", "which changes of float arithmetic are allowed", "default",
	  SAYS, fp_of },
	{ "--requant", "how quantized results are rounded", "onnx", SAYS,
	  requant_of },
	{ "--precision", "the type of stored weights", "f32", BOTH,
	  precision_of },
	{ "--conv", "the algorithm of 3x3 convolutions", NULL, BOTH, conv_of },
	{ "--form", "functions, or a table", "aot", BOTH, form_of },
	{ "--in-workspace", "what the workspace has besides", "none", BOTH,
	  workspace_of },
	{ "--seed", "of random operators", "none", BOTH, seed_of },
	{ "--section", "the section of the weights", ".rodata", STATES,
	  section_of },
};

/* -- options that are lists -- */

/* How the source shows an item of a list: as given, or without the path of the file
 * that it names. */
enum item_form {
	ITEM_TEXT,
	ITEM_FILE,      /* "dir/f.onnx": "f.onnx" */
	ITEM_FILE_OF,   /* "conv1=dir/f.py": "conv1=f.py" */
	ITEM_FILE_VALUE /* "x=@dir/f.npy": "x=@f.npy"; "x=1,2": "x=1,2" */
};

static const struct list_row {
	const char *name, *what;
	size_t list, count; /* offsets in struct tirc_options */
	unsigned places;
	enum item_form form;
} lists[] = {
#define LIST(name, member, places, form, what)                                 \
	{                                                                      \
		name, what, offsetof(struct tirc_options, member),             \
			offsetof(struct tirc_options, n_##member), places,     \
			form                                                   \
	}
	LIST("--input-shape", input_shapes, STATES | IMPORT, ITEM_TEXT,
	     "shapes of inputs"),
	LIST("--dim", dims, STATES | IMPORT, ITEM_TEXT, "symbolic dimensions"),
	LIST("--bound", bounds, STATES | IMPORT, ITEM_TEXT,
	     "bounds of sizes that a run computes"),
	LIST("--sequence", sequences, STATES | IMPORT, ITEM_TEXT,
	     "elements of inputs that are sequences"),
	LIST("--string-length", string_lengths, STATES | IMPORT, ITEM_TEXT,
	     "bytes of strings"),
	LIST("--const-input", const_inputs, STATES | IMPORT, ITEM_FILE_VALUE,
	     "inputs that are constants"),
	LIST("--state", states, STATES | IMPORT, ITEM_TEXT,
	     "outputs that are inputs of the next run"),
	LIST("--functions", functions, BOTH | IMPORT, ITEM_FILE,
	     "ONNX functions for operators"),
	LIST("--schedule-for", schedule_for, STATES, ITEM_FILE_OF,
	     "schedules by hand"),
	LIST("--records", records, STATES, ITEM_FILE,
	     "records of measured schedules"),
	LIST("--disable-pass", disable_passes, BOTH, ITEM_TEXT,
	     "passes that were left out"),
	LIST("--add-pass", add_passes, 0, ITEM_TEXT, "passes of the user"),
#undef LIST
};

enum {
	N_WORDS = sizeof words / sizeof *words,
	N_LISTS = sizeof lists / sizeof *lists
};

/* The text without the folders of the path that begins at `path` in it. */
static const char *
without_folders(struct arena *a, const char *text, const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return slash == NULL ? text
			     : arena_printf(a, "%.*s%s", (int)(path - text),
					    text, slash + 1);
}

static const char *
item_text(struct arena *a, enum item_form form, const char *text)
{
	const char *at;

	switch (form) {
	case ITEM_TEXT:
		return text;
	case ITEM_FILE:
		return without_folders(a, text, text);
	case ITEM_FILE_OF:
		at = strchr(text, '=');
		return without_folders(a, text, at != NULL ? at + 1 : NULL);
	case ITEM_FILE_VALUE:
		at = strchr(text, '=');
		return without_folders(a, text,
				       at != NULL && at[1] == '@' ? at + 2
								  : NULL);
	}
	return text;
}

/* A backend as --byoc names it, with the options that differ from their defaults;
 * the folder of a backend of the user is not shown. */
static const char *
backend_text(struct arena *a, const struct backend *b)
{
	const char *text = arena_printf(a, "%s%s", b->name,
					b->folder != NULL ? "=DIR" : "");
	const char *before = ":";

	for (int i = 0; i < b->n_options; i++) {
		const struct backend_option *o = &b->options[i];

		if (strcmp(o->value, o->otherwise) != 0) {
			text = arena_printf(a, "%s%s%s=%s", text, before,
					    o->name, o->value);
			before = ",";
		}
	}
	return text;
}

/* -- all options -- */

static void
add_words(struct tirc *t, struct shaping_option *out)
{
	for (int i = 0; i < N_WORDS; i++) {
		const struct word_row *row = &words[i];
		const char *value = row->value(t);
		const char **list = arena_new(&t->m->arena, const char *);

		out[i] = (struct shaping_option){
			.name = row->name,
			.what = row->what,
			.places = row->places,
			.otherwise = row->otherwise != NULL
					     ? row->otherwise
					     : conv_text(context_default_conv(
						       t->target)),
			.values = list,
		};
		if (value != NULL && strcmp(value, out[i].otherwise) != 0) {
			*list = value;
			out[i].n_values = 1;
		}
	}
}

/* The values of the option in t->options. *n: their number. */
static const char *const *
given_values(const struct tirc *t, const struct list_row *row, int *n)
{
	const char *at = (const char *)&t->options;
	const char *const *given = NULL;

	memcpy(&given, at + row->list, sizeof given);
	memcpy(n, at + row->count, sizeof *n);
	return given;
}

void
context_note_options(struct tirc *t, const char *option)
{
	struct arena *a = &t->m->arena;

	for (int i = 0; i < N_LISTS; i++) {
		const char *name = lists[i].name;
		const char *const *given;
		int n;

		if ((lists[i].places & IMPORT) == 0 ||
		    (option != NULL && strcmp(option, name) != 0)) {
			continue;
		}
		given = given_values(t, &lists[i], &n);
		for (int k = 0; k < n; k++) {
			vec_push(a, &t->graph->import_options,
				 arena_printf(a, "%s %s", name,
					      item_text(a, lists[i].form,
							given[k])));
		}
	}
}

static struct shaping_option
list_option(struct tirc *t, const struct list_row *row)
{
	struct arena *a = &t->m->arena;
	VEC(const char *) values = { 0 };
	const char *const *given;
	int n;

	if ((row->places & IMPORT) != 0) {
		given = t->graph->import_options.data;
		n = t->graph->import_options.n;
	} else {
		given = given_values(t, row, &n);
	}
	for (int i = 0; i < n; i++) {
		const char *value = (row->places & IMPORT) != 0
					    ? imported_value(given[i],
							     row->name)
					    : item_text(a, row->form, given[i]);

		if (value != NULL) {
			vec_push(a, &values, value);
		}
	}
	return (struct shaping_option){
		.name = row->name,
		.what = row->what,
		.places = row->places,
		.values = values.data,
		.n_values = values.n,
		.is_list = true,
	};
}

static bool
has_region(const struct graph *g, const struct backend *b)
{
	for (int i = 0; i < g->regions.n; i++) {
		if (g->regions.data[i]->backend == b) {
			return true;
		}
	}
	return false;
}

/* The backends that compute a region, in the order of preference. */

static struct shaping_option
backends_option(struct tirc *t)
{
	const struct graph *g = t->graph;
	const char **list = arena_array(&t->m->arena, const char *,
					g->n_backends + 1);
	int n = 0;

	for (int i = 0; i < g->n_backends; i++) {
		if (has_region(g, g->backends[i])) {
			list[n++] = backend_text(&t->m->arena, g->backends[i]);
		}
	}
	return (struct shaping_option){
		.name = "--byoc",
		.what = "backends of parts of the model",
		.places = BOTH,
		.values = list,
		.n_values = n,
		.is_list = true,
	};
}

const struct shaping_option *
context_shaping(struct tirc *t, int *n)
{
	struct shaping_option *out = arena_array(&t->m->arena,
						 struct shaping_option,
						 N_WORDS + N_LISTS + 1);

	add_words(t, out);
	out[N_WORDS] = backends_option(t);
	for (int i = 0; i < N_LISTS; i++) {
		out[N_WORDS + 1 + i] = list_option(t, &lists[i]);
	}
	*n = N_WORDS + N_LISTS + 1;
	return out;
}
