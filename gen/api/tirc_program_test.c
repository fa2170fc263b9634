/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface: tests of a program's functions. Makes the source and the
 * data of a test; the caller compiles the source, runs it and compares. */
#include <string.h>

#include "func_work.h"
#include "host_device.h"
#include "random.h"
#include "text.h"
#include "tirc_context.h"
#include "trial.h"

/* -- the values of scalars -- */

struct given_value {
	const char *name;
	int64_t value;
};

/* Reads the options --dim NAME=VALUE, which give scalars their values: one
 * element for each option. NULL after a diagnostic. */
static const struct given_value *
given_values(struct tirc *t)
{
	struct arena *a = &t->m->arena;
	int n = t->options.n_dims;
	struct given_value *list = arena_array(a, struct given_value, n + 1);

	for (int i = 0; i < n; i++) {
		const char *text = t->options.dims[i];
		const char *equals = strrchr(text, '=');

		if (equals == NULL || equals == text ||
		    !text_int(equals + 1, &list[i].value)) {
			context_bad_option(t, "--dim", text,
					   "NAME=VALUE, a scalar parameter of "
					   "the program and its value, such as "
					   "n=128");
			return NULL;
		}
		list[i].name = arena_strndup(a, text, (size_t)(equals - text));
	}
	return list;
}

/* The names of the functions' scalar parameters: "m, n"; "" if no function has
 * scalar parameters. */
static const char *
scalar_names(struct tirc *t, const struct program_result *list)
{
	struct arena *a = &t->m->arena;
	VEC(const char *) names = { 0 };
	const char *text = "";

	for (int i = 0; i < list->funcs.n; i++) {
		const struct func *f = list->funcs.data[i].plain;

		for (int k = 0; k < f->params.n; k++) {
			const char *name = f->params.data[k].var->name;
			bool known = f->params.data[k].buffer != NULL;

			for (int j = 0; j < names.n; j++) {
				known |= strcmp(names.data[j], name) == 0;
			}
			if (!known) {
				vec_push(a, &names, name);
				text = arena_printf(a, "%s%s%s", text,
						    names.n > 1 ? ", " : "",
						    name);
			}
		}
	}
	return text;
}

static bool
is_for(const struct given_value *given, const struct param *p)
{
	return p->buffer == NULL && strcmp(given->name, p->var->name) == 0;
}

/* Can the scalar's type represent the value? False after a diagnostic. */
static bool
check_value(struct tirc *t, const char *file, const struct var *scalar,
	    int64_t value)
{
	struct module *m = t->m;
	struct dtype type = scalar->type;

	return dtype_is_float(type) ||
	       expr_literal_fits(expr_int(m, dtype_of(DT_I64), value), type) ||
	       diag_error(&m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ .file = file },
			  "--dim %s=%lld: '%s' has the type %s; give a value "
			  "from %lld to %llu",
			  scalar->name, (long long)value, scalar->name,
			  dtype_name(type), (long long)dtype_min_int(type),
			  (unsigned long long)dtype_max_int(type));
}

/* Does a function in the list have the scalar parameter that `text`, the
 * argument of an option, names, and does the given value fit the type of each
 * parameter of this name? False after a diagnostic. */
static bool
check_given(struct tirc *t, const struct program_result *list, const char *text,
	    const struct given_value *given)
{
	bool known = false;
	const char *names;

	for (int i = 0; i < list->funcs.n; i++) {
		const struct func *f = list->funcs.data[i].plain;

		for (int k = 0; k < f->params.n; k++) {
			const struct param *p = &f->params.data[k];

			if (!is_for(given, p)) {
				continue;
			}
			if (!check_value(t, list->file, p->var, given->value)) {
				return false;
			}
			known = true;
		}
	}
	if (known) {
		return true;
	}
	names = scalar_names(t, list);
	return diag_error(&t->m->diags, DIAG_BAD_OPTION,
			  (struct diag_place){ .file = list->file },
			  "--dim %s: no function has a scalar parameter '%s'; "
			  "%s%s",
			  text, given->name,
			  *names != '\0' ? "they have " : "remove it", names);
}

/* -- the runs of a function -- */

