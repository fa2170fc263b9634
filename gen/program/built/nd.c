/* SPDX-License-Identifier: Apache-2.0 */
/* TVM's arrays and devices, and calls of the functions that tvm.build has made.
 * The interpreter runs these functions, whatever the device is.
 *
 * a = tvm.nd.array(x)        a copy of x
 * f(a, b)                    runs f, which writes the elements of b
 * b.numpy()                  a copy of b */
#include "numpy.h"

#include <inttypes.h>
#include <time.h>

#include "build_parts.h"
#include "func_work.h"
#include "interp.h"
#include "trial.h"

/* -- devices */

bool
nd_device(struct call *c, struct pval *out)
{
	struct pv_device *d = arena_new(c->ev->a, struct pv_device);
	bool named = c->n > 1;

	d->name = c->row->name;
	if (named && !arg_text(c, 0, &d->name)) {
		return false;
	}
	if (arg_given(c, named) && !arg_int(c, named, 0, INT32_MAX, &d->id)) {
		return false;
	}
	/* TVM's other names for the processor */
	if (strcmp(d->name, "llvm") == 0 || strcmp(d->name, "c") == 0) {
		d->name = "cpu";
	}
	*out = (struct pval){ .kind = PV_DEVICE, .u.device = d };
	return true;
}

bool
nd_sync(struct call *c, struct pval *out)
{
	(void)c;
	(void)out;
	return true;
}

bool
nd_exist(struct call *c, struct pval *out)
{
	(void)c;
	*out = pv_bool(true);
	return true;
}

/* -- arrays */

struct pval
pv_nd_of(struct eval *ev, struct array *x)
{
	struct pv_nd *nd = arena_new(ev->a, struct pv_nd);

	nd->array = x;
	nd->device = (struct pv_device){ .name = "cpu" };
	return (struct pval){ .kind = PV_NDARRAY, .u.nd = nd };
}

static bool
new_nd(struct call *c, struct array *x, int device, struct pval *out)
{
	*out = pv_nd_of(c->ev, x);
	if (arg_given(c, device)) {
		if (c->args[device].kind != PV_DEVICE) {
			return value_kind_error(c, device, "a device");
		}
		out->u.nd->device = *c->args[device].u.device;
	}
	return true;
}

bool
nd_array(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *x;

	if (!np_arg(c, 0, &x)) {
		return false;
	}
	x = array_cast(&w, x, x->type);
	if (!np_done(c->ev, c->span, &w) || !x) {
		return false;
	}
	x->scalar = false;
	return new_nd(c, x, 1, out);
}

bool
nd_empty(struct call *c, struct pval *out)
{
	struct dtype t = dtype_of(DT_F32);
	int64_t shape[ARRAY_MAX_RANK];
	struct array_work w = np_work(c->ev);
	struct array *x;
	int n;

	if (!np_arg_sizes(c, 0, shape, &n) || !np_arg_type(c, 1, &t)) {
		return false;
	}
	x = array_new(&w, t, n, shape);
	return np_done(c->ev, c->span, &w) && x && new_nd(c, x, 2, out);
}

bool
nd_numpy(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *x;

	if (!np_value(c->ev, c->span, &c->self, &x)) {
		return false;
	}
	return np_result(c->ev, c->span, &w, array_cast(&w, x, x->type), out);
}

/* Implements the methods a.copyfrom(x) and a.copyto(b). Returns false after an
 * error. */
bool
nd_copy(struct call *c, struct pval *out)
{
	bool to = c->row->name[4] == 't';
	struct array_work w;
	struct array *x;

	if (to && !np_value(c->ev, c->span, &c->self, &x)) {
		return false;
	}
	if (to && c->args[0].kind == PV_DEVICE) {
		w = np_work(c->ev);
		x = array_cast(&w, x, x->type);
		return np_done(c->ev, c->span, &w) && x && new_nd(c, x, 0, out);
	}
	if (!np_arg(c, 0, &x)) {
		return false;
	}
	w = np_work(c->ev);
	if (to) {
		array_store(&w, x, c->self.u.nd->array);
		*out = c->args[0];
	} else {
		array_store(&w, c->self.u.nd->array, x);
		c->self.u.nd->unknown = NULL;
		*out = c->self;
	}
	return np_done(c->ev, c->span, &w);
}

