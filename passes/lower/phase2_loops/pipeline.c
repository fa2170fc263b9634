/* SPDX-License-Identifier: Apache-2.0 */
/* Software pipelining: the stages of a loop's body run for different iterations
 * in the same step; buffers between stages are multi-buffered.
 *
 *   for i in 8:                      B: [2]
 *       B: []                        B[0] = A[0]
 *       B = A[i]      # stage 0  ->  for i in 7:
 *       C[i] = B + 1  # stage 1          B[(i + 1) % 2] = A[i + 1]
 *                                        C[i] = B[i % 2] + 1
 *                                    C[7] = B[1] + 1
 *
 * Asynchronous copies to shared memory (PIPELINE_ASYNC) are committed as one
 * group per iteration; the first stage that uses the copied data waits for the
 * group.
 *
 * The pass `stages` has marked the statements. A buffer with
 * double_buffer_scope makes a pipeline of two stages: the statements that fill
 * it, and the rest. */
#include "lower_passes.h"

#include "access.h"
#include "iterate.h"
#include "pipeline_notes.h"
#include "thread_loops.h"

struct part {
	struct stmt *s;
	int64_t stage, order;
};

struct pipeline {
	struct func *func;
	struct stmt *loop;
	struct part *parts; /* the statements of the body, in program order */
	int n;
	/* the number of the last stage; stages are numbered from 0 */
	int64_t stages;
	/* the buffers that are allocated in the loop, and the notes of their
	 * ALLOCs */
	VEC(const struct buffer *) buffers;
	VEC(struct note *) notes;
	/* Arrays that are multi-buffered and that stage 0 fills asynchronously.
	 * The next member: the number of stages between the fill and the first
	 * use. */
	VEC(const struct buffer *) awaited;
	int64_t distance;
};

/* -- the statements and buffers of the loop */

static struct stmt *
inside_allocs(struct pipeline *p)
{
	struct stmt *s = p->loop->children[0];

	p->buffers.n = p->notes.n = 0;
	for (; s->kind == STMT_ALLOC; s = s->children[0]) {
		vec_push(&p->func->module->arena, &p->buffers, s->u.buffer);
		vec_push(&p->func->module->arena, &p->notes, s->notes);
	}
	return s;
}

static void
collect_parts(struct pipeline *p)
{
	struct stmt *body = inside_allocs(p);
	struct arena *arena = &p->func->module->arena;

	p->n = body->kind == STMT_SEQ ? body->n_children : 1;
	p->parts = arena_array(arena, struct part, p->n + 1);
	for (int i = 0; i < p->n; i++) {
		p->parts[i].s = body->kind == STMT_SEQ ? body->children[i]
						       : body;
		p->parts[i].order = i;
	}
}

/* Reads the stage and the order of each part of the pipeline from its mark.
 * False if a part has no mark, because a pass has inserted a statement. */
static bool
read_marks(struct pipeline *p)
{
	for (int i = 0; i < p->n; i++) {
		struct part *x = &p->parts[i];

		if (x->s->kind != STMT_ATTR ||
		    strcmp(x->s->u.key, PIPELINE_MARK) != 0 ||
		    !expr_is_int(x->s->args[0]->args[0], &x->stage) ||
		    !expr_is_int(x->s->args[0]->args[1], &x->order)) {
			return false;
		}
		p->stages = x->stage > p->stages ? x->stage : p->stages;
	}
	return true;
}

struct buffers {
	VEC(const struct buffer *) list;
};

/* Adds the buffers that the statements at or below s in an ATTR DOUBLE_BUFFER
 * fill. The double buffers below an inner ALLOC belong to another loop. */
