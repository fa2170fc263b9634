/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the limits of the dialect's compiler: objects must not exceed its
 * largest size, and elements must not be narrower than its char. */
#include "kernel.h"
#include "packer.h"

static bool
too_large(struct packer *k, const char *what, const char *name, int64_t bytes,
	  const char *remedy)
{
	struct diag_place place = { .file = k->d->file };

	if (k->d->object_bytes == 0 || bytes <= k->d->object_bytes) {
		return false;
	}
	return !diag_error(&k->m->diags, DIAG_TOO_LARGE, place,
			   "%s%s has %lld bytes, but an object of dialect %s "
			   "can have %lld at most; %s",
			   what, name, (long long)bytes, k->d->name,
			   (long long)k->d->object_bytes, remedy);
}

static bool
too_narrow(struct packer *k, const char *what, const char *name, struct dtype t)
{
	struct diag_place place = { .file = k->d->file };

	if (8 * dtype_bytes(t) >= k->d->char_bits) {
		return false;
	}
	return !diag_error(&k->m->diags, DIAG_UNSUPPORTED, place,
			   "%s%s is of %s, which is narrower than the %d bits "
			   "of a char of dialect %s; choose another target",
			   what, name, dtype_name(t), k->d->char_bits,
			   k->d->name);
}

static bool
check_tensor(struct packer *k, const struct tensor *t)
{
	struct diag_place place = { .file = k->d->file };
	int64_t elems;

	if (!tensor_max_elems(t, &elems)) {
		return diag_error(&k->m->diags, DIAG_TOO_LARGE, place,
				  "nothing limits the number of elements of "
				  "tensor %s; give bounds of its sizes with "
				  "--dim or --bound",
				  t->name);
	}
	return !too_narrow(k, "tensor ", t->name, t->type) &&
	       !too_large(k, "tensor ", t->name, elems * dtype_bytes(t->type),
			  "use a smaller shape");
}

bool
limits_check(struct packer *k)
{
	bool ok = !too_large(k, "the workspace", "", k->p->plan.workspace_bytes,
			     "try --optimize memory or a smaller model");
	struct diag_place place = { .file = k->d->file };
	int octets = k->d->char_bits / 8;

	if (k->out->weights == WEIGHTS_FILE) {
		ok = !too_large(k, "the weights file", "", k->blob_bytes,
				"take --weights c") &&
		     ok;
	}
	for (int i = 0; i < k->p->weights.n; i++) {
		const struct weight *w = k->p->weights.data[i];

		ok = !too_large(k, "weight ", w->name, w->bytes,
				"use a smaller model") &&
		     !too_narrow(k, "weight ", w->name, w->buffer->type) && ok;
	}
	for (int i = 0; i < k->g->inputs.n; i++) {
		ok = check_tensor(k, k->g->inputs.data[i]) && ok;
	}
	for (int i = 0; i < k->g->outputs.n; i++) {
		ok = check_tensor(k, k->g->outputs.data[i]) && ok;
	}
	if (k->p->target->align_bytes % octets != 0) {
		ok = diag_error(
			&k->m->diags, DIAG_BAD_OPTION, place,
			"align_bytes of target %s is not a multiple of a "
			"char, %d bytes",
			k->p->target->name, octets);
	}
	return ok;
}
