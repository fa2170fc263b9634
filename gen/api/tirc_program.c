/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: tensor programs. */
#include <errno.h>
#include <string.h>

#include "intrinsics.h"
#include "output_file.h"
#include "program.h"
#include "source_load.h"
#include "tirc_context.h"
#include "trace_json.h"
#include "trace_python.h"

/* The file name without folder and suffix: "dir/matmul.py" -> "matmul". */
static const char *
file_stem(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	return dot != NULL && dot > name
		       ? arena_strndup(a, name, (size_t)(dot - name))
		       : name;
}

static struct program_options
options_of(struct tirc *t, const char *path,
	   const struct tirc_program_options *o)
{
	struct graph_services *graphs = arena_new(&t->m->arena,
						  struct graph_services);

	*graphs = context_graph_services(t);
	t->program_path = path;
	return (struct program_options){
		.script = o->old_script ? SCRIPT_OLD : SCRIPT_CURRENT,
		.dialect_path = t->options.dialect_path,
		.stem = t->options.name != NULL ? t->options.name
						: file_stem(&t->m->arena, path),
		.target = t->options.target,
		.fp = t->options.fp,
		.graphs = graphs,
		.execute = o->execute,
		.progress = t->options.progress,
		.progress_ctx = t->options.progress_ctx,
	};
}

/* -- schedules from files -- */

static bool
is_json(const struct source *src)
{
	size_t i = 0;

	while (i < src->length && strchr(" \t\r\n", src->text[i]) != NULL) {
		i++;
	}
	return i < src->length && src->text[i] == '[';
}

/* The function to which the schedule is applied: the only function in `list`,
 * or the one named "main". NULL after a diagnostic. */
static struct program_func *
scheduled_func(struct tirc *t, struct program_result *list,
	       const char *schedule)
{
	struct diag_place place = { .file = schedule };
	struct program_func *found = NULL;

	for (int i = 0; i < list->funcs.n; i++) {
		struct program_func *f = &list->funcs.data[i];

		if (list->funcs.n == 1 || strcmp(f->func->name, "main") == 0) {
			found = f;
		}
	}
	if (found == NULL) {
		diag_error(&t->m->diags, DIAG_BAD_SCHEDULE, place,
			   "the program has %d functions and none is named "
			   "main; keep only one",
			   list->funcs.n);
	}
	return found;
}

static bool
apply_schedule(struct tirc *t, struct program_result *list, const char *path)
{
	struct source src;
	struct program_func *f;
	struct sched s;
	struct strbuf text;
	const struct intrinsic_set *set;
	bool ok;

	if (!source_load(t->m, path, &src)) {
		return false;
	}
	f = scheduled_func(t, list, path);
	if (f == NULL) {
		return false;
	}
	sched_init(&s, func_clone(f->func, f->func->name));
	s.intrins = list->intrins;
	set = intrinsic_set_load(t->m, t->options.dialect_path);
	if (set == NULL || !intrinsic_set_register(t->m, set, s.intrins)) {
		return false;
	}
	ok = is_json(&src) ? trace_json_read(&s, &src)
			   : trace_read_python(&s, &src);
	f->func = s.func;
	strbuf_init(&text);
	sched_print_trace(&s, &text);
	f->schedule = arena_strdup(&t->m->arena,
				   text.data != NULL ? text.data : "");
	strbuf_release(&text);
	return ok;
}

/* -- running -- */

/* Sets *out to those functions of `all` that are at the latest stage (enum
 * program_stage) that any of them has reached. plain: functions that the
 * program has lowered are taken as they were before lowering, because the
 * caller lowers them up to a phase. */
static void
choose_funcs(const struct program_result *all, bool plain,
	     struct program_result *out, struct arena *a)
{
	enum program_stage best = PROGRAM_WRITTEN;

	memset(out, 0, sizeof *out);
	out->file = all->file;
	out->intrins = all->intrins;
	for (int i = 0; i < all->funcs.n; i++) {
		if (all->funcs.data[i].stage > best) {
			best = all->funcs.data[i].stage;
		}
	}
	for (int i = 0; i < all->funcs.n; i++) {
		struct program_func f = all->funcs.data[i];

		if (f.stage != best) {
			continue;
		}
		if (plain && f.stage >= PROGRAM_LOWERED) {
			f.func = f.scheduled;
		}
		vec_push(a, &out->funcs, f);
	}
}

