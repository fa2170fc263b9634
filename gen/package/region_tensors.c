/* SPDX-License-Identifier: Apache-2.0 */
/* Adds data about the tensors of a region for the backend's templates: names,
 * origins, types and shapes. */
#include <ctype.h>

#include "kernels.h"
#include "regions.h"

/* Is the text a number or a name? */
static bool
is_word(const char *text)
{
	while (isalnum((unsigned char)*text) || *text == '_') {
		text++;
	}
	return *text == '\0';
}

const char *
region_expr(struct region_text *x, const struct expr *e)
{
	const char *text = unit_bound_expr(x->u, x->kernel->func, x->bound,
					   x->n_bound, e);

	return is_word(text) ? text : arena_printf(x->k->a, "(%s)", text);
}

static const char *
bound_name(const struct region_text *x, const struct tensor *t)
{
	const struct buffer *b = NULL;

	for (int i = 0; i < x->kernel->args.n; i++) {
		if (x->kernel->args.data[i].tensor == t) {
			b = x->kernel->args.data[i].buffer;
		}
	}
	for (int i = 0; b != NULL && i < x->n_bound; i++) {
		if (x->bound[i].var == b->data) {
			return x->bound[i].text;
		}
	}
	return NULL;
}

/* Is t an input, a constant or a computed value of the region? Only such
 * tensors have names in the region's templates. */
static bool
is_anywhere(const struct region_text *x, const struct tensor *t)
{
	const struct graph_region *r = x->r;

	return (t->producer != NULL && region_has(r, t->producer)) ||
	       tensor_index(t, r->inputs.data, r->inputs.n) >= 0 ||
	       tensor_index(t, r->constants.data, r->constants.n) >= 0;
}

/* The index of t among the region's tensors, or -1. */
static int
position(const struct region_text *x, const struct tensor *t)
{
	for (int i = 0; i < x->tensors.n; i++) {
		if (x->tensors.data[i].tensor == t) {
			return i;
		}
	}
	return -1;
}

static void
add_tensor(struct region_text *x, const struct tensor *t)
{
	struct region_name row = { .tensor = t };

	if (t == NULL || !is_anywhere(x, t) || position(x, t) >= 0) {
		return;
	}
	row.name = bound_name(x, t);
	vec_push(x->k->a, &x->tensors, row);
}

/* Is t, which a match computes, read by a node outside of this match, or is it
 * an output of the graph? */
static bool
leaves_match(const struct tensor *t)
{
	for (int i = 0; i < t->uses.n; i++) {
		if (t->uses.data[i].node->match != t->producer->match) {
			return true;
		}
	}
	return t->is_output;
}

/* Names the computed values of the region, by their names in the model, or else
 * by the nodes that compute them. leaving: if true, names the values that
 * another match or the caller reads; if false, the remaining values. */
static void
name_values(struct region_text *x, bool leaving)
{
	for (int i = 0; i < x->tensors.n; i++) {
		struct region_name *row = &x->tensors.data[i];
		const struct tensor *t = row->tensor;
		struct group alone = { .id = -1 };
		const char *stem;

		if (row->name != NULL || leaves_match(t) != leaving) {
			continue;
		}
		alone.anchor = t->producer->match->anchor;
		stem = name_stem(x->k->a, t->name);
		row->name = name_set_add(
			&x->names,
			stem != NULL
				? stem
				: arena_printf(x->k->a, "%s_out",
					       kernel_stem(x->k->g, &alone)));
	}
}

void
region_name_tensors(struct region_text *x)
{
	name_set_init(&x->names, x->k->a);
	x->names.reserved = x->k->d->reserved.data;
	x->names.n_reserved = x->k->d->reserved.n;
	x->names.max_length = x->k->d->identifier_length;
	for (int i = 0; i < x->n_bound; i++) {
		name_set_add(&x->names, x->bound[i].text);
	}
	for (int i = 0; i < x->r->matches.n; i++) {
		const struct region_match *match = x->r->matches.data[i];

		for (int n = 0; n < match->nodes.n; n++) {
			const struct node *node = match->nodes.data[n].node;

			for (int k = 0; k < node->n_inputs; k++) {
				add_tensor(x, node->inputs[k]);
			}
			for (int k = 0; k < node->n_outputs; k++) {
				add_tensor(x, node->outputs[k]);
			}
		}
	}
	/* Values that another match or the caller reads are named first, so
	 * that they get names without a number, which templates use. */
	name_values(x, true);
	name_values(x, false);
}

const char *
region_name_of(const struct region_text *x, const struct tensor *t)
{
	int at = position(x, t);

	return at >= 0 ? x->tensors.data[at].name : "";
}

/* The index of the match that computes t, or -1. */
static int
maker(const struct graph_region *r, const struct tensor *t)
{
	for (int i = 0; t->producer != NULL && i < r->matches.n; i++) {
		if (t->producer->match == r->matches.data[i]) {
			return i;
		}
	}
	return -1;
}

