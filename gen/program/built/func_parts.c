/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of PrimFuncs, and PrimFunc.specialize. */
#include "build_parts.h"
#include "iterate.h"
#include "target_facts.h"

/* -- attributes */

/* PrimFunc.buffer_map: a dict from the variables of parameters to their
 * buffers. */
bool
func_buffer_map(struct call *c, struct pval *out)
{
	const struct func *f = c->self.u.func->func;

	*out = pv_dict_new(c->ev);
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];

		if (p->buffer) {
			vec_push(c->ev->a, &out->u.dict->keys,
				 pv_expr(p->var->expr, 1));
			vec_push(c->ev->a, &out->u.dict->values,
				 pv_any(PV_BUFFER, p->buffer));
		}
	}
	return true;
}

/* PrimFunc.attrs: a dict of the names and values of the attributes, which are
 * texts or numbers. */
bool
func_attrs(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	const struct func *f = c->self.u.func->func;

	*out = pv_dict_new(ev);
	for (const struct note *n = func_attributes(f); n; n = n->next) {
		const struct pval key = pv_string(ev, n->key);
		struct pval value = pv_none();

		if (n->value && n->value->kind == EXPR_STRING) {
			value = pv_string(ev, n->value->u.text);
		} else if (n->value) {
			value = pv_expr(n->value, 1);
		}
		if (!dict_set(ev, c->span, out->u.dict, &key, &value)) {
			return false;
		}
	}
	return true;
}

/* -- specialize */

/* A call of specialize: the constants that replace sizes of the function. */
struct special {
	struct call *c;
	struct func *f;
	struct var_map sizes;
};

static bool
set_size(struct special *s, struct var *v, const struct expr *e)
{
	const struct expr *constant;

	if (!typed_fits(&s->c->ev->typing, s->c->spans[0], e, v->type,
			"give a value that the size's type holds")) {
		return false;
	}
	constant = expr_cast(s->c->ev->m, v->type, e);
	if (constant->kind != EXPR_INT && constant->kind != EXPR_FLOAT) {
		return call_error(s->c, 0,
				  "%s must be replaced by a constant, not by "
				  "an expression",
				  v->name);
	}
	for (int i = 0; i < s->sizes.n; i++) {
		if (s->sizes.from[i] == v) {
			return s->sizes.to[i] == constant ||
			       call_error(s->c, 0,
					  "%s would have two values: give it "
					  "once, or the same",
					  v->name);
		}
	}
	s->sizes.from[s->sizes.n] = v;
	s->sizes.to[s->sizes.n++] = constant;
	return true;
}

/* Takes the sizes of a parameter from the buffer `to`. Returns false after an
 * error if the types or constant sizes differ. */
static bool
match(struct special *s, const struct buffer *from, const struct buffer *to)
{
	if (from->ndim != to->ndim || !dtype_equal(from->type, to->type)) {
		return call_error(s->c, 0,
				  "%s has %d dimensions of %s, the buffer for "
				  "it %d of %s",
				  from->name, from->ndim,
				  dtype_name(from->type), to->ndim,
				  dtype_name(to->type));
	}
	for (int i = 0; i < from->ndim; i++) {
		const struct expr *size = from->shape[i];
		int64_t have, want;

		if (size->kind == EXPR_VAR) {
			if (!set_size(s, size->u.var, to->shape[i])) {
				return false;
			}
			continue;
		}
		if (!expr_is_int(size, &have) ||
		    !expr_is_int(to->shape[i], &want) || have != want) {
			return call_error(s->c, 0,
					  "dimension %d of %s is not a "
					  "variable, and the buffer for it has "
					  "another size there",
					  i, from->name);
		}
	}
	return true;
}

static const struct param *
param_of(const struct func *f, const struct pval *key)
{
	for (int i = 0; i < f->params.n; i++) {
		const struct param *p = &f->params.data[i];

		if ((key->kind == PV_EXPR && key->u.expr == p->var->expr) ||
		    (key->kind == PV_BUFFER && key->u.buffer == p->buffer)) {
			return p;
		}
	}
	return NULL;
}

