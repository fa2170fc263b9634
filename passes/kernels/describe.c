/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels and titles of their comments, from the model's names and
 * attributes. They do not depend on how many nodes come before a node. */
#include <ctype.h>

#include "backend.h"
#include "identifiers.h"
#include "kernels.h"
#include "ops.h"
#include "rewrite.h"
#include "size_words.h"

static const char *
lower_case(struct arena *a, const char *text)
{
	char *out = arena_strdup(a, text);

	for (char *c = out; *c != '\0'; c++) {
		*c = (char)tolower((unsigned char)*c);
	}
	return out;
}

/* The constant of the model from which t mainly derives: from t on, each step
 * goes to the largest input of the constant's recipe. If t has no recipe, t
 * itself. */
static const struct tensor *
model_constant(const struct tensor *t)
{
	while (t->recipe != NULL) {
		const struct tensor *from = NULL;
		int64_t most = -1, elems;

		for (int i = 0; i < t->recipe->n_inputs; i++) {
			const struct tensor *x = t->recipe->inputs[i];

			if (x != NULL && tensor_const_elems(x, &elems) &&
			    elems > most) {
				from = x;
				most = elems;
			}
		}
		if (from == NULL) {
			break;
		}
		t = from;
	}
	return t;
}

const char *
constant_name(const struct tensor *t)
{
	t = model_constant(t);
	return t->from != NULL ? t->from : t->name;
}

/* The name of a constant in the model: `name` without the suffix that a pass
 * added when it computed a constant from that one. */
static const char *
unscaled(struct arena *a, const char *name)
{
	static const char suffix[] = ".scaled";
	size_t n = strlen(name), m = sizeof suffix - 1;

	while (n > m && strncmp(name + n - m, suffix, m) == 0) {
		n -= m;
	}
	return arena_strndup(a, name, n);
}

const char *
stem_of_weight(struct arena *a, const struct node *n)
{
	static const char *const endings[] = {
		"_weight", "_weights", "_kernel", "_w",   "_W",
		"_gamma",  "_scale",   "_w_0",    "_W_0",
	};

	for (int i = 1; i < n->n_inputs; i++) {
		const struct tensor *t = n->inputs[i];
		const char *stem;

		/* the weights have a narrower type, which the Cast widens */
		if (t != NULL && t->producer != NULL &&
		    node_is(t->producer, "Cast")) {
			t = t->producer->inputs[0];
		}
		if (t == NULL || !tensor_is_constant(t)) {
			continue;
		}
		stem = name_stem(a, unscaled(a, constant_name(t)));
		if (stem == NULL) {
			continue;
		}
		for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
			size_t n_stem = strlen(stem);
			size_t n_end = strlen(endings[e]);

			if (n_stem > n_end &&
			    strcmp(stem + n_stem - n_end, endings[e]) == 0) {
				return arena_strndup(a, stem, n_stem - n_end);
			}
		}
	}
	return NULL;
}

const char *
operator_word(struct arena *a, const struct node *n)
{
	return lower_case(a, n->op_type);
}

const char *
kernel_stem(struct graph *g, const struct group *group)
{
	struct arena *a = &g->module->arena;
	const struct node *anchor = group->anchor;
	const char *op = operator_word(a, anchor);
	const char *stem = node_attr_string(anchor, "stem", NULL);

	if (stem != NULL) {
		return stem;
	}
	stem = stem_of_weight(a, anchor);

	if (stem != NULL) {
		return strstr(lower_case(a, stem), op) != NULL
			       ? stem
			       : arena_printf(a, "%s_%s", stem, op);
	}
	stem = name_stem(a, anchor->name);
	if (stem == NULL && anchor->outputs[0] != NULL) {
		stem = name_stem(a, anchor->outputs[0]->name);
	}
	for (int i = group->nodes.n - 1; stem == NULL && i >= 0; i--) {
		stem = name_stem(a, group->nodes.data[i]->outputs[0]->name);
	}
	return stem != NULL ? stem : op;
}

/* Does a text for a name contain an operator's name with a number, as in
 * "Conv_19_input"? */
static bool
has_counted_operator(const char *stem)
{
	for (const char *c = stem; *c != '\0'; c++) {
		const char *end = c;

		if (!isupper((unsigned char)*c)) {
			continue;
		}
		while (isalpha((unsigned char)*end)) {
			end++;
		}
		if (end[0] == '_' && isdigit((unsigned char)end[1])) {
			return true;
		}
	}
	return false;
}

