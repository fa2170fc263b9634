/* SPDX-License-Identifier: Apache-2.0 */
/* tvm.tir.ir_builder: builds the body of an external function or of an
 * instruction from statements.
 *
 * ib = tvm.tir.ir_builder.create()
 * a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
 * with ib.for_range(0, n, "i") as i:
 *     b[i] = a[i] + 1.0
 * ib.get() */
#include "ir_builder.h"
#include "te_parts.h"

/* A scope that a `with` statement opens and closes. */
struct pv_ir_scope {
	struct ir_builder *builder;
	struct ir_scope scope;
};

static struct ir_builder *
builder_of(struct call *c)
{
	return c->self.u.ir_builder;
}

bool
ir_builder_create(struct call *c, struct pval *out)
{
	struct ir_builder *b = arena_new(c->ev->a, struct ir_builder);

	ir_builder_init(b, c->ev->m);
	*out = (struct pval){ .kind = PV_IR_BUILDER, .u.ir_builder = b };
	return true;
}

/* -- scopes -- */

static bool
too_deep(struct eval *ev, struct py_span at)
{
	return eval_error(ev, at, "more than %d nested scopes",
			  IR_BUILDER_DEPTH);
}

/* May b get more statements? False after an error: those that it gets after
 * its end are in no function. */
static bool
unfinished(struct eval *ev, struct py_span at, const struct ir_builder *b)
{
	return !b->finished ||
	       eval_error(ev, at,
			  "the function is finished and takes no more "
			  "statements");
}

bool
ir_builder_begin(struct eval *ev, struct py_span at, struct ir_builder *b,
		 const struct ir_scope *scope)
{
	return unfinished(ev, at, b) &&
	       (ir_builder_open(b, scope) || too_deep(ev, at));
}

static struct pval
scope_value(struct call *c, const struct ir_scope *scope)
{
	struct pv_ir_scope *s = arena_new(c->ev->a, struct pv_ir_scope);

	s->builder = builder_of(c);
	s->scope = *scope;
	return (struct pval){ .kind = PV_IR_SCOPE, .u.ir_scope = s };
}

/* Enters `with ib.for_range(…) as i`: opens the scope; *out is the variable of
 * the loop, or None. Returns false after an error. */
static bool
enter_scope(struct eval *ev, struct py_span at, const struct pval *v,
	    struct pval *out)
{
	const struct pv_ir_scope *s = v->u.ir_scope;

	if (s->scope.kind == IR_SCOPE_ELSE &&
	    !ir_builder_can_else(s->builder)) {
		return eval_error(ev, at,
				  "else_scope() comes directly after an "
				  "if_scope()");
	}
	*out = s->scope.var ? pv_expr(s->scope.var->expr, 1) : pv_none();
	return ir_builder_begin(ev, at, s->builder, &s->scope);
}

static void
leave_scope(struct eval *ev, const struct pval *v)
{
	(void)ev;
	ir_builder_close(v->u.ir_scope->builder);
}

/* Sets *out to the kind of loop that argument i names; if the argument is
 * absent, *out does not change. Returns false after an error. */
static bool
loop_kind(struct call *c, int i, enum for_kind *out)
{
	static const struct {
		const char *name;
		enum for_kind kind;
	} kinds[] = {
		{ "serial", FOR_SERIAL },
		{ "parallel", FOR_PARALLEL },
		{ "vectorize", FOR_VECTORIZED },
		{ "vectorized", FOR_VECTORIZED },
		{ "unroll", FOR_UNROLLED },
		{ "unrolled", FOR_UNROLLED },
	};
	const char *name;

	if (!arg_given(c, i)) {
		return true;
	}
	if (!arg_text(c, i, &name)) {
		return false;
	}
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		if (strcmp(kinds[k].name, name) == 0) {
			*out = kinds[k].kind;
			return true;
		}
	}
	return call_error(c, i,
			  "there is no loop of the kind %s; there are serial, "
			  "parallel, vectorize and unroll",
			  name);
}

/* Implements for_range(begin, end, name, dtype, kind): a scope that is the body
 * of a loop. Returns false after an error. */
