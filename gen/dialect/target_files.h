/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the JSON files of targets, and merges each with the files that it
 * extends. */
#ifndef TIRC_TARGET_FILES_H
#define TIRC_TARGET_FILES_H

#include "json_read.h"

/* The state while a target's file and the files that it extends are read. */
struct target_files {
	struct reader reader;
	const char *dir; /* --dialect-path, or NULL */
	/* The file that contains the user's text; NULL if an option or a
	 * program gave it. */
	const char *file;
	bool facts_only; /* a file or a program gave the text */
	cJSON *given;    /* the user's -KEY=VALUE, which override the values in
			  * files */
	cJSON *trees[JSON_LAYERS_MAX];
};

/* Parses the user's "NAME -KEY=VALUE -KEY=VALUE ..." (NULL: the default
 * target): sets `given` and returns the name of the target's file. A KEY is an
 * attribute that the target declares, whose VALUE selects another target
 * (-mcpu=…), or a key of the target's file. *said: the text in which attributes
 * are replaced by the target that they select. If facts_only is set, the text
 * may only change facts (json_keys_is_fact): it then comes from a file of
 * untrusted origin, which must not name programs or their flags. The text may
 * be a target string of TVM. NULL after a diagnostic. */
const char *target_files_choose(struct target_files *t, const char *text,
				const char **said);

/* Is `key` a key of a target's file? If not, reports an error, which suggests
 * the nearest of the keys and the n other names. */
bool target_is_key(struct module *m, struct diag_place place, const char *key,
		   const char *const *others, int n);

/* The name of the file for a target's name or alias; NULL, without a
 * diagnostic, if there is none. */
const char *target_file_find(struct module *m, const char *name,
			     const char *dir);
/* Merges the file of `name` over the files that it extends, and the user's
 * values over the result, key by key; keys that describe only one target are
 * not inherited. The caller deletes the result. NULL after a diagnostic. */
cJSON *target_files_merged(struct target_files *t, const char *name);
void target_files_free(struct target_files *t);

#endif
