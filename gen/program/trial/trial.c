/* SPDX-License-Identifier: Apache-2.0 */
/* Tests functions of a program: runs them in the interpreter at several sizes,
 * on random data. Finds the functions that cannot be tested. */
#include "trial.h"

#include "func_work.h"
#include "interp.h"
#include "iterate.h"
#include "random.h"

/* -- sizes -- */

/* The value nearest to `value` within the declared bounds of the variable. */
static int64_t
in_bounds(const struct var *v, int64_t value)
{
	if (v->min > v->max) {
		return value;
	}
	return value < v->min ? v->min : value > v->max ? v->max : value;
}

/* `value` within the declared bounds of the variable: for values above them, the
 * largest numbers by turns, so that most values stay different. */
static int64_t
by_turns(const struct var *v, int64_t value)
{
	int64_t least = v->min > 0 ? v->min : 0;

	return value > v->max && v->max > least
		       ? v->max - (value - v->max - 1) % (v->max - least + 1)
		       : in_bounds(v, value);
}

void
trial_values(const struct func *f, int i, int64_t *values)
{
	static const int64_t sizes[TRIAL_SIZES][3] = {
		{ 1, 1, 1 },    { 8, 16, 32 }, { 33, 7, 5 },
		{ 64, 12, 40 }, { 13, 31, 9 },
	};
	int n = 0;

	for (int k = 0; k < f->params.n; k++) {
		const struct param *p = &f->params.data[k];

		values[k] = 0;
		if (p->buffer) {
			continue;
		}
		values[k] = sizes[i][n++ % 3];
		if (dtype_is_float(p->var->type)) {
			values[k] = values[k] % 7 - 3;
		} else if (dtype_class(p->var->type) == DTC_BOOL) {
			values[k] &= 1;
		}
		values[k] = by_turns(p->var, values[k]);
	}
}

void
trial_timed_values(const struct func *f, int64_t *values)
{
	for (int k = 0; k < f->params.n; k++) {
		const struct param *p = &f->params.data[k];

		if (p->buffer) {
			values[k] = 0;
			continue;
		}
		values[k] = dtype_is_float(p->var->type)            ? 2
			    : dtype_class(p->var->type) == DTC_BOOL ? 1
			    : dtype_bits(p->var->type) <= 8         ? 1
							    : TIMED_SIZE;
		values[k] = in_bounds(p->var, values[k]);
	}
}

struct var_map
trial_map(struct module *m, const struct func *f, const int64_t *values)
{
	struct var_map map = {
		.from = arena_array(&m->arena, struct var *, f->params.n + 1),
		.to = arena_exprs(&m->arena, f->params.n + 1),
	};

	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];

		if (!p->buffer && dtype_is_int(p->var->type)) {
			map.from[map.n] = p->var;
			map.to[map.n++] = expr_int(m, p->var->type, values[i]);
		}
	}
	return map;
}

/* Sets *out to the value of e, an expression of f's scalars, which have the
 * given values. Returns false if e has other variables or elements of
 * arrays. */
static bool
value_of(const struct func *f, const struct expr *e, const int64_t *values,
	 int64_t *out)
{
	struct var_map map = trial_map(f->module, f, values);

	return expr_is_int(expr_substitute(f->module, e, &map), out);
}

/* Sets *elems to the number of elements from the first to the last one of b, an
 * array with strides. Returns false if the number does not follow from the
 * scalars or is too large. */
static bool
span(const struct func *f, const struct buffer *b, const int64_t *values,
     const int64_t *dims, int64_t *elems)
{
	bool empty = false;

	*elems = 1;
	for (int d = 0; d < b->ndim; d++) {
		int64_t stride;

		if (!value_of(f, b->strides[d], values, &stride) ||
		    stride < 0) {
			return false;
		}
		empty |= dims[d] == 0;
		*elems = quota_plus(*elems,
				    quota_times(dims[d] > 0 ? dims[d] - 1 : 0,
						stride));
	}
	*elems = empty ? 0 : *elems;
	return *elems < INT64_MAX;
}

