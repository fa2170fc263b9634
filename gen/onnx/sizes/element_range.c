/* SPDX-License-Identifier: Apache-2.0 */
/* The range of a tensor's elements, derived from the operators that compute it:
 *
 *	boxes = Clip (y, 0, 96)              [0, 96]
 *	width = Ceil (Sub (boxes, boxes))    [-97, 97]
 *	size = Max (width, 1)                [1, 97]
 *
 * Such a range gives the bound of a size that the model computes. The entry
 * function checks these bounds: a NaN, or a rounding error beyond a small
 * margin, makes it return an error status. */
#include <math.h>

#include "dims.h"
#include "sizes.h"

enum { DEPTH_MAX = 1000, ELEMS_MAX = 1 << 16 };

struct span {
	double min, max;
};

struct finder {
	struct importer *imp;
	int depth;
	/* The ranges found so far. `found` maps a tensor to an index in
	 * `spans`, where its range is. */
	struct pointer_map found;
	VEC(struct span) spans;
};

static const struct span anything = { -INFINITY, INFINITY };

static struct span span_of(struct finder *f, const struct tensor *t);

/* How the range of an operator's result follows from the ranges of its
 * inputs. */
enum span_rule {
	SPAN_FIRST, /* the range of input 0 itself */
	SPAN_ALL,   /* the union of the ranges of all inputs */
	SPAN_REST,  /* the union of the ranges of all inputs but the first */
	SPAN_ADD,
	SPAN_SUB,
	SPAN_MUL,
	SPAN_DIV,
	SPAN_NEG,
	SPAN_ABS,
	SPAN_MIN,
	SPAN_MAX,
	SPAN_CLIP,
	SPAN_RELU,
	SPAN_WHOLE, /* the range of input 0, rounded to integers */
	SPAN_CAST,
	SPAN_UNIT, /* [0, 1] */
	SPAN_SIGNED_UNIT,
	SPAN_SIZES, /* the range of the sizes of input 0 */
	SPAN_INDEX, /* the range of the indices of input 0's elements */
};

static const struct {
	const char *op;
	enum span_rule rule;
} rules[] = {
	{ "Abs", SPAN_ABS },
	{ "Add", SPAN_ADD },
	{ "ArgMax", SPAN_INDEX },
	{ "ArgMin", SPAN_INDEX },
	{ "Cast", SPAN_CAST },
	{ "Ceil", SPAN_WHOLE },
	{ "Clip", SPAN_CLIP },
	{ "Compress", SPAN_FIRST },
	{ "Concat", SPAN_ALL },
	{ "Div", SPAN_DIV },
	{ "Expand", SPAN_FIRST },
	{ "Flatten", SPAN_FIRST },
	{ "Floor", SPAN_WHOLE },
	{ "Gather", SPAN_FIRST },
	{ "GatherElements", SPAN_FIRST },
	{ "GatherND", SPAN_FIRST },
	{ "HardSigmoid", SPAN_UNIT },
	{ "Identity", SPAN_FIRST },
	{ "Max", SPAN_MAX },
	{ "Min", SPAN_MIN },
	{ "Mul", SPAN_MUL },
	{ "Neg", SPAN_NEG },
	{ "NonZero", SPAN_INDEX },
	{ "ReduceMax", SPAN_FIRST },
	{ "ReduceMean", SPAN_FIRST },
	{ "ReduceMin", SPAN_FIRST },
	{ "Relu", SPAN_RELU },
	{ "Reshape", SPAN_FIRST },
	{ "Round", SPAN_WHOLE },
	{ "RunSize", SPAN_FIRST },
	{ "Shape", SPAN_SIZES },
	{ "Sigmoid", SPAN_UNIT },
	{ "Sign", SPAN_SIGNED_UNIT },
	{ "Slice", SPAN_FIRST },
	{ "Softmax", SPAN_UNIT },
	{ "Split", SPAN_FIRST },
	{ "Squeeze", SPAN_FIRST },
	{ "Sub", SPAN_SUB },
	{ "Tanh", SPAN_SIGNED_UNIT },
	{ "Tile", SPAN_FIRST },
	{ "Transpose", SPAN_FIRST },
	{ "Unsqueeze", SPAN_FIRST },
	{ "Where", SPAN_REST },
};

static struct span
joined(struct span a, struct span b)
{
	return (struct span){ fmin(a.min, b.min), fmax(a.max, b.max) };
}

