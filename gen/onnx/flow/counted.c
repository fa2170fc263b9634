/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose condition counts iterations, as TensorFlow's and Keras's while
 * loops do:
 *
 * 	before	i, s = Loop ("", Less (0, n), 0, n) {
 * 			i1 = Add (i, 1); c = Less (Cast (i1), Cast (n)); …
 * 		}
 * 	after	the same loop with Max (n, 0) as its number of iterations, and
 * 		without a condition
 *
 * The tensors in the loop have no types yet; tensors outside have types. If the
 * condition is an And of several such comparisons, the number of iterations is
 * the smallest of their numbers. */
#include "define.h"
#include "flow.h"
#include "sizes.h"

/* A condition `value < limit` for going on with a loop, whose value after
 * iteration j = 1, 2, … is init + (j - 1) step + ahead. init is in [-2^20,
 * 2^20] and step in [1, 2^20], so that no value below a limit wraps, and
 * float32 represents each value exactly. */
struct counter {
	struct tensor *limit; /* computed before the loop */
	int64_t init, step, ahead;
	bool inclusive; /* value <= limit */
};

enum { NUMBER_MAX = 1 << 20, DEPTH_MAX = 3 };

struct counting {
	struct importer *imp;
	const struct deferred *d;
	const struct loop_form *form;
	struct tensor *iteration;
	struct tensor *const *next; /* for each state: its value in the next
				     * iteration */
	VEC(struct counter) found;
};

static bool
is_node(const struct node *n, const char *op_type)
{
	return n && !*n->domain && strcmp(n->op_type, op_type) == 0;
}

/* Does n return its input, an integer in the range of sizes, unchanged? */
static bool
keeps_sizes(const struct node *n)
{
	struct dtype to;

	return is_node(n, "Identity") ||
	       (is_node(n, "Cast") &&
		dtype_from_onnx((int32_t)node_attr_int(n, "to", 0), &to) &&
		(to.kind == DT_I32 || to.kind == DT_I64 || to.kind == DT_F32 ||
		 to.kind == DT_F64));
}

static struct tensor *
source_of(struct tensor *t)
{
	while (keeps_sizes(t->producer) && t->producer->n_inputs == 1) {
		t = t->producer->inputs[0];
	}
	return t;
}

/* The condition t without the Cast and Identity nodes after it. */
static struct tensor *
truth_of(struct tensor *t)
{
	while ((is_node(t->producer, "Cast") ||
		is_node(t->producer, "Identity")) &&
	       t->producer->n_inputs == 1) {
		t = t->producer->inputs[0];
	}
	return t;
}

/* Sets *v to the value of t, a constant integer of one element in [-NUMBER_MAX,
 * NUMBER_MAX]. False if t is not such a constant. */
static bool
small_int(const struct counting *c, struct tensor *t, int64_t *v)
{
	t = source_of(t);
	return dtype_is_int(t->type) && tensor_known(c->imp->m, t) &&
	       t->n_elems == 1 && expr_is_int(t->elems[0], v) &&
	       *v >= -NUMBER_MAX && *v <= NUMBER_MAX;
}

/* Like small_int(), but t may be a float constant with an integer's value, as
 * in comparisons of floats. */
static bool
small_number(const struct counting *c, struct tensor *t, int64_t *v)
{
	double f;

	t = source_of(t);
	if (!dtype_is_float(t->type)) {
		return small_int(c, t, v);
	}
	if (!tensor_known(c->imp->m, t) || t->n_elems != 1 ||
	    t->elems[0]->kind != EXPR_FLOAT) {
		return false;
	}
	f = t->elems[0]->u.fval;
	if (!(f >= -NUMBER_MAX && f <= NUMBER_MAX)) {
		return false;
	}
	*v = (int64_t)f;
	return (double)*v == f;
}

/* The index of the state whose value at the start of an iteration is t, or
 * -1. */
static int
state_of(const struct counting *c, const struct tensor *t)
{
	for (int k = 0; k < c->form->n_states; k++) {
		if (c->d->flow->carried[k] == t) {
			return k;
		}
	}
	return -1;
}

