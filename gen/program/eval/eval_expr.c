/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates expressions: names, literals, subscripts, attributes, calls and
 * comprehensions. */
#include "format.h"
#include "library.h"
#include "objects.h"

bool
eval_operator(struct eval *ev, const struct py_node *e, const char *text,
	      enum py_operator *out)
{
	return py_operator_find(text, out) ||
	       eval_error(ev, e->span, "the operator %s is not defined", text);
}

/* -- names -- */

static bool
eval_name(struct eval *ev, struct scope *s, const struct py_node *e,
	  struct pval *out)
{
	struct pval *found = eval_scope_find(ev, s, e->text);
	const struct name_row *row;
	VEC(const char *) known = { 0 };
	const char *const *builtin;
	int n;

	if (found && found->kind == PV_ABSENT) {
		return names_absent(ev, e->span, found->u.path);
	}
	if (found) {
		*out = *found;
		return true;
	}
	*out = (struct pval){ .kind = PV_USER_CLASS,
			      .u.class = exception_class(ev, e->text) };
	if (out->u.class) {
		return true;
	}
	row = names_in(ev, IN_PYTHON, e->text);
	if (row) {
		*out = (struct pval){ .kind = PV_BUILTIN, .u.row = row };
		return true;
	}
	for (; s; s = s->parent) {
		for (int i = 0; i < s->names.n; i++) {
			vec_push(ev->a, &known, s->names.data[i].name);
		}
	}
	builtin = names_list(ev, IN_PYTHON, PV_MISSING, &n);
	for (int i = 0; i < n; i++) {
		vec_push(ev->a, &known, builtin[i]);
	}
	if (names_left_out(e->text)) {
		return eval_error(ev, e->span,
				  "tirc reads a subset of Python, which has no "
				  "%s; delete the line, or use what "
				  "docs/reference/programs.md lists",
				  e->text);
	}
	return eval_raise(ev, e->span, "NameError",
			  "nothing is named %s here%s", e->text,
			  py_did_you_mean(ev->a, e->text, known.data, known.n,
					  "define or import it first"));
}

/* -- sequences -- */

static bool
push_element(struct eval *ev, struct scope *s, const struct py_node *e,
	     struct pv_list *list)
{
	struct pval v, *items;
	int n;

	if (e->kind != PY_STAR) {
		if (!eval_expr(ev, s, e, &v)) {
			return false;
		}
		vec_push(ev->a, list, v);
		return true;
	}
	if (!eval_expr(ev, s, e->kids[0], &v) ||
	    !eval_items(ev, e->span, &v, &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		vec_push(ev->a, list, items[i]);
	}
	return true;
}

static bool
eval_sequence(struct eval *ev, struct scope *s, const struct py_node *e,
	      enum pv_kind kind, struct pval *out)
{
	*out = pv_list_of(ev, kind, NULL, 0);
	for (int i = 0; i < e->n_kids; i++) {
		if (!push_element(ev, s, e->kids[i], out->u.list)) {
			return false;
		}
	}
	return true;
}

static bool
eval_dict(struct eval *ev, struct scope *s, const struct py_node *e,
	  struct pval *out)
{
	struct pval key, value;

	*out = pv_dict_new(ev);
	for (int i = 0; i + 1 < e->n_kids; i += 2) {
		if (!eval_expr(ev, s, e->kids[i], &key) ||
		    !eval_expr(ev, s, e->kids[i + 1], &value)) {
			return false;
		}
		if (!dict_set(ev, e->span, out->u.dict, &key, &value)) {
			return false;
		}
	}
	return true;
}

bool
eval_items(struct eval *ev, struct py_span at, const struct pval *v,
	   struct pval **items, int *n)
{
	struct pval inner;
	int64_t length;
	bool found;

