/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the kernels of a compiled model for verification: builds each
 * kernel's function as it was before its schedule, pairs the parameters of this
 * function with those of the emitted kernel, and reads the constants. */
#include "interp.h"
#include "iterate.h"
#include "plan.h"
#include "rounding.h"
#include "tolerance.h"
#include "trial.h"
#include "verify_parts.h"

/* The elements of the constant of a parameter, in the order of the model's
 * tensor, which the interpreter expects; NULL if they cannot be read. */
static void *
constant_of(const struct verify_kernel *k, int param,
	    const struct weight *stored)
{
	struct module *m = k->program->graph->module;
	struct weight w = *stored;
	int64_t elems, bytes;
	void *data;

	if (!buffer_const_elems(k->plain->params.data[param].buffer, &elems)) {
		return NULL;
	}
	bytes = elems * dtype_bytes(k->plain->params.data[param].buffer->type);
	w.map = NULL;
	w.paired = false;
	if (!quota_check_memory(m, (struct diag_place){ .item = w.name },
				bytes)) {
		return NULL;
	}
	data = arena_alloc(&m->arena, (size_t)bytes + 1);
	return weight_copy(k->program->graph, &w, data, (size_t)bytes) ? data
								       : NULL;
}

static bool
has_sums(const struct func *f)
{
	struct stmt_iter it = stmt_each(f->body);
	const struct stmt *s;
	bool found = false;

	while ((s = stmt_next(&it)) != NULL) {
		found |= s->kind == STMT_WHILE;
		for (int i = 0;
		     s->kind == STMT_BLOCK && i < s->u.block->n_iters; i++) {
			found |= s->u.block->iters[i].kind != ITER_SPATIAL;
		}
	}
	return found;
}

/* Do two arguments stand for the same weight, tensor or size? */
static bool
same_arg(const struct kernel_arg *a, const struct kernel_arg *b)
{
	return a->kind == b->kind &&
	       (a->kind == ARG_WEIGHT   ? a->weight->tensor == b->weight->tensor
		: a->kind == ARG_TENSOR ? a->tensor == b->tensor
		: a->kind == ARG_DIM    ? a->var == b->var
					: false);
}

/* The position of an argument of the unscheduled function among the kernel's
 * arguments, or -1. Arguments that are paired already (taken) are skipped. */
static int
place_of(const struct kernel *k, const struct kernel_arg *arg,
	 const bool *taken)
{
	for (int i = 0; i < k->args.n; i++) {
		if (!taken[i] && same_arg(&k->args.data[i], arg)) {
			return i;
		}
	}
	return -1;
}

/* The position of the kernel's argument whose array overwrites the input in
 * place, or -1. */
static int
overwriter(const struct kernel *k, const struct tensor *input)
{
	for (int i = 0; i < k->args.n; i++) {
		if (k->args.data[i].in_place == input && input != NULL) {
			return i;
		}
	}
	return -1;
}

/* The argument that is parameter p of the unscheduled function: the symbolic sizes
 * are parameters behind the arguments of `again`, and are no arguments yet. */
static struct kernel_arg
argument(const struct kernel *again, int p)
{
	return p < again->args.n
		       ? again->args.data[p]
		       : (struct kernel_arg){
				 .kind = ARG_DIM,
				 .var = again->func->params.data[p].var
			 };
}

/* Sets k->place and k->over: pairs each parameter of the unscheduled function
 * with a parameter of the kernel. The kernel may have more parameters, for
 * scratch memory. Returns false if a parameter cannot be paired. */
static bool
place_params(struct verify_kernel *k, const struct kernel *again)
{
	struct arena *a = &k->plain->module->arena;
	const int n = k->plain->params.n;
	bool *taken = arena_array(a, bool, k->kernel->args.n + 1);

	k->place = arena_array(a, int, n + 1);
	k->over = arena_array(a, int, n + 1);
	for (int p = 0; p < n; p++) {
		struct kernel_arg arg = argument(again, p);

		k->over[p] = -1;
		k->place[p] = place_of(k->kernel, &arg, taken);
		if (k->place[p] >= 0) {
			taken[k->place[p]] = true;
		}
	}
	for (int p = 0; p < n; p++) {
		if (k->place[p] >= 0) {
			continue;
		}
		k->place[p] = overwriter(k->kernel, argument(again, p).tensor);
		if (k->place[p] < 0) {
			return false;
		}
		for (int y = 0; y < n; y++) {
			if (y != p && k->place[y] == k->place[p]) {
				k->over[y] = p;
			}
		}
	}
	for (int i = 0; i < k->kernel->args.n; i++) {
		if (!taken[i] && k->kernel->args.data[i].kind != ARG_SCRATCH) {
			return false;
		}
	}
	return true;
}

