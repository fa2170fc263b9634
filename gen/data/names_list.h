/* SPDX-License-Identifier: Apache-2.0 */
/* A list of names. */
#ifndef TIRC_NAMES_LIST_H
#define TIRC_NAMES_LIST_H

struct names {
	const char *const *data;
	int n;
};

#endif
