/* SPDX-License-Identifier: Apache-2.0 */
/* Finds patterns, templates and options of a backend by name, checks limits,
 * and counts the multiply-accumulates of matches and regions. */
#include "backend.h"
#include "ops.h"

const struct pattern *
backend_pattern(const struct backend *b, const char *name)
{
	for (int i = 0; i < b->n_patterns; i++) {
		if (strcmp(b->patterns[i].name, name) == 0) {
			return &b->patterns[i];
		}
	}
	return NULL;
}

const struct backend_file *
backend_template(const struct backend *b, const char *key)
{
	for (int i = 0; i < b->n_templates; i++) {
		if (strcmp(b->templates[i].key, key) == 0) {
			return &b->templates[i];
		}
	}
	return NULL;
}

const char *
backend_option(const struct backend *b, const char *name)
{
	for (int i = 0; i < b->n_options; i++) {
		if (strcmp(b->options[i].name, name) == 0) {
			return b->options[i].value;
		}
	}
	return NULL;
}

bool
limits_hold(const struct limits *l, int64_t v)
{
	bool found = l->one_of.n == 0;

	for (int i = 0; i < l->one_of.n; i++) {
		found = found || l->one_of.data[i] == v;
	}
	return found && v >= l->min && v <= l->max && v % l->multiple == 0;
}

int64_t
match_macs(const struct region_match *m)
{
	int64_t macs = 0;

	for (int i = 0; i < m->nodes.n; i++) {
		macs += op_macs(m->nodes.data[i].node);
	}
	return macs;
}

int64_t
region_macs(const struct graph_region *r)
{
	int64_t macs = 0;

	for (int i = 0; i < r->matches.n; i++) {
		macs += match_macs(r->matches.data[i]);
	}
	return macs;
}
