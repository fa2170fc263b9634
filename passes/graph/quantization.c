/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the passes over quantized graphs (integers*.c, requantize*.c,
 * signs.c), not a pass: reads the constant scales and zero points of
 * QuantizeLinear and DequantizeLinear, records the parameters of the graph's
 * inputs and outputs, finds the nodes from a sum to its QuantizeLinear, and
 * inserts tirc.Requantize. */
#include "quantization.h"

#include <float.h>
#include <math.h>

const char *
graph_rounding(const struct graph *g)
{
	static const char *const of_onnx[] = { "QuantizeLinear", "QLinearConv",
					       "QLinearMatMul" };
	static const char *const of_tirc[] = { "Requantize", "MultiplyShift",
					       "AddShift",   "Add",
					       "Mul",        "Table" };

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *n = g->nodes.data[i];
		bool own = strcmp(n->domain, "tirc") == 0;
		const char *const *names = own ? of_tirc : of_onnx;
		int count = own ? (int)(sizeof of_tirc / sizeof *of_tirc)
				: (int)(sizeof of_onnx / sizeof *of_onnx);

		for (int k = 0; k < count; k++) {
			if (strcmp(n->op_type, names[k]) == 0) {
				return g->settings->fixed_point ? "tflite"
								: "onnx";
			}
		}
	}
	return NULL;
}

bool
is_byte(const struct tensor *t)
{
	return t->type.lanes == 1 &&
	       (t->type.kind == DT_I8 || t->type.kind == DT_U8);
}

bool
is_nibble(const struct tensor *t)
{
	return t->type.lanes == 1 && dtype_is_int(t->type) &&
	       dtype_bits(t->type) == 4;
}

bool
is_byte_or_short(const struct tensor *t)
{
	return is_byte(t) || (t->type.lanes == 1 && (t->type.kind == DT_I16 ||
						     t->type.kind == DT_U16));
}

bool
scales_are_plain(const double *scale, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		if (!(scale[i] >= FLT_MIN &&
		      scale[i] <= FLT_MAX / 4294967296)) {
			return false;
		}
	}
	return n > 0;
}

static bool
read_parameters(struct graph *g, const struct node *n, int ndim,
		struct quantization *q)
{
	struct tensor *scale = n->inputs[1], *zero = node_input(n, 2);
	double *zeros;
	int64_t count;

	if (!tensor_is_constant(scale) ||
	    !dtype_equal(scale->type, dtype_of(DT_F32)) || scale->ndim > 1 ||
	    node_attr_int(n, "block_size", 0) != 0 ||
	    node_attr(n, "precision") != NULL) {
		return false;
	}
	q->scale = constant_doubles(g, scale, &q->n);
	q->axis = (int)node_attr_int(n, "axis", 1);
	q->axis += q->axis < 0 ? ndim : 0;
	if (!q->scale || !scales_are_plain(q->scale, q->n)) {
		return false;
	}
	zeros = arena_array(&g->module->arena, double, q->n + 1);
	if (zero) {
		zeros = tensor_is_constant(zero)
				? constant_doubles(g, zero, &count)
				: NULL;
		if (!zeros || count != q->n) {
			return false;
		}
	}
	q->zero = zeros;
	return true;
}

struct tensor *
dequantized(struct graph *g, const struct tensor *t, struct quantization *q)
{
	const struct node *n = t->producer;

	if (!n || !node_is(n, "DequantizeLinear") || n->match ||
	    !dtype_equal(t->type, dtype_of(DT_F32)) ||
	    !(is_byte_or_short(n->inputs[0]) || is_nibble(n->inputs[0]) ||
	      n->inputs[0]->type.kind == DT_I32) ||
	    !read_parameters(g, n, t->ndim, q)) {
		return NULL;
	}
	return n->inputs[0];
}

