/* SPDX-License-Identifier: Apache-2.0 */
/* Identical code folding: kernels with equal bodies share one function. The
 * first in order of execution owns it, and the others call it with their
 * tensors and constants.
 *
 *   conv2(x, w2, y), conv3(y, w3, z)   ->   conv_3x3_16_16_32x32_relu, twice
 *
 * Functions count as equal if they differ only in names of variables and
 * arrays. Different literals in the body, and different known alignments, make
 * them unequal. If literals are the only difference, `same_but_literals`
 * records it, so that the comment can explain why there are two functions. A
 * function with several callers is named after its computation, so that its
 * name does not change when a kernel is inserted before the callers; a function
 * with one caller has that kernel's name. */
#include "backend.h"
#include "host_device.h"
#include "kernel_build.h"
#include "ops.h"
#include "plan.h"
#include "script.h"

/* -- equal kernels -- */

/* Sets *out to the functions of k: the function that is called, then, on a
 * device, the device kernels that it launches. Returns their number. */
static int
functions_of(struct arena *a, const struct kernel *k,
	     const struct func *const **out)
{
	int n = k->device != NULL ? k->device->n_launches : 0;
	const struct func **list = arena_array(a, const struct func *, n + 1);

	list[0] = k->func;
	for (int i = 0; i < n; i++) {
		list[i + 1] = k->device->launches[i].kernel;
	}
	*out = list;
	return n + 1;
}

static uint64_t
hash_of(const struct kernel *k, bool but_literals)
{
	uint64_t h = func_hash(k->func, but_literals);

	for (int i = 0; k->device != NULL && i < k->device->n_launches; i++) {
		h = h * 31 +
		    func_hash(k->device->launches[i].kernel, but_literals);
	}
	return h;
}

/* Do the arguments of two kernels correspond: equal kinds, equal memory spaces
 * (if the target has several), and the same symbolic sizes? */
static bool
same_args(const struct target *target, const struct kernel *a,
	  const struct kernel *b)
{
	if (a->args.n != b->args.n) {
		return false;
	}
	for (int i = 0; i < a->args.n; i++) {
		const struct kernel_arg *x = &a->args.data[i];
		const struct kernel_arg *y = &b->args.data[i];

		if (x->kind != y->kind || x->var != y->var ||
		    x->scratch_bytes != y->scratch_bytes ||
		    (x->in_place != NULL) != (y->in_place != NULL) ||
		    (target->interface_apart &&
		     a->func->params.data[i].space !=
			     b->func->params.data[i].space)) {
			return false;
		}
	}
	return true;
}

static bool
same_kernel(struct builder *b, const struct kernel *x, const struct kernel *y,
	    bool but_literals)
{
	struct arena *a = &b->m->arena;
	const struct func *const *of_x, *const *of_y;
	int n = functions_of(a, x, &of_x);

	return same_args(b->p->target, x, y) &&
	       x->forbids_contraction == y->forbids_contraction &&
	       functions_of(a, y, &of_y) == n &&
	       funcs_equal(of_x, of_y, n, but_literals);
}

/* Makes k call owner's function. */
static void
merge_into(struct builder *b, struct kernel *k, struct kernel *owner)
{
	k->func->body = NULL;
	for (int i = 0; k->device != NULL && i < k->device->n_launches; i++) {
		k->device->launches[i].kernel->body = NULL;
	}
	k->owner = owner;
	k->func = owner->func;
	k->device = owner->device;
	for (int i = 0; i < k->args.n; i++) {
		struct kernel_arg *arg = &k->args.data[i];
		struct placement *scratch =
			arg->kind != ARG_SCRATCH
				? NULL
				: plan_find_scratch(&b->p->plan, k,
						    arg->buffer);

		arg->buffer = owner->args.data[i].buffer;
		if (scratch != NULL) {
			scratch->scratch = arg->buffer;
		}
	}
	vec_push(&b->m->arena, &owner->callers, k);
}

