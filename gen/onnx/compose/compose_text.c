/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on the text of strings, made of nodes whose operators
 * passes/ops/text/strings.c defines. */
#include "compose_strings.h"
#include "ops.h"
#include "pattern.h"

/* Makes a node of the domain tirc; returns its only output, whose name ends in
 * `what`. */
static struct tensor *
own(struct compose *c, const char *what, const char *op_type,
    struct tensor *const *in, int n)
{
	struct tensor *out;

	compose_nodes(c, "tirc", op_type, in, n, &what, 1, &out);
	return out;
}

/* x as a matrix with a row for each string. */
static struct tensor *
rows_of(struct compose *c, struct tensor *x)
{
	const int64_t shape[] = { -1, string_bytes(x) };

	return x->ndim == 2
		       ? x
		       : compose_2(c, "rows", "Reshape", x,
				   compose_ints(c, "rows_shape", 2, shape));
}

/* Reshapes t, which has a row for each string of x, so that its first dimension
 * becomes the dimensions of x. */
static struct tensor *
from_rows(struct compose *c, struct tensor *t, const struct tensor *x)
{
	int rank = tensor_rank(x), more = t->ndim - 1;
	const struct expr **shape = arena_exprs(&c->imp->tmp, rank + more + 1);

	for (int d = 0; d < rank; d++) {
		shape[d] = x->shape[d];
	}
	for (int d = 0; d < more; d++) {
		shape[rank + d] = t->shape[1 + d];
	}
	return compose_reshape(c, "shaped", t, rank + more, shape);
}

/* -- StringConcat -- */

bool
compose_string_concat(struct compose *c)
{
	struct tensor *in[3], *is_byte;

	if (!string_inputs(c, 0)) {
		return false;
	}
	in[0] = compose_input(c, 0);
	in[1] = compose_input(c, 1);
	is_byte = compose_cast(c, "is_byte", in[0], dtype_of(DT_BOOL));
	in[2] = compose_reduce(c, "length", "ReduceSum",
			       compose_cast(c, "one", is_byte,
					    dtype_of(DT_I32)),
			       -1, false);
	string_result(c, 0, own(c, "joined", "StringConcat", in, 3));
	return true;
}

/* -- StringNormalizer -- */

static struct tensor *
change_case(struct compose *c, const char *what, struct tensor *x, bool upper)
{
	compose_set_int(c, "upper", upper);
	return own(c, what, "ChangeCase", &x, 1);
}

/* A bool for each string of the list x: true if the string is not a stop word.
 * NULL if the node has no stop words. */
static struct tensor *
kept_words(struct compose *c, struct tensor *x)
{
	const struct attr *stops = node_attr(c->node, "stopwords");
	struct tensor_content content;
	struct tensor *words, *same;
	int64_t bytes;

	if (!stops || stops->kind != ATTR_STRINGS || stops->n == 0) {
		return NULL;
	}
	strings_content(&c->m->arena, stops->strings, stops->n, &content);
	words = compose_constant(c, "stopwords", dtype_of(DT_U8), 2,
				 content.shape, content.value->data);
	if (!node_attr_int(c->node, "is_case_sensitive", 0)) {
		x = change_case(c, "lower", x, false);
		words = change_case(c, "lower_stopwords", words, false);
	}
	bytes = content.shape[1] > string_bytes(x) ? content.shape[1]
						   : string_bytes(x);
	same = compose_2(c, "same", "Equal",
			 compose_unsqueeze(c, "column",
					   string_widen(c, x, bytes), 1),
			 string_widen(c, words, bytes));
	same = compose_reduce(c, "is_word", "ReduceMin", same, -1, false);
	same = compose_reduce(c, "stopped", "ReduceMax", same, -1, false);
	return compose_1(c, "kept", "Not", same);
}

/* The strings of the list x for which `kept` is true, in order. If `kept` is
 * false for all strings, the result is one empty string: the first string is
 * taken, and its bytes are multiplied by 0. */
