/* SPDX-License-Identifier: Apache-2.0 */
/* Random steps; see random_steps.h. What a parameter is given follows from its
 * kinds and role; only what no row of the table can tell (which strings make
 * sense, how long a list is) goes by the parameter's name. */
#include "random_steps.h"

#include <assert.h>

#define BIT(kind) (1u << (kind))

struct picker {
	struct sched *s;
	struct module *m;
	struct rng *r;
	const struct stmt *block;    /* chosen last, or that a loop is around */
	const struct buffer *buffer; /* chosen last */
	bool found, device;
};

struct stmts {
	struct arena *arena;
	VEC(const struct stmt *) list;
};

static bool
one_in(struct picker *p, int n)
{
	return rng_below(p->r, n) == 0;
}

static bool
collect_block(void *ctx, struct stmt *s)
{
	struct stmts *blocks = ctx;

	if (s->kind == STMT_BLOCK) {
		vec_push(blocks->arena, &blocks->list, s);
	}
	return true;
}

/* Any block, now and then the one around all. */
static struct sched_value
pick_block(struct picker *p)
{
	struct stmts blocks = { .arena = &p->m->arena };
	int first, which;

	stmt_visit(p->s->func->body, collect_block, &blocks);
	first = blocks.list.n > 1 && !one_in(p, 20);
	which = first + rng_below(p->r, blocks.list.n - first);
	p->block = blocks.list.data[which];
	return sv_block(sched_get_block(p->s, p->block->u.block->name));
}

static bool
touches(const struct region *list, int n, const struct buffer *b)
{
	for (int i = 0; i < n; i++) {
		if (list[i].buffer == b) {
			return true;
		}
	}
	return false;
}

/* One that reads what the block at hand writes, or the other way round. */
static bool
pick_neighbour(struct picker *p)
{
	const struct block *b = p->block->u.block;
	struct stmts blocks = { .arena = &p->m->arena };
	struct stmts near = { .arena = &p->m->arena };

	stmt_visit(p->s->func->body, collect_block, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		const struct stmt *s = blocks.list.data[i];
		const struct block *x = s->u.block;
		bool found = false;

		for (int k = 0; k < b->n_writes; k++) {
			found |= touches(x->reads, x->n_reads,
					 b->writes[k].buffer);
		}
		for (int k = 0; k < b->n_reads; k++) {
			found |= touches(x->writes, x->n_writes,
					 b->reads[k].buffer);
		}
		if (found && x != b) {
			vec_push(near.arena, &near.list, s);
		}
	}
	if (near.list.n > 0) {
		p->block = near.list.data[rng_below(p->r, near.list.n)];
	}
	return near.list.n > 0;
}

/* The loops around the block at hand, a neighbour or some other one. */
static int
pick_nest(struct picker *p, int **loops)
{
	int n = 0, way = rng_below(p->r, 5);

	if (!p->block || way == 0 || (way < 3 && !pick_neighbour(p))) {
		pick_block(p);
	}
	if (!sched_get_loops(p->s,
			     sched_get_block(p->s, p->block->u.block->name),
			     loops, &n)) {
		return 0;
	}
	return n;
}

static struct sched_value
pick_loop(struct picker *p)
{
	int *loops, n;

	for (int tries = 0; tries < 5; tries++) {
		n = pick_nest(p, &loops);
		if (n > 0) {
			return sv_loop(loops[rng_below(p->r, n)]);
		}
	}
	p->found = false;
	return sv_none();
}

/* Neighbours of one nest, some of it in any order, or of several nests. */
static struct sched_value
pick_loops(struct picker *p)
{
	struct sched_value list[8];
	int *loops, n = pick_nest(p, &loops), count = 0, from;

	switch (rng_below(p->r, 3)) {
	case 0:
		from = n > 1 ? rng_below(p->r, n - 1) : 0;
		for (int i = from; i < n && i < from + 3; i++) {
			list[count++] = sv_loop(loops[i]);
		}
		break;
	case 1:
		for (int i = n - 1; i > 0; i--) {
			int k = rng_below(p->r, i + 1), kept = loops[i];

			loops[i] = loops[k];
			loops[k] = kept;
		}
		from = n > 2 ? rng_below(p->r, n - 1) : 0;
		for (int i = from; i < n && count < 8; i++) {
			list[count++] = sv_loop(loops[i]);
		}
		break;
	default:
		for (int i = 0; i < 2; i++) {
			list[count++] = pick_loop(p);
		}
		break;
	}
	return sv_list(p->m, list, count);
}

