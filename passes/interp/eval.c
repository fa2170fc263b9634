/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter's evaluation of expressions, lane by lane. */
#include <math.h>

#include "frame.h"

int64_t
buffer_offset(struct frame *f, struct buffer_cell *c, struct node *const *index,
	      int lane)
{
	int64_t offset = 0;

	for (int d = 0; d < c->buffer->ndim; d++) {
		const struct node *n = index[d];
		int64_t at = n->value[n->lanes > 1 ? lane : 0].i;

		if (at < 0 || at >= c->extent[d]) {
			interp_fail(f,
				    "index %lld of dimension %d of '%s' is "
				    "outside of 0..%lld",
				    (long long)at, d, c->buffer->name,
				    (long long)c->extent[d] - 1);
			return -1;
		}
		offset += at * c->stride[d];
	}
	if (offset < 0 || offset >= c->room) {
		interp_fail(f,
			    "element %lld of '%s' is outside of its array of "
			    "%lld bytes",
			    (long long)offset, c->buffer->name,
			    (long long)c->room_bytes);
		return -1;
	}
	return offset;
}

static void
eval_load(struct frame *f, struct node *n)
{
	struct buffer_cell *c = n->buffer;
	struct dtype t = c->buffer->type;

	if (!c->bound || !c->data) {
		interp_fail(f, "'%s' is read but has no storage",
			    c->buffer->name);
		return;
	}
	for (int i = 0; i < n->lanes / t.lanes; i++) {
		int64_t at = buffer_offset(f, c, n->args, i);

		if (at < 0) {
			return;
		}
		if (c->written && !c->written[at]) {
			interp_fail(f,
				    "element %lld of '%s' is read before "
				    "it is written",
				    (long long)at, c->buffer->name);
			return;
		}
		if (race_is_noted(f, c)) {
			race_note(f, c, at, RACE_READS);
		}
		for (int k = 0; k < t.lanes; k++) {
			n->value[i * t.lanes + k] =
				number_load(t, c->data,
					    (size_t)(at * t.lanes + k));
		}
	}
}

static void
eval_choice(struct frame *f, struct node *n)
{
	struct node *c = n->args[0];
	bool lazy = n->expr->kind == EXPR_IF;

	node_eval(f, c);
	if (lazy && c->lanes == 1) {
		struct node *taken = n->args[c->value[0].i ? 1 : 2];

		node_eval(f, taken);
		memcpy(n->value, taken->value,
		       sizeof *n->value * (size_t)n->lanes);
		return;
	}
	node_eval(f, n->args[1]);
	node_eval(f, n->args[2]);
	for (int i = 0; i < n->lanes; i++) {
		bool yes = c->value[c->lanes > 1 ? i : 0].i;

		n->value[i] = n->args[yes ? 1 : 2]->value[i];
	}
}

static void
eval_logical(struct frame *f, struct node *n)
{
	struct node *a = n->args[0];
	struct node *b = n->args[1];
	bool is_and = n->expr->kind == EXPR_AND;

	node_eval(f, a);
	if (n->lanes == 1 && (a->value[0].i != 0) != is_and) {
		n->value[0] = a->value[0];
		return;
	}
	node_eval(f, b);
	for (int i = 0; i < n->lanes; i++) {
		n->value[i].i = is_and ? a->value[i].i && b->value[i].i
				       : a->value[i].i || b->value[i].i;
	}
}

static void
report_fault(struct frame *f, const struct node *n, enum scalar_fault fault)
{
	if (fault == SCALAR_DIVISION) {
		interp_fail(f, "division by zero");
	} else {
		interp_fail(f, "'%s' is not defined for %s",
			    intrin_name(n->expr->u.intrin),
			    dtype_name(n->args[0]->expr->type));
	}
}

static void
eval_address(struct frame *f, struct node *n)
{
	struct node *load = n->args[0];
	struct buffer_cell *c = load->buffer;

	for (int d = 0; d < c->buffer->ndim; d++) {
		node_eval(f, load->args[d]);
	}
	if (!c->bound || !c->data || f->interp->failed) {
		interp_fail(f, "the address of '%s' has no storage",
			    c->buffer->name);
		return;
	}
	int64_t at = buffer_offset(f, c, load->args, 0);

	if (at >= 0) {
		if (c->written && !f->interp->source) {
			/* which elements are written through the address is not
			 * known: all elements count as written; in a source,
			 * the callees note what they write (frame_call) */
			memset(c->written, 1, (size_t)c->elems);
		}
		n->value[0].u = (uint64_t)(uintptr_t)c->data +
				(uint64_t)(at * c->elem_bytes);
	}
}