/* Removes functions that no kernel calls any more from the module. */
static void
drop_unused(struct module *m)
{
	int kept = 0;

	for (int i = 0; i < m->funcs.n; i++) {
		if (m->funcs.data[i]->body != NULL) {
			m->funcs.data[kept++] = m->funcs.data[i];
		}
	}
	m->funcs.n = kept;
}

/* -- names -- */

struct wording {
	struct arena *a;
	const char *text;
};

static void
add_word(struct wording *w, const char *text)
{
	w->text = arena_printf(w->a, "%s_%s", w->text, text);
}

static void
add_number(struct wording *w, const char *before, int64_t v)
{
	add_word(w, arena_printf(w->a, "%s%lld", before, (long long)v));
}

/* Appends "56x56", the sizes from dimension `first` on, without leading sizes
 * of 1. */
static void
add_shape(struct wording *w, const struct tensor *t, int first)
{
	const char *text = "";

	for (int d = first; t != NULL && d < t->ndim; d++) {
		int64_t extent;

		if (!expr_is_int(t->shape[d], &extent)) {
			text = arena_printf(w->a, "%s%sn", text,
					    text[0] ? "x" : "");
		} else if (text[0] || extent != 1) {
			text = arena_printf(w->a, "%s%s%lld", text,
					    text[0] ? "x" : "",
					    (long long)extent);
		}
	}
	if (text[0]) {
		add_word(w, text);
	}
}

static bool
extent_of(const struct tensor *t, int d, int64_t *v)
{
	return t != NULL && d >= 0 && d < t->ndim &&
	       expr_is_int(t->shape[d], v);
}

/* Appends "3x3_s2_64_128": window, stride, channels. */
static void
add_window(struct wording *w, const struct node *n)
{
	const struct tensor *weights = n->n_inputs > 1 ? n->inputs[1] : NULL;
	const int64_t *v;
	int count = node_attr_ints(n, "kernel_shape", &v);
	const char *text = "";
	int64_t in, out;

	for (int i = 0; i < count; i++) {
		text = arena_printf(w->a, "%s%s%lld", text, i > 0 ? "x" : "",
				    (long long)v[i]);
	}
	if (text[0]) {
		add_word(w, text);
	} else if (weights != NULL && weights->ndim > 2) {
		add_shape(w, weights, 2);
	}
	count = node_attr_ints(n, "strides", &v);
	if (count > 0 && v[0] != 1) {
		add_number(w, "s", v[0]);
	}
	if (extent_of(n->outputs[0], 1, &out)) {
		if (weights != NULL && extent_of(n->inputs[0], 1, &in) &&
		    in != out) {
			add_number(w, "", in);
		}
		add_number(w, "", out);
	}
}

static bool
is_in_place(const struct kernel *k)
{
	for (int i = 0; i < k->args.n; i++) {
		if (k->args.data[i].in_place != NULL) {
			return true;
		}
	}
	return false;
}

/* A name for a function that several kernels call,
 * "conv_3x3_s2_64_128_28x28_relu": the operator, its sizes, and the operators
 * after it. If the name is too long, its last parts are left out. */
static const char *
body_name(struct builder *b, const struct kernel *k)
{
	const struct node *n = k->group->anchor;
	struct wording w = { &b->m->arena,
			     node_attr_string(n, "kernel_body",
					      operator_word(&b->m->arena, n)) };
	const char *sized;
	int64_t depth;
	bool behind = false;

	if (node_attr(n, "kernel_body") != NULL) {
		/* the operator's name tells enough: nothing is added */
	} else if (node_has_window(n)) {
		add_window(&w, n);
		add_shape(&w, n->outputs[0], 2);
	} else {
		if (n->op->fuse == FUSE_COMPUTE && n->inputs[0] != NULL &&
		    extent_of(n->inputs[0], n->inputs[0]->ndim - 1, &depth)) {
			add_number(&w, "", depth);
		}
		add_shape(&w, n->outputs[0], 0);
	}
	sized = w.text;
	if (is_in_place(k)) {
		add_word(&w, "in_place");
	}
	if (strlen(w.text) > (size_t)b->names.max_length) {
		return sized;
	}
	for (int i = 0; i < k->group->nodes.n; i++) {
		sized = w.text;
		if (behind) {
			add_word(&w,
				 operator_word(w.a, k->group->nodes.data[i]));
		}
		if (strlen(w.text) > (size_t)b->names.max_length) {
			return sized;
		}
		behind = behind || k->group->nodes.data[i] == n;
	}
	return w.text;
}

