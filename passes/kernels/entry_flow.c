/* SPDX-License-Identifier: Apache-2.0 */
/* The branches and loops of the entry function:
 *
 *	for t in range(10):                 # EndLoop of body 1
 *	    cell(x, state, state, t, t % 2)
 *	if positive[0]:                     # EndIf
 *	    neg(state, y, 0)
 *
 * A loop with a condition counts its iterations:
 *
 *	iterations = 0
 *	while iterations < 100 and go[0]:
 *	    let t = iterations: …
 *	    iterations = t + 1 */
#include "entry.h"
#include "passes.h"

static struct stmt *flow(struct entry *e, int body);
static struct stmt *flow_after(struct entry *e, int body, struct stmt *first);

static struct graph_body *
body_at(const struct entry *e, int id)
{
	return &e->p->graph->bodies.data[id];
}

/* -- values that the entry function reads -- */

static const struct expr *
constant_scalar(struct entry *e, struct tensor *t)
{
	const struct value *v = tensor_value(e->p->graph, t);
	union number x = v->data != NULL ? number_load(v->type, v->data, 0)
					 : v->fill;

	return expr_int(e->m, v->type, x.i);
}

/* A load of the only element of t; t may be a state of the loop. */
static const struct expr *
read_scalar(struct entry *e, struct tensor *t)
{
	const struct kernel *near =
		e->p->kernels.data[e->next < e->p->kernels.n ? e->next : 0];
	struct tensor *whole = t->element_of != NULL ? t->element_of : t;
	const struct expr *at = expr_i32(e->m, 0), *extent = expr_i32(e->m, 2);
	const struct expr *pointer;
	struct buffer_spec spec;
	struct buffer *b;

	if (tensor_is_constant(t)) {
		return constant_scalar(e, t);
	}
	pointer = entry_read(e, near, whole);
	spec = (struct buffer_spec){
		.name = pointer->u.var->name,
		.type = dtype_stored(t->type),
		.ndim = 1,
		.shape = &extent,
	};
	b = buffer_new(e->m, &spec);
	b->data = pointer->u.var;
	if (t->element_of != NULL) {
		at = t->element;
		if (at->kind == EXPR_VAR) {
			at = entry_flow_size(e, at->u.var);
		}
	}
	return expr_load(e->m, b, &at, 1);
}

/* -- sizes of loops -- */

static bool
has_condition(const struct graph_body *loop)
{
	return node_loop_end(loop->end).condition;
}

static bool
is_counted(const struct graph_body *loop)
{
	return node_loop_end(loop->end).counted;
}

/* The number of iterations `count`, limited to 0 .. INT32_MAX and cast to the
 * type of the loop's iteration. */
static const struct expr *
limited(struct entry *e, const struct graph_body *loop,
	const struct expr *count)
{
	struct module *m = e->m;

	count = expr_max(m, count, expr_int(m, count->type, 0));
	count = expr_min(m, count, expr_int(m, count->type, INT32_MAX));
	return expr_cast(m, loop->iteration->type, count);
}

/* Is t, a number of iterations, a constant or a size? Then it need not be read
 * from memory. */
static bool
is_known_count(const struct tensor *t)
{
	return tensor_is_constant(t) || (t->elems != NULL && t->n_elems == 1);
}

static const struct expr *
known_count(struct entry *e, struct tensor *t)
{
	return tensor_is_constant(t) ? constant_scalar(e, t) : t->elems[0];
}

/* The most iterations that a loop may make: read from memory, or given by a
 * size, or a constant. */
static const struct expr *
trips(struct entry *e, int id)
{
	const struct graph_body *b = body_at(e, id);
	struct loop_end end = node_loop_end(b->end);

	return e->trips[id] != NULL ? expr_load(e->m, e->trips[id], NULL, 0)
	       : end.counted ? limited(e, b, known_count(e, b->end->inputs[0]))
			     : expr_int(e->m, b->iteration->type,
					end.trips >= 0 ? end.trips : INT32_MAX);
}

/* let n_given = n[0]: trips = min(max(n_given, 0), limit)
 * the loop */
static struct stmt *
begin_loop(struct entry *e, int id, struct stmt *loop)
{
	const struct graph_body *b = body_at(e, id);
	struct stmt *both[2] = { NULL, loop };
	struct tensor *t = b->end->inputs[0];
	struct var *given;

	if (e->trips[id] == NULL) {
		return loop;
	}
	given = entry_given(e, t->name, t->type);
	both[0] = stmt_let(e->f, given, read_scalar(e, t),
			   stmt_store(e->f, e->trips[id],
				      limited(e, b, given->expr), NULL, 0));
	return stmt_seq(e->f, both, 2);
}

