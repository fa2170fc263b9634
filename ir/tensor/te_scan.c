/* SPDX-License-Identifier: Apache-2.0 */
/* te.scan: a loop that carries state.
 *
 *   s_init = te_compute(_, i: X[0, i])
 *   s_update = te_compute(t, i: s_state[t - 1, i] + X[t, i])
 *   Y = te_scan(s_init, s_update, s_state)
 *
 * becomes
 *
 *   for _, i in T.grid(1, n):
 *       with T.block("s_init"): Y[v__, v_i] = X[0, v_i]
 *   for t in range(1, m):
 *       for i in range(n):
 *           with T.block("s_update"):
 *               v_t = T.axis.scan((1, m), t)
 *               v_i = T.axis.spatial(n, i)
 *               Y[v_t, v_i] = Y[v_t - 1, v_i] + X[v_t, v_i]
 *
 * Stages between the state and the updates run inside the loop, each for the
 * times that one step needs. */
#include "sum.h"
#include "te_build.h"

/* ---- the stages of one step */

static bool
reads_state(const struct te_stage *s, const struct te_scan *scan, int n,
	    struct te_stage *const *body, int n_body)
{
	for (int i = 0; i < s->n_inputs; i++) {
		for (int k = 0; k < n; k++) {
			if (s->inputs[i] == scan->state[k]) {
				return true;
			}
		}
		for (int k = 0; k < n_body; k++) {
			if (s->inputs[i]->stage == body[k]) {
				return true;
			}
		}
	}
	return false;
}

struct body {
	struct module *m;
	struct te_scan *scan;
	int n;
	VEC(struct te_stage *) seen, list;
};

static bool
is_update(const struct body *b, const struct te_stage *s)
{
	for (int k = 0; k < b->n; k++) {
		if (b->scan->update[k]->stage == s) {
			return true;
		}
	}
	return false;
}

static void
collect_body(struct body *b, struct te_stage *s)
{
	if (vec_has(&b->seen, s)) {
		return;
	}
	vec_push(&b->m->arena, &b->seen, s);
	for (int i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i]->stage) {
			collect_body(b, s->inputs[i]->stage);
		}
	}
	if (is_update(b, s) ||
	    reads_state(s, b->scan, b->n, b->list.data, b->list.n)) {
		vec_push(&b->m->arena, &b->list, s);
	}
}

/* ---- the times that a step reads */

/* Is e the variable v plus a constant? If so, sets *offset to the constant. */
static bool
offset_from(const struct expr *e, const struct var *v, int64_t *offset)
{
	int64_t c;

	if (e->kind == EXPR_VAR) {
		*offset = 0;
		return e->u.var == v;
	}
	if (e->kind != EXPR_ADD && e->kind != EXPR_SUB) {
		return false;
	}
	if (expr_is_int(e->args[1], &c) && offset_from(e->args[0], v, offset)) {
		*offset += e->kind == EXPR_ADD ? c : -c;
		return true;
	}
	if (e->kind == EXPR_ADD && expr_is_int(e->args[0], &c) &&
	    offset_from(e->args[1], v, offset)) {
		*offset += c;
		return true;
	}
	return false;
}

struct times {
	struct module *m;
	struct te_scan *scan;
	int n;
	int reader; /* index in scan->body */
	const char **why;
	bool failed;
};

static void
fail(struct times *t, const char *why)
{
	if (!t->failed) {
		*t->why = why;
	}
	t->failed = true;
}

static void
note_state(struct times *t, const struct expr *load, int64_t offset)
{
	const struct te_body_time *at = &t->scan->times[t->reader];
	int64_t steps;

	if (offset + at->last >= 0) {
		fail(t, arena_printf(&t->m->arena,
				     "a step of the scan reads "
				     "its state '%s' at a time that is not "
				     "earlier; read [t - 1, …]",
				     load->u.buffer->name));
	} else if (expr_is_int(t->scan->axis.min, &steps) &&
		   offset + at->first < -steps) {
		fail(t, arena_printf(&t->m->arena,
				     "a step of the scan reads "
				     "its state '%s' %lld steps back, but "
				     "there are %lld initial ones; give more",
				     load->u.buffer->name,
				     (long long)-(offset + at->first),
				     (long long)steps));
	}
}

