/* SPDX-License-Identifier: Apache-2.0 */
/* The files of targets: which there are, and what they extend. */
#ifndef TIRC_TARGET_FILES_H
#define TIRC_TARGET_FILES_H

#include "json_read.h"

/* A target's file and those that it extends, while they are read. */
struct target_files {
	struct reader reader;
	const char *dir; /* --dialect-path, or NULL */
	cJSON *given;    /* what the user says instead; the first layer */
	cJSON *trees[JSON_LAYERS_MAX];
};

/* What the user wrote, "NAME -KEY=VALUE -KEY=VALUE ...", or NULL for the default:
 * sets `given`, and gives the name of the file (below) that is meant with that.
 * A KEY is an attribute that the target declares, of which VALUE tells another
 * target, or a fact as its file holds them. *said: all of it, attributes
 * replaced by what they stand for. NULL: diagnosed. */
const char *target_files_choose(struct target_files *t, const char *text,
				const char **said);

/* The same without a message. */
const char *target_file_find(struct module *m, const char *name,
			     const char *dir);
/* The file laid over what it extends, and what is given over that: key by key,
 * but for what describes one target alone. NULL: diagnosed. */
cJSON *target_files_merged(struct target_files *t, const char *name);
void target_files_free(struct target_files *t);

#endif
