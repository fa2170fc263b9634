/* SPDX-License-Identifier: Apache-2.0 */
/* LSTM, GRU and RNN: for each direction, one matrix product multiplies the
 * inputs of all time steps by their weights; an internal operator then updates
 * the state step by step.
 *
 *	before	y, y_h, y_c = LSTM(x, w, r, b)   # one direction
 *	after	m = MatMul(x, transpose(w))
 *		pre = Add(m, bias)               # both halves of b
 *		s_h, s, s_c = tirc.LSTM(pre, transpose(r))
 *		y = Unsqueeze(s, 1) …
 *
 * com.microsoft's DynamicQuantizeLSTM has 8-bit weights, which are transposed
 * already. x is quantized once for all time steps, the state in each step:
 *
 *	before	y = com.microsoft.DynamicQuantizeLSTM(x, w, r, b, , , , , w_scale,
 *						w_zero, r_scale, r_zero)
 *	after	q, scale, zero = DynamicQuantizeLinear(x)
 *		sums = MatMulInteger(q, w, zero, w_zero)
 *		m = Mul(Cast(sums), Mul(scale, w_scale))
 *		pre = Add(m, bias)
 *		s_h, s = tirc.LSTM(pre, r, , , , , r_scale, r_zero)
 */
#include "compose.h"

#include <strings.h>

#include "identifiers.h"

enum { MOST_FUNCTIONS = 3 };

struct kind {
	const char *op_type, *stem;
	int gates, states;
	int n_functions;
	const char *functions[MOST_FUNCTIONS];
};

static const struct kind lstm = {
	"LSTM", "lstm", 4, 2, 3, { "Sigmoid", "Tanh", "Tanh" }
};
static const struct kind gru = { "GRU", "gru", 3, 1, 2, { "Sigmoid", "Tanh" } };
static const struct kind rnn = { "RNN", "rnn", 1, 1, 1, { "Tanh" } };

struct recurrent {
	struct compose *c;
	const struct kind *kind;
	struct tensor *x; /* [times, rows, inputs] */
	int directions;
	bool rows_first; /* attribute layout is 1 */
	bool linear;     /* attribute linear_before_reset */
	bool quantized;
	/* of a quantized node: the quantized x, its scale and its zero point */
	struct tensor *bytes[3];
	int64_t hidden;
};

/* -- activations -- */

/* The activation functions; n: the number of parameters (1: alpha only), then
 * the default values of alpha and beta. */
static const struct function {
	const char *name;
	int n;
	double alpha, beta;
} functions[] = {
	{ "Affine", 2, 1, 0 },
	{ "Elu", 1, 1, 0 },
	{ "HardSigmoid", 2, 0.2, 0.5 },
	{ "LeakyRelu", 1, 0.01, 0 },
	{ "Relu", 0, 0, 0 },
	{ "ScaledTanh", 2, 1, 1 },
	{ "Sigmoid", 0, 0, 0 },
	{ "Softplus", 0, 0, 0 },
	{ "Softsign", 0, 0, 0 },
	{ "Tanh", 0, 0, 0 },
	{ "ThresholdedRelu", 1, 1, 0 },
};

static const struct function *
find_function(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
		if (strcasecmp(functions[i].name, name) == 0) {
			return &functions[i];
		}
	}
	return NULL;
}

/* The next value of `list`, the parameters of activation functions, which take
 * them from the list in order; `value` if the list has no more. *used: the
 * number of values taken so far. */
static double
next_value(const struct attr *list, int *used, double value)
{
	return list && list->kind == ATTR_FLOATS && *used < list->n
		       ? list->floats[(*used)++]
		       : value;
}

/* Sets the attributes f, g and h of the next node to the activation functions
 * of a direction. False after a diagnostic. */