static void
find_double(struct arena *a, struct stmt *s, struct buffers *out)
{
	for (struct stmt_iter it = stmt_each(s); (s = stmt_next(&it));) {
		if (s->kind == STMT_ATTR &&
		    strcmp(s->u.key, DOUBLE_BUFFER) == 0) {
			struct stmt_list stores = stmts_of(a, s, STMT_STORE);

			for (int i = 0; i < stores.list.n; i++) {
				vec_push(a, &out->list,
					 stores.list.data[i]->u.buffer);
			}
			stmt_skip(&it);
		} else if (s->kind == STMT_ALLOC) {
			stmt_skip(&it);
		}
	}
}

static bool
accesses_buffer(struct pipeline *p, struct stmt *s, const struct buffer *b,
		bool writes)
{
	struct access_list all = accesses_of(p->func, s, b);

	for (int i = 0; i < all.list.n; i++) {
		if (all.list.data[i].fills == writes) {
			return true;
		}
	}
	return false;
}

static bool
is_inner(const struct pipeline *p, const struct buffer *b)
{
	return vec_has(&p->buffers, b);
}

/* Assigns stage 0 to the statements that fill a double buffer and to the
 * statements on which these depend, and stage 1 to the remaining statements.
 * False if the loop has no double buffer or a stage is empty. */
static bool
stage_double(struct pipeline *p)
{
	bool found = false, rest = false, grown;
	struct buffers all = { 0 };

	for (int i = 0; i < p->n; i++) {
		find_double(&p->func->module->arena, p->parts[i].s, &all);
		p->parts[i].stage = 1;
	}
	for (int k = 0; k < all.list.n; k++) {
		for (int i = 0; is_inner(p, all.list.data[k]) && i < p->n;
		     i++) {
			if (accesses_buffer(p, p->parts[i].s, all.list.data[k],
					    true)) {
				p->parts[i].stage = 0;
				found = true;
			}
		}
	}
	do {
		grown = false;
		for (int i = 0; i < p->n; i++) {
			struct access_list loads = accesses_of(p->func,
							       p->parts[i].s,
							       NULL);

			for (int k = 0;
			     p->parts[i].stage == 0 && k < loads.list.n; k++) {
				const struct access *x = &loads.list.data[k];

				for (int j = 0; j < i && x->load; j++) {
					if (p->parts[j].stage == 1 &&
					    accesses_buffer(p, p->parts[j].s,
							    x->buffer, true)) {
						p->parts[j].stage = 0;
						grown = true;
					}
				}
			}
		}
	} while (grown);
	for (int i = 0; i < p->n; i++) {
		rest |= p->parts[i].stage == 1;
	}
	p->stages = 1;
	return found && rest;
}

/* -- legality of the new order */

/* Do the iterations of the loop access disjoint elements of b? */
static bool
iterations_disjoint(struct pipeline *p, const struct buffer *b)
{
	const struct stmt *body = p->loop->children[0];
	struct range *box = arena_array(&p->func->module->arena, struct range,
					b->ndim + 1);
	struct var *v = p->loop->u.loop.var;
	struct analyser a;
	struct access_list all = accesses_of(p->func, p->loop->children[0], b);

	if (!access_box(p->func, body, all.list.data, all.list.n, box)) {
		return false;
	}
	analyser_at(&a, p->func->module, body);
	for (int d = 0; d < b->ndim; d++) {
		const struct expr *rest;
		int64_t coeff, size;

		if (analyse_affine(&a, box[d].min, &v, 1, &coeff, &rest) &&
		    expr_is_int(box[d].extent, &size) &&
		    (coeff >= size || -coeff >= size)) {
			return true;
		}
	}
	return false;
}

/* Does part x for iteration i run before part y for iteration i + later? */
static bool
runs_before(const struct part *x, const struct part *y, int64_t later)
{
	int64_t step_distance = y->stage + later - x->stage;

	return step_distance > 0 || (step_distance == 0 && x->order < y->order);
}

