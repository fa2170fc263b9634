/* SPDX-License-Identifier: Apache-2.0 */
/* Making, stepping and checking a trial; see schedule_trial.h. */
#include "schedule_trial.h"

#include <math.h>
#include <stdlib.h>

#include "default_schedule.h"
#include "dialects.h"
#include "intrinsic_make.h"
#include "intrinsics_attach.h"
#include "kernels.h"
#include "lower.h"
#include "script.h"
#include "trace_json.h"
#include "trace_python.h"

enum { SMALL_PRODUCT = 4000 };

static bool
fail(struct trial *t, enum trouble trouble)
{
	t->trouble = trouble;
	return false;
}

const char *
trouble_text(enum trouble trouble)
{
	static const char *const texts[TROUBLE_COUNT] = {
		[TROUBLE_NONE] = "nothing",
		[TROUBLE_AS_MADE] = "the program does not run as it was made",
		[TROUBLE_RULES] = "the default rules fail",
		[TROUBLE_VERIFY] = "a step left an invalid function",
		[TROUBLE_RUN] = "a step left a function that does not run",
		[TROUBLE_RESULT] = "a step changed the result",
		[TROUBLE_ROLLBACK] = "a refused step changed the function",
		[TROUBLE_SILENT] = "a refused step gives no reason",
		[TROUBLE_TEXT] = "the function does not read back",
		[TROUBLE_LOWER] = "lowering fails",
		[TROUBLE_LOWER_VERIFY] = "lowering left an invalid function",
		[TROUBLE_LOWER_RUN] = "the lowered function does not run",
		[TROUBLE_LOWER_RESULT] = "lowering changed the result",
		[TROUBLE_PYTHON] = "the trace in Python does something else",
		[TROUBLE_JSON] = "the trace in JSON does something else",
		[TROUBLE_RACE] = "threads of a kernel race or do not run",
		[TROUBLE_EMIT] = "no source can be made",
		[TROUBLE_COMPILE] = "the source does not compile",
		[TROUBLE_SOURCE_RESULT] = "the source computes another result",
		[TROUBLE_CRASH] = "a crash",
		[TROUBLE_HANG] = "no end",
	};

	return texts[trouble];
}

static void
print_text(const struct func *f, struct strbuf *out)
{
	strbuf_init(out);
	func_print(f, SCRIPT_CURRENT, out);
}

static bool
same_text(const struct func *f, const struct strbuf *want)
{
	struct strbuf text;
	bool same;

	print_text(f, &text);
	same = text.len == want->len &&
	       memcmp(text.data, want->data, text.len) == 0;
	strbuf_release(&text);
	return same;
}

/* -- making */

/* Every fourth by rules, as if it were a kernel of a model. */
static bool
has_rules(const struct trial *t)
{
	return t->seed % 8 >= 6;
}

/* Rounding grows to twice what one evaluation does, as two are compared, and
 * again for what a linear count leaves out. */
static double
tolerance_of(double roundings)
{
	return 4 * roundings * 0x1p-24;
}

static bool
make_program(struct trial *t, uint64_t attempt)
{
	struct rng r = { t->seed * 1000003 + attempt };
	double roundings;

	random_te(t->m, &r, &t->options, &t->program);
	roundings = random_roundings(&t->program, &t->options);
	if (roundings > 1e5) {
		return false;
	}
	t->tolerance = tolerance_of(roundings);
	/* The same with fewer stages. */
	r.state = t->seed;
	random_resize(&t->program, 1 + rng_below(&r, RANDOM_MAX_SIZE));
	random_data(&t->program, &r, &t->options, t->args);
	return true;
}

static bool
start(struct trial *t)
{
	t->made = func_clone(t->program.func, "main");
	if (!func_verify(t->made) || !func_verify_text(t->made) ||
	    !interp_run(t->made, t->args, t->program.n_args)) {
		return fail(t, TROUBLE_AS_MADE);
	}
	trial_begin(t);
	return true;
}