/* The name of the layer that a node belongs to, from the names of the node's
 * weights or the node's name. NULL if these give no name, or only the name of
 * an operator with a number. */
static const char *
layer_of(struct arena *a, const struct node *n)
{
	const char *stem = stem_of_weight(a, n);

	if (stem == NULL) {
		stem = name_stem(a, n->name);
	}
	return stem != NULL && !has_counted_operator(stem) ? stem : NULL;
}

const char *
kernel_neighbour(struct graph *g, const struct group *group)
{
	struct arena *a = &g->module->arena;
	const struct node *first = group->anchor;
	const char *op = operator_word(a, first), *stem;

	if (group->nodes.n == 0 || strcmp(kernel_stem(g, group), op) != 0) {
		return NULL;
	}
	for (int i = 0; i < first->outputs[0]->uses.n; i++) {
		const struct node *user = first->outputs[0]->uses.data[i].node;

		while (group_index(group, user) >= 0 &&
		       user->outputs[0]->uses.n > 0) {
			user = user->outputs[0]->uses.data[0].node;
		}
		stem = layer_of(a, user);
		if (stem != NULL) {
			return arena_printf(a, "%s_before_%s", op, stem);
		}
	}
	for (int i = 0; i < first->n_inputs; i++) {
		const struct tensor *x = first->inputs[i];

		stem = x != NULL && x->producer != NULL
			       ? layer_of(a, x->producer)
			       : NULL;
		if (stem != NULL) {
			return arena_printf(a, "%s_after_%s", op, stem);
		}
	}
	return NULL;
}

const char *
weight_stem(struct graph *g, const struct kernel *k,
	    const struct kernel_arg *arg)
{
	struct arena *a = &g->module->arena;

	return arena_printf(a, "%s_%s", k->name, arg->buffer->name);
}

static void
put_ints(struct strbuf *s, const char *label, const int64_t *v, int n)
{
	bool same = true;

	for (int i = 1; i < n; i++) {
		same = same && v[i] == v[0];
	}
	strbuf_puts(s, label);
	for (int i = 0; i < (same && n > 0 ? 1 : n); i++) {
		strbuf_printf(s, "%s%lld", i > 0 ? "x" : " ", (long long)v[i]);
	}
}

static bool
all_are(const int64_t *v, int n, int64_t value)
{
	for (int i = 0; i < n; i++) {
		if (v[i] != value) {
			return false;
		}
	}
	return true;
}

static bool
const_dim(const struct tensor *t, int d, int64_t *v)
{
	return t != NULL && d >= 0 && d < t->ndim &&
	       expr_is_int(t->shape[d], v);
}

/* Appends "60 channels", or "60 of 64 channels" if the model has more. */
static void
put_channels(struct strbuf *s, const struct node *n, int64_t count)
{
	int64_t all = node_attr_int(n, "model_channels", count);

	strbuf_printf(s, "%lld ", (long long)count);
	if (all > count) {
		strbuf_printf(s, "of %lld ", (long long)all);
	}
	strbuf_puts(s, "channels");
}

/* Appends the window of a node: " 3x3, stride 2, pad 1, 64 -> 128 channels". */
static void
put_window(struct strbuf *s, const struct node *n)
{
	const int64_t *v;
	int count = node_attr_ints(n, "kernel_shape", &v);
	const struct tensor *w = n->n_inputs > 1 ? n->inputs[1] : NULL;
	int64_t in, out, groups = node_attr_int(n, "group", 1);

	if (count > 0) {
		for (int i = 0; i < count; i++) {
			strbuf_printf(s, "%s%lld", i > 0 ? "x" : " ",
				      (long long)v[i]);
		}
	} else if (w != NULL && w->ndim > 2) {
		for (int d = 2; d < w->ndim; d++) {
			if (const_dim(w, d, &in)) {
				strbuf_printf(s, "%s%lld", d > 2 ? "x" : " ",
					      (long long)in);
			}
		}
	}
	count = node_attr_ints(n, "strides", &v);
	if (count > 0 && !all_are(v, count, 1)) {
		put_ints(s, ", stride", v, count);
	}
	count = node_attr_ints(n, "pads", &v);
	if (count > 0 && !all_are(v, count, 0)) {
		put_ints(s, ", pad", v, count);
	}
	count = node_attr_ints(n, "dilations", &v);
	if (count > 0 && !all_are(v, count, 1)) {
		put_ints(s, ", dilation", v, count);
	}
	if (const_dim(n->inputs[0], 1, &in) &&
	    const_dim(n->outputs[0], 1, &out) && w != NULL) {
		if (groups == in && groups == out) {
			strbuf_puts(s, ", depthwise, ");
			put_channels(s, n, in);
		} else {
			strbuf_printf(s, ", %lld -> ", (long long)in);
			put_channels(s, n, out);
			if (groups > 1) {
				strbuf_printf(s, " in %lld groups",
					      (long long)groups);
			}
		}
	} else if (const_dim(n->outputs[0], 1, &out)) {
		strbuf_printf(s, ", %lld channels", (long long)out);
	}
}