static bool
set_functions(struct recurrent *r, int direction)
{
	static const char *const names[MOST_FUNCTIONS] = { "f", "g", "h" };
	struct compose *c = r->c;
	const struct attr *list = node_attr(c->node, "activations");
	const struct attr *alphas = node_attr(c->node, "activation_alpha");
	const struct attr *betas = node_attr(c->node, "activation_beta");
	int n = r->kind->n_functions, alpha_at = 0, beta_at = 0;

	if (list &&
	    (list->kind != ATTR_STRINGS || list->n != n * r->directions)) {
		return compose_error(c, DIAG_BAD_ATTRIBUTE,
				     "activations must be %d strings; correct "
				     "the model",
				     n * r->directions);
	}
	for (int i = 0; i < n * (direction + 1); i++) {
		const char *name = list ? list->strings[i]
					: r->kind->functions[i % n];
		const struct function *f = find_function(name);
		double alpha, beta;

		assert(f); /* attr_values.def has the same names */
		alpha = f->n > 0 ? next_value(alphas, &alpha_at, f->alpha) : 0;
		beta = f->n > 1 ? next_value(betas, &beta_at, f->beta) : 0;
		if (i < n * direction) {
			continue;
		}
		name = names[i % n];
		compose_set_string(c, name, f->name);
		if (f->n > 0) {
			compose_set_float(c,
					  arena_printf(&c->imp->tmp, "%s_alpha",
						       name),
					  alpha);
		}
		if (f->n > 1) {
			compose_set_float(c,
					  arena_printf(&c->imp->tmp, "%s_beta",
						       name),
					  beta);
		}
	}
	return true;
}

/* -- parts of the inputs -- */

/* Elements [from, to) of dimension `axis` of t; t itself if these are all
 * elements. */
static struct tensor *
part(struct compose *c, const char *what, struct tensor *t, int axis,
     int64_t from, int64_t to)
{
	if (from == 0 && expr_is_value(t->shape[axis], to)) {
		return t;
	}
	return compose_slice(c, what, t, axis, expr_index(c->m, from),
			     expr_index(c->m, to));
}

/* The part of input i that belongs to a direction; `axis` is the dimension that
 * counts directions. NULL if the input is absent. */
static struct tensor *
of_direction(struct recurrent *r, const char *what, int i, int axis,
	     int direction)
{
	struct tensor *t = compose_input(r->c, i);

	return t ? compose_squeeze(r->c, what,
				   part(r->c, what, t, axis, direction,
					direction + 1),
				   axis)
		 : NULL;
}

/* The initial state of a direction; NULL if input i is absent. */
static struct tensor *
initial(struct recurrent *r, const char *what, int i, int direction)
{
	return of_direction(r, what, i, r->rows_first, direction);
}

/* The sum of the input's and the state's biases. With linear_before_reset, the
 * state's bias of the last gate is not added to this sum, but returned in
 * *inner. */
static struct tensor *
bias_of(struct recurrent *r, int direction, struct tensor **inner)
{
	struct compose *c = r->c;
	int64_t n = r->kind->gates * r->hidden, apart = n - r->hidden;
	struct tensor *both = of_direction(r, "bias", 3, 0, direction);
	struct tensor *of_input, *of_state;

	*inner = NULL;
	if (!both) {
		return NULL;
	}
	of_input = part(c, "input_bias", both, 0, 0, n);
	if (!r->linear) {
		of_state = part(c, "state_bias", both, 0, n, 2 * n);
		return compose_2(c, "bias", "Add", of_input, of_state);
	}
	*inner = part(c, "inner_bias", both, 0, n + apart, 2 * n);
	of_state = part(c, "state_bias", both, 0, n, n + apart);
	return compose_concat(c, "bias", 0,
			      compose_2(c, "gate_bias", "Add",
					part(c, "input_bias", of_input, 0, 0,
					     apart),
					of_state),
			      part(c, "input_bias", of_input, 0, apart, n));
}

/* -- one direction -- */

/* The name of the kernel that computes a direction. */
static const char *
stem_of(struct recurrent *r, bool reverse)
{
	struct arena *a = &r->c->m->arena;
	const char *stem = name_stem(a, r->c->node->name);

	return arena_printf(a, "%s_%s", stem ? stem : r->kind->stem,
			    reverse ? "backward" : "forward");
}

/* Output k of ONNX's operator is output from[k] of the internal operator, whose
 * output 0, the last state, is always present. */
static const int from[3] = { 1, 0, 2 };

/* The inputs of all time steps times their weights, without biases. */
static struct tensor *
input_part(struct recurrent *r, int direction)
{
	struct compose *c = r->c;
	struct tensor *w = of_direction(r, "input_weights", 1, 0, direction);
	struct tensor *scale, *zero;

	if (!r->quantized) {
		return compose_2(c, "product", "MatMul", r->x,
				 compose_swap(c, "input_weights", w, 0, 1));
	}
	scale = of_direction(r, "input_scale", 8, 0, direction);
	zero = of_direction(r, "input_zero", 9, 0, direction);
	return compose_scaled_product(c, r->bytes[0], w, r->bytes[2], zero,
				      r->bytes[1], scale, NULL);
}

