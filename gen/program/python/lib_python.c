/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in functions of Python that programs use. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "objects.h"
#include "python_parts.h"

bool
python_print(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct pv_list *values = c->args[0].u.list;
	const char *between = " ", *end = "\n";
	struct strbuf s;
	bool ok = true;

	if ((arg_given(c, 1) && !arg_text(c, 1, &between)) ||
	    (arg_given(c, 2) && !arg_text(c, 2, &end))) {
		return false;
	}
	strbuf_init(&s);
	for (int i = 0; ok && i < values->n; i++) {
		size_t before = s.len;

		strbuf_puts(&s, i ? between : "");
		ok = object_text(ev, c->span, &values->data[i], false, &s) &&
		     eval_tick_bytes(ev, c->span, s.len - before);
	}
	strbuf_puts(&s, end);
	ok = ok && eval_tick_bytes(ev, c->span, strlen(end)) &&
	     print_bytes(ev, c->span, s.data, s.len);
	strbuf_release(&s);
	*out = pv_none();
	return ok;
}

bool
python_len(struct call *c, struct pval *out)
{
	const struct pval *v = &c->args[0];
	const struct kind_ops *ops = ops_of(c->ev, v->kind);
	int64_t length = 0;
	bool found = pv_length(v, &length);

	if (!found && ops->length) {
		if (!ops->length(v, &length)) {
			return call_error(c, 0,
					  "a single number has no length");
		}
		found = true;
	}
	*out = pv_int(length);
	return (found || object_special(c->ev, c->span, v, "__len__", NULL, 0,
					out, &found)) &&
	       (found || value_kind_error(c, 0, "something with a length"));
}

static bool
whole_number(struct call *c, struct py_span at, const struct pval *v,
	     int64_t *out)
{
	return eval_int(c->ev, v, out) ||
	       eval_error(
		       c->ev, at, "%s() needs an int, not %s%s", c->row->name,
		       pv_kind_name(v->kind),
		       v->kind == PV_EXPR || v->kind == PV_AXIS
			       ? " whose value is known only when the function "
				 "runs"
			       : "");
}

bool
python_range(struct call *c, struct pval *out)
{
	const struct pv_list *args = c->args[0].u.list;
	struct pv_range *r = arena_new(c->ev->a, struct pv_range);
	int64_t v[3] = { 0, 0, 1 };

	if (args->n < 1 || args->n > 3) {
		return eval_error(c->ev, c->span,
				  "range() takes 1 to 3 "
				  "arguments, not %d",
				  args->n);
	}
	for (int i = 0; i < args->n; i++) {
		if (!whole_number(c, c->spans[0], &args->data[i], &v[i])) {
			return false;
		}
	}
	*r = args->n == 1 ? (struct pv_range){ 0, v[0], 1 }
			  : (struct pv_range){ v[0], v[1], v[2] };
	if (r->step == 0) {
		return eval_error(c->ev, c->span, "range() with a step of 0");
	}
	*out = (struct pval){ .kind = PV_RANGE, .u.range = r };
	return true;
}

bool
python_int(struct call *c, struct pval *out)
{
	const struct pval *v = &c->args[0];
	struct py_number n;
	struct pval number;
	int64_t value;

	if (eval_number(c->ev, v, &n)) {
		number = pv_of_number(&n);
		v = &number;
	}
	if (v->kind == PV_FLOAT) {
		if (!(fabs(v->u.fval) < 9e18)) {
			return call_error(c, 0,
					  "the value is too large for an "
					  "int");
		}
		*out = pv_int((int64_t)v->u.fval);
		return true;
	}
	if (v->kind == PV_STRING) {
		char *end;

		if (!eval_tick_bytes(c->ev, c->span, v->u.text.n)) {
			return false;
		}
		errno = 0;
		value = strtoll(v->u.text.data, &end, 10);
		if (end == v->u.text.data || *end != '\0' || errno) {
			return eval_raise(c->ev, c->spans[0], "ValueError",
					  "not a number: %.40s",
					  v->u.text.data);
		}
		*out = pv_int(value);
		return true;
	}
	if (!whole_number(c, c->spans[0], v, &value)) {
		return false;
	}
	*out = pv_int(value);
	return true;
}

