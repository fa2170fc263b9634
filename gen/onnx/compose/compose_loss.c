/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of classifiers. Dimension 1 of the input x has the scores of the
 * classes; the target has the number of the right class for each other
 * position.
 *
 *	before	y = NegativeLogLikelihoodLoss<ignore_index=-1>(x, target)
 *	after	y_ignored = Equal(target, -1)
 *		y_class = Where(y_ignored, 0, target)
 *		y_picked = GatherElements<axis=1>(x, Unsqueeze(y_class, 1))
 *		y_loss = Neg(Squeeze(y_picked, 1))
 *		y_weights = Where(y_ignored, 0, 1)
 *		y = ReduceSum(y_loss * y_weights) / ReduceSum(y_weights)
 */
#include "compose.h"

struct loss {
	struct tensor *target;
	/* bool, of the target's shape; NULL: none is ignored */
	struct tensor *ignored;
	struct tensor *weights; /* one for each position; NULL: all are 1 */
};

static bool
check_shapes(struct compose *c, const struct tensor *x, const struct tensor *t)
{
	if (x->ndim < 2 || t->ndim != x->ndim - 1) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "the scores have %d dimensions and the "
				     "classes %d; they need one less",
				     x->ndim, t->ndim);
	}
	if (!dtype_is_float(x->type) || !dtype_is_int(t->type)) {
		return compose_error(c, DIAG_BAD_TYPE,
				     "the scores are %s and the classes %s; "
				     "they must be floats and integers",
				     dtype_name(x->type), dtype_name(t->type));
	}
	return true;
}

/* Sets l->ignored to the positions whose target is ignore_index; their class
 * becomes 0, a valid index. */
static void
ignore_places(struct compose *c, struct loss *l)
{
	const struct attr *index = node_attr(c->node, "ignore_index");
	struct dtype type = l->target->type;

	if (index) {
		l->ignored = compose_2(c, "ignored", "Equal", l->target,
				       compose_scalar(c, "ignore_index", type,
						      (double)index->i));
		l->target = compose_node(c, "class", "Where", 3, l->ignored,
					 compose_scalar(c, "first", type, 0),
					 l->target);
	}
}

static struct tensor *
without_ignored(struct compose *c, const struct loss *l, const char *what,
		struct tensor *t)
{
	return l->ignored
		       ? compose_node(c, what, "Where", 3, l->ignored,
				      compose_scalar(c, "zero", t->type, 0), t)
		       : t;
}

static void
find_weights(struct compose *c, struct loss *l, struct dtype type)
{
	struct tensor *by_class = compose_input(c, 2);

	if (by_class) {
		compose_set_int(c, "axis", 0);
		l->weights = compose_2(c, "weight", "Gather", by_class,
				       l->target);
	} else if (l->ignored) {
		l->weights = compose_scalar(c, "one", type, 1);
	}
	if (l->weights) {
		l->weights = without_ignored(c, l, "weights", l->weights);
	}
}

/* The negative score of the right class at each position: -x[n][class][…]. */
static struct tensor *
pick_loss(struct compose *c, const struct loss *l, struct tensor *x)
{
	struct tensor *at = compose_unsqueeze(c, "index", l->target, 1);
	struct tensor *picked;

	compose_set_int(c, "axis", 1);
	picked = compose_2(c, "picked", "GatherElements", x, at);
	picked = compose_squeeze(c, "log", picked, 1);
	return without_ignored(c, l, "losses",
			       compose_1(c, "negative", "Neg", picked));
}

static struct tensor *
reduce_all(struct compose *c, const char *what, const char *op_type,
	   struct tensor *x)
{
	compose_set_int(c, "keepdims", 0);
	return compose_1(c, what, op_type, x);
}

/* The loss, from the logarithms of the probabilities of the classes. */
static bool
loss_from(struct compose *c, struct tensor *log_prob)
{
	const char *reduction = node_attr_string(c->node, "reduction", "mean");
	struct loss l = { .target = compose_input(c, 1) };
	bool is_mean = strcmp(reduction, "mean") == 0;
	struct tensor *loss;

	ignore_places(c, &l);
	find_weights(c, &l, log_prob->type);
	loss = pick_loss(c, &l, log_prob);
	if (compose_input(c, 2)) {
		loss = compose_2(c, "weighted", "Mul", loss, l.weights);
	}
	if (is_mean && l.weights) {
		loss = compose_2(c, "mean", "Div",
				 reduce_all(c, "sum", "ReduceSum", loss),
				 reduce_all(c, "count", "ReduceSum",
					    l.weights));
	} else if (is_mean) {
		loss = reduce_all(c, "mean", "ReduceMean", loss);
	} else if (strcmp(reduction, "sum") == 0) {
		loss = reduce_all(c, "sum", "ReduceSum", loss);
	}
	compose_result(c, 0, loss);
	return true;
}

bool
compose_nll_loss(struct compose *c)
{
	struct tensor *x = compose_input(c, 0);

	return check_shapes(c, x, compose_input(c, 1)) && loss_from(c, x);
}

bool
compose_softmax_loss(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *log_prob;

	if (!check_shapes(c, x, compose_input(c, 1))) {
		return false;
	}
	compose_set_int(c, "axis", 1);
	log_prob = compose_1(c, "log_prob", "LogSoftmax", x);
	compose_result(c, 1, log_prob);
	return loss_from(c, log_prob);
}