bool
nd_attribute(struct call *c, struct pval *out)
{
	const struct pv_nd *nd = c->self.u.nd;

	if (c->row->name[0] == 's') {
		*out = pv_sizes(c->ev, nd->array);
	} else if (c->row->name[1] == 't') {
		*out = pv_string(c->ev, dtype_name(nd->array->type));
	} else {
		*out = (struct pval){ .kind = PV_DEVICE,
				      .u.device = &nd->device };
	}
	return true;
}

static void
device_text(const struct pv_device *d, struct strbuf *out)
{
	strbuf_printf(out, "%s(%" PRId64 ")", d->name, d->id);
}

void
nd_text(struct eval *ev, const struct pval *v, bool repr, struct strbuf *out)
{
	const struct array *x;

	if (v->kind == PV_DEVICE) {
		device_text(v->u.device, out);
		return;
	}
	if (v->u.nd->unknown) {
		eval_leave_out(ev, v->u.nd->unknown);
		return;
	}
	x = v->u.nd->array;
	if (repr) {
		strbuf_puts(out, "<tvm.nd.NDArray shape=(");
		for (int d = 0; d < x->ndim; d++) {
			strbuf_printf(out, "%s%" PRId64, d ? ", " : "",
				      x->shape[d]);
		}
		strbuf_puts(out, x->ndim == 1 ? ",), " : "), ");
		device_text(&v->u.nd->device, out);
		strbuf_puts(out, ">\n");
	}
	array_text(x, repr, out);
}

/* -- calls */

/* A call of a function, with a value for each of its parameters. */
struct calling {
	struct eval *ev;
	struct py_span at;
	struct func *f;
	/* The function before it was lowered. Its parameters have the shapes of
	 * the arrays, while lowering may merge several dimensions into one. */
	const struct func *shaped;
	struct run_arg *args;
	bool *known; /* for each parameter: does it already have its value? */
};

static struct array *
array_of(const struct pval *v)
{
	return v->kind == PV_NDARRAY ? v->u.nd->array : v->u.array;
}

/* Takes the argument v for parameter i. Returns false after an error. */
static bool
take(struct calling *k, int i, struct py_span at, const struct pval *v)
{
	const struct param *p = &k->f->params.data[i];
	const struct buffer *shaped;
	struct py_number n;
	struct array *x;
	int64_t elems;

	k->known[i] = true;
	if (!p->buffer) {
		if (!eval_number(k->ev, v, &n) || n.kind == PY_NUMBER_FLOAT) {
			return eval_error(k->ev, at,
					  "the parameter %s of %s is an int, "
					  "not %s",
					  p->var->name, k->f->name,
					  pv_kind_name(v->kind));
		}
		k->args[i].scalar = n.i;
		return true;
	}
	if (!pv_is_array(v)) {
		return eval_error(k->ev, at,
				  "the parameter %s of %s is an array, not "
				  "%s; make one with tvm.nd.array()",
				  p->buffer->name, k->f->name,
				  pv_kind_name(v->kind));
	}
	if (v->kind == PV_NDARRAY && v->u.nd->unknown) {
		return eval_leave_out(k->ev, v->u.nd->unknown);
	}
	x = array_of(v);
	shaped = k->shaped->params.data[i].buffer;
	if (!dtype_equal(x->type, p->buffer->type) || x->ndim != shaped->ndim ||
	    p->buffer->strides || !array_is_dense(x)) {
		return eval_error(
			k->ev, at,
			"the parameter %s of %s is %d-dimensional %s, not "
			"%s of shape %s%s",
			p->buffer->name, k->f->name, shaped->ndim,
			dtype_name(p->buffer->type), dtype_name(x->type),
			array_shape_text(k->ev->a, x->ndim, x->shape),
			array_is_dense(x) ? "" : ", whose elements have gaps");
	}
	elems = array_elems(x);
	k->args[i].data = array_bytes(x, x->offset, elems);
	/* the interpreter takes 0 to mean that the number of bytes is
	 * unknown */
	k->args[i].bytes = elems > 0 ? elems * dtype_bytes(x->type) : 1;
	return true;
}