/* If t is Add (x, constant): x, and *by is the constant. Else NULL. */
static struct tensor *
added_to(const struct counting *c, const struct tensor *t, int64_t *by)
{
	const struct node *n = t->producer;

	if (!is_node(n, "Add") || n->n_inputs != 2) {
		return NULL;
	}
	for (int k = 0; k < 2; k++) {
		if (small_int(c, n->inputs[k], by)) {
			return source_of(n->inputs[1 - k]);
		}
	}
	return NULL;
}

/* Is t the iteration number, or an int32 or int64 state with a small constant
 * as first value, to which each iteration adds a constant above 0? If so, sets
 * init and step of *out. */
static bool
counts(const struct counting *c, const struct tensor *t, struct counter *out)
{
	struct tensor *next;
	int k = state_of(c, t);

	if (t == c->iteration) {
		out->init = 0;
		out->step = 1;
		return true;
	}
	if (k < 0) {
		return false;
	}
	next = source_of(c->next[k]);
	/* a state of a narrower integer type could wrap below the limit */
	if (c->form->states[k]->type.kind != DT_I32 &&
	    c->form->states[k]->type.kind != DT_I64) {
		return false;
	}
	return small_int(c, c->form->states[k], &out->init) &&
	       added_to(c, next, &out->step) == t && out->step > 0;
}

/* If t has the same value in all iterations, returns this integer as a tensor
 * outside of the loop; else NULL. */
static struct tensor *
constant_of(const struct counting *c, struct tensor *t)
{
	double low, high;
	int k;

	t = source_of(t);
	k = state_of(c, t);
	if (k >= 0 && source_of(c->next[k]) == t) {
		t = source_of(c->form->states[k]);
	}
	/* Tensors in the loop have no type yet, so they are not DT_I32 or
	 * DT_I64. */
	return (t->type.kind == DT_I32 || t->type.kind == DT_I64) &&
			       tensor_known(c->imp->m, t) && t->n_elems == 1 &&
			       import_element_range(c->imp, t, &low, &high) &&
			       low >= -SIZE_FOUND_MAX && high <= SIZE_FOUND_MAX
		       ? t
		       : NULL;
}

/* The two sides of a comparison: low < high, or low <= high (*inclusive). */
static bool
read_comparison(const struct tensor *t, struct tensor **low,
		struct tensor **high, bool *inclusive)
{
	static const struct {
		const char *op;
		bool swapped, inclusive;
	} rows[] = {
		{ "Less", false, false },
		{ "LessOrEqual", false, true },
		{ "Greater", true, false },
		{ "GreaterOrEqual", true, true },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (is_node(t->producer, rows[i].op) &&
		    t->producer->n_inputs == 2) {
			*low = t->producer->inputs[rows[i].swapped];
			*high = t->producer->inputs[!rows[i].swapped];
			*inclusive = rows[i].inclusive;
			return true;
		}
	}
	return false;
}

/* Collects the counters that t compares. t is the condition for the next
 * iteration: a comparison, or an And of up to 2^depth comparisons. False if t
 * contains anything else. */
static bool
find_counters(struct counting *c, struct tensor *t, int depth)
{
	struct counter one = { 0 };
	struct tensor *low, *high, *before;

	t = truth_of(t);
	if (depth > 0 && is_node(t->producer, "And") &&
	    t->producer->n_inputs == 2) {
		return find_counters(c, t->producer->inputs[0], depth - 1) &&
		       find_counters(c, t->producer->inputs[1], depth - 1);
	}
	if (!read_comparison(t, &low, &high, &one.inclusive)) {
		return false;
	}
	low = source_of(low);
	one.limit = constant_of(c, high);
	if (!one.limit) {
		return false;
	}
	if (!counts(c, low, &one)) {
		before = added_to(c, low, &one.ahead);
		if (!before || !counts(c, before, &one)) {
			return false;
		}
	}
	vec_push(&c->imp->tmp, &c->found, one);
	return true;
}

/* Does t, the condition before the first iteration, compare the first value of
 * counter x with the same constant limit as the later conditions? Also true if
 * t is an And of up to 2^depth conditions one of which does. */