bool
trial_shape(const struct func *f, int param, const int64_t *values,
	    int64_t *dims, int *ndim)
{
	const struct buffer *b = f->params.data[param].buffer;
	int64_t elems = 1;

	*ndim = b->ndim;
	for (int d = 0; d < b->ndim; d++) {
		if (!value_of(f, b->shape[d], values, &dims[d]) ||
		    dims[d] < 0) {
			return false;
		}
		elems = quota_times(elems, dims[d]);
	}
	if (b->strides) {
		if (!span(f, b, values, dims, &elems)) {
			return false;
		}
		*ndim = 1;
		dims[0] = elems;
	}
	if (b->type.lanes > 1) {
		dims[(*ndim)++] = b->type.lanes;
		elems = quota_times(elems, b->type.lanes);
	}
	return quota_times(elems, dtype_bytes(b->type)) < INT64_MAX;
}

bool
trial_elems(const struct func *f, int param, const int64_t *values,
	    int64_t *elems)
{
	const struct buffer *b = f->params.data[param].buffer;
	int64_t *dims = arena_array(&f->module->arena, int64_t, b->ndim + 2);
	int ndim;

	if (!trial_shape(f, param, values, dims, &ndim)) {
		return false;
	}
	*elems = 1;
	for (int d = 0; d < ndim; d++) {
		*elems = quota_times(*elems, dims[d]);
	}
	return true;
}

/* -- runs -- */

/* run_arg.bytes of an array. It is 1 for an array without elements, because 0
 * stands for an unknown number. */
static int64_t
args_bytes(int64_t elems, struct dtype t)
{
	return elems > 0 ? elems * dtype_bytes(t) : 1;
}

struct run_steps
trial_run_steps(const struct trial_watch *watch)
{
	struct run_steps steps = { .left = TRIAL_STEPS, .every = TRIAL_PART };

	if (watch != NULL) {
		steps.tell = watch->tell;
		steps.ctx = watch->ctx;
	}
	return steps;
}

bool
trial_run(struct func *f, const int64_t *values, void *const *data,
	  const struct trial_watch *watch)
{
	struct run_steps steps = trial_run_steps(watch);
	struct run_arg *args = arena_array(&f->module->arena, struct run_arg,
					   f->params.n + 1);

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		int64_t elems;

		args[i].scalar = values[i];
		args[i].data = data[i];
		if (b != NULL && trial_elems(f, i, values, &elems)) {
			args[i].bytes = args_bytes(elems, b->type);
		}
	}
	return interp_run_steps(f, args, f->params.n, &steps);
}

/* Ranges of random numbers, in the order in which they are tried. In INDICES
 * and ZEROS, floats are above 0, and integers by which f divides are 1. */
enum random_range {
	WHOLE,     /* small whole numbers; any value for integers of 8 bits */
	FRACTIONS, /* floats in [-1, 1]; integers as in WHOLE */
	INDICES,   /* integers 0 or 1 */
	ZEROS,     /* integers 0 */
	N_RANGES
};

/* Does f divide integers by a number that is computed from elements of b? */
static bool
is_divisor(const struct func *f, const struct buffer *b)
{
	struct tree_iter it = tree_each(f->body);
	const struct expr *x, *y;

	while ((x = tree_next(&it))) {
		struct expr_iter of;

		if (dtype_is_float(x->type) ||
		    (x->kind != EXPR_DIV && x->kind != EXPR_TRUNCMOD &&
		     x->kind != EXPR_FLOORDIV && x->kind != EXPR_FLOORMOD)) {
			continue;
		}
		of = expr_each_of(x->args[1], EXPR_LOAD);
		while ((y = expr_next(&of))) {
			if (y->u.buffer == b) {
				expr_stop(&of);
				tree_stop(&it);
				return true;
			}
		}
	}
	return false;
}