/* A value that was sampled, or a number. */
static struct sched_value
pick_number(struct picker *p, int least, int most)
{
	if (p->s->samples.n > 0 && one_in(p, 6)) {
		int i = rng_below(p->r, p->s->samples.n);

		return sv_expr(p->s->samples.data[i].var->expr);
	}
	return sv_int(least + rng_below(p->r, most - least + 1));
}

static struct sched_value
pick_factors(struct picker *p)
{
	struct sched_value list[3];
	int n = 1 + rng_below(p->r, 3);

	for (int i = 0; i < n; i++) {
		list[i] = pick_number(p, one_in(p, 30) ? -1 : 1, 5);
	}
	if (!one_in(p, 6)) {
		list[rng_below(p->r, n)] = sv_none();
	}
	return sv_list(p->m, list, n);
}

static struct sched_value
pick_buffer_index(struct picker *p, bool write)
{
	const struct block *b = p->block->u.block;
	int n = write ? b->n_writes : b->n_reads, i;

	if (n == 0 || one_in(p, 30)) {
		return sv_int(n - one_in(p, 2) * 2);
	}
	i = rng_below(p->r, n);
	p->buffer = (write ? b->writes : b->reads)[i].buffer;
	return one_in(p, 5) ? sv_string(p->buffer->name) : sv_int(i);
}

static struct sched_value
pick_buffer(struct picker *p)
{
	bool write = one_in(p, 2);
	struct sched_value pair[2] = { sv_string(write ? "write" : "read") };

	pair[1] = pick_buffer_index(p, write);
	return pair[1].kind == SV_STRING ? pair[1] : sv_list(p->m, pair, 2);
}

/* -- index maps */

static const struct expr *
extent_of_dim(struct picker *p, int d)
{
	const struct block *b = p->block ? p->block->u.block : NULL;

	if (p->buffer && d < p->buffer->ndim) {
		return p->buffer->shape[d];
	}
	return b && d < b->n_iters ? b->iters[d].extent : expr_i32(p->m, 4);
}

/* lambda …: the variables in some order, one split, two fused, one left out,
 * two added; seldom several of these. */
static struct sched_value
pick_map(struct picker *p, bool of_buffer)
{
	struct module *m = p->m;
	struct index_map *map = arena_new(&m->arena, struct index_map);
	const struct expr **out;
	int n = of_buffer && p->buffer ? p->buffer->ndim
		: p->block             ? p->block->u.block->n_iters
				       : 0;
	int k = 0;

	p->buffer = of_buffer ? p->buffer : NULL;
	n += one_in(p, 30);
	map->n_logical = n;
	map->logical = arena_array(&m->arena, struct var *, n + 1);
	out = arena_array(&m->arena, const struct expr *, 2 * n + 1);
	for (int i = 0; i < n; i++) {
		map->logical[i] = var_new(m, arena_printf(&m->arena, "i%d", i),
					  extent_of_dim(p, i)->type);
	}
	for (int i = 0; i < n; i++) {
		const struct expr *x = map->logical[i]->expr;
		const struct expr *factor = expr_int(m, x->type,
						     2 + rng_below(p->r, 4));

		switch (rng_below(p->r, 8)) {
		case 0:
			out[k++] = expr_floordiv(m, x, factor);
			out[k++] = expr_floormod(m, x, factor);
			break;
		case 1:
			if (i + 1 < n) {
				const struct expr *y =
					map->logical[i + 1]->expr;

				out[k++] =
					expr_add(m,
						 expr_mul(m, x,
							  extent_of_dim(p,
									i + 1)),
						 y);
				i++;
			} else if (one_in(p, 3)) {
				out[k++] = expr_floordiv(m, x, factor);
			}
			break;
		default:
			out[k++] = x;
			break;
		}
	}
	for (int i = k - 1; i > 0 && one_in(p, 2); i--) {
		int j = rng_below(p->r, i + 1);
		const struct expr *kept = out[i];

		out[i] = out[j];
		out[j] = kept;
	}
	map->to_physical = out;
	map->n_physical = k;
	return sv_map(map);
}

/* -- texts and numbers that the table does not describe */

#define ONE_OF(p, ...)                                                         \
	one_of(p, (const char *const[]){ __VA_ARGS__ },                        \
	       (int)(sizeof((const char *const[]){ __VA_ARGS__ }) /            \
		     sizeof(const char *)))