/* The index of the scalar parameter whose variable is the expression e, or -1. */
static int
param_of(const struct func *f, const struct expr *e)
{
	for (int i = 0; e->kind == EXPR_VAR && i < f->params.n; i++) {
		if (!f->params.data[i].buffer &&
		    f->params.data[i].var == e->u.var) {
			return i;
		}
	}
	return -1;
}

/* Sets size parameters that have no value yet: each one that is a dimension of
 * array parameter i gets the extent of x in this dimension. */
static void
take_sizes(struct calling *k, int i, const struct array *x)
{
	const struct buffer *b = k->shaped->params.data[i].buffer;

	for (int d = 0; d < b->ndim; d++) {
		int size = param_of(k->f, b->shape[d]);

		if (size >= 0 && !k->known[size]) {
			k->args[size].scalar = x->shape[d];
			k->known[size] = true;
		}
	}
}

/* Can the types of the parameters represent the scalars? The sizes of arrays
 * are computed in these types. Returns false after an error otherwise. */
static bool
check_scalars(struct calling *k, struct py_span at)
{
	for (int i = 0; i < k->f->params.n; i++) {
		const struct param *p = &k->f->params.data[i];

		if (!p->buffer && !dtype_is_float(p->var->type) &&
		    !dtype_holds(p->var->type, k->args[i].scalar)) {
			return eval_error(k->ev, at,
					  "the parameter %s of %s is %" PRId64
					  ", which its type %s does not hold",
					  p->var->name, k->f->name,
					  k->args[i].scalar,
					  dtype_name(p->var->type));
		}
	}
	return true;
}

/* Do the arrays have the shapes of the parameters? Returns false after an error
 * otherwise. */
static bool
check_shapes(struct calling *k, const struct call_args *given)
{
	struct arena *a = k->ev->a;
	int64_t *values = arena_array(a, int64_t, k->f->params.n + 1);
	int64_t dims[ARRAY_MAX_RANK + 2];
	int n;

	for (int i = 0; i < k->f->params.n; i++) {
		values[i] = k->args[i].scalar;
	}
	for (int i = 0; i < k->f->params.n; i++) {
		const struct param *p = &k->f->params.data[i];
		const struct pval *v = &given->values.data[i];
		const struct array *x;
		bool fits;

		values[i] = 0;
		if (!p->buffer) {
			values[i] = k->args[i].scalar;
			continue;
		}
		x = array_of(v);
		fits = trial_shape(k->shaped, i, values, dims, &n) &&
		       n == x->ndim;
		for (int d = 0; fits && d < n; d++) {
			fits = dims[d] == x->shape[d];
		}
		if (!fits) {
			return eval_error(
				k->ev, given->given.data[i].span,
				"the argument for %s of %s has shape %s, which "
				"does not fit the function",
				p->buffer->name, k->f->name,
				array_shape_text(a, x->ndim, x->shape));
		}
	}
	return true;
}

static bool
bind(struct calling *k, const struct call_args *given)
{
	int n = given->values.n;

	for (int i = 0; i < n; i++) {
		if (given->given.data[i].name || i >= k->f->params.n) {
			return eval_error(k->ev, given->given.data[i].span,
					  "%s takes %d arguments, by position",
					  k->f->name, k->f->params.n);
		}
		if (!take(k, i, given->given.data[i].span,
			  &given->values.data[i])) {
			return false;
		}
	}
	for (int i = 0; i < n; i++) {
		const struct pval *v = &given->values.data[i];

		if (pv_is_array(v)) {
			take_sizes(k, i, array_of(v));
		}
	}
	for (int i = 0; i < k->f->params.n; i++) {
		const struct param *p = &k->f->params.data[i];

		if (!k->known[i]) {
			return eval_error(
				k->ev, k->at,
				"the call of %s gives no value for %s; give "
				"each array, and sizes that no array has",
				k->f->name,
				p->buffer ? p->buffer->name : p->var->name);
		}
	}
	return check_scalars(k, k->at) && check_shapes(k, given);
}

