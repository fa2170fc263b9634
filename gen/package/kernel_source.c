/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the kernels, with comments about their origins. They are in the source
 * file, or, if a device has a language of its own, in a separate file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "comment_text.h"
#include "host_device.h"
#include "kernels.h"
#include "ops.h"
#include "package.h"
#include "packer.h"
#include "provenance.h"

/* the column in which the values of the rows in a kernel's comment begin */
#define ROW_COLUMN 15

static void
add_row(struct packer *k, struct tdata *data, const char *list,
	const char *label, const char *text)
{
	struct tdata *row = tdata_item(data, list);

	tdata_printf(row, "label", "%-8s", label);
	tdata_text(row, "text",
		   comment_wrap(k->a, k->d, comment_text(k->a, k->d, text),
				ROW_COLUMN));
}

/* a comment lists at most this many nodes; the metadata lists all */
enum { MOST_NODES = 32 };

/* Adds a row about a node to the comment of a kernel: `head`, then the node's
 * name in the model, which is not broken into lines. */
static void
add_name_row(struct packer *k, struct tdata *row, const char *label,
	     const char *head, const char *name)
{
	int width = ROW_COLUMN + (int)strlen(head) + 6 + (int)strlen(name);

	tdata_printf(row, "label", "%-8s", label);
	tdata_printf(row, "text", "%s%s-> \"%s\"", head,
		     width <= k->d->line_columns
			     ? " "
			     : arena_printf(k->a, "\n%s", k->d->comment_line),
		     name);
}

/* What a comment calls the node: "Conv_3 (Conv)", or "Conv" if it has no name; in
 * a nested graph "Conv_3 (Conv, in loop_0)". */
static const char *
node_head(struct packer *k, const struct origin *o)
{
	const char *op = o->op_type;

	if (o->within >= 0) {
		op = arena_printf(k->a, "%s, in %s", op,
				  long_names_show(k->names,
						  origin_label(k->g,
							       o->within)));
	}
	return o->name != NULL && *o->name != '\0'
		       ? arena_printf(k->a, "%s (%s)",
				      long_names_show(k->names, o->name), op)
		       : op;
}

/* Adds a row for each node in `l`: "Conv_3 (Conv) -> "y"". */
static void
add_nodes(struct packer *k, struct tdata *data, const char *list,
	  const char *label, const struct origin_list *l)
{
	const struct origin *origins = k->g->origins.data;
	int n = l->list.n > MOST_NODES ? MOST_NODES - 1 : l->list.n;

	for (int i = 0; i < n; i++) {
		const struct origin *o = &origins[l->list.data[i]];
		const char *output = o->output != NULL ? o->output : "";

		add_name_row(k, tdata_item(data, list), i == 0 ? label : "",
			     comment_text(k->a, k->d, node_head(k, o)),
			     comment_text(k->a, k->d,
					  long_names_show(k->names, output)));
	}
	if (n < l->list.n) {
		struct tdata *row = tdata_item(data, list);

		tdata_printf(row, "label", "%-8s", "");
		tdata_printf(row, "text", "and %d more: %s", l->list.n - n,
			     k->files[FILE_METADATA]);
	}
}

/* Adds the nodes that a kernel computes, and the nodes that were folded into
 * its constants. */
static void
add_all_nodes(struct packer *k, struct tdata *data, const char *list,
	      const struct kernel *kernel)
{
	struct origin_list computed = provenance_computed(k->p, kernel);
	struct origin_list folded = provenance_folded(k->p, kernel);

	add_nodes(k, data, list, "nodes", &computed);
	add_nodes(k, data, list, "folded", &folded);
}

/* The name of dimension d in comments about tensors of rank ndim: n, c, h, w
 * for rank 4, of images. NULL for a rank above 5, or 0. */
