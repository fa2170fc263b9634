/* SPDX-License-Identifier: Apache-2.0 */
/* Families of tensor intrinsics: a folder whose intrinsic.json has "members"
 * stands for one intrinsic for each member. All texts of the folder are
 * templates over the values of a member. */
#ifndef TIRC_INTRINSIC_FAMILY_H
#define TIRC_INTRINSIC_FAMILY_H

#include "json_read.h"
#include "template.h"

struct family_member {
	const char *name;
	struct json at;       /* the member in "members" */
	struct tdata *values; /* the member's values, and its name as the value
			       * `intrinsic` */
};

struct family {
	VEC(struct family_member) members;
};

/* Reads "values" and "members" of a folder's intrinsic.json; without "members",
 * out's list of members is empty. False after diagnostics. */
bool family_read(struct json root, const char *folder, struct family *out);
/* The intrinsic.json of a member: a copy without "values" and "members", with
 * all texts and keys rendered; texts in lists that become empty are removed.
 * The caller deletes it. NULL after diagnostics. */
cJSON *family_fill(struct json root, const struct tdata *values);
/* Does `text`, the intrinsic.json in a folder named `folder`, define the
 * intrinsic `name`? Only searches the text for the name; the loader parses the
 * file. */
bool family_has(struct arena *a, const char *text, const char *folder,
		const char *name);

#endif
