/* SPDX-License-Identifier: Apache-2.0 */
/* Makes jobs: schedules and lowers a kernel, prints its source, and adds the
 * arrays that its program reads. */
#include "tune_job.h"

#include "default_schedule.h"
#include "json_put.h"
#include "json_read.h"
#include "plan.h"
#include "program.h"
#include "record_apply.h"
#include "trace_json.h"
#include "trial.h"

struct making {
	struct tune_model *m;
	struct module *module;
	const struct tune_task *task;
	struct kernel_again again;
	struct program_sources text;
	struct tune_job *out;
};

/* -- what was decided -- */

static void
name_decisions(struct making *x)
{
	struct arena *a = &x->module->arena;
	const struct choices *c = &x->out->choices;
	struct record_decision *list = arena_array(a, struct record_decision,
						   c->asked.n + 1);

	for (int i = 0; i < c->asked.n; i++) {
		const struct choice *one = &c->asked.data[i];
		int64_t number = one->candidates[one->taken];

		list[i].name = one->name;
		if (strcmp(one->name, CHOICE_RULE) == 0) {
			list[i].word = default_schedule_rule(number);
		} else {
			list[i].number = number;
		}
	}
	x->out->decisions = list;
	x->out->n_decisions = c->asked.n;
}

/* Sets the trace to JSON on one line, the form in which a record has it. */
static void
print_trace(struct making *x)
{
	struct strbuf text, line;
	cJSON *value;

	strbuf_init(&text);
	strbuf_init(&line);
	trace_json_write(x->again.sched, SCRIPT_CURRENT, &text);
	value = json_parse_quietly(text.data, NULL);
	json_put(&line, value, false);
	x->out->trace = arena_strndup(&x->module->arena, line.data, line.len);
	cJSON_Delete(value);
	strbuf_release(&line);
	strbuf_release(&text);
}

/* -- files -- */

static void
add_file(struct making *x, const char *name, const void *data, size_t bytes)
{
	struct tune_file f = { name, data, bytes };

	vec_push(&x->module->arena, &x->out->files, f);
}

static void
add_text(struct making *x, const char *name, const char *text)
{
	if (text != NULL) {
		add_file(x, name, text, strlen(text));
	}
}

static bool
print_sources(struct making *x)
{
	struct program_result *list = arena_new(&x->module->arena,
						struct program_result);
	struct program_func f = { .stage = PROGRAM_LOWERED,
				  .func = x->again.kernel->func,
				  .plain = x->task->plain,
				  .named = true };
	const struct target *target = x->m->program->target;
	struct program_options o = { .stem = "kernel",
				     .dialect_path = x->m->dialect_path,
				     .fp = target->fp };
	struct arena *a = &x->module->arena;

	vec_push(a, &list->funcs, f);
	x->text.with_header = x->text.with_caller = true;
	if (!program_source(x->module, list, &o, target->name, &x->text)) {
		return false;
	}
	add_text(x, x->text.source_name, x->text.source);
	vec_push(a, &x->out->sources, x->text.source_name);
	add_text(x, x->text.launches_name, x->text.launches);
	x->out->has_caller = x->text.is_compiled ||
			     x->text.launches_name == NULL;
	if (x->out->has_caller) {
		add_text(x, x->text.header_name, x->text.header);
		add_text(x, x->text.caller_name, x->text.caller);
		vec_push(a, &x->out->sources, x->text.caller_name);
	}
	return true;
}

/* The elements of a constant in the layout that the schedule chose. Returns
 * NULL after a diagnostic. */
static const void *
packed(struct making *x, const struct weight *w, const void *data,
       int64_t bytes)
{
	struct arena *a = &x->module->arena;
	struct tensor *t = arena_copy(a, w->tensor, sizeof *t);
	struct value *value = arena_new(a, struct value);
	struct weight moved = { .tensor = t, .map = w->map };
	void *copy = arena_alloc(a, (size_t)bytes + 1);
	int64_t elems;

	if (!tensor_const_elems(t, &elems)) {
		return NULL;
	}
	*value = (struct value){ .type = t->type,
				 .data = data,
				 .elems = elems,
				 .bytes = (size_t)(elems *
						   dtype_bytes(t->type)) };
	t->value = value;
	t->recipe = NULL;
	moved.buffer = w->buffer;
	return weight_copy(x->m->program->graph, &moved, copy, (size_t)bytes)
		       ? copy
		       : NULL;
}

/* Has the constant the same shape as the kernel's parameter, so that the
 * parameter's layout can be applied to the constant? */
static bool
same_shape(const struct tensor *t, const struct buffer *b)
{
	for (int d = 0; d < b->ndim && t->ndim == b->ndim; d++) {
		if (t->shape[d] != b->shape[d]) {
			return false;
		}
	}
	return t->ndim == b->ndim && t->type.kind == b->type.kind;
}

/* Adds the array of parameter i to the files of the job, and the array's size
 * to its arguments. Returns NULL, or the reason why the array cannot be
 * made. */
