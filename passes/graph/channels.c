/* SPDX-License-Identifier: Apache-2.0 */
/* Drops channels of quantized graphs that need not be computed: channels whose
 * elements are all the same number, which is proven by bounds of the sums, and
 * channels that no node reads.
 *
 *	x[c] = v for all positions	s = b + w[c] * v + (the other channels)
 *
 * The products of constant channels move into the bias. A channel is kept if a
 * node that reads it needs it, or if x is padded and v is not the value of the
 * padding. The number of kept channels is rounded up to a multiple of the
 * setting channel_block. */
#include "channels.h"

/* The weights of larger products are not read: that would take seconds. */
enum { MOST_WEIGHTS = 1 << 24 };

/* -- nodes -- */

int64_t
channel_count(const struct tensor *t)
{
	int64_t n;

	return t->typed && t->ndim >= 2 && expr_is_int(t->shape[1], &n) &&
			       n > 0 && n <= 1 << 20
		       ? n
		       : 0;
}

/* Are the inputs from `first` on constants of one element, or absent? */
static bool
are_scalars(const struct node *n, int first)
{
	int64_t elems;

	for (int i = first; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t && (!tensor_is_constant(t) || t->ndim > 1 ||
			  !tensor_const_elems(t, &elems) || elems != 1)) {
			return false;
		}
	}
	return true;
}

/* Do all inputs that are not constant have the rank and the channels of the
 * output? */
static bool
have_channels(const struct node *n)
{
	const struct tensor *y = n->outputs[0];

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (t && !tensor_is_constant(t) &&
		    (t->ndim != y->ndim ||
		     channel_count(t) != channel_count(y))) {
			return false;
		}
	}
	return true;
}

/* Does the result of an addition in TFLite's arithmetic never decrease when a
 * term increases, and never wrap? */
static bool
increases(const struct node *n)
{
	static const char *const factors[] = { "a_multiplier", "b_multiplier",
					       "y_multiplier" };
	static const char *const exponents[] = { "a_exponent", "b_exponent",
						 "y_exponent" };
	bool all = true;

	for (int i = 0; i < 3; i++) {
		all = all && node_attr_int(n, factors[i], 0) >= 0 &&
		      node_attr_int(n, exponents[i], 0) <= 0;
	}
	return all;
}

static bool
is_alike(const struct node *n)
{
	static const char *const pools[] = { "MaxPool", "AveragePool",
					     "GlobalAveragePool", "Relu" };
	const struct tensor *y = n->outputs[0];
	bool alike = false;

	if (node_is_internal(n, "Requantize")) {
		alike = node_attr_int(n, "axis", 1) == 1;
	} else if (node_is_internal(n, "SumPool")) {
		alike = true;
	} else if (node_is_internal(n, "Add") ||
		   (node_is(n, "Add") && dtype_is_float(y->type))) {
		alike = !tensor_is_constant(n->inputs[0]) &&
			!tensor_is_constant(n->inputs[1]) && increases(n);
	} else if (node_is(n, "QuantizeLinear")) {
		alike = are_scalars(n, 1) && dtype_is_int(y->type);
	} else if (node_is(n, "DequantizeLinear") || node_is(n, "Clip")) {
		alike = are_scalars(n, 1);
	}
	for (int i = 0; i < 4; i++) {
		alike = alike || node_is(n, pools[i]);
	}
	return alike && have_channels(n);
}

/* Is n a Reshape of [n, c, 1, ...] to [n, c]? */
static bool
is_channel_view(const struct node *n)
{
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	bool view = (node_is(n, "Reshape") || node_is(n, "Flatten") ||
		     (node_is(n, "Squeeze") && node_input(n, 1))) &&
		    node_attr_int(n, "allowzero", 0) == 0 && y->ndim == 2 &&
		    channel_count(x) == channel_count(y);
	int64_t size;

	for (int d = 2; view && d < x->ndim; d++) {
		view = expr_is_int(x->shape[d], &size) && size == 1;
	}
	return view;
}

