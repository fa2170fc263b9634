/* SPDX-License-Identifier: Apache-2.0 */
/* Einsum: every letter of the equation is a loop; letters that are not in the
 * result are summed over. More than two operands are multiplied in order, and
 * each product is summed over the letters that neither later operands nor the
 * result use.
 *
 *	"bij,bjk->bik"	y[b, i, k] = sum over j: x0[b, i, j] * x1[b, j, k] */
#include "dims.h"

/* Labels: letters, then the dimensions of "…", counted from the last. */
enum { LETTERS = 52, RANK_MAX = 16, LABELS = LETTERS + RANK_MAX };
/* The most operands: all products are in one kernel, and its schedule compares
 * every product with every other product. */
enum { OPERANDS_MAX = 64 };

struct term {
	int n;
	int labels[RANK_MAX];
};

struct einsum {
	struct term *inputs, result;
	/* by label: its size; NULL if the label is not used */
	const struct expr *size[LABELS];
	int ellipsis; /* the number of dimensions for which "…" stands */
};

static bool
equation_error(struct infer *c, const char *text)
{
	return infer_error(c, DIAG_BAD_ATTRIBUTE,
			   "equation '%s' is not valid for these inputs; "
			   "correct the model",
			   text);
}

static int
letter_label(char ch)
{
	return ch >= 'a' && ch <= 'z'   ? ch - 'a'
	       : ch >= 'A' && ch <= 'Z' ? 26 + ch - 'A'
					: -1;
}

/* Reads a term of the equation, up to ',', "->" or the end, into t. "…" stands
 * for `ellipsis` dimensions; if `ellipsis` is negative, for as many dimensions
 * as remain of `rank` after the letters. False if the term is not valid. */
static bool
parse_term(const char **text, struct term *t, int rank, int ellipsis)
{
	const char *s = *text;
	int letters = 0, dots = 0;

	for (const char *p = s; *p && *p != ',' && *p != '-'; p++) {
		letters += letter_label(*p) >= 0;
		dots += *p == '.';
	}
	if (ellipsis < 0) {
		ellipsis = dots ? rank - letters : 0;
	}
	if ((dots != 0 && dots != 3) || ellipsis < 0 ||
	    letters + (dots ? ellipsis : 0) > RANK_MAX) {
		return false;
	}
	t->n = 0;
	for (; *s && *s != ',' && *s != '-'; s++) {
		if (letter_label(*s) >= 0) {
			t->labels[t->n++] = letter_label(*s);
		} else if (strncmp(s, "...", 3) == 0) {
			for (int k = ellipsis - 1; k >= 0; k--) {
				t->labels[t->n++] = LETTERS + k;
			}
			s += 2;
		} else if (*s != ' ') {
			return false;
		}
	}
	*text = s;
	return true;
}

/* Sets e->size of the labels in term t from the shape of x, the operand of the
 * term. False after a diagnostic. */
static bool
note_sizes(struct infer *c, struct einsum *e, const struct tensor *x,
	   const struct term *t)
{
	for (int d = 0; d < t->n; d++) {
		const struct expr **size = &e->size[t->labels[d]];

		*size = *size ? infer_broadcast_dim(c, c->module, *size,
						    x->shape[d])
			      : x->shape[d];
		if (!*size) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "dimension %d of '%s' differs "
					   "from another dimension with the "
					   "same letter; correct the shapes",
					   d, x->name);
		}
		if (t->labels[d] - LETTERS >= e->ellipsis) {
			e->ellipsis = t->labels[d] - LETTERS + 1;
		}
	}
	return true;
}

/* Sets the result's labels for an equation without "->": the dimensions of "…",
 * then the letters that occur once. */
static void
implicit_result(struct einsum *e, int n_inputs)
{
	int count[LABELS] = { 0 };

	for (int i = 0; i < n_inputs; i++) {
		for (int d = 0; d < e->inputs[i].n; d++) {
			count[e->inputs[i].labels[d]]++;
		}
	}
	e->result.n = 0;
	for (int k = e->ellipsis - 1; k >= 0; k--) {
		e->result.labels[e->result.n++] = LETTERS + k;
	}
	for (int i = 0; i < LETTERS && e->result.n < RANK_MAX; i++) {
		/* labels are numbered in the order A … Z, a … z */
		int label = (i + 26) % LETTERS;

		if (count[label] == 1) {
			e->result.labels[e->result.n++] = label;
		}
	}
}

static bool
parse_equation(struct infer *c, const struct node *n, struct einsum *e)
{
	const char *whole = node_attr_string(n, "equation", ""), *s = whole;

	memset(e, 0, sizeof *e);
	if (n->n_inputs > OPERANDS_MAX) {
		return infer_error(c, DIAG_TOO_LARGE,
				   "it multiplies %d operands; tirc takes at "
				   "most %d: divide it into several Einsums",
				   n->n_inputs, OPERANDS_MAX);
	}
	e->inputs = arena_array(&c->module->arena, struct term,
				n->n_inputs + 1);
	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *x = n->inputs[i];

		if (!x || !parse_term(&s, &e->inputs[i], x->ndim, -1) ||
		    e->inputs[i].n != x->ndim) {
			return equation_error(c, whole);
		}
		if (!note_sizes(c, e, x, &e->inputs[i])) {
			return false;
		}
		if (i < n->n_inputs - 1 && *s++ != ',') {
			return equation_error(c, whole);
		}
	}
	if (*s == '\0') {
		implicit_result(e, n->n_inputs);
		return true;
	}
	if (strncmp(s, "->", 2) != 0) {
		return equation_error(c, whole);
	}
	s += 2;
	if (!parse_term(&s, &e->result, 0, e->ellipsis) || *s) {
		return equation_error(c, whole);
	}
	for (int d = 0; d < e->result.n; d++) {
		for (int k = 0; k < d; k++) {
			if (e->result.labels[k] == e->result.labels[d]) {
				return equation_error(c, whole);
			}
		}
		if (!e->size[e->result.labels[d]]) {
			return equation_error(c, whole);
		}
	}
	return true;
}