static struct sched_value
one_of(struct picker *p, const char *const *list, int n)
{
	return sv_string(list[rng_below(p->r, n)]);
}

/* A type that holds every value of the buffer's: narrower ones change what is
 * computed, as the primitive's name says. */
static struct sched_value
wider_type(struct picker *p)
{
	if (one_in(p, 12) || !p->buffer) {
		return ONE_OF(p, "float7", "float32x4", "handle");
	}
	return sv_string(dtype_is_float(p->buffer->type) ? "float64" : "int64");
}

static struct sched_value
pick_string(struct picker *p, const struct sched_param *param, struct stmt *at)
{
	const char *name = param->name, *intrin;

	if (strcmp(name, "storage_scope") == 0) {
		return ONE_OF(p, "global", "local", "global", "local", "local",
			      "shared");
	}
	if (strcmp(name, "thread_axis") == 0) {
		return ONE_OF(p, "blockIdx.x", "blockIdx.y", "threadIdx.x",
			      "threadIdx.y", "vthread.x", "thread");
	}
	if (strcmp(name, "ann_key") == 0) {
		return ONE_OF(p, "note", "overlap", "pragma_remark");
	}
	if (strcmp(name, "dtype") == 0) {
		return wider_type(p);
	}
	if (strcmp(name, "func_name") == 0) {
		return one_in(p, 8) ? sv_string("other") : sv_string("main");
	}
	if (strcmp(name, "tensor_intrin") == 0) {
		intrin = random_intrin(p->s, p->r, at);
		return sv_string(intrin ? intrin : "no_such_intrinsic");
	}
	if (strcmp(name, "name") == 0 && p->block && one_in(p, 2)) {
		return sv_string(p->block->u.block->name);
	}
	return ONE_OF(p, "root", "t0", "t1", "fresh", "i0", "p0");
}

static struct sched_value
pick_ints(struct picker *p, const struct sched_param *param)
{
	int n = p->block && param->is_input  ? p->block->u.block->n_iters
		: p->block && !one_in(p, 10) ? p->block->u.block->n_iters
					     : 3;
	struct sched_value *list = arena_array(&p->m->arena, struct sched_value,
					       n + 1);
	bool order = param->is_input;

	for (int i = 0; i < n; i++) {
		list[i] = sv_int(order ? i : 1 + rng_below(p->r, 4));
	}
	for (int i = n - 1; i > 0 && order; i--) {
		int k = rng_below(p->r, i + 1);
		struct sched_value kept = list[i];

		list[i] = list[k];
		list[k] = kept;
	}
	if (order && n > 0 && one_in(p, 10)) {
		list[0] = list[n - 1];
	}
	return sv_list(p->m, list, n);
}

static struct sched_value
pick_int(struct picker *p, const struct sched_param *param)
{
	static const struct {
		const char *name;
		int least, most;
	} ranges[] = {
		{ "n", 1, 3 },
		{ "max_innermost_factor", 1, 8 },
		{ "index", -2, 1 },
		{ "axis", -2, 2 },
		{ "factor", 1, 8 },
		{ "offset", 0, 3 },
		{ "factor_axis", -2, 2 },
	};

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
		if (strcmp(ranges[i].name, param->name) == 0) {
			return pick_number(p, ranges[i].least - one_in(p, 20),
					   ranges[i].most);
		}
	}
	return pick_number(p, -1, 4);
}

/* -- a value of any kind that the parameter accepts */

static struct sched_value
pick_kind(struct picker *p, const struct sched_param *param,
	  enum sched_value_kind kind, struct stmt *at)
{
	struct sched_value list[2];
	bool of_buffer = p->buffer != NULL && param->is_input;

	switch (kind) {
	case SV_BLOCK:
		if (at && !one_in(p, 3) && pick_neighbour(p)) {
			return sv_block(
				sched_get_block(p->s, p->block->u.block->name));
		}
		return pick_block(p);
	case SV_LOOP:
		return pick_loop(p);
	case SV_INT:
		return pick_int(p, param);
	case SV_FLOAT:
		return sv_float(rng_below(p->r, 5) / 4.0);
	case SV_BOOL:
		return sv_bool(rng_below(p->r, 2));
	case SV_STRING:
		return pick_string(p, param, at);
	case SV_EXPR:
		return pick_number(p, 0, 4);
	case SV_MAP:
		return pick_map(p, of_buffer);
	case SV_LIST:
		for (int i = 0; i < 2; i++) {
			list[i] = param->accepts & BIT(SV_BLOCK)
					  ? pick_block(p)
					  : pick_int(p, param);
		}
		return sv_list(p->m, list, 1 + rng_below(p->r, 2));
	case SV_NONE:
		return sv_none();
	}
	return sv_none();
}

