/* SPDX-License-Identifier: Apache-2.0 */
/* loop_partition: splits a loop into consecutive loops over parts of its range.
 *
 *   for i in range(10):      loop_partition(i, [2, 5])   for i_0 in range(2):
 *       with T.block("B"):            ->                     B_i_0
 *           v = T.axis.spatial(10, i)                    for i_1 in range(2, 7):
 *                                                            B_i_1
 *                                                        for i_2 in range(7, 10):
 *                                                            B_i_2
 */
#include "block_init.h"
#include "copy_block.h"
#include "edit.h"

struct parts {
	struct edit *e;
	struct stmt *loop;
	const struct expr **begin, **extent;
	int n;
};

static bool
check_factors(struct parts *p, const struct sched_value *factors,
	      int64_t *total, int *inferred)
{
	*total = 0;
	*inferred = -1;
	for (int i = 0; i < p->n; i++) {
		if (factors[i].kind == SV_NONE && *inferred >= 0) {
			return edit_fail(p->e,
					 "factors %d and %d are None; "
					 "only one can be inferred",
					 *inferred, i);
		}
		if (factors[i].kind == SV_NONE) {
			*inferred = i;
			continue;
		}
		if (factors[i].kind != SV_INT || factors[i].u.ival <= 0 ||
		    factors[i].u.ival > INT32_MAX) {
			return edit_fail(p->e,
					 "factor %d is not a positive "
					 "constant; give the number of "
					 "iterations of each part",
					 i);
		}
		*total += factors[i].u.ival;
	}
	return true;
}

/* Computes the starts and extents of the parts. With a symbolic extent, each
 * part has the smaller of the requested and the remaining extent. False after a
 * diagnostic. */
static bool
find_ranges(struct parts *p, const struct sched_value *factors, int n)
{
	struct module *m = p->e->m;
	const struct expr *size = p->loop->args[1], *start;
	struct dtype t = size->type;
	int64_t total, extent;
	int inferred;
	struct analyser a;

	p->n = n;
	if (n < 1) {
		return edit_fail(p->e, "no factors; give at least one");
	}
	if (!check_factors(p, factors, &total, &inferred)) {
		return false;
	}
	if (expr_is_int(size, &extent) &&
	    (total > extent || (inferred >= 0 && total == extent))) {
		return edit_fail(p->e,
				 "loop %s has only %lld iterations; the "
				 "factors must add up to fewer",
				 p->loop->u.loop.var->name, (long long)extent);
	}
	if ((uint64_t)total > dtype_max_int(t)) {
		return edit_fail(p->e,
				 "the factors add up to %lld, which the type "
				 "of loop %s does not hold",
				 (long long)total, p->loop->u.loop.var->name);
	}
	p->n += inferred < 0 && !expr_is_value(size, total);
	p->begin = arena_exprs(&m->arena, p->n);
	p->extent = arena_exprs(&m->arena, p->n);
	analyser_at(&a, m, p->loop);
	start = expr_int(m, t, 0);
	for (int i = 0; i < p->n; i++) {
		const struct expr *left = expr_sub(m, size, start), *end;

		end = i == n ? size
		      : i == inferred
			      ? expr_add(m, start,
					 expr_max(m,
						  expr_sub(m, size,
							   expr_int(m, t,
								    total)),
						  expr_int(m, t, 0)))
			      : expr_add(m, start,
					 expr_min(m, left,
						  expr_int(m, t,
							   factors[i].u.ival)));
		p->begin[i] = simplify(&a, start);
		p->extent[i] = simplify(&a, expr_sub(m, end, start));
		start = simplify(&a, end);
	}
	return true;
}

/* Does the reduction start in the first iterations of the loops that drive it?
 * Then lowering can place the reduction's init before these loops. False if
 * such a loop drives spatial iter vars, too: then each iteration must test
 * whether the reduction starts. */
static bool
starts_at_first(struct parts *p, const struct stmt *block)
{
	struct module *m = p->e->m;
	const struct block *b = block->u.block;
	struct analyser a;
	bool good = true;

	analyser_at(&a, m, block);
	for (int i = 0; i < b->n_iters && good; i++) {
		const struct expr *x = block->args[i + 1];

		if (b->iters[i].kind != ITER_REDUCE) {
			continue;
		}
		for (const struct stmt *s = block->parent;
		     s && s->kind != STMT_BLOCK; s = s->parent) {
			struct var_map map = { NULL, NULL, 1 };
			struct var *v;

			if (s->kind != STMT_FOR ||
			    !loop_drives(s, block, true)) {
				continue;
			}
			if (loop_drives(s, block, false)) {
				return true;
			}
			v = s->u.loop.var;
			map.from = &v;
			map.to = (const struct expr **)&s->args[0];
			x = expr_substitute(m, x, &map);
		}
		good = prove_equal(&a, x, b->iters[i].min);
	}
	return good;
}

