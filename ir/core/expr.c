/* SPDX-License-Identifier: Apache-2.0 */
/* The interner: there is one node for each structure, in a hash table with open
 * addressing. Strings are compared by content, floats by their bits, other
 * payloads by address or value. */
#include "expr.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "buffer.h"
#include "secret_hash.h"

enum payload {
	PAYLOAD_NONE,
	PAYLOAD_IVAL,
	PAYLOAD_FVAL,
	PAYLOAD_TEXT,
	PAYLOAD_VAR,
	PAYLOAD_BUFFER,
	PAYLOAD_INTRIN,
	PAYLOAD_REDUCE
};

static const struct {
	const char *name;
	enum payload payload;
	int arity;
} kinds[] = {
#define EXPR(id, payload, n, script, prec) { #id, PAYLOAD_##payload, n },
#include "expr.def"
#undef EXPR
};

enum { PURE, EFFECT };

static const struct {
	const char *name;
	int arity;
	int effect;
} intrins[] = {
#define INTRIN(id, name, n, effect, result) { name, n, effect },
#include "intrin.def"
#undef INTRIN
};

const char *
expr_kind_name(enum expr_kind kind)
{
	return kinds[kind].name;
}

int
expr_kind_arity(enum expr_kind kind)
{
	return kinds[kind].arity;
}

const char *
intrin_name(enum intrin op)
{
	return intrins[op].name;
}

int
intrin_arity(enum intrin op)
{
	return intrins[op].arity;
}

bool
intrin_is_pure(enum intrin op)
{
	return intrins[op].effect == PURE;
}

bool
intrin_is_address(enum intrin op)
{
	return op == INTRIN_ADDRESS_OF || op == INTRIN_READ_ADDRESS_OF;
}

static bool
is_address(const struct expr *e)
{
	return e->kind == EXPR_CALL && intrin_is_address(e->u.intrin) &&
	       e->args[0]->kind == EXPR_LOAD;
}

int
copy_box_rank(const struct expr *const *args, int n)
{
	if (n < 2 + BOX_PARTS || (n - 2) % BOX_PARTS != 0 ||
	    !is_address(args[0]) || args[0]->u.intrin != INTRIN_ADDRESS_OF ||
	    !is_address(args[1]) ||
	    !dtype_equal(args[0]->args[0]->type, args[1]->args[0]->type)) {
		return 0;
	}
	for (int i = 2; i < n; i++) {
		if (!dtype_is_int(args[i]->type) || args[i]->type.lanes != 1) {
			return 0;
		}
	}
	return (n - 2) / BOX_PARTS;
}

const struct expr *
copy_box_part(const struct expr *copy, enum box_part part, int dim)
{
	return copy->args[2 + part * ((copy->n_args - 2) / BOX_PARTS) + dim];
}

bool
intrin_from_name(const char *name, enum intrin *out)
{
	for (int i = 0; i < INTRIN_COUNT; i++) {
		if (strcmp(intrins[i].name, name) == 0) {
			*out = (enum intrin)i;
			return true;
		}
	}
	return false;
}

static uint64_t
payload_bits(const struct expr *e)
{
	uint64_t bits;

	switch (kinds[e->kind].payload) {
	case PAYLOAD_IVAL:
		return (uint64_t)e->u.ival;
	case PAYLOAD_FVAL:
		memcpy(&bits, &e->u.fval, sizeof bits);
		return bits;
	case PAYLOAD_TEXT:
		return secret_hash(e->u.text, strlen(e->u.text));
	case PAYLOAD_VAR:
		return (uint64_t)e->u.var->id;
	case PAYLOAD_BUFFER:
		return (uint64_t)e->u.buffer->id;
	case PAYLOAD_INTRIN:
		return e->u.intrin;
	case PAYLOAD_REDUCE:
		return (uint64_t)e->u.reduce->n_axes;
	case PAYLOAD_NONE:
		break;
	}
	return 0;
}

