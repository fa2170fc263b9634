/* SPDX-License-Identifier: Apache-2.0 */
/* The classes that a program defines, and their objects. */
#include "objects.h"

/* -- classes -- */

bool
class_derives(const struct pv_class *c, const struct pv_class *base)
{
	if (c == base) {
		return true;
	}
	for (int i = 0; i < c->bases.n; i++) {
		if (class_derives(c->bases.data[i], base)) {
			return true;
		}
	}
	return false;
}

/* The value of an attribute that the class or one of its bases defines; NULL if
 * none of them does. */
static const struct pval *
class_find(struct eval *ev, const struct pv_class *c, const char *name)
{
	const struct pval *found = NULL;

	if (c->names) {
		ev->steps += c->names->names.n / 16;
		for (int i = 0; i < c->names->names.n; i++) {
			if (strcmp(c->names->names.data[i].name, name) == 0) {
				return &c->names->names.data[i].value;
			}
		}
	}
	for (int i = 0; found == NULL && i < c->bases.n; i++) {
		ev->steps++;
		found = class_find(ev, c->bases.data[i], name);
	}
	return found;
}

/* The number of paths from c to itself and to its bases, their bases, and so
 * on. The number is limited, because a look-up of an attribute follows all
 * these paths. */
static int
class_height(const struct pv_class *c)
{
	int height = 1;

	for (int i = 0; i < c->bases.n; i++) {
		height += class_height(c->bases.data[i]);
	}
	return height;
}

bool
object_define_class(struct eval *ev, struct scope *s, const struct py_node *e,
		    struct pval *out)
{
	struct pv_class *c = arena_new(ev->a, struct pv_class);
	struct pval unused;
	enum flow flow;

	c->name = e->text;
	for (int i = 1; i < e->n_kids; i++) {
		struct pval base;

		if (!eval_expr(ev, s, e->kids[i], &base)) {
			return false;
		}
		if (base.kind == PV_USER_CLASS) {
			vec_push(ev->a, &c->bases, base.u.class);
			c->is_exception |= base.u.class->is_exception;
		} else if (base.kind != PV_BUILTIN && base.kind != PV_CLASS) {
			return eval_error(ev, e->kids[i]->span,
					  "a class derives from classes, not "
					  "from %s",
					  pv_kind_name(base.kind));
		}
	}
	if (class_height(c) > 100) {
		return eval_error(ev, e->span,
				  "a class cannot have more than 100 classes "
				  "above it");
	}
	c->names = arena_new(ev->a, struct scope);
	c->names->parent = s;
	c->names->of = c;
	flow = eval_suite(ev, c->names, e->kids[0], &unused);
	if (flow != FLOW_NEXT && flow != FLOW_ERROR) {
		return eval_error(ev, ev->left_at,
				  "return, break and continue are not allowed "
				  "in a class");
	}
	*out = (struct pval){ .kind = PV_USER_CLASS, .u.class = c };
	return flow == FLOW_NEXT;
}

/* -- objects -- */

static struct pval
bound(struct eval *ev, const struct pval *f, const struct pval *self)
{
	struct pv_bound *b = arena_new(ev->a, struct pv_bound);

	b->f = *f;
	b->self = *self;
	return (struct pval){ .kind = PV_BOUND, .u.bound = b };
}

/* Sets *out to the value of an attribute that was found in a class: binds a
 * method to self, calls a property, unwraps a static method. self: an object or
 * the class itself. */
static bool
attribute_value(struct eval *ev, struct py_span at, const struct pval *found,
		const struct pval *self, struct pval *out)
{
	const struct pv_wrapped *w = found->u.wrapped;
	bool is_object = self->kind == PV_OBJECT;
	struct pval class = *self;

	if (found->kind == PV_WRAPPED) {
		if (w->how == WRAPPED_STATIC) {
			*out = w->f;
			return true;
		}
		if (w->how == WRAPPED_PROPERTY) {
			*out = *found;
			return !is_object ||
			       eval_apply(ev, at, &w->f, self, 1, out);
		}
		if (is_object) {
			class = (struct pval){ .kind = PV_USER_CLASS,
					       .u.class = self->u.object->of };
		}
		*out = bound(ev, &w->f, &class);
		return true;
	}
	*out = found->kind == PV_CLOSURE && is_object ? bound(ev, found, self)
						      : *found;
	return true;
}