bool
ir_builder_for_range(struct call *c, struct pval *out)
{
	struct eval *ev = c->ev;
	struct ir_scope s = { .kind = IR_SCOPE_FOR, .how = FOR_SERIAL };
	const char *name = "i";
	struct pval extent;
	struct dtype type;
	int depth;

	if (!arg_expr(c, 0, &s.first, &depth) ||
	    !eval_binary(ev, c->spans[1], PY_OP_SUB, &c->args[1], &c->args[0],
			 &extent) ||
	    !value_expr(ev, c->spans[1], &extent, &s.extent, &depth) ||
	    (arg_given(c, 2) && !arg_text(c, 2, &name)) ||
	    !loop_kind(c, 4, &s.how) || !loop_kind(c, 5, &s.how)) {
		return false;
	}
	type = s.extent->type;
	if (arg_given(c, 3) && !arg_dtype(c, 3, &type)) {
		return false;
	}
	if (!dtype_is_int(type) || type.lanes != 1 ||
	    !dtype_is_int(s.first->type) || !dtype_is_int(s.extent->type)) {
		return call_error(c, 0, "the bounds of a loop are integers");
	}
	s.first = expr_cast(ev->m, type, s.first);
	s.extent = expr_cast(ev->m, type, s.extent);
	s.var = var_new(ev->m, name, type);
	*out = scope_value(c, &s);
	return true;
}

static bool
arg_condition(struct call *c, int i, const struct expr **out)
{
	int depth;

	if (!arg_expr(c, i, out, &depth)) {
		return false;
	}
	return dtype_class((*out)->type) == DTC_BOOL ||
	       call_error(c, i, "a condition is needed, not %s",
			  dtype_name((*out)->type));
}

bool
ir_builder_if_scope(struct call *c, struct pval *out)
{
	struct ir_scope s = { .kind = IR_SCOPE_IF };

	if (!arg_condition(c, 0, &s.value)) {
		return false;
	}
	*out = scope_value(c, &s);
	return true;
}

bool
ir_builder_while_loop(struct call *c, struct pval *out)
{
	struct ir_scope s = { .kind = IR_SCOPE_WHILE };

	if (!arg_condition(c, 0, &s.value)) {
		return false;
	}
	*out = scope_value(c, &s);
	return true;
}

/* Implements else_scope() and new_scope(). */
bool
ir_builder_other_scope(struct call *c, struct pval *out)
{
	struct ir_scope s = { .kind = c->row->name[0] == 'e' ? IR_SCOPE_ELSE
							     : IR_SCOPE_PLAIN };

	*out = scope_value(c, &s);
	return true;
}

/* scope_attr(thread axis, "thread_extent", n): the following statements of the
 * scope run in n threads. */
bool
ir_builder_scope_attr(struct call *c, struct pval *out)
{
	struct ir_scope s = { .kind = IR_SCOPE_FOR,
			      .implicit = true,
			      .how = FOR_THREAD };
	const struct axis *axis = c->args[0].u.axis;
	const char *key;
	int depth;

	(void)out;
	if (!arg_text(c, 1, &key)) {
		return false;
	}
	if (c->args[0].kind != PV_THREAD ||
	    (strcmp(key, "thread_extent") != 0 &&
	     strcmp(key, "virtual_thread") != 0)) {
		return call_error(c, 1,
				  "only the attributes thread_extent and "
				  "virtual_thread of a thread axis are read "
				  "here; give loops a kind, and buffers a "
				  "scope, where they are made");
	}
	if (!arg_expr(c, 2, &s.extent, &depth)) {
		return false;
	}
	if (!dtype_is_int(s.extent->type)) {
		return call_error(c, 2, "the extent of a thread is an integer");
	}
	s.var = axis->iv.var;
	s.thread = axis->thread;
	s.first = expr_int(c->ev->m, s.var->type, 0);
	s.extent = expr_cast(c->ev->m, s.var->type, s.extent);
	return ir_builder_begin(c->ev, c->span, builder_of(c), &s);
}

/* let(name, value): a variable with this value, until the end of the scope. */
bool
ir_builder_let(struct call *c, struct pval *out)
{
	struct ir_scope s = { .kind = IR_SCOPE_LET, .implicit = true };
	const char *name;
	int depth;

	if (!arg_text(c, 0, &name) || !arg_expr(c, 1, &s.value, &depth)) {
		return false;
	}
	s.var = var_new(c->ev->m, name, s.value->type);
	*out = pv_expr(s.var->expr, 1);
	return ir_builder_begin(c->ev, c->span, builder_of(c), &s);
}

/* -- buffers -- */

struct pval
ir_pointer(struct eval *ev, struct ir_builder *b, const struct buffer *buffer)
{
	struct pv_pointer *p = arena_new(ev->a, struct pv_pointer);

	p->builder = b;
	p->buffer = buffer;
	return (struct pval){ .kind = PV_POINTER, .depth = 1, .u.pointer = p };
}