static bool
check_pair(struct pipeline *p, int i, int k, const struct buffer *b,
	   bool report)
{
	const struct part *x = &p->parts[i], *y = &p->parts[k];

	if (!runs_before(x, y, 0)) {
		return report &&
		       pipeline_fail(p->func, p->loop,
				     "statement %d (stage %d) would run "
				     "before statement %d (stage %d), which "
				     "both touch %s; give it a later stage "
				     "or place",
				     k, (int)y->stage, i, (int)x->stage,
				     b->name);
	}
	/* Buffers that are allocated in the loop get a copy for each of these
	 * iterations, so they do not count. */
	if (!is_inner(p, b) && !runs_before(y, x, 1) &&
	    !iterations_disjoint(p, b)) {
		return report &&
		       pipeline_fail(p->func, p->loop,
				     "statement %d (stage %d) would run "
				     "for the next iteration before "
				     "statement %d (stage %d) has run for "
				     "this one, which both touch %s; give "
				     "them the same stage",
				     i, (int)x->stage, k, (int)y->stage,
				     b->name);
	}
	return true;
}

static bool
check_order(struct pipeline *p, bool report)
{
	for (int i = 0; i < p->n; i++) {
		struct access_list all = accesses_of(p->func, p->parts[i].s,
						     NULL);

		for (int x = 0; x < all.list.n; x++) {
			const struct buffer *b = all.list.data[x].buffer;
			bool stores = all.list.data[x].fills;

			for (int k = i + 1; k < p->n; k++) {
				struct stmt *y = p->parts[k].s;

				if ((accesses_buffer(p, y, b, true) ||
				     (stores &&
				      accesses_buffer(p, y, b, false))) &&
				    !check_pair(p, i, k, b, report)) {
					return false;
				}
			}
		}
	}
	return true;
}

/* -- multi-buffering */

struct versions {
	struct module *module;
	const struct expr *which;
	int ndim;
};

static void
version_index(void *ctx, const struct stmt *at, const struct expr *const *old,
	      const struct expr **new)
{
	const struct versions *v = ctx;

	(void)at;
	new[0] = v->which;
	for (int d = 0; d < v->ndim; d++) {
		new[d + 1] = old[d];
	}
}

/* Gives b one copy for each iteration that uses b in the same step. Returns the
 * buffer with these copies; b itself if only one iteration uses b in a step. */
static const struct buffer *
multi_buffer(struct pipeline *p, const struct buffer *b)
{
	struct module *m = p->func->module;
	struct var *v = p->loop->u.loop.var;
	int64_t first = -1, last = -1, n;
	struct versions versions = { .module = m, .ndim = b->ndim };
	const struct expr **shape = arena_exprs(&m->arena, b->ndim + 1);
	const struct buffer *wide;

	for (int i = 0; i < p->n; i++) {
		struct access_list all = accesses_of(p->func, p->parts[i].s, b);

		if (all.list.n == 0) {
			continue;
		}
		if (first < 0 || p->parts[i].stage < first) {
			first = p->parts[i].stage;
		}
		if (p->parts[i].stage > last) {
			last = p->parts[i].stage;
		}
	}
	n = last - first + 1;
	if (n <= 1) {
		return b;
	}
	shape[0] = expr_i32(m, n);
	for (int d = 0; d < b->ndim; d++) {
		shape[d + 1] = b->shape[d];
	}
	wide = buffer_with_shape(m, b, b->ndim + 1, shape);
	versions.which = expr_floormod(m,
				       expr_sub(m, v->expr, p->loop->args[0]),
				       expr_int(m, v->type, n));
	for (int i = 0; i < p->n; i++) {
		access_remap(p->func, p->parts[i].s, b, wide, version_index,
			     &versions);
	}
	return wide;
}

/* -- asynchronous copies */

/* Finds the buffers that stage 0 fills asynchronously. Called before
 * multi-buffering. The number of iterations must be constant and larger than
 * the number of stages. */