static struct span
product(struct span a, struct span b)
{
	double v[4] = { a.min * b.min, a.min * b.max, a.max * b.min,
			a.max * b.max };
	struct span s = { v[0], v[0] };

	for (int i = 0; i < 4; i++) {
		if (isnan(v[i])) {
			return anything;
		}
		s = joined(s, (struct span){ v[i], v[i] });
	}
	return s;
}

/* The range of a / b; a quotient of integers is truncated. Any number if b may
 * be 0. */
static struct span
quotient(struct span a, struct span b, struct dtype type)
{
	if (b.min <= 0 && b.max >= 0) {
		return anything;
	}
	a = product(a, (struct span){ 1 / b.max, 1 / b.min });
	return dtype_is_float(type)
		       ? a
		       : (struct span){ floor(a.min), ceil(a.max) };
}

/* The range of the integers to which numbers in the range a can be rounded,
 * with a margin for the rounding errors of floats. */
static struct span
whole(struct span a)
{
	return (struct span){ floor(a.min - fabs(a.min) * 1e-6),
			      ceil(a.max + fabs(a.max) * 1e-6) };
}

static struct span
absolute(struct span a)
{
	double most = fmax(fabs(a.min), fabs(a.max));

	return (struct span){ a.min <= 0 && a.max >= 0
				      ? 0
				      : fmin(fabs(a.min), fabs(a.max)),
			      most };
}

/* The range of values in a after a conversion between two types. Any number if
 * `to` is an integer type that may not represent them. */
static struct span
converted(struct span a, struct dtype from, struct dtype to)
{
	if (dtype_class(to) == DTC_BOOL) {
		return (struct span){ 0, 1 };
	}
	if (dtype_class(from) == DTC_BOOL) {
		return (struct span){ fmax(a.min, 0), fmin(a.max, 1) };
	}
	if (dtype_is_float(to)) {
		return a;
	}
	if (dtype_is_float(from)) {
		a = whole(a);
	}
	return dtype_bits(to) >= 32 && fabs(a.min) < INT32_MAX &&
			       fabs(a.max) < INT32_MAX
		       ? a
		       : anything;
}

static struct span
span_of_all(struct finder *f, const struct node *n, int first)
{
	struct span s = span_of(f, n->inputs[first]);

	for (int i = first + 1; i < n->n_inputs; i++) {
		s = joined(s, span_of(f, n->inputs[i]));
	}
	return s;
}

/* The range of the elementwise minimum or maximum of all inputs. */
static struct span
extreme(struct finder *f, const struct node *n, bool largest)
{
	struct span s = span_of(f, n->inputs[0]);

	for (int i = 1; i < n->n_inputs; i++) {
		struct span b = span_of(f, n->inputs[i]);

		s.min = largest ? fmax(s.min, b.min) : fmin(s.min, b.min);
		s.max = largest ? fmax(s.max, b.max) : fmin(s.max, b.max);
	}
	return s;
}

static struct span
clipped(struct finder *f, const struct node *n)
{
	struct span s = span_of(f, n->inputs[0]), b;

	if (node_input(n, 1)) {
		b = span_of(f, n->inputs[1]);
		s.min = fmax(s.min, b.min);
		s.max = fmax(s.max, b.max);
	}
	if (node_input(n, 2)) {
		b = span_of(f, n->inputs[2]);
		s.min = fmin(s.min, b.min);
		s.max = fmin(s.max, b.max);
	}
	return s;
}

/* A range from 0 to the largest size of x; with `product`, to the largest
 * number of x's elements. */
static struct span
sizes_of(const struct tensor *x, bool product)
{
	double most = product ? 1 : 0;

	for (int d = 0; d < x->ndim; d++) {
		struct tensor one = { .ndim = 1, .shape = &x->shape[d] };
		int64_t v;

		if (!tensor_max_elems(&one, &v)) {
			return anything;
		}
		most = product ? most * (double)v : fmax(most, (double)v);
	}
	return (struct span){ 0, most };
}