/* The attribute `name` that the object itself has; attributes of its class do
 * not count. NULL if it has no such attribute. */
static struct pval *
own_attribute(struct eval *ev, struct pv_object *o, const char *name)
{
	ev->steps += o->names.names.n / 16;
	for (int i = 0; i < o->names.names.n; i++) {
		if (strcmp(o->names.names.data[i].name, name) == 0) {
			return &o->names.names.data[i].value;
		}
	}
	return NULL;
}

static bool
is_super(const struct pval *v)
{
	return v->kind == PV_SUPER;
}

bool
object_attribute(struct eval *ev, struct py_span at, const struct pval *of,
		 const char *name, struct pval *out, bool *found)
{
	const struct pv_class *c = of->kind == PV_OBJECT ? of->u.object->of
				   : is_super(of)        ? of->u.super->of
							 : of->u.class;
	const struct pval *self = is_super(of) ? &of->u.super->self : of;
	const struct pval *v = NULL;

	*found = true;
	if (of->kind == PV_OBJECT) {
		v = own_attribute(ev, of->u.object, name);
		if (v) {
			*out = *v;
			return true;
		}
		if (strcmp(name, "__class__") == 0) {
			*out = (struct pval){ .kind = PV_USER_CLASS,
					      .u.class = c };
			return true;
		}
	}
	for (int i = 0; is_super(of) && v == NULL && i < c->bases.n; i++) {
		v = class_find(ev, c->bases.data[i], name);
	}
	v = is_super(of) ? v : class_find(ev, c, name);
	if (v) {
		return attribute_value(ev, at, v, self, out);
	}
	if (of->kind == PV_USER_CLASS && strcmp(name, "__name__") == 0) {
		*out = pv_string(ev, c->name);
		return true;
	}
	*found = false;
	return true;
}

bool
object_set_attribute(struct eval *ev, struct py_span at, const struct pval *of,
		     const char *name, const struct pval *v)
{
	if (of->kind == PV_OBJECT) {
		eval_scope_set(ev, &of->u.object->names, name, v);
		return eval_tick(ev, at, 1);
	}
	if (of->kind == PV_USER_CLASS && of->u.class->names) {
		eval_scope_set(ev, of->u.class->names, name, v);
		return eval_tick(ev, at, 1);
	}
	return eval_raise(ev, at, "AttributeError",
			  "the attribute %s of %s cannot be set", name,
			  pv_kind_name(of->kind));
}

bool
object_new(struct eval *ev, struct py_span at, const struct pval *of,
	   const struct call_args *args, struct pval *out)
{
	struct pv_object *o = arena_new(ev->a, struct pv_object);
	struct pval init, none;
	bool found;

	o->of = of->u.class;
	*out = (struct pval){ .kind = PV_OBJECT, .u.object = o };
	if (o->of->is_exception) {
		none = pv_list_of(ev, PV_TUPLE, args->values.data,
				  args->values.n);
		eval_scope_set(ev, &o->names, "args", &none);
	}
	if (!object_attribute(ev, at, out, "__init__", &init, &found)) {
		return false;
	}
	if (found) {
		return eval_call(ev, at, &init, args, &none);
	}
	return args->values.n == 0 || o->of->is_exception ||
	       eval_raise(ev, at, "TypeError",
			  "%s() takes no arguments, since the class has no "
			  "__init__",
			  o->of->name);
}

bool
object_special(struct eval *ev, struct py_span at, const struct pval *v,
	       const char *name, const struct pval *args, int n,
	       struct pval *out, bool *found)
{
	struct pval method;

	*found = false;
	if (v->kind != PV_OBJECT) {
		return true;
	}
	return object_attribute(ev, at, v, name, &method, found) &&
	       (!*found || eval_apply(ev, at, &method, args, n, out));
}

/* The methods by which objects define operators. For x + y, `left` is called on
 * x, or else `right` on y. */