/* Does f only add, multiply, compare and choose floats? Then small whole
 * numbers are enough as elements: sums of them are exact in any order, even
 * where a recurrence would amplify rounding errors, and if a wrong source
 * computes another such function, most elements differ. */
bool
trial_is_exact(const struct func *f)
{
	const struct expr *x;
	bool exact = true;

	for (struct tree_iter it = tree_each(f->body);
	     exact && (x = tree_next(&it));) {
		bool from_float = x->n_args > 0 &&
				  dtype_is_float(x->args[0]->type);

		switch (x->kind) {
		case EXPR_DIV:
		case EXPR_TRUNCMOD:
		case EXPR_FLOORDIV:
		case EXPR_FLOORMOD:
		case EXPR_CALL:
			exact = !dtype_is_float(x->type) && !from_float;
			break;
		case EXPR_CAST:
			exact = dtype_is_float(x->type) || !from_float;
			break;
		default:
			break;
		}
		if (!exact) {
			tree_stop(&it);
		}
	}
	return exact;
}

static union number
random_number(struct dtype t, enum random_range range, bool divisor,
	      uint64_t *state)
{
	bool is_signed = dtype_is_signed(t);
	int bits = dtype_bits(t);
	uint64_t next = random_next(state), r = next >> 40;
	union number v;

	if (dtype_is_float(t)) {
		v.f = range == WHOLE ? (double)(r % 7) - 3
		      : range == FRACTIONS
			      ? random_fraction(next)
			      : 0.625 + 0.375 * random_fraction(next);
	} else if (range >= INDICES && divisor) {
		v.i = 1;
	} else if (range == ZEROS) {
		v.i = 0;
	} else if (range == INDICES || dtype_class(t) == DTC_BOOL) {
		v.i = (int64_t)(r >> 23);
	} else if (bits <= 8) {
		v.i = (int64_t)(r >> (24 - bits)) -
		      (is_signed ? 1 << (bits - 1) : 0);
	} else {
		v.i = (int64_t)(r % 7) - (is_signed ? 3 : 0);
	}
	return v;
}

/* Fills f's arrays with random numbers, and copies the arrays to copy[i] unless
 * `copy` is NULL. Returns false if the size of an array is unknown. */
static bool
fill(const struct func *f, const int64_t *values, enum random_range range,
     uint64_t seed, void *const *data, void *const *copy)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		bool divisor = b && range >= INDICES && is_divisor(f, b);
		int64_t elems;

		if (!b) {
			continue;
		}
		if (!trial_elems(f, i, values, &elems)) {
			return false;
		}
		for (int64_t k = 0; k < elems; k++) {
			number_store(b->type, data[i], (size_t)k,
				     random_number(b->type, range, divisor,
						   &seed));
		}
		if (copy) {
			memcpy(copy[i], data[i],
			       (size_t)elems * (size_t)dtype_bytes(b->type));
		}
	}
	return true;
}

bool
trial_make(struct func *f, const int64_t *values, uint64_t seed,
	   void *const *in, void *const *want, const struct trial_watch *watch)
{
	struct diags *diags = &f->module->diags;
	int n_diags = diags->list.n;

	for (int range = trial_is_exact(f) ? WHOLE : FRACTIONS;
	     range < N_RANGES; range++) {
		diags_drop_errors(diags, n_diags, DIAG_COUNT);
		if (!fill(f, values, (enum random_range)range, seed, in,
			  want)) {
			return false;
		}
		if (trial_run(f, values, want, watch)) {
			return true;
		}
	}
	return false;
}

static bool
any_has_load(const struct expr *const *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (expr_has(list[i], EXPR_LOAD)) {
			return true;
		}
	}
	return false;
}

/* Can it depend on elements of arrays whether the value of e is defined? It can
 * for an index, a divisor, the amount of a shift, or a float that is converted
 * to an integer. */
