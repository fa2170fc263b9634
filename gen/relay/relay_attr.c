/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators' names, and the attributes of calls. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "relay_parts.h"
#include "size_words.h"
#include "window.h"

static const struct relay_row rows[] = {
#define ROW(op, relay, relax, args, attrs) { op, relay, relax, args, attrs },
#include "relay_ops.def"
#undef ROW
};

/* Are the integers of the inputs that the row has as attributes known? */
static bool
has_known_inputs(const struct node *n, const struct relay_row *row)
{
	struct module *m = n->graph->module;
	const int64_t *v;
	int count;
	double x;

	for (const char *at = strchr(row->attrs, '#'); at != NULL;
	     at = strchr(at + 1, '#')) {
		int i = at[1] - '0';

		if (node_input(n, i) != NULL &&
		    (at[2] == '.' ? !input_scalar(n, i, &x)
				  : !input_ints(m, n, i, &v, &count))) {
			return false;
		}
	}
	return true;
}

/* Attributes that TVM's operator of the row does not have: it computes what the
 * node does if they are 0. */
static const struct {
	const char *op, *attr;
} zeros[] = {
	{ "CumSum", "reverse" },
	{ "BatchNormalization", "training_mode" },
	{ "Mod", "fmod" },
	{ "Resize", "antialias" },
	{ "Resize", "exclude_outside" },
	{ "QuantizeLinear", "block_size" },
	{ "DequantizeLinear", "block_size" },
};

static bool
has_sizes(const struct tensor *t)
{
	int64_t size;

	for (int d = 0; d < t->ndim; d++) {
		if (!expr_is_int(t->shape[d], &size)) {
			return false;
		}
	}
	return true;
}

/* Does TVM's operator of the row compute what the node does? */
static bool
is_computed(const struct node *n, const struct relay_row *row)
{
	const struct tensor *x = node_input(n, 0), *y = node_input(n, 1);
	const char *op = n->op_type;

	for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
		if (strcmp(zeros[i].op, op) == 0 &&
		    node_attr_int(n, zeros[i].attr, 0) != 0) {
			return false;
		}
	}
	if (strcmp(op, "ConstantOfShape") == 0) {
		return has_sizes(n->outputs[0]);
	}
	if (strcmp(op, "Gelu") == 0) {
		return node_attr(n, "approximate") == NULL;
	}
	if (strcmp(op, "Swish") == 0) {
		return node_attr_float(n, "alpha", 1) == 1;
	}
	if (strcmp(op, "PRelu") == 0) {
		return y->ndim == x->ndim - 1 && y->ndim != 1;
	}
	if (strcmp(op, "MaxPool") == 0) {
		return n->n_outputs == 1;
	}
	if (strcmp(op, "Pad") == 0) {
		return node_input(n, 3) == NULL;
	}
	if (strcmp(op, "Resize") == 0) {
		return node_attr(n, "axes") == NULL;
	}
	if (strcmp(op, "LayerNormalization") == 0) {
		return n->n_outputs == 1 && node_input(n, 2) != NULL &&
		       y->ndim == 1;
	}
	if (strcmp(op, "QuantizeLinear") == 0 ||
	    strcmp(op, "DequantizeLinear") == 0) {
		return node_input(n, 2) != NULL;
	}
	return has_known_inputs(n, row);
}

const struct relay_row *
relay_row_of(const struct node *n, enum relay_form form)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].op, n->op_type) != 0) {
			continue;
		}
		return form == RELAX_TEXT || (rows[i].relay[0] != '\0' &&
					      is_computed(n, &rows[i]))
			       ? &rows[i]
			       : NULL;
	}
	return NULL;
}

/* The number of spatial dimensions of input 0. */
static int
spatial(const struct node *n)
{
	const struct tensor *x = node_input(n, 0);

	return x != NULL && x->ndim > 2 ? x->ndim - 2 : 0;
}

