/* SPDX-License-Identifier: Apache-2.0 */
/* Converts values of programs to arrays and back, and reads the arguments of
 * numpy's functions. */
#include "numpy.h"

/* this many elements count as one step of the evaluation */
enum { PER_STEP = 8 };

struct array_work
np_work(struct eval *ev)
{
	int64_t left = ev->max_steps - ev->steps;

	return (struct array_work){
		.a = ev->a,
		.most_bytes = ev->max_bytes,
		.most_elems = left > 0 ? quota_times(left, PER_STEP) : 0,
	};
}

bool
np_done(struct eval *ev, struct py_span at, const struct array_work *w)
{
	ev->steps = quota_plus(ev->steps, w->elems / PER_STEP);
	if (w->error && w->elems <= w->most_elems) {
		return eval_error(ev, at, "%s", w->error);
	}
	return eval_tick(ev, at, 1) &&
	       (!w->error || eval_error(ev, at, "%s", w->error));
}

bool
np_result(struct eval *ev, struct py_span at, const struct array_work *w,
	  struct array *x, struct pval *out)
{
	if (x) {
		*out = pv_array(x);
	}
	return np_done(ev, at, w) && x;
}

struct pval
pv_array(struct array *x)
{
	return (struct pval){ .kind = PV_ARRAY, .u.array = x };
}

struct pval
pv_sizes(struct eval *ev, const struct array *x)
{
	struct pval list = pv_list_of(ev, PV_TUPLE, NULL, 0);

	for (int d = 0; d < x->ndim; d++) {
		vec_push(ev->a, list.u.list, pv_int(x->shape[d]));
	}
	return list;
}

struct pval
np_python(struct eval *ev, const struct array *x, int64_t i)
{
	union number v = array_get(x, i);

	if (dtype_is_float(x->type)) {
		return pv_float(v.f);
	}
	if (dtype_class(x->type) == DTC_BOOL) {
		return pv_bool(v.i != 0);
	}
	(void)ev;
	return v.i < 0 && dtype_class(x->type) == DTC_UINT
		       ? pv_float((double)v.u)
		       : pv_int(v.i);
}

bool
np_number(const struct pval *v, struct py_number *out)
{
	struct pval one;

	if (v->kind != PV_ARRAY || array_elems(v->u.array) != 1) {
		return false;
	}
	one = np_python(NULL, v->u.array, 0);
	return pv_number(&one, out);
}

/* The element of an array with a single element, as an operand with the array's
 * type. */
static struct typed
array_typed(struct module *m, const struct array *x)
{
	union number v = array_get(x, 0);

	return typed_expr(dtype_is_float(x->type) ? expr_float(m, x->type, v.f)
			  : dtype_class(x->type) == DTC_BOOL
				  ? expr_bool(m, v.i != 0)
				  : expr_int(m, x->type, v.i));
}

bool
np_operand(struct eval *ev, struct py_span at, const struct pval *v,
	   struct typed *out)
{
	if (array_elems(v->u.array) != 1) {
		return eval_error(ev, at,
				  "an array where a number is needed; index "
				  "it, or give it to the function as an "
				  "argument");
	}
	*out = array_typed(ev->m, v->u.array);
	return true;
}

/* -- values as arrays */

static struct array *
number_array(struct array_work *w, const struct py_number *n)
{
	static const enum dtype_kind kinds[] = { DT_BOOL, DT_I64, DT_F64 };
	static const enum array_weak weak[] = { ARRAY_STRONG, ARRAY_WEAK_INT,
						ARRAY_WEAK_FLOAT };
	union number v = { .i = n->i };
	struct array *x;

	if (n->kind == PY_NUMBER_FLOAT) {
		v.f = n->f;
	}
	x = array_scalar(w, dtype_of(kinds[n->kind]), v);
	if (x) {
		x->weak = weak[n->kind];
	}
	return x;
}

static struct array *list_array(struct eval *ev, struct array_work *w,
				const struct pval *v, int depth);