static void
note_load(struct times *t, const struct expr *e)
{
	const struct te_stage *reader = t->scan->body[t->reader];
	const struct te_body_time *at = &t->scan->times[t->reader];
	struct te_body_time *made = NULL;
	int64_t offset;
	bool state = false;

	if (e->kind != EXPR_LOAD) {
		return;
	}
	for (int k = 0; k < t->n; k++) {
		state |= t->scan->state[k]->buffer == e->u.buffer;
	}
	for (int i = 0; i < t->scan->n_body; i++) {
		const struct te_stage *s = t->scan->body[i];

		for (int k = 0; k < s->n_out; k++) {
			if (s->out[k]->buffer == e->u.buffer) {
				made = &t->scan->times[i];
			}
		}
	}
	if (!state && !made) {
		return;
	}
	if (!offset_from(e->args[0], reader->axes[0].var, &offset) ||
	    offset < -1000 || offset > 1000) {
		fail(t, arena_printf(&t->m->arena,
				     "'%s' is read at a time other than '%s' "
				     "plus or minus a constant; write the "
				     "time as the first index",
				     e->u.buffer->name,
				     reader->axes[0].var->name));
		return;
	}
	if (state) {
		note_state(t, e, offset);
		return;
	}
	if (at->first + offset < made->first) {
		made->first = at->first + (int)offset;
	}
	if (at->last + offset > made->last) {
		made->last = at->last + (int)offset;
	}
}

/* Sets the times of every stage, from the updates backwards through their
 * inputs. */
static bool
find_times(struct module *m, struct te_scan *scan, int n, const char **why)
{
	struct times t = { .m = m, .scan = scan, .n = n, .why = why };

	scan->times = arena_array(&m->arena, struct te_body_time,
				  scan->n_body + 1);
	for (int i = 0; i < scan->n_body; i++) {
		bool update = false;

		for (int k = 0; k < n; k++) {
			update |= scan->update[k]->stage == scan->body[i];
		}
		scan->times[i].first = update ? 0 : INT32_MAX;
		scan->times[i].last = update ? 0 : INT32_MIN;
	}
	for (t.reader = scan->n_body - 1; t.reader >= 0; t.reader--) {
		struct exprs parts = { 0 };
		struct tree_iter it;
		const struct expr *e;

		te_stage_parts(&m->arena, scan->body[t.reader], &parts);
		it = exprs_each(parts.list.data, parts.list.n);
		while ((e = tree_next(&it)) != NULL) {
			note_load(&t, e);
		}
	}
	return !t.failed;
}

/* ---- checks */

static bool
same_shape(const struct buffer *a, const struct buffer *b, int from)
{
	if (a->ndim != b->ndim) {
		return false;
	}
	for (int d = from; d < a->ndim; d++) {
		if (a->shape[d] != b->shape[d]) {
			return false;
		}
	}
	return true;
}

static bool
check_state(struct module *m, const struct te_tensor *init,
	    const struct te_tensor *update, const struct te_tensor *state,
	    const char **why)
{
	const char *name = state->buffer->name;
	int64_t steps, size;

	if (state->stage) {
		*why = arena_printf(&m->arena,
				    "the state '%s' is computed; "
				    "a state is a placeholder",
				    name);
	} else if (!update->stage || update->stage->kind != TE_COMPUTE) {
		*why = arena_printf(&m->arena,
				    "the update '%s' is not "
				    "computed by te.compute",
				    update->buffer->name);
	} else if (state->buffer->ndim < 1 ||
		   !same_shape(state->buffer, update->buffer, 0)) {
		*why = arena_printf(&m->arena,
				    "the shapes of the update '%s' and its "
				    "state '%s' differ; they must be equal",
				    update->buffer->name, name);
	} else if (!same_shape(state->buffer, init->buffer, 1)) {
		*why = arena_printf(&m->arena,
				    "the shapes of the initial steps '%s' "
				    "and the state '%s' differ; all but the "
				    "first dimension must be equal",
				    init->buffer->name, name);
	} else if (!dtype_equal(state->buffer->type, update->buffer->type) ||
		   !dtype_equal(state->buffer->type, init->buffer->type)) {
		*why = arena_printf(&m->arena,
				    "init, update and state '%s' "
				    "differ in type; cast them",
				    name);
	} else if (expr_is_int(init->buffer->shape[0], &steps) &&
		   (steps < 1 || (expr_is_int(state->buffer->shape[0], &size) &&
				  steps > size))) {
		*why = arena_printf(&m->arena,
				    "'%s' has %lld initial steps; give at "
				    "least one, and no more than the scan's "
				    "steps",
				    init->buffer->name, (long long)steps);
	} else {
		return true;
	}
	return false;
}