static void
find_awaited(struct pipeline *p)
{
	const struct expr *note = stmt_note(p->loop, PIPELINE_ASYNC);
	int64_t stage, n;

	if (!note || !expr_is_list(note) || note->n_args != 1 ||
	    !expr_is_int(note->args[0], &stage) || stage != 0 ||
	    !expr_is_int(p->loop->args[1], &n) || n <= p->stages) {
		return;
	}
	for (int k = 0; k < p->buffers.n; k++) {
		const struct buffer *b = p->buffers.data[k];
		int64_t used = -1;
		bool later = buffer_is_shared(b);

		for (int i = 0; i < p->n; i++) {
			const struct part *x = &p->parts[i];
			bool fills = accesses_buffer(p, x->s, b, true);
			bool uses = accesses_buffer(p, x->s, b, false);

			if (x->stage > 0 && (fills || uses) &&
			    (used < 0 || x->stage < used)) {
				used = x->stage;
			}
			later &= x->stage > 0 || !uses;
		}
		if (later && used > 0) {
			vec_push(&p->func->module->arena, &p->awaited, b);
			if (p->distance == 0 || used < p->distance) {
				p->distance = used;
			}
		}
	}
}

static void
replace_awaited(struct pipeline *p, const struct buffer *from,
		const struct buffer *to)
{
	for (int i = 0; i < p->awaited.n; i++) {
		if (p->awaited.data[i] == from) {
			p->awaited.data[i] = to;
		}
	}
}

static struct stmt *
commit(struct pipeline *p)
{
	return stmt_evaluate(p->func,
			     expr_call(p->func->module, INTRIN_ASYNC_COMMIT,
				       dtype_of(DT_VOID), NULL, 0));
}

/* A wait until at most `later` committed groups are unfinished, so that the
 * data of iteration number `at` are complete. */
static struct stmt *
wait_for(struct pipeline *p, const struct expr *at, int64_t later)
{
	struct module *m = p->func->module;
	const struct expr **args = arena_exprs(&m->arena, p->awaited.n + 1);

	args[0] = expr_i32(m, later);
	for (int i = 0; i < p->awaited.n; i++) {
		const struct buffer *b = p->awaited.data[i];
		const struct expr **index = arena_exprs(&m->arena, b->ndim + 1);
		const struct expr *first;

		for (int d = 1; d < b->ndim; d++) {
			index[d] = expr_i32(m, 0);
		}
		index[0] = expr_floormod(m, at,
					 expr_cast(m, at->type, b->shape[0]));
		first = expr_load(m, b, index, b->ndim);
		args[i + 1] = expr_call(m, INTRIN_ADDRESS_OF,
					dtype_of(DT_HANDLE), &first, 1);
	}
	return stmt_evaluate(p->func,
			     expr_call(m, INTRIN_ASYNC_WAIT, dtype_of(DT_VOID),
				       args, p->awaited.n + 1));
}

/* -- prologue, steady state, epilogue */

struct stmts {
	struct arena *arena;
	VEC(struct stmt *) list;
};

/* If x is the last part of stage 0 in a step: appends the statement that
 * commits the group of the step's copies. */
static void
end_group(struct pipeline *p, const struct part *x, struct stmts *out)
{
	for (int i = 0; i < p->n; i++) {
		if (p->parts[i].stage == 0 && p->parts[i].order > x->order) {
			return;
		}
	}
	if (p->awaited.n > 0 && x->stage == 0) {
		vec_push(out->arena, &out->list, commit(p));
	}
}

/* Ends time step t: waits for the group that step t + 1 uses; `later` groups
 * may stay unfinished. */
static void
end_step(struct pipeline *p, const struct expr *t, int64_t later,
	 struct stmts *out)
{
	struct module *m = p->func->module;

	if (p->awaited.n > 0 && later >= 0) {
		vec_push(out->arena, &out->list,
			 wait_for(p,
				  expr_add(m, t,
					   expr_int(m, t->type,
						    1 - p->distance)),
				  later));
	}
}

