/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a graph as a module of Relay or Relax: a line for each node, and a function
 * for each region of a backend. */
#include <string.h>

#include "graph_region.h"
#include "relay_parts.h"

/* The longest name of a variable. */
enum { NAME_BYTES = 200 };

struct printer {
	struct graph *g;
	struct arena *a;
	enum relay_form form;
	struct strbuf *out;
	/* by tensor id: the variable that has the tensor's value */
	const char **refs;
	struct name_set names;
	int next; /* the number of the next variable that is printed */
	/* The last line, which is held back because it becomes the function's
	 * result if no other line follows: the variable and its expression.
	 * NULL if there is no such line. */
	const char *held_name, *held_type, *held;
};

/* -- functions -- */

static const struct graph_region *
region_of(const struct node *n)
{
	return n->match != NULL ? n->match->region : NULL;
}

static bool
has_regions(const struct graph *g)
{
	return g->is_partitioned && g->regions.n > 0;
}

int
relay_function_count(const struct graph *g)
{
	return 1 + (has_regions(g) ? g->regions.n : 0);
}

/* The index of region r among the regions of the same backend. */
static int
number_of(const struct graph *g, const struct graph_region *r)
{
	int n = 0;

	for (int i = 0; g->regions.data[i] != r; i++) {
		n += strcmp(g->regions.data[i]->backend_name,
			    r->backend_name) == 0;
	}
	return n;
}

static const char *
region_function(const struct graph *g, const struct graph_region *r)
{
	return arena_printf(&g->module->arena, "tvmgen_default_%s_main_%d",
			    r->backend_name, number_of(g, r));
}

const char *
relay_function_name(const struct graph *g, int function)
{
	return function == 0
		       ? "main"
		       : region_function(g, g->regions.data[function - 1]);
}

struct tensor *const *
relay_params(struct graph *g, int *n)
{
	VEC(struct tensor *) list = { 0 };
	bool *seen = arena_array(&g->module->arena, bool, g->tensors.n + 1);

	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *node = g->nodes.data[i];

		for (int k = 0; k < node->n_inputs; k++) {
			struct tensor *t = node->inputs[k];

			if (t != NULL && tensor_is_constant(t) &&
			    !seen[t->id] &&
			    relay_is_argument(node, k, RELAY_TEXT)) {
				seen[t->id] = true;
				vec_push(&g->module->arena, &list, t);
			}
		}
	}
	*n = list.n;
	return list.data;
}

/* -- types and names -- */

static void
put_type(struct printer *p, const struct tensor *t, struct strbuf *out)
{
	const char *type = t->is_string ? "string" : dtype_name(t->type);

	if (p->form == RELAX_TEXT) {
		strbuf_puts(out, "R.Tensor(");
		relay_put_shape(t, p->form, out);
		strbuf_printf(out, ", dtype=\"%s\")", type);
	} else if (t->ndim == 0) {
		strbuf_puts(out, type);
	} else {
		strbuf_puts(out, "Tensor[");
		relay_put_shape(t, p->form, out);
		strbuf_printf(out, ", %s]", type);
	}
}

/* The type of n results: of a tuple, unless n is 1. */
static const char *
types_text(struct printer *p, struct tensor *const *list, int n)
{
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	if (n != 1) {
		strbuf_puts(&s, p->form == RELAX_TEXT ? "R.Tuple(" : "(");
	}
	for (int i = 0; i < n; i++) {
		strbuf_puts(&s, i > 0 ? ", " : "");
		put_type(p, list[i], &s);
	}
	strbuf_puts(&s, n != 1 ? ")" : "");
	text = arena_strdup(p->a, s.data);
	strbuf_release(&s);
	return text;
}

/* Is the name one of Relay's as it is, words with points between them? */
static bool
has_points(const char *name)
{
	const char *at = name;
	size_t n;

	for (;;) {
		n = strspn(at, "abcdefghijklmnopqrstuvwxyz"
			       "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		if (n == 0 || (at == name && *at >= '0' && *at <= '9')) {
			return false;
		}
		if (at[n] != '.') {
			return at[n] == '\0' && at > name &&
			       strlen(name) <= NAME_BYTES;
		}
		at += n + 1;
	}
}

static const char *
variable(struct printer *p, const char *name)
{
	const char *id = p->form == RELAY_TEXT && has_points(name)
				 ? name
				 : name_set_add(&p->names, name);

	return p->form == RELAX_TEXT ? id : arena_printf(p->a, "%%%s", id);
}