/* One in four is a product; so is half of what rules schedule. */
static void
choose_options(struct trial *t)
{
	/* From a few small tiles to some of the largest. */
	static const int sizes[] = { SMALL_PRODUCT, 50000, 900000, 900000 };
	uint64_t seed = t->seed;
	struct rng r = { seed ^ 0x9d0d7c75ULL << 16 };

	t->options = (struct random_options){
		.exact = seed % 3 != 0,
		.positive = seed % 3 == 0,
		.floats_only = seed % 3 == 0 || seed % 2 == 0,
		.no_halves = true,
		.idioms = true,
		.max_stages = 4,
		.max_extent = 7,
		.symbolic = seed % 5 == 0,
	};
	if (seed % 4 == 3) {
		t->options.product_size =
			!has_rules(t)
				? SMALL_PRODUCT
				: sizes[rng_below(&r, sizeof sizes /
							      sizeof *sizes)];
	}
}

/* With the facts of the kind, or as it is. */
static bool
choose_target(struct trial *t)
{
	const char *name = t->kind.target;
	const struct target *target;

	if (!has_rules(t)) {
		return true;
	}
	if (t->kind.facts && t->seed / 8 % 4 != 0) {
		name = arena_printf(&t->m->arena, "%s%s", name, t->kind.facts);
	}
	target = target_load(t->m, name, NULL);
	if (!target) {
		return fail(t, TROUBLE_RULES);
	}
	intrinsics_attach(t->m, NULL, &t->intrins);
	t->target = arena_copy(&t->m->arena, target, sizeof *target);
	t->target->intrins = &t->intrins;
	return true;
}

bool
schedule_trial_make(struct trial *t, uint64_t seed, struct trial_kind kind)
{
	memset(t, 0, sizeof *t);
	t->kind = kind;
	t->seed = seed;
	choose_options(t);
	t->m = module_new();
	while (!make_program(t, t->attempt)) {
		module_free(t->m);
		t->m = module_new();
		t->attempt++;
	}
	t->steps = (struct rng){ seed ^ 0x5717e95ULL << 20 };
	t->checks = (struct rng){ seed ^ 0xc4ec5ULL << 24 };
	t->n_steps = 1 + rng_below(&t->steps, MAX_STEPS);
	tensor_intrins_init(&t->intrins, &t->m->arena);
	return choose_target(t) && start(t);
}

bool
trial_remake(struct trial *t, int first_stages)
{
	t->options.first_stages = first_stages;
	t->options.dim = t->program.dim;
	random_release(&t->program, t->args);
	return make_program(t, t->attempt) && start(t);
}

void
trial_begin(struct trial *t)
{
	t->intrins.calls.n = 0; /* what is declared stays */
	t->for_device = false;
	t->trouble = TROUBLE_NONE;
	sched_init(&t->sched, func_clone(t->made, "main"));
	sched_seed(&t->sched, t->seed);
	t->sched.intrins = &t->intrins;
}

static void
count_reached(const struct trial *t, struct trial_counts *counts)
{
	counts->by_rules++;
	for (int i = 0; i < t->intrins.calls.n; i++) {
		const char *symbol = t->intrins.calls.data[i].symbol;
		int k = 0;

		while (k < counts->n_reached &&
		       strcmp(counts->reached[k].symbol, symbol) != 0) {
			k++;
		}
		if (k == MAX_REACHED) {
			return;
		}
		counts->n_reached += k == counts->n_reached;
		snprintf(counts->reached[k].symbol,
			 sizeof counts->reached[k].symbol, "%s", symbol);
		counts->reached[k].times++;
	}
}

static bool
see_scan(void *ctx, struct stmt *s)
{
	for (int i = 0; s->kind == STMT_BLOCK && i < s->u.block->n_iters; i++) {
		*(bool *)ctx |= s->u.block->iters[i].kind == ITER_SCAN;
	}
	return true;
}

bool
trial_schedule(struct trial *t, struct trial_counts *counts)
{
	struct kernel *k = arena_new(&t->m->arena, struct kernel);
	bool scans = false;

	k->func = t->sched.func;
	k->name = k->func->name;
	for (int i = 0; i < t->program.n_args; i++) {
		const struct param *p = &k->func->params.data[i];
		struct kernel_arg arg = { .kind = ARG_TENSOR,
					  .buffer = p->buffer };

		if (!p->buffer) {
			arg.kind = ARG_DIM;
			arg.var = p->var;
		} else if (i == t->program.constant && t->seed / 8 % 2) {
			arg.kind = ARG_WEIGHT;
			arg.weight = arena_new(&t->m->arena, struct weight);
		}
		vec_push(&t->m->arena, &k->args, arg);
	}
	stmt_visit(k->func->body, see_scan, &scans);
	if (!default_schedule(k, t->target, t->m, &t->sched)) {
		t->is_refused = scans && t->kind.device;
		return t->is_refused || fail(t, TROUBLE_RULES);
	}
	trial_note_device(t);
	if (counts) {
		count_reached(t, counts);
	}
	return true;
}

