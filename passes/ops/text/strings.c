/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on the bytes of strings; the importer makes these nodes
 * (gen/onnx/compose/compose_text.c). The last dimension of a tensor x of
 * strings has the bytes of a string, followed by zeros.
 *
 *	tirc.StringConcat (a, b, n)    the n bytes of a, then b
 *	tirc.ChangeCase (x)            letters of ASCII and Latin-1
 *	tirc.StringPieces (x)          where the pieces between delimiters are
 *	tirc.Substring (x, from, to)   the bytes between two positions
 *	tirc.Automaton (x, table)      the state of an automaton after each string */
#include "dims.h"
#include "steps.h"

#include <string.h>

bool
infer_strings(struct infer *c, const struct node *n, int i, int least, int most)
{
	const struct tensor *t = n->inputs[i];
	int64_t bytes;

	if (!infer_form(c, n, i, TYPES_UNSIGNED, least, most)) {
		return false;
	}
	return (t->type.kind == DT_U8 &&
		expr_is_int(t->shape[t->ndim - 1], &bytes) && bytes >= 1 &&
		bytes < INT32_MAX) ||
	       infer_error(c, DIAG_BAD_TYPE,
			   "input %d must be strings: uint8, and a constant "
			   "number of bytes as the last dimension; correct "
			   "the model",
			   i);
}

/* ---- StringConcat: n has the shape of a, without the bytes ---- */

static bool
has_length_of_each(struct infer *c, const struct node *n)
{
	const struct tensor *a = n->inputs[0], *length = n->inputs[2];
	bool fits = length->ndim == a->ndim - 1;

	for (int d = 0; fits && d < length->ndim; d++) {
		fits = dims_equal(c, length->shape[d], a->shape[d]);
	}
	return fits || infer_error(c, DIAG_BAD_SHAPE,
				   "input 2 must have the length of each "
				   "string of input 0; correct its shape");
}

bool
infer_string_concat(struct infer *c, struct node *n)
{
	const struct tensor *a = n->inputs[0], *b = n->inputs[1];
	int rank = a->ndim > b->ndim ? a->ndim : b->ndim;
	const struct expr **shape = arena_exprs(&c->module->arena, rank + 1);

	if (!infer_strings(c, n, 0, 1, INT32_MAX) ||
	    !infer_strings(c, n, 1, 1, INT32_MAX) ||
	    !infer_form(c, n, 2, TYPES_INTEGER, 0, INT32_MAX) ||
	    !has_length_of_each(c, n)) {
		return false;
	}

	for (int d = 2; d <= rank; d++) {
		const struct expr *p = d <= a->ndim ? a->shape[a->ndim - d]
						    : NULL;
		const struct expr *q = d <= b->ndim ? b->shape[b->ndim - d]
						    : NULL;

		shape[rank - d] = p == NULL ? q
				  : q == NULL
					  ? p
					  : infer_broadcast_dim(c, c->module, p,
								q);
		if (shape[rank - d] == NULL) {
			return infer_error(c, DIAG_BAD_SHAPE,
					   "the shapes of its inputs "
					   "contradict each other; correct "
					   "the model");
		}
	}
	shape[rank - 1] = dim_add(c->module, a->shape[a->ndim - 1],
				  b->shape[b->ndim - 1]);
	infer_set(c, n->outputs[0], a->type, rank, shape);
	return true;
}

/* Is t computed by counting the elements that are not 0 in each row of `bytes`
 * elements? In this way the importer counts the bytes of strings. */
static bool
counts_bytes(struct module *m, const struct tensor *t, const struct expr *bytes)
{
	const struct node *sum = made_by(t, "", "ReduceSum"), *cast;
	const struct tensor *ones;
	const int64_t *axes;
	int64_t most;
	int count;

	if (!sum || !input_ints(m, sum, 1, &axes, &count) || count != 1) {
		return false;
	}
	ones = sum->inputs[0];
	cast = made_by(ones, "", "Cast");
	return (axes[0] == -1 || axes[0] == ones->ndim - 1) && cast &&
	       cast->inputs[0]->type.kind == DT_BOOL &&
	       ones->type.kind == DT_I32 && expr_is_int(bytes, &most) &&
	       expr_is_value(ones->shape[ones->ndim - 1], most);
}

