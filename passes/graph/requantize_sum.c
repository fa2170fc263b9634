/* SPDX-License-Identifier: Apache-2.0 */
/* A part of the pass `requantize`: sums of two quantized tensors by integer
 * factors and one shift, proven exact.
 *
 *	a = DequantizeLinear (p, sa, za)       y = tirc.AddShift (p, q)
 *	b = DequantizeLinear (q, sb, zb)
 *	y = QuantizeLinear (Add (a, b), sy, zy)
 *
 *	z = p * a_factor + q * b_factor + constant
 *	clamp((z + addend) >> right)
 *
 * The definition, which may be TFLite's tirc.Add, is computed by the executor
 * for all 65,536 pairs of bytes. Each pair bounds the addend; the proof
 * succeeds if the bounds leave an addend. Integer factors near the exact
 * factors are tried. As in requantize.c, a negative z may have another addend,
 * and 1 may be added if the result is odd. */
#include <math.h>

#include "quantization.h"
#include "requantize.h"

enum { BYTES = 256 };

/* Factors up to this distance from the nearest integer factors are tried. */
enum { MOST_DISTANCE = 5 };

struct sum {
	struct graph *g;
	struct node *n;
	struct tensor *in[2];
	double scale[2]; /* by term: its scale in steps of the result */
	int64_t zero[2], zero_y, least, most;
	/* [BYTES][BYTES]: the result for each pair of bytes, both counted from
	 * the lowest byte */
	const double *value;
	int64_t factor[2];
	int right;
	bool even;
	struct addends addend[SIGNS];
};

/* -- the definition for all pairs -- */

/* A constant with all bytes, as a column (for input 0) or as a row. */
static struct tensor *
all_bytes(struct graph *scratch, const struct tensor *t, int input)
{
	uint8_t *data = arena_alloc(&scratch->module->arena, BYTES);
	int64_t shape[2] = { input == 0 ? BYTES : 1, input == 0 ? 1 : BYTES };

	for (int i = 0; i < BYTES; i++) {
		data[i] = (uint8_t)(t->type.kind == DT_I8 ? i - 128 : i);
	}
	return graph_constant(scratch, t->name, t->type, 2, shape, data);
}

/* The result of the operator n for x and n's constants, which are scalars. NULL
 * if x is NULL, a constant has no bytes, or after a diagnostic. */
static struct tensor *
computed(struct sum *s, struct graph *scratch, const struct node *n,
	 struct tensor *x)
{
	struct tensor *in[3] = { x };

	for (int i = 1; i < n->n_inputs && i < 3; i++) {
		struct tensor *t = node_input(n, i);
		const struct value *v = t ? tensor_value(s->g, t) : NULL;

		if (t && (!v || !v->data)) {
			return NULL;
		}
		in[i] = t ? graph_constant(scratch, t->name, t->type, 0, NULL,
					   v->data)
			  : NULL;
	}
	return x ? constant_of(scratch, n, in) : NULL;
}

/* The results, for all pairs of bytes, of the chain from the two
 * DequantizeLinear to its end. */
static struct tensor *
computed_chain(struct sum *s, struct graph *scratch,
	       const struct quantized_epilogue *end)
{
	struct tensor *in[2], *y;

	for (int i = 0; i < 2; i++) {
		in[i] = computed(s, scratch, s->n->inputs[i]->producer,
				 all_bytes(scratch, s->in[i], i));
		if (!in[i]) {
			return NULL;
		}
	}
	y = constant_of(scratch, s->n, in);
	for (int i = 0; i < end->n_bounds && y; i++) {
		y = computed(s, scratch, end->bounds[i], y);
	}
	return computed(s, scratch, end->quantize, y);
}

static struct tensor *
computed_add(struct sum *s, struct graph *scratch)
{
	struct tensor *in[2] = { all_bytes(scratch, s->in[0], 0),
				 all_bytes(scratch, s->in[1], 1) };

	return constant_of(scratch, s->n, in);
}

/* -- proofs -- */

static int64_t
lowest(const struct tensor *t)
{
	return t->type.kind == DT_I8 ? -128 : 0;
}