/* A new variable for a line of the function. */
static const char *
new_line(struct printer *p)
{
	int n = p->next++;

	if (p->form == RELAY_TEXT) {
		return arena_printf(p->a, "%%%d", n);
	}
	return n == 0 ? "lv" : arena_printf(p->a, "lv%d", n);
}

/* -- lines -- */

static void
put_held(struct printer *p)
{
	if (p->held == NULL) {
		return;
	}
	if (p->form == RELAX_TEXT) {
		strbuf_printf(p->out, "            %s: %s = %s\n", p->held_name,
			      p->held_type, p->held);
	} else {
		strbuf_printf(p->out, "  %s = %s /* ty=%s */;", p->held_name,
			      p->held, p->held_type);
		strbuf_putc(p->out, '\n');
	}
	p->held = NULL;
}

/* Adds a line with an expression of the given type; returns its variable. */
static const char *
add_line(struct printer *p, const char *expression, const char *type)
{
	put_held(p);
	p->held_name = new_line(p);
	p->held_type = type;
	p->held = expression;
	return p->held_name;
}

/* Starts the text of a call. */
static void
begin_call(struct printer *p, const char *name, struct strbuf *s)
{
	strbuf_init(s);
	strbuf_printf(s, "%s%s(", p->form == RELAX_TEXT ? "R." : "", name);
}

static const char *
end_call(struct printer *p, struct strbuf *s)
{
	const char *text;

	strbuf_putc(s, ')');
	text = arena_strdup(p->a, s->data);
	strbuf_release(s);
	return text;
}

/* Appends the text of an operand; a comma precedes it unless it is the first
 * one (*first). */
static void
put_operand(struct strbuf *s, bool *first, const char *text)
{
	strbuf_printf(s, "%s%s", *first ? "" : ", ", text);
	*first = false;
}

static const char *
two_operands(struct printer *p, const char *name, const char *x, const char *y,
	     const char *rest)
{
	struct strbuf s;

	begin_call(p, name, &s);
	strbuf_printf(&s, "%s, %s%s", x, y, rest);
	return end_call(p, &s);
}

static void
put_arguments(struct printer *p, const struct node *n, struct strbuf *s,
	      bool *first)
{
	const struct relay_row *row = relay_row_of(n, p->form);
	const char *at = row != NULL ? row->args : "*";
	bool tuple = strcmp(at, "(*)") == 0;

	if (tuple || strcmp(at, "*") == 0) {
		strbuf_puts(s, tuple ? "(" : "");
		for (int i = 0; i < n->n_inputs; i++) {
			put_operand(s, first,
				    n->inputs[i] != NULL
					    ? p->refs[n->inputs[i]->id]
					    : "None");
		}
		strbuf_puts(s, tuple ? ")" : "");
		return;
	}
	while (*at != '\0') {
		size_t length = strcspn(at, " ");
		const struct tensor *t = NULL;

		if (length == 1) {
			t = node_input(n, at[0] - '0');
		}
		if (t != NULL) {
			put_operand(s, first, p->refs[t->id]);
		} else if (strncmp(at, "FILL", length) == 0 && length == 4) {
			put_operand(s, first, "");
			relay_put_fill(n, p->form, s);
		} else if (length > 1) {
			put_operand(s, first,
				    p->form == RELAX_TEXT
					    ? "R.const(1.0)"
					    : arena_strndup(p->a, at, length));
		}
		at += length;
		at += *at == ' ';
	}
}

/* The variable of a new line that transposes the matrix t. */
static const char *
transposed(struct printer *p, const struct tensor *t)
{
	struct strbuf s;
	struct tensor turned = *t;
	const struct expr *shape[2] = { t->shape[1], t->shape[0] };
	struct tensor *list = &turned;

	turned.shape = shape;
	begin_call(p, p->form == RELAX_TEXT ? "permute_dims" : "transpose", &s);
	strbuf_printf(&s, "%s, axes=[1, 0]", p->refs[t->id]);
	return add_line(p, end_call(p, &s), types_text(p, &list, 1));
}

/* The product of two matrices, each transposed if turn_a or turn_b is set.
 * Relay's dense takes its second matrix transposed. */
static const char *
product(struct printer *p, const struct node *n, bool turn_a, bool turn_b)
{
	const struct tensor *a = n->inputs[0], *b = n->inputs[1];
	const char *x = turn_a ? transposed(p, a) : p->refs[a->id], *y;

	if (p->form == RELAX_TEXT) {
		y = turn_b ? transposed(p, b) : p->refs[b->id];
		return two_operands(p, "matmul", x, y, ", out_dtype=\"void\"");
	}
	y = turn_b ? p->refs[b->id] : transposed(p, b);
	return two_operands(p, "nn.dense", x, y, ", units=None");
}

