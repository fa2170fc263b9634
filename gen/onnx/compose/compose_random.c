/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers.
 *
 *	before	y = RandomNormal<shape=[4], mean=m, scale=s>()
 *	after	first, second = tirc.Random([4], random_run)
 *		u = first / 2^32 + 2^-33, v = second / 2^32
 *		y = sqrt(-2 log(u)) cos(2 pi v) s + m	(Box and Muller, 1958)
 *
 * random_run is a new input of the model: the caller gives a number to each
 * run, and runs with equal numbers give equal results. With --seed it is a
 * constant. The attribute `seed` is the key of the generator; each node without
 * it has a stream of its own. */
#include "compose.h"

#include "ops.h"

#define INPUT_NAME "random_run"

/* The random numbers of one node: two words of 32 bits for each element. */
struct draw {
	struct tensor *first, *second; /* uint32 */
	/* the type in which the result is computed: float32 or float64 */
	struct dtype type;
};

/* The model's input random_run, which is added when the first node needs it;
 * with --seed, a constant. */
static struct tensor *
run_number(struct compose *c)
{
	struct importer *imp = c->imp;
	struct tensor *t = imp->random_run;

	if (t) {
		return t;
	}
	if (imp->options->seeded) {
		t = graph_constant_ints(c->g, INPUT_NAME, 1,
					&imp->options->seed);
		vec_push(&c->m->arena, &c->g->import_options,
			 arena_printf(&c->m->arena, "--seed %lld",
				      (long long)imp->options->seed));
	} else {
		t = graph_tensor(c->g, INPUT_NAME);
		t->model_name = arena_strdup(&c->m->arena, INPUT_NAME);
		t->typed = true;
		t->type = dtype_of(DT_I64);
		t->ndim = 1;
		t->shape = arena_exprs(&c->m->arena, 1);
		t->shape[0] = expr_i32(c->m, 1);
		t->is_input = true;
		vec_push(&c->m->arena, &c->g->inputs, t);
		graph_assume(c->g,
			     "input '" INPUT_NAME "' is new: runs with equal "
			     "numbers give equal random results (--seed N "
			     "makes it a constant)");
	}
	imp->random_run = t;
	return t;
}

static struct draw
draw(struct compose *c, int ndim, const struct expr *const *shape,
     struct dtype result)
{
	static const char *const whats[] = { "first", "second" };
	const struct attr *seed = node_attr(c->node, "seed");
	bool wide = dtype_bits(result) == 64;
	struct draw d = { .type = dtype_of(wide ? DT_F64 : DT_F32) };
	struct tensor *out[2] = { c->stand_in, c->stand_in }, *in[2];
	uint32_t key = 0;

	/* Inside a loop, a node would draw the same numbers in each
	 * iteration. */
	if (place_of_node(c->imp, c->node) > 0) {
		compose_refuse(c,
			       "random numbers are not supported in a branch "
			       "whose condition depends on data, nor in a loop "
			       "whose count does, or is too large for its "
			       "iterations to be written out");
	}
	if (seed) {
		float value = seed->kind == ATTR_INT ? (float)seed->i
						     : (float)seed->f;

		memcpy(&key, &value, sizeof key);
	}
	in[0] = compose_sizes(c, "sizes", ndim, shape);
	in[1] = run_number(c);
	compose_set_int(c, "seed", key);
	compose_set_int(c, "stream", seed ? 0 : ++c->imp->n_streams);
	compose_nodes(c, "tirc", "Random", in, 2, whats, 2, out);
	d.first = out[0];
	d.second = out[1];
	return d;
}

/* The bits of a 32-bit word as a float, after its lowest `without` bits are
 * dropped. */
static struct tensor *
high_bits(struct compose *c, const char *what, const struct draw *d,
	  struct tensor *bits, int without)
{
	struct tensor *high;

	compose_set_string(c, "direction", "RIGHT");
	high = compose_with(c, arena_printf(&c->imp->tmp, "%s_high", what),
			    "BitShift", bits, without);
	return compose_cast(c, what, high, d->type);
}

/* A number in [0, 1) for each element, uniformly distributed: a multiple of
 * 2^-24, in float64 of 2^-53. */
static struct tensor *
uniform(struct compose *c, const struct draw *d)
{
	struct tensor *u;

	if (d->type.kind == DT_F32) {
		return compose_with(c, "unit", "Mul",
				    high_bits(c, "bits", d, d->first, 8),
				    0x1p-24);
	}
	u = compose_with(c, "scaled", "Mul",
			 compose_cast(c, "bits", d->first, d->type), 0x1p21);
	u = compose_2(c, "all_bits", "Add", u,
		      high_bits(c, "more_bits", d, d->second, 11));
	return compose_with(c, "unit", "Mul", u, 0x1p-53);
}

static struct tensor *
normal(struct compose *c, const struct draw *d)
{
	struct tensor *u, *v;

	u = compose_cast(c, "bits", d->first, d->type);
	u = compose_with(c, "part", "Mul", u, 0x1p-32);
	/* u must not be 0, because its logarithm is taken */
	u = compose_with(c, "unit", "Add", u, 0x1p-33);
	u = compose_with(c, "squared", "Mul", compose_1(c, "log", "Log", u),
			 -2);
	/* if u was rounded to 1, -2 log(u) is -0: Abs makes it 0 */
	u = compose_1(c, "radius", "Sqrt", compose_1(c, "square", "Abs", u));
	v = compose_cast(c, "other_bits", d->second, d->type);
	v = compose_with(c, "angle", "Mul", v, 6.283185307179586 * 0x1p-32);
	return compose_2(c, "normal", "Mul", u, compose_1(c, "cos", "Cos", v));
}

