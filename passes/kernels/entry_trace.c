/* SPDX-License-Identifier: Apache-2.0 */
/* The calls by which a traced entry function shows tensors to its caller:
 *
 *	conv1(image, conv1_w, conv1_bias, relu1)
 *	traced("conv1", "relu1", "float32", relu1, 1, 16, 8, 8)
 *
 * The inputs and the states are shown first, with "" for the kernel; then each
 * tensor after the kernel that wrote it, in branches and loops too. The sizes
 * are those in memory: of a tensor with a layout, the layout's. */
#include "entry.h"
#include "layouts.h"

static const struct tensor *
whole_of(const struct tensor *t)
{
	while (t->element_of != NULL) {
		t = t->element_of;
	}
	return t;
}

/* The tensor that kernel k writes into `whole` if it is an element of it, such
 * as the slice of an iteration; else `whole`. */
static const struct tensor *
written_part(const struct kernel *k, const struct tensor *whole)
{
	for (int i = k->group->nodes.n - 1; i >= 0; i--) {
		const struct node *n = k->group->nodes.data[i];

		for (int o = 0; o < n->n_outputs; o++) {
			const struct tensor *t = n->outputs[o];

			if (t != NULL && t != whole && whole_of(t) == whole) {
				return t;
			}
		}
	}
	return whole;
}

/* The index e with the variables of loops as the entry function has them. */
static const struct expr *
in_entry(struct entry *e, const struct expr *index)
{
	struct expr_iter it = expr_each_of(index, EXPR_VAR);
	const struct expr *v, *out = index;

	while ((v = expr_next(&it)) != NULL) {
		struct var *from = v->u.var;
		const struct expr *to = entry_flow_size(e, from);
		struct var_map map = { &from, &to, 1 };

		out = expr_substitute(e->m, out, &map);
	}
	return out;
}

/* The address of t within `pointer`, which points to the tensor that t is an
 * element of. */
static const struct expr *
part_address(struct entry *e, const struct tensor *t,
	     const struct expr *pointer)
{
	const struct expr *at = expr_i32(e->m, 0), *extent = expr_i32(e->m, 2);
	struct buffer_spec spec = {
		.name = pointer->u.var->name,
		.type = dtype_stored(t->type),
		.ndim = 1,
		.shape = &extent,
	};
	const struct expr *load;
	struct buffer *b = buffer_new(e->m, &spec);

	b->data = pointer->u.var;
	for (; t->element_of != NULL; t = t->element_of) {
		const struct expr *step = in_entry(e, t->element);

		for (int d = 0; d < t->ndim; d++) {
			step = expr_mul(e->m, step, t->shape[d]);
		}
		at = expr_add(e->m, at, step);
	}
	load = expr_load(e->m, b, &at, 1);
	return expr_call(e->m, INTRIN_READ_ADDRESS_OF, dtype_of(DT_HANDLE),
			 &load, 1);
}

/* The name as a word of printable ASCII, which is its own literal in every
 * language: other bytes, and " % ? \\, become % and two hexadecimal digits. A
 * name of one - becomes %2d, since the format of traces has - for an empty name.
 * docs/reference/traces.md */
static const char *
word_of(struct arena *a, const char *name)
{
	struct strbuf s;
	const char *word;

	strbuf_init(&s);
	strbuf_puts(&s, strcmp(name, "-") == 0 ? "%2d" : "");
	for (const char *c = s.len > 0 ? "" : name; *c != '\0'; c++) {
		unsigned char byte = (unsigned char)*c;

		if (byte <= ' ' || byte > '~' || strchr("\"%?\\", *c) != NULL) {
			strbuf_printf(&s, "%%%02x", (unsigned)byte);
		} else {
			strbuf_putc(&s, *c);
		}
	}
	word = arena_strdup(a, s.data != NULL ? s.data : "");
	strbuf_release(&s);
	return word;
}

/* traced(kernel, the name of t, its type, the pointer, its sizes in memory) */
static struct stmt *
show(struct entry *e, const char *kernel, const struct tensor *t,
     const struct expr *pointer)
{
	const struct expr **shape, **args;
	int ndim;

	shape = layout_shape(e->m, t, t->layout, &ndim);
	args = arena_exprs(&e->m->arena, ndim + 5);
	args[0] = expr_string(e->m, ENTRY_TRACED);
	args[1] = expr_string(e->m, kernel);
	args[2] = expr_string(e->m,
			      word_of(&e->m->arena, tensor_traced_name(t)));
	args[3] = expr_string(e->m, dtype_name(t->type));
	args[4] = t->element_of != NULL ? part_address(e, t, pointer) : pointer;
	for (int d = 0; d < ndim; d++) {
		args[5 + d] = shape[d];
	}
	return stmt_evaluate(e->f,
			     expr_call(e->m, INTRIN_CALL_EXTERN,
				       dtype_of(DT_VOID), args, 5 + ndim));
}

const char *
tensor_traced_name(const struct tensor *t)
{
	return t->model_name != NULL ? t->model_name : t->name;
}

struct stmt *
entry_trace_inputs(struct entry *e)
{
	const struct graph *g = e->p->graph;
	VEC(struct stmt *) list = { 0 };

	for (int i = 0; i < g->inputs.n + g->states.n; i++) {
		struct tensor *t =
			i < g->inputs.n
				? g->inputs.data[i]
				: g->states.data[i - g->inputs.n].before;

		vec_push(&e->m->arena, &list,
			 show(e, "", t,
			      entry_pointer(e, e->p->kernels.data[0], t)));
	}
	return stmt_seq(e->f, list.data, list.n);
}

struct stmt *
entry_trace(struct entry *e, const struct kernel *k)
{
	VEC(struct stmt *) list = { 0 };

	for (int i = 0; i < k->args.n; i++) {
		const struct kernel_arg *arg = &k->args.data[i];

		if (arg->kind == ARG_TENSOR && arg->written) {
			const struct tensor *t =
				arg->is_element ? written_part(k, arg->tensor)
						: arg->tensor;

			vec_push(&e->m->arena, &list,
				 show(e, k->name, t,
				      entry_pointer(e, k, arg->tensor)));
		}
	}
	return stmt_seq(e->f, list.data, list.n);
}
