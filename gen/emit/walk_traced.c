/* SPDX-License-Identifier: Apache-2.0 */
/* The call by which the entry function of a traced model shows a tensor to the
 * caller (struct program.traced). */
#include "kernel.h"
#include "walk_stmt.h"

enum { KERNEL = 1, TENSOR, TYPE, POINTER, FIRST_SIZE };

/* The sizes as the elements of an array of 64-bit integers; "1" for a scalar,
 * since no array is empty. */
static const char *
sizes_text(struct walker *w, const struct expr *e)
{
	const struct dtype wide = dtype_of(DT_I64);
	int n = e->n_args - FIRST_SIZE;
	const char **list = arena_array(w->a, const char *, n + 1);
	int64_t v;

	for (int i = 0; i < n; i++) {
		const struct expr *size = e->args[FIRST_SIZE + i];

		if (!expr_is_int(size, &v) || v > INT16_MAX) {
			size = expr_cast(w->m, wide, size);
		}
		list[i] = walk_expr(w, size, w->d->assignment);
	}
	list[n] = "1";
	return walk_with_commas(w, list, n > 0 ? n : 1);
}

/* Adds the number of bytes, or the product of the sizes and the bytes of an
 * element; bytes are those of the language, its chars. */
static void
add_bytes(struct walker *w, const struct expr *e, struct dtype type,
	  struct tdata *data)
{
	const struct dtype wide = dtype_of(DT_I64);
	const struct expr *count = expr_int(w->m, wide, 1);
	int64_t element_bytes = dtype_bytes(dtype_stored(type)), v;
	int octets = w->d->char_bits / 8;

	element_bytes = (element_bytes + octets - 1) / octets;

	for (int i = FIRST_SIZE; i < e->n_args; i++) {
		count = expr_mul(w->m, count,
				 expr_cast(w->m, wide, e->args[i]));
	}
	if (expr_is_int(count, &v)) {
		tdata_int(data, "bytes", quota_times(v, element_bytes));
		return;
	}
	tdata_text(data, "bytes", NULL);
	tdata_int(data, "element_bytes", element_bytes);
	tdata_text(data, "elements",
		   walk_expr(w, expr_cast(w->m, dtype_of(DT_U64), count),
			     w->d->unary));
}

struct piece
walk_traced(struct walker *w, const struct expr *e)
{
	struct tdata *data = tdata_new(w->a);
	struct dtype type;
	bool known = dtype_from_name(e->args[TYPE]->u.text, &type);

	if (!known || w->d->access.traced == NULL) {
		walk_fail(w, "a tensor that cannot be shown to the caller");
		return walk_failed_piece(w);
	}
	unit_need_type(w->u, dtype_of(DT_I64));
	tdata_text(data, "open", TEXT_OPEN);
	tdata_text(data, "close", TEXT_CLOSE);
	tdata_text(data, "br", TEXT_SPACE);
	tdata_text(data, "model", w->u->model);
	tdata_text(data, "kernel",
		   walk_text_literal(w, e->args[KERNEL]->u.text));
	tdata_text(data, "tensor",
		   walk_text_literal(w, e->args[TENSOR]->u.text));
	tdata_text(data, "type", walk_text_literal(w, e->args[TYPE]->u.text));
	tdata_int(data, "rank", e->n_args - FIRST_SIZE);
	tdata_text(data, "sizes", sizes_text(w, e));
	add_bytes(w, e, type, data);
	tdata_text(data, "pointer",
		   walk_expr(w, e->args[POINTER], w->d->assignment));
	return (struct piece){ walk_render(w, w->d->access.traced, data),
			       w->d->primary };
}
