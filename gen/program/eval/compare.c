/* SPDX-License-Identifier: Apache-2.0 */
/* Compares values: equality, order, and the search in lists, sets and dicts.
 * Comparisons count as steps of the evaluation, because a short program can
 * build a list of millions of elements from shared parts. */
#include "eval.h"
#include "objects.h"
#include "program_parts.h"

enum {
	/* this many comparisons count as one step of the evaluation */
	PER_STEP = 2,
	TEXT_BYTES = 64 /* this many bytes of a text count as one comparison */
};

/* Counts n comparisons, of which PER_STEP are one step. Returns false after an
 * error if no steps are left. */
static bool
count(struct eval *ev, struct py_span at, int64_t n)
{
	ev->compared += n;
	if (ev->compared < PER_STEP) {
		return true;
	}
	n = ev->compared / PER_STEP;
	ev->compared %= PER_STEP;
	return eval_tick(ev, at, n);
}

/* Counts a comparison of elements that are nested in `depth` lists. Returns
 * false after an error if no steps are left or the lists are nested too
 * deeply. */
static bool
enter(struct eval *ev, struct py_span at, int depth)
{
	return count(ev, at, 1) &&
	       (ev->depth + depth < EVAL_MAX_DEPTH ||
		eval_error(ev, at,
			   "a comparison of lists nested more than %d levels "
			   "deep; does a list contain itself?",
			   EVAL_MAX_DEPTH));
}

/* -- equality -- */

static bool equal(struct eval *ev, struct py_span at, const struct pval *x,
		  const struct pval *y, int depth, bool *out);

static bool
lists_equal(struct eval *ev, struct py_span at, const struct pv_list *x,
	    const struct pv_list *y, int depth, bool *out)
{
	*out = x->n == y->n;
	for (int i = 0; *out && i < x->n; i++) {
		if (!equal(ev, at, &x->data[i], &y->data[i], depth + 1, out)) {
			return false;
		}
	}
	return true;
}

/* Sets *out to the index of an element of `in` that is equal to the item, or to
 * -1 if no element is. The search begins at index `from` and continues at 0
 * after the last element: equal sets and dicts mostly have the same order, so
 * that the first comparison succeeds. Returns false after an error. */
static bool
find(struct eval *ev, struct py_span at, const struct pv_list *in,
     const struct pval *item, int from, int depth, int *out)
{
	bool same;

	for (int i = 0; i < in->n; i++) {
		*out = i < in->n - from ? from + i : from + i - in->n;
		if (!equal(ev, at, &in->data[*out], item, depth + 1, &same)) {
			return false;
		}
		if (same) {
			return true;
		}
	}
	*out = -1;
	return true;
}

/* Sets *out to whether the sets x and y are equal. For dicts, x and y are the
 * keys, and the values are compared, too; for sets, the values are NULL.
 * Returns false after an error. */
static bool
sets_equal(struct eval *ev, struct py_span at, const struct pv_list *x,
	   const struct pv_list *y, const struct pval *x_values,
	   const struct pval *y_values, int depth, bool *out)
{
	int k;

	*out = x->n == y->n;
	for (int i = 0; *out && i < x->n; i++) {
		if (!find(ev, at, y, &x->data[i], i, depth, &k)) {
			return false;
		}
		*out = k >= 0;
		if (*out && x_values &&
		    !equal(ev, at, &x_values[i], &y_values[k], depth + 1,
			   out)) {
			return false;
		}
	}
	return true;
}

static bool
texts_equal(struct eval *ev, struct py_span at, const struct pval *x,
	    const struct pval *y, bool *out)
{
	size_t n = x->u.text.n;

	*out = n == y->u.text.n;
	if (!*out || x->u.text.data == y->u.text.data) {
		return true;
	}
	*out = memcmp(x->u.text.data, y->u.text.data, n) == 0;
	return count(ev, at, (int64_t)(n / TEXT_BYTES));
}

/* Is one value the name of a type, "float32", and the other one the type
 * numpy.float32? */