/* Sets *out to the type of the result: the one in the attribute dtype, or
 * `otherwise` if the node does not have this attribute. False after a
 * diagnostic. */
static bool
result_type(struct compose *c, struct dtype otherwise, bool floats,
	    struct dtype *out)
{
	const struct attr *type = node_attr(c->node, "dtype");

	*out = otherwise;
	return ((!type || dtype_from_onnx(type->i, out)) &&
		(floats ? dtype_is_float(*out)
			: dtype_class(*out) != DTC_STRING)) ||
	       compose_refuse(c, "its dtype is not supported; choose %s",
			      floats ? "a floating type" : "a type of numbers");
}

static bool
fill(struct compose *c, int ndim, const struct expr *const *shape,
     struct dtype otherwise, bool is_normal)
{
	double add = node_attr_float(c->node, is_normal ? "mean" : "low", 0);
	double scale = is_normal ? node_attr_float(c->node, "scale", 1)
				 : node_attr_float(c->node, "high", 1) - add;
	struct dtype type;
	struct tensor *y;
	struct draw d;

	if (!result_type(c, otherwise, true, &type)) {
		return false;
	}
	d = draw(c, ndim, shape, type);
	y = is_normal ? normal(c, &d) : uniform(c, &d);
	if (scale != 1) {
		y = compose_with(c, "scaled_result", "Mul", y, scale);
	}
	if (add != 0) {
		y = compose_with(c, "moved_result", "Add", y, add);
	}
	compose_result(c, 0, compose_cast(c, "cast", y, type));
	return true;
}

static bool
fill_shape(struct compose *c, bool is_normal)
{
	const struct attr *sizes = node_attr(c->node, "shape");
	int n = sizes ? sizes->n : 0;
	const struct expr **shape = arena_exprs(&c->m->arena, n + 1);

	if (!sizes) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "it has no shape; correct the model");
	}
	for (int d = 0; d < n; d++) {
		if (sizes->ints[d] < 0 || sizes->ints[d] > INT32_MAX) {
			return compose_error(c, DIAG_BAD_ATTRIBUTE,
					     "%lld is not a size; correct the "
					     "model",
					     (long long)sizes->ints[d]);
		}
		shape[d] = expr_index(c->m, sizes->ints[d]);
	}
	return fill(c, n, shape, dtype_of(DT_F32), is_normal);
}

static bool
fill_like(struct compose *c, bool is_normal)
{
	const struct tensor *x = compose_input(c, 0);

	return fill(c, x->ndim, x->shape, x->type, is_normal);
}

bool
compose_random_normal(struct compose *c)
{
	return fill_shape(c, true);
}

bool
compose_random_normal_like(struct compose *c)
{
	return fill_like(c, true);
}

bool
compose_random_uniform(struct compose *c)
{
	return fill_shape(c, false);
}

bool
compose_random_uniform_like(struct compose *c)
{
	return fill_like(c, false);
}

struct tensor *
compose_uniform(struct compose *c, const struct tensor *x, struct dtype type)
{
	struct draw d = draw(c, x->ndim, x->shape, type);

	return uniform(c, &d);
}

/* Bernoulli: y = u < x, with u uniform in [0, 1). */
bool
compose_bernoulli(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *u;
	struct dtype type;

	if (!result_type(c, x->type, false, &type)) {
		return false;
	}
	u = compose_uniform(c, x, x->type);
	u = compose_2(c, "drawn", "Less", u,
		      compose_cast(c, "chance", x, u->type));
	compose_result(c, 0, compose_cast(c, "cast", u, type));
	return true;
}

/* Multinomial: [0, 1) is divided into one part for each class; y is the class
 * whose part contains the uniform number u. The last class has what remains,
 * whatever the rounding.
 *
 *	chances = CumSum(Softmax(x)) without the last	# [batch, classes - 1]
 *	y[b, i] = number of chances[b] that are <= u[b, i] */
bool
compose_multinomial(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *chances, *u;
	int64_t samples = node_attr_int(c->node, "sample_size", 1), classes;
	struct dtype type, f32 = dtype_of(DT_F32);
	const struct expr *shape[2];
	struct draw d;

	if (!result_type(c, dtype_of(DT_I32), false, &type)) {
		return false;
	}
	if (x->ndim != 2 || samples < 1 || samples > INT32_MAX) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its input must be a matrix, and its "
				     "sample_size positive; correct the model");
	}
	if (!compose_known_dim(c, x, 1, &classes)) {
		return false;
	}
	shape[0] = x->shape[0];
	shape[1] = expr_index(c->m, samples);
	d = draw(c, 2, shape, f32);
	u = compose_unsqueeze(c, "column", uniform(c, &d), 2);
	compose_set_int(c, "axis", 1);
	chances = compose_1(c, "softmax", "Softmax",
			    compose_cast(c, "wide", x, f32));
	chances = compose_2(c, "sums", "CumSum", chances,
			    compose_scalar(c, "along", dtype_of(DT_I64), 1));
	chances = compose_slice(c, "chances", chances, 1, expr_i32(c->m, 0),
				expr_index(c->m, classes - 1));
	u = compose_2(c, "beyond", "GreaterOrEqual", u,
		      compose_unsqueeze(c, "row", chances, 1));
	u = compose_reduce(c, "class", "ReduceSum",
			   compose_cast(c, "counted", u, dtype_of(DT_I32)), 2,
			   false);
	compose_result(c, 0, compose_cast(c, "cast", u, type));
	return true;
}