/* The expression of a Gemm without its third input, or of a MatMul. */
static const char *
matrix_call(struct printer *p, const struct node *n)
{
	bool gemm = strcmp(n->op_type, "Gemm") == 0;

	if (gemm || (p->form == RELAY_TEXT && n->inputs[0]->ndim == 2 &&
		     n->inputs[1]->ndim == 2)) {
		return product(p, n, gemm && node_attr_int(n, "transA", 0) != 0,
			       gemm && node_attr_int(n, "transB", 0) != 0);
	}
	return two_operands(p,
			    p->form == RELAX_TEXT ? "matmul"
						  : "nn.batch_matmul",
			    p->refs[n->inputs[0]->id],
			    p->refs[n->inputs[1]->id],
			    p->form == RELAX_TEXT ? ", out_dtype=\"void\""
						  : ", transpose_b=False");
}

/* Multiplies a value by the attribute `key` of a Gemm, if it is not 1. */
static const char *
scaled(struct printer *p, const struct node *n, const char *key,
       const char *value, const char *type)
{
	double factor = node_attr_float(n, key, 1);

	if (factor == 1) {
		return value;
	}
	return add_line(p,
			two_operands(p, "multiply", value,
				     arena_printf(p->a,
						  p->form == RELAX_TEXT
							  ? "R.const(%.9g, "
							    "\"float32\")"
							  : "%.9gf",
						  factor),
				     ""),
			type);
}

/* The bias of a convolution as Relax adds it, reshaped to the rank of the
 * result, with extent 1 in all dimensions but the channels: prints a line that
 * reshapes it, and returns its variable. */
static const char *
spread_bias(struct printer *p, const struct tensor *bias,
	    const struct tensor *result)
{
	struct tensor spread = *bias, *list = &spread;
	const struct expr **shape = arena_exprs(p->a, result->ndim);
	struct strbuf s;

	for (int d = 0; d < result->ndim; d++) {
		shape[d] = d == 1 ? bias->shape[0]
				  : expr_int(p->g->module, dtype_of(DT_I64), 1);
	}
	spread.ndim = result->ndim;
	spread.shape = shape;
	begin_call(p, "reshape", &s);
	strbuf_printf(&s, "%s, R.shape(", p->refs[bias->id]);
	relay_put_shape(&spread, p->form, &s);
	strbuf_putc(&s, ')');
	return add_line(p, end_call(p, &s), types_text(p, &list, 1));
}

/* Returns `value` plus the third input of a convolution or a Gemm; `value`
 * itself if n has no third input. */
static const char *
with_bias(struct printer *p, const struct node *n, const char *value,
	  const char *type)
{
	const struct tensor *bias = node_input(n, 2);
	const char *ref = bias != NULL ? p->refs[bias->id] : NULL;

	if (strcmp(n->op_type, "Gemm") == 0) {
		value = scaled(p, n, "alpha", value, type);
		ref = bias != NULL ? scaled(p, n, "beta", ref, type) : NULL;
		return ref == NULL ? value
				   : add_line(p,
					      two_operands(p, "add", value, ref,
							   ""),
					      type);
	}
	if (ref == NULL) {
		return value;
	}
	if (p->form == RELAX_TEXT) {
		ref = spread_bias(p, bias, n->outputs[0]);
		return add_line(p, two_operands(p, "add", value, ref, ""),
				type);
	}
	return add_line(p, two_operands(p, "nn.bias_add", value, ref, ""),
			type);
}

static const char *
plain_call(struct printer *p, const struct node *n)
{
	bool first = true;
	struct strbuf s;

	begin_call(p, relay_op_name(p->g, n, p->form), &s);
	put_arguments(p, n, &s, &first);
	relay_put_attributes(p->g, n, p->form, &first, &s);
	return end_call(p, &s);
}

/* The expression of a node that combines all its inputs, two at a time. Each
 * call but the last one is printed as a line; the last call is the
 * expression. */
static const char *
chained_call(struct printer *p, const struct node *n, const char *type)
{
	const char *name = relay_op_name(p->g, n, p->form);
	const char *value = p->refs[n->inputs[0]->id];

	for (int i = 1; i < n->n_inputs; i++) {
		const char *call = two_operands(p, name, value,
						p->refs[n->inputs[i]->id], "");

		if (i == n->n_inputs - 1) {
			return call;
		}
		value = add_line(p, call, type);
	}
	return value;
}