static bool
same_type(const struct pval *x, const struct pval *y)
{
	const char *a = value_type_name(x), *b = value_type_name(y);
	struct dtype type;

	return (x->kind == PV_STRING || y->kind == PV_STRING) && a && b &&
	       strcmp(a, b) == 0 && dtype_from_name(a, &type);
}

static bool
equal(struct eval *ev, struct py_span at, const struct pval *x,
      const struct pval *y, int depth, bool *out)
{
	struct py_number a, b;

	if (!enter(ev, at, depth)) {
		return false;
	}
	if (x->kind == PV_INT && y->kind == PV_INT) {
		*out = x->u.ival == y->u.ival;
		return true;
	}
	if (pv_number(x, &a) && pv_number(y, &b)) {
		*out = py_number_order(&a, &b) == 0;
		return true;
	}
	if (x->kind != y->kind) {
		*out = pv_same(x, y) || same_type(x, y);
		return true;
	}
	*out = false;
	switch (x->kind) {
	case PV_STRING:
		return texts_equal(ev, at, x, y, out);
	case PV_TUPLE:
	case PV_LIST:
		/* As in Python, a list is equal to itself, whatever its
		 * elements are. */
		*out = x->u.list == y->u.list;
		return *out ||
		       lists_equal(ev, at, x->u.list, y->u.list, depth, out);
	case PV_SET:
		*out = x->u.list == y->u.list;
		return *out || sets_equal(ev, at, x->u.list, y->u.list, NULL,
					  NULL, depth, out);
	case PV_DICT:
		*out = x->u.dict == y->u.dict;
		return *out ||
		       sets_equal(ev, at, &x->u.dict->keys, &y->u.dict->keys,
				  x->u.dict->values.data,
				  y->u.dict->values.data, depth, out);
	case PV_RANGE:
		*out = x->u.range->start == y->u.range->start &&
		       x->u.range->stop == y->u.range->stop &&
		       x->u.range->step == y->u.range->step;
		return true;
	default:
		*out = pv_same(x, y);
		return true;
	}
}

/* The name, without its modules, of the class that the value v is; "" if v is
 * not a class. */