static const char *
dim_letter(int ndim, int d)
{
	static const char *const letters[] = {
		"i", "ij", "ncw", "nchw", "ncdhw",
	};
	static const char *const each[] = {
		"i", "j", "n", "c", "d", "h", "w",
	};

	if (ndim < 1 || ndim > 5) {
		return NULL;
	}
	for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
		if (each[k][0] == letters[ndim - 1][d]) {
			return each[k];
		}
	}
	return NULL;
}

/* The sides of a dimension on which a layout has a border. */
enum { SIDE_START = 1, SIDE_END = 2, SIDES = 4 };

/* The name of dimension d of t in comments about layouts. */
static const char *
dim_name(const struct packer *k, const struct tensor *t, int d)
{
	const char *name = dim_letter(t->ndim, d);

	return name != NULL ? name : arena_printf(k->a, "i%d", d);
}

/* Appends where the layout of t has a border, and which value is there: ", zeros
 * around" if it is on both sides of each dimension that has one, else the
 * dimensions of each kind: ", zeros at the end of h and w". */
static void
put_border(const struct packer *k, const struct tensor *t, struct strbuf *s)
{
	static const char *const where[SIDES] = {
		"",
		" at the start of",
		" at the end of",
		" around",
	};
	const struct tensor_layout *l = t->layout;
	const char *dims[SIDES] = { "", "", "", "" };
	int last = 0;

	for (int d = 0; d < t->ndim; d++) {
		int sides = (l->before[d] > 0 ? SIDE_START : 0) |
			    (l->after[d] > 0 ? SIDE_END : 0);

		dims[sides] = arena_printf(k->a, "%s%s %s", dims[sides],
					   *dims[sides] != '\0' ? " and" : "",
					   dim_name(k, t, d));
		last = sides > last ? sides : last;
	}
	if (last == 0) {
		return;
	}
	strbuf_puts(s, ", ");
	if (l->fill == 0) {
		strbuf_puts(s, "zeros");
	} else {
		strbuf_printf(s, "%lld", (long long)l->fill);
	}
	if (*dims[SIDE_START] == '\0' && *dims[SIDE_END] == '\0') {
		strbuf_puts(s, where[SIDE_START | SIDE_END]);
		return;
	}
	for (int sides = 1; sides <= last; sides++) {
		if (*dims[sides] != '\0') {
			strbuf_printf(s, "%s%s%s", where[sides], dims[sides],
				      sides < last ? "," : "");
		}
	}
}

/* The position of element [n][c][h][w] in an array whose layout is not
 * row-major: ", at [c/16][h+1][w+1][c%16], zeros around". Dimensions of extent
 * 1 are omitted. */
static const char *
memory_text(const struct packer *k, const struct tensor *t)
{
	const struct tensor_layout *l = t->layout;
	struct strbuf s;
	const char *text;

	if (l == NULL) {
		return "";
	}
	strbuf_init(&s);
	strbuf_puts(&s, ", at ");
	for (int d = 0; d < t->ndim; d++) {
		if (expr_is_value(t->shape[d], 1) && l->before[d] == 0 &&
		    l->after[d] == 0) {
			continue;
		}
		strbuf_printf(&s, "[%s", dim_name(k, t, d));
		if (d == l->axis) {
			strbuf_printf(&s, "/%lld", (long long)l->block);
		}
		if (l->before[d] > 0) {
			strbuf_printf(&s, "+%lld", (long long)l->before[d]);
		}
		strbuf_putc(&s, ']');
	}
	if (l->axis >= 0) {
		strbuf_printf(&s, "[%s%%%lld]", dim_name(k, t, l->axis),
			      (long long)l->block);
	}
	put_border(k, t, &s);
	text = arena_strdup(k->a, s.data);
	strbuf_release(&s);
	return text;
}

/* The type of the array; if the array has other numbers than the model's
 * tensor, also the conversion: "u8 (i8 + 128)". */
