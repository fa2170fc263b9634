/* SPDX-License-Identifier: Apache-2.0 */
/* Values: their creation, their truth, and their text as Python's print shows
 * it. */
#include <inttypes.h>

#include "library.h"
#include "objects.h"

const char *
pv_kind_name(enum pv_kind kind)
{
	static const char *const names[] = {
#define KIND(id, name) name,
#include "kinds.def"
#undef KIND
	};

	return names[kind];
}

struct pval
pv_none(void)
{
	return (struct pval){ .kind = PV_NONE };
}

struct pval
pv_bool(bool v)
{
	return (struct pval){ .kind = PV_BOOL, .u.boolean = v };
}

struct pval
pv_int(int64_t v)
{
	return (struct pval){ .kind = PV_INT, .u.ival = v };
}

struct pval
pv_float(double v)
{
	return (struct pval){ .kind = PV_FLOAT, .u.fval = v };
}

struct pval
pv_text_n(struct eval *ev, const char *text, size_t n)
{
	struct pval v = { .kind = PV_STRING };

	v.u.text.data = arena_strndup(ev->a, text ? text : "", n);
	v.u.text.n = n;
	if (n > 0 && memchr(text, '\0', n)) {
		char *copy = arena_alloc(ev->a, n + 1);

		memcpy(copy, text, n);
		v.u.text.data = copy;
	}
	return v;
}

struct pval
pv_string(struct eval *ev, const char *text)
{
	return pv_text_n(ev, text, strlen(text));
}

/* The value of the expression e; depth: its nesting depth. */
struct pval
pv_expr(const struct expr *e, int depth)
{
	return (struct pval){ .kind = PV_EXPR, .depth = depth, .u.expr = e };
}

struct pval
pv_any(enum pv_kind kind, const void *p)
{
	return (struct pval){ .kind = kind, .u.any = p };
}

struct pval
pv_list_of(struct eval *ev, enum pv_kind kind, const struct pval *items, int n)
{
	struct pv_list *list = arena_new(ev->a, struct pv_list);

	list->data = arena_array(ev->a, struct pval, n + 1);
	if (n > 0) {
		memcpy(list->data, items, sizeof *items * (size_t)n);
	}
	list->n = n;
	list->cap = n + 1;
	return (struct pval){ .kind = kind, .u.list = list };
}

struct pval
pv_dict_new(struct eval *ev)
{
	return (struct pval){ .kind = PV_DICT,
			      .u.dict = arena_new(ev->a, struct pv_dict) };
}

struct pval
pv_tensor(struct eval *ev, struct te_tensor *t)
{
	return (struct pval){ .kind = PV_TENSOR,
			      .depth = te_depth(ev, t),
			      .u.tensor = t };
}

/* The value for an axis. Each variable has one object, so that a program can
 * compare axes with `is` and ==. */
struct pval
pv_axis(struct eval *ev, const struct iter_var *iv)
{
	int id = iv->var->id;
	struct pval v = { .kind = PV_AXIS, .depth = 1 };

	while (ev->axes.n <= id) {
		vec_push(ev->a, &ev->axes, NULL);
	}
	if (!ev->axes.data[id]) {
		ev->axes.data[id] = arena_new(ev->a, struct axis);
		ev->axes.data[id]->iv = *iv;
	}
	v.u.axis = ev->axes.data[id];
	return v;
}

bool
pv_number(const struct pval *v, struct py_number *out)
{
	struct py_number n = { 0 };

	switch (v->kind) {
	case PV_BOOL:
		n = py_bool(v->u.boolean);
		break;
	case PV_INT:
		n = py_int(v->u.ival);
		break;
	case PV_FLOAT:
		n = py_float(v->u.fval);
		break;
	default:
		return false;
	}
	if (out) {
		*out = n;
	}
	return true;
}

struct pval
pv_of_number(const struct py_number *n)
{
	return n->kind == PY_NUMBER_BOOL  ? pv_bool(n->i != 0)
	       : n->kind == PY_NUMBER_INT ? pv_int(n->i)
					  : pv_float(n->f);
}

const struct kind_ops *
ops_of(const struct eval *ev, enum pv_kind kind)
{
	static const struct kind_ops none = { 0 };
	const struct kind_ops *ops = ev->libraries->kinds[kind];

	return ops ? ops : &none;
}

bool
eval_number(const struct eval *ev, const struct pval *v, struct py_number *out)
{
	const struct kind_ops *ops = ops_of(ev, v->kind);

	return pv_number(v, out) || (ops->number && ops->number(v, out));
}