bool
quantization_of(struct graph *g, const struct node *n, struct quantization *q)
{
	return node_is(n, "QuantizeLinear") && !n->match &&
	       is_byte_or_short(n->outputs[0]) &&
	       dtype_equal(n->inputs[0]->type, dtype_of(DT_F32)) &&
	       read_parameters(g, n, n->outputs[0]->ndim, q);
}

/* x - zero has at most 17 bits and is exact in float32. Its product with the
 * scale, and the division of the product by the scale, each have a relative
 * error of at most 2^-24, because all are normal numbers. So the quotient
 * differs from x - zero by less than 0.01. */
bool
quantizes_back(struct graph *g, const struct node *n)
{
	const struct tensor *t = n->n_inputs > 1 ? n->inputs[0] : NULL;
	const struct node *p = t != NULL ? t->producer : NULL;
	struct quantization q;

	return node_is(n, "QuantizeLinear") && !n->match && p != NULL &&
	       node_is(p, "DequantizeLinear") && !p->match &&
	       n->inputs[1] == p->inputs[1] && n->inputs[1]->ndim == 0 &&
	       node_input(n, 2) == node_input(p, 2) && n->outputs[0] &&
	       dtype_equal(p->inputs[0]->type, n->outputs[0]->type) &&
	       dtype_is_int(n->outputs[0]->type) &&
	       dtype_bits(n->outputs[0]->type) <= 16 &&
	       dtype_equal(t->type, dtype_of(DT_F32)) &&
	       read_parameters(g, n, t->ndim, &q);
}

/* Sets *out to a scale and zero point of n: if `made` is set, those of the
 * result of n, a QuantizeLinear or QLinear node; else those of the first input
 * of n, a DequantizeLinear or QLinear node. False if n is any other node, or if
 * scale and zero point are not scalar constants. */
static bool
reals_of(struct graph *g, const struct node *n, bool made, struct reals *out)
{
	bool linear = node_is(n, "QLinearConv") || node_is(n, "QLinearMatMul");
	int at = !linear ? 1 : made ? 6 : 1;
	struct tensor *scale, *zero;
	int64_t count;
	const double *values;

	if (!linear &&
	    !node_is(n, made ? "QuantizeLinear" : "DequantizeLinear")) {
		return false;
	}
	scale = node_input(n, at);
	zero = node_input(n, at + 1);
	if (!scale || !tensor_is_constant(scale) ||
	    (zero && !tensor_is_constant(zero))) {
		return false;
	}
	values = constant_doubles(g, scale, &count);
	if (!values || count != 1) {
		return false;
	}
	out->scale = values[0];
	out->zero_point = 0;
	if (zero) {
		values = constant_doubles(g, zero, &count);
		if (!values || count != 1) {
			return false;
		}
		out->zero_point = (int64_t)values[0];
	}
	return true;
}

static void
note(struct graph *g, struct tensor *t)
{
	struct reals found, one;
	int n_found = 0;

	if (!dtype_is_int(t->type) || dtype_bits(t->type) > 16) {
		return;
	}
	if (t->producer && reals_of(g, t->producer, true, &one)) {
		found = one;
		n_found++;
	}
	for (int i = 0; i < t->uses.n; i++) {
		if (t->uses.data[i].input != 0 ||
		    !reals_of(g, t->uses.data[i].node, false, &one)) {
			continue;
		}
		if (n_found++ > 0 && (one.scale != found.scale ||
				      one.zero_point != found.zero_point)) {
			return;
		}
		found = one;
	}
	/* A header has no text for a scale that is infinite or NaN. */
	if (n_found > 0 && isfinite(found.scale)) {
		t->reals = arena_copy(&g->module->arena, &found, sizeof found);
	}
}

void
record_io_quantization(struct graph *g)
{
	for (int i = 0; i < g->inputs.n; i++) {
		note(g, g->inputs.data[i]);
	}
	for (int i = 0; i < g->outputs.n; i++) {
		note(g, g->outputs.data[i]);
	}
}