static const char *
type_text(const struct packer *k, const struct tensor *t)
{
	const char *type = short_name(t->type);

	return t->stored_offset == 0
		       ? type
		       : arena_printf(k->a, "%s (%s %c %d)", type,
				      short_name(dtype_of(t->type.kind == DT_U8
								  ? DT_I8
								  : DT_U8)),
				      t->stored_offset > 0 ? '+' : '-',
				      abs(t->stored_offset));
}

/* The name of the tensor in a comment about `kernel`: its name in the model, in
 * quotes. If it has none, the word "of" and the kernel that writes the tensor,
 * or "" if that is `kernel` itself or no kernel. */
static const char *
tensor_name(struct packer *k, const struct kernel *kernel,
	    const struct tensor *t)
{
	const struct kernel *from = writer_of(k, t);

	if (t->model_name != NULL) {
		return arena_printf(k->a, "\"%s\"",
				    long_names_show(k->names, t->model_name));
	}
	return from != NULL && from != kernel
		       ? arena_printf(k->a, "of %s", from->name)
		       : "";
}

/* The text about an array: ""relu1": f32 [1][64][56][56], at
 * [c/16][h][w][c%16]". The name is left out if several kernels call the
 * function. */
static const char *
tensor_text(struct packer *k, const struct kernel *kernel,
	    const struct kernel_arg *arg)
{
	const struct tensor *t = arg->tensor;
	const char *name = kernel->callers.n > 1 ? ""
						 : tensor_name(k, kernel, t);
	bool quoted = name[0] == '"';

	return arena_printf(k->a, "%s%s%s %s%s%s%s%s", quoted ? name : "",
			    quoted ? ": " : "", type_text(k, t),
			    shape_text(k, t), name[0] && !quoted ? " " : "",
			    quoted ? "" : name, memory_text(k, t),
			    arg->in_place != NULL ? ", in place" : "");
}

const char *
stored_text(struct packer *k, const struct tensor *t)
{
	return arena_printf(k->a, "%s %s%s", type_text(k, t), shape_text(k, t),
			    memory_text(k, t));
}

/* Prints the function of a kernel; on a device, the functions of its launches.
 * Returns false after a diagnostic. */
static bool
print_functions(struct unit *u, const struct kernel *kernel, struct strbuf *out)
{
	const struct host_device *device = kernel->device;

	if (device == NULL) {
		return unit_func(u, kernel->func, out);
	}
	for (int i = 0; i < device->n_launches; i++) {
		strbuf_puts(out, i > 0 ? "\n" : "");
		if (!unit_func(u, device->launches[i].kernel, out)) {
			return false;
		}
	}
	return true;
}

/* The extents of a grid or of a block, without those of 1 at the end, as the
 * launch in the source states them. */
static const char *
extents_text(struct packer *k, struct unit *u, const struct func *host,
	     const struct expr *const *extents)
{
	const char *text = unit_expr(u, host, extents[0]);
	int n = 3;

	while (n > 1 && expr_is_value(extents[n - 1], 1)) {
		n--;
	}
	for (int i = 1; i < n; i++) {
		text = arena_printf(k->a, "%s, %s", text,
				    unit_expr(u, host, extents[i]));
	}
	return text;
}

/* Adds a row for each launch of a kernel on a device: its grid in blocks, its
 * block in threads, the shared memory of a block. */
static void
add_launches(struct packer *k, struct unit *u, struct tdata *item,
	     const struct kernel *kernel)
{
	const struct host_device *device = kernel->device;

	for (int i = 0; device != NULL && i < device->n_launches; i++) {
		const struct launch *l = &device->launches[i];

		add_row(k, item, "schedules", i == 0 ? "launch" : "",
			arena_printf(
				k->a, "%s%sgrid %s; block %s%s",
				device->n_launches > 1 ? l->kernel->name : "",
				device->n_launches > 1 ? ": " : "",
				extents_text(k, u, kernel->func, l->grid),
				extents_text(k, u, kernel->func, l->block),
				l->shared_bytes == 0
					? ""
					: arena_printf(
						  k->a, "; shared %lld bytes",
						  (long long)l->shared_bytes)));
	}
}