/* The expression of a node whose result has the type `type`. May first print
 * lines that the expression needs. */
static const char *
expression(struct printer *p, const struct node *n, const char *type)
{
	const struct relay_row *row = relay_row_of(n, p->form);
	bool is_matrix = strcmp(n->op_type, "MatMul") == 0 ||
			 strcmp(n->op_type, "Gemm") == 0;

	if (is_matrix && n->domain[0] == '\0') {
		return matrix_call(p, n);
	}
	return row != NULL && strcmp(row->args, "+") == 0
		       ? chained_call(p, n, type)
		       : plain_call(p, n);
}

/* Makes `value` the variable of the results of a node or a region. */
static void
name_results(struct printer *p, struct tensor *const *results, int n,
	     const char *value, bool is_tuple)
{
	for (int i = 0; i < n; i++) {
		if (results[i] != NULL) {
			p->refs[results[i]->id] =
				!is_tuple ? value
				: p->form == RELAX_TEXT
					? arena_printf(p->a, "%s[%d]", value, i)
					: arena_printf(p->a, "%s.%d", value, i);
		}
	}
}

static void
add_node(struct printer *p, const struct node *n)
{
	bool has_bias = strcmp(n->op_type, "Gemm") == 0 ||
			strcmp(n->op_type, "Conv") == 0 ||
			strcmp(n->op_type, "ConvTranspose") == 0;
	/* batch_norm also returns the mean and the variance */
	bool is_tuple = n->n_outputs > 1 ||
			strcmp(n->op_type, "BatchNormalization") == 0;
	struct tensor *results[64];
	int n_results = 0;
	const char *type, *value;

	for (int i = 0; i < n->n_outputs && n_results < 64; i++) {
		if (n->outputs[i] != NULL) {
			results[n_results++] = n->outputs[i];
		}
	}
	type = types_text(p, results, n_results);
	value = add_line(p, expression(p, n, type), type);
	if (has_bias) {
		value = with_bias(p, n, value, type);
	}
	name_results(p, n->outputs, n->n_outputs, value, is_tuple);
}

static void
add_region(struct printer *p, const struct graph_region *r)
{
	bool first = true;
	struct strbuf s;
	const char *value;

	strbuf_init(&s);
	strbuf_printf(&s, p->form == RELAX_TEXT ? "cls.%s(" : "@%s(",
		      region_function(p->g, r));
	for (int i = 0; i < r->inputs.n; i++) {
		put_operand(&s, &first, p->refs[r->inputs.data[i]->id]);
	}
	for (int i = 0; i < r->constants.n; i++) {
		put_operand(&s, &first, p->refs[r->constants.data[i]->id]);
	}
	value = add_line(p, end_call(p, &s),
			 types_text(p, r->outputs.data, r->outputs.n));
	name_results(p, r->outputs.data, r->outputs.n, value, r->outputs.n > 1);
}

/* -- functions -- */

static void
begin(struct printer *p, struct graph *g, enum relay_form form,
      struct strbuf *out)
{
	*p = (struct printer){
		.g = g, .a = &g->module->arena, .form = form, .out = out
	};
	p->refs = arena_array(p->a, const char *, g->tensors.n + 1);
	for (int i = 0; i < g->tensors.n; i++) {
		/* a constant that is only printed as an attribute has no
		 * variable */
		p->refs[i] = "None";
	}
	name_set_init(&p->names, p->a);
	p->names.max_length = NAME_BYTES;
}

static void
put_parameter(struct printer *p, struct tensor *t, const char *name,
	      bool *first)
{
	const char *v = variable(p, name);

	p->refs[t->id] = v;
	strbuf_printf(p->out, "%s%s: ", *first ? "" : ", ", v);
	put_type(p, t, p->out);
	*first = false;
}

static void
put_head(struct printer *p, const char *name)
{
	if (p->form == RELAX_TEXT) {
		strbuf_printf(p->out, "    @R.function\n    def %s(", name);
	} else {
		strbuf_printf(p->out, "def @%s(", name);
	}
}

static void
put_results(struct printer *p, struct tensor *const *results, int n)
{
	bool whole = n == 1 && p->held != NULL &&
		     strcmp(p->refs[results[0]->id], p->held_name) == 0;
	bool relax = p->form == RELAX_TEXT;
	struct strbuf s;

	if (whole && !relax) {
		strbuf_printf(p->out, "  %s /* ty=%s */\n}\n", p->held,
			      p->held_type);
		return;
	}
	put_held(p);
	strbuf_init(&s);
	for (int i = 0; i < n; i++) {
		strbuf_printf(&s, "%s%s", i > 0 ? ", " : "",
			      p->refs[results[i]->id]);
	}
	if (relax) {
		strbuf_printf(p->out, "            R.output(%s)\n", s.data);
	}
	strbuf_printf(p->out,
		      relax    ? n == 1 ? "        return %s\n"
					: "        return (%s)\n"
		      : n == 1 ? "  %s\n}\n"
			       : "  (%s)\n}\n",
		      s.data);
	strbuf_release(&s);
}