/* Computes, from all pairs of bytes, the ranges of addends for the present
 * factors; false if a range is empty. */
static bool
find_addends(struct sum *s)
{
	int64_t one = (int64_t)1 << s->right;
	/* The range is limited at first, so that the sums fit. */
	struct addends negative = { -(BYTES + 1) * one, (BYTES + 1) * one };
	struct addends other = negative;

	for (int i = 0; i < BYTES * BYTES; i++) {
		int64_t p = i / BYTES + lowest(s->in[0]) - s->zero[0];
		int64_t q = i % BYTES + lowest(s->in[1]) - s->zero[1];
		int64_t v = (int64_t)s->value[i];
		int64_t z = p * s->factor[0] + q * s->factor[1];
		struct addends *a = z < 0 ? &negative : &other;

		z += s->even ? z >> s->right & 1 : 0;
		if (v > s->least) {
			addend_at_least(&a->from, v * one - z);
		}
		if (v < s->most) {
			addend_at_most(&a->to, (v + 1) * one - 1 - z);
		}
		if (no_addend(*a)) {
			return false;
		}
	}
	s->addend[NEGATIVE] = negative;
	s->addend[OTHER] = other;
	return true;
}

/* Tries all factors near the exact ones. Prefers factors for which the addend
 * is the same for all z. False if no factors fit. */
static bool
find_factors(struct sum *s)
{
	struct sum found = { .g = NULL };
	int width = 2 * MOST_DISTANCE + 1;

	for (int i = 0; i < width * width; i++) {
		int step[2] = { i % width, i / width };

		for (int k = 0; k < 2; k++) {
			double exact = ldexp(s->scale[k], s->right);
			int far = (step[k] + 1) / 2;

			s->factor[k] = (int64_t)nearbyint(exact) +
				       (step[k] % 2 == 0 ? far : -far);
		}
		if (!find_addends(s)) {
			continue;
		}
		if (!no_addend(both_addends(s->addend[NEGATIVE],
					    s->addend[OTHER]))) {
			return true;
		}
		found = found.g == NULL ? *s : found;
	}
	*s = found.g != NULL ? found : *s;
	return found.g != NULL;
}

/* Tries shifts, from the longest one with which all sums fit in 32 bits to
 * shorter ones. True if factors and addends are found. */
static bool
prove(struct sum *s)
{
	double most = (s->scale[0] + s->scale[1]) * BYTES + BYTES + 8;

	s->right = 31 - (int)ceil(log2(most));
	if (s->right < 1 || s->right > 30) {
		return false;
	}
	s->even = false;
	if (find_factors(s)) {
		return true;
	}
	s->even = true;
	return find_factors(s);
}

/* -- nodes -- */

static void
set_attrs(const struct sum *s, struct node *n)
{
	struct addends of = s->addend[OTHER], below = s->addend[NEGATIVE];
	bool equal = !no_addend(both_addends(of, below));
	int64_t half = ((int64_t)1 << s->right) / 2, addend;
	int64_t constant = -s->zero[0] * s->factor[0] -
			   s->zero[1] * s->factor[1];

	addend = nearest_addend(equal ? both_addends(of, below) : of,
				s->zero_y * 2 * half + half);
	node_set_attr_int(s->g, n, "a_factor", s->factor[0]);
	node_set_attr_int(s->g, n, "b_factor", s->factor[1]);
	node_set_attr_int(s->g, n, "constant", constant);
	node_set_attr_int(s->g, n, "addend", addend);
	if (!equal) {
		node_set_attr_int(s->g, n, "negative",
				  nearest_addend(below, addend) - addend);
	}
	if (s->even) {
		node_set_attr_int(s->g, n, "even", 1);
	}
	node_set_attr_int(s->g, n, "right", s->right);
	node_set_attr_int(s->g, n, "low", s->least);
	node_set_attr_int(s->g, n, "high", s->most);
	node_set_attr_string(s->g, n, "title", "Add");
}

/* Reads the results y for all pairs, and searches for factors and addends. True
 * if factors and addends are found and proven. */