static const char *
class_part(const struct pval *v)
{
	const char *name = v->kind == PV_CLASS     ? v->u.any
			   : v->kind == PV_BUILTIN ? v->u.row->name
						   : "";
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

bool
pv_same(const struct pval *x, const struct pval *y)
{
	struct py_number a, b;

	/* In `type(v) == int`, `int` is the built-in function that makes ints,
	 * and not a class. */
	if (x->kind == PV_CLASS || y->kind == PV_CLASS) {
		return strcmp(class_part(x), class_part(y)) == 0;
	}
	if (x->kind != y->kind) {
		return false;
	}
	if (pv_number(x, &a) && pv_number(y, &b)) {
		return py_number_order(&a, &b) == 0;
	}
	switch (x->kind) {
	case PV_NONE:
	case PV_ELLIPSIS:
		return true;
	case PV_STRING:
		return x->u.text.data == y->u.text.data;
	case PV_BLOCK:
	case PV_LOOP:
		return x->u.handle.schedule == y->u.handle.schedule &&
		       x->u.handle.id == y->u.handle.id &&
		       x->u.handle.func == y->u.handle.func;
	case PV_NAMESPACE:
		return x->u.names == y->u.names;
	case PV_BOUND:
		return x->u.bound->f.u.any == y->u.bound->f.u.any &&
		       x->u.bound->self.u.any == y->u.bound->self.u.any;
	default:
		return x->u.any == y->u.any;
	}
}

bool
eval_equal(struct eval *ev, struct py_span at, const struct pval *x,
	   const struct pval *y, bool *out)
{
	return equal(ev, at, x, y, 0, out);
}

/* -- order -- */

static bool
order(struct eval *ev, struct py_span at, const struct pval *x,
      const struct pval *y, int depth, int *out)
{
	struct py_number a, b;

	if (!enter(ev, at, depth)) {
		return false;
	}
	if (pv_number(x, &a) && pv_number(y, &b)) {
		*out = py_number_order(&a, &b);
		return true;
	}
	if (x->kind == PV_STRING && y->kind == PV_STRING) {
		size_t m = x->u.text.n, n = y->u.text.n, both = m < n ? m : n;
		int c = memcmp(x->u.text.data, y->u.text.data, both);

		*out = c != 0 ? (c < 0 ? -1 : 1) : (m > n) - (m < n);
		return count(ev, at, (int64_t)(both / TEXT_BYTES));
	}
	*out = PV_NO_ORDER;
	if (x->kind == y->kind && (x->kind == PV_LIST || x->kind == PV_TUPLE)) {
		const struct pv_list *p = x->u.list, *q = y->u.list;

		*out = 0;
		for (int i = 0; p != q && *out == 0 && i < p->n && i < q->n;
		     i++) {
			if (!order(ev, at, &p->data[i], &q->data[i], depth + 1,
				   out)) {
				return false;
			}
		}
		*out = *out != 0 ? *out : (p->n > q->n) - (p->n < q->n);
	}
	return true;
}

bool
eval_order(struct eval *ev, struct py_span at, const struct pval *x,
	   const struct pval *y, int *out)
{
	return order(ev, at, x, y, 0, out);
}

/* -- searches -- */

bool
eval_find(struct eval *ev, struct py_span at, const struct pv_list *in,
	  const struct pval *item, int *out)
{
	return find(ev, at, in, item, 0, -1, out);
}

bool
eval_contains(struct eval *ev, struct py_span at, const struct pval *item,
	      const struct pval *in, bool *out)
{
	struct pv_list list = { 0 };
	int i;

	if (in->kind == PV_STRING && item->kind == PV_STRING) {
		*out = strstr(in->u.text.data, item->u.text.data) != NULL;
		return eval_tick_bytes(ev, at, in->u.text.n);
	}
	if (in->kind == PV_LIST || in->kind == PV_TUPLE || in->kind == PV_SET) {
		list = *in->u.list;
	} else if (in->kind == PV_DICT) {
		list = in->u.dict->keys;
	} else if (!eval_items(ev, at, in, &list.data, &list.n)) {
		return false;
	}
	if (!eval_find(ev, at, &list, item, &i)) {
		return false;
	}
	*out = i >= 0;
	return true;
}

/* -- dicts -- */

bool
dict_set(struct eval *ev, struct py_span at, struct pv_dict *d,
	 const struct pval *key, const struct pval *value)
{
	int i;

	if (!eval_find(ev, at, &d->keys, key, &i)) {
		return false;
	}
	if (i >= 0) {
		d->values.data[i] = *value;
		return true;
	}
	vec_push(ev->a, &d->keys, *key);
	vec_push(ev->a, &d->values, *value);
	return true;
}

bool
dict_add(struct eval *ev, struct py_span at, struct pv_dict *d,
	 const struct pv_dict *more)
{
	for (int i = 0; i < more->keys.n; i++) {
		if (!dict_set(ev, at, d, &more->keys.data[i],
			      &more->values.data[i])) {
			return false;
		}
	}
	return true;
}

bool
dict_delete(struct eval *ev, struct py_span at, struct pv_dict *d,
	    const struct pval *key)
{
	int i;

	if (!eval_find(ev, at, &d->keys, key, &i)) {
		return false;
	}
	if (i < 0) {
		return eval_raise(ev, at, "KeyError",
				  "the dict does not have this key");
	}
	memmove(&d->keys.data[i], &d->keys.data[i + 1],
		sizeof *key * (size_t)(d->keys.n - i - 1));
	memmove(&d->values.data[i], &d->values.data[i + 1],
		sizeof *key * (size_t)(d->values.n - i - 1));
	d->keys.n--;
	d->values.n--;
	return eval_tick(ev, at, d->keys.n / 8);
}

bool
dict_get(struct eval *ev, struct py_span at, const struct pv_dict *d,
	 const struct pval *key, const struct pval **out)
{
	int i;

	*out = NULL;
	if (!eval_find(ev, at, &d->keys, key, &i)) {
		return false;
	}
	*out = i >= 0 ? &d->values.data[i] : NULL;
	return true;
}