/* Converts v to an array. Returns NULL after an error. */
static struct array *
to_array(struct eval *ev, struct array_work *w, const struct pval *v, int depth)
{
	struct py_number n;
	int64_t i;

	if (v->kind == PV_ARRAY) {
		return v->u.array;
	}
	if (v->kind == PV_NDARRAY) {
		return v->u.nd->array;
	}
	if (pv_number(v, &n)) {
		return number_array(w, &n);
	}
	if (v->kind == PV_EXPR && expr_is_int(v->u.expr, &i)) {
		n = py_int(i);
		return number_array(w, &n);
	}
	if (v->kind == PV_LIST || v->kind == PV_TUPLE) {
		return list_array(ev, w, v, depth);
	}
	return array_fail(w, "an array or a number is needed here, not %s",
			  pv_kind_name(v->kind));
}

static struct array *
list_array(struct eval *ev, struct array_work *w, const struct pval *v,
	   int depth)
{
	const struct pv_list *list = v->u.list;
	struct array **parts = arena_array(ev->a, struct array *, list->n + 1);
	int64_t none = 0;

	if (depth > ARRAY_MAX_RANK) {
		return array_fail(w, "lists nested more than %d levels deep",
				  ARRAY_MAX_RANK);
	}
	if (list->n == 0) {
		return array_new(w, dtype_of(DT_F64), 1, &none);
	}
	if (!array_count(w, list->n)) {
		return NULL;
	}
	for (int i = 0; i < list->n; i++) {
		parts[i] = to_array(ev, w, &list->data[i], depth + 1);
		if (!parts[i]) {
			return NULL;
		}
		if (parts[i]->weak) {
			parts[i]->weak = ARRAY_STRONG;
		}
	}
	return array_join(w, parts, list->n, 0, true);
}

bool
np_value(struct eval *ev, struct py_span at, const struct pval *v,
	 struct array **out)
{
	struct array_work w = np_work(ev);
	struct pval list = *v;
	struct pval *items;
	int n;

	if (v->kind == PV_NDARRAY && v->u.nd->unknown) {
		return eval_leave_out(ev, v->u.nd->unknown);
	}
	if (v->kind == PV_RANGE) {
		if (!eval_items(ev, at, v, &items, &n)) {
			return false;
		}
		list = pv_list_of(ev, PV_LIST, items, n);
	}
	*out = to_array(ev, &w, &list, 0);
	return np_done(ev, at, &w) && *out;
}

/* -- arguments */

bool
np_arg(struct call *c, int i, struct array **out)
{
	return np_value(c->ev, c->spans[i], &c->args[i], out);
}

bool
np_subject(struct call *c, struct array **x, int *first)
{
	*first = c->self.kind == PV_ARRAY ? 0 : 1;
	return np_value(c->ev, c->span, *first ? &c->args[0] : &c->self, x);
}

/* Names of types that numpy has but tirc does not have. */
static const struct {
	const char *name;
	enum dtype_kind kind;
} type_names[] = {
	{ "float", DT_F64 },  { "float_", DT_F64 }, { "double", DT_F64 },
	{ "single", DT_F32 }, { "half", DT_F16 },   { "int", DT_I64 },
	{ "int_", DT_I64 },   { "intp", DT_I64 },   { "bool_", DT_BOOL },
	{ "f8", DT_F64 },     { "f4", DT_F32 },     { "f2", DT_F16 },
	{ "i1", DT_I8 },      { "i2", DT_I16 },     { "i4", DT_I32 },
	{ "i8", DT_I64 },     { "u1", DT_U8 },      { "u2", DT_U16 },
	{ "u4", DT_U32 },     { "u8", DT_U64 },
};

static bool
type_of_name(const char *name, struct dtype *out)
{
	for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
		if (strcmp(type_names[i].name, name) == 0) {
			*out = dtype_of(type_names[i].kind);
			return true;
		}
	}
	return dtype_from_name(name, out) && out->lanes == 1 &&
	       dtype_class(*out) != DTC_VOID &&
	       dtype_class(*out) != DTC_HANDLE &&
	       dtype_class(*out) != DTC_STRING;
}

/* The name that numpy gives to the type that v stands for; NULL if v is not a
 * type. */