bool
ir_builder_new_buffer(struct eval *ev, struct py_span at, struct ir_builder *b,
		      const struct buffer_spec *spec, struct pval *out)
{
	struct ir_scope s = { .kind = IR_SCOPE_ALLOC, .implicit = true };

	s.buffer = buffer_new(ev->m, spec);
	*out = ir_pointer(ev, b, s.buffer);
	return ir_builder_begin(ev, at, b, &s);
}

/* Implements allocate(dtype, shape, name, scope). */
bool
ir_builder_allocate(struct call *c, struct pval *out)
{
	struct buffer_spec spec = { .name = "buf", .scope = "global" };
	const struct expr **shape;

	if (!arg_dtype(c, 0, &spec.type) ||
	    !arg_shape(c, 1, &shape, &spec.ndim) ||
	    (arg_given(c, 2) && !arg_text(c, 2, &spec.name)) ||
	    (arg_given(c, 3) && !arg_text(c, 3, &spec.scope))) {
		return false;
	}
	spec.shape = shape;
	return ir_builder_new_buffer(c->ev, c->span, builder_of(c), &spec, out);
}

/* buffer_ptr(buffer): a pointer through which elements can be read and
 * assigned, with an index for each dimension or a single index that counts from
 * the first element. */
bool
ir_builder_pointer(struct call *c, struct pval *out)
{
	if (c->args[0].kind != PV_BUFFER) {
		return value_kind_error(c, 0, "a buffer");
	}
	*out = ir_pointer(c->ev, builder_of(c), c->args[0].u.buffer);
	return true;
}

static bool
pointer_subscript(struct eval *ev, struct py_span at, const struct pval *of,
		  const struct pval *index, struct pval *out)
{
	return buffer_load(ev, at, of->u.pointer->buffer, index, out);
}

static bool
pointer_set(struct eval *ev, struct py_span at, const struct pval *of,
	    const struct pval *index, const struct pval *v)
{
	const struct pv_pointer *p = of->u.pointer;
	struct stmt *s;

	if (!p->builder) {
		return eval_error(ev, at, "%s is an input and is not assigned",
				  p->buffer->name);
	}
	if (!unfinished(ev, at, p->builder) ||
	    !buffer_store(ev, at, p->builder->f, p->buffer, index, v, &s)) {
		return false;
	}
	ir_builder_emit(p->builder, s);
	return true;
}

/* As an operand of an expression, a pointer is the address of the first
 * element. */
static bool
pointer_operand(struct eval *ev, struct py_span at, const struct pval *v,
		struct typed *out)
{
	(void)at;
	*out = typed_expr(buffer_first_address(ev->m, v->u.pointer->buffer));
	return true;
}

bool
pointer_attribute(struct call *c, struct pval *out)
{
	struct call of = *c;

	of.self = pv_any(PV_BUFFER, c->self.u.pointer->buffer);
	if (strcmp(c->row->name, "dtype") == 0) {
		return expr_dtype(&of, out);
	}
	return tensor_attribute(&of, out);
}

static bool
pointer_length(const struct pval *v, int64_t *out)
{
	const struct buffer *b = v->u.pointer->buffer;

	return b->ndim > 0 && expr_is_int(b->shape[0], out);
}

bool
pointer_same(struct call *c, struct pval *out)
{
	*out = c->self;
	return true;
}

/* -- statements -- */

bool
ir_builder_emit_value(struct call *c, struct pval *out)
{
	struct ir_builder *b = builder_of(c);
	struct stmt *s;

	(void)out;
	if (!unfinished(c->ev, c->span, b) ||
	    !value_stmt(c->ev, c->spans[0], &c->args[0], b->f, &s)) {
		return false;
	}
	ir_builder_emit(b, s);
	return true;
}

/* likely(e): returns e, because tirc does not use the hint. */
bool
ir_builder_likely(struct call *c, struct pval *out)
{
	*out = c->args[0];
	return true;
}

bool
ir_builder_get(struct call *c, struct pval *out)
{
	struct stmt *s = ir_builder_finish(builder_of(c));

	if (!s) {
		return call_error(c, -1,
				  "get() is called inside of a scope; call it "
				  "after the with statements");
	}
	*out = (struct pval){ .kind = PV_STMT, .u.stmt = s };
	return true;
}

const struct kind_ops ir_scope_ops = { .enter = enter_scope,
				       .leave = leave_scope };
const struct kind_ops pointer_ops = { .subscript = pointer_subscript,
				      .set_element = pointer_set,
				      .operand = pointer_operand,
				      .length = pointer_length };