static void
put_body(struct printer *p, struct tensor *const *results, int n)
{
	strbuf_printf(p->out,
		      p->form == RELAX_TEXT
			      ? ") -> %s:\n        with R.dataflow():"
			      : ") -> %s {",
		      types_text(p, results, n));
	strbuf_putc(p->out, '\n');
}

const char *const *
relay_param_names(struct graph *g)
{
	struct printer p;
	int n;
	struct tensor *const *params = relay_params(g, &n);
	const char **names = arena_array(&g->module->arena, const char *,
					 n + 1);

	begin(&p, g, RELAY_TEXT, NULL);
	for (int i = 0; i < g->inputs.n; i++) {
		variable(&p, tensor_label(g->inputs.data[i]));
	}
	for (int i = 0; i < n; i++) {
		names[i] = variable(&p, tensor_label(params[i])) + 1;
	}
	return names;
}

static void
put_main(struct printer *p)
{
	struct graph *g = p->g;
	const struct graph_region *last = NULL;
	bool first = true;
	int n;
	struct tensor *const *params = relay_params(g, &n);

	put_head(p, "main");
	for (int i = 0; i < g->inputs.n; i++) {
		put_parameter(p, g->inputs.data[i],
			      tensor_label(g->inputs.data[i]), &first);
	}
	for (int i = 0; i < n; i++) {
		put_parameter(p, params[i], tensor_label(params[i]), &first);
	}
	put_body(p, g->outputs.data, g->outputs.n);
	for (int i = 0; i < g->nodes.n; i++) {
		const struct node *node = g->nodes.data[i];
		const struct graph_region *r = has_regions(g) ? region_of(node)
							      : NULL;

		if (r == NULL) {
			add_node(p, node);
		} else if (r != last) {
			add_region(p, r);
		}
		last = r;
	}
	put_results(p, g->outputs.data, g->outputs.n);
}

static void
put_region(struct printer *p, const struct graph_region *r)
{
	struct graph *g = p->g;
	const char *name = region_function(g, r);
	bool first = true;
	int n = 0;

	put_head(p, name);
	for (int i = 0; i < r->inputs.n + r->constants.n; i++) {
		put_parameter(p,
			      i < r->inputs.n
				      ? r->inputs.data[i]
				      : r->constants.data[i - r->inputs.n],
			      arena_printf(p->a, "%s_%d_i%d", r->backend_name,
					   number_of(g, r), n++),
			      &first);
	}
	if (p->form == RELAY_TEXT) {
		strbuf_printf(p->out,
			      ", Inline=1, Compiler=\"%s\", "
			      "global_symbol=\"%s\", Primitive=1",
			      r->backend_name, name);
	}
	put_body(p, r->outputs.data, r->outputs.n);
	for (int i = 0; i < g->nodes.n; i++) {
		if (region_of(g->nodes.data[i]) == r) {
			add_node(p, g->nodes.data[i]);
		}
	}
	put_results(p, r->outputs.data, r->outputs.n);
}

static void
put_function(struct graph *g, int function, enum relay_form form,
	     struct strbuf *out)
{
	struct printer p;

	begin(&p, g, form, out);
	if (function == 0) {
		put_main(&p);
	} else {
		put_region(&p, g->regions.data[function - 1]);
	}
}

void
relay_print_function(struct graph *g, int function, struct strbuf *out)
{
	put_function(g, function, RELAY_TEXT, out);
}

void
relay_print(struct graph *g, struct strbuf *out)
{
	for (int i = 0; i < relay_function_count(g); i++) {
		strbuf_puts(out, i > 0 ? "\n" : "");
		put_function(g, i, RELAY_TEXT, out);
	}
}

void
relax_print(struct graph *g, struct strbuf *out)
{
	strbuf_puts(out, "# from tvm.script import ir as I\n"
			 "# from tvm.script import relax as R\n\n"
			 "@I.ir_module\nclass Module:\n");
	for (int i = 0; i < relay_function_count(g); i++) {
		strbuf_puts(out, i > 0 ? "\n" : "");
		put_function(g, i, RELAX_TEXT, out);
	}
}