/* The function that a call of the module runs: "main", or the first one. */
static struct program_func *
called_func(const struct pval *v)
{
	const struct pv_module *m = v->u.module;

	for (int i = 0; v->kind == PV_BUILT && i < m->funcs.n; i++) {
		if (strcmp(m->funcs.data[i]->func->name, "main") == 0) {
			return m->funcs.data[i];
		}
	}
	return v->kind == PV_FUNC ? v->u.func : m->funcs.data[0];
}

/* The statements of the call's run, about. */
static double
statements(const struct calling *k)
{
	int64_t *values = arena_array(k->ev->a, int64_t, k->f->params.n + 1);

	for (int i = 0; i < k->f->params.n; i++) {
		values[i] = k->f->params.data[i].buffer ? 0 : k->args[i].scalar;
	}
	return func_statements(k->f, values);
}

/* Called after a run that took too many steps: marks the arrays that the
 * function writes as unknown, and leaves the statement out. Returns false. */
static bool
give_up(struct calling *k, const struct call_args *given)
{
	const char *what = arena_printf(k->ev->a,
					"the results of %s, whose run of about "
					"%.3g statements takes too long for "
					"the interpreter",
					k->f->name, statements(k));

	for (int i = 0; i < given->values.n; i++) {
		const struct pval *v = &given->values.data[i];
		const struct buffer *b = k->f->params.data[i].buffer;

		if (!b || !func_writes(k->f, b)) {
			continue;
		}
		if (v->kind != PV_NDARRAY) {
			return eval_error(k->ev, k->at,
					  "%s; make the arrays smaller", what);
		}
		v->u.nd->unknown = what;
	}
	k->ev->gave_up = true;
	return eval_leave_out(k->ev, what);
}

/* A run whose progress is shown to the user. */
struct told_run {
	const struct program_options *o;
	const char *step;
	double parts; /* of TOLD_PART statements, about */
};

enum { TOLD_PART = 1000000 };

static void
tell_run(void *ctx, int64_t taken)
{
	const struct told_run *x = ctx;
	int done = (int)(taken / TOLD_PART);
	int total = x->parts > done ? (int)x->parts : done;

	x->o->progress(x->o->progress_ctx, x->step, done, total);
}

/* Does f have the same parameters as `lowered`, in the same order: an array
 * where `lowered` has an array, and the same size variable where `lowered` has
 * a size? False if f is NULL. */
static bool
has_params_of(const struct func *f, const struct func *lowered)
{
	bool same = f && f->params.n == lowered->params.n;

	for (int i = 0; same && i < f->params.n; i++) {
		const struct param *p = &lowered->params.data[i];
		const struct param *own = &f->params.data[i];

		same = p->buffer ? own->buffer != NULL
				 : !own->buffer && own->var == p->var;
	}
	return same;
}

/* Runs the function of the call with the other functions of its built module
 * defined, because it may call them. */
static bool
run_in_module(struct calling *k, const struct program_func *of,
	      struct run_steps *steps)
{
	struct module *m = k->ev->m;
	struct func **outer = m->funcs.data;
	int n = m->funcs.n, cap = m->funcs.cap;
	bool ok;

	m->funcs.data = NULL;
	m->funcs.n = m->funcs.cap = 0;
	for (int i = 0; i < of->n_siblings; i++) {
		vec_push(&m->arena, &m->funcs, of->siblings[i]->func);
	}
	for (int i = 0; i < n; i++) {
		vec_push(&m->arena, &m->funcs, outer[i]);
	}
	ok = interp_run_steps(k->f, k->args, k->f->params.n, steps);
	m->funcs.data = outer;
	m->funcs.n = n;
	m->funcs.cap = cap;
	return ok;
}