void
trial_release(struct trial *t)
{
	random_release(&t->program, t->args);
	module_free(t->m);
}

/* -- arguments in their layouts */

/* Integers over a map's variables and the size. */
static int64_t
value_of(const struct trial *t, const struct expr *e, struct var *const *vars,
	 const int64_t *values, int n)
{
	int64_t a, b;

	if (expr_is_int(e, &a)) {
		return a;
	}
	if (e->kind == EXPR_VAR) {
		for (int i = 0; i < n; i++) {
			if (vars[i] == e->u.var) {
				return values[i];
			}
		}
		return t->program.size;
	}
	a = value_of(t, e->args[0], vars, values, n);
	b = e->n_args > 1 ? value_of(t, e->args[1], vars, values, n) : 0;
	switch (e->kind) {
	case EXPR_ADD:
		return a + b;
	case EXPR_SUB:
		return a - b;
	case EXPR_MUL:
		return a * b;
	case EXPR_FLOORDIV:
		return (a - ((a % b) + b) % b) / b;
	case EXPR_FLOORMOD:
		return ((a % b) + b) % b;
	case EXPR_MIN:
		return a < b ? a : b;
	case EXPR_MAX:
		return a > b ? a : b;
	default:
		return a; /* CAST */
	}
}

static size_t
elems_of(const struct trial *t, const struct buffer *b)
{
	int64_t n = 1;

	for (int d = 0; d < b->ndim; d++) {
		n *= value_of(t, b->shape[d], NULL, NULL, 0);
	}
	return (size_t)n;
}

/* The position that an element of a parameter has after all layouts. */
static size_t
physical_position(const struct trial *t, const struct buffer *b, size_t at)
{
	enum { MOST = 32 };
	int64_t index[MOST], next[MOST];
	const struct buffer *now = b;
	size_t position = 0;

	for (int d = b->ndim - 1; d >= 0; d--) {
		size_t extent = (size_t)value_of(t, b->shape[d], NULL, NULL, 0);

		index[d] = (int64_t)(at % extent);
		at /= extent;
	}
	for (int i = 0; i < t->sched.layouts.n; i++) {
		const struct sched_layout *l = &t->sched.layouts.data[i];

		if (l->from != now) {
			continue;
		}
		for (int d = 0; d < l->map->n_physical; d++) {
			next[d] = value_of(t, l->map->to_physical[d],
					   l->map->logical, index,
					   l->map->n_logical);
		}
		memcpy(index, next, sizeof index);
		now = l->to;
	}
	for (int d = 0; d < now->ndim; d++) {
		position = position * (size_t)value_of(t, now->shape[d], NULL,
						       NULL, 0) +
			   (size_t)index[d];
	}
	return position;
}

static const struct buffer *
stored_as(const struct trial *t, int param)
{
	return t->sched.func->params.data[param].buffer;
}

void
trial_pack(const struct trial *t, struct run_arg *packed, size_t *bytes)
{
	const struct random_program *p = &t->program;

	memcpy(packed, t->args, sizeof *packed * (size_t)p->n_args);
	for (int i = 0; i < p->n_params; i++) {
		const struct buffer *b = p->buffer[i], *now = stored_as(t, i);
		size_t size = (size_t)dtype_bytes(b->type);
		const char *from = t->args[i].data;
		char *to;

		bytes[i] = elems_of(t, now) * size;
		packed[i].data = to = malloc(bytes[i] + 1);
		/* What a constant's layout adds is zero. */
		memset(to, i == p->constant ? 0 : 0xFF, bytes[i]);
		for (size_t k = 0; i != p->output && k < (size_t)p->elems[i];
		     k++) {
			memcpy(to + size * (now == b ? k
						     : physical_position(t, b,
									 k)),
			       from + size * k, size);
		}
	}
}