static void
put_shape(struct strbuf *s, const struct tensor *t)
{
	for (int d = 0; d < t->ndim; d++) {
		strbuf_puts(s, "[");
		size_words(t->shape[d], s);
		strbuf_puts(s, "]");
	}
}

bool
node_has_window(const struct node *n)
{
	static const char *const attrs[] = {
		"strides", "pads", "dilations", "group", "auto_pad",
	};

	/* A convolution of 1x1 needs no attribute. */
	if (node_attr(n, "kernel_shape") != NULL ||
	    (n->op->fuse == FUSE_COMPUTE && strstr(n->op_type, "Conv"))) {
		return true;
	}
	for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++) {
		if (n->op->fuse == FUSE_COMPUTE && n->n_inputs > 1 &&
		    n->inputs[0]->ndim > 2 && node_attr(n, attrs[i]) != NULL) {
			return true;
		}
	}
	return false;
}

const char *
kernel_title(struct graph *g, const struct group *group)
{
	const struct node *n = group->anchor;
	struct strbuf s;
	const char *title;
	int64_t k, out;
	bool behind = false;

	strbuf_init(&s);
	strbuf_puts(&s, node_attr_string(n, "title", n->op_type));
	if (node_attr(n, "title") != NULL) {
		/* the layer's name tells enough: nothing is added */
	} else if (node_has_window(n)) {
		put_window(&s, n);
	} else if (n->op->fuse == FUSE_COMPUTE && n->n_inputs > 1 &&
		   const_dim(n->inputs[0], n->inputs[0]->ndim - 1, &k) &&
		   const_dim(n->outputs[0], n->outputs[0]->ndim - 1, &out)) {
		strbuf_printf(&s, " %lld -> %lld", (long long)k,
			      (long long)out);
	} else if (n->outputs[0] != NULL && n->outputs[0]->ndim > 0) {
		strbuf_puts(&s, " ");
		put_shape(&s, n->outputs[0]);
	}
	if (n->op->fuse == FUSE_COMPUTE && n->n_inputs > 2 &&
	    n->inputs[2] != NULL) {
		strbuf_puts(&s, ", + bias");
	}
	for (int i = 0; i < group->nodes.n; i++) {
		if (behind) {
			const struct node *other = group->nodes.data[i];

			strbuf_printf(&s, ", %s",
				      node_attr_string(other, "title",
						       other->op_type));
		}
		behind = behind || group->nodes.data[i] == n;
	}
	title = arena_strndup(&g->module->arena, s.data, s.len);
	strbuf_release(&s);
	return title;
}

const char *
region_title(struct graph *g, const struct graph_region *r)
{
	const struct region_match *match = r->matches.data[0];
	struct group alone = { .id = -1, .anchor = match->anchor };

	if (r->matches.n > 1) {
		return arena_printf(&g->module->arena, "%d operators by %s",
				    region_node_count(r), r->backend->name);
	}
	for (int i = 0; i < match->nodes.n; i++) {
		vec_push(&g->module->arena, &alone.nodes,
			 match->nodes.data[i].node);
	}
	return arena_printf(&g->module->arena, "%s, by %s",
			    kernel_title(g, &alone), r->backend->name);
}

const char *
region_patterns(struct graph *g, const struct graph_region *r)
{
	struct strbuf s;
	const char *text;
	int times;

	strbuf_init(&s);
	for (int i = 0; i < r->matches.n; i += times) {
		const char *pattern = r->matches.data[i]->pattern;

		times = 1;
		while (i + times < r->matches.n &&
		       strcmp(r->matches.data[i + times]->pattern, pattern) ==
			       0) {
			times++;
		}
		strbuf_printf(&s, "%s%s", i > 0 ? ", " : "", pattern);
		if (times > 1) {
			strbuf_printf(&s, " (%d times)", times);
		}
	}
	text = arena_strdup(&g->module->arena, s.data);
	strbuf_release(&s);
	return text;
}