static const char *
type_name(const struct pval *v)
{
	struct dtype t;

	if (v->kind == PV_STRING) {
		return v->u.text.data;
	}
	return v->kind == PV_BUILTIN &&
			       names_share(v->u.row->in,
					   IN_PYTHON | IN_NUMPY |
						   IN_SCRIPT_TIR) &&
			       type_of_name(v->u.row->name, &t)
		       ? v->u.row->name
		       : NULL;
}

bool
np_arg_type(struct call *c, int i, struct dtype *out)
{
	const char *name;

	if (!arg_given(c, i)) {
		return true;
	}
	name = type_name(&c->args[i]);
	if (!name) {
		return value_kind_error(c, i, "a type such as \"float32\"");
	}
	if (name[0] == '<' || name[0] == '|') {
		name++;
	}
	return type_of_name(name, out) ||
	       call_error(c, i,
			  "'%s' is not a type of numbers; use one such as "
			  "float32",
			  name);
}

/* Sets *out to an int of Python or the element of an array. Returns false after
 * an error if it is not an integer. */
static bool
whole(struct call *c, int i, const struct pval *v, int64_t *out)
{
	return eval_int(c->ev, v, out) ||
	       call_error(c, i, "%s of %s() should be ints, not %s",
			  c->params[i].name, c->row->name,
			  pv_kind_name(v->kind));
}

bool
np_arg_sizes(struct call *c, int i, int64_t *sizes, int *n)
{
	const struct pval *v = &c->args[i];
	struct pval *items = c->args + i;

	*n = 1;
	if (v->kind == PV_LIST || v->kind == PV_TUPLE || v->kind == PV_RANGE ||
	    (v->kind == PV_ARRAY && v->u.array->ndim == 1)) {
		if (!eval_items(c->ev, c->spans[i], v, &items, n)) {
			return false;
		}
		/* f(*sizes) may also be called with a single list */
		if (*n == 1 &&
		    (items->kind == PV_LIST || items->kind == PV_TUPLE) &&
		    !eval_items(c->ev, c->spans[i], items, &items, n)) {
			return false;
		}
	}
	if (*n > ARRAY_MAX_RANK) {
		return call_error(c, i, "%d dimensions; at most %d", *n,
				  ARRAY_MAX_RANK);
	}
	for (int k = 0; k < *n; k++) {
		if (!whole(c, i, &items[k], &sizes[k])) {
			return false;
		}
	}
	return true;
}

bool
np_arg_axis(struct call *c, int i, int n, int *axis)
{
	int64_t v;

	if (!whole(c, i, &c->args[i], &v)) {
		return false;
	}
	if (v < -n || v >= n) {
		return call_error(c, i,
				  "axis %lld of an array with %d dimensions",
				  (long long)v, n);
	}
	*axis = (int)(v < 0 ? v + n : v);
	return true;
}

bool
np_arg_double(struct call *c, int i, double *out)
{
	struct py_number n;

	if (!eval_number(c->ev, &c->args[i], &n)) {
		return value_kind_error(c, i, "a number");
	}
	*out = py_number_double(&n);
	return true;
}

/* -- types */

/* np.float32(x) and the like: converts x to this type; a list becomes an
 * array. */
bool
np_type(struct call *c, struct pval *out)
{
	struct array_work w = np_work(c->ev);
	struct array *x;
	struct dtype t;
	struct pval zero = pv_int(0);

	if (!type_of_name(c->row->name, &t)) {
		return call_error(c, -1, "%s has no values", c->row->name);
	}
	if (!np_value(c->ev, c->spans[0],
		      arg_missing(c, 0) ? &zero : &c->args[0], &x)) {
		return false;
	}
	return np_result(c->ev, c->span, &w, array_cast(&w, x, t), out);
}

/* np.dtype(x): the name of the type. A text is enough, because programs only
 * compare types and pass them on. */
bool
np_dtype(struct call *c, struct pval *out)
{
	struct dtype t = dtype_of(DT_F64);

	if (!np_arg_type(c, 0, &t)) {
		return false;
	}
	*out = pv_string(c->ev, dtype_name(t));
	return true;
}

/* -- Python's operators on arrays -- */