static bool
may_be_undefined(const struct expr *e)
{
	const bool is_float = dtype_is_float(e->type);

	switch (e->kind) {
	case EXPR_LOAD:
		return any_has_load(e->args, e->n_args);
	case EXPR_DIV:
	case EXPR_TRUNCMOD:
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		return !is_float && expr_has(e->args[1], EXPR_LOAD);
	case EXPR_CAST:
		return !is_float && dtype_is_float(e->args[0]->type);
	case EXPR_CALL:
		return !is_float && any_has_load(e->args, e->n_args);
	default:
		return false;
	}
}

/* Can it depend on elements of arrays whether a run of f is defined? */
static bool
depends_on_data(struct func *f)
{
	const struct expr *x;
	const struct stmt *s;
	bool depends = func_calls(f, INTRIN_CALL_EXTERN) ||
		       func_calls(f, INTRIN_CALL_FUNC);

	for (struct tree_iter it = tree_each(f->body);
	     !depends && (x = tree_next(&it));) {
		depends = may_be_undefined(x);
		if (depends) {
			tree_stop(&it);
		}
	}
	for (struct stmt_iter it = stmt_each(f->body); (s = stmt_next(&it));) {
		const int first = s->kind == STMT_STORE ? 1 : 0;

		if (s->kind == STMT_WHILE ||
		    ((s->kind == STMT_STORE || s->kind == STMT_FOR ||
		      s->kind == STMT_BLOCK || s->kind == STMT_LET) &&
		     any_has_load(s->args + first, s->n_args - first))) {
			depends = true;
		}
	}
	return depends;
}

bool
trial_fill(struct func *f, const int64_t *values, uint64_t seed,
	   void *const *in, const struct trial_watch *watch)
{
	void **results = arena_array(&f->module->arena, void *,
				     f->params.n + 1);

	if (!depends_on_data(f)) {
		return fill(f, values, trial_is_exact(f) ? WHOLE : FRACTIONS,
			    seed, in, NULL);
	}
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		int64_t elems = 0;

		if (b && !trial_elems(f, i, values, &elems)) {
			return false;
		}
		results[i] =
			b ? arena_alloc(&f->module->arena,
					(size_t)elems * (size_t)dtype_bytes(
								b->type) +
						1)
			  : NULL;
	}
	return trial_make(f, values, seed, in, results, watch);
}

bool
trial_operations(const struct func *f, const int64_t *values, double *floats,
		 double *ints)
{
	struct diags *diags = &f->module->diags;
	struct func *lowered;
	int n_diags = diags->list.n;
	bool ok;

	if (func_calls(f, INTRIN_CALL_EXTERN) ||
	    func_calls(f, INTRIN_CALL_FUNC)) {
		return false;
	}
	lowered = func_clone(f, f->name);
	ok = program_lower(lowered, 3, true, NULL);
	diags_drop_errors(diags, n_diags, DIAG_COUNT);
	if (ok) {
		func_operations(lowered, values, floats, ints);
	}
	return ok;
}

enum dtype_kind
trial_arithmetic(const struct func *f)
{
	struct dtype least = dtype_of(DT_VOID);
	const struct expr *x;

	for (struct tree_iter it = tree_each(f->body); (x = tree_next(&it));) {
		if (x->n_args > 0 && x->kind != EXPR_LOAD &&
		    dtype_is_float(x->type) &&
		    (least.kind == DT_VOID ||
		     dtype_epsilon(x->type) > dtype_epsilon(least))) {
			least = dtype_of((enum dtype_kind)x->type.kind);
		}
	}
	return (enum dtype_kind)least.kind;
}

/* -- functions that cannot be tested -- */

