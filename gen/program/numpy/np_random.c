/* SPDX-License-Identifier: Apache-2.0 */
/* numpy.random. A program that sets no seed gets the numbers of seed 0, so that
 * its output is the same in each run. */
#include "numpy.h"
#include "random_stream.h"

/* The generator of the call: that of the object whose method is called, or that
 * of the module. */
static struct random_stream *
stream_of(struct call *c)
{
	struct eval *ev = c->ev;

	if (c->self.kind == PV_RANDOM) {
		return c->self.u.random;
	}
	if (!ev->random) {
		ev->random = arena_new(ev->a, struct random_stream);
		random_seed_legacy(ev->random, 0);
	}
	return ev->random;
}

bool
np_seed(struct call *c, struct pval *out)
{
	int64_t seed = 0;

	(void)out;
	if (arg_given(c, 0) && !arg_int(c, 0, 0, UINT32_MAX, &seed)) {
		return false;
	}
	if (stream_of(c)->is_pcg) {
		return call_error(c, -1,
				  "a Generator has its seed from "
				  "default_rng(seed)");
	}
	random_seed_legacy(stream_of(c), (uint32_t)seed);
	return true;
}

/* Implements numpy.random.RandomState(seed) and default_rng(seed). */
bool
np_random_new(struct call *c, struct pval *out)
{
	bool legacy = c->row->name[0] == 'R';
	struct random_stream *r;
	int64_t seed = 0;

	if (arg_given(c, 0) &&
	    !arg_int(c, 0, 0, legacy ? UINT32_MAX : INT64_MAX, &seed)) {
		return false;
	}
	r = arena_new(c->ev->a, struct random_stream);
	if (legacy) {
		random_seed_legacy(r, (uint32_t)seed);
	} else {
		random_seed_pcg(r, (uint64_t)seed);
	}
	*out = (struct pval){ .kind = PV_RANDOM, .u.random = r };
	return true;
}

/* The numbers that a call draws: an array with a type and a shape, or a single
 * number. */
struct drawing {
	struct random_stream *r;
	struct dtype type;
	int64_t shape[ARRAY_MAX_RANK];
	int ndim;
	/* no shape is given: the result is a single number of Python */
	bool single;
	bool normal;
	double low, scale; /* the result is low + scale * number */
	/* integers are drawn, from `from` to `from` + `most` */
	bool whole;
	int64_t from;
	uint64_t most;
};

static union number
draw(const struct drawing *d, uint32_t *buffer, int *left)
{
	union number v;

	if (d->whole) {
		v.u = (uint64_t)d->from + random_below(d->r, d->most,
						       dtype_bits(d->type),
						       buffer, left);
		return number_round(d->type, v);
	}
	if (d->type.kind == DT_F32 && !d->normal) {
		v.f = (double)random_single(d->r);
		return v;
	}
	v.f = d->low + d->scale * (d->normal ? random_normal(d->r)
					     : random_double(d->r));
	return number_round(d->type, v);
}

static bool
draw_all(struct call *c, const struct drawing *d, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *x = array_new(&w, d->type, d->ndim, d->shape);
	int64_t n = x ? array_elems(x) : 0;
	uint32_t buffer = 0;
	int left = 0;

	for (int64_t i = 0; x && i < n; i++) {
		array_set(x, i, draw(d, &buffer, &left));
		if (!array_count(&w, 1)) {
			x = NULL;
		}
	}
	if (x && d->single) {
		*out = np_python(c->ev, x, 0);
		return np_done(c->ev, c->span, &w);
	}
	return np_result(c->ev, c->span, &w, x, out);
}

/* Reads the shape in argument i; without the argument, a single number is
 * drawn. Returns false after an error. */
static bool
take_shape(struct call *c, int i, struct drawing *d)
{
	d->single = i < 0 || !arg_given(c, i);
	if (i >= 0 && c->args[i].kind == PV_TUPLE &&
	    c->params[i].kind == PY_PARAM_STAR) {
		d->single = c->args[i].u.list->n == 0;
	}
	return d->single || np_arg_sizes(c, i, d->shape, &d->ndim);
}

