/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the source of a program's functions: lowers and names them, makes
 * parameters of local arrays that are too large for the stack, and splits
 * functions with loops bound to threads into kernels and a host function that
 * launches them. */
#include "calls.h"
#include "comment_text.h"
#include "dialect.h"
#include "emit.h"
#include "identifiers.h"
#include "index_checks.h"
#include "iterate.h"
#include "kernel.h"
#include "lower.h"
#include "version.h"

#include "kernels.h"
#include "program.h"
#include "unused_steps.h"

/* A chain of calls may use this many times the target's limit of local arrays
 * of one function. */
enum { CHAIN_LIMITS = 16 };

struct writing {
	struct module *m;
	const struct program_result *list;
	struct text_map positions; /* the index of each function, by name */
	const struct program_options *o;
	const struct target *target;
	const struct dialect *dialect;
	struct program_part *parts;
	/* for each function: the largest number of bytes of local arrays in it
	 * and the functions that it calls */
	int64_t *chain_bytes;
	/* for each function: the last function of which mark_callees() found
	 * that it calls this one */
	const struct func **called_by;
	bool notes; /* add notes about loops that the target cannot use */
};

/* The name of a function in the source: its symbol, or the name that the
 * program gave to it, or else the name of the file. The name is changed if
 * another function has it. */
static const char *
name_for(struct writing *w, struct name_set *names,
	 const struct program_func *f)
{
	const char *stem = w->o->stem ? w->o->stem : "program";

	if (f->symbol) {
		return f->symbol;
	}
	return name_set_add(names, f->named ? f->func->name : stem);
}

static bool
touches_array(const struct func *f)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL && (func_reads(f, b) || func_writes(f, b))) {
			return true;
		}
	}
	return false;
}

/* The limit of parameters, because emission takes time in proportion to the
 * parameters times the statements. */
#define MOST_PARAMETERS 1024

/* Returns false after a diagnostic if the function has too many parameters. */
static bool
check_parameters(struct writing *w, const struct func *f)
{
	struct diag_place place = { .file = w->list->file, .item = f->name };

	return f->params.n <= MOST_PARAMETERS ||
	       diag_error(&w->m->diags, DIAG_TOO_LARGE, place,
			  "it has %d parameters; the most is %d; pass parts of "
			  "larger arrays",
			  f->params.n, MOST_PARAMETERS);
}

/* Checks a function for a device: if it accesses arrays, it must have loops
 * that are bound to threads, because only kernels can access arrays. Returns
 * false after a diagnostic. */
static bool
check_bound(struct writing *w, const struct func *f)
{
	struct diag_place place = { .item = f->name };

	if (w->dialect->device.rejected != NULL || !touches_array(f)) {
		return true;
	}
	return diag_error(&w->m->diags, DIAG_BAD_PROGRAM, place,
			  "no loop is bound to threads, so that there is no "
			  "kernel for target %s; bind the loops of each nest "
			  "before it is built: s[B].bind(axis, "
			  "te.thread_axis(\"blockIdx.x\")) or sch.bind(loop, "
			  "\"blockIdx.x\")%s",
			  w->target->name,
			  w->target->max_threads == 1
				  ? ""
				  : ", and another one to \"threadIdx.x\"");
}

/* The target that the program itself names for the function, if this target has
 * grids of threads; else NULL. */
static const char *
own_grid_target(struct writing *w, const struct program_func *from)
{
	struct diags *diags = &w->m->diags;
	int first = diags->list.n;
	const struct target *t = NULL;
	const struct dialect *d = NULL;
	const char *name = NULL;

	if (from->target_said != NULL) {
		name = target_of_tvm(w->m, from->target_said,
				     (struct diag_place){ 0 });
	}
	if (name != NULL) {
		t = target_load_named(w->m, name, w->o->dialect_path);
	}
	if (t != NULL) {
		d = dialect_for_target(w->m, t, w->o->dialect_path);
	}
	diags_drop_errors(diags, first, DIAG_COUNT);
	return d != NULL && d->device.rejected == NULL ? name : NULL;
}