bool
channel_product(const struct node *n)
{
	bool conv = node_is_internal(n, "Conv") ||
		    node_is_internal(n, "ConvTranspose");
	int64_t elems;

	return (conv ||
		(node_is_internal(n, "MatMul") && n->inputs[0]->ndim == 2)) &&
	       channel_count(n->inputs[0]) > 0 &&
	       channel_count(n->outputs[0]) > 0 &&
	       tensor_is_constant(n->inputs[1]) &&
	       tensor_is_constant(n->inputs[2]) &&
	       tensor_const_elems(n->inputs[1], &elems) &&
	       elems <= MOST_WEIGHTS;
}

enum channel_role
channel_role(const struct node *n)
{
	const struct tensor *y = n->n_outputs > 0 ? n->outputs[0] : NULL;
	int64_t group = node_attr_int(n, "group", 1);

	if (n->n_outputs != 1 || n->n_inputs == 0 || !n->inputs[0] ||
	    tensor_is_constant(n->inputs[0]) || channel_count(y) == 0 ||
	    channel_count(n->inputs[0]) == 0) {
		return CHANNELS_OTHER;
	}
	if (channel_product(n)) {
		return group == 1 ? CHANNELS_MIXED
		       : group == channel_count(n->inputs[0]) &&
				       group == channel_count(y)
			       ? CHANNELS_SINGLE
			       : CHANNELS_OTHER;
	}
	return is_alike(n)          ? CHANNELS_ALIKE
	       : is_channel_view(n) ? CHANNELS_VIEW
				    : CHANNELS_OTHER;
}

bool
channel_weights(struct graph *g, const struct node *n,
		struct channel_weights *w)
{
	struct tensor *t = n->inputs[1];
	bool conv = node_is_internal(n, "Conv");
	int64_t group = node_attr_int(n, "group", 1);

	w->value = tensor_value(g, t);
	w->to = channel_count(n->outputs[0]);
	w->from = channel_count(n->inputs[0]) / group;
	if (!w->value) {
		return false;
	}
	w->taps = w->value->elems / (w->to * w->from);
	w->in_group = w->to / group;
	w->group_elems = w->value->elems / group;
	w->stride_to = conv ? w->from * w->taps : w->taps;
	w->stride_from = conv ? w->taps : w->in_group * w->taps;
	return true;
}

int64_t
channel_weight(const struct channel_weights *w, int64_t to, int64_t from,
	       int64_t tap)
{
	int64_t at = to / w->in_group * w->group_elems +
		     to % w->in_group * w->stride_to + from * w->stride_from +
		     tap;

	return w->value->data
		       ? number_load(w->value->type, w->value->data, (size_t)at)
				 .i
		       : w->value->fill.i;
}

bool
channel_reads_outside(const struct node *n, double *value)
{
	const char *automatic = node_attr_string(n, "auto_pad", "NOTSET");
	const int64_t *pads;
	int count = node_attr_ints(n, "pads", &pads);
	bool reads = strncmp(automatic, "SAME", 4) == 0;

	for (int i = 0; i < count; i++) {
		reads = reads || pads[i] != 0;
	}
	if (node_is_internal(n, "ConvTranspose")) {
		*value = (double)channel_x_zero(n);
		return true;
	}
	*value = (double)node_attr_int(n, "outside", 0);
	return reads && node_is_internal(n, "Conv");
}

int64_t
channel_x_zero(const struct node *n)
{
	return node_attr_int(n, "x_zero", 0);
}

/* -- channels that are needed -- */

/* Must the product read channel `channel` of x? It need not if the channel is
 * constant and its products can be added to the bias, or if its weights are
 * zeros. */