/* y[i, k] = k < n[i] ? a[i, k] : k - n[i] < bytes of b ? b[i, k - n[i]] : 0 */
bool
define_string_concat(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0], *b = n->inputs[1];
	const struct expr *bytes = n->inputs[0]->shape[n->inputs[0]->ndim - 1];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim);
	const struct expr *k = at[y->ndim - 1], *first, *body, *rest;

	first = define_broadcast(c, in[2], at, y->shape, y->ndim - 1);
	if (!counts_bytes(m, n->inputs[2], bytes)) {
		first = define_clamped(c, first, expr_i32(m, 0), bytes);
	}
	first = expr_cast(m, k->type, first);
	body = define_broadcast(c, in[0], at, y->shape, y->ndim);
	rest = expr_sub(m, k, first);
	at[y->ndim - 1] = rest;
	rest = expr_if(m,
		       expr_lt(m, rest,
			       expr_cast(m, k->type, b->shape[b->ndim - 1])),
		       define_broadcast(c, in[1], at, y->shape, y->ndim),
		       expr_const(m, y->type, 0));
	out[0] = define_stage(c, "joined", "injective", y->ndim, axes,
			      expr_if(m, expr_lt(m, k, first), body, rest));
	return true;
}

/* ---- ChangeCase: to lower case, or with `upper` to upper case ---- */

bool
infer_change_case(struct infer *c, struct node *n)
{
	if (!infer_strings(c, n, 0, 1, INT32_MAX)) {
		return false;
	}
	infer_like_input(c, n);
	return true;
}

static const struct expr *
is_between(struct module *m, const struct expr *x, int low, int high)
{
	return expr_and(m, expr_le(m, expr_const(m, x->type, low), x),
			expr_le(m, x, expr_const(m, x->type, high)));
}

/* Upper-case letters are A to Z in ASCII, and, in Latin-1 as UTF-8, the byte C3
 * followed by 80 to 9E, except 97, the multiplication sign. The lower-case byte
 * is 32 higher. */
bool
define_change_case(struct define *c, const struct node *n,
		   struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, y->ndim);
	const struct expr *k = at[y->ndim - 1], *x, *before, *letter, *other;
	const struct expr *by = expr_const(m, y->type, 32), *latin;
	bool upper = node_attr_int(n, "upper", 0);
	int from = upper ? 32 : 0;

	x = te_at(m, in[0], at, y->ndim);
	at[y->ndim - 1] = expr_sub(m, k, expr_const(m, k->type, 1));
	before = expr_if(m, expr_lt(m, expr_const(m, k->type, 0), k),
			 te_at(m, in[0], at, y->ndim),
			 expr_const(m, y->type, 0));
	letter = is_between(m, x, 'A' + from, 'Z' + from);
	latin = expr_eq(m, x, expr_const(m, y->type, 0x97 + from));
	latin = expr_and(m, is_between(m, x, 0x80 + from, 0x9e + from),
			 expr_not(m, latin));
	latin = expr_and(m, latin,
			 expr_eq(m, before, expr_const(m, y->type, 0xc3)));
	other = upper ? expr_sub(m, x, by) : expr_add(m, x, by);
	out[0] = define_stage(c, "changed", "injective", y->ndim, axes,
			      expr_select(m, expr_or(m, letter, latin), other,
					  x));
	return true;
}

/* ---- Substring: y[i, p, k] = k < to[i, p] - from[i, p] ? x[i, from + k] : 0
 * -- */