static struct span
apply(struct finder *f, const struct node *n, enum span_rule rule)
{
	struct tensor *const *in = n->inputs;
	struct span a, b;

	switch (rule) {
	case SPAN_ALL:
		return span_of_all(f, n, 0);
	case SPAN_REST:
		return span_of_all(f, n, 1);
	case SPAN_MIN:
		return extreme(f, n, false);
	case SPAN_MAX:
		return extreme(f, n, true);
	case SPAN_CLIP:
		return clipped(f, n);
	case SPAN_UNIT:
		return (struct span){ 0, 1 };
	case SPAN_SIGNED_UNIT:
		return (struct span){ -1, 1 };
	case SPAN_SIZES:
		return sizes_of(in[0], false);
	case SPAN_INDEX:
		return sizes_of(in[0], true);
	default:
		break;
	}
	a = span_of(f, in[0]);
	switch (rule) {
	case SPAN_ADD:
		b = span_of(f, in[1]);
		return (struct span){ a.min + b.min, a.max + b.max };
	case SPAN_SUB:
		b = span_of(f, in[1]);
		return (struct span){ a.min - b.max, a.max - b.min };
	case SPAN_MUL:
		return product(a, span_of(f, in[1]));
	case SPAN_DIV:
		return quotient(a, span_of(f, in[1]), in[0]->type);
	case SPAN_NEG:
		return (struct span){ -a.max, -a.min };
	case SPAN_ABS:
		return absolute(a);
	case SPAN_RELU:
		return (struct span){ fmax(a.min, 0), fmax(a.max, 0) };
	case SPAN_WHOLE:
		return whole(a);
	case SPAN_CAST:
		return converted(a, in[0]->type, n->outputs[0]->type);
	default:
		return a;
	}
}

/* The range of a constant. */
static struct span
span_of_value(const struct value *v)
{
	struct span s = { INFINITY, -INFINITY };
	int64_t n = v->data ? v->elems : v->elems > 0;

	if (n > ELEMS_MAX || n == 0) {
		return anything;
	}
	for (int64_t i = 0; i < n; i++) {
		union number x = v->data ? number_load(v->type, v->data,
						       (size_t)i)
					 : v->fill;
		double e = dtype_is_float(v->type) ? x.f : (double)x.i;

		if (isnan(e)) {
			return anything;
		}
		s = joined(s, (struct span){ e, e });
	}
	return s;
}

/* The range of a small tensor whose elements are known; they may be symbolic
 * sizes. */
static struct span
span_of_elems(const struct tensor *t)
{
	struct span s = { INFINITY, -INFINITY };

	for (int i = 0; i < t->n_elems; i++) {
		const struct expr *e = t->elems[i];
		int64_t min, max;

		if (e->kind == EXPR_FLOAT) {
			s = joined(s, (struct span){ e->u.fval, e->u.fval });
		} else if (size_bounds(e, &min, &max)) {
			s = joined(s,
				   (struct span){ (double)min, (double)max });
		} else {
			return anything;
		}
	}
	return t->n_elems > 0 ? s : anything;
}

static struct span
span_of_node(struct finder *f, const struct node *n)
{
	if (*n->domain && strcmp(n->domain, "tirc") != 0) {
		return anything;
	}
	if (n->n_inputs == 0 || !n->inputs[0]) {
		return anything;
	}
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		if (strcmp(rules[i].op, n->op_type) == 0) {
			return apply(f, n, rules[i].rule);
		}
	}
	/* A node that passes a value into or out of a branch or loop keeps its
	 * range. */
	return strcmp(n->op_type, "Copy") == 0 ||
			       strcmp(n->op_type, "ScanInput") == 0
		       ? span_of(f, n->inputs[0])
		       : anything;
}

static struct span
span_of_tensor(struct finder *f, const struct tensor *t)
{
	struct span s = anything;

	if (t->value && dtype_class(t->value->type) != DTC_STRING) {
		return span_of_value(t->value);
	}
	if (t->elems) {
		return span_of_elems(t);
	}
	if (t->producer && !is_deferred(t->producer) && f->depth < DEPTH_MAX) {
		f->depth++;
		s = span_of_node(f, t->producer);
		f->depth--;
	}
	return isnan(s.min) || isnan(s.max) ? anything : s;
}

static struct span
span_of(struct finder *f, const struct tensor *t)
{
	struct span s;
	int at;

	if (!t || !t->typed) {
		return anything;
	}
	at = pointer_map_get(&f->found, t, -1);
	if (at >= 0) {
		return f->spans.data[at];
	}
	s = span_of_tensor(f, t);
	pointer_map_put(&f->found, t, f->spans.n);
	vec_push(&f->imp->tmp, &f->spans, s);
	return s;
}

bool
import_element_range(struct importer *imp, const struct tensor *t, double *min,
		     double *max)
{
	struct finder f = { .imp = imp };
	struct span s;

	pointer_map_init(&f.found, &imp->tmp);
	s = span_of(&f, t);
	*min = s.min;
	*max = s.max;
	return isfinite(s.min) && isfinite(s.max);
}
