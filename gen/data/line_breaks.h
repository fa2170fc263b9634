/* SPDX-License-Identifier: Apache-2.0 */
/* Lines with places where they may be broken, and their breaking. */
#ifndef TIRC_LAYOUT_H
#define TIRC_LAYOUT_H

#include "arena.h"

/* Marks inside a text. A group is broken before those inside it; its parts
 * are filled into lines that start where the group starts. */
#define MARK_OPEN '\1'
#define MARK_CLOSE '\2'
#define MARK_OPERATOR                                                          \
	'\3'            /* a space, or a line that starts with an operator,
			    * which hangs left of the group */
#define MARK_SPACE '\4' /* a space, or a new line */
#define MARK_ASSIGN                                                            \
	'\5'            /* a space, or a line one tab further in, where what
			    * follows does not fit beside what is before */
#define MARK_INDEX '\7' /* a space, or a new line where nothing else helps */
#define TEXT_OPEN "\1"
#define TEXT_CLOSE "\2"
#define TEXT_OPERATOR "\3"
#define TEXT_SPACE "\4"
#define TEXT_ASSIGN "\5"

struct layout {
	struct strbuf *out;
	int columns, tab;
	int text_columns; /* a line may have beyond its indent, as long as all of
			   * it is within most_columns */
	int most_columns;
	int step; /* columns of a level; fewer than a tab: of spaces,
			   * and lines are broken wherever that helps */
	bool align_with_tabs; /* else tabs to the indent, spaces behind it */
};

/* Appends text and a newline, broken where the line would get too long. */
void layout_line(const struct layout *l, int indent, const char *text);
/* Appends lines: those with marks are broken where they get too long. */
void layout_text(const struct layout *l, const char *text);
/* Is a line of the finished text longer than any may be? */
bool layout_is_wide(const struct layout *l, const char *text);
/* Width without breaks. */
int layout_width(const char *text);
/* The same text with no places to break it but as the last resort. */
const char *layout_index(struct arena *a, const char *text);
/* The same text with no marks, in arena a. */
const char *layout_flat(struct arena *a, const char *text);

#endif