bool
infer_substring(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0], *from = n->inputs[1];
	const struct tensor *to = n->inputs[2];
	const struct expr *shape[3];

	if (!infer_strings(c, n, 0, 2, 2) ||
	    !infer_form(c, n, 1, TYPES_INTEGER, 2, 2) ||
	    !infer_form(c, n, 2, TYPES_INTEGER, 2, 2)) {
		return false;
	}
	if (!dims_equal(c, from->shape[0], x->shape[0]) ||
	    !dims_equal(c, to->shape[0], x->shape[0]) ||
	    !dims_equal(c, to->shape[1], from->shape[1])) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "it must have two positions for each part "
				   "of each string; correct the shapes");
	}
	shape[0] = from->shape[0];
	shape[1] = from->shape[1];
	shape[2] = x->shape[1];
	infer_set(c, n->outputs[0], x->type, 3, shape);
	return true;
}

/* The element of t, input i of the Substring n, at the index `at`: a position
 * in a string, clamped to 0 .. the bytes of a string. The element is not
 * clamped if t is an output of a StringPieces, or a slice of such an output,
 * over strings with the same number of bytes: positions in it are within these
 * bounds. */
static const struct expr *
position_in(struct define *c, const struct node *n, int i,
	    const struct te_tensor *t, const struct expr *const *at)
{
	const struct expr *bytes = n->inputs[0]->shape[1];
	const struct expr *e = te_at(c->module, t, at, 2);
	const struct tensor *whole = n->inputs[i];
	const struct node *part = made_by(whole, "", "Slice"), *pieces;
	int64_t most;

	pieces = made_by(part ? part->inputs[0] : whole, "tirc",
			 "StringPieces");
	return pieces && expr_is_int(bytes, &most) &&
			       expr_is_value(pieces->inputs[0]->shape[1], most)
		       ? e
		       : define_clamped(c, e, expr_i32(c->module, 0), bytes);
}

bool
define_substring(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	struct module *m = c->module;
	const struct tensor *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	const struct expr **at = axes_exprs(c, axes, 3), *position[2];
	const struct expr *k = at[2], *from, *to;

	from = expr_cast(m, k->type, position_in(c, n, 1, in[1], at));
	to = expr_cast(m, k->type, position_in(c, n, 2, in[2], at));
	position[0] = at[0];
	position[1] = expr_add(m, from, k);
	out[0] = define_stage(c, "piece", "injective", 3, axes,
			      expr_if(m, expr_lt(m, position[1], to),
				      te_at(m, in[0], position, 2),
				      expr_const(m, y->type, 0)));
	return true;
}

/* ---- StringPieces ---- */

enum { FROM, TO, COUNT, N_MADE };

/* The longest delimiter: each of its bytes becomes a comparison in one
 * condition, which must stay readable. */
enum { MOST_DELIMITER_BYTES = 256 };

/* The most pieces into which n can split a string of this many bytes. */
static int64_t
most_pieces(const struct node *n, int64_t bytes)
{
	int64_t length = (int64_t)strlen(node_attr_string(n, "delimiter", ""));
	int64_t splits = node_attr_int(n, "maxsplit", -1);
	int64_t most = length > 0 ? bytes / length + 1 : (bytes + 1) / 2;

	return splits >= 0 && splits < most - 1 ? splits + 1 : most;
}

/* StringPieces: for each string, the outputs have room for the number of pieces
 * that the attribute `pieces` gives. */
bool
infer_string_pieces(struct infer *c, struct node *n)
{
	const struct tensor *x = n->inputs[0];
	const struct expr *shape[2];
	int64_t pieces = node_attr_int(n, "pieces", 1), bytes, most;

	if (!infer_strings(c, n, 0, 2, 2) ||
	    !expr_is_int(x->shape[1], &bytes)) {
		return false;
	}
	if (strlen(node_attr_string(n, "delimiter", "")) >
	    MOST_DELIMITER_BYTES) {
		return infer_error(c, DIAG_TOO_LARGE,
				   "the delimiter has more than %d bytes; take "
				   "a shorter one",
				   MOST_DELIMITER_BYTES);
	}
	most = most_pieces(n, bytes);
	if (pieces < most || pieces > INT32_MAX ||
	    node_attr_int(n, "maxsplit", -1) > INT32_MAX) {
		return infer_error(c, DIAG_BAD_ATTRIBUTE,
				   "a string has up to %lld pieces; correct "
				   "the attributes pieces and maxsplit",
				   (long long)most);
	}
	shape[0] = x->shape[0];
	shape[1] = expr_index(c->module, pieces);
	infer_set(c, n->outputs[FROM], dtype_of(DT_I32), 2, shape);
	infer_set(c, n->outputs[TO], dtype_of(DT_I32), 2, shape);
	infer_set(c, n->outputs[COUNT], dtype_of(DT_I64), 1, shape);
	return true;
}

