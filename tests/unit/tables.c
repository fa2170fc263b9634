/* SPDX-License-Identifier: Apache-2.0 */
/* The pass tables: each table holds what the interpreter computes of the chain,
 * node by node, for every number of the input's type: functions, types, and zero
 * points at both ends of their range. */
#include "check.h"

#include "graph_text.h"
#include "interp.h"
#include "ops.h"
#include "rewrite.h"

static const char *const functions[] = {
	"Tanh",  "Sigmoid", "Exp",  "Log",       "Softplus", "Mish", "Gelu",
	"Erf",   "Sqrt",    "Elu",  "Selu",      "Celu",     "Sin",  "Tan",
	"Acosh", "Asin",    "Atan", "HardSwish", "Relu",     "Abs",  "Softsign"
};

static struct graph *
read_chain(struct module *m, const char *text)
{
	struct source src = { "chain", text, strlen(text) };
	struct graph *g = graph_read(m, &src, true);

	return CHECK(g != NULL) && CHECK(ops_resolve(g)) && CHECK(ops_infer(g))
		       ? g
		       : NULL;
}

/* x is all numbers of its type, from the lowest. */
static const char *
chain_text(struct arena *a, const char *function, const char *from,
	   int from_zero, const char *to, int to_zero, int count)
{
	return arena_printf(a,
			    "graph chain {slow_floats = 1}\n"
			    "  input x: %s[%d]\n"
			    "  const s: float32[] = {0.0371}\n"
			    "  const z: %s[] = {%d}\n"
			    "  const t: float32[1] = {0.0123}\n"
			    "  const v: %s[1] = {%d}\n"
			    "  a = DequantizeLinear (x, s, z)\n"
			    "  b = %s (a)\n"
			    "  y = QuantizeLinear (b, t, v)\n"
			    "  output y\n",
			    from, count, from, from_zero, to, to_zero,
			    function);
}

/* What the interpreter, not the executor, makes of n. */
static void
interpret(struct graph *g, const struct node *n)
{
	struct arena *a = &g->module->arena;
	struct te_tensor *in[4] = { NULL }, *out[1], *params[5];
	struct run_arg args[5];
	struct tensor *y = n->outputs[0];
	struct value *v = arena_new(a, struct value);
	int count = 0;

	for (int i = 0; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];

		in[i] = te_placeholder(g->module, t->name, t->type, t->ndim,
				       t->shape);
		params[count] = in[i];
		args[count++] = (struct run_arg){ .read = t->value->data };
	}
	CHECK(ops_define(g, n, in, out));
	params[count] = out[0];
	CHECK(tensor_const_elems(y, &v->elems));
	v->type = y->type;
	v->bytes = (size_t)v->elems * (size_t)dtype_bytes(v->type);
	args[count].data = arena_alloc(a, v->bytes + 1);
	v->data = args[count++].data;
	CHECK(interp_run(te_to_func(g->module, "node", params, count), args,
			 count));
	y->value = v;
}

static void
check_chain(const char *function, const char *from, int from_zero,
	    const char *to, int to_zero)
{
	struct module *m = module_new();
	struct arena *a = &m->arena;
	int count = strstr(from, "int4") ? 16 : 256;
	int low = *from == 'i' ? -count / 2 : 0;
	const char *text = chain_text(a, function, from, from_zero, to, to_zero,
				      count);
	struct graph *g = read_chain(m, text), *tabled = read_chain(m, text);
	char *data = arena_alloc(a, (size_t)count);
	struct value *numbers = arena_new(a, struct value);
	const struct node *look_up;

	CHECK(graph_tables(tabled));
	look_up = tabled->nodes.data[0];
	CHECK_EQ(tabled->nodes.n, 1);
	CHECK_STR_EQ(look_up->op_type, "Table");
	numbers->type = g->inputs.data[0]->type;
	numbers->elems = (int64_t)count;
	numbers->bytes = (size_t)count;
	numbers->data = data;
	for (int i = 0; i < count; i++) {
		number_store(numbers->type, data, (size_t)i,
			     (union number){ .i = low + i });
	}
	g->inputs.data[0]->value = numbers;
	tabled->inputs.data[0]->value = numbers;
	for (int i = 0; i < g->nodes.n; i++) {
		interpret(g, g->nodes.data[i]);
	}
	interpret(tabled, look_up);
	for (int i = 0; i < count; i++) {
		const struct value *want = g->outputs.data[0]->value;
		const struct value *table = look_up->inputs[1]->value;
		const struct value *found = look_up->outputs[0]->value;
		int64_t y = number_load(want->type, want->data, (size_t)i).i;

		if (!CHECK_EQ(number_load(table->type, table->data, (size_t)i)
				      .i,
			      y) ||
		    !CHECK_EQ(number_load(found->type, found->data, (size_t)i)
				      .i,
			      y)) {
			fprintf(stderr, "%s of %d\n%s", function, low + i,
				text);
			break;
		}
	}
	module_free(m);
}

int
main(void)
{
	static const struct {
		const char *name;
		int low, high;
	} types[] = { { "uint8", 0, 255 },
		      { "int8", -128, 127 },
		      { "uint4", 0, 15 },
		      { "int4", -8, 7 } };

	for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
		for (int i = 0; i < 16; i++) {
			int from = i / 4, to = i % 4;

			check_chain(functions[f], types[from].name,
				    types[from].low, types[to].name,
				    types[to].high);
			check_chain(functions[f], types[from].name,
				    types[from].high, types[to].name,
				    types[to].low);
			check_chain(functions[f], types[from].name,
				    (types[from].low + types[from].high) / 2,
				    types[to].name, types[to].low + 3);
		}
	}
	return check_done();
}
