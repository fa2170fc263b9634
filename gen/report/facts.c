/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of one function: its accesses, sums and loops. */
#include "facts.h"

#include "lower.h"
#include "size_words.h"
#include "value_range.h"

/* -- accesses -- */

/* Appends an end of a range; `last`: the upper end. A symbolic end is the end
 * of the extent. */
static void
put_end(const struct index_range *x, bool last, struct strbuf *out)
{
	int64_t v = last ? x->bounds.max : x->bounds.min;

	if (v != BOUND_NEG_INF && v != BOUND_POS_INF) {
		strbuf_printf(out, "%lld", (long long)v);
	} else if (x->is_within && last) {
		formula_put(x->extent, out);
		strbuf_puts(out, " - 1");
	} else {
		strbuf_puts(out, "any");
	}
}

static const char *
kept(struct arena *a, struct strbuf *s)
{
	const char *text = arena_strdup(a, s->data != NULL ? s->data : "");

	strbuf_release(s);
	return text;
}

static enum access_proof
proof_of(const struct access_range *x)
{
	enum access_proof proof = ACCESS_PROVEN;

	for (int d = 0; d < x->access.buffer->ndim; d++) {
		const struct index_range *one = &x->index[d];

		if (one->is_within) {
			continue;
		}
		if (!one->is_data) {
			return x->access.address ? ACCESS_ADDRESS
						 : ACCESS_NOT_PROVEN;
		}
		proof = ACCESS_BY_DATA;
	}
	return x->access.address ? ACCESS_ADDRESS : proof;
}

static struct access_row
row_of(struct arena *a, const struct access_range *x)
{
	const struct buffer *b = x->access.buffer;
	struct strbuf index, range, extents;
	struct access_row row = { .buffer = b,
				  .writes = x->access.load == NULL ||
					    x->access.fills,
				  .proof = proof_of(x),
				  .count = 1 };

	strbuf_init(&index);
	strbuf_init(&range);
	strbuf_init(&extents);
	for (int d = 0; d < b->ndim; d++) {
		strbuf_putc(&index, '[');
		formula_put(x->access.index[d], &index);
		strbuf_putc(&index, ']');
		strbuf_putc(&range, '[');
		put_end(&x->index[d], false, &range);
		strbuf_puts(&range, "..");
		put_end(&x->index[d], true, &range);
		strbuf_putc(&range, ']');
		strbuf_putc(&extents, '[');
		size_words(b->shape[d], &extents);
		strbuf_putc(&extents, ']');
	}
	row.index = kept(a, &index);
	row.range = kept(a, &range);
	row.extents = kept(a, &extents);
	return row;
}

static bool
same_row(const struct access_row *x, const struct access_row *y)
{
	return x->buffer == y->buffer && x->writes == y->writes &&
	       x->proof == y->proof && strcmp(x->index, y->index) == 0 &&
	       strcmp(x->range, y->range) == 0;
}

static void
add_access(struct arena *a, struct func_facts *facts, struct access_row row)
{
	for (int i = 0; i < facts->accesses.n; i++) {
		if (same_row(&facts->accesses.data[i], &row)) {
			facts->accesses.data[i].count++;
			return;
		}
	}
	vec_push(a, &facts->accesses, row);
}

/* -- sums -- */

/* States the ranges of the parameters that are constants; `bytes`: includes
 * constants of bytes. */
static void
state_constants(struct value_ranges *ranges, const struct report_request *r,
		const struct func *f, bool bytes)
{
	value_ranges_init(ranges, f, r->program->target->intrins);
	for (int i = 0; i < f->params.n; i++) {
		const struct buffer *b = f->params.data[i].buffer;
		struct bounds range;

		if (b != NULL && dtype_is_int(b->type) &&
		    (bytes || dtype_bits(b->type) > 8) &&
		    package_range_of_parameter(r->package, b, &range)) {
			value_ranges_state(ranges, b, range);
		}
	}
}

/* The range of a local array, first from the types of the terms whose sum it
 * holds, then also from the values of byte constants, as in the comments of the
 * source. */
static struct sum_row
sum_of(const struct report_request *r, const struct func *f,
       const struct buffer *b)
{
	struct value_ranges ranges;
	struct buffer_range found;

	for (int bytes = 0; bytes < 2; bytes++) {
		state_constants(&ranges, r, f, bytes);
		found = value_range_of_buffer(&ranges, b);
		if (found.how == RANGE_SUMMED) {
			break;
		}
	}
	return (struct sum_row){ b, found.range, found.how == RANGE_SUMMED };
}

static void
add_sums(const struct report_request *r, struct func_facts *facts)
{
	struct arena *a = &r->program->graph->module->arena;
	struct stmt *s;

	for (struct stmt_iter it = stmt_each_of(facts->func->body, STMT_ALLOC);
	     (s = stmt_next(&it));) {
		const struct buffer *b = s->u.buffer;

		if (dtype_class(b->type) == DTC_INT &&
		    dtype_bits(b->type) >= 32) {
			vec_push(a, &facts->sums, sum_of(r, facts->func, b));
		}
	}
}

struct func_facts *
func_facts_of(const struct report_request *r, const struct func *f)
{
	struct arena *a = &r->program->graph->module->arena;
	struct func_facts *facts = arena_new(a, struct func_facts);
	const struct access_ranges all = access_ranges_of(f);

	facts->func = f;
	for (int i = 0; i < all.list.n; i++) {
		add_access(a, facts, row_of(a, &all.list.data[i]));
	}
	add_sums(r, facts);
	facts->loops = loop_bounds_of(f);
	facts->stack_bytes = lower_stack_bytes(f);
	return facts;
}