bool
define_string_pieces(struct define *c, const struct node *n,
		     struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "from", "to", "count" };
	static const char *const called[] = { "begins", "ends", "total" };
	struct module *m = c->module;
	struct dtype t = dtype_of(DT_I32);
	const char *delimiter = node_attr_string(n, "delimiter", "");
	struct iter_var *axes = define_axes(c, n->outputs[COUNT]);
	struct dtype types[N_MADE];
	int ranks[N_MADE];
	const struct expr *const *shapes[N_MADE];
	struct steps s;

	for (int k = 0; k < N_MADE; k++) {
		types[k] = n->outputs[k]->type;
		ranks[k] = n->outputs[k]->ndim;
		shapes[k] = n->outputs[k]->shape;
	}
	s = steps_begin(c, "pieces", "pieces", names, types, ranks, shapes,
			N_MADE, in, 1, out);
	steps_row(&s, "x", in[0], &axes[0].var->expr, 1);
	for (int k = 0; k < N_MADE; k++) {
		steps_row(&s, called[k], out[k], &axes[0].var->expr, 1);
	}
	steps_value(&s, "bytes", expr_cast(m, t, n->inputs[0]->shape[1]));
	steps_value(&s, "places", expr_cast(m, t, shapes[FROM][1]));
	steps_number(&s, "most", node_attr_int(n, "maxsplit", -1));
	steps_flag(&s, "is_words", *delimiter == 0);
	steps_bytes(&s, "delimiter", delimiter);
	steps_number(&s, "size", (int64_t)strlen(delimiter));
	return steps_run(&s, "pieces", axes, 1);
}

/* ---- Automaton: state[i] = 0; for k: state[i] = table[state[i], x[i, k]]
 * ---- */

bool
infer_automaton(struct infer *c, struct node *n)
{
	int64_t states;

	if (!infer_strings(c, n, 0, 2, 2) ||
	    !infer_form(c, n, 1, TYPES_INTEGER, 2, 2)) {
		return false;
	}
	if (!expr_is_int(n->inputs[1]->shape[0], &states) || states < 1) {
		return infer_error(c, DIAG_BAD_SHAPE,
				   "it needs a constant number of states; "
				   "correct the model");
	}
	if (!infer_size_of(c, n, 1, 1, 256) ||
	    !infer_positions(c, n, 1, 0, states)) {
		return false;
	}
	infer_set(c, n->outputs[0], dtype_of(DT_I32), 1, n->inputs[0]->shape);
	return true;
}

bool
define_automaton(struct define *c, const struct node *n,
		 struct te_tensor *const *in, struct te_tensor **out)
{
	static const char *const names[] = { "state" };
	const struct tensor *x = n->inputs[0], *y = n->outputs[0];
	struct iter_var *axes = define_axes(c, y);
	struct steps s = steps_begin(c, "automaton", "automaton", names,
				     &y->type, &y->ndim,
				     (const struct expr *const *[]){ y->shape },
				     1, in, 2, out);

	steps_row(&s, "x", in[0], &axes[0].var->expr, 1);
	steps_row(&s, "result", out[0], &axes[0].var->expr, 1);
	steps_tensor(&s, "table", in[1]);
	steps_value(&s, "bytes", expr_cast(c->module, y->type, x->shape[1]));
	return steps_run(&s, "automaton", axes, 1);
}