static bool
needs(const struct node *n, const struct channel_weights *w,
      const struct channels *x, int64_t channel)
{
	double outside;

	if (x->low[channel] == x->high[channel] &&
	    (!channel_reads_outside(n, &outside) ||
	     x->low[channel] == outside)) {
		return false;
	}
	for (int64_t o = 0; o < w->to; o++) {
		for (int64_t k = 0; k < w->taps; k++) {
			if (channel_weight(w, o, channel, k) != 0) {
				return true;
			}
		}
	}
	return false;
}

static bool
mark_readers(struct graph *g, const struct tensor *t, struct channels *c)
{
	bool all = t->is_output || t->is_input || !t->producer ||
		   channel_role(t->producer) == CHANNELS_OTHER;

	for (int i = 0; i < t->uses.n; i++) {
		const struct use *u = &t->uses.data[i];
		enum channel_role role = channel_role(u->node);
		struct channel_weights w;

		all = all || role == CHANNELS_OTHER ||
		      (u->input > 0 && role != CHANNELS_ALIKE);
		if (all || role != CHANNELS_MIXED) {
			continue;
		}
		if (!channel_weights(g, u->node, &w)) {
			return false;
		}
		for (int64_t k = 0; k < c->n; k++) {
			c->needed[k] = c->needed[k] || needs(u->node, &w, c, k);
		}
	}
	for (int64_t k = 0; k < c->n && all; k++) {
		c->needed[k] = true;
	}
	return true;
}

/* For an operator whose output channel k depends on input channel k alone:
 * marks both channels k as needed if one of them is needed. True if a mark
 * changed. */
static bool
link_channels(struct channels *x, struct channels *y)
{
	bool changed = false;

	for (int64_t k = 0; k < x->n; k++) {
		if (x->needed[k] != y->needed[k]) {
			x->needed[k] = y->needed[k] = true;
			changed = true;
		}
	}
	return changed;
}

static bool
link_node(const struct node *n, struct channels *const *of)
{
	enum channel_role role = channel_role(n);
	bool changed = false;

	for (int i = 0; i < n->n_inputs && role != CHANNELS_OTHER &&
			role != CHANNELS_MIXED;
	     i++) {
		const struct tensor *x = n->inputs[i];

		if (x && of[x->id] && of[n->outputs[0]->id]) {
			changed |= link_channels(of[x->id],
						 of[n->outputs[0]->id]);
		}
	}
	return changed;
}

static void
link_all(const struct graph *g, struct channels *const *of)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (int i = 0; i < g->nodes.n; i++) {
			changed |= link_node(g->nodes.data[i], of);
		}
		for (int i = g->nodes.n; i-- > 0;) {
			changed |= link_node(g->nodes.data[i], of);
		}
	}
}

/* Marks more channels as needed until the number of needed channels is a
 * multiple of the setting channel_block, or until all channels are marked. True
 * if a channel was marked. */
static bool
round_up(const struct graph *g, struct channels *c)
{
	int wanted = g->settings->channel_block;
	int64_t block = wanted > 1 ? wanted : 1;
	int64_t n = 0, to;
	bool any = false;

	for (int64_t k = 0; k < c->n; k++) {
		n += c->needed[k];
	}
	to = n > 0 ? (n + block - 1) / block * block : block;
	for (int64_t k = 0; k < c->n && n < to; k++) {
		if (!c->needed[k]) {
			c->needed[k] = any = true;
			n++;
		}
	}
	return any;
}

static bool
find_kept(struct graph *g, struct channels **of)
{
	bool more = true, dropped = false;

	for (int i = 0; i < g->tensors.n; i++) {
		if (of[i] && !mark_readers(g, g->tensors.data[i], of[i])) {
			return false;
		}
	}
	while (more) {
		more = false;
		link_all(g, of);
		for (int i = 0; i < g->tensors.n; i++) {
			more = (of[i] && round_up(g, of[i])) || more;
		}
	}
	for (int i = 0; i < g->tensors.n; i++) {
		struct channels *c = of[i];

		if (!c) {
			continue;
		}
		c->kept = arena_array(&g->module->arena, int64_t, c->n + 1);
		for (int64_t k = 0; k < c->n; k++) {
			if (c->needed[k]) {
				c->kept[c->n_kept++] = k;
			}
		}
		dropped = dropped || c->n_kept < c->n;
	}
	return dropped;
}