/* In a language without threads, memory that the threads of a block share is
 * that of a function without loops of threads. */
static void
own_shared_memory(struct writing *w, struct func *f)
{
	struct stmt_iter it;
	struct stmt *s;

	if (w->dialect->device.rejected == NULL || lower_has_threads(f)) {
		return;
	}
	it = stmt_each_of(f->body, STMT_ALLOC);
	while ((s = stmt_next(&it)) != NULL) {
		const struct buffer *b = s->u.buffer;

		if (buffer_is_shared(b)) {
			stmt_replace_buffer(f, s, b,
					    buffer_with_scope(w->m, b,
							      "local"));
		}
	}
}

/* The function without vectors, if the dialect does not have them, or without those
 * that are computed, if the dialect computes none; f itself if it does, or if a vector
 * has to stay, which the dialect then refuses. */
static struct func *
in_numbers(struct writing *w, struct func *f)
{
	const struct vector_forms *vectors = &w->dialect->vectors;
	struct func *numbers;

	if (vectors->computes || !lower_has_vectors(f)) {
		return f;
	}
	numbers = func_clone(f, f->name);
	return lower_lane_loops(numbers, vectors->rejected == NULL) ? numbers
								    : f;
}

/* Checks that the target has grids of threads if loops of the function are
 * bound to threads. Returns false after a diagnostic. */
static bool
check_grids(struct writing *w, const struct program_func *from)
{
	struct diag_place place = { .file = w->list->file,
				    .line = from->line,
				    .col = from->col,
				    .item = from->func->name };
	const char *own;

	if (w->dialect->device.rejected == NULL ||
	    !lower_has_threads(from->func)) {
		return true;
	}
	own = own_grid_target(w, from);
	return diag_error(&w->m->diags, DIAG_UNSUPPORTED, place,
			  "its loops are bound to threads of a GPU, and target "
			  "%s has none; choose %s%s, or let the program build "
			  "only functions without such loops",
			  w->target->name,
			  own != NULL
				  ? "the program's own target, --target "
				  : "a target for GPUs (`tirc targets` lists "
				    "them)",
			  own != NULL ? own : "");
}

/* Sets called_by of each function that f calls to f. */
static void
mark_callees(struct writing *w, const struct func *f)
{
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct expr *e;

	while ((e = tree_next(&it)) != NULL) {
		int k = e->u.intrin == INTRIN_CALL_FUNC
				? text_map_get(&w->positions,
					       e->args[0]->u.text, -1)
				: -1;

		if (k >= 0) {
			w->called_by[k] = f;
		}
	}
}

/* Changes the names of functions that f calls to their names in the source.
 * Starts with the last function of the list, because the old name of a function
 * may be the new name of an earlier one. *bytes: the largest number of bytes of
 * local arrays in a called function. */
static bool
name_calls(struct writing *w, struct func *f, int n, int64_t *bytes)
{
	*bytes = 0;
	mark_callees(w, f);
	for (int i = n - 1; i >= 0; i--) {
		const struct func *from = w->list->funcs.data[i].func;
		const struct program_part *to = &w->parts[i];

		if (w->called_by[i] != f) {
			continue;
		}
		if (lower_has_threads(f) || to->split != NULL) {
			return func_error(f, DIAG_BAD_PROGRAM,
					  "it calls '%s', and one of them has "
					  "loops of threads; inline it",
					  from->name);
		}
		if (to->func->params.n != from->params.n) {
			return func_error(f, DIAG_BAD_PROGRAM,
					  "it calls '%s', which has an array "
					  "too large for the stack; make the "
					  "array a parameter",
					  from->name);
		}
		func_rename_calls(f, INTRIN_CALL_FUNC, from->name,
				  to->func->name);
		if (w->chain_bytes[i] > *bytes) {
			*bytes = w->chain_bytes[i];
		}
	}
	return true;
}