bool
quantization_equal(const struct quantization *a, const struct quantization *b)
{
	return a->n == 1 && b->n == 1 && a->scale[0] == b->scale[0] &&
	       a->zero[0] == b->zero[0];
}

/* -- the end -- */

static bool
is_bound(const struct node *n)
{
	return (node_is(n, "Relu") || node_is(n, "Clip")) && !n->match;
}

/* The integer to which QuantizeLinear converts v, clamped to [least, most]. */
static int64_t
stored(const struct quantized_epilogue *end, double v, int64_t least,
       int64_t most)
{
	v = nearbyint((double)((float)v / (float)end->q.scale[0])) +
	    end->q.zero[0];
	return v <= (double)least  ? least
	       : v >= (double)most ? most
				   : (int64_t)v;
}

/* Quantization is monotonic, so that bounds can be applied afterwards: the
 * smallest or the largest result becomes the bound. So if the upper bound of a
 * Clip is below the lower one, the upper bound wins. */
static void
apply(struct quantized_epilogue *end, bool is_lower, int64_t v)
{
	if (is_lower ? end->low < v : end->low > v) {
		end->low = v;
	}
	if (is_lower ? end->high < v : end->high > v) {
		end->high = v;
	}
}

static bool
apply_bound(struct quantized_epilogue *end, const struct node *n, int64_t least,
	    int64_t most)
{
	double v = 0;

	if (node_is(n, "Relu")) {
		apply(end, true, stored(end, 0, least, most));
		return true;
	}
	for (int i = 1; i <= 2; i++) {
		if (!node_input(n, i)) {
			continue;
		}
		if (!input_scalar(n, i, &v) || isnan(v)) {
			return false;
		}
		apply(end, i == 1, stored(end, v, least, most));
	}
	return true;
}

bool
find_quantized_epilogue(struct graph *g, const struct node *anchor,
			struct quantized_epilogue *end)
{
	struct node *n;
	const struct tensor *t = anchor->outputs[0];
	int64_t least, most;

	*end = (struct quantized_epilogue){ .n_bounds = 0 };
	for (int i = 1; i < anchor->n_outputs; i++) {
		if (anchor->outputs[i]) {
			return false;
		}
	}
	while ((n = sole_user(t)) != NULL && is_bound(n) && n->inputs[0] == t &&
	       end->n_bounds < 4) {
		end->bounds[end->n_bounds++] = n;
		t = n->outputs[0];
	}
	if (!n || n->inputs[0] != t || !quantization_of(g, n, &end->q) ||
	    end->q.n != 1) {
		return false;
	}
	end->quantize = n;
	least = end->low = dtype_min_int(n->outputs[0]->type);
	most = end->high = dtype_max_int(n->outputs[0]->type);
	for (int i = 0; i < end->n_bounds; i++) {
		if (!apply_bound(end, end->bounds[i], least, most)) {
			return false;
		}
	}
	return true;
}

/* -- factors -- */

bool
fixed_point(double real, int64_t *multiplier, int64_t *exponent)
{
	int shift = 0;
	double m = round(frexp(real, &shift) * 2147483648.0);

	if (m >= 2147483648.0) {
		m /= 2;
		shift++;
	}
	if (real == 0 || shift < -31) {
		m = shift = 0;
	}
	*multiplier = (int64_t)m;
	*exponent = shift;
	return shift <= 31;
}

static bool
all_equal(const double *v, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		if (v[i] != v[0]) {
			return false;
		}
	}
	return true;
}

struct tensor *
constant_words(struct graph *g, const char *base, int64_t n, const int32_t *v)
{
	return graph_constant(g, base, dtype_of(DT_I32), n == 1 ? 0 : 1, &n, v);
}

/* Is the setting fixed_point on, and can all scales be written as fixed-point
 * numbers? */
static bool
is_fixed(const struct graph *g, const double *scale, int64_t n)
{
	bool fits = g->settings->fixed_point;
	int64_t m, e;

	for (int64_t i = 0; i < n && fits; i++) {
		fits = fixed_point(scale[i], &m, &e);
	}
	return fits;
}

