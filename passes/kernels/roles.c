/* SPDX-License-Identifier: Apache-2.0 */
/* Names a kernel's parameters by the role of the tensor in its nodes
 * (roles.def), never by its name in the model.
 *
 * If an operator reads a tensor as plain data, the tensor has the role that the
 * operator's result has for its readers in the group: the transposed weights of
 * a product are weights. The products around a Softmax are the products of
 * attention: queries by keys, and probabilities by values. */
#include "kernel_build.h"
#include "ops.h"

struct role_row {
	const char *op;
	/* the roles of the inputs, separated by spaces; NULL if the operator
	 * has two symmetric inputs */
	const char *inputs;
	/* the roles of a symmetric input: of a constant, and of a tensor that
	 * is joined with one that the group computes */
	const char *constant, *joining;
};

static const struct role_row rows[] = {
#define ROLES(op, inputs) { #op, inputs, NULL, NULL },
#define JOINS(op, constant, joining) { #op, NULL, constant, joining },
#include "roles.def"
#undef ROLES
#undef JOINS
};

static const char data[] = "x";

/* The most nodes between a product and a Softmax for which they count as
 * attention. */
enum { MOST_STEPS = 8 };

struct search {
	struct arena *arena;
	const struct group *group;
	const struct tensor *t;
	bool *reached; /* by node of the group: true if it depends on t */
};

static const struct role_row *
find_row(const struct node *n)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].op, n->op_type) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

/* Word i of `words`, a list of words separated by blanks; "x" (the role of
 * plain data) if the list has fewer words. */
static const char *
word_of(struct arena *a, const char *words, int i)
{
	for (; i > 0 && *words != '\0'; i--) {
		words += strcspn(words, " ");
		words += strspn(words, " ");
	}
	return *words == '\0' ? data
			      : arena_strndup(a, words, strcspn(words, " "));
}

/* Has the first result of the node the elements of its first input, either
 * moved, or each changed independently of the rest? */
static bool
carries(const struct node *n)
{
	switch (n->op->fuse) {
	case FUSE_ELEMENTWISE:
	case FUSE_BROADCAST:
	case FUSE_INJECTIVE:
	case FUSE_VIEW:
		return n->n_outputs > 0 && n->outputs[0] != NULL;
	default:
		return false;
	}
}

/* Is the tensor constant, or computed from a constant in the kernel by nodes
 * that move or change single elements? */
static bool
is_fixed(const struct group *group, const struct tensor *t)
{
	while (!tensor_is_constant(t)) {
		if (t->producer == NULL || t->producer->n_inputs == 0 ||
		    !carries(t->producer) ||
		    group_index(group, t->producer) < 0) {
			return false;
		}
		t = t->producer->inputs[0];
	}
	return true;
}

/* -- attention */

static bool
is_softmax(const struct node *n)
{
	return strcmp(n->op_type, "Softmax") == 0;
}

static bool
comes_from_softmax(const struct tensor *t)
{
	for (int i = 0; i < MOST_STEPS && t != NULL && t->producer != NULL;
	     i++) {
		if (is_softmax(t->producer)) {
			return true;
		}
		if (!carries(t->producer)) {
			return false;
		}
		t = t->producer->inputs[0];
	}
	return false;
}

static bool
goes_to_softmax(const struct tensor *t)
{
	for (int i = 0; i < MOST_STEPS && t != NULL && t->uses.n == 1; i++) {
		const struct node *user = t->uses.data[0].node;

		if (is_softmax(user)) {
			return true;
		}
		if (!carries(user)) {
			return false;
		}
		t = user->outputs[0];
	}
	return false;
}

static const char *
product_role(const struct search *q, const struct role_row *row,
	     const struct node *n, int i)
{
	if (strcmp(n->op_type, "MatMul") == 0 && i < 2 &&
	    !is_fixed(q->group, n->inputs[0]) &&
	    !is_fixed(q->group, n->inputs[1])) {
		if (comes_from_softmax(n->inputs[0])) {
			return i == 0 ? "probabilities" : "v";
		}
		if (goes_to_softmax(n->outputs[0])) {
			return i == 0 ? "q" : "k";
		}
		return i == 0 ? "a" : "b";
	}
	return word_of(q->arena, row->inputs, i);
}