static const struct part *
nth_in_order(const struct pipeline *p, int k)
{
	const struct part *found = NULL;

	for (int i = 0; i < p->n; i++) {
		int before = 0;

		for (int j = 0; j < p->n; j++) {
			before += p->parts[j].order < p->parts[i].order ||
				  (p->parts[j].order == p->parts[i].order &&
				   j < i);
		}
		if (before == k) {
			found = &p->parts[i];
		}
	}
	return found;
}

/* Appends the part for iteration number `at` (from 0), with a guard if that
 * iteration may not exist. */
static void
add_part(struct pipeline *p, const struct part *x, const struct expr *at,
	 const struct expr *guard, struct stmts *out)
{
	struct func *f = p->func;
	struct var *v = p->loop->u.loop.var;
	const struct expr *value = expr_add(f->module, p->loop->args[0], at);
	struct var_map map = { &v, &value, 1 };
	struct stmt *s = x->s->kind == STMT_ATTR ? x->s->children[0] : x->s;
	struct stmt *copy = stmt_clone(f, s, true);

	stmt_substitute(f, copy, &map);
	if (guard) {
		copy = stmt_if(f, guard, copy, NULL);
	}
	vec_push(out->arena, &out->list, copy);
}

/* Appends time step t, which runs only if t >= first: in this step, stage s
 * runs for iteration t - s, if that is a number from 0 to n - 1. */
static void
add_step(struct pipeline *p, const struct expr *t, int64_t first,
	 struct stmts *out)
{
	struct module *m = p->func->module;
	const struct expr *n = p->loop->args[1];
	struct analyser a;

	analyser_at(&a, m, p->loop);
	for (int k = 0; k < p->n; k++) {
		const struct part *x = nth_in_order(p, k);
		const struct expr *at =
			simplify(&a, expr_sub(m, t,
					      expr_int(m, n->type, x->stage)));
		const struct expr *lo =
			simplify(&a, expr_le(m, expr_int(m, n->type, 0), at));
		const struct expr *hi = simplify(&a, expr_lt(m, at, n));
		const struct expr *both =
			simplify(&a,
				 expr_and(m, expr_and(m, lo, hi),
					  expr_le(m,
						  expr_int(m, n->type, first),
						  t)));

		if (prove(&a, expr_not(m, lo)) || prove(&a, expr_not(m, hi)) ||
		    expr_is_value(both, 0)) {
			continue;
		}
		add_part(p, x, at, prove(&a, both) ? NULL : both, out);
		end_group(p, x, out);
	}
}

static struct stmt *
steady_loop(struct pipeline *p)
{
	struct func *f = p->func;
	struct module *m = f->module;
	struct dtype type = p->loop->u.loop.var->type;
	struct var *v = var_new(m, p->loop->u.loop.var->name, type);
	struct stmts body = { .arena = &m->arena };
	const struct expr *n;
	struct analyser a;
	struct stmt *loop;

	analyser_at(&a, m, p->loop);
	n = simplify(&a, expr_sub(m, p->loop->args[1],
				  expr_int(m, type, p->stages)));
	if (prove(&a, expr_le(m, n, expr_int(m, type, 0)))) {
		return NULL;
	}
	for (int k = 0; k < p->n; k++) {
		const struct part *x = nth_in_order(p, k);

		add_part(p, x,
			 expr_add(m, v->expr,
				  expr_int(m, type, p->stages - x->stage)),
			 NULL, &body);
		end_group(p, x, &body);
	}
	end_step(p, expr_add(m, v->expr, expr_int(m, type, p->stages)),
		 p->distance - 1, &body);
	loop = stmt_for(f, v, expr_int(m, type, 0), n, p->loop->u.loop.kind,
			stmt_seq(f, body.list.data, body.list.n));
	for (const struct note *note = p->loop->notes; note;
	     note = note->next) {
		if (strncmp(note->key, "software_pipeline", 17) != 0) {
			stmt_set_note(f, loop, note->key, note->value);
		}
	}
	return loop;
}