static struct sched_value
pick_list(struct picker *p, const struct sched_param *param)
{
	struct sched_value list[3];
	int n = 1 + rng_below(p->r, 3);

	if (param->accepts == BIT(SV_INT)) {
		return pick_ints(p, param);
	}
	for (int i = 0; i < n; i++) {
		list[i] = param->accepts & BIT(SV_BLOCK)
				  ? pick_block(p)
				  : sv_float(rng_below(p->r, 4) / 4.0);
	}
	return sv_list(p->m, list, n);
}

static struct sched_value
pick_value(struct picker *p, const struct sched_param *param, struct stmt *at)
{
	enum sched_value_kind kinds[SV_LIST + 1];
	int n = 0;

	switch (param->role) {
	case PARAM_READ_INDEX:
		return pick_buffer_index(p, false);
	case PARAM_WRITE_INDEX:
		return pick_buffer_index(p, true);
	case PARAM_BUFFER:
		return pick_buffer(p);
	case PARAM_STAR:
		return pick_loops(p);
	case PARAM_FACTORS:
		return pick_factors(p);
	case PARAM_DECISION:
		return sv_none();
	case PARAM_PLACE:
	case PARAM_PLAIN:
		break;
	}
	if (param->is_list) {
		return pick_list(p, param);
	}
	for (int k = SV_NONE; k <= SV_LIST; k++) {
		if (param->accepts & BIT(k)) {
			kinds[n++] = (enum sched_value_kind)k;
		}
	}
	return pick_kind(p, param, kinds[rng_below(p->r, n)], at);
}

/* What the caller vouches for: not to be chosen at random. */
static bool
is_promise(const struct sched_param *param)
{
	return strcmp(param->name, "disable_predication") == 0 ||
	       strcmp(param->name, "assume_injective_transform") == 0;
}

/* One probability to each candidate. */
static void
match_lengths(struct picker *p, struct random_step *step)
{
	struct sched_value list[RANDOM_MAX_STEP_ARGS];
	const struct sched_param *params = step->primitive->params;

	for (int i = 1; i < step->n_args; i++) {
		int n = step->args[i - 1].n;

		if (params[i].is_list && params[i - 1].is_list &&
		    params[i].accepts == BIT(SV_FLOAT) &&
		    n <= RANDOM_MAX_STEP_ARGS && !one_in(p, 8)) {
			for (int k = 0; k < n; k++) {
				list[k] = sv_float(1 + rng_below(p->r, 3));
			}
			step->args[i] = sv_list(p->m, list, n);
		}
	}
}

/* The iter var that slides with a sum over others in an index, as i does in
 * x[i * 2 + w]; NULL. */
static const struct var *
sliding_iter(const struct block *b, const struct expr *index)
{
	const struct var *spatial = NULL;
	bool sums = false;

	for (int i = 0; i < b->n_iters; i++) {
		if (!expr_uses_var(index, b->iters[i].var)) {
			continue;
		}
		if (b->iters[i].kind == ITER_REDUCE) {
			sums = true;
		} else {
			spatial = b->iters[i].var;
		}
	}
	return sums ? spatial : NULL;
}

/* The loop along which a window of the block slides over a buffer; 0. */
static int
sliding_loop(struct picker *p, const struct stmt *reader,
	     const struct buffer *over)
{
	const struct block *b = reader->u.block;

	for (int i = 0; i < b->n_reads; i++) {
		for (int d = 0; b->reads[i].buffer == over && d < over->ndim;
		     d++) {
			const struct var *v =
				sliding_iter(b, b->reads[i].ranges[d].min);
			int *loops, n, k = 0;

			while (v && b->iters[k].var != v) {
				k++;
			}
			if (!v ||
			    !sched_get_loops(p->s,
					     sched_get_block(p->s, b->name),
					     &loops, &n)) {
				continue;
			}
			for (int l = 0; l < n; l++) {
				const struct stmt *loop = func_find(p->s->func,
								    loops[l]);

				if (expr_uses_var(reader->args[1 + k],
						  loop->u.loop.var)) {
					return loops[l];
				}
			}
		}
	}
	return 0;
}