static bool
take_argument(struct special *s, const struct pval *key,
	      const struct pval *value)
{
	const struct param *p = param_of(s->f, key);
	const struct expr *e;
	int depth;

	if (!p) {
		return call_error(s->c, 0,
				  "only parameters of the function "
				  "are specialized");
	}
	if (p->buffer) {
		return value->kind == PV_BUFFER
			       ? match(s, p->buffer, value->u.buffer)
			       : call_error(s->c, 0,
					    "%s is a buffer; give one of "
					    "tir.decl_buffer",
					    p->buffer->name);
	}
	return value_expr(s->c->ev, s->c->spans[0], value, &e, &depth) &&
	       set_size(s, p->var, e);
}

/* A copy of b in whose shape and strides the specialized parameters are constants;
 * NULL if they use none of these parameters. */
static struct buffer *
special_buffer(struct special *s, const struct buffer *b)
{
	struct module *m = s->c->ev->m;
	const struct expr **shape = arena_exprs(&m->arena, b->ndim + 1);
	const struct expr **strides = arena_exprs(&m->arena, b->ndim + 1);
	struct buffer_spec spec = { .name = b->name,
				    .type = b->type,
				    .ndim = b->ndim,
				    .shape = shape,
				    .strides = b->strides ? strides : NULL,
				    .scope = b->scope,
				    .align_bytes = b->align_bytes };
	bool same = true;

	for (int i = 0; i < b->ndim; i++) {
		shape[i] = expr_substitute(m, b->shape[i], &s->sizes);
		same &= shape[i] == b->shape[i];
		if (b->strides) {
			strides[i] = expr_substitute(m, b->strides[i],
						     &s->sizes);
			same &= strides[i] == b->strides[i];
		}
	}
	return same ? NULL : buffer_new(m, &spec);
}

static void
specialize_allocs(struct special *s)
{
	VEC(const struct buffer *) all = { 0 };
	struct stmt *at;

	for (struct stmt_iter it = stmt_each(s->f->body);
	     (at = stmt_next(&it));) {
		if (at->kind == STMT_ALLOC) {
			vec_push(s->c->ev->a, &all, at->u.buffer);
		}
		for (int i = 0;
		     at->kind == STMT_BLOCK && i < at->u.block->n_allocs; i++) {
			vec_push(s->c->ev->a, &all, at->u.block->allocs[i]);
		}
	}
	for (int i = 0; i < all.n; i++) {
		const struct buffer *to = special_buffer(s, all.data[i]);

		if (to) {
			stmt_replace_buffer(s->f, s->f->body, all.data[i], to);
		}
	}
}

/* Removes the parameters that have become constants. */
static void
drop_params(struct special *s)
{
	int n = 0;

	for (int i = 0; i < s->f->params.n; i++) {
		bool gone = false;

		for (int k = 0; k < s->sizes.n; k++) {
			gone |= !s->f->params.data[i].buffer &&
				s->sizes.from[k] == s->f->params.data[i].var;
		}
		if (!gone) {
			s->f->params.data[n++] = s->f->params.data[i];
		}
	}
	s->f->params.n = n;
}

bool
func_specialize(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct program_func *made = arena_copy(ev->a, c->self.u.func,
					       sizeof *made);
	const struct pv_dict *d = c->args[0].u.dict;
	struct special s = { .c = c };
	int n;

	if (c->args[0].kind != PV_DICT) {
		return value_kind_error(c, 0, "a dict");
	}
	s.f = func_clone(made->func, made->func->name);
	n = d->keys.n + 1;
	for (int i = 0; i < s.f->params.n; i++) {
		const struct buffer *b = s.f->params.data[i].buffer;

		n += b ? b->ndim : 0;
	}
	s.sizes.from = arena_array(ev->a, struct var *, n);
	s.sizes.to = arena_exprs(ev->a, n);
	for (int i = 0; i < d->keys.n; i++) {
		if (!take_argument(&s, &d->keys.data[i], &d->values.data[i])) {
			return false;
		}
	}
	for (int i = 0; i < s.f->params.n; i++) {
		const struct buffer *b = s.f->params.data[i].buffer;
		struct buffer *to = b ? special_buffer(&s, b) : NULL;

		if (to) {
			func_replace_param(s.f, b, to);
		}
	}
	specialize_allocs(&s);
	stmt_substitute(s.f, s.f->body, &s.sizes);
	drop_params(&s);
	made->func = s.f;
	made->plain = s.f;
	*out = (struct pval){ .kind = PV_FUNC, .u.func = made };
	return eval_tick(ev, c->span, 1000);
}