bool
eval_int(const struct eval *ev, const struct pval *v, int64_t *out)
{
	struct py_number n;

	if (eval_number(ev, v, &n) && n.kind != PY_NUMBER_FLOAT) {
		*out = n.i;
		return true;
	}
	return v->kind == PV_EXPR && expr_is_int(v->u.expr, out);
}

bool
pv_is_array(const struct pval *v)
{
	return v->kind == PV_ARRAY || v->kind == PV_NDARRAY;
}

static bool
is_axis(const struct eval *ev, const struct expr *e)
{
	return e->kind == EXPR_VAR && e->u.var->id < ev->axes.n &&
	       ev->axes.data[e->u.var->id];
}

/* Is e "x == y" or "x != y" with two different axes? Such an expression has a
 * truth value of its own, as in TVM, namely whether x and y are the same axis:
 * false for == and true for !=. ("x == x" is folded to true.) */
static bool
compares_axes(const struct eval *ev, const struct expr *e)
{
	return (e->kind == EXPR_EQ || e->kind == EXPR_NE) &&
	       is_axis(ev, e->args[0]) && is_axis(ev, e->args[1]);
}

bool
eval_truth(struct eval *ev, struct py_span at, const struct pval *v, bool *out)
{
	struct py_number n;
	struct pval result;
	int64_t number;
	bool found;

	switch (v->kind) {
	case PV_NONE:
		*out = false;
		return true;
	case PV_BOOL:
	case PV_INT:
	case PV_FLOAT:
		pv_number(v, &n);
		*out = py_number_truth(&n);
		return true;
	case PV_STRING:
	case PV_TUPLE:
	case PV_LIST:
	case PV_SET:
	case PV_DICT:
	case PV_RANGE:
		pv_length(v, &number);
		*out = number > 0;
		return true;
	case PV_OBJECT:
		if (!object_special(ev, at, v, "__bool__", NULL, 0, &result,
				    &found) ||
		    (!found && !object_special(ev, at, v, "__len__", NULL, 0,
					       &result, &found))) {
			return false;
		}
		if (found && pv_number(&result, &n)) {
			*out = py_number_truth(&n);
		} else {
			*out = true;
		}
		return true;
	case PV_EXPR:
		if (expr_is_int(v->u.expr, &number)) {
			*out = number != 0;
			return true;
		}
		if (compares_axes(ev, v->u.expr)) {
			*out = v->u.expr->kind == EXPR_NE;
			return true;
		}
		/* fall through */
	case PV_TENSOR_PART:
		return eval_error(ev, at,
				  "whether this holds is known only "
				  "when the function runs; use "
				  "tvm.tir.if_then_else, te.all or te.any");
	case PV_AXIS:
		return eval_error(ev, at,
				  "an axis has no truth value when "
				  "the program is read; use "
				  "tvm.tir.if_then_else");
	default:
		if (ops_of(ev, v->kind)->truth) {
			return ops_of(ev, v->kind)->truth(ev, at, v, out);
		}
		*out = true;
		return true;
	}
}

int64_t
range_length(const struct pv_range *r)
{
	uint64_t span, step;

	if (r->step > 0 ? r->start >= r->stop : r->start <= r->stop) {
		return 0;
	}
	span = r->step > 0 ? (uint64_t)r->stop - (uint64_t)r->start
			   : (uint64_t)r->start - (uint64_t)r->stop;
	step = r->step > 0 ? (uint64_t)r->step : 0 - (uint64_t)r->step;
	span = (span - 1) / step + 1;
	return span > INT64_MAX ? INT64_MAX : (int64_t)span;
}

bool
pv_length(const struct pval *v, int64_t *out)
{
	switch (v->kind) {
	case PV_STRING:
		*out = (int64_t)v->u.text.n;
		return true;
	case PV_LIST:
	case PV_TUPLE:
	case PV_SET:
		*out = v->u.list->n;
		return true;
	case PV_DICT:
		*out = v->u.dict->keys.n;
		return true;
	case PV_RANGE:
		*out = range_length(v->u.range);
		return true;
	default:
		return false;
	}
}

/* -- text -- */

static void
put_text(const char *text, size_t n, struct strbuf *out)
{
	strbuf_write(out, text, n);
}

/* Must the text of a value be cut with "..."? It must if the text is long, or
 * if the program has no steps left, which the next eval_tick() reports. */
static bool
too_long(const struct eval *ev, const struct strbuf *out)
{
	return out->len > EVAL_MAX_ITEMS * 4 || ev->steps > ev->max_steps;
}