static bool
fits(struct sum *s, struct graph *scratch, struct tensor *y)
{
	int64_t count = 0;

	s->value = y ? constant_doubles(scratch, y, &count) : NULL;
	return count == BYTES * BYTES && s->scale[0] > 0 && s->scale[1] > 0 &&
	       prove(s);
}

static bool
convert_chain(struct graph *g, struct node *n)
{
	struct quantization q[2];
	struct quantized_epilogue end;
	struct sum s = { .g = g, .n = n };
	struct graph *scratch;
	struct node *made;

	for (int i = 0; i < 2; i++) {
		s.in[i] = dequantized(g, n->inputs[i], &q[i]);
		if (!s.in[i] || q[i].n != 1 || !is_byte(s.in[i]) ||
		    tensor_is_constant(s.in[i])) {
			return g->module->diags.n_errors == 0;
		}
		s.zero[i] = (int64_t)q[i].zero[0];
	}
	if (!find_quantized_epilogue(g, n, &end) ||
	    !is_byte(end.quantize->outputs[0])) {
		return g->module->diags.n_errors == 0;
	}
	s.zero_y = (int64_t)end.q.zero[0];
	s.least = end.low;
	s.most = end.high;
	for (int i = 0; i < 2; i++) {
		s.scale[i] = q[i].scale[0] / end.q.scale[0];
	}
	scratch = graph_new(g->module, "sums");
	if (!fits(&s, scratch, computed_chain(&s, scratch, &end))) {
		return g->module->diags.n_errors == 0;
	}
	made = insert_internal(g, end.quantize, "AddShift", n->outputs[0]->name,
			       s.in, 2);
	made->name = n->name;
	node_set_attr_int(g, made, "to",
			  dtype_onnx_number(end.quantize->outputs[0]->type));
	set_attrs(&s, made);
	for (int i = 0; i < 2; i++) {
		record_absorbed_dequantize(g, n->inputs[i], made);
	}
	return finish_quantized(g, n, &end, made);
}

/* The real number that TFLite's fixed-point attributes stand for: multiplier *
 * 2^(exponent - 31). */
static double
fixed_factor(const struct node *n, const char *multiplier, const char *exponent)
{
	return ldexp((double)node_attr_int(n, multiplier, 0),
		     (int)node_attr_int(n, exponent, 0) - 31);
}

static bool
convert_add(struct graph *g, struct node *n)
{
	struct sum s = { .g = g, .n = n };
	struct graph *scratch = graph_new(g->module, "sums");
	double y = fixed_factor(n, "y_multiplier", "y_exponent");

	for (int i = 0; i < 2; i++) {
		s.in[i] = n->inputs[i];
		if (!is_byte(s.in[i]) || tensor_is_constant(s.in[i])) {
			return true;
		}
	}
	s.zero[0] = node_attr_int(n, "a_zero", 0);
	s.zero[1] = node_attr_int(n, "b_zero", 0);
	s.zero_y = node_attr_int(n, "zero", 0);
	s.least = node_attr_int(n, "low", -128);
	s.most = node_attr_int(n, "high", 127);
	/* TFLite keeps 20 fraction bits. */
	s.scale[0] = fixed_factor(n, "a_multiplier", "a_exponent") * y * 0x1p20;
	s.scale[1] = fixed_factor(n, "b_multiplier", "b_exponent") * y * 0x1p20;
	if (!fits(&s, scratch, computed_add(&s, scratch))) {
		return g->module->diags.n_errors == 0;
	}
	for (int i = n->attrs.n; i-- > 0;) {
		const char *name = n->attrs.data[i].name;

		if (strcmp(name, "to") != 0) {
			node_remove_attr(n, name);
		}
	}
	n->op_type = "AddShift";
	n->op = op_find("tirc", "AddShift");
	set_attrs(&s, n);
	graph_note(g, n, "requantize",
		   "a sum of integers, equal for all pairs of bytes");
	g->edits++;
	return ops_infer_node(g, n);
}

bool
requantize_sum(struct graph *g, struct node *n)
{
	return node_is_internal(n, "Add") ? convert_add(g, n)
					  : convert_chain(g, n);
}
