/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks long lines at marked places. */
#ifndef TIRC_LINE_BREAKS_H
#define TIRC_LINE_BREAKS_H

#include "anchors.h"

/* Marks in a text, at which its lines may be broken. OPEN and CLOSE enclose a
 * group. Outer groups are broken before inner ones; the parts of a broken group
 * fill lines that start at the column of the group. */
#define MARK_OPEN '\1'
#define MARK_CLOSE '\2'
/* a space; or a line break and an operator, which then stands left of the
 * group's column */
#define MARK_OPERATOR '\3'
#define MARK_SPACE '\4' /* a space or a line break */
/* a space; or a line break and one more level of indent, if the text after it
 * does not fit on the line */
#define MARK_ASSIGN '\5'
/* a space in an index (layout_index); a line break only if breaks at the other
 * marks leave a line of more than most_columns */
#define MARK_INDEX '\7'
#define TEXT_OPEN "\1"
#define TEXT_CLOSE "\2"
#define TEXT_OPERATOR "\3"
#define TEXT_SPACE "\4"
#define TEXT_ASSIGN "\5"

/* How lines are written. */
struct layout {
	struct strbuf *out;
	/* the number of columns of a line, and the number of columns of a
	 * tab */
	int columns, tab;
	/* limits of a line: text_columns for the text without its indent,
	 * most_columns for the text with its indent */
	int text_columns;
	int most_columns;
	/* columns of a level of indent. Less than a tab: indent with spaces,
	 * and break lines wherever that makes them shorter */
	int step;
	bool align_with_tabs; /* continuation lines are indented by tabs where
			       * possible; else by the tabs of the statement,
			       * then spaces */
};

/* Appends a line, broken where it would be too long. */
void layout_line(const struct layout *l, int indent, const char *text);
bool layout_has_marks(const char *text);
/* Appends a text of several lines; a line with marks is broken if it is too
 * long. Moves the text's anchors (NULL: it has none): anchors in a line with
 * marks are moved to the start of this line. */
void layout_text(const struct layout *l, const char *text,
		 struct anchors *anchors);
/* Is a line of the finished text longer than most_columns? */
bool layout_is_wide(const struct layout *l, const char *text);
/* The number of columns of a text with marks if it is not broken. */
int layout_width(const char *text);
/* The text of an index of an array, with MARK_INDEX in place of its marks, so
 * that a line is broken within an index only if nothing else helps. */
const char *layout_index(struct arena *a, const char *text);
/* The text without marks, in arena a. */
const char *layout_flat(struct arena *a, const char *text);

#endif