/* Makes the nodes of one direction; out: its results. */
static bool
run_direction(struct recurrent *r, int direction, bool reverse,
	      struct tensor **out)
{
	static const char *const names[] = { "states", "last", "cell" };
	struct tensor *made[3] = { NULL };
	struct compose *c = r->c;
	const struct kind *kind = r->kind;
	int64_t split = 2 * r->hidden;
	const char *whats[3] = { NULL };
	struct tensor *in[8] = { NULL }, *bias, *weights, *inner;
	int n_in = 0;

	bias = bias_of(r, direction, &inner);
	in[0] = input_part(r, direction);
	if (bias) {
		in[0] = compose_2(c, "gates", "Add", in[0], bias);
	}
	in[0] = compose_reshape(c, "gates", in[0], 4,
				(const struct expr *const[]){
					r->x->shape[0], r->x->shape[1],
					expr_index(c->m, kind->gates),
					expr_index(c->m, r->hidden) });
	weights = of_direction(r, "weights", 2, 0, direction);
	in[1] = weights;
	if (kind == &gru && !r->linear) {
		in[1] = part(c, "gate_weights", weights, 0, 0, split);
		in[4] = compose_swap(c, "inner_weights",
				     part(c, "inner_weights", weights, 0, split,
					  split + r->hidden),
				     0, 1);
	}
	if (r->quantized) {
		in[6] = of_direction(r, "scale", 10, 0, direction);
		in[7] = of_direction(r, "zero", 11, 0, direction);
	} else {
		in[1] = compose_swap(c, "gate_weights", in[1], 0, 1);
	}
	in[2] = compose_input(c, 4);
	in[3] = initial(r, "first", 5, direction);
	if (kind == &gru) {
		in[5] = inner;
	} else if (kind == &lstm) {
		in[4] = initial(r, "first_cell", 6, direction);
		in[5] = of_direction(r, "peepholes", 7, 0, direction);
	}
	for (int i = 0; i < 8; i++) {
		n_in = in[i] ? i + 1 : n_in;
	}
	for (int k = 0; k <= kind->states; k++) {
		whats[from[k]] = k == 1 || compose_wants(c, k) ? names[k]
							       : NULL;
	}
	if (!set_functions(r, direction)) {
		return false;
	}
	compose_set_int(c, "reverse", reverse);
	compose_set_string(c, "stem", stem_of(r, reverse));
	compose_keep_attrs(c, "clip");
	compose_keep_attrs(c, "input_forget");
	compose_keep_attrs(c, "linear_before_reset");
	compose_nodes(c, "tirc", kind->op_type, in, n_in, whats,
		      kind->states + 1, made);
	for (int k = 0; k <= kind->states; k++) {
		out[k] = made[from[k]];
	}
	return true;
}

/* Joins the results of all directions along a new axis. */
static struct tensor *
join(struct recurrent *r, struct tensor *const *of, int axis)
{
	struct tensor *first = compose_unsqueeze(r->c, "direction", of[0],
						 axis);

	return r->directions == 1
		       ? first
		       : compose_concat(r->c, "directions", axis, first,
					compose_unsqueeze(r->c, "direction",
							  of[1], axis));
}

static bool
check_inputs(struct recurrent *r)
{
	static const int ranks[] = { 3, 3, 3, 2, 1, 3, 3, 2 };
	int across = r->quantized ? 1 : 2;
	struct compose *c = r->c;

	for (int i = 0; i < c->node->n_inputs && i < 8; i++) {
		const struct tensor *t = compose_input(c, i);

		if (t && t->ndim != ranks[i]) {
			return compose_error(c, DIAG_BAD_SHAPE,
					     "input %d has rank %d, not %d; "
					     "correct the model",
					     i, t->ndim, ranks[i]);
		}
	}
	if (!compose_known_dim(c, compose_input(c, 2), across, &r->hidden)) {
		return false;
	}
	for (int i = 1; i < 3; i++) {
		const struct tensor *t = compose_input(c, i);

		if (!expr_is_value(t->shape[0], r->directions) ||
		    !expr_is_value(t->shape[3 - across],
				   quota_times(r->kind->gates, r->hidden))) {
			return compose_error(
				c, DIAG_BAD_SHAPE,
				"input %d is not [%d%s, %lld%s], for %d "
				"directions and a hidden size of %lld; "
				"correct the model",
				i, r->directions, r->quantized ? ", …" : "",
				(long long)quota_times(r->kind->gates,
						       r->hidden),
				r->quantized ? "" : ", …", r->directions,
				(long long)r->hidden);
		}
	}
	return true;
}