/* Checks that the local arrays of function i, together with those of the
 * functions that it calls, which take `called` bytes, fit on the stack. Returns
 * false after a diagnostic. */
static bool
check_chain(struct writing *w, const struct func *f, int i, int64_t called)
{
	int64_t limit = CHAIN_LIMITS * w->target->stack_limit_bytes;
	int64_t bytes = called + lower_stack_bytes(f);

	w->chain_bytes[i] = bytes;
	return called == 0 || bytes <= limit ||
	       func_error(f, DIAG_BAD_PROGRAM,
			  "its local arrays, with those of the functions that "
			  "it calls, take %lld bytes of the stack, more than "
			  "%lld; make arrays of one of them parameters",
			  (long long)bytes, (long long)limit);
}

static bool
prepare(struct writing *w, struct name_set *names, int i)
{
	const struct program_func *from = &w->list->funcs.data[i];
	struct program_part *part = &w->parts[i];
	struct device_limits limits = {
		.max_threads = w->target->max_threads,
		.shared_bytes = w->target->shared_bytes,
	};
	struct shared_loops loops = { 0 };
	int64_t called;
	struct func *f;

	if (!check_parameters(w, from->func) || !check_grids(w, from) ||
	    !program_check_calls(w->m, w->list, &w->positions, i)) {
		return false;
	}
	f = func_clone(from->func, name_for(w, names, from));
	if (!name_calls(w, f, i, &called)) {
		return false;
	}
	/* The function may use the target's vector types inside. Its parameters
	 * stay arrays of scalars, because the user's code calls it. */
	if (w->target->vectors.n > 0 && !f->facts.has_vectors) {
		f->facts.has_vectors = true;
		f->facts.vectors = w->target->vectors;
		f->facts.byte_vectors |= w->target->byte_vectors;
	}
	kernel_note_device(w->target, f);
	if (w->dialect->object_bytes > 0) {
		f->facts.object_bytes = w->dialect->object_bytes;
	}
	if (from->stage < PROGRAM_LOWERED &&
	    !program_lower(f, 3, false, w->o->hooks)) {
		return false;
	}
	if (!program_check_indices(f, w->list->file)) {
		return false;
	}
	own_shared_memory(w, f);
	f = in_numbers(w, f);
	part->schedule = from->schedule ? from->schedule : "";
	part->n_params = f->params.n;
	shared_loops_find(f, &loops);
	lower_scratch(f, w->target->stack_limit_bytes);
	if (!check_chain(w, f, i, called)) {
		return false;
	}
	if (w->notes) {
		note_unused_loops(from, w->list->file, w->target, w->dialect,
				  &loops, f);
	}
	if (lower_has_threads(f)) {
		struct host_device *split = arena_new(&w->m->arena,
						      struct host_device);

		if (!lower_split_host_device(w->m, f, &limits, NULL, split)) {
			return false;
		}
		part->split = split;
		f = split->host;
	} else if (!check_bound(w, f)) {
		return false;
	}
	part->func = f;
	return true;
}

static bool
load(struct writing *w, const char *target)
{
	bool of_program = false;

	for (int i = 0; i < w->list->funcs.n; i++) {
		of_program |= target == w->list->funcs.data[i].target;
	}
	w->target = of_program && target != NULL && target != w->o->target
			    ? target_load_named(w->m, target,
						w->o->dialect_path)
			    : target_load(w->m, target, w->o->dialect_path);
	w->target = w->target ? target_with_fp(w->m, w->target, w->o->fp)
			      : NULL;
	w->dialect = w->target ? dialect_for_target(w->m, w->target,
						    w->o->dialect_path)
			       : NULL;
	return w->dialect != NULL;
}