/* compute_at of what a window slides over, at the loop that moves the window:
 * what a ring needs. False if there is no such window. */
static bool
choose_slide(struct picker *p, struct random_step *out)
{
	struct stmts blocks = { .arena = &p->m->arena };

	stmt_visit(p->s->func->body, collect_block, &blocks);
	for (int i = 1; i < blocks.list.n; i++) {
		const struct stmt *maker = blocks.list.data[i];

		for (int k = i + 1; k < blocks.list.n; k++) {
			const struct stmt *reader = blocks.list.data[k];
			int loop = maker->u.block->n_writes == 1
					   ? sliding_loop(p, reader,
							  maker->u.block
								  ->writes[0]
								  .buffer)
					   : 0;

			if (loop != 0) {
				out->primitive = sched_primitive_find(
					"compute_at");
				out->args[0] = sv_block(
					sched_get_block(p->s,
							maker->u.block->name));
				out->args[1] = sv_loop(loop);
				out->n_args = 2;
				return true;
			}
		}
	}
	return false;
}

/* cache_read into what the threads of a block share. False if the block that
 * comes up reads nothing. */
static bool
choose_stage(struct picker *p, struct random_step *out)
{
	out->primitive = sched_primitive_find("cache_read");
	out->args[0] = pick_block(p);
	if (p->block->u.block->n_reads == 0) {
		return false;
	}
	out->args[1] = sv_int(rng_below(p->r, p->block->u.block->n_reads));
	out->args[2] = sv_string("shared");
	out->n_args = 3;
	return true;
}

/* The stage that such a step has given goes into a loop of the block it is
 * for. */
static bool
place_stage(struct picker *p, const struct sched_step *last,
	    struct random_step *out)
{
	const struct stmt *reader = func_find(p->s->func, last->args[0].u.id);
	int *loops, n;

	if (!reader || last->result.kind != SV_BLOCK ||
	    strcmp(last->args[2].u.text, "shared") != 0) {
		return false;
	}
	if (!sched_get_loops(p->s, sched_get_block(p->s, reader->u.block->name),
			     &loops, &n) ||
	    n == 0) {
		return false;
	}
	out->primitive = sched_primitive_find("compute_at");
	out->args[0] = last->result;
	out->args[1] = sv_loop(loops[rng_below(p->r, n)]);
	out->n_args = 2;
	return true;
}

/* What makes sense only after another step, on the same block. */
static bool
follow_up(struct picker *p, struct random_step *out)
{
	const struct sched_step *last;

	if (p->s->trace.n == 0 || !one_in(p, 2)) {
		return false;
	}
	last = &p->s->trace.data[p->s->trace.n - 1];
	if (p->device && strcmp(last->primitive->name, "cache_read") == 0) {
		return place_stage(p, last, out);
	}
	if (strcmp(last->primitive->name, "compute_at") != 0 ||
	    !func_find(p->s->func, last->args[0].u.id)) {
		return false;
	}
	out->primitive = sched_primitive_find("rolling_buffer");
	out->args[0] = last->args[0];
	out->args[1] = sv_int(0);
	out->n_args = 2;
	return true;
}

bool
random_step_choose(struct sched *s, struct rng *r, bool device,
		   struct random_step *out)
{
	struct picker p = { .s = s,
			    .m = s->func->module,
			    .r = r,
			    .found = true,
			    .device = device };
	struct stmt *at = NULL;
	const struct primitive *list;
	int n;

	if (follow_up(&p, out) ||
	    (device && one_in(&p, 8) && choose_stage(&p, out)) ||
	    (one_in(&p, 20) && choose_slide(&p, out))) {
		return true;
	}
	list = sched_primitives(&n);
	do {
		out->primitive = &list[rng_below(r, n)];
	} while (out->primitive->is_query && !one_in(&p, 4));
	out->n_args = 0;
	assert(out->primitive->n_params <= RANDOM_MAX_STEP_ARGS);
	for (int i = 0; i < out->primitive->n_params; i++) {
		const struct sched_param *param = &out->primitive->params[i];
		struct sched_value v;

		if (param->optional && !one_in(&p, 3)) {
			break;
		}
		v = is_promise(param) ? param->initial
				      : pick_value(&p, param, at);
		if (v.kind == SV_BLOCK || v.kind == SV_LOOP) {
			at = func_find(s->func, v.u.id);
		}
		out->args[out->n_args++] = v;
	}
	match_lengths(&p, out);
	return p.found;
}
