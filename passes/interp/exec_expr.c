/* SPDX-License-Identifier: Apache-2.0 */
/* The executor's code for expressions. A value that is the same in all lanes is
 * uniform: it is computed once. Loads and divisions under a condition are
 * executed only in the lanes where the condition is true, and skipped if it is
 * true in no lane. */
#include "exec.h"
#include "iterate.h"

/* ---- hazards */

static bool needs_guard(const struct exec_builder *b, const struct expr *e);

static bool
is_hazard(const struct exec_builder *b, const struct expr *e)
{
	const struct exec_binding *binding;

	switch (e->kind) {
	case EXPR_LOAD:
		return true;
	case EXPR_DIV:
	case EXPR_TRUNCMOD:
	case EXPR_FLOORDIV:
	case EXPR_FLOORMOD:
		return !dtype_is_float(e->type) &&
		       (e->args[1]->kind != EXPR_INT ||
			e->args[1]->u.ival == 0);
	case EXPR_CALL:
		return !dtype_is_float(e->type);
	case EXPR_VAR:
		binding = exec_find(b, e->u.var);
		return binding && binding->value && binding->reg < 0 &&
		       needs_guard(b, binding->value);
	default:
		return false;
	}
}

/* Can the evaluation of e fault, because e contains a load or a division? Then
 * it must not run in lanes where the condition around e is false. */
static bool
needs_guard(const struct exec_builder *b, const struct expr *e)
{
	struct expr_iter it = expr_each(e);
	bool found = false;

	while (!found && (e = expr_next(&it)) != NULL) {
		found = is_hazard(b, e);
	}
	expr_stop(&it);
	return found;
}

/* ---- emitting */

static struct exec_op *
emit(struct exec_builder *b, enum exec_code code, struct dtype type,
     bool uniform)
{
	struct exec_op op = {
		.code = (uint8_t)code,
		.uniform = uniform,
		.type = type,
		.from = type,
		.dst = -1,
		.a = -1,
		.b = -1,
		.c = -1,
		.mask = b->mask,
		.index = -1,
		.direct = -1,
		.skippable = b->region_depth > 0,
	};

	vec_push(b->arena, &b->program->ops, op);
	return &b->program->ops.data[b->program->ops.n - 1];
}

static int
new_register(struct exec_builder *b, bool uniform)
{
	vec_push(b->arena, &b->reg_uniform, uniform);
	return b->reg_uniform.n - 1;
}

bool
exec_is_uniform(const struct exec_builder *b, int reg)
{
	if (reg >= EXEC_PRESET) {
		const struct exec_preset *p =
			&b->exec->presets.data[reg - EXEC_PRESET];

		return p->step == 0 && p->row_step == 0;
	}
	return b->reg_uniform.data[reg];
}

static int
emit_value(struct exec_builder *b, enum exec_code code, struct dtype type,
	   bool uniform, int a, int second, int c)
{
	int dst = new_register(b, uniform);
	struct exec_op *op = emit(b, code, type, uniform);

	op->dst = dst;
	op->a = a;
	op->b = second;
	op->c = c;
	op->a_uniform = !uniform && a >= 0 && exec_is_uniform(b, a);
	op->b_uniform = !uniform && second >= 0 && exec_is_uniform(b, second);
	return dst;
}

static int
add_preset(struct exec_builder *b, const struct exec_preset *preset)
{
	for (int i = 0; i < b->exec->presets.n; i++) {
		const struct exec_preset *p = &b->exec->presets.data[i];

		if (p->column == preset->column &&
		    p->value.u == preset->value.u &&
		    p->inner == preset->inner && p->step == preset->step &&
		    p->row_step == preset->row_step) {
			return EXEC_PRESET + i;
		}
	}
	vec_push(b->arena, &b->exec->presets, *preset);
	return EXEC_PRESET + b->exec->presets.n - 1;
}

int
exec_lane_table(struct exec_builder *b, int64_t step, int64_t row_step)
{
	struct exec_preset preset = {
		COLUMN_INT, { .i = 0 }, b->lanes.inner, step, row_step
	};

	return add_preset(b, &preset);
}