static bool
is_first_test(const struct counting *c, struct tensor *t,
	      const struct counter *x, int depth)
{
	struct tensor *low, *high;
	bool inclusive;
	int64_t v;

	t = truth_of(t);
	if (depth > 0 && is_node(t->producer, "And") &&
	    t->producer->n_inputs == 2) {
		return is_first_test(c, t->producer->inputs[0], x, depth - 1) ||
		       is_first_test(c, t->producer->inputs[1], x, depth - 1);
	}
	if (!read_comparison(t, &low, &high, &inclusive) ||
	    inclusive != x->inclusive || x->ahead != x->step) {
		return false;
	}
	high = source_of(high);
	return small_number(c, low, &v) && v == x->init &&
	       dtype_is_int(high->type) && tensor_known(c->imp->m, high) &&
	       high->n_elems == 1 && high->elems[0] == x->limit->elems[0];
}

/* Is t a comparison that is_first_test accepts for some counter, or an And of
 * only such comparisons? */
static bool
tests_counters(const struct counting *c, struct tensor *t, int depth)
{
	t = truth_of(t);
	if (depth > 0 && is_node(t->producer, "And") &&
	    t->producer->n_inputs == 2) {
		return tests_counters(c, t->producer->inputs[0], depth - 1) &&
		       tests_counters(c, t->producer->inputs[1], depth - 1);
	}
	for (int i = 0; i < c->found.n; i++) {
		if (is_first_test(c, t, &c->found.data[i], 0)) {
			return true;
		}
	}
	return false;
}

/* Does the condition before the first iteration compare the same counters with
 * the same limits as the later conditions, and test nothing else? */
static bool
tests_first(const struct counting *c)
{
	for (int i = 0; i < c->found.n; i++) {
		if (!is_first_test(c, c->form->condition, &c->found.data[i],
				   DEPTH_MAX)) {
			return false;
		}
	}
	return tests_counters(c, c->form->condition, DEPTH_MAX);
}

static struct tensor *
with_number(const struct counting *c, const char *op_type, struct tensor *t,
	    int64_t v)
{
	struct tensor *in[] = { t, graph_constant_ints(c->imp->g, "number", 1,
						       &v) };

	return deferred_node(c->imp, c->d, op_type, in, 2, "iterations");
}

/* The number of iterations that counter x allows. The loop goes on while init +
 * (j - 1) step + ahead < limit, so the number is ceil ((limit - init - ahead) /
 * step) + 1, but at least `least`. */
static struct tensor *
make_count(const struct counting *c, const struct counter *x, int64_t least)
{
	struct tensor *t = deferred_node(c->imp, c->d, "Cast",
					 (struct tensor *[]){ x->limit }, 1,
					 "iterations");
	int64_t more = x->inclusive - x->init - x->ahead + x->step;

	node_set_attr_int(c->imp->g, t->producer, "to",
			  dtype_onnx_number(dtype_of(DT_I64)));
	t = with_number(c, "Reshape", t, 1);
	if (more != 0) {
		t = with_number(c, "Add", t, more);
	}
	if (x->step != 1) {
		t = with_number(c, "Max", t, 0);
		t = with_number(c, "Add", t, x->step - 1);
		t = with_number(c, "Div", t, x->step);
	}
	return with_number(c, "Max", t, least);
}

struct tensor *
flow_count(struct importer *imp, const struct deferred *d,
	   struct tensor *iteration, struct tensor *condition,
	   struct tensor *const *next)
{
	struct counting c = { .imp = imp,
			      .d = d,
			      .form = &d->flow->form,
			      .iteration = iteration,
			      .next = next };
	struct tensor *count = NULL;
	int64_t first = 1;
	bool known = !c.form->condition || deferred_known(imp, d, 1, &first);

	if (known && !first) {
		return graph_constant_ints(imp->g, "iterations", 1, &first);
	}
	if (!find_counters(&c, condition, DEPTH_MAX) ||
	    (!known && !tests_first(&c))) {
		return NULL;
	}
	for (int i = 0; i < c.found.n; i++) {
		struct tensor *in[] = { count, make_count(&c, &c.found.data[i],
							  known) };

		count = count ? deferred_node(imp, d, "Min", in, 2,
					      "iterations")
			      : in[1];
	}
	return count;
}