static bool
reduction_equal(const struct reduction *a, const struct reduction *b)
{
	if (a == b) {
		return true;
	}
	if (a->reducer != b->reducer || a->n_axes != b->n_axes ||
	    a->index != b->index || a->condition != b->condition ||
	    !a->init != !b->init) {
		return false;
	}
	for (int i = 0; a->init && i < a->reducer->n; i++) {
		if (a->init[i] != b->init[i]) {
			return false;
		}
	}
	for (int i = 0; i < a->n_axes; i++) {
		const struct iter_var *x = &a->axes[i], *y = &b->axes[i];

		if (x->var != y->var || x->min != y->min ||
		    x->extent != y->extent || x->kind != y->kind) {
			return false;
		}
	}
	return true;
}

static bool
payload_equal(const struct expr *a, const struct expr *b)
{
	switch (kinds[a->kind].payload) {
	case PAYLOAD_TEXT:
		return strcmp(a->u.text, b->u.text) == 0;
	case PAYLOAD_VAR:
		return a->u.var == b->u.var;
	case PAYLOAD_REDUCE:
		return reduction_equal(a->u.reduce, b->u.reduce);
	default:
		return payload_bits(a) == payload_bits(b);
	}
}

static uint32_t
node_hash(const struct expr *payload, const struct expr *const *args,
	  int n_args)
{
	uint64_t h = secret_mix((uint64_t)payload->kind << 32 |
					(uint64_t)payload->type.kind << 16 |
					payload->type.lanes,
				payload_bits(payload));

	for (int i = 0; i < n_args; i++) {
		h = secret_mix(h, args[i]->id);
	}
	return (uint32_t)h;
}

static bool
node_equal(const struct expr *e, const struct expr *payload,
	   const struct expr *const *args, int n_args)
{
	return e->kind == payload->kind &&
	       dtype_equal(e->type, payload->type) && e->n_args == n_args &&
	       (n_args == 0 ||
		memcmp(e->args, args, sizeof *args * (size_t)n_args) == 0) &&
	       payload_equal(e, payload);
}

static void
table_grow(struct intern_table *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : 1024;
	struct intern_slot *slot = calloc(cap, sizeof *slot);

	if (!slot) {
		memory_exhausted();
	}
	for (uint32_t i = 0; i < t->cap; i++) {
		if (t->slot[i].expr) {
			uint32_t at = t->slot[i].hash & (cap - 1);

			while (slot[at].expr) {
				at = (at + 1) & (cap - 1);
			}
			slot[at] = t->slot[i];
		}
	}
	free(t->slot);
	t->slot = slot;
	t->cap = cap;
}

static void
node_check(const struct expr *payload, const struct expr *const *args,
	   int n_args)
{
	int arity = kinds[payload->kind].arity;

	assert(arity < 0 || arity == n_args);
	for (int i = 0; i < n_args; i++) {
		assert(args[i]);
	}
	(void)args;
	(void)arity;
}

static uint64_t
bits_of_vars(const struct expr *e)
{
	const struct reduction *r = e->u.reduce;
	uint64_t bits = 0;

	if (e->kind == EXPR_VAR) {
		return var_bit(e->u.var);
	}
	for (int i = 0; i < e->n_args; i++) {
		bits |= e->args[i]->var_bits;
	}
	if (e->kind != EXPR_REDUCE) {
		return bits;
	}
	for (int i = 0; i < r->n_axes; i++) {
		bits |= r->axes[i].min->var_bits | r->axes[i].extent->var_bits;
	}
	if (r->condition != NULL) {
		bits |= r->condition->var_bits;
	}
	for (int i = 0; r->init != NULL && i < r->reducer->n; i++) {
		bits |= r->init[i]->var_bits;
	}
	return bits;
}

static struct expr *
node_new(struct module *m, const struct expr *payload,
	 const struct expr *const *args, int n_args, uint32_t hash)
{
	struct expr *e = arena_alloc(&m->arena,
				     sizeof *e + sizeof *args * (size_t)n_args);

	e->kind = payload->kind;
	e->type = payload->type;
	e->u = payload->u;
	e->hash = hash;
	e->id = m->next_expr_id++;
	e->n_args = n_args;
	if (n_args > 0) {
		memcpy(e->args, args, sizeof *args * (size_t)n_args);
	}
	e->var_bits = bits_of_vars(e);
	e->loads = e->kind == EXPR_LOAD;
	for (int i = 0; i < n_args; i++) {
		e->loads |= args[i]->loads;
	}
	return e;
}