/* -- constants of the kept channels -- */

static struct tensor *
described(struct graph *g, struct tensor *t, const char *form,
	  struct tensor *of)
{
	return graph_made_of(g, t, form, NULL, &of, 1);
}

/* The kept elements of a constant that has an element for each channel; NULL
 * after a diagnostic. */
static struct tensor *
kept_elements(struct graph *g, struct tensor *t, const struct channels *c)
{
	const struct value *v = tensor_value(g, t);
	void *data = arena_alloc(&g->module->arena,
				 (size_t)(c->n_kept * dtype_bytes(t->type)) +
					 1);

	if (!v) {
		return NULL;
	}
	for (int64_t i = 0; i < c->n_kept; i++) {
		size_t at = (size_t)c->kept[i];

		number_store(t->type, data, (size_t)i,
			     v->data ? number_load(t->type, v->data, at)
				     : v->fill);
	}
	return described(g,
			 graph_constant(g, t->name, t->type, 1, &c->n_kept,
					data),
			 "$0 of the channels that are computed", t);
}

static struct tensor *
kept_weights(struct graph *g, const struct node *n,
	     const struct channel_weights *w, const struct channels *x,
	     const struct channels *y)
{
	struct tensor *t = n->inputs[1];
	bool single = channel_role(n) == CHANNELS_SINGLE;
	bool rows = single || node_is_internal(n, "Conv"); /* w[to][from] */
	int64_t from = single ? 1 : x->n_kept, to = y->n_kept;
	int64_t shape[8] = { rows ? to : from, rows ? from : to };
	struct dtype type = w->value->type;
	void *data = arena_alloc(&g->module->arena,
				 (size_t)(to * from * w->taps) *
						 (size_t)dtype_bytes(type) +
					 1);

	for (int d = 2; d < t->ndim && d < 8; d++) {
		expr_is_int(t->shape[d], &shape[d]);
	}
	for (int64_t i = 0; i < to * from * w->taps; i++) {
		int64_t tap = i % w->taps, a = i / w->taps;
		int64_t o = rows ? a / from : a % to;
		int64_t c = rows ? a % from : a / to;
		int64_t k = channel_weight(w, y->kept[o],
					   single ? 0 : x->kept[c], tap);

		number_store(type, data, (size_t)i, (union number){ .i = k });
	}
	return described(g,
			 graph_constant(g, t->name, type, t->ndim, shape, data),
			 "$0 of the channels that are computed", t);
}

/* The kept elements of the bias, plus the products of the constant channels
 * that are removed from x. */
static struct tensor *
kept_bias(struct graph *g, const struct node *n,
	  const struct channel_weights *w, const struct channels *x,
	  const struct channels *y)
{
	struct tensor *t = n->inputs[2];
	int32_t *data = arena_array(&g->module->arena, int32_t, y->n_kept + 1);
	int64_t n_bias;
	const double *bias = constant_doubles(g, t, &n_bias);
	bool mixed = channel_role(n) == CHANNELS_MIXED, more = false;

	for (int64_t i = 0; bias && i < y->n_kept; i++) {
		int64_t o = y->kept[i];
		int64_t sum = (int64_t)bias[n_bias > 1 ? o : 0];

		for (int64_t c = 0; c < x->n && mixed; c++) {
			if (x->needed[c] || x->low[c] != x->high[c]) {
				continue;
			}
			more = true;
			for (int64_t k = 0; k < w->taps; k++) {
				sum += channel_weight(w, o, c, k) *
				       ((int64_t)x->low[c] - channel_x_zero(n));
			}
		}
		data[i] = (int32_t)sum;
	}
	return described(g,
			 graph_constant(g, t->name, dtype_of(DT_I32), 1,
					&y->n_kept, data),
			 more ? "$0 of the channels that are computed, plus "
				"the products of constant channels"
			      : "$0 of the channels that are computed",
			 t);
}