/* Does each array of f have a size at these values? */
static bool
has_sizes(const struct func *f, const int64_t *values)
{
	for (int i = 0; i < f->params.n; i++) {
		int64_t elems;

		if (f->params.data[i].buffer != NULL &&
		    !trial_elems(f, i, values, &elems)) {
			return false;
		}
	}
	return true;
}

static bool
same_values(const struct func *f, const int64_t *a, const int64_t *b)
{
	return memcmp(a, b, sizeof *a * (size_t)f->params.n) == 0;
}

/* Sets the values of all scalar parameters of f in run i: a given value if
 * there is one, else that of trial_values(), or of trial_timed_values() if i is
 * -1. */
static void
set_values(const struct tirc *t, const struct func *f, int i,
	   const struct given_value *given, int64_t *values)
{
	if (i < 0) {
		trial_timed_values(f, values);
	} else {
		trial_values(f, i, values);
	}
	for (int k = 0; k < f->params.n; k++) {
		for (int j = 0; j < t->options.n_dims; j++) {
			if (is_for(&given[j], &f->params.data[k])) {
				values[k] = given[j].value;
			}
		}
	}
}

/* Lists the runs of a function. A run is a list of values of its scalar
 * parameters from which the size of each array follows, not negative and not
 * too large; of equal lists only the first is kept, and a timed function has
 * one run. False after a diagnostic if no run is found. */
static bool
find_runs(struct tirc *t, const struct program_result *list, struct tested *f,
	  const struct given_value *given, bool timed)
{
	const struct func *plain = f->from->plain;
	int n = f->source->params.n;

	for (int i = 0; i < (timed ? 1 : TRIAL_SIZES); i++) {
		int64_t *values = arena_array(&t->m->arena, int64_t, n + 1);
		bool known = false;

		set_values(t, plain, timed ? -1 : i, given, values);
		for (int k = 0; k < f->runs.n; k++) {
			known |= same_values(plain, f->runs.data[k], values);
		}
		if (!known && has_sizes(plain, values) &&
		    has_sizes(f->source, values)) {
			vec_push(&t->m->arena, &f->runs, values);
		}
	}
	return f->runs.n > 0 ||
	       diag_error(&t->m->diags, DIAG_BAD_PROGRAM,
			  (struct diag_place){ .file = list->file,
					       .line = f->from->line,
					       .col = f->from->col,
					       .item = f->source->name },
			  "the arrays have no sizes at the values of its "
			  "scalar parameters; give values with --dim "
			  "NAME=VALUE");
}

/* -- preparing -- */

/* Sets *out to the functions of `all` that can be tested; why[i]: the reason
 * why function i cannot be, or NULL. */
static void
choose(struct tirc *t, const struct program_result *all,
       struct program_result *out, const char **why)
{
	*out = *all;
	memset(&out->funcs, 0, sizeof out->funcs);
	for (int i = 0; i < all->funcs.n; i++) {
		why[i] = lower_has_threads(all->funcs.data[i].func)
				 ? "its loops are bound to threads of a GPU, "
				   "and tirc test and run call functions of "
				   "processors; use them without the binding, "
				   "then the source on the device"
				 : trial_obstacle(t->m, all, i, why);
		if (why[i] == NULL) {
			vec_push(&t->m->arena, &out->funcs, all->funcs.data[i]);
		}
	}
}

static const char *
least_precise(const struct func *f)
{
	enum dtype_kind kind = trial_arithmetic(f);

	return kind == DT_VOID ? NULL : dtype_name(dtype_of(kind));
}

static bool
write_tests(struct tirc *t, const struct program_result *list,
	    const struct program_options *o, const char *target,
	    struct program_sources *text)
{
	if (!program_source(t->m, list, o, target, text) ||
	    !trial_definitions(t->m, list, o, target, text)) {
		return false;
	}
	context_add_source(t, text->source_name, text->source);
	if (text->header != NULL) {
		context_add_source(t, text->header_name, text->header);
	}
	if (text->definitions != NULL) {
		context_add_source(t, text->definitions_name,
				   text->definitions);
	}
	t->caller_name = text->caller_name;
	t->caller = text->caller;
	t->target = text->target;
	t->relied_on = text->needs.relied_on.data;
	t->n_relied_on = text->needs.relied_on.n;
	return true;
}