/* Makes the inputs of a Requantize that have the factors, from input 1 on;
 * returns their number. */
static int
factors(struct graph *g, bool fixed, const char *base, const double *scale,
	int64_t n, struct tensor **in)
{
	struct arena *a = &g->module->arena;
	int32_t *multiplier, *exponent;

	if (!fixed) {
		in[0] = constant_floats(g, arena_printf(a, "%s.scale", base),
					dtype_of(DT_F64), n == 1 ? 0 : 1, &n,
					scale);
		return 1;
	}
	multiplier = arena_array(a, int32_t, n);
	exponent = arena_array(a, int32_t, n);
	for (int64_t i = 0; i < n; i++) {
		int64_t m, e;

		fixed_point(scale[i], &m, &e);
		multiplier[i] = (int32_t)m;
		exponent[i] = (int32_t)e;
	}
	in[0] = constant_words(g, arena_printf(a, "%s.multiplier", base), n,
			       multiplier);
	in[1] = constant_words(g, arena_printf(a, "%s.exponent", base), n,
			       exponent);
	return 2;
}

/* -- nodes -- */

#define WITH_INTEGERS "computed with the stored integers"

struct node *
insert_internal(struct graph *g, const struct node *before, const char *op_type,
		const char *base, struct tensor *const *inputs, int n_inputs)
{
	struct node *n = insert_node(g, before, op_type, base, inputs,
				     n_inputs);

	n->domain = "tirc";
	n->op = op_find("tirc", op_type);
	return n;
}

struct node *
insert_requantize(struct graph *g, const struct quantized_epilogue *end,
		  struct tensor *sum, const double *scale, int64_t n, int axis)
{
	const struct tensor *y = end->quantize->outputs[0];
	struct tensor *in[3] = { sum };
	bool fixed = is_fixed(g, scale, n);
	struct node *made;
	int count;

	count = 1 + factors(g, fixed, y->name, scale,
			    all_equal(scale, n) ? 1 : n, in + 1);
	made = insert_internal(g, end->quantize, "Requantize", y->name, in,
			       count);
	made->name = end->quantize->name;
	node_set_attr_string(g, made, "rounding", fixed ? "fixed" : "nearest");
	node_set_attr_int(g, made, "to", dtype_onnx_number(y->type));
	node_set_attr_int(g, made, "axis", axis);
	node_set_attr_int(g, made, "zero", (int64_t)end->q.zero[0]);
	node_set_attr_int(g, made, "low", end->low);
	node_set_attr_int(g, made, "high", end->high);
	return made;
}

void
record_absorbed_dequantize(struct graph *g, const struct tensor *t,
			   struct node *into)
{
	graph_take_up(
		g, t->producer, into, "integers",
		into != NULL
			? "its readers take the stored integers, and scale after"
			: "its readers take the stored integers; its scale is in "
			  "their constants");
}

bool
finish_quantized(struct graph *g, struct node *anchor,
		 const struct quantized_epilogue *end, struct node *made)
{
	struct tensor *y = end->quantize->outputs[0];

	if (!ops_infer_node(g, made)) {
		return false;
	}
	graph_note(g, anchor, "integers", WITH_INTEGERS);
	graph_absorb(made, anchor);
	for (int i = 0; i < end->n_bounds; i++) {
		graph_note(g, end->bounds[i], "integers", WITH_INTEGERS);
		graph_absorb(made, end->bounds[i]);
	}
	graph_note(g, end->quantize, "integers", WITH_INTEGERS);
	graph_absorb(made, end->quantize);
	graph_replace_uses(g, y, made->outputs[0]);
	graph_remove_node(g, end->quantize, "integers", "");
	for (int i = end->n_bounds - 1; i >= 0; i--) {
		graph_remove_node(g, end->bounds[i], "integers", "");
	}
	graph_remove_node(g, anchor, "integers", "");
	return true;
}