/* Copies a box in dimensions d, d + 1, … to `to`, and returns the end of the
 * copy. from: the element at index 0 in these dimensions; NULL: the indices in
 * the outer dimensions are outside of the array, and zeros are stored. */
static unsigned char *
copy_rows(const struct node *n, int d, unsigned char *to,
	  const unsigned char *from, int64_t bytes)
{
	int rank = (n->expr->n_args - 2) / BOX_PARTS;
	int64_t of[BOX_PARTS];

	if (d == rank) {
		if (from) {
			memcpy(to, from, bytes);
		} else {
			memset(to, 0, bytes);
		}
		return to + bytes;
	}
	for (int i = 0; i < BOX_PARTS; i++) {
		of[i] = n->args[2 + i * rank + d]->value[0].i;
	}
	for (int64_t k = 0; k < of[BOX_EXTENT]; k++) {
		int64_t at = of[BOX_FIRST] + k;
		bool inside = from && at >= 0 && at < of[BOX_SIZE];

		to = copy_rows(n, d + 1, to,
			       inside ? from + at * of[BOX_STRIDE] * bytes
				      : NULL,
			       bytes);
	}
	return to;
}

/* Are the elements at offsets 0 to `most` from the given address inside of its
 * buffer? */
static bool
reaches(const struct node *address, int64_t most)
{
	const struct buffer_cell *c = address->args[0]->buffer;
	int64_t at = (int64_t)(address->value[0].u -
			       (uint64_t)(uintptr_t)c->data) /
		     c->elem_bytes;

	return at >= 0 && most >= 0 && most < c->room - at;
}

static bool
box_is_within(const struct node *n)
{
	int rank = (n->expr->n_args - 2) / BOX_PARTS;
	int64_t to = 1, from = 0, step;

	for (int d = 0; d < rank; d++) {
		struct node *const *of = n->args + 2 + d;
		int64_t size = of[BOX_SIZE * rank]->value[0].i;
		int64_t stride = of[BOX_STRIDE * rank]->value[0].i;
		int64_t extent = of[BOX_EXTENT * rank]->value[0].i;

		if (size < 1 || stride < 0 || extent < 1 ||
		    __builtin_mul_overflow(to, extent, &to) ||
		    __builtin_mul_overflow(size - 1, stride, &step) ||
		    __builtin_add_overflow(from, step, &from)) {
			return false;
		}
	}
	return reaches(n->args[0], to - 1) && reaches(n->args[1], from);
}

static void
copy_box(struct frame *f, struct node *n)
{
	const struct buffer_cell *to = n->args[0]->args[0]->buffer;
	const struct buffer_cell *from = n->args[1]->args[0]->buffer;

	if (f->interp->source && f->interp->in_kernel) {
		interp_fail(f, "a box is copied to '%s' in a parallel loop",
			    to->buffer->name);
	}
	if (to->elem_bytes != from->elem_bytes) {
		interp_fail(f,
			    "a box is copied from '%s' to '%s', whose "
			    "elements have another size",
			    from->buffer->name, to->buffer->name);
	}
	if (!f->interp->failed && !box_is_within(n)) {
		interp_fail(f, "a box exceeds '%s' or '%s'", to->buffer->name,
			    from->buffer->name);
	}
	if (!f->interp->failed) {
		copy_rows(n, 0,
			  (unsigned char *)(uintptr_t)n->args[0]->value[0].u,
			  (const unsigned char *)(uintptr_t)n->args[1]
				  ->value[0]
				  .u,
			  to->elem_bytes);
	}
}

/* Is the function defined for these arguments in every dialect? In the
 * interpreter it is defined for more arguments: an exponent out of range counts
 * as the nearest one in range, and a bit beyond the type as 0. */