/* Must the compiler not contract operations in the kernel's function, although
 * it may contract them in other functions of the source? False if kernel is
 * NULL. */
static bool
is_exact(const struct packer *k, const struct kernel *kernel)
{
	return kernel != NULL && kernel->forbids_contraction &&
	       strcmp(k->p->target->fp, "strict") != 0;
}

/* The kernel whose function is printed next to that of kernel i: before it
 * (step -1) or after it (step 1). NULL if no function is printed there. */
static const struct kernel *
printed_beside(const struct packer *k, int i, int step)
{
	for (i += step; i >= 0 && i < k->p->kernels.n; i += step) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner == kernel) {
			return kernel;
		}
	}
	return NULL;
}

/* The arguments of a kernel that shares its function with other kernels:
 * "conv2: x "relu1", w net_conv2_w, y "relu2"". */
static const char *
call_text(struct packer *k, const struct kernel *kernel)
{
	struct strbuf s;
	const char *text, *before = ": ";

	strbuf_init(&s);
	strbuf_puts(&s, kernel->name);
	for (int i = 0; i < kernel->args.n; i++) {
		const struct kernel_arg *arg = &kernel->args.data[i];
		const char *given = "";

		if (arg->kind == ARG_WEIGHT) {
			given = weight_symbol(k, arg->weight);
		} else if (arg->kind == ARG_TENSOR) {
			given = tensor_name(k, kernel, arg->tensor);
		}
		if (given[0] != '\0') {
			strbuf_printf(&s, "%s%s %s", before, arg->buffer->name,
				      given);
			before = ", ";
		}
	}
	text = arena_strdup(k->a, s.data);
	strbuf_release(&s);
	return text;
}

static void
add_callers(struct packer *k, struct tdata *item, const struct kernel *owner)
{
	const char *label = arena_printf(k->a, "%d calls", owner->callers.n);

	for (int i = 0; i < owner->callers.n; i++) {
		const struct kernel *kernel = owner->callers.data[i];

		add_row(k, item, "calls", label, call_text(k, kernel));
		add_all_nodes(k, item, "calls", kernel);
		label = "call";
	}
}

/* An element of a matrix as text: as a fraction such as "1/6" if it equals a
 * fraction with a small denominator, else as a decimal number. */
static const char *
fraction_text(struct arena *a, double v)
{
	for (int by = 1; by <= 24; by++) {
		double whole = v * by;

		if (fabs(whole - nearbyint(whole)) < 1e-9) {
			return by == 1 ? arena_printf(a, "%.0f", whole + 0.0)
				       : arena_printf(a, "%.0f/%d",
						      nearbyint(whole), by);
		}
	}
	return arena_printf(a, "%g", v);
}

/* Adds rows with the matrices of Winograd's transforms. */
static void
add_matrices(struct packer *k, struct tdata *item, const struct kernel *kernel)
{
	for (int i = 0; i < kernel->group->nodes.n; i++) {
		struct op_matrix x;

		if (!op_matrix_of(kernel->group->nodes.data[i], &x)) {
			continue;
		}
		add_row(k, item, "schedules", "computes", x.formula);
		for (int row = 0; row < x.rows; row++) {
			const char *text = "";
			struct tdata *line;

			for (int c = 0; c < x.columns; c++) {
				text = arena_printf(
					k->a, "%s%s%5s", text, c > 0 ? " " : "",
					fraction_text(k->a,
						      x.elements
							      [row * x.stride +
							       c]));
			}
			line = tdata_item(item, "schedules");
			tdata_printf(line, "label", "%-8s",
				     row == 0 ? x.name : "");
			tdata_text(line, "text", text);
		}
	}
}

/* The only node of the kernel that shifts its products (attribute
 * shifted_most). NULL if there is no such node, or if there are several. */
