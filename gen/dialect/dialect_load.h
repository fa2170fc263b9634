/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the dialect loader: one reader for each section of dialect.json. */
#ifndef TIRC_DIALECT_LOAD_H
#define TIRC_DIALECT_LOAD_H

#include "dialect.h"
#include "json_read.h"

struct loader {
	struct dialect *d;
	struct module *m;
	const char *dir;
	const char *fp;              /* the mode of --fp */
	const struct target *target; /* whose limits are, or NULL */
	struct reader reader;
	const char *chain[JSON_LAYERS_MAX]; /* names, the dialect's own first */
	cJSON *trees[JSON_LAYERS_MAX];
	int n;
};

const char *dialect_joined(struct loader *l, const char *const *words, int n);
struct names dialect_read_names(struct json j);
/* The index of the level that j names. absent < 0: it must be there. */
int dialect_read_level(struct loader *l, struct json j, int absent);
/* A text file of the dialect, or of the next that it extends. */
const char *dialect_chain_file(struct loader *l, const char *name,
			       const char **file);

/* One way to spell an operation. */
const struct form *dialect_read_form(struct loader *l, struct json j);
/* A text must have all operands of the form. */
void dialect_check_operands(struct json j, const struct form *f,
			    enum form_id id);

void dialect_read_limits(struct loader *l, struct json j);
void dialect_read_precedence(struct loader *l, struct json j);
void dialect_read_types(struct loader *l, struct json j);
void dialect_read_headers(struct loader *l, struct json j);
void dialect_read_helpers(struct loader *l, struct json j);
/* Types that are only stored name helpers that there are. */
void dialect_check_stored(struct loader *l, struct json types);
void dialect_read_expressions(struct loader *l, struct json j);
void dialect_read_statements(struct loader *l, struct json j);
void dialect_read_functions(struct loader *l, struct json j);
void dialect_read_device(struct loader *l, struct json j);
void dialect_read_access(struct loader *l, struct json j);
void dialect_read_vectors(struct loader *l, struct json j);
void dialect_read_tasks(struct loader *l, struct json j);
void dialect_read_graph(struct loader *l, struct json j);
void dialect_read_regions(struct loader *l, struct json j);
/* Words for memory; root: the whole, of which the texts have to use them. After
 * all that they limit. */
void dialect_read_spaces(struct loader *l, struct json j, struct json root);
void dialect_read_comments(struct loader *l, struct json j);
void dialect_read_weights(struct loader *l, struct json j);
void dialect_read_templates(struct loader *l, struct json j);
void dialect_read_files(struct loader *l, struct json j);
void dialect_read_compliance(struct loader *l, struct json j);
void dialect_read_reserved(struct loader *l, struct json j);
/* All texts, those of the files included: do they ask for what there is? */
void dialect_check_texts(struct loader *l, struct json j);

#endif