static const char *
add_array(struct making *x, int i, const struct func *source,
	  const int64_t *values)
{
	struct arena *a = &x->module->arena;
	const struct func *plain = x->task->plain;
	const bool given = i < plain->params.n;
	const struct buffer *b = source->params.data[i].buffer;
	const struct weight *w = given ? x->again.kernel->args.data[i].weight
				       : NULL;
	int64_t elems, bytes;

	if (b == NULL || !trial_elems(source, i, values, &elems)) {
		return "a parameter has no size";
	}
	bytes = elems * dtype_bytes(b->type);
	if (given) {
		const void *data = x->task->in[i];
		struct tune_output o = {
			.name = arena_printf(a, "result_%d.bin", i),
			.param = i,
			.bytes = (size_t)bytes,
		};

		if (w != NULL && w->map != NULL) {
			if (!same_shape(w->tensor,
					plain->params.data[i].buffer)) {
				return "a constant is stored in parts";
			}
			data = packed(x, w, data, bytes);
			if (data == NULL) {
				return "a constant cannot be packed";
			}
		}
		add_file(x, arena_printf(a, "array_%d.bin", i), data,
			 (size_t)bytes);
		if (func_writes(plain, plain->params.data[i].buffer)) {
			vec_push(a, &x->out->outputs, o);
		}
	}
	x->out->arguments = arena_printf(a, "%s %lld", x->out->arguments,
					 (long long)bytes);
	return NULL;
}

static const char *
add_arrays(struct making *x)
{
	const struct func *source = x->text.funcs[0];
	int64_t *values = arena_array(&x->module->arena, int64_t,
				      source->params.n + 1);
	const char *why = NULL;

	x->out->arguments = "0";
	x->out->n_given = x->task->plain->params.n;
	for (int i = 0; why == NULL && i < source->params.n; i++) {
		why = add_array(x, i, source, values);
	}
	return why;
}

/* -- the whole job -- */

static const char *
finish(struct making *x)
{
	print_trace(x);
	if (!kernel_again_lower(x->m->program, &x->again)) {
		return "it cannot be lowered";
	}
	return print_sources(x) ? add_arrays(x) : "it has no source";
}

static const char *
make(struct making *x, const struct preference *preferred, int n,
     bool (*known)(void *ctx, const struct choices *made), void *ctx)
{
	struct choices *c = &x->out->choices;

	c->preferred = preferred;
	c->n_preferred = n;
	if (!kernel_again(x->m->program, x->task->kernel, &x->again) ||
	    !kernel_again_schedule(x->m->program, &x->again, c)) {
		c->asked.n = 0;
		return "the rules cannot schedule it";
	}
	for (int i = 0; i < c->asked.n; i++) {
		const struct choice *one = &c->asked.data[i];

		/* the preferred rule does not apply to this kernel */
		if (strcmp(one->name, CHOICE_RULE) == 0 && n > 0 &&
		    strcmp(preferred[0].name, CHOICE_RULE) == 0 &&
		    one->nth == 0 &&
		    one->candidates[one->taken] != preferred[0].number) {
			return "";
		}
	}
	if (known != NULL && known(ctx, c)) {
		return "";
	}
	name_decisions(x);
	return finish(x);
}

static bool
takes_all(void *ctx, const char *by, const struct func *f)
{
	(void)ctx;
	(void)by;
	(void)f;
	return true;
}

static const char *
make_of_record(struct making *x, const struct record *r)
{
	const char *why;

	if (!kernel_again(x->m->program, x->task->kernel, &x->again)) {
		return "the kernel cannot be built";
	}
	sched_init(x->again.sched, x->again.kernel->func);
	sched_for_kernel(x->again.sched, x->again.kernel,
			 x->m->program->target);
	why = record_apply(x->module, r, x->again.sched, takes_all, NULL);
	if (why != NULL) {
		return why;
	}
	func_commit(x->again.kernel->func);
	x->out->decisions = r->decisions;
	x->out->n_decisions = r->n_decisions;
	return sched_adopt_layouts(x->again.sched, x->again.kernel)
		       ? finish(x)
		       : "its layouts do not fit";
}

static struct making
begin(struct tune_model *m, const struct tune_task *task, struct tune_job *out)
{
	*out = (struct tune_job){ .task = task };
	return (struct making){ .m = m,
				.module = m->program->graph->module,
				.task = task,
				.out = out };
}

/* Appends the last error of the module to the reason `why` of a failure, and
 * removes the errors of this job from the module. */
static const char *
end(struct making *x, int n_messages, const char *why)
{
	struct module *module = x->module;

	for (int i = module->diags.list.n - 1;
	     why != NULL && why[0] != '\0' && i >= n_messages; i--) {
		if (module->diags.list.data[i].severity == DIAG_ERROR) {
			why = arena_printf(&module->arena, "%s: %s", why,
					   module->diags.list.data[i].message);
			break;
		}
	}
	diags_drop_errors(&module->diags, n_messages, DIAG_COUNT);
	return why;
}

const char *
tune_job_make(struct tune_model *m, const struct tune_task *task,
	      const struct preference *preferred, int n,
	      bool (*known)(void *ctx, const struct choices *made), void *ctx,
	      struct tune_job *out)
{
	struct making x = begin(m, task, out);
	int n_messages = x.module->diags.list.n;

	return end(&x, n_messages, make(&x, preferred, n, known, ctx));
}

const char *
tune_job_of_record(struct tune_model *m, const struct tune_task *task,
		   const struct record *r, struct tune_job *out)
{
	struct making x = begin(m, task, out);
	int n_messages = x.module->diags.list.n;

	return end(&x, n_messages, make_of_record(&x, r));
}