static bool
print_funcs(struct tirc *t, const char *path, struct program_result *list,
	    const struct tirc_program_options *o, int phase,
	    const struct pass_hooks *hooks)
{
	struct diag_place place = { .file = path };
	struct strbuf s;
	bool ok = true;

	for (int i = 0; i < list->funcs.n && ok; i++) {
		struct program_func *f = &list->funcs.data[i];

		f->func = func_clone(f->func, f->func->name);
		ok = program_lower(f->func, phase, false, hooks);
		strbuf_init(&s);
		func_print(f->func, o->old_script ? SCRIPT_OLD : SCRIPT_CURRENT,
			   &s);
		list->printed_bytes += (int64_t)s.len;
		ok = ok && quota_check_output(t->m, place, "the functions",
					      list->printed_bytes);
		if (ok && o->print != NULL && s.len > 0) {
			if (i > 0) {
				o->print(o->print_ctx, "\n", 1);
			}
			o->print(o->print_ctx, s.data, s.len);
		}
		strbuf_release(&s);
	}
	if (ok && list->funcs.n == 0) {
		diag_warning(&t->m->diags, DIAG_ASSUMPTION,
			     (struct diag_place){ 0 },
			     "the program has no functions to print");
	}
	return ok;
}

static bool
program_load(struct tirc *t, const char *path, struct source *out)
{
	if (!source_load(t->m, path, out)) {
		return false;
	}
	quota_of_input(t->m, (int64_t)out->length);
	return true;
}

bool
tirc_run_program(struct tirc *t, const char *path,
		 const struct tirc_program_options *o)
{
	struct program_options options = options_of(t, path, o);
	struct program_result all, chosen;
	struct pass_hooks hooks;
	struct source src;

	options.hooks = &hooks;
	if (!context_hooks(t, &hooks)) {
		return false;
	}
	if (!o->functions) {
		options.print = o->print;
		options.ctx = o->print_ctx;
	}
	if (!program_load(t, path, &src) ||
	    !program_run(t->m, &src, &options, &all)) {
		return false;
	}
	if (all.printed && !o->functions) {
		return true;
	}
	choose_funcs(&all, true, &chosen, &t->m->arena);
	if (o->schedule != NULL && !apply_schedule(t, &chosen, o->schedule)) {
		return false;
	}
	return print_funcs(t, path, &chosen, o, o->functions ? o->phase : 3,
			   &hooks);
}

/* Does `target`, the target of the options, stand for the machine for which the
 * program is built? The program names TVM's "llvm" with any processor, except
 * one whose programs a simulator runs. */
static bool
is_machine(struct tirc *t, const char *target)
{
	const struct target *named;

	if (target == NULL) {
		return true;
	}
	if (strncmp(t->named_target, "llvm", 4) != 0 ||
	    strchr(" ", t->named_target[4]) == NULL) {
		return false;
	}
	named = target_load_named(t->m, target, t->options.dialect_path);
	return named != NULL && named->simulator.command == NULL;
}

bool
context_program(struct tirc *t, const char *path,
		const struct tirc_program_options *o,
		struct program_options *options, struct program_result *chosen,
		const char **target)
{
	struct pass_hooks *hooks = arena_new(&t->m->arena, struct pass_hooks);
	struct diag_place place = { .file = path };
	struct program_result all;
	struct source src;

	*options = options_of(t, path, o);
	options->hooks = hooks;
	if (!context_hooks(t, hooks) || !program_load(t, path, &src) ||
	    !program_run(t->m, &src, options, &all)) {
		return false;
	}
	t->unchecked = all.unchecked;
	choose_funcs(&all, o->schedule != NULL, chosen, &t->m->arena);
	if (chosen->funcs.n == 0 && all.built_model != NULL) {
		t->built_model = all.built_model;
		return true;
	}
	if (chosen->funcs.n == 0) {
		return diag_error(&t->m->diags, DIAG_BAD_PROGRAM, place,
				  "the program builds no function");
	}
	*target = t->options.target;
	if (*target == NULL) {
		*target = chosen->funcs.data[0].target;
		t->named_target = chosen->funcs.data[0].target_said;
	}
	if (o->machine != NULL && t->options.target == NULL &&
	    is_machine(t, *target)) {
		*target = o->machine;
		t->named_target = NULL;
	}
	program_order_calls(t->m, chosen);
	return o->schedule == NULL || apply_schedule(t, chosen, o->schedule);
}

