/* SPDX-License-Identifier: Apache-2.0 */
/* The report about a compiled model, whose options and files it passes to
 * gen/report/; and the difference between two folders that tirc wrote. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "difference.h"
#include "output_file.h"
#include "quantization.h"
#include "report.h"
#include "sha256.h"
#include "source_load.h"
#include "tirc_context.h"
#include "version.h"

/* The options that are lists. */
static const struct {
	const char *name, *what;
	size_t list, count; /* offsets in struct tirc_options */
} lists[] = {
#define LIST(name, member, what)                                               \
	{                                                                      \
		name, what, offsetof(struct tirc_options, member),             \
			offsetof(struct tirc_options, n_##member)              \
	}
	LIST("--input-shape", input_shapes, "shapes of inputs"),
	LIST("--dim", dims, "symbolic dimensions"),
	LIST("--bound", bounds, "bounds of sizes that a run computes"),
	LIST("--sequence", sequences, "elements of inputs that are sequences"),
	LIST("--string-length", string_lengths, "bytes of strings"),
	LIST("--functions", functions, "ONNX functions for operators"),
	LIST("--const-input", const_inputs, "inputs that are constants"),
	LIST("--state", states, "outputs that are inputs of the next run"),
	LIST("--byoc", byoc, "backends of parts of the model"),
	LIST("--schedule-for", schedule_for, "schedules by hand"),
	LIST("--records", records, "records of measured schedules"),
	LIST("--disable-pass", disable_passes, "passes that were left out"),
	LIST("--add-pass", add_passes, "passes of the user"),
#undef LIST
};

enum { N_LISTS = sizeof lists / sizeof *lists, N_WORDS = 10 };

struct option_rows {
	struct report_option rows[N_LISTS + N_WORDS];
	int n;
};

static void
add_row(struct option_rows *out, const char *name, const char *value,
	const char *what)
{
	out->rows[out->n++] = (struct report_option){ name, value, what };
}

/* Adds a row for an option whose value is a word: `value`, or the default
 * `otherwise` if the value is NULL. */
static void
add_word(struct option_rows *out, const char *name, const char *value,
	 const char *otherwise, const char *what)
{
	add_row(out, name, value != NULL ? value : otherwise, what);
}

static void
add_lists(struct tirc *t, struct option_rows *out)
{
	for (int i = 0; i < N_LISTS; i++) {
		const char *at = (const char *)&t->options;
		const char *const *list = NULL;
		const char *text = "";
		int n = 0;

		memcpy(&list, at + lists[i].list, sizeof list);
		memcpy(&n, at + lists[i].count, sizeof n);
		for (int k = 0; k < n; k++) {
			text = arena_printf(&t->m->arena, "%s%s%s", text,
					    k > 0 ? ", " : "", list[k]);
		}
		if (n > 0) {
			add_row(out, lists[i].name, text, lists[i].what);
		}
	}
}

static void
add_words(struct tirc *t, struct option_rows *out)
{
	static const char *const forms[] = {
		"none", "c", "incbin", "file", "section",
	};
	const struct tirc_options *o = &t->options;

	add_word(out, "--requant", graph_rounding(t->graph),
		 "onnx (the model has no quantized result)",
		 "how quantized results are rounded");
	add_row(out, "--fp", t->target->fp,
		"which changes of float arithmetic are allowed");
	add_word(out, "--precision", o->precision, "f32",
		 "the type of stored weights");
	add_word(out, "--conv", o->conv, "auto",
		 "the algorithm of 3x3 convolutions");
	add_row(out, "--optimize", t->target->goal, "the goal");
	add_word(out, "--form", o->form, "aot", "functions, or a table");
	add_row(out, "--weights", forms[t->package.weights],
		"the form of the weights");
	add_word(out, "--in-workspace", o->in_workspace, "none",
		 "what the workspace has besides");
	add_word(out, "--seed", o->seed, "none", "of random operators");
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
		.options = options.rows,
		.files = files,
	};

	add_words(t, &options);
	add_lists(t, &options);
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