const struct expr *
entry_flow_size(struct entry *e, const struct var *v)
{
	struct module *m = e->m;

	for (int i = 1; i < e->p->graph->bodies.n; i++) {
		const struct graph_body *b = body_at(e, i);
		const struct expr *count;

		if (b->end == NULL || !b->is_loop) {
			continue;
		}
		if (v == b->turn) {
			return expr_binary(m, EXPR_TRUNCMOD, b->iteration->expr,
					   expr_int(m, v->type, 2));
		}
		if (v == b->last) {
			count = e->counters[i] != NULL
					? expr_load(m, e->counters[i], NULL, 0)
					: trips(e, i);
			return expr_binary(m, EXPR_TRUNCMOD, count,
					   expr_int(m, count->type, 2));
		}
	}
	return v->expr;
}

/* -- statements -- */

static void
comment(struct entry *e, struct stmt *s, const struct node *end,
	const char *what)
{
	const char *label = node_label(e->p->graph, end);

	stmt_set_note(e->f, s, "comment_node", expr_string(e->m, label));
	stmt_set_note(e->f, s, "comment", expr_string(e->m, what));
}

/* A loop with a condition: it counts its iterations in memory, and runs as long
 * as state 0 is true. */
static struct stmt *
conditional_loop(struct entry *e, int id)
{
	const struct graph_body *b = body_at(e, id);
	const struct expr *go, *count;
	struct loop_end end = node_loop_end(b->end);
	const struct buffer *counter = e->counters[id];
	struct tensor *state = b->end->inputs[end.first];
	const struct expr *most = trips(e, id), *next;
	struct stmt *list[2], *body, *loop;
	struct var *iteration = b->iteration;
	struct var_map map = { &iteration, &count, 1 };

	count = expr_load(e->m, counter, NULL, 0);
	for (int i = 0; i < state->uses.n; i++) {
		const struct node *user = state->uses.data[i].node;

		if (node_is_carry(user)) {
			state = user->outputs[0];
			break;
		}
	}
	go = expr_cast(e->m, dtype_of(DT_BOOL), read_scalar(e, state));
	go = expr_substitute(e->m, go, &map);
	list[0] = flow(e, id);
	next = expr_add(e->m, b->iteration->expr,
			expr_int(e->m, b->iteration->type, 1));
	list[1] = stmt_store(e->f, counter, next, NULL, 0);
	body = stmt_let(e->f, b->iteration, count, stmt_seq(e->f, list, 2));
	loop = stmt_while(e->f, expr_and(e->m, expr_lt(e->m, count, most), go),
			  body);
	list[0] = stmt_store(e->f, counter,
			     expr_int(e->m, b->iteration->type, 0), NULL, 0);
	list[1] = loop;
	comment(e, loop, b->end,
		end.trips < 0 && !end.counted
			? ": until its condition is false"
			: ": at most the number of its iterations, until its "
			  "condition is false");
	return begin_loop(e, id, stmt_seq(e->f, list, 2));
}

/* Gives the loop s a comment that says why there is a loop over images, which
 * the model does not have (passes/graph/images.c). */
static void
images_comment(struct entry *e, struct stmt *s, int64_t count)
{
	const char *why = e->p->graph->settings->images_apart
				  ? "the workspace holds the activations of "
				    "one image"
				  : "the activations of one image stay in the "
				    "cache";
	const char *text = arena_printf(&e->m->arena,
					"%lld images, one after the other: %s",
					(long long)count, why);

	stmt_set_note(e->f, s, "comment", expr_string(e->m, text));
}

static struct stmt *
counted_loop(struct entry *e, int id)
{
	const struct graph_body *b = body_at(e, id);
	const struct expr *n = trips(e, id);
	struct stmt *s = stmt_for(e->f, b->iteration,
				  expr_int(e->m, b->iteration->type, 0), n,
				  FOR_SERIAL, flow(e, id));
	int64_t count;

	if (!expr_is_int(n, &count)) {
		comment(e, s, b->end, "");
	} else if (node_attr_int(b->end, "images", 0) != 0) {
		images_comment(e, s, count);
	} else {
		comment(e, s, b->end,
			arena_printf(&e->m->arena, ": %lld iterations",
				     (long long)count));
	}
	return begin_loop(e, id, s);
}