static void
expand(struct pipeline *p)
{
	struct func *f = p->func;
	struct module *m = f->module;
	struct dtype type = p->loop->u.loop.var->type;
	struct stmts all = { .arena = &m->arena };
	const struct expr *n = p->loop->args[1];
	struct stmt *s;

	find_awaited(p);
	for (int i = 0; i < p->buffers.n; i++) {
		const struct buffer *b = p->buffers.data[i];

		p->buffers.data[i] = multi_buffer(p, b);
		replace_awaited(p, b, p->buffers.data[i]);
	}
	for (int64_t t = 0; t < p->stages; t++) {
		add_step(p, expr_int(m, type, t), 0, &all);
		end_step(p, expr_int(m, type, t),
			 t + 1 >= p->distance ? p->distance - 1 : -1, &all);
	}
	s = steady_loop(p);
	if (s) {
		vec_push(&m->arena, &all.list, s);
	}
	/* The epilogue: the steps from step n on, except those before step
	 * `stages`, which the prologue has run. */
	for (int64_t t = 0; t < p->stages; t++) {
		add_step(p, expr_add(m, n, expr_int(m, type, t)), p->stages,
			 &all);
		end_step(p, expr_add(m, n, expr_int(m, type, t)),
			 p->distance - 2 - t, &all);
	}
	s = stmt_seq(f, all.list.data, all.list.n);
	for (int i = p->buffers.n - 1; i >= 0; i--) {
		s = stmt_alloc(f, p->buffers.data[i], s);
		s->notes = p->notes.data[i];
	}
	stmt_replace(f, p->loop, s);
}

/* -- all loops */

static bool
pipeline_loop(struct func *f, struct stmt *loop)
{
	struct pipeline p = { .func = f, .loop = loop };

	if (loop->u.loop.kind != FOR_SERIAL &&
	    loop->u.loop.kind != FOR_UNROLLED) {
		return true;
	}
	collect_parts(&p);
	if (stmt_note(loop, PIPELINE_STAGE)) {
		if (!read_marks(&p)) {
			return pipeline_fail(f, loop,
					     "its statements cannot be "
					     "told apart any more; decompose "
					     "reductions over the loop "
					     "first");
		}
		if (!check_order(&p, true)) {
			return false;
		}
	} else if (!stage_double(&p) || !check_order(&p, false)) {
		return true;
	}
	expand(&p);
	return true;
}

/* Inner loops first. */
static bool
pipeline_below(struct func *f, struct stmt *s)
{
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i]) {
			int n = s->n_children;

			if (!pipeline_below(f, s->children[i])) {
				return false;
			}
			/* a SEQ was spliced in at this place: skip its
			 * statements */
			i += s->n_children - n;
		}
	}
	return s->kind != STMT_FOR || pipeline_loop(f, s);
}

static void
drop_marks(struct func *f, struct stmt *s)
{
	for (int i = 0; i < s->n_children; i++) {
		struct stmt *child = s->children[i];

		while (child && child->kind == STMT_ATTR &&
		       (strcmp(child->u.key, PIPELINE_MARK) == 0 ||
			strcmp(child->u.key, DOUBLE_BUFFER) == 0)) {
			struct stmt *inner = child->children[0];
			int n = s->n_children;

			stmt_replace(f, child, inner);
			child = s->n_children == n ? s->children[i] : NULL;
			if (!child) {
				/* visit the statements that were spliced in at
				 * this place */
				i--;
			}
		}
		if (child) {
			drop_marks(f, child);
		}
	}
}

bool
lower_pipeline(struct func *f)
{
	if (!f->body) {
		return true;
	}
	if (!pipeline_below(f, f->body)) {
		return false;
	}
	drop_marks(f, f->body);
	return true;
}