static int
constant(struct exec_builder *b, struct dtype t, union number value)
{
	struct exec_preset preset = { exec_column(t), value, 1, 0, 0 };

	return add_preset(b, &preset);
}

int
exec_constant_int(struct exec_builder *b, int64_t value)
{
	return constant(b, dtype_of(DT_I64), (union number){ .i = value });
}

int
exec_binary(struct exec_builder *b, enum expr_kind kind, struct dtype type,
	    struct dtype from, int x, int y)
{
	bool uniform = exec_is_uniform(b, x) && exec_is_uniform(b, y);
	int dst = emit_value(b, EXEC_BINARY, type, uniform, x, y, -1);
	struct exec_op *op = &b->program->ops.data[b->program->ops.n - 1];

	op->kind = (uint8_t)kind;
	op->from = from;
	return dst;
}

/* A register that has the value of `reg` in every lane: a copy if the value is
 * uniform; `reg` itself if it is not uniform or is a constant, which has its
 * value in every lane already. */
static int
widen(struct exec_builder *b, struct dtype t, int reg)
{
	if (!exec_is_uniform(b, reg) || reg >= EXEC_PRESET) {
		return reg;
	}
	int dst = emit_value(b, EXEC_BROADCAST, t, false, reg, -1, -1);

	return dst;
}

/* ---- regions */

struct exec_region
exec_region_begin(struct exec_builder *b, int condition, bool negated)
{
	struct dtype boolean = dtype_of(DT_BOOL);
	struct exec_region region = { b->mask, 0, b->memo.n };
	bool uniform = exec_is_uniform(b, condition);

	if (negated) {
		condition = emit_value(b, EXEC_NOT, boolean, uniform, condition,
				       -1, -1);
	}
	if (!uniform) {
		b->mask = region.mask < 0
				  ? condition
				  : exec_binary(b, EXPR_AND, boolean, boolean,
						condition, region.mask);
		condition = b->mask;
	}
	struct exec_op *skip = emit(b, EXEC_SKIP, boolean, uniform);

	skip->a = condition;
	region.skip = b->program->ops.n - 1;
	b->region_depth++;
	return region;
}

void
exec_region_end(struct exec_builder *b, struct exec_region region)
{
	b->program->ops.data[region.skip].index = b->program->ops.n;
	b->mask = region.mask;
	b->region_depth--;
	if (b->memo.n > region.memo) {
		b->memo.n = region.memo;
	}
}

/* ---- values */

static bool
address_is_uniform(const struct exec_builder *b, int index)
{
	const struct exec_address *at = &b->program->addresses.data[index];

	return at->stride == 0 && at->gather < 0;
}

static int
value_of_var(struct exec_builder *b, const struct expr *e)
{
	const struct exec_binding *binding = exec_find(b, e->u.var);
	int dst;

	if (!binding) {
		b->failed = true;
		return exec_constant_int(b, 0);
	}
	if (binding->reg >= 0) {
		return binding->reg;
	}
	if (binding->value) {
		return exec_value(b, binding->value);
	}
	if (dtype_is_float(e->type) || dtype_class(e->type) == DTC_HANDLE) {
		b->failed = true;
		return exec_constant_int(b, 0);
	}
	dst = emit_value(b, EXEC_ENV, e->type, true, -1, -1, -1);
	b->program->ops.data[b->program->ops.n - 1].index = binding->slot;
	if (e->u.var == b->lanes.var || e->u.var == b->lanes.row_var) {
		bool row = e->u.var == b->lanes.row_var;

		dst = exec_binary(b, EXPR_ADD, e->type, e->type, dst,
				  exec_lane_table(b, !row, row));
	}
	return dst;
}

static int
value_of_load(struct exec_builder *b, const struct expr *e)
{
	int at = exec_address(b, e->u.buffer, e->args);
	int dst;

	if (b->failed) {
		return 0;
	}
	dst = emit_value(b, EXEC_LOAD, e->type, address_is_uniform(b, at), -1,
			 -1, -1);
	b->program->ops.data[b->program->ops.n - 1].index = at;
	return dst;
}

/* Evaluates e, one of the two values of a choice. If e may fault, it is
 * evaluated only in lanes where the condition holds (if `negated`: does not
 * hold). */