const char *
relay_op_name(struct graph *g, const struct node *n, enum relay_form form)
{
	struct arena *a = &g->module->arena;
	const struct relay_row *row = relay_row_of(n, form);
	const char *name, *at;

	if (row == NULL) {
		return arena_printf(a, "onnx.%s", n->op_type);
	}
	name = form == RELAY_TEXT ? row->relay : row->relax;
	at = strstr(name, "%d");
	return at == NULL ? name
			  : arena_printf(a, "%.*s%d%s", (int)(at - name), name,
					 spatial(n), at + 2);
}

bool
relay_is_argument(const struct node *n, int i, enum relay_form form)
{
	const struct relay_row *row = relay_row_of(n, form);
	const char *at = row != NULL ? row->args : "*";

	if (strcmp(at, "*") == 0 || strcmp(at, "(*)") == 0 ||
	    strcmp(at, "+") == 0) {
		return true;
	}
	while (*at != '\0') {
		char *end;
		long k = strtol(at, &end, 10);

		if (end != at && (*end == ' ' || *end == '\0') && k == i) {
			return true;
		}
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	/* the bias of a convolution or a Gemm is an argument of a further call,
	 * not of the operator's */
	return i == 2 && (strcmp(n->op_type, "Conv") == 0 ||
			  strcmp(n->op_type, "ConvTranspose") == 0 ||
			  strcmp(n->op_type, "Gemm") == 0);
}

/* -- values */

static void
put_int(int64_t v, struct strbuf *out)
{
	strbuf_printf(out, "%" PRId64, v);
}

static void
put_ints(const int64_t *v, int n, struct strbuf *out)
{
	strbuf_puts(out, "[");
	for (int i = 0; i < n; i++) {
		strbuf_puts(out, i > 0 ? ", " : "");
		put_int(v[i], out);
	}
	strbuf_puts(out, "]");
}

/* Appends the shortest text that reads back as the same float32. Relay's
 * literals have an f behind the number. */
static void
put_float(double v, enum relay_form form, struct strbuf *out)
{
	char text[32];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v || isnan(v) ||
		    strtof(text, NULL) == (float)v) {
			break;
		}
	}
	strbuf_printf(out, "%s%s", text,
		      form == RELAY_TEXT               ? "f"
		      : strpbrk(text, ".einN") != NULL ? ""
						       : ".0");
}

void
relay_put_fill(const struct node *n, enum relay_form form, struct strbuf *out)
{
	const struct attr *a = node_attr(n, "value");
	union number v = { 0 };
	struct dtype t = n->outputs[0]->type;

	if (a != NULL && a->kind == ATTR_TENSOR) {
		v = a->tensor->data != NULL ? number_load(t, a->tensor->data, 0)
					    : a->tensor->fill;
	}
	if (form == RELAX_TEXT) {
		strbuf_puts(out, "R.const(");
	}
	if (dtype_is_float(t)) {
		put_float(v.f, form, out);
	} else {
		put_int(v.i, out);
		if (form == RELAY_TEXT && t.kind != DT_I32) {
			strbuf_puts(out,
				    t.kind == DT_BOOL ? "i8" : dtype_short(t));
		}
	}
	if (form == RELAX_TEXT) {
		strbuf_printf(out, ", \"%s\")", dtype_name(t));
	}
}

static void
put_text(const char *text, struct strbuf *out)
{
	strbuf_putc(out, '"');
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			strbuf_printf(out, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			strbuf_printf(out, "\\x%02x", c);
		} else {
			strbuf_putc(out, (char)c);
		}
	}
	strbuf_putc(out, '"');
}

