/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a compilation, from the options and the target: facts that
 * passes over a graph read, and never change. A graph refers to them, like to
 * its module, and all graphs of a compilation share them. */
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

/* A row of the table. */
struct setting_row {
	const char *name;
	int most; /* the largest value; 1: false or true, without words */
	const char *(*word)(int value); /* NULL: the values are numbers */
};

extern const struct settings settings_none; /* all are 0 */

const struct setting_row *settings_rows(int *n);
/* The value of row i. */
int settings_get(const struct settings *s, int i);
/* value: 0 to the row's largest. */
void settings_set(struct settings *s, int i, int value);
/* The row of that name; -1: there is none. */
int settings_find(const char *name);
/* The value with that word in a row that has words; -1: there is none. */
int setting_value(const struct setting_row *row, const char *word);

#endif
