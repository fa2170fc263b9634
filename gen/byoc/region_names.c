/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a backend's templates may use, by scope: the names in
 * names.def, and the names derived from the backend's patterns and options. A
 * name that one pattern sets may be used for all matches. */
#include <ctype.h>

#include "dtype.h"
#include "loading.h"
#include "template.h"
#include "text.h"

/* In templates each node has at least this number of names for inputs, even if
 * no pattern has so many inputs. */
enum { LEAST_INPUTS = 4 };

enum level { SHARED, REGION, TENSOR, MATCH, STEP, LEVELS };

struct names_row {
	enum level level;
	const char *lists; /* NULL: `words` are texts */
	/* the names of the items, separated by spaces; NULL: each item of the
	 * list is a tensor */
	const char *words;
};

static const struct names_row rows[] = {
#define TEXTS(where, words) { where, NULL, words },
#define LISTS(where, lists, words) { where, lists, words },
#define TENSORS(where, lists) { where, lists, NULL },
#include "names.def"
};

struct names {
	struct arena *a;
	struct tdata *level[LEVELS];
};

static void
add_words(struct names *x, struct tdata *to, const char *words)
{
	const char *word;

	while ((word = text_next_word(x->a, &words)) != NULL) {
		tdata_text(to, word, "");
	}
}

static void
add_row(struct names *x, const struct names_row *row)
{
	struct tdata *to = x->level[row->level], *item;
	const char *lists = row->lists, *list;

	if (lists == NULL) {
		add_words(x, to, row->words);
		return;
	}
	item = row->words == NULL ? x->level[TENSOR] : tdata_new(x->a);
	if (row->words != NULL) {
		add_words(x, item, row->words);
	}
	while ((list = text_next_word(x->a, &lists)) != NULL) {
		tdata_share(to, list, item);
	}
}

/* -- patterns -- */

const char *
backend_op_word(struct arena *a, const char *op)
{
	const char *dot = strrchr(op, '.');
	char *text = arena_strdup(a, dot != NULL ? dot + 1 : op);

	for (char *p = text; *p != '\0'; p++) {
		*p = (char)tolower((unsigned char)*p);
	}
	return text;
}

/* Adds the names for a fact, whose value may be a text or a list. For each text
 * that the pattern allows as value, adds a name that tells whether the value is
 * this text. */
static void
add_fact(struct names *x, struct tdata *to, const struct pattern_node *n,
	 const struct fact_rule *rule, struct tdata *item)
{
	tdata_share(to, rule->name, item);
	tdata_text(to, rule->name, "");
	tdata_text(to, arena_printf(x->a, "%s_float", rule->name), "");
	tdata_text(to, arena_printf(x->a, "%s_set", rule->name), "");
	tdata_text(to, arena_printf(x->a, "%s_is_one", rule->name), "");
	if (rule->has_default && rule->value.kind == FACT_TEXT) {
		tdata_text(to,
			   arena_printf(x->a, "%s_is_%s", rule->name,
					rule->value.text),
			   "");
	}
	for (int i = 0; i < rule->n_choices; i++) {
		tdata_text(to,
			   arena_printf(x->a, "%s_is_%s", rule->name,
					rule->choices[i]),
			   "");
	}
	for (int i = 0; rule->attribute != NULL && i < n->n_attributes; i++) {
		const struct attribute_condition *c = &n->attributes[i];

		for (int t = 0; t < c->n_texts; t++) {
			if (strcmp(c->name, rule->attribute) == 0) {
				tdata_text(to,
					   arena_printf(x->a, "%s_is_%s",
							rule->name,
							c->texts[t]),
					   "");
			}
		}
	}
}