	switch (v->kind) {
	case PV_TUPLE:
	case PV_LIST:
	case PV_SET:
		*n = v->u.list->n;
		*items = arena_copy(ev->a, v->u.list->data,
				    sizeof **items * (size_t)(*n));
		return eval_tick(ev, at, *n);
	case PV_DICT:
		*n = v->u.dict->keys.n;
		*items = arena_copy(ev->a, v->u.dict->keys.data,
				    sizeof **items * (size_t)(*n));
		return eval_tick(ev, at, *n);
	case PV_STRING:
		*n = (int)v->u.text.n;
		*items = arena_array(ev->a, struct pval, *n + 1);
		for (int i = 0; i < *n; i++) {
			(*items)[i] = pv_text_n(ev, v->u.text.data + i, 1);
		}
		return eval_tick(ev, at, *n);
	case PV_RANGE:
		length = range_length(v->u.range);
		if (length > EVAL_MAX_ITEMS) {
			return eval_error(ev, at,
					  "more than %d iterations; "
					  "the program is unrolled as it is "
					  "read: let te.compute loop",
					  EVAL_MAX_ITEMS);
		}
		if (!eval_tick(ev, at, length)) {
			return false;
		}
		*n = (int)length;
		*items = arena_array(ev->a, struct pval, length + 1);
		for (int64_t i = 0; i < length; i++) {
			(*items)[i] = pv_int(v->u.range->start +
					     i * v->u.range->step);
		}
		return true;
	case PV_ITERATOR:
		*n = v->u.iterator->n - v->u.iterator->at;
		*items = v->u.iterator->items + v->u.iterator->at;
		v->u.iterator->at = v->u.iterator->n;
		return eval_tick(ev, at, *n);
	case PV_OBJECT:
		if (!object_special(ev, at, v, "__iter__", NULL, 0, &inner,
				    &found)) {
			return false;
		}
		if (found && inner.kind != PV_OBJECT) {
			return eval_items(ev, at, &inner, items, n);
		}
		return eval_raise(ev, at, "TypeError",
				  found ? "an __iter__ that returns an object; "
					  "yield the items, or return a list"
					: "an object without __iter__ cannot "
					  "be iterated over");
	default:
		if (ops_of(ev, v->kind)->items) {
			return ops_of(ev, v->kind)->items(ev, at, v, items, n);
		}
		return eval_error(ev, at, "%s cannot be iterated over",
				  pv_kind_name(v->kind));
	}
}

bool
eval_items_or_one(struct eval *ev, struct py_span at, const struct pval *v,
		  bool one, const struct pval **items, int *n)
{
	struct pval *list = NULL;

	*items = v;
	*n = 1;
	if (!one) {
		if (!eval_items(ev, at, v, &list, n)) {
			return false;
		}
		*items = list;
	}
	return true;
}

/* -- subscripts -- */

bool
eval_element(struct eval *ev, struct py_span at, const struct pval *index,
	     int64_t n, int64_t *out)
{
	struct py_number i;

	if (!eval_number(ev, index, &i) || i.kind == PY_NUMBER_FLOAT) {
		return eval_error(ev, at, "an int is needed as index, not %s",
				  pv_kind_name(index->kind));
	}
	*out = i.i;
	if (*out < -n || *out >= n) {
		return eval_raise(ev, at, "IndexError",
				  "index %lld of %lld elements; count from 0",
				  (long long)*out, (long long)n);
	}
	*out += *out < 0 ? n : 0;
	return true;
}

static int64_t
clamp(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

/* Converts a slice of n elements to the range *r of indices. Returns false
 * after an error. */
static bool
slice_range(struct eval *ev, struct py_span at, const struct pval *slice,
	    int64_t n, struct pv_range *r)
{
	for (int i = 0; i < 3; i++) {
		if (slice->u.slice[i].kind != PV_INT &&
		    slice->u.slice[i].kind != PV_NONE) {
			return eval_error(ev, at,
					  "a slice needs ints, not "
					  "%s",
					  pv_kind_name(slice->u.slice[i].kind));
		}
	}
	r->step = slice->u.slice[2].kind == PV_INT ? slice->u.slice[2].u.ival
						   : 1;
	if (r->step == 0 || r->step == INT64_MIN) {
		return eval_error(ev, at, "a slice cannot have this step");
	}
	r->start = r->step > 0 ? 0 : n - 1;
	r->stop = r->step > 0 ? n : -1;
	for (int i = 0; i < 2; i++) {
		int64_t *bound = i == 0 ? &r->start : &r->stop;
		int64_t v;

		if (slice->u.slice[i].kind == PV_NONE) {
			continue;
		}
		v = clamp(slice->u.slice[i].u.ival, -n - 1, n + 1);
		v += v < 0 ? n : 0;
		*bound = r->step > 0 ? clamp(v, 0, n) : clamp(v, -1, n - 1);
	}
	return true;
}

static bool
eval_slice(struct eval *ev, struct py_span at, const struct pval *of,
	   const struct pval *index, struct pval *out)
{
	int64_t n = of->kind == PV_STRING ? (int64_t)of->u.text.n
					  : of->u.list->n;
	struct pv_range r;
	int64_t count;
	struct strbuf s;

	if (!slice_range(ev, at, index, n, &r)) {
		return false;
	}
	count = range_length(&r);
	if (!eval_tick(ev, at, count)) {
		return false;
	}
	if (of->kind != PV_STRING) {
		*out = pv_list_of(ev, of->kind, NULL, 0);
		for (int64_t i = 0; i < count; i++) {
			vec_push(ev->a, out->u.list,
				 of->u.list->data[r.start + i * r.step]);
		}
		return true;
	}
	strbuf_init(&s);
	for (int64_t i = 0; i < count; i++) {
		strbuf_putc(&s, of->u.text.data[r.start + i * r.step]);
	}
	*out = pv_text_n(ev, s.data, s.len);
	strbuf_release(&s);
	return true;
}

bool
eval_subscript(struct eval *ev, struct py_span at, const struct pval *of,
	       const struct pval *index, struct pval *out)
{
	const struct pval *found;
	int64_t i;
	bool has;

	switch (of->kind) {
	case PV_LIST:
	case PV_TUPLE:
		if (index->kind == PV_SLICE) {
			return eval_slice(ev, at, of, index, out);
		}
		if (!eval_element(ev, at, index, of->u.list->n, &i)) {
			return false;
		}
		*out = of->u.list->data[i];
		return true;
	case PV_STRING:
		if (index->kind == PV_SLICE) {
			return eval_slice(ev, at, of, index, out);
		}
		if (!eval_element(ev, at, index, (int64_t)of->u.text.n, &i)) {
			return false;
		}
		*out = pv_text_n(ev, of->u.text.data + i, 1);
		return true;
	case PV_RANGE:
		if (index->kind == PV_SLICE ||
		    !eval_element(ev, at, index, range_length(of->u.range),
				  &i)) {
			return index->kind == PV_SLICE
				       ? eval_error(ev, at,
						    "make a list of the "
						    "range first")
				       : false;
		}
		*out = pv_int(of->u.range->start + i * of->u.range->step);
		return true;
	case PV_DICT:
		if (!dict_get(ev, at, of->u.dict, index, &found)) {
			return false;
		}
		if (!found) {
			eval_error(ev, at, "the dict does not have this key");
			ev->raised = exception_new(ev,
						   exception_class(ev,
								   "KeyError"),
						   index, 1);
			return false;
		}
		*out = *found;
		return true;
	case PV_OBJECT:
		return object_special(ev, at, of, "__getitem__", index, 1, out,
				      &has) &&
		       (has || eval_raise(ev, at, "TypeError",
					  "an object without __getitem__ has "
					  "no elements"));
	default:
		if (ops_of(ev, of->kind)->subscript) {
			return ops_of(ev, of->kind)
				->subscript(ev, at, of, index, out);
		}
		return eval_error(ev, at, "%s has no elements",
				  pv_kind_name(of->kind));
	}
}

/* Evaluates the indices in brackets to a tuple. A slice, as in x[:, i], is
 * allowed only here. Returns false after an error. */
static bool
eval_indices(struct eval *ev, struct scope *s, const struct py_node *e,
	     struct pval *out)
{
	*out = pv_list_of(ev, PV_TUPLE, NULL, 0);
	for (int i = 0; i < e->n_kids; i++) {
		const struct py_node *kid = e->kids[i];
		struct pval v, *items;
		int n;

		if (!eval_index(ev, s,
				kid->kind == PY_STAR ? kid->kids[0] : kid,
				&v)) {
			return false;
		}
		if (kid->kind != PY_STAR) {
			vec_push(ev->a, out->u.list, v);
		} else if (!eval_items(ev, kid->span, &v, &items, &n) ||
			   !list_add(ev, kid->span, out->u.list, items, n)) {
			return false;
		}
	}
	return true;
}

static bool
has_slice(const struct py_node *e)
{
	bool found = false;

	for (int i = 0; i < e->n_kids; i++) {
		found |= e->kids[i]->kind == PY_SLICE;
	}
	return found;
}

bool
eval_index(struct eval *ev, struct scope *s, const struct py_node *e,
	   struct pval *out)
{
	struct pval *part;

	if (!e) {
		*out = pv_none();
		return true;
	}
	if (e->kind == PY_TUPLE && has_slice(e)) {
		return eval_indices(ev, s, e, out);
	}
	if (e->kind == PY_STAR) {
		struct pval v, *items;
		int n;

		if (!eval_expr(ev, s, e->kids[0], &v) ||
		    !eval_items(ev, e->span, &v, &items, &n)) {
			return false;
		}
		*out = pv_list_of(ev, PV_TUPLE, items, n);
		return true;
	}
	if (e->kind != PY_SLICE) {
		return eval_expr(ev, s, e, out);
	}
	part = arena_array(ev->a, struct pval, 3);
	for (int i = 0; i < 3; i++) {
		part[i] = pv_none();
		if (i < e->n_kids && e->kids[i] &&
		    !eval_expr(ev, s, e->kids[i], &part[i])) {
			return false;
		}
	}
	*out = (struct pval){ .kind = PV_SLICE, .u.slice = part };
	return true;
}

/* -- conditional operators -- */

/* Is v a condition whose value only the emitted function will know? Such
 * conditions are allowed only if eval.symbolic is set. */
static bool
is_open(const struct eval *ev, const struct pval *v)
{
	return ev->symbolic && v->kind == PV_EXPR &&
	       v->u.expr->kind != EXPR_INT;
}

static bool
joined(struct eval *ev, struct py_span at, enum py_operator op,
       const struct pval *x, const struct pval *y, struct pval *out)
{
	struct typed a, b, both;
	int depth, deep;

	return value_typed(ev, at, x, &a, &depth) &&
	       value_typed(ev, at, y, &b, &deep) &&
	       typed_binary(&ev->typing, at, op, &a, &b, &both) &&
	       eval_typed_result(ev, at, &both, deep > depth ? deep : depth,
				 out);
}

static bool
eval_and_or(struct eval *ev, struct scope *s, const struct py_node *e,
	    struct pval *out)
{
	struct pval left, right;
	bool truth;

	if (!eval_expr(ev, s, e->kids[0], out)) {
		return false;
	}
	if (is_open(ev, out)) {
		left = *out;
		return eval_expr(ev, s, e->kids[1], &right) &&
		       joined(ev, e->span,
			      e->op[0] == 'a' ? PY_OP_AND : PY_OP_OR, &left,
			      &right, out);
	}
	if (!eval_truth(ev, e->kids[0]->span, out, &truth)) {
		return false;
	}
	if (truth != (e->op[0] == 'a')) {
		return true;
	}
	return eval_expr(ev, s, e->kids[1], out);
}

static bool
eval_comparisons(struct eval *ev, struct scope *s, const struct py_node *e,
		 struct pval *out)
{
	struct pval left, right, so_far;
	bool truth, open = false;
	enum py_operator op;

	if (!eval_expr(ev, s, e->kids[0], &left)) {
		return false;
	}
	for (int i = 1; i < e->n_kids; i++) {
		if (!eval_expr(ev, s, e->kids[i], &right) ||
		    !eval_operator(ev, e, e->ops[i - 1], &op) ||
		    !eval_compare(ev, e->span, op, &left, &right, out)) {
			return false;
		}
		if (open &&
		    !joined(ev, e->span, PY_OP_AND, &so_far, out, out)) {
			return false;
		}
		open |= is_open(ev, out);
		so_far = *out;
		if (i + 1 < e->n_kids && !open) {
			if (!eval_truth(ev, e->span, out, &truth)) {
				return false;
			}
			if (!truth) {
				return true;
			}
		}
		left = right;
	}
	return true;
}

/* Evaluates `x if condition else y` to an expression that chooses when the
 * function runs. */
static bool
chosen(struct eval *ev, struct scope *s, const struct py_node *e,
       const struct pval *condition, struct pval *out)
{
	struct typed c, x, y, both;
	struct pval one, other;
	int deepest, depth, deep;

	if (!eval_expr(ev, s, e->kids[0], &one) ||
	    !eval_expr(ev, s, e->kids[2], &other) ||
	    !value_typed(ev, e->span, condition, &c, &deepest) ||
	    !value_typed(ev, e->span, &one, &x, &depth) ||
	    !value_typed(ev, e->span, &other, &y, &deep) ||
	    !typed_choice(&ev->typing, e->span, true, &c, &x, &y, &both)) {
		return false;
	}
	deepest = depth > deepest ? depth : deepest;
	deepest = deep > deepest ? deep : deepest;
	return eval_typed_result(ev, e->span, &both, deepest, out);
}

static bool
eval_ifelse(struct eval *ev, struct scope *s, const struct py_node *e,
	    struct pval *out)
{
	struct pval condition;
	bool truth;

	if (!eval_expr(ev, s, e->kids[1], &condition)) {
		return false;
	}
	if (is_open(ev, &condition)) {
		return chosen(ev, s, e, &condition, out);
	}
	return eval_truth(ev, e->kids[1]->span, &condition, &truth) &&
	       eval_expr(ev, s, e->kids[truth ? 0 : 2], out);
}

static bool eval_fstring(struct eval *ev, struct scope *s,
			 const struct py_node *e, struct pval *out);

/* Appends a value of an f-string in its format. Returns false after an
 * error. */
static bool
eval_formatted(struct eval *ev, struct scope *s, const struct py_node *e,
	       struct strbuf *out)
{
	bool is_format = e->kind == PY_FORMAT;
	struct pval v, spec = { .kind = PV_NONE };

	return eval_expr(ev, s, is_format ? e->kids[0] : e, &v) &&
	       (!is_format || !e->kids[1] ||
		eval_fstring(ev, s, e->kids[1], &spec)) &&
	       format_value(ev, e->span, &v,
			    is_format && e->text ? e->text[0] : 0,
			    spec.kind == PV_STRING ? spec.u.text.data : NULL,
			    out);
}

static bool
eval_fstring(struct eval *ev, struct scope *s, const struct py_node *e,
	     struct pval *out)
{
	struct strbuf text;
	bool ok = true;

	strbuf_init(&text);
	for (int i = 0; ok && i < e->n_kids; i++) {
		const struct py_node *kid = e->kids[i];

		if (kid->kind == PY_STRING) {
			strbuf_write(&text, kid->text, kid->length);
			continue;
		}
		ok = eval_formatted(ev, s, kid, &text);
	}
	ok = ok && eval_tick_bytes(ev, e->span, text.len);
	*out = pv_text_n(ev, text.data, text.len);
	strbuf_release(&text);
	return ok;
}

/* -- comprehensions -- */

struct comprehension {
	struct eval *ev;
	const struct py_node *node;
	struct pval *out;
	/* the index of the first `for` or `if` among the children of the node */
	int first;
};

static bool
run_clause(struct comprehension *c, struct scope *s, int clause)
{
	struct eval *ev = c->ev;
	const struct py_node *e = c->node;
	const struct py_node *part;
	struct pval v, *items;
	int n;

	if (!eval_tick(ev, e->span, 1)) {
		return false;
	}
	if (clause == e->n_kids) {
		struct pval key = { .kind = PV_NONE };

		if (!eval_expr(ev, s, e->kids[0], &v)) {
			return false;
		}
		if (c->out->kind == PV_DICT) {
			key = v;
			return eval_expr(ev, s, e->kids[1], &v) &&
			       dict_set(ev, e->span, c->out->u.dict, &key, &v);
		}
		vec_push(ev->a, c->out->u.list, v);
		return true;
	}
	part = e->kids[clause];
	if (!eval_expr(ev, s, part->kids[1], &v) ||
	    !eval_items(ev, part->kids[1]->span, &v, &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		bool keep = true;

		if (!eval_assign(ev, s, part->kids[0], &items[i])) {
			return false;
		}
		for (int k = 2; keep && k < part->n_kids; k++) {
			if (!eval_expr(ev, s, part->kids[k], &v) ||
			    !eval_truth(ev, part->kids[k]->span, &v, &keep)) {
				return false;
			}
		}
		if (keep && !run_clause(c, s, clause + 1)) {
			return false;
		}
	}
	return true;
}

static bool
eval_comprehension(struct eval *ev, struct scope *s, const struct py_node *e,
		   struct pval *out)
{
	struct scope *inner = arena_new(ev->a, struct scope);
	struct comprehension c = { .ev = ev, .node = e, .out = out };

	inner->parent = s;
	if (strcmp(e->text, "dict") == 0) {
		c.first = 2;
		*out = pv_dict_new(ev);
	} else {
		c.first = 1;
		*out = pv_list_of(ev,
				  strcmp(e->text, "list") == 0  ? PV_LIST
				  : strcmp(e->text, "set") == 0 ? PV_SET
								: PV_TUPLE,
				  NULL, 0);
	}
	return run_clause(&c, inner, c.first);
}

/* -- calls and functions -- */

/* Adds the elements of the value v, which the call gives as `*v`, to the
 * positional arguments. */
static bool
spread_list(struct eval *ev, struct py_span at, const struct pval *v,
	    struct call_args *args)
{
	struct pval *items;
	int n;

	if (!eval_items(ev, at, v, &items, &n)) {
		return false;
	}
	for (int i = 0; i < n; i++) {
		eval_give(ev, args, NULL, at, &items[i]);
	}
	return true;
}

/* Adds the values of the dict v, which the call gives as `**v`, to the keyword
 * arguments. Returns false after an error. */
static bool
spread_dict(struct eval *ev, struct py_span at, const struct pval *v,
	    struct call_args *args)
{
	const struct pv_dict *d = v->u.dict;

	if (v->kind != PV_DICT) {
		return eval_error(ev, at, "** needs a dict");
	}
	for (int i = 0; i < d->keys.n; i++) {
		if (d->keys.data[i].kind != PV_STRING) {
			return eval_error(ev, at, "** needs keys of type str");
		}
		eval_give(ev, args, d->keys.data[i].u.text.data, at,
			  &d->values.data[i]);
	}
	return true;
}

static bool
eval_arguments(struct eval *ev, struct scope *s, const struct py_node *e,
	       struct call_args *args)
{
	for (int i = 1; i < e->n_kids; i++) {
		const struct py_node *kid = e->kids[i];
		bool named = kid->kind == PY_KEYWORD;
		bool star = kid->kind == PY_STAR;
		struct pval v;

		if (!eval_expr(ev, s, named || star ? kid->kids[0] : kid, &v)) {
			return false;
		}
		if (star ? !spread_list(ev, kid->span, &v, args)
		    : named && !kid->text
			    ? !spread_dict(ev, kid->span, &v, args)
			    : false) {
			return false;
		}
		if (!star && (!named || kid->text)) {
			eval_give(ev, args, named ? kid->text : NULL, kid->span,
				  &v);
		}
	}
	return true;
}

static bool
eval_call_node(struct eval *ev, struct scope *s, const struct py_node *e,
	       struct pval *out)
{
	struct call_args args = { 0 };
	struct pval f;

	return eval_expr(ev, s, e->kids[0], &f) &&
	       eval_arguments(ev, s, e, &args) &&
	       eval_call(ev, e->span, &f, &args, out);
}

bool
eval_closure(struct eval *ev, struct scope *s, const struct py_node *e,
	     const char *name, struct pval *out)
{
	struct closure *c = arena_new(ev->a, struct closure);
	struct pval *defaults = arena_array(ev->a, struct pval,
					    e->n_params + 1);

	for (int i = 0; i < e->n_params; i++) {
		if (e->params[i].initial &&
		    !eval_expr(ev, s, e->params[i].initial, &defaults[i])) {
			return false;
		}
	}
	c->def = e;
	c->scope = s;
	c->defaults = defaults;
	c->name = name;
	c->owner = s->of;
	c->src = ev->src;
	*out = (struct pval){ .kind = PV_CLOSURE, .u.closure = c };
	return true;
}

/* Appends the yielded value to ev->yields. A generator runs to its end when it
 * is called, so that all its values are stored. */
static bool
eval_yield(struct eval *ev, struct scope *s, const struct py_node *e,
	   struct pval *out)
{
	struct pval v = pv_none(), *items = &v;
	int n = 1;

	*out = pv_none();
	if (!ev->yields) {
		return eval_error(ev, e->span, "yield outside of a function");
	}
	return (!e->kids[0] || eval_expr(ev, s, e->kids[0], &v)) &&
	       (!e->text || eval_items(ev, e->span, &v, &items, &n)) &&
	       list_add(ev, e->span, ev->yields, items, n);
}

static bool
eval_node(struct eval *ev, struct scope *s, const struct py_node *e,
	  struct pval *out)
{
	struct pval x, y;
	struct py_number number;
	enum py_operator op;
	const char *error;

	if (py_number_read(e, &number, &error)) {
		*out = pv_of_number(&number);
		return !error || eval_error(ev, e->span, "%s", error);
	}
	switch (e->kind) {
	case PY_NAME:
		return eval_name(ev, s, e, out);
	case PY_STRING:
		*out = pv_text_n(ev, e->text, e->length);
		return true;
	case PY_FSTRING:
		return eval_fstring(ev, s, e, out);
	case PY_NONE:
		*out = pv_none();
		return true;
	case PY_ELLIPSIS:
		*out = (struct pval){ .kind = PV_ELLIPSIS };
		return true;
	case PY_TUPLE:
		return eval_sequence(ev, s, e, PV_TUPLE, out);
	case PY_LIST:
		return eval_sequence(ev, s, e, PV_LIST, out);
	case PY_SET:
		return eval_sequence(ev, s, e, PV_SET, out);
	case PY_DICT:
		return eval_dict(ev, s, e, out);
	case PY_ATTRIBUTE:
		return eval_expr(ev, s, e->kids[0], &x) &&
		       eval_attribute(ev, e->span, &x, e->text, out);
	case PY_SUBSCRIPT:
		return eval_expr(ev, s, e->kids[0], &x) &&
		       eval_index(ev, s, e->kids[1], &y) &&
		       eval_subscript(ev, e->span, &x, &y, out);
	case PY_CALL:
		return eval_call_node(ev, s, e, out);
	case PY_UNARY:
		return eval_operator(ev, e, e->op, &op) &&
		       eval_expr(ev, s, e->kids[0], &x) &&
		       eval_unary(ev, e->span, op, &x, out);
	case PY_BINARY:
		if (strcmp(e->op, "@") == 0) {
			return eval_expr(ev, s, e->kids[0], &x) &&
			       eval_expr(ev, s, e->kids[1], &y) &&
			       eval_product(ev, e->span, &x, &y, out);
		}
		if (!eval_operator(ev, e, e->op, &op)) {
			return false;
		}
		if (py_operator_group(op) == PY_OPS_LOGIC) {
			return eval_and_or(ev, s, e, out);
		}
		return eval_expr(ev, s, e->kids[0], &x) &&
		       eval_expr(ev, s, e->kids[1], &y) &&
		       eval_binary(ev, e->span, op, &x, &y, out);
	case PY_COMPARE:
		return eval_comparisons(ev, s, e, out);
	case PY_IFELSE:
		return eval_ifelse(ev, s, e, out);
	case PY_LAMBDA:
		return eval_closure(ev, s, e, "<lambda>", out);
	case PY_COMPREHENSION:
		return eval_comprehension(ev, s, e, out);
	case PY_YIELD:
		return eval_yield(ev, s, e, out);
	default:
		return eval_error(ev, e->span,
				  "this is not part of the "
				  "Python that programs are read in; see "
				  "docs/reference/programs.md");
	}
}

bool
eval_expr(struct eval *ev, struct scope *s, const struct py_node *e,
	  struct pval *out)
{
	bool ok;

	if (!eval_tick(ev, e->span, 1)) {
		return false;
	}
	if (ev->depth >= EVAL_MAX_DEPTH) {
		return eval_error(ev, e->span,
				  "calls or expressions nested "
				  "more than %d levels deep; does a function "
				  "call itself without end?",
				  EVAL_MAX_DEPTH);
	}
	ev->depth++;
	ok = eval_node(ev, s, e, out);
	ev->depth--;
	return ok;
}