int
verify_param_at(const struct verify_kernel *k, int place)
{
	int found = -1;

	for (int p = 0; p < k->plain->params.n; p++) {
		if (k->place[p] == place && (found < 0 || k->over[p] >= 0)) {
			found = p;
		}
	}
	return found;
}

static void
set_tolerance(struct verify_kernel *k)
{
	const enum dtype_kind computed = trial_arithmetic(k->plain);
	struct type_tolerance t = { 0 };

	k->floats = computed != DT_VOID;
	if (k->floats) {
		t = tolerance_of_type(dtype_of(computed));
	}
	for (int i = 0; i < k->plain->params.n; i++) {
		const struct buffer *b = k->plain->params.data[i].buffer;

		if (b != NULL && dtype_is_float(b->type)) {
			struct type_tolerance own = tolerance_of_type(
				dtype_of((enum dtype_kind)b->type.kind));

			t = own.rtol > t.rtol ? own : t;
		}
	}
	k->rtol = t.rtol;
	k->atol = t.atol;
	k->share = t.inputs;
}

static const char *
prepare(struct verify_kernel *k)
{
	struct kernel_again again;

	if (k->kernel->group->region != NULL) {
		return "a backend computes it";
	}
	if (k->kernel->device != NULL) {
		return "a device computes it";
	}
	if (!kernel_again(k->program, k->kernel, &again)) {
		return "its definition cannot be built again";
	}
	k->plain = again.plain;
	if (!place_params(k, again.kernel)) {
		return "its parameters are not those of its definition";
	}
	k->constants = arena_array(&k->plain->module->arena, void *,
				   k->plain->params.n + 1);
	for (int i = 0; i < again.kernel->args.n; i++) {
		if (again.kernel->args.data[i].kind != ARG_WEIGHT) {
			continue;
		}
		k->constants[i] =
			constant_of(k, i, again.kernel->args.data[i].weight);
		if (k->constants[i] == NULL) {
			return "a constant is stored in parts";
		}
	}
	k->sums = has_sums(k->plain);
	k->contracts = !k->sums && func_contracts(k->plain) &&
		       strcmp(k->program->target->fp, "strict") != 0;
	set_tolerance(k);
	return NULL;
}

void
verify_kernel_init(struct program *p, int i, struct verify_kernel *out)
{
	struct diags *diags = &p->graph->module->diags;
	int n_diags = diags->list.n;

	*out = (struct verify_kernel){
		.program = p,
		.kernel = p->kernels.data[i],
		.finite = strcmp(p->target->fp, "fast") == 0,
	};
	out->obstacle = prepare(out);
	diags_drop_errors(diags, n_diags, DIAG_COUNT);
}

int
verify_sizes(const struct verify_kernel *k)
{
	for (int i = 0; i < k->plain->params.n; i++) {
		if (k->plain->params.data[i].buffer == NULL) {
			return TRIAL_SIZES;
		}
	}
	return 1;
}

const char *
verify_constant(struct arena *a, const struct verify_kernel *k,
		const struct weight *w, const unsigned char *got)
{
	/* two elements of 4 bits in a byte are compared together */
	struct dtype t = w->paired ? dtype_of(DT_U8)
				   : dtype_stored(w->tensor->type);
	size_t unit = (size_t)dtype_bytes(t);
	unsigned char *want = arena_alloc(a, (size_t)w->bytes + 1);

	if (!weight_copy(k->program->graph, w, want, (size_t)w->bytes)) {
		return NULL;
	}
	for (size_t i = 0; (i + 1) * unit <= (size_t)w->bytes; i++) {
		if (memcmp(want + i * unit, got + i * unit, unit) != 0) {
			return arena_printf(a,
					    "%s[%zu] is stored as %s, not %s",
					    w->name, i,
					    verify_number_text(a, t, got,
							       (int64_t)i),
					    verify_number_text(a, t, want,
							       (int64_t)i));
		}
	}
	return NULL;
}