static bool
never_starts(struct parts *p, const struct stmt *block)
{
	struct module *m = p->e->m;
	const struct block *b = block->u.block;
	struct analyser a;

	analyser_at(&a, m, block);
	for (int i = 0; i < b->n_iters; i++) {
		if (b->iters[i].kind == ITER_REDUCE &&
		    prove(&a,
			  expr_lt(m, b->iters[i].min, block->args[i + 1]))) {
			return true;
		}
	}
	return false;
}

/* Removes the init of reductions from all parts except the first. False after a
 * diagnostic. */
static bool
settle_inits(struct parts *p, struct stmt *loop, int part)
{
	struct stmt_list blocks = { 0 };

	blocks_below(p->e->f, loop, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];

		if (!b->children[1] || starts_at_first(p, b)) {
			continue;
		}
		if (!never_starts(p, b)) {
			return edit_fail(p->e,
					 "a reduction of block %s may "
					 "start in the middle of part %d of "
					 "loop %s; decompose it first",
					 b->u.block->name, part,
					 p->loop->u.loop.var->name);
		}
		stmt_set_child(p->e->f, b, 1, NULL);
	}
	return true;
}

/* Gives the blocks in `loop`, one of the parts, unique names, and restricts
 * iter vars that are bound to the loop's variable to the range of this part. */
static void
finish_part(struct parts *p, struct stmt *loop, bool keep_units)
{
	struct func *f = p->e->f;
	struct module *m = p->e->m;
	struct stmt_list blocks = { 0 };

	blocks_below(f, loop, &blocks);
	for (int i = 0; i < blocks.list.n; i++) {
		struct stmt *b = blocks.list.data[i];
		struct block copy = *b->u.block;

		copy.name =
			free_block_name(p->e,
					arena_printf(&m->arena, "%s_%s",
						     copy.name,
						     loop->u.loop.var->name));
		copy.iters = arena_copy(&m->arena, copy.iters,
					sizeof *copy.iters *
						(size_t)copy.n_iters);
		for (int k = 0; k < copy.n_iters; k++) {
			if (b->args[k + 1] == loop->u.loop.var->expr &&
			    copy.iters[k].kind == ITER_SPATIAL) {
				copy.iters[k].min = loop->args[0];
				copy.iters[k].extent = loop->args[1];
			}
		}
		stmt_set_block(f, b, &copy);
	}
	bindings_simplify(f, loop, keep_units);
}

static struct stmt *
make_part(struct parts *p, int i)
{
	struct func *f = p->e->f;
	struct module *m = p->e->m;
	struct var *old = p->loop->u.loop.var, *v;
	struct stmt *body, *loop;
	struct var_map map = { &old, NULL, 1 };

	/* A clone of the whole loop has new variables in place of those that
	 * are bound in it, and keeps variables from outside of it. */
	loop = stmt_clone(f, p->loop, true);
	v = var_new(m, arena_printf(&m->arena, "%s_%d", old->name, i),
		    old->type);
	map.from = &loop->u.loop.var;
	map.to = &v->expr;
	body = loop->children[0];
	stmt_substitute(f, body, &map);
	return stmt_for(f, v, expr_add(m, p->loop->args[0], p->begin[i]),
			p->extent[i], FOR_SERIAL, body);
}

bool
prim_loop_partition(struct edit *e, const struct sched_value *args,
		    struct sched_value *out)
{
	struct parts p = { .e = e, .loop = edit_loop(e, args[0].u.id) };
	struct stmt_place place;
	struct stmt **list;
	struct sched_value *loops;

	if (!p.loop) {
		return false;
	}
	if (p.loop->u.loop.kind != FOR_SERIAL || p.loop->notes) {
		return edit_fail(e,
				 "loop %s is %s; partition before "
				 "annotating",
				 p.loop->u.loop.var->name,
				 for_kind_name(p.loop->u.loop.kind));
	}
	if (!find_ranges(&p, args[1].items, args[1].n)) {
		return false;
	}
	place = stmt_place_of(p.loop);
	list = arena_array(&e->m->arena, struct stmt *, p.n);
	loops = arena_array(&e->m->arena, struct sched_value, p.n);
	for (int i = 0; i < p.n; i++) {
		list[i] = make_part(&p, i);
		loops[i] = sv_loop(list[i]->id);
	}
	stmt_put(e->f, place, stmt_seq(e->f, list, p.n));
	for (int i = 0; i < p.n; i++) {
		finish_part(&p, list[i], args[2].u.ival);
		if (!settle_inits(&p, list[i], i)) {
			return false;
		}
	}
	*out = sv_list(e->m, loops, p.n);
	return true;
}