static bool
put_attr(const struct attr *a, enum relay_form form, struct strbuf *out)
{
	switch (a->kind) {
	case ATTR_INT:
		put_int(a->i, out);
		return true;
	case ATTR_FLOAT:
		put_float(a->f, form, out);
		return true;
	case ATTR_STRING:
		put_text(a->s, out);
		return true;
	case ATTR_INTS:
		put_ints(a->ints, a->n, out);
		return true;
	case ATTR_FLOATS:
		strbuf_puts(out, "[");
		for (int i = 0; i < a->n; i++) {
			strbuf_puts(out, i > 0 ? ", " : "");
			put_float(a->floats[i], form, out);
		}
		strbuf_puts(out, "]");
		return true;
	default:
		return false;
	}
}

static void
put_sizes(const struct expr *const *sizes, int n, enum relay_form form,
	  struct strbuf *out)
{
	for (int i = 0; i < n; i++) {
		int64_t v;

		strbuf_puts(out, i > 0 ? ", " : "");
		if (expr_is_int(sizes[i], &v)) {
			put_int(v, out);
		} else if (form == RELAY_TEXT) {
			strbuf_puts(out, "?");
		} else {
			size_words(sizes[i], out);
		}
	}
}

void
relay_put_shape(const struct tensor *t, enum relay_form form,
		struct strbuf *out)
{
	strbuf_puts(out, "(");
	put_sizes(t->shape, t->ndim > 0 ? t->ndim : 0, form, out);
	strbuf_puts(out, t->ndim == 1 ? ",)" : ")");
}

/* -- computed attributes */

static void
put_padding(const struct window *w, struct strbuf *out)
{
	for (int side = 0; side < 2; side++) {
		for (int d = 0; d < w->n; d++) {
			const struct expr *e = side == 0 ? w->begin[d]
							 : w->end[d];

			strbuf_puts(out, side + d > 0 ? ", " : "[");
			size_words(e, out);
		}
	}
	strbuf_puts(out, "]");
}

static bool
put_window(struct graph *g, const struct node *n, const char *word,
	   struct strbuf *out)
{
	const struct tensor *weight =
		node_input(n, strcmp(n->op_type, "QLinearConv") == 0 ? 3 : 1);
	int64_t kernel[WINDOW_MAX];
	bool has_weight = strstr(n->op_type, "Conv") != NULL;
	struct window w;

	for (int d = 0; has_weight && d < WINDOW_MAX; d++) {
		kernel[d] = 0;
		if (weight != NULL && d < weight->ndim - 2) {
			expr_is_int(weight->shape[d + 2], &kernel[d]);
		}
	}
	if (window_of_node(g->module, n, has_weight ? kernel : NULL,
			   strcmp(n->op_type, "ConvTranspose") == 0,
			   &w) != NULL) {
		return false;
	}
	if (strcmp(word, "PADDING") == 0) {
		put_padding(&w, out);
	} else {
		put_ints(strcmp(word, "KERNEL") == 0    ? w.kernel
			 : strcmp(word, "STRIDES") == 0 ? w.stride
							: w.dilation,
			 w.n, out);
	}
	return true;
}

/* Pad's integers begin…, end… as pairs. */
static bool
put_pairs(struct graph *g, const struct node *n, struct strbuf *out)
{
	const int64_t *v;
	int count;

	if (!input_ints(g->module, n, 1, &v, &count)) {
		return false;
	}
	for (int i = 0; i < count / 2; i++) {
		strbuf_puts(out, i > 0 ? ", " : "[");
		put_ints((int64_t[]){ v[i], v[count / 2 + i] }, 2, out);
	}
	strbuf_puts(out, "]");
	return true;
}

/* Split's sizes as the positions between the parts. */
static bool
put_sections(struct graph *g, const struct node *n, struct strbuf *out)
{
	const int64_t *v;
	int64_t at = 0;
	int count;

	if (!input_ints(g->module, n, 1, &v, &count)) {
		put_int(n->n_outputs, out);
		return true;
	}
	strbuf_puts(out, "[");
	for (int i = 0; i < count - 1; i++) {
		at += v[i];
		strbuf_puts(out, i > 0 ? ", " : "");
		put_int(at, out);
	}
	strbuf_puts(out, "]");
	return true;
}