/* Reports the functions that cannot be tested, or timed. */
static void
report(struct tirc *t, const struct program_result *all, const char **why,
       bool timed)
{
	for (int i = 0; i < all->funcs.n; i++) {
		const struct program_func *f = &all->funcs.data[i];

		if (why[i] != NULL) {
			diag_error(&t->m->diags, DIAG_UNSUPPORTED,
				   (struct diag_place){ .file = all->file,
							.line = f->line,
							.col = f->col,
							.item = f->func->name },
				   "it cannot be %s: %s",
				   timed ? "timed" : "tested", why[i]);
		}
	}
}

bool
tirc_program_tests(struct tirc *t, const char *path,
		   const struct tirc_program_options *o)
{
	struct program_sources *text = arena_new(&t->m->arena,
						 struct program_sources);
	struct program_result *all = arena_new(&t->m->arena,
					       struct program_result);
	struct program_result *list = arena_new(&t->m->arena,
						struct program_result);
	const struct given_value *given = given_values(t);
	struct program_options options;
	const char *target, **why;
	int64_t seed;
	int next = 0;

	if (given == NULL) {
		return false;
	}
	text->with_header = text->with_caller = true;
	text->external_prefix = "defined_";
	text->with_notes = o->notes;
	if (t->options.seed != NULL && !text_int(t->options.seed, &seed)) {
		return context_bad_option(t, "--seed", t->options.seed,
					  "an integer");
	}
	if (!context_program(t, path, o, &options, all, &target)) {
		return false;
	}
	if (t->built_model != NULL) {
		return diag_error(&t->m->diags, DIAG_BAD_PROGRAM,
				  (struct diag_place){ .file = path },
				  "the program builds a model and no function; "
				  "tirc test or tirc run with the model itself "
				  "does this");
	}
	for (int i = 0; i < t->options.n_dims; i++) {
		if (!check_given(t, all, t->options.dims[i], &given[i])) {
			return false;
		}
	}
	why = arena_array(&t->m->arena, const char *, all->funcs.n + 1);
	choose(t, all, list, why);
	if (list->funcs.n > 0 &&
	    !write_tests(t, list, &options, target, text)) {
		return false;
	}
	t->with_source = list;
	t->source = text;
	for (int i = 0; i < all->funcs.n; i++) {
		struct tested f = { .from = &all->funcs.data[i] };

		if (why[i] == NULL) {
			f.number = next;
			f.source = text->funcs[next++];
			f.arithmetic = least_precise(f.from->plain);
			if (!find_runs(t, all, &f, given, o->timed)) {
				return false;
			}
		}
		vec_push(&t->m->arena, &t->tested, f);
	}
	report(t, all, why, o->timed);
	return true;
}

/* -- functions and parameters -- */

int
tirc_function_count(const struct tirc *t)
{
	return t->tested.n;
}

int
tirc_unchecked_asserts(const struct tirc *t)
{
	return t->unchecked;
}

struct tirc_function
tirc_function(const struct tirc *t, int i)
{
	const struct tested *f = &t->tested.data[i];
	const struct func *of = f->source != NULL ? f->source : f->from->func;

	return (struct tirc_function){
		.name = of->name,
		.tested = f->source != NULL,
		.launches = lower_has_threads(f->from->func),
		.n_parameters = of->params.n,
		.n_given = f->from->plain->params.n,
		.n_runs = f->runs.n,
	};
}

/* The function that has parameter i: the one before any schedule, or, if the
 * parameter is scratch memory, the one of the source. */
static const struct func *
holder(const struct tested *f, int i)
{
	return i < f->from->plain->params.n ? f->from->plain : f->source;
}

struct tirc_parameter
tirc_parameter(struct tirc *t, int function, int i)
{
	const struct tested *f = &t->tested.data[function];
	const struct func *holds = holder(f, i);
	const struct param *p = &holds->params.data[i];
	struct tirc_parameter out = { .is_array = p->buffer != NULL };
	struct dtype least;

	if (p->buffer == NULL) {
		out.name = p->var->name;
		out.dtype = dtype_name(p->var->type);
		return out;
	}
	out.name = p->buffer->name;
	out.bytes = program_bytes(t->m, p->buffer);
	out.dtype = dtype_name(p->buffer->type);
	out.written = func_writes(holds, p->buffer) ||
		      (f->source != NULL &&
		       func_writes(f->source,
				   f->source->params.data[i].buffer));
	if (f->arithmetic != NULL && dtype_is_float(p->buffer->type) &&
	    dtype_from_name(f->arithmetic, &least) &&
	    dtype_epsilon(least) > dtype_epsilon(p->buffer->type)) {
		out.arithmetic = f->arithmetic;
	}
	return out;
}