static bool
is_in_domain(const struct node *n, const union number *args)
{
	int64_t product, high;

	switch (n->expr->u.intrin) {
	case INTRIN_NIBBLE:
		return args[1].u <
		       (unsigned)dtype_bits(n->args[0]->expr->type) / 4;
	case INTRIN_SCALE_FIXED:
		product = args[0].i * args[1].i; /* of 32-bit integers */
		high = args[2].i > 0 ? args[2].i : 0;
		return args[2].i >= -31 && args[2].i <= 31 &&
		       product >> (62 - high) == (product < 0 ? -1 : 0);
	default:
		return true;
	}
}

/* The bits of a vector as those of another vector, or of a number, of as many
 * bytes: the lanes follow each other, the first one in the low bits. */
static void
eval_bits(struct node *n)
{
	struct dtype from = n->args[0]->expr->type, to = n->expr->type;
	int from_bytes = dtype_bytes(from), to_bytes = dtype_bytes(to);
	unsigned char lane[8] = { 0 }, bits[8] = { 0 };

	from.lanes = to.lanes = 1;
	for (int i = 0; i < n->lanes; i++) {
		for (int k = 0; k < to_bytes; k++) {
			int at = i * to_bytes + k;

			number_store(from, lane, 0,
				     n->args[0]->value[at / from_bytes]);
			bits[k] = lane[at % from_bytes];
		}
		n->value[i] = number_load(to, bits, 0);
	}
}

static void
eval_call(struct frame *f, struct node *n)
{
	enum scalar_fault fault = SCALAR_FINE;
	enum intrin op = n->expr->u.intrin;
	union number args[3];

	if (intrin_is_address(op)) {
		eval_address(f, n);
		return;
	}
	for (int i = 0; i < n->expr->n_args; i++) {
		node_eval(f, n->args[i]);
	}
	if (op == INTRIN_PTR_ADD) {
		n->value[0].u = n->args[0]->value[0].u + n->args[1]->value[0].u;
		return;
	}
	if (op == INTRIN_SHUFFLE_XOR) {
		if (f->interp->shuffled == NULL) {
			interp_fail(f, "a warp shuffle outside of a kernel's "
				       "threads");
			return;
		}
		n->value[0] = *f->interp->shuffled;
		return;
	}
	if (op == INTRIN_STORAGE_SYNC || op == INTRIN_PREFETCH ||
	    op == INTRIN_ASYNC_COMMIT || op == INTRIN_ASYNC_WAIT) {
		return; /* if one thread runs alone, a barrier does nothing */
	}
	if (op == INTRIN_COPY_BOX) {
		copy_box(f, n);
		return;
	}
	if (op == INTRIN_CALL_FUNC || op == INTRIN_CALL_EXTERN ||
	    op == INTRIN_LAUNCH) {
		if (!f->interp->failed) {
			frame_call(f, n);
		}
		return;
	}
	if (op == INTRIN_CALL_INTRIN) {
		interp_fail(f,
			    "'%s' is an instruction of a device, which the "
			    "interpreter does not have",
			    n->expr->args[0]->u.text);
		return;
	}
	if (op == INTRIN_REINTERPRET && n->lanes != n->args[0]->lanes) {
		eval_bits(n);
		return;
	}
	for (int lane = 0; lane < n->lanes; lane++) {
		for (int i = 0; i < n->expr->n_args && i < 3; i++) {
			args[i] = n->args[i]->value[lane];
		}
		if (f->interp->source && !is_in_domain(n, args)) {
			interp_fail(f,
				    "'%s' is not defined for these arguments",
				    intrin_name(op));
			return;
		}
		n->value[lane] = scalar_call(op, n->expr->type,
					     n->args[0]->expr->type, args,
					     &fault);
	}
	if (fault) {
		report_fault(f, n, fault);
	}
}

/* Does the sum, difference or product of lane i leave its type? */
static bool
leaves_type(const struct node *n, int i)
{
	struct dtype t = n->expr->type;
	int64_t a = n->args[0]->value[i].i, b = n->args[1]->value[i].i, v;
	bool over;

	switch (n->expr->kind) {
	case EXPR_ADD:
		over = __builtin_add_overflow(a, b, &v);
		break;
	case EXPR_SUB:
		over = __builtin_sub_overflow(a, b, &v);
		break;
	case EXPR_MUL:
		over = __builtin_mul_overflow(a, b, &v);
		break;
	default:
		return false;
	}
	return over || !dtype_holds(t, v);
}

/* In a source, a result that does not fit in its type is undefined if it is
 * computed from no element of an array, and then this fails; sums of elements
 * wrap (walk_may_wrap in the emitter). */