static bool
check_bodies(struct module *m, const struct te_scan *scan, const char **why)
{
	for (int i = 0; i < scan->n_body; i++) {
		const struct te_stage *s = scan->body[i];

		if (s->kind != TE_COMPUTE) {
			*why = arena_printf(&m->arena,
					    "'%s' reads the scan's state but "
					    "is not a te.compute; a step "
					    "consists of te.compute stages",
					    s->name);
			return false;
		}
		if (s->n_axes < 1) {
			*why = arena_printf(&m->arena,
					    "'%s' reads the scan's state but "
					    "has no time axis; make time its "
					    "first dimension",
					    s->name);
			return false;
		}
	}
	return true;
}

/* ---- the stage */

static void
add_input(struct te_stage *s, struct te_tensor *t)
{
	for (int i = 0; i < s->n_inputs; i++) {
		if (s->inputs[i] == t) {
			return;
		}
	}
	s->inputs[s->n_inputs++] = t;
}

static bool
in_body(const struct te_scan *scan, const struct te_stage *s)
{
	for (int i = 0; i < scan->n_body; i++) {
		if (scan->body[i] == s) {
			return true;
		}
	}
	return false;
}

/* Collects the tensors that are computed before the scan: the initial steps,
 * and the tensors that stages of a step read, except states and results of
 * stages of the step. */
static void
collect_inputs(struct module *m, struct te_stage *s)
{
	const struct te_scan *scan = s->scan;
	int n = s->n_out;

	for (int i = 0; i < scan->n_body; i++) {
		n += scan->body[i]->n_inputs;
	}
	s->inputs = arena_array(&m->arena, struct te_tensor *, n + 1);
	for (int k = 0; k < s->n_out; k++) {
		add_input(s, scan->init[k]);
	}
	for (int i = 0; i < scan->n_body; i++) {
		for (int k = 0; k < scan->body[i]->n_inputs; k++) {
			struct te_tensor *t = scan->body[i]->inputs[k];
			bool state = false;

			for (int j = 0; j < s->n_out; j++) {
				state |= scan->state[j] == t;
			}
			if (!state && (!t->stage || !in_body(scan, t->stage))) {
				add_input(s, t);
			}
		}
	}
}

bool
te_scan_settle(struct module *m, struct te_stage *s, const char **why)
{
	struct te_scan *scan = s->scan;
	struct body body = { .m = m, .scan = scan, .n = s->n_out };

	for (int k = 0; k < s->n_out; k++) {
		collect_body(&body, scan->update[k]->stage);
	}
	scan->body = body.list.data;
	scan->n_body = body.list.n;
	if (!check_bodies(m, scan, why) ||
	    !find_times(m, scan, s->n_out, why)) {
		return false;
	}
	s->n_inputs = 0;
	collect_inputs(m, s);
	return true;
}

bool
te_scan(struct module *m, const char *name, const char *tag,
	struct te_tensor *const *init, struct te_tensor *const *update,
	struct te_tensor *const *state, int n, struct te_tensor *const *inputs,
	int n_inputs, struct te_tensor **out, const char **why)
{
	struct arena *a = &m->arena;
	struct te_scan *scan = arena_new(a, struct te_scan);
	struct te_stage *s = arena_new(a, struct te_stage);
	const struct expr *steps, *end;

	(void)inputs;
	(void)n_inputs;
	if (n < 1) {
		*why = "a scan needs a state; give at least one";
		return false;
	}
	for (int k = 0; k < n; k++) {
		if (!check_state(m, init[k], update[k], state[k], why)) {
			return false;
		}
		if (init[k]->buffer->shape[0] != init[0]->buffer->shape[0] ||
		    state[k]->buffer->shape[0] != state[0]->buffer->shape[0]) {
			*why = arena_printf(a,
					    "the states '%s' and '%s' have "
					    "different numbers of steps; all "
					    "states of a scan have the same",
					    state[0]->buffer->name,
					    state[k]->buffer->name);
			return false;
		}
	}
	scan->init = arena_copy(a, init, sizeof *init * (size_t)n);
	scan->update = arena_copy(a, update, sizeof *update * (size_t)n);
	scan->state = arena_copy(a, state, sizeof *state * (size_t)n);
	steps = init[0]->buffer->shape[0];
	end = state[0]->buffer->shape[0];
	scan->axis = te_reduce_axis(m, update[0]->stage->axes[0].var->name,
				    range_extent(m, steps, end));
	scan->axis.min = steps;
	scan->axis.kind = ITER_SCAN;
	s->kind = TE_SCAN;
	s->name = arena_strdup(a, name);
	s->tag = tag;
	s->scan = scan;
	s->n_out = n;
	if (!te_scan_settle(m, s, why)) {
		return false;
	}
	s->out = arena_array(a, struct te_tensor *, n);
	for (int k = 0; k < n; k++) {
		const struct buffer *b = state[k]->buffer;
		struct te_tensor *t =
			te_placeholder(m,
				       n > 1 ? arena_printf(a, "%s_%d", name, k)
					     : name,
				       b->type, b->ndim, b->shape);

		t->stage = s;
		t->index = k;
		s->out[k] = t;
		out[k] = t;
	}
	return true;
}

