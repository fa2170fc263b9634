/* SPDX-License-Identifier: Apache-2.0 */
/* The options that shape the source, as its first comment states them, so that a
 * reader can write the source again. They come from the settings of the graph, which a
 * partition keeps. Left out are defaults, and what other comments show: target, names,
 * sizes, states, constants, the form of the weights, and schedules that are not those
 * of the rules. */
#include <string.h>

#include "backend.h"
#include "graph_region.h"
#include "quantization.h"
#include "tirc_context.h"

/* The smallest block of channels (target.block_elems) with which Winograd's
 * algorithm is used. */
enum { LEAST_BLOCK = 8 };

bool
context_takes_direct_alone(const struct target *target)
{
	return target->block_elems < LEAST_BLOCK ||
	       target->max_threads > 0 || /* it is a device */
	       strcmp(target->fp, "strict") == 0;
}

enum conv_algorithm
context_default_conv(const struct target *target)
{
	return target->core_gflops <= 1 || target->optimize_memory ||
			       context_takes_direct_alone(target)
		       ? CONV_DIRECT
		       : CONV_AUTO;
}

static void
put(struct strbuf *s, const char *option, const char *value)
{
	strbuf_printf(s, "%s%s %s", s->len > 0 ? " " : "", option, value);
}

/* Appends the option unless its value is the default. */
static void
put_word(struct strbuf *s, const char *option, const char *value,
	 const char *otherwise)
{
	if (value != NULL && strcmp(value, otherwise) != 0) {
		put(s, option, value);
	}
}

/* Appends the backends that compute a region of the graph. */
static void
put_backends(struct tirc *t, struct strbuf *s)
{
	const struct graph *g = t->graph;

	for (int i = 0; i < g->regions.n; i++) {
		const struct backend *b = g->regions.data[i]->backend;
		bool again = false;

		for (int k = 0; k < i; k++) {
			again |= g->regions.data[k]->backend == b;
		}
		if (!again) {
			put(s, "--byoc", b->name);
		}
	}
}

static const char *
workspace_word(const struct settings *s)
{
	return !s->inputs_in_workspace   ? "outputs"
	       : s->outputs_in_workspace ? "both"
					 : "inputs";
}

const char *
context_options_text(struct tirc *t)
{
	const struct settings *set = t->graph->settings;
	struct strbuf s;
	const char *text;

	strbuf_init(&s);
	put_word(&s, "--optimize", t->target->goal, "speed");
	put_word(&s, "--fp", t->target->fp, "default");
	put_word(&s, "--requant", graph_rounding(t->graph), "onnx");
	if (set->weight_type != DT_VOID) {
		put(&s, "--precision", dtype_short(dtype_of(set->weight_type)));
	}
	if (set->conv != context_default_conv(t->target)) {
		int n;

		put(&s, "--conv",
		    settings_rows(&n)[settings_find("conv")].word(
			    (int)set->conv));
	}
	put_word(&s, "--form", t->options.form, "aot");
	if (set->inputs_in_workspace || set->outputs_in_workspace) {
		put(&s, "--in-workspace", workspace_word(set));
	}
	put_backends(t, &s);
	text = s.len > 0 ? arena_strndup(&t->m->arena, s.data, s.len) : NULL;
	strbuf_release(&s);
	return text;
}