static void
add_kind(struct region_text *x, struct tdata *item, const struct tensor *t)
{
	const struct graph_region *r = x->r;
	int input = tensor_index(t, r->inputs.data, r->inputs.n);
	int constant = tensor_index(t, r->constants.data, r->constants.n);
	int output = tensor_index(t, r->outputs.data, r->outputs.n);
	int from = maker(r, t);
	int index = input >= 0      ? input
		    : constant >= 0 ? constant
		    : output >= 0   ? output
				    : from;

	tdata_flag(item, "is_input", input >= 0);
	tdata_flag(item, "is_constant", constant >= 0);
	tdata_flag(item, "is_output", output >= 0);
	tdata_flag(item, "is_value", from >= 0 && output < 0);
	tdata_int(item, "index", index);
	tdata_flag(item, "is_computed", from >= 0);
	tdata_int(item, "made_by", from >= 0 ? from : 0);
}

static void
add_type(struct region_text *x, struct tdata *item, const struct tensor *t)
{
	const struct dialect *d = x->k->d;

	tdata_text(item, "type", d->types[t->type.kind].spelling);
	tdata_text(item, "short", dtype_short(t->type));
	tdata_text(item, "zero",
		   d->types[t->type.kind].literal == NULL
			   ? ""
			   : unit_literal(x->u, t->type, (union number){ 0 }));
	for (int i = 0; i < DT_COUNT; i++) {
		tdata_flag(item,
			   arena_printf(x->k->a, "is_%s",
					dtype_short(
						dtype_of((enum dtype_kind)i))),
			   i == t->type.kind);
	}
	unit_need_type(x->u, t->type);
}

static void
add_sizes(struct region_text *x, struct tdata *item, const struct tensor *t)
{
	struct module *m = x->k->m;
	const struct expr *elems = expr_i32(m, 1);
	const struct expr **strides = arena_exprs(x->k->a, t->ndim + 1);
	int64_t fixed;

	tdata_int(item, "ndim", t->ndim);
	tdata_list(item, "dims");
	tdata_list(item, "strides");
	for (int i = t->ndim - 1; i >= 0; i--) {
		strides[i] = elems;
		elems = i == t->ndim - 1
				? t->shape[i]
				: expr_mul_sizes(m, t->shape[i], elems);
	}
	for (int i = 0; i < t->ndim; i++) {
		struct tdata *dim = tdata_item(item, "dims");
		struct tdata *stride = tdata_item(item, "strides");

		tdata_text(dim, "dim", region_expr(x, t->shape[i]));
		tdata_int(dim, "at", i);
		tdata_text(stride, "stride", region_expr(x, strides[i]));
		tdata_int(stride, "at", i);
	}
	tdata_text(item, "elems", region_expr(x, elems));
	tdata_flag(item, "is_static", expr_is_int(elems, &fixed));
	tdata_flag(item, "is_scalar", expr_is_int(elems, &fixed) && fixed == 1);
	tdata_int(item, "element_bytes", dtype_bytes(t->type));
	tdata_text(item, "bytes",
		   region_expr(x, expr_mul(m, elems,
					   expr_int(m, elems->type,
						    (int64_t)dtype_bytes(
							    t->type)))));
}

/* Sets flags in `item` about the broadcast of t, a bias or a scale, to y.
 * per_tensor: one element of t is used for all of y; per_element: for one
 * element of y; per_column: for an index of the last dimension; per_row: for an
 * index of all other dimensions; per_channel: for an index of the second
 * dimension. All are false if y is NULL or t has another shape. */
static void
add_spread(struct tdata *item, const struct tensor *t, const struct tensor *y)
{
	int skip = y != NULL ? y->ndim - t->ndim : 0;
	bool element = y != NULL && skip >= 0, tensor = element;
	bool column = element, row = element, channel = element;

	for (int i = 0; element && i < y->ndim; i++) {
		bool one = i < skip || expr_is_value(t->shape[i - skip], 1);
		bool same = i >= skip && t->shape[i - skip] == y->shape[i];
		bool last = i == y->ndim - 1;

		tensor = tensor && one;
		column = column && (last ? same : one);
		row = row && (last ? one : same);
		channel = channel && (i == 1 ? same : one);
	}
	for (int i = 0; element && i < y->ndim; i++) {
		element = i >= skip && t->shape[i - skip] == y->shape[i];
	}
	tdata_flag(item, "per_tensor", tensor);
	tdata_flag(item, "per_element", element && !tensor);
	tdata_flag(item, "per_column", column && !element && !tensor);
	tdata_flag(item, "per_row", row && !element && !column && !tensor);
	tdata_flag(item, "per_channel", channel && !element && !tensor);
}

void
region_tensor(struct region_text *x, struct tdata *item, const struct tensor *t,
	      const struct tensor *against)
{
	tdata_text(item, "name", region_name_of(x, t));
	tdata_int(item, "tensor", position(x, t));
	add_kind(x, item, t);
	add_type(x, item, t);
	add_sizes(x, item, t);
	add_spread(item, t, against);
}

void
region_tensor_in(struct region_text *x, struct tdata *data, const char *list,
		 const struct tensor *t, const struct tensor *against)
{
	tdata_list(data, list);
	if (t != NULL) {
		region_tensor(x, tdata_item(data, list), t, against);
	}
}