static void
add_role(struct names *x, struct tdata *to, const struct pattern_node *n)
{
	struct tdata *tensor = x->level[TENSOR];
	int count = n->n_inputs > LEAST_INPUTS ? n->n_inputs : LEAST_INPUTS;

	tdata_text(to, arena_printf(x->a, "has_%s", n->id), "");
	for (int i = 0; i < n->n_ops; i++) {
		tdata_text(to,
			   arena_printf(x->a, "%s_is_%s", n->id,
					backend_op_word(x->a, n->ops[i])),
			   "");
	}
	for (int i = 0; i < count; i++) {
		tdata_share(to, arena_printf(x->a, "%s_%d", n->id, i), tensor);
	}
	tdata_share(to, arena_printf(x->a, "%s_inputs", n->id), tensor);
	tdata_text(to, arena_printf(x->a, "%s_n_inputs", n->id), "");
	tdata_share(to, arena_printf(x->a, "%s_operand", n->id), tensor);
	tdata_share(to, arena_printf(x->a, "%s_result", n->id), tensor);
}

static void
add_graph(struct names *x, struct tdata *to, const struct pattern_graph *g)
{
	struct tdata *item = tdata_new(x->a);

	add_words(x, item, "value index");
	for (int i = 0; i < g->n_nodes; i++) {
		for (int k = 0; k < g->nodes[i].n_facts; k++) {
			add_fact(x, to, &g->nodes[i], &g->nodes[i].facts[k],
				 item);
		}
		add_role(x, to, &g->nodes[i]);
	}
}

static void
add_counts(struct names *x, const struct pattern_count *counts, int n)
{
	for (int i = 0; i < n; i++) {
		tdata_text(x->level[REGION],
			   arena_printf(x->a, "count_%s", counts[i].name), "");
	}
}

static void
add_pattern(struct names *x, const struct pattern *p)
{
	tdata_text(x->level[MATCH], arena_printf(x->a, "is_%s", p->name), "");
	/* variant 0 has all nodes of the pattern, also the optional ones */
	add_graph(x, x->level[MATCH], &p->variants[0]);
	add_counts(x, p->counts, p->n_counts);
	for (int c = 0; c < p->n_chains; c++) {
		for (int i = 0; i < p->chains[c].n_one_of; i++) {
			const struct pattern_graph *g = &p->chains[c].one_of[i];

			tdata_text(x->level[STEP],
				   arena_printf(x->a, "is_%s", g->name), "");
			add_graph(x, x->level[STEP], g);
			add_counts(x, g->counts, g->n_counts);
		}
	}
}

static void
add_option(struct names *x, const struct backend_option *o)
{
	for (enum level at = SHARED; at <= REGION; at++) {
		tdata_text(x->level[at],
			   arena_printf(x->a, "option_%s", o->name), "");
		for (int v = 0; v < o->n_values; v++) {
			tdata_text(x->level[at],
				   arena_printf(x->a, "option_%s_is_%s",
						o->name, o->values[v]),
				   "");
		}
	}
}

/* -- the whole -- */

bool
backend_check_templates(struct module *m, struct backend *b)
{
	struct names x = { .a = &m->arena };
	bool ok = true;

	for (int i = 0; i < LEVELS; i++) {
		x.level[i] = tdata_new(x.a);
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		add_row(&x, &rows[i]);
	}
	for (int i = 0; i < DT_COUNT; i++) {
		tdata_text(x.level[TENSOR],
			   arena_printf(x.a, "is_%s",
					dtype_short(
						dtype_of((enum dtype_kind)i))),
			   "");
	}
	for (int i = 0; i < b->n_patterns; i++) {
		add_pattern(&x, &b->patterns[i]);
	}
	add_counts(&x, b->input_counts, b->n_input_counts);
	add_counts(&x, b->output_counts, b->n_output_counts);
	for (int i = 0; i < b->n_options; i++) {
		add_option(&x, &b->options[i]);
	}
	tdata_share(x.level[MATCH], "steps", x.level[STEP]);
	tdata_share(x.level[REGION], "matches", x.level[MATCH]);
	for (int i = 0; i < b->n_templates; i++) {
		struct backend_file *f = &b->templates[i];

		f->names = x.level[f->shared ? SHARED : REGION];
		ok = template_check_known(&m->diags, f->file, f->text,
					  f->names) &&
		     ok;
	}
	return ok;
}
