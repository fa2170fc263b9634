/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the statements of software pipelines while these are still blocks: the
 * statements of a loop with software_pipeline_stage and _order, and blocks with
 * double_buffer_scope.
 *
 *   for i in T.serial(8, annotations={        for i in …:
 *           "software_pipeline_stage": [0, 1],    with T.attr("…", [0, 0]):
 *           "software_pipeline_order": [0, 1]}):      block A
 *       block A                            ->     with T.attr("…", [1, 1]):
 *       block B                                       block B
 *
 * The marks stay around the lowered blocks; the pass `pipeline` reads them
 * after the pass `storage` has placed the buffers. */
#include "lower_passes.h"

#include "pipeline_notes.h"

/* Sets *v to element i of the list e; false unless e is a list whose element i
 * is a non-negative integer. */
static bool
number_at(const struct expr *e, int i, int64_t *v)
{
	return e && expr_is_list(e) && i < e->n_args &&
	       expr_is_int(e->args[i], v) && *v >= 0;
}

/* The statements of the loop; those of a block without axes that is around all of
 * them, such as one that allocates the buffers between them, are the loop's. */
static struct stmt *
statements_of(const struct stmt *loop)
{
	struct stmt *body = loop->children[0], *inner = body;

	while (inner->kind == STMT_BLOCK && inner->children[1] == NULL &&
	       expr_is_value(inner->args[0], 1)) {
		inner = inner->children[0];
	}
	return inner->kind == STMT_SEQ ? inner : body;
}

/* Is the statement a pipelined loop? In TVM it becomes three statements: the iterations
 * before, of, and after the full steps. */
static bool
is_pipeline(const struct stmt *s)
{
	while (s->kind == STMT_BLOCK) {
		s = s->children[0];
	}
	return s->kind == STMT_FOR && stmt_note(s, PIPELINE_STAGE) != NULL;
}

/* The list without the two elements behind element `first`, which must be numbers; NULL
 * unless those three are equal (same), or follow each other with no other number of the
 * list between them. */
static const struct expr *
without_two(struct module *m, const struct expr *list, int first, bool same)
{
	const struct expr **left = arena_exprs(&m->arena, list->n_args);
	int64_t v[3], other;
	int n = 0;

	for (int i = 0; i < 3; i++) {
		if (!number_at(list, first + i, &v[i])) {
			return NULL;
		}
	}
	if (same ? v[0] != v[1] || v[1] != v[2]
		 : v[0] >= v[1] || v[1] >= v[2]) {
		return NULL;
	}
	for (int i = 0; i < list->n_args; i++) {
		if (i > first && i <= first + 2) {
			continue;
		}
		if (!same && i != first && number_at(list, i, &other) &&
		    other > v[0] && other < v[2]) {
			return NULL;
		}
		left[n++] = list->args[i];
	}
	return expr_list(m, left, n);
}

/* Leaves one stage and one place for each pipelined loop among the statements, which
 * TVM's annotations count as three. */
static void
count_loops_once(struct module *m, const struct stmt *body, int n,
		 const struct expr **stage, const struct expr **order)
{
	for (int i = 0; i < n && (*stage)->n_args > n; i++) {
		const struct stmt *child = body->kind == STMT_SEQ
						   ? body->children[i]
						   : body;
		const struct expr *s, *o;

		if (!is_pipeline(child) || (*stage)->n_args < i + 3) {
			continue;
		}
		s = without_two(m, *stage, i, true);
		o = without_two(m, *order, i, false);
		if (s && o) {
			*stage = s;
			*order = o;
		}
	}
}

/* Is a pipelined loop among the statements? */
static bool
has_pipeline(const struct stmt *body)
{
	for (int i = 0; body->kind == STMT_SEQ && i < body->n_children; i++) {
		if (is_pipeline(body->children[i])) {
			return true;
		}
	}
	return false;
}

/* Leaves the loop in the order of the source: its annotations put the parts of a
 * pipelined loop in it into different stages. The results are the same. */
