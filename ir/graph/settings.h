/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a compilation, from the options and the target: facts that
 * passes over a graph read and never change. All graphs of a compilation point
 * to the same settings. */
#ifndef TIRC_SETTINGS_H
#define TIRC_SETTINGS_H

#include "dtype.h"

enum conv_algorithm { CONV_DIRECT, CONV_AUTO, CONV_WINOGRAD };

enum regions_as { REGIONS_WITHIN, REGIONS_ALONE, REGIONS_GENERATED };

struct settings {
#define SETTING(type, member, most, words) type member;
#include "settings.def"
#undef SETTING
};

/* A row of the table settings.def. */
struct setting_row {
	const char *name;
	int most; /* the largest value; a bool has 1, and no words */
	/* returns the word for a value; NULL if the row's values are written as
	 * numbers */
	const char *(*word)(int value);
};

extern const struct settings settings_none; /* every setting is 0 */

const struct setting_row *settings_rows(int *n);
/* The value of row i. */
int settings_get(const struct settings *s, int i);
/* Sets row i to `value`, which is from 0 to the row's largest value. */
void settings_set(struct settings *s, int i, int value);
/* The index of the row named `name`, or -1. */
int settings_find(const char *name);
/* The value that the word stands for, in a row whose values have words; -1 if
 * no value has this word. */
int setting_value(const struct setting_row *row, const char *word);

#endif
