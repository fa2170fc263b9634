/* SPDX-License-Identifier: Apache-2.0 */
/* Line breaking at marked places. */
#ifndef TIRC_LAYOUT_H
#define TIRC_LAYOUT_H

#include "anchors.h"

/* Marks in a text. Outer groups are broken before inner ones; the parts of a
 * group fill lines that start at the group's column. */
#define MARK_OPEN '\1'
#define MARK_CLOSE '\2'
/* a space, or a break before an operator, which hangs left of the group */
#define MARK_OPERATOR '\3'
#define MARK_SPACE '\4' /* a space, or a new line */
/* a space, or a break with one more level of indentation if the rest does not
 * fit on the line */
#define MARK_ASSIGN '\5'
#define MARK_INDEX '\7' /* a space, or a break as the last resort */
#define TEXT_OPEN "\1"
#define TEXT_CLOSE "\2"
#define TEXT_OPERATOR "\3"
#define TEXT_SPACE "\4"
#define TEXT_ASSIGN "\5"

struct layout {
	struct strbuf *out;
	int columns, tab;
	/* most columns of a line without its indent; most_columns limits the
	 * whole line */
	int text_columns;
	int most_columns;
	/* columns per level; fewer than a tab: indent with spaces, and break
	 * wherever it shortens the line */
	int step;
	bool align_with_tabs; /* else tabs to the indent, spaces behind it */
};

/* Appends text and a newline, broken where the line would get too long. */
void layout_line(const struct layout *l, int indent, const char *text);
bool layout_has_marks(const char *text);
/* Appends lines; breaks lines with marks if they are too long. Moves the text's
 * anchors (NULL: none): in a line with marks to its start. */
void layout_text(const struct layout *l, const char *text,
		 struct anchors *anchors);
/* Is a line of the finished text longer than any may be? */
bool layout_is_wide(const struct layout *l, const char *text);
/* Width without breaks. */
int layout_width(const char *text);
/* The text with its break places demoted to the last resort. */
const char *layout_index(struct arena *a, const char *text);
/* The same text with no marks, in arena a. */
const char *layout_flat(struct arena *a, const char *text);

#endif