static void
keep_order(struct func *f, struct stmt *loop)
{
	struct diag_place place = { .item = f->name };

	stmt_set_note(f, loop, PIPELINE_STAGE, NULL);
	stmt_set_note(f, loop, PIPELINE_ORDER, NULL);
	stmt_set_note(f, loop, PIPELINE_ASYNC, NULL);
	diag_note(&f->module->diags, DIAG_ASSUMPTION, place,
		  "loop %s runs in the order of the source: its software "
		  "pipeline would split the pipelined loop in it",
		  loop->u.loop.var->name);
}

static bool
mark_loop(struct func *f, struct stmt *loop)
{
	const struct expr *stage = stmt_note(loop, PIPELINE_STAGE);
	const struct expr *order = stmt_note(loop, PIPELINE_ORDER);
	struct stmt *body = statements_of(loop);
	int n = body->kind == STMT_SEQ ? body->n_children : 1;

	if (!stage || !order) {
		return pipeline_fail(f, loop,
				     "it has only one of %s and %s; "
				     "annotate both",
				     PIPELINE_STAGE, PIPELINE_ORDER);
	}
	if (loop->u.loop.kind != FOR_SERIAL &&
	    loop->u.loop.kind != FOR_UNROLLED) {
		return pipeline_fail(f, loop,
				     "the loop is %s; only loops that "
				     "run in order are pipelined",
				     for_kind_name(loop->u.loop.kind));
	}
	if (expr_is_list(stage) && expr_is_list(order) &&
	    stage->n_args == order->n_args) {
		count_loops_once(f->module, body, n, &stage, &order);
		if (stage->n_args > n && has_pipeline(body)) {
			keep_order(f, loop);
			return true;
		}
	}
	if (!expr_is_list(stage) || !expr_is_list(order) ||
	    stage->n_args != n || order->n_args != n) {
		return pipeline_fail(f, loop,
				     "it holds %d statements; give as "
				     "many stages and orders",
				     n);
	}
	for (int i = 0; i < n; i++) {
		struct stmt *child = body->kind == STMT_SEQ ? body->children[i]
							    : body;
		struct stmt_place place = stmt_place_of(child);
		int64_t a, b, c;

		if (!number_at(stage, i, &a) || !number_at(order, i, &b) ||
		    a > PIPELINE_STAGES) {
			return pipeline_fail(
				f, loop,
				"stage or order of "
				"statement %d is not a small number "
				"from 0 on",
				i);
		}
		for (int k = 0; k < i; k++) {
			if (number_at(order, k, &c) && c == b) {
				return pipeline_fail(
					f, loop,
					"statements %d and "
					"%d have the same place in "
					"the order",
					k, i);
			}
		}
		stmt_put(f, place,
			 stmt_attr(f, PIPELINE_MARK,
				   expr_list(f->module,
					     (const struct expr *[]){
						     stage->args[i],
						     order->args[i] },
					     2),
				   child));
	}
	return true;
}

static void
mark_block(struct func *f, struct stmt *block)
{
	struct stmt_place place = stmt_place_of(block);
	const struct expr *which = stmt_note(block, DOUBLE_BUFFER);
	int64_t n;

	if (place.parent && expr_is_int(which, &n) && n >= 0 &&
	    n < block->u.block->n_writes) {
		stmt_put(f, place, stmt_attr(f, DOUBLE_BUFFER, which, block));
	}
}

static bool
mark_below(struct func *f, struct stmt *s)
{
	for (int i = 0; i < s->n_children; i++) {
		if (s->children[i] && !mark_below(f, s->children[i])) {
			return false;
		}
	}
	if (s->kind == STMT_FOR &&
	    (stmt_note(s, PIPELINE_STAGE) || stmt_note(s, PIPELINE_ORDER))) {
		return mark_loop(f, s);
	}
	if (s->kind == STMT_BLOCK && stmt_note(s, DOUBLE_BUFFER)) {
		mark_block(f, s);
	}
	return true;
}

bool
lower_stages(struct func *f)
{
	return !f->body || mark_below(f, f->body);
}