/* -- nodes -- */

static bool
shrink_product(struct graph *g, struct node *n, const struct channels *x,
	       const struct channels *y)
{
	struct channel_weights w;
	struct tensor *weights, *bias;

	if (!channel_weights(g, n, &w)) {
		return false;
	}
	weights = kept_weights(g, n, &w, x, y);
	bias = kept_bias(g, n, &w, x, y);
	if (channel_role(n) == CHANNELS_SINGLE) {
		node_set_attr_int(g, n, "group", y->n_kept);
	}
	if (y->n_kept < y->n) {
		node_set_attr_int(g, n, "model_channels", y->n);
	}
	node_set_input(n, 1, weights);
	node_set_input(n, 2, bias);
	return true;
}

static bool
shrink_node(struct graph *g, struct node *n, const struct channels *x,
	    const struct channels *y)
{
	enum channel_role role = channel_role(n);
	struct arena *a = &g->module->arena;
	const int64_t sizes[2] = { 0, y->n_kept };

	if (role == CHANNELS_MIXED || role == CHANNELS_SINGLE) {
		graph_note(g, n, "channels",
			   arena_printf(a,
					"computes %lld of %lld channels from "
					"%lld of %lld; the others are constant "
					"or not read",
					(long long)y->n_kept, (long long)y->n,
					(long long)x->n_kept, (long long)x->n));
		if (!shrink_product(g, n, x, y)) {
			return false;
		}
	} else if (node_is_internal(n, "Requantize")) {
		for (int i = 1; i < n->n_inputs; i++) {
			struct tensor *factor = n->inputs[i];

			if (factor->ndim == 1) {
				factor = kept_elements(g, factor, y);
			}
			if (factor == NULL) {
				return false;
			}
			node_set_input(n, i, factor);
		}
	} else if (node_is(n, "Reshape")) {
		node_set_input(n, 1,
			       graph_constant_ints(g, "shape", 2,
						   arena_copy(a, sizes,
							      sizeof sizes)));
	}
	return true;
}

static bool
lost(const struct channels *c)
{
	return c && c->n_kept < c->n;
}

/* Changes all nodes while the shapes of their inputs still have the old numbers
 * of channels; then infers the shapes anew. */
static bool
shrink_all(struct graph *g, struct channels **of)
{
	bool *changed = arena_array(&g->module->arena, bool, g->nodes.n + 1);

	for (int i = 0; i < g->nodes.n; i++) {
		struct node *n = g->nodes.data[i];
		const struct channels *x, *y;

		if (channel_role(n) == CHANNELS_OTHER) {
			continue;
		}
		x = of[n->inputs[0]->id];
		y = of[n->outputs[0]->id];
		changed[i] = lost(x) || lost(y);
		if (changed[i] && !shrink_node(g, n, x, y)) {
			return false;
		}
	}
	for (int i = 0; i < g->nodes.n; i++) {
		if (changed[i] && !ops_infer_node(g, g->nodes.data[i])) {
			return false;
		}
	}
	g->edits++;
	return true;
}

static bool
has_quantized_products(const struct graph *g)
{
	for (int i = 0; i < g->nodes.n; i++) {
		enum channel_role role = channel_role(g->nodes.data[i]);

		if (role == CHANNELS_MIXED || role == CHANNELS_SINGLE) {
			return true;
		}
	}
	return false;
}

bool
graph_channels(struct graph *g)
{
	struct channels **of = arena_array(&g->module->arena, struct channels *,
					   g->tensors.n + 1);

	if (!has_quantized_products(g)) {
		return true;
	}
	if (!channel_bounds(g, of)) {
		return false;
	}
	return find_kept(g, of) ? shrink_all(g, of)
				: g->module->diags.n_errors == 0;
}