/* ---- building */

static bool
listed_twice(struct te_tensor *const *list, int n, int k)
{
	for (int i = 0; i < n; i++) {
		if (i != k && list[i] == list[k]) {
			return true;
		}
	}
	return false;
}

/* Are the initial steps of state k computed directly into the result of the
 * scan, without a copy? */
static bool
init_in_place(const struct te_build *b, const struct te_stage *s, int k)
{
	const struct te_tensor *t = s->scan->init[k];

	return t->stage && t->stage->kind == TE_COMPUTE &&
	       !te_is_shared(b, t, s) &&
	       !listed_twice(s->scan->init, s->n_out, k);
}

/* Is the update of state k stored directly to the result of the scan? Then the
 * stages of a step that read the update read the scan's result instead. */
static bool
update_in_place(const struct te_build *b, const struct te_stage *s, int k)
{
	const struct te_scan *scan = s->scan;

	for (int i = 0; i < scan->n_body; i++) {
		if (scan->body[i] == scan->update[k]->stage &&
		    (scan->times[i].first != 0 || scan->times[i].last != 0)) {
			return false;
		}
	}
	return !te_is_param(b, scan->update[k]->buffer) &&
	       !listed_twice(scan->update, s->n_out, k);
}

static void
redirect(struct te_build *b, const struct te_tensor *from,
	 const struct te_tensor *to)
{
	struct te_redirect r = { from->buffer, to->buffer };

	vec_push(&b->m->arena, &b->redirects, r);
}

void
te_scan_redirect(struct te_build *b, const struct te_stage *s)
{
	for (int k = 0; k < s->n_out; k++) {
		redirect(b, s->scan->state[k], s->out[k]);
		if (init_in_place(b, s, k)) {
			redirect(b, s->scan->init[k], s->out[k]);
		}
		if (update_in_place(b, s, k)) {
			redirect(b, s->scan->update[k], s->out[k]);
		}
	}
}

struct stmt *
te_build_scan(struct te_build *b, const struct te_stage *s)
{
	const struct te_scan *scan = s->scan;
	struct arena *a = &b->m->arena;
	struct var *time = var_new(b->m, scan->axis.var->name,
				   scan->axis.var->type);
	struct te_step step = { time->expr, scan->axis, 0, 0 };
	VEC(struct stmt *) first = { 0 }, list = { 0 };
	const struct buffer *from;

	for (int k = 0; k < s->n_out; k++) {
		from = te_target(b, scan->init[k]->buffer);
		if (from != s->out[k]->buffer) {
			vec_push(a, &first,
				 te_build_copy(b,
					       arena_printf(a, "%s_init",
							    s->out[k]
								    ->buffer
								    ->name),
					       from, s->out[k]->buffer, NULL,
					       scan->axis.min));
		}
	}
	for (int i = 0; i < scan->n_body; i++) {
		step.first = scan->times[i].first;
		step.last = scan->times[i].last;
		vec_push(a, &list, te_build_compute(b, scan->body[i], &step));
	}
	step.first = step.last = 0;
	for (int k = 0; k < s->n_out; k++) {
		from = te_target(b, scan->update[k]->buffer);
		if (from != s->out[k]->buffer) {
			vec_push(a, &list,
				 te_build_copy(b, s->out[k]->buffer->name, from,
					       s->out[k]->buffer, &step, NULL));
		}
	}
	vec_push(a, &first,
		 stmt_for(b->f, time, scan->axis.min, scan->axis.extent,
			  FOR_SERIAL, stmt_seq(b->f, list.data, list.n)));
	return stmt_seq(b->f, first.data, first.n);
}
