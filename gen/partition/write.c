/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a partition as text, with a line for each tensor, node and region: a
 * small change of the model then makes a small change of the file. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <unistd.h>

#include "output_file.h"
#include "size_text.h"
#include "writing.h"

/* -- members of the file -- */

static bool
member(struct writing *w, const char *key, const char *text)
{
	strbuf_printf(w->out, ",\n\t\"%s\": ", key);
	return write_text(w, text);
}

static bool
names(struct writing *w, const char *key, struct tensor *const *list, int n)
{
	strbuf_printf(w->out, ",\n\t\"%s\": [", key);
	for (int i = 0; i < n; i++) {
		strbuf_puts(w->out, i > 0 ? ", " : "");
		if (!write_text(w, list[i]->name)) {
			return false;
		}
	}
	strbuf_putc(w->out, ']');
	return true;
}

static void
line(struct writing *w, bool first)
{
	strbuf_puts(w->out, first ? "\n\t\t" : ",\n\t\t");
}

static void
end_list(struct writing *w, int n, char bracket)
{
	strbuf_printf(w->out, n > 0 ? "\n\t%c" : "%c", bracket);
}

/* Writes the settings whose values are not 0, the default. False after a
 * diagnostic. */
static bool
write_settings(struct writing *w)
{
	int n, written = 0;
	const struct setting_row *rows = settings_rows(&n);

	for (int i = 0; i < n; i++) {
		int value = settings_get(w->g->settings, i);

		if (value == 0) {
			continue;
		}
		strbuf_printf(w->out, "%s\"%s\": ",
			      written++ > 0 ? ", " : ",\n\t\"settings\": {",
			      rows[i].name);
		if (rows[i].word != NULL) {
			json_put_text(w->out, rows[i].word(value));
		} else if (rows[i].most == 1) {
			strbuf_puts(w->out, "true");
		} else {
			strbuf_printf(w->out, "%d", value);
		}
	}
	strbuf_puts(w->out, written > 0 ? "}" : "");
	return true;
}

static bool
write_dims(struct writing *w)
{
	const struct graph *g = w->g;

	strbuf_puts(w->out, ",\n\t\"dims\": [");
	for (int i = 0; i < g->dims.n; i++) {
		const struct var *v = g->dims.data[i];

		line(w, i == 0);
		strbuf_puts(w->out, "{\"name\": ");
		if (!write_text(w, v->name)) {
			return false;
		}
		if (strcmp(v->name, w->symbols[i]) != 0) {
			write_key(w, "symbol");
			json_put_text(w->out, w->symbols[i]);
		}
		write_key(w, "min");
		json_put_int(w->out, v->min);
		write_key(w, "max");
		json_put_int(w->out, v->max);
		strbuf_putc(w->out, '}');
	}
	end_list(w, g->dims.n, ']');
	return true;
}

static bool
write_texts(struct writing *w, const char *key, const char *const *texts, int n)
{
	strbuf_printf(w->out, ",\n\t\"%s\": [", key);
	for (int i = 0; i < n; i++) {
		line(w, i == 0);
		if (!write_text(w, texts[i])) {
			return false;
		}
	}
	end_list(w, n, ']');
	return true;
}

/* Must the partition contain the tensor: is it an input or output of the graph
 * or of a node? */
static bool
is_needed(const struct tensor *t)
{
	return t->is_input || t->is_output || t->producer || t->uses.n > 0;
}

static bool
write_states(struct writing *w)
{
	const struct graph *g = w->g;

	for (int i = 0; i < g->states.n; i++) {
		const struct graph_state *s = &g->states.data[i];

		strbuf_puts(w->out, i == 0 ? ",\n\t\"states\": [" : ", ");
		strbuf_puts(w->out, "{\"output\": ");
		if (!write_text(w, g->outputs.data[s->output]->name)) {
			return false;
		}
		write_key(w, "input");
		if (!write_text(w, g->inputs.data[s->input]->name)) {
			return false;
		}
		strbuf_putc(w->out, '}');
	}
	strbuf_puts(w->out, g->states.n > 0 ? "]" : "");
	return true;
}

static bool
write_all_tensors(struct writing *w)
{
	struct graph *g = w->g;
	int n = 0;

	strbuf_puts(w->out, ",\n\t\"tensors\": {");
	for (int i = 0; i < g->tensors.n; i++) {
		if (is_needed(g->tensors.data[i])) {
			line(w, n++ == 0);
			if (!write_tensor(w, g->tensors.data[i])) {
				return false;
			}
		}
	}
	end_list(w, n, '}');
	return true;
}

static bool
write_all_nodes(struct writing *w)
{
	struct graph *g = w->g;

	strbuf_puts(w->out, ",\n\t\"nodes\": [");
	for (int i = 0; i < g->nodes.n; i++) {
		line(w, i == 0);
		if (!write_node(w, g->nodes.data[i])) {
			return false;
		}
	}
	end_list(w, g->nodes.n, ']');
	return true;
}

static bool
write_origins(struct writing *w)
{
	struct graph *g = w->g;

	strbuf_puts(w->out, ",\n\t\"origins\": [");
	for (int i = 0; i < g->origins.n; i++) {
		line(w, i == 0);
		if (!write_origin(w, &g->origins.data[i], i)) {
			return false;
		}
	}
	end_list(w, g->origins.n, ']');
	return true;
}

