/* SPDX-License-Identifier: Apache-2.0 */
/* Breaks long lines at marked places. */
#ifndef TIRC_LINE_BREAKS_H
#define TIRC_LINE_BREAKS_H

#include "anchors.h"

/* Marks in a text, at which its line may be broken. OPEN and CLOSE enclose a
 * group. Outer groups are broken before inner ones; the parts of a broken group
 * fill lines that start at the column of the group. */
#define MARK_OPEN '\1'
#define MARK_CLOSE '\2'
/* a space; or a line break and an operator, which then stands left of the
 * group's column */
#define MARK_OPERATOR '\3'
#define MARK_SPACE '\4' /* a space or a line break */
/* a space; or a line break and one more level of indent, if the rest does not
 * fit */
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
	int columns, tab; /* the number of columns of a line, and of a tab */
	/* limits of the columns of a line: text_columns without its indent,
	 * most_columns with it */
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
/* Appends a text of several lines; lines with marks are broken if they are too
 * long. Moves the text's anchors (may be NULL): those in a line with marks to
 * its start. */
void layout_text(const struct layout *l, const char *text,
		 struct anchors *anchors);
/* Is a line of the finished text longer than most_columns? */
bool layout_is_wide(const struct layout *l, const char *text);
/* The number of columns of a text with marks if it is not broken. */
int layout_width(const char *text);
/* The text of an index: its marks are replaced by MARK_INDEX, so that it is
 * broken only if nothing else helps. */
const char *layout_index(struct arena *a, const char *text);
/* The text without marks, in arena a. */
const char *layout_flat(struct arena *a, const char *text);

#endif
