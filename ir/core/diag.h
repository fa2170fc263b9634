/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics: collected, never printed here. Every kind is a row of
 * diag.def; a test exists for each. */
#ifndef TIRC_DIAG_H
#define TIRC_DIAG_H

#include "arena.h"

enum diag_id {
#define DIAG(id, name, text) DIAG_##id,
#include "diag.def"
#undef DIAG
	DIAG_COUNT
};

enum diag_severity { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

/* The largest lengths of the parts of a diagnostic: of a word or an item, of
 * the message, of the file's name. Names in a model may be longer: then "…"
 * replaces the middle of the part. */
enum {
	DIAG_WORD_BYTES = 200,
	DIAG_MESSAGE_BYTES = 2000,
	DIAG_FILE_BYTES = 1000
};

/* The place of a diagnostic, printed as "file:line:col: item: message". Any
 * part may be absent (NULL or 0). */
struct diag_place {
	const char *file;
	int line, col;
	const char *item;    /* "node 12 Conv 'conv1'", a JSON pointer, … */
	const char *excerpt; /* the line of the text, and a row of ^ under it */
};

struct diag {
	enum diag_id id;
	enum diag_severity severity;
	struct diag_place place;
	const char *message; /* problem; what to do */
};

struct diags {
	struct arena *arena;
	VEC(struct diag) list;
	int n_errors;
};

void diags_init(struct diags *d, struct arena *arena);
/* Removes the errors from index `first` on, except errors of kind `kept`;
 * DIAG_COUNT for `kept` removes all of them. */
void diags_drop_errors(struct diags *d, int first, enum diag_id kept);
/* Adds an error and returns false, so that callers can `return diag_error()`.
 * The place's strings are copied. Message form: "problem; what to do". */
bool diag_error(struct diags *d, enum diag_id id, struct diag_place place,
		const char *fmt, ...) TIRC_PRINTF(4, 5);
void diag_warning(struct diags *d, enum diag_id id, struct diag_place place,
		  const char *fmt, ...) TIRC_PRINTF(4, 5);
void diag_note(struct diags *d, enum diag_id id, struct diag_place place,
	       const char *fmt, ...) TIRC_PRINTF(4, 5);
/* The name of an id in tests and in --json: "bad-attribute". */
const char *diag_id_name(enum diag_id id);
/* Appends place and message to out, on one line, without the severity and
 * without a newline. */
void diag_format(const struct diag *d, struct strbuf *out);

#endif