static void
list_text(struct eval *ev, const struct pv_list *list, const char *around,
	  int depth, struct strbuf *out)
{
	strbuf_putc(out, around[0]);
	for (int i = 0; i < list->n && !too_long(ev, out); i++) {
		strbuf_puts(out, i ? ", " : "");
		pv_text(ev, &list->data[i], true, depth + 1, out);
	}
	strbuf_puts(out, around[0] == '(' && list->n == 1 ? "," : "");
	strbuf_putc(out, around[1]);
}

static void
dict_text(struct eval *ev, const struct pv_dict *d, int depth,
	  struct strbuf *out)
{
	strbuf_putc(out, '{');
	for (int i = 0; i < d->keys.n && !too_long(ev, out); i++) {
		strbuf_puts(out, i ? ", " : "");
		pv_text(ev, &d->keys.data[i], true, depth + 1, out);
		strbuf_puts(out, ": ");
		pv_text(ev, &d->values.data[i], true, depth + 1, out);
	}
	strbuf_putc(out, '}');
}

static void
tensor_text(const struct buffer *b, const char *name, struct strbuf *out)
{
	strbuf_puts(out, "Tensor(shape=[");
	for (int d = 0; d < b->ndim; d++) {
		strbuf_puts(out, d ? ", " : "");
		expr_print(b->shape[d], out);
	}
	strbuf_printf(out, "], op.name=%s)", name);
}

static void
axis_text(const struct axis *x, struct strbuf *out)
{
	if (x->thread) {
		strbuf_puts(out, x->thread);
		return;
	}
	strbuf_printf(out, "%s in [", x->iv.var->name);
	expr_print(x->iv.min, out);
	strbuf_puts(out, ", ");
	expr_print(x->iv.min, out);
	strbuf_puts(out, " + ");
	expr_print(x->iv.extent, out);
	strbuf_putc(out, ')');
}

void
pv_text(struct eval *ev, const struct pval *v, bool repr, int depth,
	struct strbuf *out)
{
	struct py_number number;

	if (depth > 50 || too_long(ev, out)) {
		strbuf_puts(out, "...");
		return;
	}
	switch (v->kind) {
	case PV_BOOL:
	case PV_INT:
	case PV_FLOAT:
		pv_number(v, &number);
		py_number_put(&number, out);
		return;
	case PV_STRING:
		(repr ? py_text_repr : put_text)(v->u.text.data, v->u.text.n,
						 out);
		return;
	case PV_ELLIPSIS:
		strbuf_puts(out, "Ellipsis");
		return;
	case PV_TUPLE:
		list_text(ev, v->u.list, "()", depth, out);
		return;
	case PV_LIST:
		list_text(ev, v->u.list, "[]", depth, out);
		return;
	case PV_SET:
		list_text(ev, v->u.list, "{}", depth, out);
		return;
	case PV_DICT:
		dict_text(ev, v->u.dict, depth, out);
		return;
	case PV_RANGE:
		strbuf_printf(out, "range(%" PRId64 ", %" PRId64,
			      v->u.range->start, v->u.range->stop);
		if (v->u.range->step != 1) {
			strbuf_printf(out, ", %" PRId64, v->u.range->step);
		}
		strbuf_putc(out, ')');
		return;
	case PV_EXPR:
		expr_print(v->u.expr, out);
		return;
	case PV_TENSOR:
		tensor_text(v->u.tensor->buffer, v->u.tensor->buffer->name,
			    out);
		return;
	case PV_OP:
		strbuf_printf(out,
			      v->u.tensor->stage ? "compute(%s)"
						 : "placeholder(%s)",
			      v->u.tensor->buffer->name);
		return;
	case PV_AXIS:
	case PV_THREAD:
		axis_text(v->u.axis, out);
		return;
	case PV_USER_CLASS:
		strbuf_printf(out, "<class '%s%s'>",
			      v->u.class->is_exception ? "" : "__main__.",
			      v->u.class->name);
		return;
	case PV_OBJECT:
		object_put(ev, v, repr, depth, out);
		return;
	case PV_CLASS:
		strbuf_printf(out, "<class '%s'>", (const char *)v->u.any);
		return;
	default:
		if (ops_of(ev, v->kind)->text) {
			ops_of(ev, v->kind)->text(ev, v, repr, out);
			return;
		}
		strbuf_printf(out, v->kind == PV_NONE ? "%s" : "<%s>",
			      pv_kind_name(v->kind));
		return;
	}
}
