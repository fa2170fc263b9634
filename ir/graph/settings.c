/* SPDX-License-Identifier: Apache-2.0 */
/* The table of settings: rows by number and by name. */
#include "settings.h"

#include <string.h>

static const char *
type_word(int value)
{
	return dtype_name(dtype_of((enum dtype_kind)value));
}

static const char *
conv_word(int value)
{
	static const char *const words[] = { "direct", "auto", "winograd" };

	return words[value];
}

static const char *
regions_word(int value)
{
	static const char *const words[] = { "within", "alone", "generated" };

	return words[value];
}

static const struct setting_row rows[] = {
#define SETTING(type, member, most, words) { #member, most, words },
#include "settings.def"
#undef SETTING
};

#define N_ROWS ((int)(sizeof rows / sizeof *rows))

enum row {
#define SETTING(type, member, most, words) ROW_##member,
#include "settings.def"
#undef SETTING
};

const struct settings settings_none = { 0 };

const struct setting_row *
settings_rows(int *n)
{
	*n = N_ROWS;
	return rows;
}

int
settings_get(const struct settings *s, int i)
{
	switch ((enum row)i) {
#define SETTING(type, member, most, words)                                     \
	case ROW_##member:                                                     \
		return (int)s->member;
#include "settings.def"
#undef SETTING
	}
	return 0;
}

void
settings_set(struct settings *s, int i, int value)
{
	switch ((enum row)i) {
#define SETTING(type, member, most, words)                                     \
	case ROW_##member:                                                     \
		s->member = (type)value;                                       \
		break;
#include "settings.def"
#undef SETTING
	}
}

int
settings_find(const char *name)
{
	for (int i = 0; i < N_ROWS; i++) {
		if (strcmp(rows[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

int
setting_value(const struct setting_row *row, const char *word)
{
	for (int v = 0; v <= row->most; v++) {
		if (strcmp(row->word(v), word) == 0) {
			return v;
		}
	}
	return -1;
}