bool
nd_call(struct eval *ev, struct py_span at, const struct pval *f,
	const struct call_args *args, struct pval *out)
{
	struct program_func *of;
	struct calling k = { .ev = ev, .at = at };
	int errors = ev->m->diags.list.n;
	struct run_steps steps = { .every = TOLD_PART };
	struct told_run told = { .o = ev->o };
	int64_t before;
	bool ok;

	if (f->kind == PV_BUILT && f->u.module->funcs.n == 0) {
		return eval_error(ev, at, "the module has no function");
	}
	of = called_func(f);
	if (of->stage != PROGRAM_BUILT) {
		return eval_error(ev, at,
				  "a PrimFunc is called when it is built: "
				  "tvm.build(%s)",
				  of->func->name);
	}
	k.f = of->func;
	k.shaped = has_params_of(of->scheduled, k.f) ? of->scheduled : k.f;
	k.args = arena_array(ev->a, struct run_arg, k.f->params.n + 1);
	k.known = arena_array(ev->a, bool, k.f->params.n + 1);
	*out = pv_none();
	if (!bind(&k, args)) {
		return false;
	}
	if (!trial_define_called(ev->m, ev->result, k.f)) {
		return eval_locate(ev, at, errors);
	}
	/* A quarter of a step of the program pays for one statement of the
	 * interpreter; a run that is given up because it takes too long has
	 * used half of the remaining steps. */
	before = steps.left = ev->o->execute ? INT64_MAX
					     : 2 * (ev->max_steps - ev->steps);
	told.parts = statements(&k) / TOLD_PART;
	if (told.parts * TOLD_PART > 2 * (double)before) {
		return give_up(&k, args);
	}
	if (ev->o->progress != NULL) {
		told.step = arena_printf(ev->a,
					 "million statements of %s in the "
					 "interpreter",
					 k.f->name);
		steps.tell = tell_run;
		steps.ctx = &told;
	}
	ok = run_in_module(&k, of, &steps);
	ev->steps += ev->o->execute ? 0 : (before - steps.left) / 4;
	if (steps.left < 0) {
		diags_drop_errors(&ev->m->diags, errors, DIAG_COUNT);
		return give_up(&k, args);
	}
	return (ok || eval_locate(ev, at, errors)) && eval_tick(ev, at, 1);
}

/* -- times */

/* The result of time_evaluator: a function to be called with arguments. */
struct pv_timer {
	struct pval f;
};

/* The result of calling it. */
struct pv_times {
	double seconds; /* the duration of one run */
};

/* The attribute BUILT.entry_name. */
bool
nd_entry(struct call *c, struct pval *out)
{
	if (c->self.u.module->funcs.n == 0) {
		return call_error(c, -1, "the module has no function");
	}
	*out = pv_string(c->ev, called_func(&c->self)->func->name);
	return true;
}

bool
nd_timer(struct call *c, struct pval *out)
{
	struct pv_timer *t = arena_new(c->ev->a, struct pv_timer);

	t->f = c->self;
	diag_note(&c->ev->m->diags, DIAG_ASSUMPTION, call_place(c, -1),
		  "%s gives the time of one run in the interpreter; tirc run "
		  "%s times the compiled source",
		  c->row->name,
		  t->f.kind == PV_RUNTIME ? "MODEL.onnx" : c->ev->src->name);
	*out = (struct pval){ .kind = PV_TIMER, .u.timer = t };
	return true;
}

bool
nd_time(struct eval *ev, struct py_span at, const struct pval *f,
	const struct call_args *args, struct pval *out)
{
	struct pv_times *t = arena_new(ev->a, struct pv_times);
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (!eval_call(ev, at, &f->u.timer->f, args, out)) {
		return false;
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	t->seconds = (double)(to.tv_sec - from.tv_sec) +
		     (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
	*out = (struct pval){ .kind = PV_TIMES, .u.times = t };
	return true;
}

bool
nd_times(struct call *c, struct pval *out)
{
	struct pval v = pv_float(c->self.u.times->seconds);
	const char *name = c->row->name;

	*out = strcmp(name, "results") == 0 ? pv_list_of(c->ev, PV_TUPLE, &v, 1)
	       : strcmp(name, "std") == 0   ? pv_float(0)
					    : v;
	return true;
}