/* Axes of a reduction: an input, an attribute, or all. */
static bool
put_axes(struct graph *g, const struct node *n, struct strbuf *out)
{
	const int64_t *v;
	int count = node_attr_ints(n, "axes", &v);

	if (count == 0 && !input_ints(g->module, n, 1, &v, &count)) {
		return false;
	}
	put_ints(v, count, out);
	return true;
}

/* Appends the value of n that `word`, a word in capitals, stands for; false if
 * it stands for no value. */
static bool
put_computed(struct graph *g, const struct node *n, const char *word,
	     enum relay_form form, struct strbuf *out)
{
	const struct tensor *y = n->outputs[0];

	if (strcmp(word, "PAIRS") == 0) {
		return put_pairs(g, n, out);
	}
	if (strcmp(word, "SECTIONS") == 0) {
		return put_sections(g, n, out);
	}
	if (strcmp(word, "AXES") == 0) {
		return put_axes(g, n, out);
	}
	if (strcmp(word, "ASCENDING") == 0) {
		strbuf_puts(out,
			    node_attr_int(n, "largest", 1) ? "False" : "True");
		return true;
	}
	if (strcmp(word, "AXIS1") == 0) {
		strbuf_puts(out, "1");
		return true;
	}
	if (strcmp(word, "SCALED") == 0) {
		/* the axis along which scales differ */
		if (n->inputs[1]->ndim != 1) {
			return false;
		}
		put_int(node_attr_int(n, "axis", 1), out);
		return true;
	}
	if (strcmp(word, "METHOD") == 0) {
		const struct attr *mode = node_attr(n, "mode");

		put_text(mode == NULL || strcmp(mode->s, "nearest") == 0
				 ? "nearest_neighbor"
				 : mode->s,
			 out);
		return true;
	}
	if (strcmp(word, "ROUNDING") == 0) {
		const struct attr *mode = node_attr(n, "nearest_mode");

		put_text(mode == NULL ? "round_prefer_floor" : mode->s, out);
		return true;
	}
	if (strcmp(word, "CUBIC") == 0) {
		put_float(node_attr_float(n, "cubic_coeff_a", -0.75), form,
			  out);
		return true;
	}
	if (strcmp(word, "CHANNELS") == 0) {
		return y->ndim > 1 &&
		       (put_sizes(&y->shape[1], 1, form, out), true);
	}
	if (strcmp(word, "SPATIAL") == 0) {
		strbuf_puts(out, "[");
		put_sizes(y->shape + 2, y->ndim > 2 ? y->ndim - 2 : 0, form,
			  out);
		strbuf_puts(out, "]");
		return true;
	}
	return put_window(g, n, word, out);
}

/* Appends what a word of an operator's row stands for: "#1", the integers of
 * constant input 1; "#1.", the only number of constant input 1. */
static bool
put_input(struct graph *g, const struct node *n, const char *word,
	  enum relay_form form, struct strbuf *out)
{
	int i = word[1] - '0', count;
	const int64_t *v;
	double x;

	if (word[2] != '.') {
		if (!input_ints(g->module, n, i, &v, &count)) {
			return false;
		}
		put_ints(v, count, out);
		return true;
	}
	if (!input_scalar(n, i, &x)) {
		return false;
	}
	if (dtype_is_float(node_input(n, i)->type)) {
		put_float(x, form, out);
	} else {
		put_int((int64_t)x, out);
	}
	return true;
}

static bool
put_source(struct graph *g, const struct node *n, const char *source,
	   enum relay_form form, struct strbuf *out)
{
	const struct tensor *y = n->outputs[0];
	const struct attr *a;