bool
python_float(struct call *c, struct pval *out)
{
	const struct pval *v = &c->args[0];
	struct py_number n;
	int64_t value;
	char *end;

	if (eval_number(c->ev, v, &n)) {
		*out = pv_float(py_number_double(&n));
		return true;
	}
	if (v->kind == PV_EXPR && v->u.expr->kind == EXPR_FLOAT) {
		*out = pv_float(v->u.expr->u.fval);
		return true;
	}
	if (v->kind == PV_STRING) {
		if (!eval_tick(c->ev, c->span, (int64_t)v->u.text.n)) {
			return false;
		}
		*out = pv_float(strtod(v->u.text.data, &end));
		if (end == v->u.text.data || *end != '\0') {
			return call_error(c, 0, "not a number: %.40s",
					  v->u.text.data);
		}
		return true;
	}
	if (!whole_number(c, c->spans[0], v, &value)) {
		return false;
	}
	*out = pv_float((double)value);
	return true;
}

/* Implements str(value) and repr(value). */
bool
python_text(struct call *c, struct pval *out)
{
	bool repr = c->row->name[0] == 'r';
	struct strbuf s;

	strbuf_init(&s);
	if (!object_text(c->ev, c->span, &c->args[0], repr, &s)) {
		strbuf_release(&s);
		return false;
	}
	*out = pv_text_n(c->ev, s.data, s.len);
	strbuf_release(&s);
	return eval_tick_bytes(c->ev, c->spans[0], out->u.text.n);
}

bool
python_bool(struct call *c, struct pval *out)
{
	bool truth;

	if (!arg_bool(c, 0, &truth)) {
		return false;
	}
	*out = pv_bool(truth);
	return true;
}

bool
python_abs(struct call *c, struct pval *out)
{
	const struct pval *v = &c->args[0];

	if (v->kind == PV_FLOAT) {
		*out = pv_float(fabs(v->u.fval));
		return true;
	}
	if (v->kind == PV_INT && v->u.ival != INT64_MIN) {
		*out = pv_int(v->u.ival < 0 ? -v->u.ival : v->u.ival);
		return true;
	}
	return call_namesake(c, v->kind == PV_ARRAY ? IN_NUMPY : IN_TIR, out);
}

/* Sets *items to the n values among which max(a, b, …) or max(list) chooses,
 * and *n to their number. Returns false after an error. */
static bool
operands(struct call *c, struct pval **items, int *n)
{
	const struct pv_list *args = c->args[0].u.list;

	if (args->n == 1) {
		return eval_items(c->ev, c->spans[0], &args->data[0], items, n);
	}
	*items = args->data;
	*n = args->n;
	return true;
}

/* Implements min(values) and max(values). */
bool
python_extreme(struct call *c, struct pval *out)
{
	bool max = c->row->name[1] == 'a';
	struct pval *items, less;
	int n;

	if (!operands(c, &items, &n)) {
		return false;
	}
	if (n == 0) {
		return eval_error(c->ev, c->span,
				  "%s() needs at least one "
				  "value",
				  c->row->name);
	}
	*out = items[0];
	for (int i = 1; i < n; i++) {
		bool truth;

		/* The value of an expression is known only when the function
		 * runs, so that the function compares. */
		if (!pv_number(out, NULL) || !pv_number(&items[i], NULL)) {
			struct pval x = *out;

			if (x.kind == PV_EXPR || x.kind == PV_AXIS ||
			    items[i].kind == PV_EXPR ||
			    items[i].kind == PV_AXIS) {
				if (!eval_expr_binary(c->ev, c->span,
						      max ? EXPR_MAX : EXPR_MIN,
						      &x, &items[i], out)) {
					return false;
				}
				continue;
			}
		}
		if (!eval_compare(c->ev, c->span, max ? PY_OP_GT : PY_OP_LT,
				  &items[i], out, &less) ||
		    !eval_truth(c->ev, c->span, &less, &truth)) {
			return false;
		}
		if (truth) {
			*out = items[i];
		}
	}
	return true;
}

