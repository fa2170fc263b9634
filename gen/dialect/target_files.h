/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the JSON files of targets, and merging each with its parents. */
#ifndef TIRC_TARGET_FILES_H
#define TIRC_TARGET_FILES_H

#include "json_read.h"

/* A target's file and the files that it extends, while they are read. */
struct target_files {
	struct reader reader;
	const char *dir;  /* --dialect-path, or NULL */
	const char *file; /* that holds the user's text; NULL: the user gave it
			   * as an option */
	cJSON *given;     /* the user's -KEY=VALUE, the first layer */
	cJSON *trees[JSON_LAYERS_MAX];
};

/* Reads the user's "NAME -KEY=VALUE -KEY=VALUE ..." (NULL: the default target):
 * sets `given` and returns the name of the target's file. A KEY is an attribute
 * that the target declares, whose VALUE chooses another target (-mcpu=…), or a
 * key of the target's file. *said: the text with attributes replaced by the
 * target that they choose. A text that a file holds may only change facts
 * (json_keys_is_fact): files come from strangers, who must not name programs or
 * their flags. NULL after an error. */
const char *target_files_choose(struct target_files *t, const char *text,
				const char **said);

/* The name of the file of a target or alias; NULL, without a message, if none has
 * it. */
const char *target_file_find(struct module *m, const char *name,
			     const char *dir);
/* The file merged over the files that it extends, and the user's values over that,
 * key by key; keys that describe one target only are not inherited. NULL after
 * an error. */
cJSON *target_files_merged(struct target_files *t, const char *name);
void target_files_free(struct target_files *t);

#endif