	if (source[0] == '@') {
		size_t length = strcspn(source + 1, ":?");
		const char *absent = strchr(source, ':');
		struct arena *arena = &g->module->arena;

		a = node_attr(n, arena_strndup(arena, source + 1, length));
		if (source[length + 1] == '?' ||
		    (absent != NULL && strchr(absent, '?') != NULL)) {
			strbuf_puts(out, (a != NULL ? a->i != 0
						    : absent != NULL &&
							      absent[1] == '1')
						 ? "True"
						 : "False");
			return a != NULL || absent != NULL;
		}
		if (a == NULL && absent != NULL) {
			strbuf_puts(out, absent + 1);
			return true;
		}
		return a != NULL && put_attr(a, form, out);
	}
	if (source[0] == '#') {
		return put_input(g, n, source, form, out);
	}
	if (strcmp(source, "dtype") == 0) {
		put_text(dtype_name(y->type), out);
		return true;
	}
	if (strcmp(source, "shape") == 0) {
		strbuf_puts(out, form == RELAX_TEXT ? "R.shape([" : "[");
		put_sizes(y->shape, y->ndim > 0 ? y->ndim : 0, form, out);
		strbuf_puts(out, form == RELAX_TEXT ? "])" : "]");
		return true;
	}
	return put_computed(g, n, source, form, out);
}

/* Does the text `text` mean the default value `usual`? In `usual`, "1*" stands
 * for a list of ones of any length. */
static bool
is_default(const char *text, const char *usual)
{
	size_t n = strlen(usual);

	if (n != 2 || usual[1] != '*') {
		return strcmp(text, usual) == 0;
	}
	for (; *text != '\0'; text++) {
		if (strchr("[], ", *text) == NULL &&
		    (*text != usual[0] || strchr("[ ", text[-1]) == NULL ||
		     strchr(",]", text[1]) == NULL)) {
			return false;
		}
	}
	return true;
}

static void
put_name(const char *name, bool *first, struct strbuf *out)
{
	strbuf_printf(out, "%s%s=", *first ? "" : ", ", name);
	*first = false;
}

/* Appends the attribute of one word of a row, "strides=STRIDES|1*". */
static void
put_word(struct graph *g, const struct node *n, const char *word,
	 enum relay_form form, bool *first, struct strbuf *out)
{
	struct arena *a = &g->module->arena;
	size_t name = strcspn(word, "="), source = strcspn(word, "|");
	const char *of = arena_strndup(a, word + name + 1, source - name - 1);
	struct strbuf value;

	strbuf_init(&value);
	if (put_source(g, n, of, form, &value) &&
	    (word[source] == '\0' ||
	     !is_default(value.data, word + source + 1))) {
		if (strcmp(of, "shape") == 0 && form == RELAX_TEXT) {
			strbuf_puts(out, *first ? "" : ", ");
			*first = false;
		} else {
			put_name(arena_strndup(a, word, name), first, out);
		}
		strbuf_puts(out, value.data);
	}
	strbuf_release(&value);
}

static void
put_onnx_attributes(const struct node *n, enum relay_form form, bool *first,
		    struct strbuf *out)
{
	for (int i = 0; i < n->attrs.n; i++) {
		const struct attr *a = &n->attrs.data[i];
		struct strbuf value;

		strbuf_init(&value);
		if (put_attr(a, form, &value)) {
			put_name(a->name, first, out);
			strbuf_puts(out, value.data);
		}
		strbuf_release(&value);
	}
}

void
relay_put_attributes(struct graph *g, const struct node *n,
		     enum relay_form form, bool *first, struct strbuf *out)
{
	const struct relay_row *row = relay_row_of(n, form);
	const char *at = row != NULL ? row->attrs : "";

	if (row == NULL) {
		put_onnx_attributes(n, form, first, out);
	}
	while (*at != '\0') {
		size_t length = strcspn(at, " ");

		put_word(g, n, arena_strndup(&g->module->arena, at, length),
			 form, first, out);
		at += length;
		at += *at == ' ';
	}
}