static struct stmt *
branches(struct entry *e, int id)
{
	const struct node *end = body_at(e, id)->end;
	const struct expr *c = expr_cast(e->m, dtype_of(DT_BOOL),
					 read_scalar(e, end->inputs[0]));
	int other = (int)node_attr_int(end, "else", 0);
	struct stmt *then = NULL, *otherwise = NULL, *s;

	if (!body_at(e, id)->is_else) {
		then = flow(e, id);
	}
	if (e->next < e->p->kernels.n &&
	    graph_body_within(e->p->graph,
			      kernel_body(e->p->kernels.data[e->next]),
			      other)) {
		otherwise = flow(e, other);
	}
	if (then == NULL) {
		then = otherwise;
		otherwise = NULL;
		c = expr_not(e->m, c);
	}
	s = stmt_if(e->f, c, then, otherwise);
	comment(e, s, end, "");
	return s;
}

/* The calls of the kernels of `body`, from kernel e->next on. */
static struct stmt *
flow(struct entry *e, int body)
{
	VEC(struct stmt *) list = { 0 };
	struct graph *g = e->p->graph;

	while (e->next < e->p->kernels.n) {
		const struct kernel *k = e->p->kernels.data[e->next];
		int inner = kernel_body(k);
		struct stmt *s, *shown = NULL;

		if (!graph_body_within(g, inner, body)) {
			break;
		}
		if (inner == body) {
			e->next++;
			s = entry_call_some(e, k);
			shown = e->p->traced ? entry_trace(e, k) : NULL;
		} else {
			while (body_at(e, inner)->parent != body) {
				inner = body_at(e, inner)->parent;
			}
			s = !body_at(e, inner)->is_loop ? branches(e, inner)
			    : has_condition(body_at(e, inner))
				    ? conditional_loop(e, inner)
				    : counted_loop(e, inner);
		}
		vec_push(&e->m->arena, &list, s);
		if (entry_reads_after(e, e->next - 1, body)) {
			vec_push(&e->m->arena, &list,
				 flow_after(e, body, shown));
			return stmt_seq(e->f, list.data, list.n);
		}
		if (shown != NULL) {
			vec_push(&e->m->arena, &list, shown);
		}
	}
	if (body == 0) {
		vec_push(&e->m->arena, &list, entry_give_sizes(e));
	}
	return stmt_seq(e->f, list.data, list.n);
}

/* The LETs of the sizes that are read after the last kernel that was called,
 * around `first` (unless NULL) and the rest of the body, as flow() makes it. */
static struct stmt *
flow_after(struct entry *e, int body, struct stmt *first)
{
	struct stmt *list[2] = { first, NULL };
	int kernel = e->next - 1;

	entry_load_sizes(e, kernel, body);
	list[1] = flow(e, body);
	return entry_with_sizes(e, kernel, body,
				first != NULL ? stmt_seq(e->f, list, 2)
					      : list[1]);
}

/* Memory for one number of iterations. */
static const struct buffer *
new_cell(struct entry *e, const char *name, const struct graph_body *loop)
{
	struct buffer_spec spec = {
		.name = name_set_add(&e->names, name),
		.type = loop->iteration->type,
		.scope = "local",
	};

	return buffer_new(e->m, &spec);
}

struct stmt *
entry_flow(struct entry *e)
{
	struct graph *g = e->p->graph;
	struct arena *a = &e->m->arena;
	struct stmt *s;

	e->counters = arena_array(a, const struct buffer *, g->bodies.n + 1);
	e->trips = arena_array(a, const struct buffer *, g->bodies.n + 1);
	for (int i = 1; i < g->bodies.n; i++) {
		const struct graph_body *b = body_at(e, i);

		if (b->end == NULL || !b->is_loop) {
			continue;
		}
		if (has_condition(b)) {
			e->counters[i] = new_cell(e, "iterations", b);
		}
		if (is_counted(b) && !is_known_count(b->end->inputs[0])) {
			e->trips[i] = new_cell(e, "trips", b);
		}
	}
	s = flow_after(e, 0,
		       e->p->traced && e->p->kernels.n > 0
			       ? entry_trace_inputs(e)
			       : NULL);
	for (int i = 1; i < g->bodies.n; i++) {
		if (e->counters[i] != NULL) {
			s = stmt_alloc(e->f, e->counters[i], s);
		}
		if (e->trips[i] != NULL) {
			s = stmt_alloc(e->f, e->trips[i], s);
		}
	}
	return s;
}