/* Are the scales and zero points of the shape [directions] or [directions,
 * columns]? False after a diagnostic. */
static bool
check_scales(struct recurrent *r)
{
	struct compose *c = r->c;

	if (!compose_needs(c, 4, 8, 9, 10, 11)) {
		return false;
	}
	for (int i = 8; i < 12; i++) {
		const struct tensor *t = compose_input(c, i);

		if ((t->ndim != 1 && t->ndim != 2) ||
		    !expr_is_value(t->shape[0], r->directions) ||
		    (t->ndim == 2 &&
		     !expr_is_value(t->shape[1], r->kind->gates * r->hidden))) {
			return compose_error(c, DIAG_BAD_SHAPE,
					     "input %d is not [%d] or [%d, "
					     "%lld]; correct the model",
					     i, r->directions, r->directions,
					     r->kind->gates *
						     (long long)r->hidden);
		}
	}
	return true;
}

/* Quantizes x. Time steps after the end of all sequences are set to 0, so that
 * they do not change the scale. */
static void
quantize_input(struct recurrent *r)
{
	static const char *const whats[] = { "bytes", "x_scale", "x_zero" };
	struct compose *c = r->c;
	struct tensor *lengths = compose_input(c, 4), *at, *most, *x = r->x;
	const struct expr *shape[] = { x->shape[0], expr_index(c->m, 1),
				       expr_index(c->m, 1) };

	if (lengths) {
		most = compose_reduce(c, "longest", "ReduceMax", lengths, 0,
				      false);
		at = compose_sizes(c, "times", 1, shape);
		at = compose_cast(c, "times_cast",
				  compose_squeeze(c, "times_count", at, 0),
				  most->type);
		at = compose_count(c, "time", at, most->type);
		at = compose_2(c, "within", "Less", at, most);
		at = compose_reshape(c, "within_rows", at, 3, shape);
		x = compose_node(c, "x", "Where", 3, at, x,
				 compose_scalar(c, "ended", x->type, 0));
	}
	compose_nodes(c, "", "DynamicQuantizeLinear", &x, 1, whats, 3,
		      r->bytes);
}

static bool
compose_kind(struct compose *c, const struct kind *kind, bool quantized)
{
	const char *direction = node_attr_string(c->node, "direction",
						 "forward");
	bool both = strcmp(direction, "bidirectional") == 0;
	bool reverse = strcmp(direction, "reverse") == 0;
	struct recurrent r = {
		.c = c,
		.kind = kind,
		.x = compose_input(c, 0),
		.directions = both ? 2 : 1,
		.quantized = quantized,
		.rows_first = node_attr_int(c->node, "layout", 0) != 0,
		.linear = kind == &gru &&
			  node_attr_int(c->node, "linear_before_reset", 0) != 0,
	};
	struct tensor *out[2][3] = { { NULL } }, *of[2];

	if (!check_inputs(&r) || (quantized && !check_scales(&r))) {
		return false;
	}
	if (r.rows_first) {
		r.x = compose_swap(c, "times_first", r.x, 0, 1);
	}
	if (quantized) {
		quantize_input(&r);
	}
	for (int d = 0; d < r.directions; d++) {
		if (!run_direction(&r, d, reverse || d == 1, out[d])) {
			return false;
		}
	}
	for (int k = 0; k <= kind->states; k++) {
		if (!compose_wants(c, k)) {
			continue;
		}
		for (int d = 0; d < r.directions; d++) {
			of[d] = k == 0 && r.rows_first
					? compose_swap(c, "rows_first",
						       out[d][k], 0, 1)
					: out[d][k];
		}
		compose_result(c, k,
			       join(&r, of,
				    k == 0 ? 1 + r.rows_first : r.rows_first));
	}
	return true;
}

bool
compose_lstm(struct compose *c)
{
	return compose_kind(c, &lstm, false);
}

bool
compose_quantized_lstm(struct compose *c)
{
	return compose_kind(c, &lstm, true);
}

bool
compose_gru(struct compose *c)
{
	return compose_kind(c, &gru, false);
}

bool
compose_rnn(struct compose *c)
{
	return compose_kind(c, &rnn, false);
}