bool
np_operator(struct eval *ev, struct py_span at, enum py_operator op,
	    const struct pval *x, const struct pval *y, struct pval *out)
{
	enum array_op as = array_op_of(op);
	struct array_work w = np_work(ev);
	struct array *a, *b;

	if (as == ARRAY_OP_COUNT) {
		return eval_error(ev, at, "%s is not defined for %s and %s",
				  py_operator_text(op), pv_kind_name(x->kind),
				  pv_kind_name(y->kind));
	}
	if (!np_value(ev, at, x, &a) || !np_value(ev, at, y, &b)) {
		return false;
	}
	return np_result(ev, at, &w, array_binary(&w, as, a, b), out);
}

bool
np_negated(struct eval *ev, struct py_span at, enum py_operator op,
	   const struct pval *x, struct pval *out)
{
	struct array_work w = np_work(ev);

	return np_result(ev, at, &w,
			 array_unary(&w,
				     op == PY_OP_SUB   ? ARRAY_NEGATIVE
				     : op == PY_OP_ADD ? ARRAY_POSITIVE
						       : ARRAY_INVERT,
				     x->u.array),
			 out);
}

bool
np_product(struct eval *ev, struct py_span at, const struct pval *x,
	   const struct pval *y, struct pval *out)
{
	struct array_work w = np_work(ev);
	struct array *a, *b;

	if (!np_value(ev, at, x, &a) || !np_value(ev, at, y, &b)) {
		return false;
	}
	return np_result(ev, at, &w, array_matmul(&w, a, b), out);
}

bool
np_augment(struct eval *ev, struct py_span at, enum py_operator op,
	   const struct pval *x, const struct pval *y, struct pval *out)
{
	struct array_work w = np_work(ev);
	struct pval v;

	if (x->u.array->scalar) {
		return eval_binary(ev, at, op, x, y, out);
	}
	if (!np_operator(ev, at, op, x, y, &v)) {
		return false;
	}
	/* an index such as a[[1, 2]] has already given a copy of the
	 * elements */
	*out = *x;
	if (dtype_is_float(v.u.array->type) &&
	    !dtype_is_float(x->u.array->type)) {
		return eval_error(ev, at,
				  "%s= stores %s in an array of %s; cast it "
				  "first",
				  py_operator_text(op),
				  dtype_name(v.u.array->type),
				  dtype_name(x->u.array->type));
	}
	array_store(&w, x->u.array, v.u.array);
	return np_done(ev, at, &w);
}

/* -- elements */

/* Converts one part of an index in brackets. Returns false after an error. */
static bool
index_part(struct eval *ev, struct py_span at, const struct pval *v,
	   struct array_index *out)
{
	struct array *list;
	struct py_number n;

	*out = (struct array_index){ .kind = INDEX_AT, .step = 1 };
	switch (v->kind) {
	case PV_NONE:
		out->kind = INDEX_NEW;
		return true;
	case PV_ELLIPSIS:
		out->kind = INDEX_REST;
		return true;
	case PV_SLICE:
		out->kind = INDEX_RANGE;
		for (int i = 0; i < 3; i++) {
			const struct pval *part = &v->u.slice[i];
			int64_t *to[3] = { &out->start, &out->stop,
					   &out->step };

			if (part->kind == PV_NONE) {
				continue;
			}
			if (!eval_number(ev, part, &n) ||
			    n.kind == PY_NUMBER_FLOAT) {
				return eval_error(ev, at,
						  "a slice needs ints, not %s",
						  pv_kind_name(part->kind));
			}
			if (n.i < -(INT64_C(1) << 48) ||
			    n.i > INT64_C(1) << 48) {
				n.i = n.i < 0 ? -(INT64_C(1) << 48)
					      : INT64_C(1) << 48;
			}
			*to[i] = n.i;
			out->has_start |= i == 0;
			out->has_stop |= i == 1;
		}
		return out->step != 0 ||
		       eval_error(ev, at, "a slice with a step of 0");
	default:
		break;
	}
	if (v->kind == PV_ARRAY && v->u.array->ndim == 0 && np_number(v, &n) &&
	    n.kind == PY_NUMBER_INT) {
		out->at = n.i;
		return true;
	}
	if (v->kind == PV_INT) {
		out->at = v->u.ival;
		return true;
	}
	if (v->kind != PV_ARRAY && v->kind != PV_LIST) {
		return eval_error(ev, at,
				  "an int, a slice or an array is needed as "
				  "index, not %s",
				  pv_kind_name(v->kind));
	}
	out->kind = INDEX_LIST;
	if (!np_value(ev, at, v, &list)) {
		return false;
	}
	out->list = list;
	return true;
}