static const struct node *
shifting_node(const struct kernel *kernel)
{
	const struct node *found = NULL;

	for (int i = 0; i < kernel->group->nodes.n; i++) {
		const struct node *n = kernel->group->nodes.data[i];

		if (node_attr_int(n, "shifted_most", 0) > 0) {
			if (found != NULL) {
				return NULL;
			}
			found = n;
		}
	}
	return found;
}

/* Sets in u the bound of the integers that the function shifts left, over all
 * kernels that call the function. The bound is 0 (unknown) if these kernels
 * shift by different numbers of bits, or if one of them does not shift. */
static void
state_shifted(struct unit *u, const struct kernel *kernel)
{
	u->shifted_most = u->shift = 0;
	u->shifts_larger = false;
	for (int i = 0; i < kernel->callers.n || i < 1; i++) {
		const struct node *n = shifting_node(
			kernel->callers.n > 0 ? kernel->callers.data[i]
					      : kernel);
		int64_t most = n ? node_attr_int(n, "shifted_most", 0) : 0;
		int64_t shift = n ? node_attr_int(n, "left", 0) : 0;

		if (n == NULL || (i > 0 && shift != u->shift)) {
			u->shifted_most = 0;
			return;
		}
		u->shift = shift;
		u->shifts_larger |= node_attr_int(n, "constant_channels", 0) >
				    0;
		u->shifted_most = most > u->shifted_most ? most
							 : u->shifted_most;
	}
}

/* The largest magnitude of a shifted product plus its addend, over all kernels
 * that call the function. */
static int64_t
largest_sum(const struct kernel *kernel)
{
	int64_t most = 0;

	for (int i = 0; i < kernel->callers.n || i < 1; i++) {
		const struct node *n = shifting_node(
			kernel->callers.n > 0 ? kernel->callers.data[i]
					      : kernel);
		int64_t one = n ? node_attr_int(n, "sum_most", 0) : 0;

		most = one > most ? one : most;
	}
	return most;
}

/* Sets *v to the integer that all elements of the constant t have. Returns
 * false if t is absent or has several values. */
static bool
one_integer(const struct tensor *t, int64_t *v)
{
	const struct value *value = t != NULL ? t->value : NULL;

	if (value == NULL || (value->data != NULL && value->elems != 1)) {
		return false;
	}
	*v = value->data != NULL ? number_load(value->type, value->data, 0).i
				 : value->fill.i;
	return true;
}

/* Explains the constants of a requantization that are numbers in the source:
 * the factor for which a fixed-point multiplier stands, and the formulas of the
 * addends. */
static void
add_rescaling(struct packer *k, struct tdata *item, const struct node *n)
{
	int shift = (int)(32 + node_attr_int(n, "right", 0) -
			  node_attr_int(n, "left", 0));
	struct strbuf s = { 0 };
	int64_t v;

	if (one_integer(n->inputs[1], &v)) {
		strbuf_printf(&s, "%lld * 2^-%d = %.6g, from sums to results",
			      (long long)v, shift, ldexp((double)v, -shift));
	}
	for (int i = 2; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		if (one_integer(t, &v) && t->made_by != NULL) {
			strbuf_printf(&s, "%s%lld: %s", s.len > 0 ? "; " : "",
				      (long long)v, provenance_recipe(k->a, t));
		}
	}
	if (s.len > 0) {
		add_row(k, item, "schedules", "rescales",
			arena_strdup(k->a, s.data));
	}
	strbuf_release(&s);
}

/* Sets item's "text" to the text of kernel i, with anchors at its start and
 * end. */
static void
add_text(struct tdata *item, const char *text, int i)
{
	size_t end = strlen(text);

	while (end > 0 && text[end - 1] == '\n') {
		end--;
	}
	tdata_anchored(item, "text", text, ANCHOR_KERNEL, i, 0);
	tdata_anchor(item, "text", ANCHOR_KERNEL_END, i, end > 0 ? end - 1 : 0);
}