/* The name of the model's file without its folder. */
static const char *
model_of(const struct graph *g)
{
	const char *file = g->file != NULL ? g->file : "";
	const char *slash = strrchr(file, '/');

	return g->model != NULL ? g->model : slash != NULL ? slash + 1 : file;
}

bool
partition_text(struct graph *g, const struct partition_facts *facts,
	       const char *weights, FILE *file, struct strbuf *out)
{
	struct writing w = { .g = g, .m = g->module, .out = out, .file = file };
	/* NULL for a final partition; a name for one that is only a stage,
	 * which passes of backends read */
	const char *stage = g->n_backends == 0 || g->is_partitioned ? NULL
			    : g->regions.n > 0                      ? "merged"
					       : "annotated";
	bool ok;

	if (g->run_sizes.n > 0) {
		return diag_error(
			&g->module->diags, DIAG_UNSUPPORTED,
			(struct diag_place){ .file = g->file },
			"a partition has no sizes that are known only "
			"when the model runs; compile the model "
			"itself");
	}
	w.symbols = size_symbols(g);
	w.origins = origins_by_name(g);
	strbuf_putc(out, '{');
	strbuf_puts(out, "\n\t\"tirc_partition\": 1");
	ok = member(&w, "name", g->name) && member(&w, "model", model_of(g)) &&
	     (!g->digest || member(&w, "digest", g->digest)) &&
	     (!facts->target || member(&w, "target", facts->target)) &&
	     write_settings(&w) &&
	     (stage == NULL || member(&w, "stage", stage)) &&
	     member(&w, "weights", weights) && write_dims(&w) &&
	     write_texts(&w, "assumptions", g->assumptions.data,
			 g->assumptions.n) &&
	     (g->import_options.n == 0 ||
	      write_texts(&w, "options", g->import_options.data,
			  g->import_options.n)) &&
	     names(&w, "inputs", g->inputs.data, g->inputs.n) &&
	     names(&w, "outputs", g->outputs.data, g->outputs.n) &&
	     write_states(&w) && write_all_tensors(&w) && write_all_nodes(&w) &&
	     write_regions(&w) && write_origins(&w);
	strbuf_puts(out, "\n}\n");
	return ok && !w.failed;
}

/* -- files -- */

static bool
cannot(struct graph *g, const char *path)
{
	return diag_error(&g->module->diags, DIAG_FILE_UNWRITABLE,
			  (struct diag_place){ .file = path },
			  "cannot be written: %s", strerror(errno));
}

/* The path of the constants' file: "dir/p.weights" for "dir/p.json". */
static const char *
weights_path(struct arena *a, const char *path)
{
	size_t n = strlen(path);

	if (n > 5 && strcmp(path + n - 5, ".json") == 0) {
		n -= 5;
	}
	return arena_printf(a, "%.*s.weights", (int)n, path);
}

static bool
write_both(struct graph *g, const struct partition_facts *facts,
	   struct output *json, struct output *blob, const char *name)
{
	int errors = g->module->diags.n_errors;
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	ok = partition_text(g, facts, name, blob->file, &text);
	if (!ok && g->module->diags.n_errors == errors) {
		cannot(g, blob->path);
	}
	if (ok && fwrite(text.data, 1, text.len, json->file) != text.len) {
		ok = cannot(g, json->path);
	}
	strbuf_release(&text);
	return ok;
}

/* May the files be replaced? Files of the user may not. The file of constants
 * has no sign that tirc wrote it: if the JSON beside it is from tirc, the
 * constants are, too. */
static bool
may_write(struct graph *g, const char *path, const char *blob)
{
	if (!output_may_replace(path)) {
		return output_refuse(g->module, path);
	}
	return access(path, F_OK) == 0 || output_may_replace(blob) ||
	       output_refuse(g->module, blob);
}

bool
partition_write(struct graph *g, const struct partition_facts *facts,
		const char *path, bool force)
{
	struct arena *a = &g->module->arena;
	const char *blob = weights_path(a, path);
	const char *slash = strrchr(blob, '/');
	struct output json, weights;
	bool ok;

	if (g->steps.n > 0) {
		return diag_error(&g->module->diags, DIAG_UNSUPPORTED,
				  (struct diag_place){ .file = g->file },
				  "a partition does not support sizes that are "
				  "multiples (--dim NAME=MIN..MAX:MULTIPLE); "
				  "leave the multiple out");
	}
	if (!force && !may_write(g, path, blob)) {
		return false;
	}
	if (!output_open(&weights, a, blob)) {
		return cannot(g, blob);
	}
	if (!output_open(&json, a, path)) {
		cannot(g, path);
		output_close(&weights, false);
		return false;
	}
	ok = write_both(g, facts, &json, &weights,
			slash != NULL ? slash + 1 : blob);
	if (!output_close(&weights, ok) && ok) {
		ok = cannot(g, blob);
	}
	if (!output_close(&json, ok) && ok) {
		ok = cannot(g, path);
	}
	return ok;
}
