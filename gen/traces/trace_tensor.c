/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors that a traced program shows, and their elements in the order of
 * the model: without blocks of channels, without halos, with the model's
 * numbers where a pass has shifted bytes. */
#include "traces.h"

void
traced_find(struct arena *a, const struct program *p, struct traced_list *out)
{
	const struct graph *g = p->graph;

	*out = (struct traced_list){ .list = { 0 } };
	for (int i = 0; i < g->inputs.n; i++) {
		struct traced x = { NULL, -1, g->inputs.data[i] };

		vec_push(a, &out->list, x);
	}
	for (int i = 0; i < g->states.n; i++) {
		struct traced x = { NULL, -1, g->states.data[i].before };

		vec_push(a, &out->list, x);
	}
	for (int i = 0; i < p->kernels.n; i++) {
		const struct kernel *k = p->kernels.data[i];

		for (int arg = 0; arg < k->args.n; arg++) {
			struct traced x = { k, i, k->args.data[arg].tensor };

			if (k->args.data[arg].kind == ARG_TENSOR &&
			    k->args.data[arg].written) {
				vec_push(a, &out->list, x);
			}
		}
	}
}

/* "[1,16,8]" */
static const char *
list_text(struct arena *a, const int64_t *list, int n)
{
	const char *text = "";

	for (int i = 0; i < n; i++) {
		text = arena_printf(a, "%s%s%lld", text, i > 0 ? "," : "",
				    (long long)list[i]);
	}
	return arena_printf(a, "[%s]", text);
}

/* The type of the model's tensor. */
static struct dtype
type_of(const struct tensor *t)
{
	if (t->stored_offset != 0) {
		return dtype_of(t->type.kind == DT_U8 ? DT_I8 : DT_U8);
	}
	return dtype_stored(t->type);
}

/* Sets out->shape to the sizes that the model's tensor has if `stored` are
 * those in memory. Returns NULL, or why they cannot be. */
static const char *
find_shape(struct arena *a, const struct tensor *t, const struct array *stored,
	   struct array *out)
{
	const struct tensor_layout *l = t->layout;
	int blocks = l != NULL && l->axis >= 0;

	if (!dtype_equal(stored->type, dtype_stored(t->type))) {
		return arena_printf(a, "has type %s, where the program has %s",
				    dtype_name(stored->type),
				    dtype_name(t->type));
	}
	if (stored->ndim != t->ndim + blocks ||
	    (blocks && stored->shape[t->ndim] != l->block)) {
		return arena_printf(a,
				    "has sizes %s, which are not those of the "
				    "program",
				    list_text(a, stored->shape, stored->ndim));
	}
	out->ndim = t->ndim;
	out->shape = arena_array(a, int64_t, t->ndim + 1);
	out->elems = 1;
	for (int d = 0; d < t->ndim; d++) {
		int64_t size = stored->shape[d], known;

		size = l == NULL      ? size
		       : d == l->axis ? quota_times(size, l->block)
				      : size - l->before[d] - l->after[d];
		if (size < 0 ||
		    (expr_is_int(t->shape[d], &known) && known != size)) {
			return arena_printf(a,
					    "has sizes %s, which are not those "
					    "of the program",
					    list_text(a, stored->shape,
						      stored->ndim));
		}
		out->shape[d] = size;
		out->elems = quota_times(out->elems, size);
	}
	return NULL;
}

/* Sets at[] to the index, in the model's tensor, of element i in memory. False if
 * it is in the halo. */
static bool
find_index(const struct tensor *t, const struct array *stored,
	   const struct array *out, int64_t i, int64_t *at)
{
	const struct tensor_layout *l = t->layout;
	int64_t within = 0;
	bool inside = true;

	if (l != NULL && l->axis >= 0) {
		within = i % l->block;
		i /= l->block;
	}
	for (int d = t->ndim - 1; d >= 0; d--) {
		at[d] = i % stored->shape[d];
		i /= stored->shape[d];
		if (l != NULL && d == l->axis) {
			at[d] = at[d] * l->block + within;
		} else if (l != NULL) {
			at[d] -= l->before[d];
		}
		inside = inside && at[d] >= 0 && at[d] < out->shape[d];
	}
	return inside;
}

static void
copy_element(const struct tensor *t, const struct array *stored, int64_t from,
	     struct array *out, int64_t to)
{
	size_t n = (size_t)dtype_bytes(stored->type);
	union number v;

	if (t->stored_offset == 0) {
		memcpy((char *)out->data + (size_t)to * n,
		       (const char *)stored->data + (size_t)from * n, n);
		return;
	}
	v = number_load(stored->type, stored->data, (size_t)from);
	v.i -= t->stored_offset;
	number_store(out->type, out->data, (size_t)to, v);
}

static double
number_of(const struct array *x, int64_t i)
{
	union number v = number_load(x->type, x->data, (size_t)i);

	return dtype_is_float(x->type)    ? v.f
	       : dtype_is_signed(x->type) ? (double)v.i
					  : (double)v.u;
}

const char *
traced_elements(struct arena *a, const struct tensor *t,
		const struct array *stored, struct array *out, bool *is_halo)
{
	const char *why = NULL;
	int64_t *at = arena_array(a, int64_t, t->ndim + 1);

	*is_halo = false;
	*out = (struct array){ .name = stored->name,
			       .type = type_of(t),
			       .is_string = t->is_string };
	why = find_shape(a, t, stored, out);
	if (why != NULL) {
		return why;
	}
	out->data = arena_alloc(a, (size_t)out->elems * (size_t)dtype_bytes(
								out->type) +
					   1);
	for (int64_t i = 0; i < stored->elems; i++) {
		int64_t to = 0;

		if (find_index(t, stored, out, i, at)) {
			for (int d = 0; d < t->ndim; d++) {
				to = to * out->shape[d] + at[d];
			}
			copy_element(t, stored, i, out, to);
		} else if (why == NULL && t->layout->filled &&
			   number_of(stored, i) != (double)t->layout->fill) {
			*is_halo = true;
			why = arena_printf(a,
					   "has %g beside its elements, at %s, "
					   "where the program has %lld",
					   number_of(stored, i),
					   list_text(a, at, t->ndim),
					   (long long)t->layout->fill);
		}
	}
	return why;
}
