/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of a model, the data for their runs, and the check of their
 * results. */
#include <math.h>

#include "interp.h"
#include "tolerance.h"
#include "trial.h"
#include "tune_job.h"

static const char *
obstacle_of(const struct kernel *k, const struct func *plain)
{
	if (k->group->region != NULL) {
		return "a backend computes it";
	}
	for (int i = 0; i < plain->params.n; i++) {
		const struct buffer *b = plain->params.data[i].buffer;
		int64_t elems;

		if (b == NULL || !buffer_const_elems(b, &elems)) {
			return "its sizes are open; give them with --dim";
		}
	}
	for (int i = 0; i < k->args.n; i++) {
		if (k->args.data[i].weight != NULL &&
		    k->args.data[i].weight->paired) {
			return "it reads constants of 4 bits in pairs";
		}
	}
	return NULL;
}

/* The index of the task with this workload, or -1. */
static int
find(const struct tune_tasks *tasks, const char *workload)
{
	for (int i = 0; i < tasks->list.n; i++) {
		if (strcmp(tasks->list.data[i].workload, workload) == 0) {
			return i;
		}
	}
	return -1;
}

/* The key of the kernel's workload; *plain: its function before the schedule.
 * Returns NULL after a diagnostic. */
static const char *
key_of(struct tune_model *m, const struct kernel *k, struct func **plain)
{
	struct module *module = m->program->graph->module;
	struct kernel_again again;
	bool *is_weight;

	if (!kernel_again(m->program, k, &again)) {
		return NULL;
	}
	*plain = again.plain;
	is_weight = arena_array(&module->arena, bool, again.kernel->args.n + 1);
	for (int i = 0; i < again.kernel->args.n; i++) {
		is_weight[i] = again.kernel->args.data[i].kind == ARG_WEIGHT;
	}
	return workload_key(again.kernel->func, is_weight);
}

bool
tune_list(struct tune_model *m, struct tune_tasks *out)
{
	struct program *p = m->program;
	struct arena *a = &p->graph->module->arena;

	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];
		struct tune_task one = { .kernel = k,
					 .workload = k->name,
					 .share = -1 };
		int at = -1;

		if (k->group->region == NULL) {
			one.workload = key_of(m, k, &one.plain);
			if (one.workload == NULL) {
				return false;
			}
			at = find(out, one.workload);
		}
		if (at < 0) {
			one.obstacle = obstacle_of(k, one.plain);
			at = out->list.n;
			vec_push(a, &out->list, one);
		}
		out->list.data[at].n_kernels++;
		vec_push(a, &out->of_kernel, at);
	}
	return true;
}

static int64_t
bytes_of(const struct func *f, int param, const int64_t *values)
{
	int64_t elems;

	return trial_elems(f, param, values, &elems)
		       ? elems * dtype_bytes(f->params.data[param].buffer->type)
		       : -1;
}

bool
tune_task_prepare(struct tune_model *m, struct tune_task *task, uint64_t seed)
{
	struct module *module = m->program->graph->module;
	struct arena *a = &module->arena;
	struct func *f = task->plain;
	int n = f->params.n, n_messages = module->diags.list.n;
	int64_t *values = arena_array(a, int64_t, n + 1);
	struct run_arg *args = arena_array(a, struct run_arg, n + 1);
	bool ok = true;

	task->in = arena_array(a, void *, n + 1);
	task->want = arena_array(a, void *, n + 1);
	for (int i = 0; ok && i < n; i++) {
		int64_t bytes = bytes_of(f, i, values);

		ok = bytes >= 0 &&
		     quota_check_memory(module,
					(struct diag_place){ .item = f->name },
					2 * bytes);
		if (ok) {
			task->in[i] = arena_alloc(a, (size_t)bytes + 1);
		}
	}
	ok = ok && trial_fill(f, values, seed, task->in, NULL);
	for (int i = 0; ok && i < n; i++) {
		task->want[i] = func_writes(f, f->params.data[i].buffer)
					? arena_copy(a, task->in[i],
						     (size_t)bytes_of(f, i,
								      values))
					: task->in[i];
		args[i].data = task->want[i];
	}
	task->exact = trial_is_exact(f);
	ok = ok && run_func(f, args, n);
	diags_drop_errors(&module->diags, n_messages, DIAG_COUNT);
	if (!ok) {
		task->obstacle = "the interpreter cannot run it on random "
				 "numbers";
	}
	return ok;
}

/* -- results -- */

/* The relative tolerance for elements of type t, the same as in `tirc test`:
 * that of t, or, if it is larger, that of the type in which the elements are
 * computed. */
static double
tolerance_of(const struct tune_task *task, struct dtype t)
{
	enum dtype_kind kind = trial_arithmetic(task->plain);
	double own = tolerance_of_type(t).rtol;
	double computed = kind != DT_VOID
				  ? tolerance_of_type(dtype_of(kind)).rtol
				  : 0;

	return own > computed ? own : computed;
}

/* If the terms of a sum cancel, the error of the sum is relative to its terms,
 * which may be as large as the largest element; this share of the largest
 * element is allowed. */
#define OF_LARGEST 0.01

static bool
near(double a, double b, double relative, double largest)
{
	if (isnan(a) || isnan(b)) {
		return isnan(a) && isnan(b);
	}
	return a == b ||
	       fabs(a - b) <= relative * (fabs(b) + OF_LARGEST * largest);
}

static double
largest_of(struct dtype t, const void *data, int64_t n)
{
	double most = 0;

	for (int64_t i = 0; i < n; i++) {
		double v = fabs(number_load(t, data, (size_t)i).f);

		most = isfinite(v) && v > most ? v : most;
	}
	return most;
}

const char *
tune_check(struct tune_model *m, const struct tune_task *task,
	   const struct tune_output *o, const void *got)
{
	struct arena *a = &m->program->graph->module->arena;
	const struct buffer *b = task->plain->params.data[o->param].buffer;
	const void *want = task->want[o->param];
	struct dtype t = b->type;
	int64_t n = (int64_t)o->bytes / dtype_bytes(t);
	double relative, largest;

	if (memcmp(got, want, o->bytes) == 0) {
		return NULL;
	}
	/* A schedule that changes an integer result is not used. */
	if (!dtype_is_float(t)) {
		for (int64_t i = 0; i < n; i++) {
			int64_t x = number_load(t, got, (size_t)i).i;
			int64_t y = number_load(t, want, (size_t)i).i;

			if (x != y) {
				return arena_printf(
					a, "wrong: %s[%lld] is %lld, not %lld",
					b->name, (long long)i, (long long)x,
					(long long)y);
			}
		}
		return NULL;
	}
	relative = task->exact ? 0 : tolerance_of(task, t);
	largest = largest_of(t, want, n);
	for (int64_t i = 0; i < n; i++) {
		double x = number_load(t, got, (size_t)i).f;
		double y = number_load(t, want, (size_t)i).f;

		if (!near(x, y, relative, largest)) {
			return arena_printf(a,
					    "wrong: %s[%lld] is %.9g, not %.9g",
					    b->name, (long long)i, x, y);
		}
	}
	return NULL;
}