static void
check_fits(struct frame *f, const struct node *n)
{
	for (int i = 0; i < n->lanes; i++) {
		if (leaves_type(n, i)) {
			interp_fail(f,
				    "a result of indices and sizes, %lld %s "
				    "%lld, leaves %s",
				    (long long)n->args[0]->value[i].i,
				    n->expr->kind == EXPR_ADD   ? "+"
				    : n->expr->kind == EXPR_SUB ? "-"
								: "*",
				    (long long)n->args[1]->value[i].i,
				    dtype_name(n->expr->type));
			return;
		}
	}
}

/* Notes an overflow that an operation on floats makes or takes part in. */
static void
note_overflow(struct run_overflow *out, const struct node *n)
{
	const enum expr_kind kind = n->expr->kind;

	for (int i = 0; i < n->lanes; i++) {
		bool finite = isfinite(n->args[0]->value[i].f) &&
			      isfinite(n->args[1]->value[i].f);

		out->product |= kind == EXPR_MUL && finite &&
				!isfinite(n->value[i].f);
		out->sum |= (kind == EXPR_ADD || kind == EXPR_SUB) && !finite;
	}
}

static void
eval_binary(struct frame *f, struct node *n)
{
	enum scalar_fault fault = SCALAR_FINE;
	struct node *a = n->args[0];
	struct node *b = n->args[1];

	node_eval(f, a);
	node_eval(f, b);
	if (f->interp->source && !n->is_data && dtype_is_int(n->expr->type) &&
	    dtype_is_signed(n->expr->type)) {
		check_fits(f, n);
	}
	for (int i = 0; i < n->lanes; i++) {
		n->value[i] = scalar_binary(n->expr->kind, a->expr->type,
					    a->value[i], b->value[i], &fault);
	}
	if (f->interp->overflow != NULL && dtype_is_float(n->expr->type)) {
		note_overflow(f->interp->overflow, n);
	}
	if (fault) {
		report_fault(f, n, fault);
	}
}

static void
eval_kind(struct frame *f, struct node *n)
{
	const struct expr *e = n->expr;
	struct node *a = e->n_args > 0 ? n->args[0] : NULL;
	union number step;

	switch (e->kind) {
	case EXPR_VAR:
		if (!n->var->bound) {
			interp_fail(f, "variable '%s' has no value",
				    n->var->var->name);
		}
		if (n->lanes > 1) {
			memcpy(n->value, n->var->lanes,
			       sizeof *n->value * (size_t)n->lanes);
		} else {
			n->value[0] = n->var->value;
		}
		break;
	case EXPR_LOAD:
		for (int i = 0; i < e->n_args; i++) {
			node_eval(f, n->args[i]);
		}
		if (!f->interp->failed) {
			eval_load(f, n);
		}
		break;
	case EXPR_AND:
	case EXPR_OR:
		eval_logical(f, n);
		break;
	case EXPR_NOT:
		node_eval(f, a);
		for (int i = 0; i < n->lanes; i++) {
			n->value[i].i = !a->value[i].i;
		}
		break;
	case EXPR_SELECT:
	case EXPR_IF:
		eval_choice(f, n);
		break;
	case EXPR_CAST:
		node_eval(f, a);
		for (int i = 0; i < n->lanes; i++) {
			n->value[i] = number_cast(e->type, a->expr->type,
						  a->value[i]);
		}
		break;
	case EXPR_CALL:
		eval_call(f, n);
		break;
	case EXPR_RAMP:
		node_eval(f, a);
		node_eval(f, n->args[1]);
		step.u = a->value[0].u;
		for (int i = 0; i < n->lanes; i++) {
			n->value[i] = number_round(e->type, step);
			step.u += n->args[1]->value[0].u;
		}
		break;
	case EXPR_BROADCAST:
		node_eval(f, a);
		for (int i = 0; i < n->lanes; i++) {
			n->value[i] = a->value[0];
		}
		break;
	case EXPR_REDUCE:
		interp_fail(f, "a tensor expression is not a program");
		break;
	default:
		eval_binary(f, n);
		break;
	}
}

void
node_compute(struct frame *f, struct node *n)
{
	if (!f->interp->failed) {
		n->epoch = f->epoch;
		eval_kind(f, n);
	}
}