static bool
write_launches(struct writing *w, const struct program_text *text,
	       struct program_sources *out)
{
	struct strbuf s;
	bool any = false, ok;

	for (int i = 0; i < text->n; i++) {
		any |= text->parts[i].split != NULL;
	}
	if (!any) {
		return true;
	}
	strbuf_init(&s);
	ok = emit_launches(w->m, w->dialect, text->parts, text->n, &s);
	out->launches_name = arena_printf(&w->m->arena, "%s_launches.json",
					  text->stem);
	out->launches = arena_strdup(&w->m->arena, s.data ? s.data : "");
	strbuf_release(&s);
	return ok;
}

static bool
write_caller(struct writing *w, const struct program_text *text,
	     struct program_sources *out)
{
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = emit_program_caller(w->m, w->dialect, text, &s);
	out->caller_name = emit_program_name(w->m, w->dialect,
					     arena_printf(&w->m->arena,
							  "%s_caller",
							  text->stem));
	out->caller = arena_strdup(&w->m->arena, s.data ? s.data : "");
	strbuf_release(&s);
	return ok && out->caller_name;
}

static const char *
file_part(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;

	return path == NULL ? "a program" : slash != NULL ? slash + 1 : path;
}

bool
program_source(struct module *m, const struct program_result *list,
	       const struct program_options *o, const char *target,
	       struct program_sources *out)
{
	struct writing w = {
		.m = m, .list = list, .o = o, .notes = out->with_notes
	};
	struct program_text text = { .n = list->funcs.n,
				     .with_header = out->with_header,
				     .external_prefix = out->external_prefix };
	struct name_set names;
	struct strbuf source, header;
	bool ok;

	if (!load(&w, target)) {
		return false;
	}
	text.on_board = w.target->simulator.command != NULL;
	text.no_lanes = w.target->vector_bytes == 0;
	text.stem = o->stem ? o->stem : "program";
	text.origin = comment_origin(&m->arena, w.dialect,
				     file_part(list->file), version_text(),
				     w.target->name);
	text.cflags = w.target->cflags;
	text.device_cflags = w.target->device_cflags;
	w.parts = arena_array(&m->arena, struct program_part, text.n + 1);
	w.called_by = arena_array(&m->arena, const struct func *, text.n + 1);
	w.chain_bytes = arena_array(&m->arena, int64_t, text.n + 1);
	text.parts = w.parts;
	w.positions = program_positions(m, list);
	name_set_init(&names, &m->arena);
	names.reserved = w.target->reserved;
	names.n_reserved = w.target->n_reserved;
	names.max_length = 31;
	for (int i = 0; i < text.n; i++) {
		if (!prepare(&w, &names, i)) {
			return false;
		}
		w.parts[i].schedule = schedule_in_a_row(&m->arena, w.target,
							w.dialect,
							w.parts[i].schedule);
	}
	out->funcs = arena_array(&m->arena, const struct func *, text.n + 1);
	for (int i = 0; i < text.n; i++) {
		out->funcs[i] = w.parts[i].func;
	}
	strbuf_init(&source);
	strbuf_init(&header);
	ok = emit_program(m, w.dialect, &text, &source, &out->needs) &&
	     (!out->with_header ||
	      emit_program_header(m, w.dialect, &text, &header));
	ok = ok && write_launches(&w, &text, out) &&
	     (!out->with_caller || write_caller(&w, &text, out));
	out->target = w.target;
	out->is_compiled = w.dialect->device.no_launch == NULL;
	out->source = arena_strdup(&m->arena, source.data ? source.data : "");
	out->header = header.len > 0 ? arena_strdup(&m->arena, header.data)
				     : NULL;
	out->source_name = emit_program_name(m, w.dialect, text.stem);
	out->header_name = emit_program_header_name(m, w.dialect, text.stem);
	strbuf_release(&source);
	strbuf_release(&header);
	return ok && out->source_name && out->header_name;
}