static struct tensor *
select_words(struct compose *c, struct tensor *x, struct tensor *kept)
{
	struct tensor *any, *none, *first, *count, *at;

	any = compose_reduce(c, "any", "ReduceMax", kept, 0, true);
	none = compose_1(c, "none", "Not", any);
	count = compose_sizes(c, "count", 1, x->shape);
	count = compose_squeeze(c, "words", count, 0);
	first = compose_with(c, "first", "Equal",
			     compose_count(c, "number", count,
					   dtype_of(DT_I32)),
			     0);
	kept = compose_2(c, "chosen", "Or", kept,
			 compose_2(c, "empty", "And", first, none));
	x = compose_2(c, "or_empty", "Mul", x,
		      compose_cast(c, "factor", any, x->type));
	at = own(c, "found", "NonZero", &kept, 1);
	compose_set_int(c, "axis", 0);
	return compose_2(c, "words", "Gather", x,
			 compose_squeeze(c, "list", at, 0));
}

/* Is the locale one whose rules of upper and lower case are supported? False
 * after a diagnostic. */
static bool
check_locale(struct compose *c)
{
	const char *locale = node_attr_string(c->node, "locale", "en_US");

	return strncmp(locale, "en", 2) == 0 || !*locale ||
	       strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0 ||
	       compose_refuse(c,
			      "its locale '%s' is not supported; en_US and C "
			      "are",
			      locale);
}

bool
compose_string_normalizer(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *y, *kept;
	const char *how = node_attr_string(c->node, "case_change_action",
					   "NONE");
	bool is_row = tensor_rank(x) == 2, change = strcmp(how, "NONE") != 0;
	int64_t zero = 0;

	if (!string_inputs(c, 0)) {
		return false;
	}
	if (tensor_rank(x) != 1 && !(is_row && expr_is_value(x->shape[0], 1))) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its input must have the shape [C] or "
				     "[1, C]; correct the model");
	}
	if (change && !check_locale(c)) {
		return false;
	}
	y = x = is_row ? compose_squeeze(c, "list", x, 0) : x;
	kept = kept_words(c, x);
	if (change) {
		y = change_case(c, "changed", x, *how == 'U');
	}
	if (kept) {
		y = select_words(c, y, kept);
	}
	if (is_row) {
		y = compose_2(c, "row", "Unsqueeze", y,
			      compose_ints(c, "row_axis", 1, &zero));
	}
	string_result(c, 0, y);
	return true;
}

/* -- StringSplit -- */

/* The largest number of pieces into which a string of this many bytes can be
 * split. */
static int64_t
most_pieces(const struct compose *c, int64_t bytes)
{
	int64_t n = (int64_t)strlen(node_attr_string(c->node, "delimiter", ""));
	int64_t splits = node_attr_int(c->node, "maxsplit", -1);
	int64_t most = n > 0 ? bytes / n + 1 : (bytes + 1) / 2;

	return splits >= 0 && splits < most - 1 ? splits + 1 : most;
}

bool
compose_string_split(struct compose *c)
{
	static const char *const whats[] = { "from", "to", "count" };
	struct tensor *x = compose_input(c, 0), *rows, *made[3], *longest;
	int64_t splits = node_attr_int(c->node, "maxsplit", -1);
	int64_t most, zero = 0, one = 1;

	if (!string_inputs(c, 0)) {
		return false;
	}
	most = most_pieces(c, string_bytes(x));
	rows = rows_of(c, x);
	compose_keep_attrs(c, "delimiter");
	compose_set_int(c, "maxsplit",
			splits < 0 || splits >= most ? -1 : splits);
	compose_set_int(c, "pieces", most);
	compose_nodes(c, "tirc", "StringPieces", &rows, 1, whats, 3, made);
	if (compose_wants(c, 1)) {
		compose_result(c, 1, from_rows(c, made[2], x));
	}
	if (compose_wants(c, 0)) {
		longest = compose_reduce(c, "longest", "ReduceMax", made[2], 0,
					 true);
		longest = compose_run_size(c, longest, "pieces", most);
		for (int k = 0; k < 2; k++) {
			made[k] =
				compose_node(c, whats[k], "Slice", 4, made[k],
					     compose_ints(c, "first", 1, &zero),
					     longest,
					     compose_ints(c, "axis", 1, &one));
		}
		string_result(c, 0,
			      from_rows(c,
					own(c, "pieces", "Substring",
					    (struct tensor *[]){ rows, made[0],
								 made[1] },
					    3),
					x));
	}
	return true;
}