bool
infer_einsum(struct infer *c, struct node *n)
{
	const struct expr *shape[RANK_MAX];
	struct einsum e;

	if (!infer_same_types(c, n) || !parse_equation(c, n, &e)) {
		return false;
	}
	for (int d = 0; d < e.result.n; d++) {
		shape[d] = e.size[e.result.labels[d]];
	}
	infer_set(c, n->outputs[0], n->inputs[0]->type, e.result.n, shape);
	return true;
}

/* ---- definition ---- */

static bool
has_label(const struct term *t, int label)
{
	for (int d = 0; d < t->n; d++) {
		if (t->labels[d] == label) {
			return true;
		}
	}
	return false;
}

static const char *
label_name(struct module *m, int label)
{
	return label < LETTERS
		       ? arena_printf(&m->arena, "%c", 'a' + label % 26)
		       : arena_printf(&m->arena, "b%d", label - LETTERS);
}

/* The loops of one stage: `axes` over its result, and `over` the summed
 * labels. */
struct loops {
	struct iter_var *axes, over[LABELS];
	int n_over;
	const struct expr *at[LABELS]; /* by label */
};

static void
make_loops(struct define *c, const struct einsum *e, const struct term *x,
	   const struct term *y, const struct term *result, struct loops *l)
{
	struct module *m = c->module;
	const struct expr *shape[RANK_MAX];
	const char *names[RANK_MAX];

	for (int d = 0; d < result->n; d++) {
		shape[d] = e->size[result->labels[d]];
		names[d] = label_name(m, result->labels[d]);
	}
	l->axes = te_axes(m, result->n, shape, names);
	l->n_over = 0;
	for (int d = 0; d < result->n; d++) {
		l->at[result->labels[d]] = l->axes[d].var->expr;
	}
	for (int label = 0; label < LABELS; label++) {
		if (has_label(result, label) ||
		    (!has_label(x, label) && !(y && has_label(y, label)))) {
			continue;
		}
		l->over[l->n_over] = te_reduce_axis(m, label_name(m, label),
						    e->size[label]);
		l->at[label] = l->over[l->n_over++].var->expr;
	}
}

static const struct expr *
operand(struct define *c, const struct einsum *e, const struct loops *l,
	const struct te_tensor *t, const struct term *term)
{
	const struct expr *at[RANK_MAX];
	struct dtype type = accumulator_type(t->buffer->type);

	for (int d = 0; d < term->n; d++) {
		int label = term->labels[d];

		at[d] = broadcast_index(c->module, t->buffer->shape[d],
					e->size[label], l->at[label]);
	}
	return expr_cast(c->module, type, te_at(c->module, t, at, term->n));
}

/* The labels of the product of x and input i that later inputs or the result
 * use, and that must therefore be kept. */
static struct term
kept_labels(const struct einsum *e, const struct term *x, int i, int n_inputs)
{
	struct term kept = { 0 };

	if (i == n_inputs - 1) {
		return e->result;
	}
	for (int k = 0; k < x->n + e->inputs[i].n; k++) {
		int label = k < x->n ? x->labels[k]
				     : e->inputs[i].labels[k - x->n];
		bool needed = has_label(&e->result, label);

		for (int j = i + 1; j < n_inputs; j++) {
			needed |= has_label(&e->inputs[j], label);
		}
		if (needed && !has_label(&kept, label) && kept.n < RANK_MAX) {
			kept.labels[kept.n++] = label;
		}
	}
	return kept;
}

static struct te_tensor *
multiply(struct define *c, const struct einsum *e, struct te_tensor *x,
	 const struct term *x_term, struct te_tensor *y,
	 const struct term *y_term, const struct term *result)
{
	struct module *m = c->module;
	const struct expr *body;
	struct loops l;

	make_loops(c, e, x_term, y_term, result, &l);
	body = operand(c, e, &l, x, x_term);
	if (y) {
		body = expr_mul(m, body, operand(c, e, &l, y, y_term));
	}
	if (l.n_over > 0) {
		body = te_sum(m, body, l.over, l.n_over);
	}
	return define_stage(c, "einsum", l.n_over ? "matmul" : "broadcast",
			    result->n, l.axes, body);
}

bool
define_einsum(struct define *c, const struct node *n,
	      struct te_tensor *const *in, struct te_tensor **out)
{
	struct infer checked = { c->graph, c->module, n };
	const struct tensor *y = n->outputs[0];
	struct te_tensor *x = in[0];
	struct einsum e;
	struct term term;

	if (!parse_equation(&checked, n, &e)) {
		return false;
	}
	term = e.inputs[0];
	if (n->n_inputs == 1) {
		x = multiply(c, &e, x, &term, NULL, NULL, &e.result);
	}
	for (int i = 1; i < n->n_inputs; i++) {
		struct term kept = kept_labels(&e, &term, i, n->n_inputs);

		x = multiply(c, &e, x, &term, in[i], &e.inputs[i], &kept);
		term = kept;
	}
	if (!dtype_equal(x->buffer->type, y->type)) {
		struct iter_var *axes = define_axes(c, y);

		x = define_stage(c, "round", "elementwise", y->ndim, axes,
				 convert_to(c, y->type,
					    te_at(c->module, x,
						  axes_exprs(c, axes, y->ndim),
						  y->ndim)));
	}
	out[0] = x;
	return true;
}
