/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are alike before they are scheduled are scheduled and lowered
 * once: the second and further ones get a copy of the lowered function, with
 * parameters of their own.
 *
 *   relu1(x, y), relu2(x, y)   ->   one schedule, two functions
 *
 * Two functions are alike if their structure, all names in them, and the facts
 * of their arguments that schedules and lowering read are equal; then the
 * results are equal. Never shared are functions with symbolic sizes, functions
 * for a device, and functions that compute a region of a backend. Nothing is
 * shared if the caller observes or replaces passes. */
#include "kernel_build.h"
#include "layouts.h"
#include "script.h"

struct kept {
	uint64_t hash;
	/* the index of the next entry in the same slot of the hash table; -1:
	 * this is the last one */
	int next;
	/* the function before its schedule, and the function after lowering */
	const struct func *before, *after;
	const struct kernel_arg *args; /* the arguments before the schedule */
	int n_args;
	/* by argument: the layout of a constant; NULL if it has none or the
	 * argument is no constant */
	const struct index_map **maps;
	const char *schedule;
};

struct kernel_reuse {
	VEC(struct kept) list;
	int n_slots, *slots;
	/* The entry for the current kernel if no entry in the list was like it:
	 * it is added to the list when the kernel is lowered. */
	struct kept open;
	bool is_open;
	int n_messages;
};

struct kernel_reuse *
kernel_reuse_new(const struct builder *b)
{
	const struct pass_hooks *hooks = b->hooks;
	struct arena *a = &b->m->arena;
	struct kernel_reuse *r;

	if (b->p->target->max_threads > 0 ||
	    (hooks != NULL &&
	     (hooks->schedule != NULL || hooks->after_func != NULL ||
	      hooks->after_phase != NULL || hooks->n_added > 0))) {
		return NULL;
	}
	r = arena_new(a, struct kernel_reuse);
	r->n_slots = b->g->groups.n * 2 + 1;
	r->slots = arena_array(a, int, r->n_slots);
	memset(r->slots, -1, sizeof *r->slots * (size_t)r->n_slots);
	return r;
}

/* Have all parameters constant sizes, and has f no record of fused loops
 * (func.fused)? */
static bool
is_static(const struct func *f)
{
	int64_t elems;

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b == NULL || !buffer_const_elems(b, &elems)) {
			return false;
		}
	}
	return f->fused.n == 0;
}

static bool
same_tensor(const struct tensor *x, const struct tensor *y)
{
	return tensor_same_type(x, y) &&
	       (x->layout == y->layout ||
		(x->layout != NULL && y->layout != NULL &&
		 layout_equal(x->layout, y->layout, x->ndim)));
}

static bool
same_arg(const struct kernel_arg *x, const struct kernel_arg *y)
{
	return x->kind == y->kind && x->read == y->read &&
	       x->written == y->written && x->is_element == y->is_element &&
	       (x->weight == NULL) == (y->weight == NULL) &&
	       (x->weight == NULL || x->weight->paired == y->weight->paired) &&
	       (x->tensor == NULL) == (y->tensor == NULL) &&
	       (x->tensor == NULL || same_tensor(x->tensor, y->tensor));
}

static bool
is_like(const struct kept *x, const struct kept *y)
{
	if (x->hash != y->hash || x->n_args != y->n_args) {
		return false;
	}
	for (int i = 0; i < x->n_args; i++) {
		if (!same_arg(&x->args[i], &y->args[i])) {
			return false;
		}
	}
	return func_equal_named(x->before, y->before);
}

/* Gives k the result of scheduling and lowering an equal kernel: a clone of the
 * lowered function, with new buffers for the parameters, the description of the
 * schedule, and the new layouts (maps) of its weights. */
static void
take(struct module *m, struct kernel *k, const struct kept *x)
{
	struct func *f = func_clone(x->after, k->name);

	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;

		if (b != NULL) {
			func_replace_param(f, b,
					   buffer_with_shape(m, b, -1, NULL));
		}
	}
	k->func = f;
	k->schedule = x->schedule;
	for (int i = 0; i < k->args.n; i++) {
		if (x->maps[i] != NULL) {
			k->args.data[i].weight->map = x->maps[i];
		}
	}
}

bool
kernel_take_lowered(struct joint *j)
{
	struct kernel_reuse *r = j->b->reuse;
	struct module *m = j->b->m;
	struct kernel *k = j->k;
	struct kept x = { .before = k->func,
			  .args = k->args.data,
			  .n_args = k->args.n };

	if (r == NULL) {
		return false;
	}
	r->is_open = is_static(k->func);
	if (!r->is_open) {
		return false;
	}
	x.hash = func_hash(k->func, false);
	x.next = r->slots[x.hash % (uint64_t)r->n_slots];
	for (int at = x.next; at >= 0; at = r->list.data[at].next) {
		if (is_like(&r->list.data[at], &x)) {
			take(m, k, &r->list.data[at]);
			return true;
		}
	}
	/* The schedule will change the function, so a clone is kept. */
	x.before = func_clone(k->func, "");
	x.args = arena_copy(&m->arena, x.args,
			    sizeof *x.args * (size_t)x.n_args);
	r->open = x;
	r->n_messages = m->diags.list.n;
	return false;
}

void
kernel_keep_lowered(struct joint *j)
{
	struct kernel_reuse *r = j->b->reuse;
	struct module *m = j->b->m;
	struct kernel *k = j->k;

	/* A kernel with messages is not reused: each kernel must report its own
	 * messages. */
	if (r == NULL || !r->is_open || m->diags.list.n > r->n_messages) {
		return;
	}
	r->open.after = func_clone(k->func, "");
	r->open.schedule = k->schedule;
	r->open.maps = arena_array(&m->arena, const struct index_map *,
				   k->args.n + 1);
	for (int i = 0; i < k->args.n; i++) {
		r->open.maps[i] = k->args.data[i].weight != NULL
					  ? k->args.data[i].weight->map
					  : NULL;
	}
	r->slots[r->open.hash % (uint64_t)r->n_slots] = r->list.n;
	vec_push(&m->arena, &r->list, r->open);
}
