/* SPDX-License-Identifier: Apache-2.0 */
/* Families of tensor intrinsics: a folder whose intrinsic.json has "members"
 * is one intrinsic for each of them, all of whose texts are templates over the
 * member's values. */
#ifndef TIRC_INTRINSIC_FAMILY_H
#define TIRC_INTRINSIC_FAMILY_H

#include "json_read.h"
#include "template.h"

struct family_member {
	const char *name;
	struct json at;       /* of "members" */
	struct tdata *values; /* with `intrinsic`, its name */
};

struct family {
	VEC(struct family_member) members;
};

/* Reads "values" and "members" of a folder's intrinsic.json. False after
 * mistakes, which were reported; a file without members has none. */
bool family_read(struct json root, const char *folder, struct family *out);
/* The intrinsic.json of a member: the tree without "values" and "members", whose
 * texts and keys are filled in; texts of lists that come out empty are left out.
 * To be deleted. NULL: mistakes were reported. */
cJSON *family_fill(struct json root, const struct tdata *values);
/* Does the text of an intrinsic.json, of a folder of that name, have the
 * intrinsic? Looks for its name alone: whoever loads it parses. */
bool family_has(struct arena *a, const char *text, const char *folder,
		const char *name);

#endif