/* Do all sizes of the array follow from f's scalars? */
static bool
sizes_known(const struct func *f, const struct buffer *b)
{
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *sizes[2] = { b->shape[d],
						b->strides ? b->strides[d]
							   : NULL };
		struct tree_iter it = exprs_each_of(sizes, 2, EXPR_VAR);
		const struct expr *x;

		while ((x = tree_next(&it))) {
			if (!func_has_var(f, x->u.var)) {
				tree_stop(&it);
				return false;
			}
		}
	}
	return true;
}

/* The reason why f cannot be tested because of its parameters (trial_obstacle),
 * or NULL. */
static const char *
parameter_obstacle(struct module *m, const struct func *f)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];
		struct dtype t = p->var->type;

		if (p->buffer) {
			if (!sizes_known(f, p->buffer)) {
				return arena_printf(
					&m->arena,
					"the size of '%s' does not follow from "
					"its scalar parameters; make the size, "
					"or the stride, a parameter",
					p->buffer->name);
			}
		} else if (dtype_class(t) == DTC_HANDLE || t.lanes > 1 ||
			   (dtype_is_float(t) && dtype_bits(t) < 32)) {
			return arena_printf(
				&m->arena,
				"there are no values for its parameter '%s' of "
				"type %s; declare an array (T.match_buffer), or "
				"an integer or float32",
				p->var->name, dtype_name(t));
		}
	}
	return NULL;
}

/* Does the program define the function `symbol`, or declare what an external
 * function of this name computes? */
static bool
is_defined(const struct module *m, const struct program_result *list,
	   const char *symbol)
{
	return module_find_func(m, symbol) ||
	       tensor_intrins_call(list->intrins, symbol);
}

/* The reason why the function at index `at` cannot be tested because of this
 * call, or NULL. */
static const char *
call_obstacle(struct module *m, const struct program_result *list, int at,
	      const char *const *why, const struct expr *call)
{
	const char *symbol = call->args[0]->u.text;

	if (call->u.intrin == INTRIN_CALL_EXTERN) {
		return is_defined(m, list, symbol)
			       ? NULL
			       : arena_printf(
					 &m->arena,
					 "it calls '%s', which the program "
					 "only declares, so that there is no "
					 "definition to test with; write it as "
					 "a function of the program, or declare "
					 "what it computes with "
					 "te.decl_tensor_intrin",
					 symbol);
	}
	for (int i = 0; i < at; i++) {
		if (why[i] &&
		    strcmp(list->funcs.data[i].func->name, symbol) == 0) {
			return arena_printf(&m->arena,
					    "it calls '%s', which cannot be "
					    "tested",
					    symbol);
		}
	}
	return NULL;
}

const char *
trial_obstacle(struct module *m, const struct program_result *list, int at,
	       const char *const *why)
{
	const struct func *f = list->funcs.data[at].plain;
	struct tree_iter it = tree_each_of(f->body, EXPR_CALL);
	const struct expr *x;

	while ((x = tree_next(&it))) {
		const char *found = NULL;

		if (x->u.intrin == INTRIN_CALL_EXTERN ||
		    x->u.intrin == INTRIN_CALL_FUNC) {
			found = call_obstacle(m, list, at, why, x);
		}
		if (found) {
			tree_stop(&it);
			return found;
		}
	}
	return parameter_obstacle(m, f);
}

const char *
trial_arguments(const struct func *plain, const struct func *source, int calls,
		int number, const int64_t *values)
{
	struct arena *a = &plain->module->arena;
	const char *text = arena_printf(a, "%d %d", calls, number);

	for (int i = 0; i < source->params.n; i++) {
		/* lowering removes the strides of parameters, so that the shape
		 * is taken from `plain` */
		const struct func *f = i < plain->params.n ? plain : source;
		const struct buffer *b = f->params.data[i].buffer;
		int64_t v = values[i];

		if (b && trial_elems(f, i, values, &v)) {
			v *= dtype_bytes(b->type);
		}
		text = arena_printf(a, "%s %lld", text, (long long)v);
	}
	return arena_printf(a, "%s\n", text);
}