static void
name_function(struct builder *b, struct kernel *k)
{
	const char *stem = body_name(b, k);

	if (k->device == NULL) {
		k->func->name = name_set_add(&b->names, stem);
		return;
	}
	for (int i = 0; i < k->device->n_launches; i++) {
		struct func *kernel = k->device->launches[i].kernel;
		const char *name = name_set_add(&b->names, stem);

		func_rename_calls(k->func, INTRIN_LAUNCH, kernel->name, name);
		kernel->name = name;
	}
	k->func->name = k->device->launches[0].kernel->name;
}

/* -- all kernels -- */

struct bucket {
	uint64_t hash;
	struct kernel *owner;
	/* the index of the next kernel in the same bucket of the hash table;
	 * -1: this is the last one */
	int next;
};

struct buckets {
	struct builder *b;
	struct bucket *list;
	int n, n_slots, *slots;
	bool but_literals;
};

static void
buckets_init(struct buckets *s, struct builder *b, bool but_literals)
{
	struct arena *a = &b->m->arena;
	int n = b->p->kernels.n;

	*s = (struct buckets){ .b = b,
			       .n_slots = n * 2 + 1,
			       .but_literals = but_literals };
	s->list = arena_array(a, struct bucket, n + 1);
	s->slots = arena_array(a, int, s->n_slots);
	memset(s->slots, -1, sizeof *s->slots * (size_t)s->n_slots);
}

/* Returns the first kernel whose function equals that of k. If no kernel has
 * such a function, adds k to the buckets and returns NULL. */
static struct kernel *
find_or_add(struct buckets *s, struct kernel *k)
{
	uint64_t hash = hash_of(k, s->but_literals);
	int *slot = &s->slots[hash % (uint64_t)s->n_slots];

	for (int at = *slot; at >= 0; at = s->list[at].next) {
		if (s->list[at].hash == hash &&
		    same_kernel(s->b, s->list[at].owner, k, s->but_literals)) {
			return s->list[at].owner;
		}
	}
	s->list[s->n] = (struct bucket){ hash, k, *slot };
	*slot = s->n++;
	return NULL;
}

/* Notes that the kernel is `first` with other literals; NULL: it is like none. */
static void
note_alike(struct builder *b, struct kernel *k, const struct kernel *first)
{
	struct arena *a = &b->m->arena;
	const struct func *const *of_first, *const *of_k;
	struct literal_pairs *pairs;
	int n;

	k->same_but_literals = first;
	if (first == NULL) {
		return;
	}
	n = functions_of(a, first, &of_first);
	functions_of(a, k, &of_k);
	pairs = arena_new(a, struct literal_pairs);
	funcs_other_literals(a, of_first, of_k, n, pairs);
	k->other_literals = pairs;
}

void
kernels_merge(struct builder *b)
{
	struct program *p = b->p;
	struct buckets equal, alike;

	buckets_init(&equal, b, false);
	buckets_init(&alike, b, true);
	for (int i = 0; i < p->kernels.n; i++) {
		struct kernel *k = p->kernels.data[i], *owner;

		k->owner = k;
		vec_push(&b->m->arena, &k->callers, k);
		if (k->group->region != NULL) {
			continue;
		}
		owner = find_or_add(&equal, k);
		if (owner != NULL) {
			merge_into(b, k, owner);
		} else {
			note_alike(b, k, find_or_add(&alike, k));
		}
	}
	drop_unused(b->m);
	for (int i = 0; i < p->kernels.n; i++) {
		if (p->kernels.data[i]->callers.n > 1) {
			name_function(b, p->kernels.data[i]);
		}
	}
}
