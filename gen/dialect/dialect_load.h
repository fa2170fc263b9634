/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the loader of dialects: a reader for each section of
 * dialect.json. */
#ifndef TIRC_DIALECT_LOAD_H
#define TIRC_DIALECT_LOAD_H

#include "dialect.h"
#include "json_keys.h"

struct loader {
	struct dialect *d;
	struct module *m;
	const char *dir;
	const char *fp;              /* the mode of --fp */
	const struct target *target; /* the target whose limits the dialect
				      * gets, or NULL */
	struct reader reader;
	struct json root; /* the JSON of the dialect, merged with that of its
			   * parents */
	/* names of the merged dialects: the dialect itself, then its parents */
	const char *chain[JSON_LAYERS_MAX];
	cJSON *trees[JSON_LAYERS_MAX];
	int n;
};

/* The index in dialect.levels of the level of precedence that j names; if j has
 * no value, `absent`, and an error is reported if that is negative. */
int dialect_read_level(struct loader *l, struct json j, int absent);
/* The text of the file `name` in the dialect's folder; if the file is not
 * there, in the folder of the nearest dialect that it extends and that has the
 * file. *file: the file's path. NULL if no dialect has it. */
const char *dialect_chain_file(struct loader *l, const char *name,
			       const char **file);

/* Reads j, one form of an operation; reports mistakes in it. */
const struct form *dialect_read_form(struct loader *l, struct json j);
/* Reports an error if an operand of the operation `id` does not occur in the
 * text of the form f. */
void dialect_check_operands(struct json j, const struct form *f,
			    enum form_id id);

/* The functions that rows of dialect.def name; ctx is the loader, j the value
 * of the row's key. The table of keys has already checked the types of values
 * and the required keys. */
void dialect_read_limits(void *ctx, struct json j);
void dialect_read_precedence(void *ctx, struct json j);
void dialect_read_types(void *ctx, struct json j);
void dialect_read_headers(void *ctx, struct json j);
void dialect_read_helpers(void *ctx, struct json j);
void dialect_read_expressions(void *ctx, struct json j);
void dialect_read_fp(void *ctx, struct json j);
void dialect_read_statements(void *ctx, struct json j);
void dialect_read_device(void *ctx, struct json j);
void dialect_read_fragments(void *ctx, struct json j);
void dialect_read_instructions(void *ctx, struct json j);
void dialect_read_letters(void *ctx, struct json j);
void dialect_read_assembly_words(void *ctx, struct json j);
void dialect_read_families(void *ctx, struct json j);
void dialect_check_models(void *ctx, struct json j);
void dialect_read_async_bytes(void *ctx, struct json j);
void dialect_read_box_ranks(void *ctx, struct json j);
void dialect_read_box_layouts(void *ctx, struct json j);
void dialect_read_box_types(void *ctx, struct json j);
void dialect_want_helper(void *ctx, struct json j);
void dialect_read_vectors(void *ctx, struct json j);
void dialect_read_spelled(void *ctx, struct json j);
void dialect_read_weights(void *ctx, struct json j);
/* Called after the sections whose texts may contain qualifiers of memories. */
void dialect_read_spaces(void *ctx, struct json j);
void dialect_find_templates(void *ctx, struct json j);
void dialect_read_guidelines(void *ctx, struct json j);
void dialect_read_deviations(void *ctx, struct json j);
void dialect_read_reserved(void *ctx, struct json j);

/* Reports errors for the storage-only types that lack a helper that they
 * need. */
void dialect_check_stored(struct loader *l, struct json types);
/* Reports errors for unknown placeholders in the template and helper files. */
void dialect_check_files(struct loader *l);

#endif