static int
value_of_side(struct exec_builder *b, const struct expr *e, int condition,
	      bool negated)
{
	struct exec_region region;
	int reg;

	if (!needs_guard(b, e)) {
		return exec_value(b, e);
	}
	region = exec_region_begin(b, condition, negated);
	reg = exec_value(b, e);
	exec_region_end(b, region);
	return reg;
}

static int
choose(struct exec_builder *b, struct dtype t, int condition, int x, int y)
{
	bool uniform = exec_is_uniform(b, condition) && exec_is_uniform(b, x) &&
		       exec_is_uniform(b, y);

	if (!uniform) {
		x = widen(b, t, x);
		y = widen(b, t, y);
	}
	int dst = emit_value(b, EXEC_SELECT, t, uniform, x, y, condition);
	struct exec_op *op = &b->program->ops.data[b->program->ops.n - 1];

	/* For a choice, a_uniform says whether the condition is uniform. */
	op->a_uniform = exec_is_uniform(b, condition);
	op->b_uniform = false;
	return dst;
}

static int
value_of_choice(struct exec_builder *b, const struct expr *e)
{
	bool lazy = e->kind == EXPR_IF;
	int condition = exec_value(b, e->args[0]);
	int x = lazy ? value_of_side(b, e->args[1], condition, false)
		     : exec_value(b, e->args[1]);
	int y = lazy ? value_of_side(b, e->args[2], condition, true)
		     : exec_value(b, e->args[2]);

	return b->failed ? 0 : choose(b, e->type, condition, x, y);
}

static int
value_of_logical(struct exec_builder *b, const struct expr *e)
{
	struct dtype boolean = dtype_of(DT_BOOL);
	bool is_and = e->kind == EXPR_AND;
	int x = exec_value(b, e->args[0]);
	int y;

	if (!needs_guard(b, e->args[1])) {
		y = exec_value(b, e->args[1]);
		return exec_binary(b, e->kind, boolean, boolean, x, y);
	}
	y = value_of_side(b, e->args[1], x, !is_and);
	if (b->failed) {
		return 0;
	}
	/* In lanes in which y is not computed, the value of y is undefined, so
	 * the result is chosen by x and not combined from both. */
	return is_and ? choose(b, boolean, x, y,
			       constant(b, boolean, (union number){ .i = 0 }))
		      : choose(b, boolean, x,
			       constant(b, boolean, (union number){ .i = 1 }),
			       y);
}

static int
value_of_call(struct exec_builder *b, const struct expr *e)
{
	int args[3] = { -1, -1, -1 };
	bool uniform = true;

	if (!intrin_is_pure(e->u.intrin) || e->n_args > 3 || e->n_args < 1 ||
	    intrin_is_address(e->u.intrin) || e->u.intrin == INTRIN_PTR_ADD ||
	    /* the arguments of these intrinsics have two types */
	    e->u.intrin == INTRIN_NIBBLE ||
	    e->u.intrin == INTRIN_SCALE_NEAREST ||
	    (e->u.intrin == INTRIN_REINTERPRET &&
	     e->type.lanes != e->args[0]->type.lanes)) {
		b->failed = true;
		return 0;
	}
	for (int i = 0; i < e->n_args; i++) {
		args[i] = exec_value(b, e->args[i]);
		if (b->failed) {
			return 0;
		}
		uniform &= exec_is_uniform(b, args[i]);
	}
	if (e->u.intrin == INTRIN_LIKELY) {
		return args[0];
	}
	for (int i = 0; i < e->n_args && !uniform; i++) {
		args[i] = widen(b, e->args[i]->type, args[i]);
	}
	int dst = emit_value(b, EXEC_CALL, e->type, uniform, args[0], args[1],
			     args[2]);
	struct exec_op *op = &b->program->ops.data[b->program->ops.n - 1];

	op->index = e->u.intrin;
	op->from = e->args[0]->type;
	return dst;
}