void
trial_unpack_free(const struct trial *t, struct run_arg *packed)
{
	for (int i = 0; i < t->program.n_params; i++) {
		free(packed[i].data);
	}
}

bool
trial_agrees(const struct trial *t, const void *packed_output)
{
	const struct random_program *p = &t->program;
	const struct buffer *b = p->buffer[p->output];
	size_t size = (size_t)dtype_bytes(b->type);
	size_t n = (size_t)p->elems[p->output];
	const char *from = packed_output;
	char *plain = malloc(n * size + 1);
	bool same;

	for (size_t k = 0; k < n; k++) {
		memcpy(plain + size * k,
		       from + size * (stored_as(t, p->output) == b
					      ? k
					      : physical_position(t, b, k)),
		       size);
	}
	same = random_difference(p, t->args[p->output].data, plain,
				 t->tolerance) < 0;
	free(plain);
	return same;
}

/* -- checks */

/* What a declared intrinsic's symbol does, for the interpreter. */
static bool
know_calls(struct trial *t)
{
	const char *why = NULL;

	return intrinsic_references(t->m, &t->intrins, &why) ||
	       diag_error(&t->m->diags, DIAG_INTERPRET,
			  (struct diag_place){ 0 }, "%s", why);
}

bool
trial_only_source(const struct trial *t)
{
	return t->target && (t->options.product_size > SMALL_PRODUCT ||
			     (t->for_device && t->intrins.calls.n > 0));
}

static bool
check_run(struct trial *t, struct func *f, enum trouble run,
	  enum trouble result)
{
	struct run_arg packed[RANDOM_MAX_ARGS];
	size_t bytes[RANDOM_MAX_PARAMS];
	bool holds;

	if (trial_only_source(t)) {
		return true;
	}
	trial_pack(t, packed, bytes);
	holds = (know_calls(t) && interp_run(f, packed, t->program.n_args)) ||
		fail(t, run);
	holds = holds && (trial_agrees(t, packed[t->program.output].data) ||
			  fail(t, result));
	trial_unpack_free(t, packed);
	return holds;
}

struct func *
trial_lowered(struct trial *t)
{
	struct func *f = func_clone(t->sched.func, "main");
	int errors = t->m->diags.n_errors;

	if (t->target) {
		kernel_note_vectors(t->target, f);
	} else if (t->kind.vectors && t->for_device == t->kind.device &&
		   t->seed % 2 != 0) {
		func_set_attribute(
			f, "vectors",
			expr_string(
				t->m,
				"float32x8 float32x4 float64x4 float32x2 float64x2"));
		f->facts.vector_params = true;
	}
	if (lower_func(f, NULL)) {
		return f;
	}
	/* Loops may be bound one by one in ways that only the whole kernel
	 * shows to be wrong: that is said then. */
	if (!t->for_device || t->target || t->m->diags.n_errors == errors) {
		fail(t, TROUBLE_LOWER);
	}
	return NULL;
}

bool
trial_check(struct trial *t, bool all)
{
	struct func *f = t->sched.func;

	if (!func_verify(f)) {
		return fail(t, TROUBLE_VERIFY);
	}
	if (!check_run(t, f, TROUBLE_RUN, TROUBLE_RESULT)) {
		return false;
	}
	if (!all) {
		return true;
	}
	if (!func_verify_text(f)) {
		return fail(t, TROUBLE_TEXT);
	}
	f = trial_lowered(t);
	if (!f) {
		return t->trouble == TROUBLE_NONE;
	}
	if (!func_verify(f) || !func_verify_text(f)) {
		return fail(t, TROUBLE_LOWER_VERIFY);
	}
	return check_run(t, f, TROUBLE_LOWER_RUN, TROUBLE_LOWER_RESULT);
}