/* -- RegexFullMatch -- */

/* The number of steps of an automaton that take as long as one step of the
 * analysis of sizes. */
#define STEPS_OF_AN_EXPRESSION 16

bool
compose_regex(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *in[2], *state;
	const char *pattern = node_attr_string(c->node, "pattern", "");
	struct automaton a;
	const char *why;
	int64_t shape[2] = { 0, 256 };

	if (!string_inputs(c, 0)) {
		return false;
	}
	if (!regex_compile(&c->m->arena, pattern, &a, &why)) {
		return compose_refuse(c, "its pattern %s: %s",
				      import_quote(&c->imp->tmp, pattern), why);
	}
	c->m->quota.steps += a.steps / STEPS_OF_AN_EXPRESSION;
	if (!quota_check_steps(c->m, node_place(c->g, c->node))) {
		return false;
	}
	shape[0] = a.n_states;
	in[0] = rows_of(c, x);
	in[1] = compose_constant(c, "table", dtype_of(DT_U16), 2, shape,
				 a.next);
	state = own(c, "state", "Automaton", in, 2);
	state = compose_2(c, "match", "Gather",
			  compose_constant(c, "accepts", dtype_of(DT_BOOL), 1,
					   shape, a.accepts),
			  state);
	compose_result(c, 0, from_rows(c, state, x));
	return true;
}

/* -- Cast -- */

/* Makes the nodes that convert the numbers x to strings of digits. False after
 * a diagnostic. */
static bool
cast_to_strings(struct compose *c)
{
	const int64_t list = -1;
	struct tensor *x = compose_input(c, 0), *y;
	bool is_signed = dtype_class(x->type) == DTC_INT;
	int bits = dtype_bits(x->type) - is_signed;

	if (dtype_is_float(x->type)) {
		return compose_refuse(c, "Cast of floats to strings is not "
					 "supported, as ONNX does not say how "
					 "many digits they have");
	}
	y = x->ndim == 1 ? x
			 : compose_2(c, "list", "Reshape", x,
				     compose_ints(c, "list_shape", 1, &list));
	if (dtype_class(x->type) == DTC_BOOL) {
		bits = 1;
		y = compose_cast(c, "bit", y, dtype_of(DT_U8));
	}
	/* the sign and the digits of an integer: log10(2) is less than
	 * 0.30103 */
	compose_set_int(c, "bytes", is_signed + 1 + bits * 30103 / 100000);
	string_result(c, 0,
		      from_rows(c, own(c, "digits", "FormatInteger", &y, 1),
				x));
	return true;
}

bool
compose_string_cast(struct compose *c)
{
	struct tensor *x = compose_input(c, 0), *like = compose_input(c, 1);
	struct dtype type = dtype_of(DT_STRING);

	if (like && !like->is_string) {
		type = like->type;
	} else if (!like &&
		   !dtype_from_onnx(node_attr_int(c->node, "to", 0), &type)) {
		return compose_refuse(c, "its type is not supported");
	}
	if (!x->is_string) {
		return cast_to_strings(c);
	}
	if (dtype_class(type) == DTC_STRING) {
		string_result(c, 0, compose_input(c, 0));
		return true;
	}
	if (dtype_is_float(type)) {
		return compose_refuse(c, "Cast of strings to floats is not "
					 "supported; give the model numbers");
	}
	x = rows_of(c, x);
	x = compose_cast(c, "number", own(c, "parsed", "ParseInteger", &x, 1),
			 type);
	compose_result(c, 0, from_rows(c, x, compose_input(c, 0)));
	return true;
}