const struct expr *
expr_make(struct module *m, const struct expr *payload,
	  const struct expr *const *args, int n_args)
{
	struct intern_table *t = &m->exprs;
	uint32_t hash, at;
	struct expr *e;

	node_check(payload, args, n_args);
	if (payload->kind == EXPR_VAR) {
		/* A variable's node is not in the table of the interner,
		 * because the variable has a pointer to it. */
		assert(dtype_equal(payload->type, payload->u.var->type));
		return payload->u.var->expr;
	}
	if ((t->n + 1) * 4 > t->cap * 3) {
		table_grow(t);
	}
	m->quota.steps++;
	hash = node_hash(payload, args, n_args);
	at = hash & (t->cap - 1);
	while (t->slot[at].expr) {
		if (t->slot[at].hash == hash &&
		    node_equal(t->slot[at].expr, payload, args, n_args)) {
			return t->slot[at].expr;
		}
		at = (at + 1) & (t->cap - 1);
	}
	e = node_new(m, payload, args, n_args, hash);
	if (kinds[e->kind].payload == PAYLOAD_TEXT) {
		e->u.text = arena_strdup(&m->arena, payload->u.text);
	}
	t->slot[at] = (struct intern_slot){ e, hash };
	t->n++;
	return e;
}

struct var *
var_new(struct module *m, const char *name, struct dtype type)
{
	struct var *v = arena_new(&m->arena, struct var);
	struct expr payload = { .kind = EXPR_VAR, .type = type };

	v->name = arena_strdup(&m->arena, name);
	v->type = type;
	v->id = m->next_var_id++;
	v->min = 1; /* bounds not known */
	v->max = 0;
	payload.u.var = v;
	v->expr = node_new(m, &payload, NULL, 0, node_hash(&payload, NULL, 0));
	return v;
}

struct var *
var_new_dim(struct module *m, const char *name, int64_t min, int64_t max)
{
	struct var *v = var_new(m, name,
				dtype_of(max > INT32_MAX ? DT_I64 : DT_I32));

	v->is_dim = true;
	v->min = min;
	v->max = max;
	return v;
}

bool
expr_is_int(const struct expr *e, int64_t *v)
{
	if (e->kind != EXPR_INT) {
		return false;
	}
	*v = e->u.ival;
	return true;
}

/* Is v, rounded to type t, finite? The shortest decimal text of the largest
 * finite number may stand for a slightly larger number. */
static bool
rounds_into(double v, struct dtype t)
{
	double highest = dtype_highest(t), half;
	int exponent;

	frexp(highest, &exponent);
	half = ldexp(1, exponent - 2 - dtype_float_form(t).frac_bits);
	return v > dtype_lowest(t) - half && v < highest + half;
}

bool
expr_literal_fits(const struct expr *e, struct dtype t)
{
	bool big = dtype_class(e->type) == DTC_UINT;
	int64_t v = e->u.ival;
	double f = e->kind == EXPR_FLOAT ? e->u.fval
		   : big                 ? (double)(uint64_t)v
					 : (double)v;

	if (dtype_is_float(t)) {
		return !isfinite(f) || rounds_into(f, t);
	}
	if (e->kind == EXPR_FLOAT) {
		return trunc(f) >= (double)dtype_min_int(t) &&
		       trunc(f) < (double)dtype_max_int(t) + 1;
	}
	if (dtype_class(t) == DTC_UINT) {
		return (big || v >= 0) && (uint64_t)v <= dtype_max_int(t);
	}
	return (!big || v >= 0) && v >= dtype_min_int(t) &&
	       (v < 0 || (uint64_t)v <= dtype_max_int(t));
}

bool
expr_is_extreme(const struct expr *e)
{
	return e->kind == EXPR_MIN || e->kind == EXPR_MAX ||
	       (e->kind == EXPR_CALL && e->u.intrin == INTRIN_FMAX);
}

bool
expr_combines(const struct expr *e)
{
	return e->kind == EXPR_ADD || e->kind == EXPR_MUL || expr_is_extreme(e);
}

bool
expr_is_isnan_of(const struct expr *e, const struct expr *x)
{
	return e->kind == EXPR_CALL && e->u.intrin == INTRIN_ISNAN &&
	       e->args[0] == x;
}

bool
expr_is_value(const struct expr *e, int64_t v)
{
	return e->kind == EXPR_INT && e->u.ival == v;
}
