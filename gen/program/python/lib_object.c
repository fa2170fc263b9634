/* SPDX-License-Identifier: Apache-2.0 */
/* Implements Python's built-in functions on classes, objects and iterators. */
#include "objects.h"
#include "python_parts.h"

/* Implements staticmethod, classmethod and property. */
bool
python_wrap(struct call *c, struct pval *out)
{
	struct pv_wrapped *w = arena_new(c->ev->a, struct pv_wrapped);
	char kind = c->row->name[0];

	w->how = kind == 's'   ? WRAPPED_STATIC
		 : kind == 'c' ? WRAPPED_CLASS
			       : WRAPPED_PROPERTY;
	w->f = c->args[0];
	*out = (struct pval){ .kind = PV_WRAPPED, .u.wrapped = w };
	return true;
}

/* super(). In a method, self is the first name of the method's scope. */
bool
python_super(struct call *c, struct pval *out)
{
	struct pv_super *v = arena_new(c->ev->a, struct pv_super);
	struct scope *s = c->ev->frame;

	while (s && !s->method_of) {
		s = s->parent;
	}
	if (arg_given(c, 0) && arg_given(c, 1)) {
		if (c->args[0].kind != PV_USER_CLASS) {
			return value_kind_error(c, 0, "a class");
		}
		v->of = c->args[0].u.class;
		v->self = c->args[1];
	} else if (s && s->names.n > 0) {
		v->of = s->method_of;
		v->self = s->names.data[0].value;
	} else {
		return call_error(c, -1, "super() is for methods of classes");
	}
	*out = (struct pval){ .kind = PV_SUPER, .u.super = v };
	return true;
}

/* super().__init__ if no base of the class defines it: stores the arguments of
 * an exception. */
bool
super_init(struct call *c, struct pval *out)
{
	const struct pval *self = &c->self.u.super->self;

	(void)out;
	if (self->kind == PV_OBJECT && self->u.object->of->is_exception) {
		struct pval args = c->args[0];

		eval_scope_set(c->ev, &self->u.object->names, "args", &args);
	}
	return true;
}

/* Sets *out to an attribute, and *found to whether there is one. Returns false
 * after an error; a missing attribute is not an error. */
static bool
try_attribute(struct call *c, struct pval *out, bool *found)
{
	struct eval *ev = c->ev;
	int errors = ev->m->diags.list.n;
	const char *name;

	if (!arg_text(c, 1, &name)) {
		return false;
	}
	*found = eval_attribute(ev, c->span, &c->args[0], name, out);
	if (!*found) {
		if (ev->fatal) {
			return false;
		}
		diags_drop_errors(&ev->m->diags, errors, DIAG_COUNT);
		ev->raised.kind = PV_MISSING;
	}
	return true;
}

bool
python_getattr(struct call *c, struct pval *out)
{
	bool found;

	if (!try_attribute(c, out, &found)) {
		return false;
	}
	if (!found && arg_missing(c, 2)) {
		return eval_raise(c->ev, c->span, "AttributeError",
				  "%s has no attribute %s",
				  pv_kind_name(c->args[0].kind),
				  c->args[1].u.text.data);
	}
	*out = found ? *out : c->args[2];
	return true;
}

bool
python_hasattr(struct call *c, struct pval *out)
{
	struct pval v;
	bool found;

	if (!try_attribute(c, &v, &found)) {
		return false;
	}
	*out = pv_bool(found);
	return true;
}

bool
python_setattr(struct call *c, struct pval *out)
{
	const char *name;

	(void)out;
	return arg_text(c, 1, &name) &&
	       object_set_attribute(c->ev, c->span, &c->args[0], name,
				    &c->args[2]);
}

bool
python_iter(struct call *c, struct pval *out)
{
	return object_iterator(c->ev, c->span, &c->args[0], out);
}

bool
python_next(struct call *c, struct pval *out)
{
	struct pv_iterator *i = c->args[0].u.iterator;
	bool found;

	if (c->args[0].kind == PV_OBJECT) {
		return object_special(c->ev, c->span, &c->args[0], "__next__",
				      NULL, 0, out, &found) &&
		       (found || value_kind_error(c, 0, "an iterator"));
	}
	if (c->args[0].kind != PV_ITERATOR) {
		return value_kind_error(c, 0, "an iterator");
	}
	if (i->at < i->n) {
		*out = i->items[i->at++];
		return true;
	}
	*out = c->args[1];
	return !arg_missing(c, 1) || eval_raise(c->ev, c->span, "StopIteration",
						"the iterator has no more "
						"items");
}

/* object(): an object without attributes. */
bool
python_object(struct call *c, struct pval *out)
{
	struct pv_class *class = arena_new(c->ev->a, struct pv_class);
	struct pv_object *o = arena_new(c->ev->a, struct pv_object);

	class->name = "object";
	o->of = class;
	*out = (struct pval){ .kind = PV_OBJECT, .u.object = o };
	return true;
}