/* Converts all parts of an index. Returns false after an error. */
static bool
index_parts(struct eval *ev, struct py_span at, const struct pval *index,
	    struct array_index **out, int *n)
{
	const struct pval *items = index;
	bool rest = false;

	*n = 1;
	if (index->kind == PV_TUPLE) {
		items = index->u.list->data;
		*n = index->u.list->n;
	}
	if (*n > ARRAY_MAX_RANK) {
		return eval_error(ev, at, "%d indices; at most %d", *n,
				  ARRAY_MAX_RANK);
	}
	*out = arena_array(ev->a, struct array_index, *n + 1);
	for (int i = 0; i < *n; i++) {
		if (!index_part(ev, at, &items[i], &(*out)[i])) {
			return false;
		}
		if ((*out)[i].kind == INDEX_REST && rest) {
			return eval_error(ev, at, "two ... in one index");
		}
		rest |= (*out)[i].kind == INDEX_REST;
	}
	return true;
}

bool
np_subscript(struct eval *ev, struct py_span at, const struct pval *of,
	     const struct pval *index, struct pval *out)
{
	struct array_index *parts;
	struct array_work w = np_work(ev);
	struct array *x;
	int n;

	if (!np_value(ev, at, of, &x) ||
	    !index_parts(ev, at, index, &parts, &n)) {
		return false;
	}
	return np_result(ev, at, &w, array_select(&w, x, parts, n), out);
}

bool
np_set_element(struct eval *ev, struct py_span at, const struct pval *of,
	       const struct pval *index, const struct pval *v)
{
	struct array_index *parts;
	struct array_work w = np_work(ev);
	struct array *x, *y;
	int n;

	if (!np_value(ev, at, of, &x) || !np_value(ev, at, v, &y) ||
	    !index_parts(ev, at, index, &parts, &n)) {
		return false;
	}
	array_assign(&w, x, parts, n, y);
	return np_done(ev, at, &w);
}

bool
np_items(struct eval *ev, struct py_span at, const struct pval *v,
	 struct pval **items, int *n)
{
	struct array *x;
	struct array_work w = np_work(ev);

	if (!np_value(ev, at, v, &x)) {
		return false;
	}
	if (x->ndim == 0) {
		return eval_error(ev, at,
				  "a single number cannot be iterated "
				  "over");
	}
	if (x->shape[0] > EVAL_MAX_ITEMS) {
		return eval_error(ev, at,
				  "more than %d iterations; let te.compute "
				  "loop",
				  EVAL_MAX_ITEMS);
	}
	*n = (int)x->shape[0];
	*items = arena_array(ev->a, struct pval, *n + 1);
	for (int i = 0; i < *n; i++) {
		struct array_index part = { .kind = INDEX_AT, .at = i };
		struct array *one = array_select(&w, x, &part, 1);

		if (!one || !array_count(&w, 32)) {
			return np_done(ev, at, &w) && one;
		}
		(*items)[i] = pv_array(one);
	}
	return np_done(ev, at, &w);
}

bool
np_length(const struct pval *v, int64_t *out)
{
	*out = v->u.array->ndim > 0 ? v->u.array->shape[0] : 0;
	return v->u.array->ndim > 0;
}

bool
np_truth(struct eval *ev, struct py_span at, const struct pval *v, bool *out)
{
	const struct array *x = v->u.array;

	if (array_elems(x) != 1) {
		return eval_error(ev, at,
				  "the truth of an array with %lld elements is "
				  "ambiguous; use .all() or .any()",
				  (long long)array_elems(x));
	}
	*out = array_float(x, 0) != 0;
	return true;
}
