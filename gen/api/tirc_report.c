/* SPDX-License-Identifier: Apache-2.0 */
/* The report about a compiled model, whose options and files it passes to
 * gen/report/; and the difference between two folders that tirc wrote. */
#include <errno.h>
#include <string.h>

#include "difference.h"
#include "output_file.h"
#include "quantization.h"
#include "report.h"
#include "sha256.h"
#include "source_load.h"
#include "tirc_context.h"
#include "version.h"

struct option_rows {
	struct report_option *rows;
	int n;
};

static void
add_row(struct option_rows *out, const char *name, const char *value,
	const char *what)
{
	out->rows[out->n++] = (struct report_option){ name, value, what };
}

/* The value of the option, or its default; NULL for an empty list. */
static const char *
value_text(struct tirc *t, const struct shaping_option *o)
{
	const char *text = o->n_values > 0 ? o->values[0] : o->otherwise;

	if (strcmp(o->name, "--requant") == 0 &&
	    graph_rounding(t->graph) == NULL) {
		return "onnx (the model has no quantized result)";
	}
	for (int i = 1; i < o->n_values; i++) {
		text = arena_printf(&t->m->arena, "%s, %s", text, o->values[i]);
	}
	return text;
}

/* Adds the options that shape the source, except lists without items, and what
 * became of the options --weights and --name. */
static void
add_options(struct tirc *t, struct option_rows *out)
{
	static const char *const forms[] = {
		"none", "c", "incbin", "file", "section",
	};

	out->rows = arena_array(&t->m->arena, struct report_option,
				t->n_shaping + 2);
	for (int i = 0; i < t->n_shaping; i++) {
		const char *value = value_text(t, &t->shaping[i]);

		if (value != NULL) {
			add_row(out, t->shaping[i].name, value,
				t->shaping[i].what);
		}
	}
	add_row(out, "--weights", forms[t->package.weights],
		"the form of the weights");
	add_row(out, "--name", package_model(&t->package),
		"the beginning of all names");
}

/* The name of the file without its folder: a report is the same wherever the
 * model lies. */
static const char *
file_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool
context_read_files(struct tirc *t, struct report_file *files, int *n)
{
	struct source source;
	struct sha256 s;

	if (t->graph->file != NULL && t->graph->model != NULL) {
		if (!source_load(t->m, t->graph->file, &source)) {
			return false;
		}
		sha256_init(&s);
		sha256_update(&s, source.text, source.length);
		files[(*n)++] = (struct report_file){
			file_part(t->graph->file),
			sha256_whole(&s, &t->m->arena),
		};
	}
	for (int i = 0; t->file != NULL && i < onnx_file_count(t->file); i++) {
		files[(*n)++] = (struct report_file){
			file_part(onnx_file_path(t->file, i)),
			onnx_file_sha256(t->file, i, &t->m->arena),
		};
	}
	return true;
}

static const char *
text_of(struct tirc *t, bool markdown)
{
	struct option_rows options = { .n = 0 };
	int n = t->file != NULL ? onnx_file_count(t->file) : 0;
	struct report_file *files = arena_array(&t->m->arena,
						struct report_file, n + 1);
	struct report_request request = {
		.program = &t->program,
		.package = &t->package,
		.version = version_text(),
		.form = markdown ? REPORT_MARKDOWN : REPORT_HTML,
		.files = files,
	};

	add_options(t, &options);
	request.options = options.rows;
	request.n_options = options.n;
	return context_read_files(t, files, &request.n_files)
		       ? report_text(&request)
		       : NULL;
}

const char *
tirc_report(struct tirc *t, bool markdown)
{
	if (!t->compiled) {
		return NULL;
	}
	context_progress(t, "report", 4, 4);
	return text_of(t, markdown);
}

bool
tirc_write_report(struct tirc *t, const char *path, bool markdown)
{
	const char *text = tirc_report(t, markdown);
	struct output o;
	bool failed;

	if (text == NULL ||
	    !quota_check_output(t->m, (struct diag_place){ .file = path },
				"the report", (int64_t)strlen(text))) {
		return false;
	}
	if (!t->options.force && !output_may_replace(path)) {
		return output_refuse(t->m, path);
	}
	if (!output_open(&o, &t->m->arena, path)) {
		return diag_error(&t->m->diags, DIAG_FILE_UNWRITABLE,
				  (struct diag_place){ .file = path },
				  "cannot make this file: %s", strerror(errno));
	}
	failed = fputs(text, o.file) < 0;
	if (!output_close(&o, !failed) || failed) {
		return diag_error(&t->m->diags, DIAG_FILE_UNWRITABLE,
				  (struct diag_place){ .file = path },
				  "cannot write this file: %s",
				  strerror(errno));
	}
	return true;
}

const char *
tirc_difference(struct tirc *t, const char *old_folder, const char *new_folder,
		bool json, bool *differ)
{
	struct difference d;
	struct strbuf text;
	const char *copy;

	if (!difference_of(t->m, old_folder, new_folder, &d)) {
		return NULL;
	}
	*differ = d.is_any;
	strbuf_init(&text);
	if (json) {
		difference_put_json(&d, &text);
	} else {
		difference_put_text(&d, &text);
	}
	copy = arena_strndup(&t->m->arena, text.data, text.len);
	strbuf_release(&text);
	return copy;
}