static bool
add_kernel(struct packer *k, struct tdata *data, int i, struct unit *u)
{
	const struct kernel *kernel = k->p->kernels.data[i];
	struct tdata *item = tdata_item(data, "kernels");
	const char *text;
	struct strbuf s;
	bool ok;

	if (kernel->group->region != NULL) {
		ok = region_print(k, u, kernel, &text);
		add_text(item, ok && text != NULL ? text : "", i);
	} else {
		strbuf_init(&s);
		u->apart = is_exact(k, kernel);
		state_shifted(u, kernel);
		ok = print_functions(u, kernel, &s);
		u->apart = false;
		if (ok) {
			/* removes the last newline, because the template adds
			 * one */
			s.data[s.len - 1] = '\0';
			add_text(item, arena_strdup(k->a, s.data), i);
		}
		strbuf_release(&s);
	}
	unit_add_guard(u, item,
		       is_exact(k, kernel) &&
			       !is_exact(k, printed_beside(k, i, -1)),
		       is_exact(k, kernel) &&
			       !is_exact(k, printed_beside(k, i, 1)));
	text = kernel->title != NULL ? kernel->title : kernel->name;
	tdata_anchored(item, "title",
		       comment_wrap(k->a, k->d, comment_text(k->a, k->d, text),
				    3),
		       ANCHOR_KERNEL_COMMENT, i, 0);
	tdata_list(item, "nodes");
	tdata_list(item, "calls");
	if (kernel->callers.n > 1) {
		add_callers(k, item, kernel);
	} else {
		add_all_nodes(k, item, "nodes", kernel);
	}
	tdata_list(item, "tensors");
	for (int a = 0; a < kernel->args.n; a++) {
		const struct kernel_arg *arg = &kernel->args.data[a];

		if (arg->kind == ARG_TENSOR && arg->buffer != NULL) {
			add_row(k, item, "tensors", arg->buffer->name,
				tensor_text(k, kernel, arg));
		}
	}
	tdata_list(item, "schedules");
	if (kernel->schedule != NULL && kernel->schedule[0] != '\0') {
		add_row(k, item, "schedules", "schedule", kernel->schedule);
	}
	add_launches(k, u, item, kernel);
	if (kernel->group->region == NULL && u->shifted_most > 0 &&
	    u->shift > 0) {
		add_row(k, item, "schedules", "bounds",
			arena_printf(
				k->a,
				"by weights and types, integers that are shifted "
				"left by %lld are within +-%lld%s, sums with "
				"addends within +-%lld",
				(long long)u->shift, (long long)u->shifted_most,
				u->shifts_larger
					? " where the multiplier is not 0"
					: "",
				(long long)largest_sum(kernel)));
	}
	for (int a = 0; a < kernel->group->nodes.n; a++) {
		const struct node *n = kernel->group->nodes.data[a];

		if (op_gates(n) != NULL) {
			add_row(k, item, "schedules", "gates", op_gates(n));
		}
		if (op_method(k->a, n) != NULL) {
			add_row(k, item, "schedules", "method",
				op_method(k->a, n));
		}
		if (strcmp(n->op_type, "MultiplyShift") == 0) {
			add_rescaling(k, item, n);
		}
	}
	if (kernel->copies != NULL) {
		add_row(k, item, "schedules", "copies",
			arena_printf(
				k->a,
				"two of the reduction: %s without conditions, "
				"which is faster",
				kernel->copies));
	}
	if (kernel->group->region != NULL) {
		add_row(k, item, "schedules",
			kernel->group->region->backend->name,
			region_patterns(k->g, kernel->group->region));
	}
	add_matrices(k, item, kernel);
	if (kernel->same_but_literals != NULL) {
		add_row(k, item, "schedules", "like",
			kernel_like_text(k, u, kernel));
	}
	text = arena_printf(k->a, "%s%s", work_text(k, kernel),
			    kernel->callers.n > 1 ? ", each call" : "");
	tdata_text(item, "work", comment_wrap(k->a, k->d, text, ROW_COLUMN));
	return ok;
}