static const struct {
	enum py_operator op;
	const char *left, *right;
} operators[] = {
	{ PY_OP_ADD, "__add__", "__radd__" },
	{ PY_OP_SUB, "__sub__", "__rsub__" },
	{ PY_OP_MUL, "__mul__", "__rmul__" },
	{ PY_OP_DIV, "__truediv__", "__rtruediv__" },
	{ PY_OP_FLOORDIV, "__floordiv__", "__rfloordiv__" },
	{ PY_OP_MOD, "__mod__", "__rmod__" },
	{ PY_OP_POW, "__pow__", "__rpow__" },
	{ PY_OP_BITAND, "__and__", "__rand__" },
	{ PY_OP_BITOR, "__or__", "__ror__" },
	{ PY_OP_BITXOR, "__xor__", "__rxor__" },
	{ PY_OP_SHL, "__lshift__", "__rlshift__" },
	{ PY_OP_SHR, "__rshift__", "__rrshift__" },
	{ PY_OP_EQ, "__eq__", "__eq__" },
	{ PY_OP_NE, "__ne__", "__ne__" },
	{ PY_OP_LT, "__lt__", "__gt__" },
	{ PY_OP_LE, "__le__", "__ge__" },
	{ PY_OP_GT, "__gt__", "__lt__" },
	{ PY_OP_GE, "__ge__", "__le__" },
};

bool
object_operator(struct eval *ev, struct py_span at, enum py_operator op,
		const struct pval *x, const struct pval *y, struct pval *out,
		bool *found)
{
	const size_t n = sizeof operators / sizeof *operators;

	*found = false;
	if (x->kind != PV_OBJECT && y->kind != PV_OBJECT) {
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (operators[i].op != op) {
			continue;
		}
		return object_special(ev, at, x, operators[i].left, y, 1, out,
				      found) &&
		       (*found || object_special(ev, at, y, operators[i].right,
						 x, 1, out, found));
	}
	return true;
}

/* Appends the text of an exception: its argument, or, if it has several, its
 * arguments as a tuple. Returns false if the object is not an exception. */
static bool
exception_text(struct eval *ev, struct pv_object *o, bool repr, int depth,
	       struct strbuf *out)
{
	const struct pval *args = own_attribute(ev, o, "args");

	if (!o->of->is_exception || !args || args->kind != PV_TUPLE) {
		return false;
	}
	if (repr) {
		strbuf_puts(out, o->of->name);
		strbuf_putc(out, '(');
		for (int i = 0; i < args->u.list->n; i++) {
			strbuf_puts(out, i > 0 ? ", " : "");
			pv_text(ev, &args->u.list->data[i], true, depth + 1,
				out);
		}
		strbuf_putc(out, ')');
	} else if (args->u.list->n == 1) {
		pv_text(ev, &args->u.list->data[0],
			strcmp(o->of->name, "KeyError") == 0, depth + 1, out);
	} else if (args->u.list->n > 1) {
		pv_text(ev, args, false, depth + 1, out);
	}
	return true;
}

void
object_put(struct eval *ev, const struct pval *v, bool repr, int depth,
	   struct strbuf *out)
{
	struct py_span at = { 0 };
	struct pval text;
	bool found = false;

	if ((!repr &&
	     !object_special(ev, at, v, "__str__", NULL, 0, &text, &found)) ||
	    (!found &&
	     !object_special(ev, at, v, "__repr__", NULL, 0, &text, &found))) {
		return;
	}
	if (found && text.kind == PV_STRING) {
		strbuf_write(out, text.u.text.data, text.u.text.n);
	} else if (found) {
		eval_raise(ev, at, "TypeError",
			   "the text of an object is a str, not %s",
			   pv_kind_name(text.kind));
	} else if (!exception_text(ev, v->u.object, repr, depth, out)) {
		strbuf_printf(out, "<__main__.%s object>",
			      v->u.object->of->name);
	}
}

bool
object_text(struct eval *ev, struct py_span at, const struct pval *v, bool repr,
	    struct strbuf *out)
{
	int errors = ev->m->diags.n_errors, first = ev->m->diags.list.n;

	pv_text(ev, v, repr, 0, out);
	return !ev->left_out &&
	       (ev->m->diags.n_errors == errors || eval_locate(ev, at, first));
}

bool
object_iterator(struct eval *ev, struct py_span at, const struct pval *v,
		struct pval *out)
{
	struct pv_iterator *i = arena_new(ev->a, struct pv_iterator);

	if (v->kind == PV_ITERATOR) {
		*out = *v;
		return true;
	}
	*out = (struct pval){ .kind = PV_ITERATOR, .u.iterator = i };
	return eval_items(ev, at, v, &i->items, &i->n);
}