struct tirc_source *
context_add_source(struct tirc *t, const char *name, const char *text)
{
	struct tirc_source source = { .name = name, .text = text };

	vec_push(&t->m->arena, &t->sources, source);
	return &t->sources.data[t->sources.n - 1];
}

/* Takes over the target and the functions of a program that was written. */
static void
keep_functions(struct tirc *t, const struct program_result *list,
	       const struct program_sources *text)
{
	t->target = text->target;
	for (int i = 0; i < list->funcs.n; i++) {
		struct tested f = { .from = &list->funcs.data[i],
				    .source = text->funcs[i] };

		vec_push(&t->m->arena, &t->tested, f);
	}
}

/* Adds the files of the model that the program has built to the sources of t:
 * with o->header all files, else only C sources. The text of a binary file is
 * "". */
static void
take_model(struct tirc *t, const struct tirc_program_options *o)
{
	struct tirc *model = t->built_model;

	t->target = model->target;
	for (int i = 0; i < tirc_file_count(model); i++) {
		struct tirc_file f = tirc_file(model, i);

		if (o->header || f.is_source) {
			context_add_source(t, f.name,
					   f.text != NULL ? f.text : "")
				->is_compiled = f.is_source;
		}
	}
}

bool
tirc_program_sources(struct tirc *t, const char *path,
		     const struct tirc_program_options *o)
{
	struct program_sources text = { .with_header = o->header,
					.with_notes = o->notes };
	struct program_result *chosen = arena_new(&t->m->arena,
						  struct program_result);
	struct program_options options;
	const char *target;

	if (!context_program(t, path, o, &options, chosen, &target)) {
		return false;
	}
	if (t->built_model != NULL) {
		take_model(t, o);
		return true;
	}
	if (!program_source(t->m, chosen, &options, target, &text)) {
		return false;
	}
	keep_functions(t, chosen, &text);
	context_add_source(t, text.source_name, text.source)->is_compiled =
		text.is_compiled;
	if (text.header != NULL) {
		context_add_source(t, text.header_name, text.header);
	}
	if (text.launches != NULL) {
		context_add_source(t, text.launches_name, text.launches);
	}
	return true;
}

static bool
cannot_write(struct tirc *t, const char *path)
{
	return diag_error(&t->m->diags, DIAG_FILE_UNWRITABLE,
			  (struct diag_place){ .file = path },
			  "cannot be written: %s", strerror(errno));
}

bool
tirc_write_sources(struct tirc *t, const char *folder)
{
	struct arena *a = &t->m->arena;
	const char **paths = arena_array(a, const char *, t->sources.n + 1);
	int64_t bytes = 0;
	bool ok;

	if (t->built_model != NULL) {
		return context_write_model(t, folder);
	}
	for (int i = 0; i < t->sources.n; i++) {
		bytes += (int64_t)strlen(t->sources.data[i].text);
	}
	ok = quota_check_output(t->m, (struct diag_place){ .file = folder },
				"the sources", bytes);
	if (!ok || !folder_make(t->m, folder)) {
		return false;
	}
	for (int i = 0; i < t->sources.n; i++) {
		paths[i] = arena_printf(a, "%s/%s", folder,
					t->sources.data[i].name);
		if (!t->options.force && !output_may_replace(paths[i])) {
			ok = output_refuse(t->m, paths[i]);
		}
	}
	for (int i = 0; ok && i < t->sources.n; i++) {
		const char *text = t->sources.data[i].text;
		struct output o;

		if (!output_open(&o, a, paths[i])) {
			return cannot_write(t, paths[i]);
		}
		fputs(text, o.file);
		ok = output_close(&o, true) || cannot_write(t, paths[i]);
	}
	return ok;
}

int
tirc_source_count(const struct tirc *t)
{
	return t->sources.n;
}

struct tirc_source
tirc_source(const struct tirc *t, int i)
{
	return t->sources.data[i];
}