/* If the region keeps a state between runs, reserves the names of its functions
 * and of its structure in u. */
static void
reserve_region_names(struct packer *k, struct unit *u,
		     const struct kernel *kernel)
{
	static const char *const endings[] = {
		"plan",
		"init",
		"fini",
		"describe",
	};

	if (kernel->init == NULL) {
		return;
	}
	for (int i = 0; i < 4; i++) {
		name_set_add(&u->globals,
			     arena_printf(k->a, "%s_%s", kernel->name,
					  endings[i]));
	}
}

void
reserve_kernel_names(struct packer *k, struct unit *u)
{
	u->model_var = k->p->model;
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner != kernel) {
			continue;
		}
		if (kernel->device == NULL) {
			name_set_add(&u->globals, kernel->func->name);
			unit_add_callee(u, kernel->func);
			reserve_region_names(k, u, kernel);
			continue;
		}
		for (int l = 0; l < kernel->device->n_launches; l++) {
			const struct func *f =
				kernel->device->launches[l].kernel;

			name_set_add(&u->globals, f->name);
			unit_add_callee(u, f);
		}
	}
	for (int i = 0; i < k->p->weights.n; i++) {
		name_set_add(&u->globals, k->weight_symbols[i]);
	}
}

/* Counts the loops in the helper functions that u contains. */
static void
count_helper_loops(struct packer *k, const struct unit *u)
{
	for (int i = 0; i < u->helpers.n; i++) {
		const struct helper_use *use = &u->helpers.data[i];
		int bits = dtype_bits(use->type);

		if (use->helper->loop) {
			k->helper_loops++;
			k->longest_helper_loop =
				bits > k->longest_helper_loop
					? bits
					: k->longest_helper_loop;
		}
	}
}

bool
add_helpers(struct packer *k, struct unit *u, struct tdata *data)
{
	const struct requirement *r;
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	ok = unit_print_helpers(u, &s);
	count_helper_loops(k, u);
	for (int i = 0; (r = unit_relied_on(u, i)) != NULL; i++) {
		vec_push(k->a, &k->out->relied_on, r);
	}
	if (ok && s.len > 0) {
		/* removes the last newline, because the template adds one */
		s.data[s.len - 1] = '\0';
	}
	tdata_text(data, "helpers",
		   ok && s.data != NULL ? arena_strdup(k->a, s.data) : "");
	strbuf_release(&s);
	return ok;
}

bool
add_kernels(struct packer *k, struct unit *u, struct tdata *data)
{
	packer_tell_constants(k, u);
	tdata_list(data, "kernels");
	for (int i = 0; i < k->p->kernels.n; i++) {
		const struct kernel *kernel = k->p->kernels.data[i];

		if (kernel->owner == kernel &&
		    (!quota_check_memory(k->m,
					 (struct diag_place){
						 .item = kernel->name },
					 0) ||
		     !add_kernel(k, data, i, u))) {
			return false;
		}
	}
	return true;
}

bool
add_kernels_file(struct packer *k)
{
	const struct dialect *d = k->kernels;
	struct tdata *data = tdata_new(k->a);
	struct anchors anchors = { .arena = k->a };
	const char *name, *text = NULL;
	struct unit u;
	bool ok;

	unit_init(&u, k->m, d);
	u.model = k->model;
	u.names = k->names;
	reserve_kernel_names(k, &u);
	tdata_outer(data, k->data);
	for (int i = 0; i < d->source_needs.n; i++) {
		unit_need(&u, d->source_needs.data[i]);
	}
	ok = add_kernels(k, &u, data) && add_helpers(k, &u, data);
	unit_add_includes(&u, data);
	if (ok) {
		text = source_text(k, d, data, &anchors);
	}
	if (text == NULL) {
		return false;
	}
	name = packer_render(k, d->files[FILE_SOURCE], k->data);
	return add_program(k, name,
			   add_named_file(k, name, OUT_TEXT, text, &anchors));
}
