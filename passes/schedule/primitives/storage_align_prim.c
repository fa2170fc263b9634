/* SPDX-License-Identifier: Apache-2.0 */
/* storage_align and unsafe_set_dtype: set the padding and the element type of
 * an intermediate buffer.
 *
 * storage_align(A_shared, 0, axis=-2, factor=32, offset=1): the row pitch is 32
 * k + 1 elements, so that the elements of a column are in different banks of
 * shared memory */
#include "copy_block.h"
#include "iterate.h"
#include "promise.h"
#include "storage_align.h"

/* The buffer with the number `index`, an argument, among the buffers that the
 * block writes; NULL after a diagnostic if this buffer is a parameter. */
static const struct buffer *
inner_output(struct edit *e, const struct stmt *block,
	     const struct sched_value *index)
{
	const struct buffer *b = write_arg(block, index);

	if (func_has_param(e->f, b)) {
		edit_fail(e,
			  "block %s writes the parameter %s; only "
			  "intermediate buffers can change",
			  block->u.block->name, b->name);
		return NULL;
	}
	return b;
}

/* The list of a STORAGE_ALIGN note `old` with `entry` added; an entry of `old`
 * for the same buffer and axis is left out. */
static const struct expr *
with_alignment(struct edit *e, const struct expr *old,
	       const struct expr *const *entry)
{
	int n = old && expr_is_list(old) ? old->n_args : 0, i = 0, k = 0;
	const struct expr **list = arena_exprs(&e->m->arena, n + 1), *x;

	while ((x = storage_align_next(old, &i))) {
		if (x->args[0] != entry[0] || x->args[1] != entry[1]) {
			list[k++] = x;
		}
	}
	list[k++] = expr_list(e->m, entry, 4);
	return expr_list(e->m, list, k);
}

bool
prim_storage_align(struct edit *e, const struct sched_value *args,
		   struct sched_value *out)
{
	struct stmt *block = edit_block(e, args[0].u.id);
	int64_t axis = args[2].u.ival, factor = args[3].u.ival;
	const struct expr *entry[4];
	const struct buffer *b;

	(void)out;
	if (!block || !(b = inner_output(e, block, &args[1]))) {
		return false;
	}
	if (axis < -b->ndim || axis >= b->ndim) {
		return edit_fail(e, "%s has no axis %lld; it has %d", b->name,
				 (long long)axis, b->ndim);
	}
	axis += axis < 0 ? b->ndim : 0;
	if (axis == b->ndim - 1) {
		return edit_fail(e,
				 "the elements along the last axis of %s are "
				 "contiguous; align an outer axis",
				 b->name);
	}
	if (factor <= 0 || factor > STORAGE_ALIGN_MOST || args[4].u.ival < 0) {
		return edit_fail(e,
				 "factor %lld and offset %lld; the factor "
				 "must be from 1 to %d and the offset not "
				 "negative",
				 (long long)factor, (long long)args[4].u.ival,
				 STORAGE_ALIGN_MOST);
	}
	entry[0] = expr_i32(e->m, args[1].u.ival);
	entry[1] = expr_i32(e->m, axis);
	entry[2] = expr_i32(e->m, factor);
	entry[3] = expr_i32(e->m, args[4].u.ival);
	stmt_set_note(e->f, block, STORAGE_ALIGN,
		      with_alignment(e, stmt_note(block, STORAGE_ALIGN),
				     entry));
	return true;
}

/* -- element type */

struct retype {
	struct edit *e;
	const struct buffer *from, *to;
	bool same; /* elements of the new type can represent the same values */
};

static const struct expr *
retype_load(void *ctx, const struct expr *x)
{
	struct retype *r = ctx;
	struct module *m = r->e->m;
	const struct expr **index, *load = x;

	/* If the loaded value is cast to a third type, the cast is applied to
	 * the new type directly: the compiler then sees only one conversion. */
	if (r->same && x->kind == EXPR_CAST) {
		load = x->args[0];
	}
	if (load->kind != EXPR_LOAD || load->u.buffer != r->from) {
		return NULL;
	}
	index = arena_exprs(&m->arena, load->n_args + 1);
	for (int d = 0; d < load->n_args; d++) {
		index[d] = expr_rewrite(m, load->args[d], retype_load, r);
	}
	return expr_cast(m, load == x ? r->from->type : x->type,
			 expr_load(m, r->to, index, load->n_args));
}

/* Can the type `to` represent all values of `from`? Both must be types of
 * numbers. */
static bool
holds_values(struct dtype to, struct dtype from)
{
	if (dtype_is_int(to) && dtype_is_int(from)) {
		return dtype_min_int(to) <= dtype_min_int(from) &&
		       dtype_max_int(to) >= dtype_max_int(from);
	}
	return dtype_is_float(to) && dtype_is_float(from) &&
	       dtype_bits(to) >= 32 && dtype_bits(to) > dtype_bits(from);
}

bool
prim_unsafe_set_dtype(struct edit *e, const struct sched_value *args,
		      struct sched_value *out)
{
	struct stmt *block = edit_block(e, args[0].u.id), *s;
	struct retype r = { .e = e };
	struct buffer_spec spec = { 0 };

	(void)out;
	if (!block || !(r.from = inner_output(e, block, &args[1])) ||
	    !edit_check_no_address(e, r.from)) {
		return false;
	}
	spec = (struct buffer_spec){
		.name = r.from->name,
		.ndim = r.from->ndim,
		.shape = r.from->shape,
		.strides = r.from->strides,
		.scope = r.from->scope,
		.align_bytes = r.from->align_bytes,
	};
	if (!dtype_from_name(args[2].u.text, &spec.type) ||
	    spec.type.lanes != 1 ||
	    (!dtype_is_int(spec.type) && !dtype_is_float(spec.type))) {
		return edit_fail(e,
				 "\"%s\" is not an element type; use a type "
				 "such as \"float16\"",
				 args[2].u.text);
	}
	r.same = dtype_equal(spec.type, r.from->type) ||
		 holds_values(spec.type, r.from->type);
	if (!r.same) {
		if (!values_are_data(e, r.from)) {
			return false;
		}
		edit_note(e,
			  "%s holds %s in place of %s: that its values stay "
			  "the same is a promise of the schedule, which is not "
			  "checked",
			  r.from->name, dtype_name(spec.type),
			  dtype_name(r.from->type));
	}
	r.to = buffer_new(e->m, &spec);
	stmt_rewrite(e->f, e->f->body, retype_load, &r);
	for (struct stmt_iter it = stmt_each_of(e->f->body, STMT_STORE);
	     (s = stmt_next(&it));) {
		if (s->u.buffer == r.from) {
			stmt_set_arg(e->f, s, 0,
				     expr_cast(e->m, r.to->type, s->args[0]));
		}
	}
	buffer_swap_all(e->f, r.from, r.to);
	return true;
}