static bool
draw_integers(struct call *c, struct drawing *d, struct pval *out)
{
	int64_t low = 0, high;
	bool ends = false;

	d->whole = true;
	d->type = dtype_of(DT_I64);
	if (!np_arg_type(c, 3, &d->type) ||
	    !arg_int(c, 0, INT64_MIN, INT64_MAX, &high) ||
	    (arg_given(c, 4) && !arg_bool(c, 4, &ends))) {
		return false;
	}
	if (arg_given(c, 1)) {
		low = high;
		if (!arg_int(c, 1, INT64_MIN, INT64_MAX, &high)) {
			return false;
		}
	}
	if (!dtype_is_int(d->type)) {
		return call_error(c, 3, "%s is not a type of integers",
				  dtype_name(d->type));
	}
	high -= high > INT64_MIN && !ends;
	if (high < low || !dtype_holds(d->type, low) ||
	    !dtype_holds(d->type, high)) {
		return call_error(c, 0,
				  "no %s is from %lld to %lld; choose other "
				  "bounds or another type",
				  dtype_name(d->type), (long long)low,
				  (long long)high);
	}
	d->from = low;
	d->most = (uint64_t)high - (uint64_t)low;
	return take_shape(c, 2, d) && draw_all(c, d, out);
}

/* Permutes x along its first dimension at random. Returns false after an
 * error. */
static bool
shuffle(struct call *c, struct random_stream *r, struct array *x)
{
	struct array_work w = np_work(c->ev);

	for (int64_t i = x->shape[0] - 1; i > 0; i--) {
		int64_t k = (int64_t)random_interval(r, (uint64_t)i);
		struct array_index at[2] = {
			{ .kind = INDEX_AT, .at = i },
			{ .kind = INDEX_AT, .at = k },
		};
		struct array *a = array_select(&w, x, &at[0], 1);
		struct array *b = array_select(&w, x, &at[1], 1);

		a = a ? array_cast(&w, a, x->type) : NULL;
		b = b ? array_cast(&w, b, x->type) : NULL;
		if (!a || !b || !array_assign(&w, x, &at[0], 1, b) ||
		    !array_assign(&w, x, &at[1], 1, a) ||
		    !array_count(&w, 64)) {
			break;
		}
	}
	return np_done(c->ev, c->span, &w);
}

/* permutation(x): a random permutation of range(x), or a copy of an array
 * permuted along its first dimension. shuffle(x) permutes the array itself. */
static bool
permute(struct call *c, struct random_stream *r, struct pval *out)
{
	bool in_place = c->row->name[0] == 's';
	struct array_work w = np_work(c->ev);
	struct array *x;

	if (!np_arg(c, 0, &x)) {
		return false;
	}
	if (r->is_pcg) {
		return call_error(c, -1,
				  "a Generator's %s is not tirc's; use "
				  "numpy.random.RandomState",
				  c->row->name);
	}
	if (x->ndim == 0 && !in_place) {
		double n = array_float(x, 0);

		x = array_range(&w, dtype_of(DT_I64),
				n > 0 && n < 1e12 ? (int64_t)n : 0, 0, 1);
	} else if (!in_place) {
		x = array_cast(&w, x, x->type);
	} else if (c->args[0].kind != PV_ARRAY || x->ndim == 0) {
		return call_error(c, 0, "shuffle() needs an array");
	}
	if (!x) {
		return np_done(c->ev, c->span, &w) && x;
	}
	if (!shuffle(c, r, x)) {
		return false;
	}
	*out = in_place ? pv_none() : pv_array(x);
	return np_done(c->ev, c->span, &w);
}

bool
np_draw(struct call *c, struct pval *out)
{
	const char *name = c->row->name;
	struct drawing d = { .r = stream_of(c),
			     .type = dtype_of(DT_F64),
			     .scale = 1 };
	bool uniform = strcmp(name, "uniform") == 0;

	if (strcmp(name, "permutation") == 0 || strcmp(name, "shuffle") == 0) {
		return permute(c, d.r, out);
	}
	if (strcmp(name, "randint") == 0 || strcmp(name, "integers") == 0) {
		return draw_integers(c, &d, out);
	}
	d.normal = strstr(name, "norm") != NULL || strcmp(name, "randn") == 0;
	if (uniform || strcmp(name, "normal") == 0) {
		if ((arg_given(c, 0) && !np_arg_double(c, 0, &d.low)) ||
		    (arg_given(c, 1) && !np_arg_double(c, 1, &d.scale))) {
			return false;
		}
		d.scale -= uniform ? d.low : 0;
		return take_shape(c, 2, &d) && draw_all(c, &d, out);
	}
	if (c->n > 1 && !np_arg_type(c, 1, &d.type)) {
		return false;
	}
	if (!dtype_is_float(d.type) ||
	    (d.type.kind == DT_F32 && (d.normal || !d.r->is_pcg))) {
		return call_error(c, 1,
				  "%s() has no numbers of type %s; cast "
				  "those of float64",
				  name, dtype_name(d.type));
	}
	return take_shape(c, 0, &d) && draw_all(c, &d, out);
}