bool
python_sum(struct call *c, struct pval *out)
{
	struct pval *items;
	int n;

	*out = arg_missing(c, 1) ? pv_int(0) : c->args[1];
	if (!eval_items(c->ev, c->spans[0], &c->args[0], &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		struct pval before = *out;

		if (!eval_tick(c->ev, c->span, 1) ||
		    !eval_binary(c->ev, c->span, PY_OP_ADD, &before, &items[i],
				 out)) {
			return false;
		}
	}
	return true;
}

bool
python_enumerate(struct call *c, struct pval *out)
{
	struct pval *items;
	int64_t start = 0;
	int n;

	if (!eval_items(c->ev, c->spans[0], &c->args[0], &items, &n) ||
	    (!arg_missing(c, 1) &&
	     !arg_int(c, 1, INT32_MIN, INT32_MAX, &start))) {
		return false;
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < n; i++) {
		struct pval pair[2] = { pv_int(start + i), items[i] };

		vec_push(c->ev->a, out->u.list,
			 pv_list_of(c->ev, PV_TUPLE, pair, 2));
	}
	return true;
}

/* Sets *rows to the *n tuples of zip(): tuple i has element i of each list, and
 * *n is the length of the shortest list. Returns false after an error. */
static bool
rows_of(struct call *c, const struct pv_list *lists, struct pval ***rows,
	int *n)
{
	struct eval *ev = c->ev;
	struct pval **items = arena_array(ev->a, struct pval *, lists->n + 1);

	*n = lists->n == 0 ? 0 : EVAL_MAX_ITEMS;
	for (int i = 0; i < lists->n; i++) {
		int length;

		if (!eval_items(ev, c->span, &lists->data[i], &items[i],
				&length)) {
			return false;
		}
		*n = length < *n ? length : *n;
	}
	if (!eval_tick(ev, c->span, (int64_t)*n * lists->n)) {
		return false;
	}
	*rows = arena_array(ev->a, struct pval *, *n + 1);
	for (int r = 0; r < *n; r++) {
		(*rows)[r] = arena_array(ev->a, struct pval, lists->n + 1);
		for (int i = 0; i < lists->n; i++) {
			(*rows)[r][i] = items[i][r];
		}
	}
	return true;
}

bool
python_zip(struct call *c, struct pval *out)
{
	struct pval **rows;
	int n;

	if (!rows_of(c, c->args[0].u.list, &rows, &n)) {
		return false;
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < n; i++) {
		vec_push(c->ev->a, out->u.list,
			 pv_list_of(c->ev, PV_TUPLE, rows[i],
				    c->args[0].u.list->n));
	}
	return true;
}

bool
python_map(struct call *c, struct pval *out)
{
	struct pval **rows;
	int n;

	if (!rows_of(c, c->args[1].u.list, &rows, &n)) {
		return false;
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < n; i++) {
		struct pval v;

		if (!eval_apply(c->ev, c->span, &c->args[0], rows[i],
				c->args[1].u.list->n, &v)) {
			return false;
		}
		vec_push(c->ev->a, out->u.list, v);
	}
	return true;
}

bool
python_filter(struct call *c, struct pval *out)
{
	struct pval *items;
	int n;

	if (!eval_items(c->ev, c->spans[1], &c->args[1], &items, &n)) {
		return false;
	}
	*out = pv_list_of(c->ev, PV_LIST, NULL, 0);
	for (int i = 0; i < n; i++) {
		struct pval v = items[i];
		bool keep;

		if ((c->args[0].kind != PV_NONE &&
		     !eval_apply(c->ev, c->span, &c->args[0], &items[i], 1,
				 &v)) ||
		    !eval_truth(c->ev, c->span, &v, &keep)) {
			return false;
		}
		if (keep) {
			vec_push(c->ev->a, out->u.list, items[i]);
		}
	}
	return true;
}

/* Sorts values[0, n) by their keys with a stable merge sort. room: space for n
 * values. Returns false after an error. */
static bool
merge_sort(struct call *c, struct pval *keys, struct pval *values,
	   struct pval *room, int n)
{
	int half = n / 2, a = 0, b = half, at = 0;

	if (n < 2) {
		return true;
	}
	if (!merge_sort(c, keys, values, room, half) ||
	    !merge_sort(c, keys + half, values + half, room, n - half) ||
	    !eval_tick(c->ev, c->span, n)) {
		return false;
	}
	while (a < half || b < n) {
		int order = a == half;

		if (a < half && b < n &&
		    !eval_order(c->ev, c->span, &keys[a], &keys[b], &order)) {
			return false;
		}
		if (order == PV_NO_ORDER) {
			return eval_error(c->ev, c->span,
					  "%s and %s have no "
					  "order",
					  pv_kind_name(keys[a].kind),
					  pv_kind_name(keys[b].kind));
		}
		room[2 * at] = order == 1 ? keys[b] : keys[a];
		room[2 * at + 1] = order == 1 ? values[b] : values[a];
		at++;
		b += order == 1;
		a += order != 1;
	}
	for (int i = 0; i < n; i++) {
		keys[i] = room[2 * i];
		values[i] = room[2 * i + 1];
	}
	return true;
}

void
pv_reverse(struct pval *items, int n)
{
	for (int i = 0; i < n / 2; i++) {
		struct pval v = items[i];

		items[i] = items[n - 1 - i];
		items[n - 1 - i] = v;
	}
}

bool
python_sorted(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct pval *items, *keys, *room;
	bool descending = false;
	int n;

	if (!eval_items(ev, c->spans[0], &c->args[0], &items, &n) ||
	    (arg_given(c, 2) && !arg_bool(c, 2, &descending))) {
		return false;
	}
	keys = arena_array(ev->a, struct pval, n + 1);
	room = arena_array(ev->a, struct pval, 2 * n + 1);
	for (int i = 0; i < n; i++) {
		keys[i] = items[i];
		if (arg_given(c, 1) && !eval_apply(ev, c->span, &c->args[1],
						   &items[i], 1, &keys[i])) {
			return false;
		}
	}
	if (descending) {
		pv_reverse(items, n);
		pv_reverse(keys, n);
	}
	if (!merge_sort(c, keys, items, room, n)) {
		return false;
	}
	if (descending) {
		pv_reverse(items, n);
	}
	*out = pv_list_of(ev, PV_LIST, items, n);
	return true;
}

bool
python_reversed(struct call *c, struct pval *out)
{
	struct pval *items;
	int n;

	if (!eval_items(c->ev, c->spans[0], &c->args[0], &items, &n)) {
		return false;
	}
	pv_reverse(items, n);
	*out = pv_list_of(c->ev, PV_LIST, items, n);
	return true;
}

/* Implements any(values) and all(values). */
bool
python_any(struct call *c, struct pval *out)
{
	bool any = c->row->name[1] == 'n';
	struct pval *items;
	int n;

	if (!eval_items(c->ev, c->spans[0], &c->args[0], &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		bool truth;

		if (!eval_truth(c->ev, c->spans[0], &items[i], &truth)) {
			return false;
		}
		if (truth == any) {
			*out = pv_bool(any);
			return true;
		}
	}
	*out = pv_bool(!any);
	return true;
}

/* Implements list(values) and tuple(values). */
bool
python_list(struct call *c, struct pval *out)
{
	enum pv_kind kind = c->row->name[0] == 't' ? PV_TUPLE : PV_LIST;
	struct pval *items;
	int n = 0;

	if (!arg_missing(c, 0) &&
	    !eval_items(c->ev, c->spans[0], &c->args[0], &items, &n)) {
		return false;
	}
	*out = pv_list_of(c->ev, kind, n ? items : NULL, n);
	return true;
}

bool
python_set(struct call *c, struct pval *out)
{
	struct pval all;

	if (!python_list(c, &all)) {
		return false;
	}
	*out = pv_list_of(c->ev, PV_SET, NULL, 0);
	for (int i = 0; i < all.u.list->n; i++) {
		int seen;

		if (!eval_find(c->ev, c->span, out->u.list,
			       &all.u.list->data[i], &seen)) {
			return false;
		}
		if (seen < 0) {
			vec_push(c->ev->a, out->u.list, all.u.list->data[i]);
		}
	}
	return true;
}

bool
python_dict(struct call *c, struct pval *out)
{
	struct pval *items, *pair;
	int n = 0, two;

	*out = c->args[1];
	if (!arg_missing(c, 0) && c->args[0].kind == PV_DICT) {
		return dict_add(c->ev, c->span, out->u.dict, c->args[0].u.dict);
	}
	if (!arg_missing(c, 0) &&
	    !eval_items(c->ev, c->spans[0], &c->args[0], &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (!eval_items(c->ev, c->spans[0], &items[i], &pair, &two)) {
			return false;
		}
		if (two != 2) {
			return call_error(c, 0, "dict() needs pairs");
		}
		if (!dict_set(c->ev, c->span, out->u.dict, &pair[0],
			      &pair[1])) {
			return false;
		}
	}
	return true;
}

/* Is v an instance of the class with this name? */
static bool
is_instance(struct eval *ev, const struct pval *v, const char *name)
{
	static const struct {
		const char *name;
		enum pv_kind kind;
	} kinds[] = {
		{ "int", PV_INT },           { "int", PV_BOOL },
		{ "bool", PV_BOOL },         { "float", PV_FLOAT },
		{ "str", PV_STRING },        { "list", PV_LIST },
		{ "tuple", PV_TUPLE },       { "dict", PV_DICT },
		{ "set", PV_SET },           { "range", PV_RANGE },
		{ "Tensor", PV_TENSOR },     { "PrimExpr", PV_EXPR },
		{ "IterVar", PV_AXIS },      { "PrimFunc", PV_FUNC },
		{ "IRModule", PV_IRMODULE }, { "Schedule", PV_SCHEDULE },
		{ "Target", PV_TARGET },     { "Buffer", PV_BUFFER },
		{ "ndarray", PV_ARRAY },     { "NDArray", PV_NDARRAY },
	};

	if (v->kind == PV_EXPR &&
	    ((strcmp(name, "Var") == 0 && v->u.expr->kind == EXPR_VAR) ||
	     (strcmp(name, "IntImm") == 0 && v->u.expr->kind == EXPR_INT) ||
	     (strcmp(name, "FloatImm") == 0 &&
	      v->u.expr->kind == EXPR_FLOAT))) {
		return true;
	}
	if (v->kind == PV_OBJECT) {
		/* TVM has the class IRModule, and a text of a library another
		 * one of that name */
		return strcmp(name, v->u.object->of->name) == 0;
	}
	if (ops_of(ev, v->kind)->is_instance) {
		return ops_of(ev, v->kind)->is_instance(v, name);
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (v->kind == kinds[i].kind &&
		    strcmp(name, kinds[i].name) == 0) {
			return true;
		}
	}
	return false;
}

bool
python_isinstance(struct call *c, struct pval *out)
{
	struct pval *types;
	int n;

	if (!arg_items(c, 1, &types, &n)) {
		return false;
	}
	*out = pv_bool(false);
	for (int i = 0; i < n; i++) {
		if (types[i].kind == PV_USER_CLASS) {
			if (c->args[0].kind == PV_OBJECT &&
			    class_derives(c->args[0].u.object->of,
					  types[i].u.class)) {
				*out = pv_bool(true);
			}
			continue;
		}
		if (types[i].kind != PV_BUILTIN) {
			return call_error(c, 1, "a class is needed, not %s",
					  pv_kind_name(types[i].kind));
		}
		if (is_instance(c->ev, &c->args[0], types[i].u.row->name)) {
			*out = pv_bool(true);
		}
	}
	return true;
}

bool
python_round(struct call *c, struct pval *out)
{
	int64_t digits = 0;
	double scale, v;

	if (c->args[0].kind != PV_FLOAT) {
		*out = c->args[0];
		return c->args[0].kind == PV_INT ||
		       call_namesake(c, IN_TIR, out);
	}
	if (!arg_missing(c, 1) && !arg_int(c, 1, -300, 300, &digits)) {
		return false;
	}
	scale = pow(10, (double)digits);
	v = nearbyint(c->args[0].u.fval * scale) / scale;
	if (arg_missing(c, 1) && fabs(v) < 9e18) {
		*out = pv_int((int64_t)v);
	} else {
		*out = pv_float(v);
	}
	return true;
}

bool
python_callable(struct call *c, struct pval *out)
{
	enum pv_kind kind = c->args[0].kind;
	struct pval call;
	bool found = false;

	if (kind == PV_OBJECT && !object_attribute(c->ev, c->span, &c->args[0],
						   "__call__", &call, &found)) {
		return false;
	}

	*out = pv_bool(found || kind == PV_CLOSURE || kind == PV_BUILTIN ||
		       kind == PV_BOUND || kind == PV_USER_CLASS ||
		       kind == PV_METHOD || kind == PV_REDUCER);
	return true;
}

bool
python_math(struct call *c, struct pval *out)
{
	struct pval v;
	const char *name = c->row->name;

	if (!python_float(c, &v)) {
		return false;
	}
	if (strcmp(name, "ceil") == 0 || strcmp(name, "floor") == 0) {
		v.u.fval = name[0] == 'c' ? ceil(v.u.fval) : floor(v.u.fval);
		c->args[0] = v;
		return python_int(c, out);
	}
	*out = pv_float(strcmp(name, "sqrt") == 0   ? sqrt(v.u.fval)
			: strcmp(name, "exp") == 0  ? exp(v.u.fval)
			: strcmp(name, "log2") == 0 ? log2(v.u.fval)
						    : log(v.u.fval));
	return true;
}

bool
python_pi(struct call *c, struct pval *out)
{
	(void)c;
	*out = pv_float(acos(-1.0));
	return true;
}

bool
python_inf(struct call *c, struct pval *out)
{
	(void)c;
	*out = pv_float((double)INFINITY);
	return true;
}