static int
compute(struct exec_builder *b, const struct expr *e)
{
	union number literal = { .i = e->u.ival };
	int x, y, dst;

	switch (e->kind) {
	case EXPR_FLOAT:
		literal.f = e->u.fval;
		return constant(b, e->type, literal);
	case EXPR_INT:
		return constant(b, e->type, literal);
	case EXPR_VAR:
		return value_of_var(b, e);
	case EXPR_LOAD:
		return value_of_load(b, e);
	case EXPR_IF:
	case EXPR_SELECT:
		return value_of_choice(b, e);
	case EXPR_AND:
	case EXPR_OR:
		return value_of_logical(b, e);
	case EXPR_CALL:
		return value_of_call(b, e);
	case EXPR_NOT:
	case EXPR_CAST:
		x = exec_value(b, e->args[0]);
		if (b->failed) {
			return 0;
		}
		dst = emit_value(b, e->kind == EXPR_NOT ? EXEC_NOT : EXEC_CAST,
				 e->type, exec_is_uniform(b, x), x, -1, -1);
		b->program->ops.data[b->program->ops.n - 1].from =
			e->args[0]->type;
		return dst;
	case EXPR_STRING:
	case EXPR_RAMP:
	case EXPR_BROADCAST:
	case EXPR_REDUCE:
		b->failed = true;
		return 0;
	default:
		x = exec_value(b, e->args[0]);
		y = exec_value(b, e->args[1]);
		return b->failed ? 0
				 : exec_binary(b, e->kind, e->type,
					       e->args[0]->type, x, y);
	}
}

int
exec_value(struct exec_builder *b, const struct expr *e)
{
	struct exec_memo memo = { e, 0 };

	if (b->failed || e->type.lanes != 1 ||
	    dtype_class(e->type) == DTC_HANDLE) {
		b->failed = true;
		return 0;
	}
	for (int i = b->memo.n - 1; i >= 0; i--) {
		if (b->memo.data[i].expr == e) {
			return b->memo.data[i].reg;
		}
	}
	memo.reg = compute(b, e);
	vec_push(b->arena, &b->memo, memo);
	return memo.reg;
}

/* ---- programs and their effects */

struct exec_program *
exec_begin(struct exec_builder *b, const struct exec_lanes *lanes)
{
	static const struct exec_lanes one = { NULL, NULL, -1, EXEC_LANES };

	b->program = arena_new(b->arena, struct exec_program);
	b->program->result = -1;
	b->lanes = lanes ? *lanes : one;
	b->mask = -1;
	b->region_depth = 0;
	b->memo.n = 0;
	b->reg_uniform.n = 0;
	return b->program;
}

void
exec_end(struct exec_builder *b)
{
	if (!b->failed) {
		b->program->n_regs = b->reg_uniform.n;
		exec_finish_program(b->arena, b->program);
		vec_push(b->arena, &b->exec->programs, b->program);
		if (b->program->n_regs > b->exec->n_regs) {
			b->exec->n_regs = b->program->n_regs;
		}
	}
	b->program = NULL;
	b->lanes.var = NULL;
	b->lanes.row_var = NULL;
	b->memo.n = 0;
}

void
exec_store(struct exec_builder *b, const struct buffer *buffer,
	   const struct expr *const *index, const struct expr *value)
{
	/* The address is computed first, so that the op that computes the value
	 * can also store it. */
	int at = exec_address(b, buffer, index);
	int reg = exec_value(b, value);

	if (b->failed) {
		return;
	}
	bool uniform = b->lanes.var == NULL;

	if (!uniform) {
		reg = widen(b, value->type, reg);
	}
	struct exec_op *op = emit(b, EXEC_STORE, value->type, uniform);

	op->a = reg;
	op->index = at;
	/* after the store, a load of the same element may give another value,
	 * so no earlier expression is reused */
	b->memo.n = 0;
}

void
exec_fold(struct exec_builder *b, const struct buffer *buffer,
	  const struct expr *const *index, enum expr_kind kind,
	  const struct expr *value)
{
	int at = exec_address(b, buffer, index);
	int reg = exec_value(b, value);

	if (b->failed) {
		return;
	}
	reg = widen(b, value->type, reg);
	struct exec_op *op = emit(b, EXEC_FOLD, value->type, false);

	op->a = reg;
	op->index = at;
	op->kind = (uint8_t)kind;
	b->memo.n = 0;
}