int64_t
tirc_parameter_value(const struct tirc *t, int function, int run, int i)
{
	return t->tested.data[function].runs.data[run][i];
}

const int64_t *
tirc_parameter_dims(struct tirc *t, int function, int run, int i, int *ndim)
{
	const struct tested *f = &t->tested.data[function];
	const struct func *holds = holder(f, i);
	const struct buffer *b = holds->params.data[i].buffer;
	int64_t *dims = arena_array(&t->m->arena, int64_t, b->ndim + 2);

	trial_shape(holds, i, f->runs.data[run], dims, ndim);
	return dims;
}

/* What the context is told of a run in the interpreter. */
struct telling {
	struct tirc *t;
	const char *step;
	double parts; /* TRIAL_PARTs of the whole run, about */
};

static void
tell(void *ctx, int64_t taken)
{
	const struct telling *x = ctx;
	int64_t done = taken / TRIAL_PART;
	int total = x->parts > (double)done ? (int)x->parts : (int)done;

	context_progress(x->t, x->step, (int)done, total);
}

/* Fills in *out to report the progress of a run of `ran`, the function itself
 * or its source, with the given scalar values. False after an error: the run
 * would surely take too many steps. */
static bool
watch(struct tirc *t, const struct tested *f, const struct func *ran,
      const int64_t *values, struct telling *out)
{
	double n = func_statements(ran, values);

	*out = (struct telling){ t,
				 arena_printf(&t->m->arena,
					      "million statements of %s in the "
					      "interpreter",
					      f->source->name),
				 n / (double)TRIAL_PART };
	return n < 4 * (double)TRIAL_STEPS ||
	       diag_error(&t->m->diags, DIAG_INTERPRET,
			  (struct diag_place){ .item = f->source->name },
			  "its run in the interpreter takes about %.3g "
			  "statements, more than %lld; make its sizes smaller",
			  n, (long long)TRIAL_STEPS);
}

double
tirc_function_statements(struct tirc *t, int function, int run)
{
	const struct tested *f = &t->tested.data[function];
	const int64_t *values = f->runs.data[run];

	return func_statements(f->from->plain, values) +
	       func_statements(f->source, values);
}

bool
tirc_function_make(struct tirc *t, int function, int run, void *const *in,
		   void *const *want)
{
	const struct tested *f = &t->tested.data[function];
	struct func *plain = f->from->plain;
	const int64_t *values = f->runs.data[run];
	uint64_t seed = RANDOM_SEED;
	struct telling told;
	int64_t given;

	if (t->options.seed != NULL && text_int(t->options.seed, &given)) {
		seed = random_seeded(given);
	}
	if (!watch(t, f, plain, values, &told)) {
		return false;
	}
	return want != NULL ? trial_make(plain, values, seed, in, want,
					 &(struct trial_watch){ tell, &told })
			    : trial_fill(plain, values, seed, in,
					 &(struct trial_watch){ tell, &told });
}

bool
tirc_function_check(struct tirc *t, int function, int run, void *const *in)
{
	const struct tested *f = &t->tested.data[function];
	const int64_t *values = f->runs.data[run];
	struct telling told;

	return watch(t, f, f->source, values, &told) &&
	       trial_check(t->m, t->with_source, t->source, f->number, values,
			   in, &(struct trial_watch){ tell, &told });
}

const char *
tirc_function_arguments(struct tirc *t, int function, int run, int calls)
{
	const struct tested *f = &t->tested.data[function];

	return trial_arguments(f->from->plain, f->source, calls, f->number,
			       f->runs.data[run]);
}

bool
tirc_function_operations(struct tirc *t, int function, int run, double *floats,
			 double *ints)
{
	const struct tested *f = &t->tested.data[function];

	return trial_operations(f->from->plain, f->runs.data[run], floats,
				ints);
}