/* -- one use */

static bool
is_reached(const struct search *q, const struct tensor *x)
{
	int at = x->producer != NULL ? group_index(q->group, x->producer) : -1;

	return x == q->t || (at >= 0 && q->reached[at]);
}

/* Is x a product with a constant, as a normalization makes? Then a constant
 * that is added to x is named "shift", not "bias". */
static bool
follows_scale(const struct tensor *x)
{
	const struct node *n = x->producer;

	return n != NULL && strcmp(n->op_type, "Mul") == 0 &&
	       (tensor_is_constant(n->inputs[0]) ||
		tensor_is_constant(n->inputs[1]));
}

/* The role of input i of n, where n has two symmetric inputs, as an Add has. */
static const char *
joining_role(const struct search *q, const struct role_row *row,
	     const struct node *n, int i)
{
	const struct tensor *other = n->n_inputs == 2 ? n->inputs[1 - i] : NULL;
	bool inside = other != NULL && other->producer != NULL &&
		      group_index(q->group, other->producer) >= 0;

	if (other == NULL || is_reached(q, other) ||
	    is_fixed(q->group, other)) {
		return data;
	}
	if (tensor_is_constant(q->t)) {
		return strcmp(row->constant, "bias") == 0 &&
				       follows_scale(other)
			       ? "shift"
			       : row->constant;
	}
	return inside ? row->joining : i == 0 ? "a" : "b";
}

static const char *role_in(struct arena *a, const struct group *group,
			   const struct tensor *t);

/* The role of a parameter of a DequantizeLinear, such as "x_scale". If the
 * dequantized tensor has a role in the group, such as "w", this takes the place
 * of "x": "w_scale". */
static const char *
of_quantized(const struct search *q, const struct node *n, const char *role)
{
	const char *whose;

	if (role[0] != 'x' || role[1] != '_' ||
	    strcmp(n->op_type, "DequantizeLinear") != 0) {
		return role;
	}
	whose = role_in(q->arena, q->group, n->inputs[0]);
	return strcmp(whose, data) == 0
		       ? role
		       : arena_printf(q->arena, "%s%s", whose, role + 1);
}

static const char *
role_at(const struct search *q, const struct node *n, int i)
{
	const struct role_row *row = find_row(n);

	if (row == NULL) {
		return data;
	}
	if (row->inputs == NULL) {
		return joining_role(q, row, n, i);
	}
	return of_quantized(q, n, product_role(q, row, n, i));
}

/* -- all uses in a group */

/* The role of t in the first use, in the order of the group's nodes, in which t
 * is not plain data. */
static const char *
role_in(struct arena *a, const struct group *group, const struct tensor *t)
{
	struct search q = {
		.arena = a,
		.group = group,
		.t = t,
		.reached = arena_array(a, bool, group->nodes.n + 1),
	};
	/* by node: true if its result has t's elements */
	bool *carried = arena_array(a, bool, group->nodes.n + 1);

	for (int k = 0; k < group->nodes.n; k++) {
		const struct node *n = group->nodes.data[k];

		for (int i = 0; i < n->n_inputs; i++) {
			const struct tensor *x = n->inputs[i];
			const char *role;

			if (x == NULL || !is_reached(&q, x)) {
				continue;
			}
			q.reached[k] = true;
			if (x != t &&
			    !carried[group_index(group, x->producer)]) {
				continue;
			}
			role = role_at(&q, n, i);
			if (strcmp(role, data) != 0) {
				return role;
			}
			carried[k] = carries(n);
		}
	}
	return data;
}

const char *
kernel_role(struct arena *a, const struct group *group, const struct tensor *t)
{
	const char *role = role_in(a, group, t);

	if (strcmp(role, data) != 0 || !tensor_is_constant(t)) {
		return role;
	}
	return t->ndim >= 2 ? "w" : "c";
}