static bool
check_trace(struct trial *t, const struct strbuf *want, bool json)
{
	struct sched again;
	struct source src = { .name = json ? "trace.json" : "trace.py" };
	struct strbuf text;
	bool same;

	strbuf_init(&text);
	if (json) {
		trace_json_write(&t->sched, SCRIPT_CURRENT, &text);
	} else {
		trace_print_python(&t->sched, SCRIPT_CURRENT, &text);
	}
	src.text = text.data;
	src.length = text.len;
	sched_init(&again, func_clone(t->made, "main"));
	again.intrins = &t->intrins;
	same = (json ? trace_json_read(&again, &src)
		     : trace_read_python(&again, &src)) &&
	       same_text(again.func, want);
	strbuf_release(&text);
	return same || fail(t, json ? TROUBLE_JSON : TROUBLE_PYTHON);
}

bool
trial_check_traces(struct trial *t)
{
	struct strbuf want;
	bool same;

	print_text(t->sched.func, &want);
	same = check_trace(t, &want, false) && check_trace(t, &want, true);
	strbuf_release(&want);
	return same;
}

/* -- steps */

int
trial_steps(const struct trial *t)
{
	return t->target ? 0 : t->n_steps + (t->kind.device ? MAX_BINDS : 0);
}

bool
trial_choose(struct trial *t, int i, struct random_step *step)
{
	if (i < t->n_steps) {
		return random_step_choose(&t->sched, &t->steps, t->kind.device,
					  step);
	}
	return random_thread_choose(&t->sched, &t->steps,
				    i - t->n_steps >= MAX_BINDS / 5, step);
}

static bool
check_refusal(struct trial *t, const struct strbuf *before, int errors)
{
	if (!same_text(t->sched.func, before)) {
		return fail(t, TROUBLE_ROLLBACK);
	}
	return t->sched.diags.n_errors > errors || fail(t, TROUBLE_SILENT);
}

static bool
is_for_device(const struct primitive *p, const struct sched_value *args, int n)
{
	bool shared = false;

	for (int i = 0; i < n; i++) {
		shared |= strcmp(p->params[i].name, "storage_scope") == 0 &&
			  strcmp(args[i].u.text, "shared") == 0;
	}
	return shared || strcmp(p->name, "bind") == 0;
}

void
trial_note_device(struct trial *t)
{
	for (int i = 0; i < t->sched.trace.n; i++) {
		const struct sched_step *s = &t->sched.trace.data[i];

		t->for_device |= is_for_device(s->primitive, s->args,
					       s->primitive->n_params);
	}
}

bool
trial_step(struct trial *t, const struct random_step *step,
	   struct trial_counts *counts, struct trial_place *place)
{
	const struct primitive *p = step->primitive;
	int n, row = (int)(p - sched_primitives(&n));
	int errors = t->sched.diags.n_errors;
	bool all = rng_below(&t->checks, 5) == 0, applied, holds;
	struct strbuf before;

	print_text(t->sched.func, &before);
	applied = sched_apply(&t->sched, p->name, step->args, step->n_args,
			      NULL);
	place->at = AT_CHECK;
	if (counts) {
		counts->applied[row] += applied;
		counts->refused[row] += !applied;
		counts->steps++;
		counts->lowered += applied && all && !p->is_query;
	}
	t->for_device |= applied && is_for_device(step->primitive, step->args,
						  step->n_args);
	holds = !applied ? check_refusal(t, &before, errors)
			 : p->is_query || trial_check(t, all);
	strbuf_release(&before);
	return holds;
}

/* -- reports */

static void
print_diags(const struct diags *diags, struct strbuf *out)
{
	for (int i = 0; i < diags->list.n; i++) {
		diag_format(&diags->list.data[i], out);
		strbuf_putc(out, '\n');
	}
}

void
trial_print(struct trial *t, FILE *out)
{
	struct strbuf text;

	strbuf_init(&text);
	strbuf_puts(&text, "-- the program:\n");
	func_print(t->made, SCRIPT_CURRENT, &text);
	strbuf_puts(&text, "-- the steps:\n");
	trace_print_python(&t->sched, SCRIPT_CURRENT, &text);
	strbuf_puts(&text, "-- what it has become:\n");
	func_print(t->sched.func, SCRIPT_CURRENT, &text);
	for (int i = 0; i < t->m->funcs.n; i++) {
		func_print(t->m->funcs.data[i], SCRIPT_CURRENT, &text);
	}
	strbuf_puts(&text, "-- diagnostics:\n");
	print_diags(&t->m->diags, &text);
	fprintf(out, "%s\n", text.data);
	strbuf_release(&text);
}
