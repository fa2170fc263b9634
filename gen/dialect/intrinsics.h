/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics as data. Each has a folder below intrinsics/ with
 *
 *	intrinsic.json  a description, the needed features, the symbols it calls
 *	intrinsic.py    desc, impl (reset, update) as TVMScript
 *	*.tmpl          the symbols' text per dialect, and a plain twin
 *
 * A text is a template: {{name}} is the symbol, {{function}} the dialect's
 * specifiers of a function, {{twin}} the rendered twin (the same function in
 * plain C). Several symbols may share a text, which is then printed once. A
 * folder may be a family of intrinsics (intrinsic_family.h): its texts and its
 * script are then also templates over the values of a member. */
#ifndef TIRC_INTRINSICS_H
#define TIRC_INTRINSICS_H

#include "dialect.h"
#include "tensor_intrin.h"

/* The definition of a symbol, a function that an intrinsic calls, for a
 * dialect. */
struct intrinsic_text {
	const char *dialect;     /* also for dialects that extend it */
	const char *function;    /* specifiers of a function: "static inline" */
	const char *file, *text; /* symbols of the same file share its text */
	struct names needs;      /* headers that it needs */
	struct names uses;       /* symbols whose text must precede it */
	/* Statements at the start and the end of a function that calls the
	 * symbol, with the placeholders argument_1, …; or NULL. */
	const char *begin, *end;
	struct requirement relies_on; /* no macros: there is no requirement */
	bool keeps; /* the function keeps values in registers between calls */
};

struct intrinsic_symbol {
	const char *name;
	const char *file, *twin;    /* the same function in plain C */
	const struct tdata *values; /* of the member of a family, or NULL */
	VEC(struct intrinsic_text) texts;
};

struct intrinsic_data {
	const char *name; /* first member, for text_compare */
	const char *what; /* the description */
	const char *file; /* the path of intrinsic.json, for messages */
	const char *script_file, *script;
	/* values for the script of a family, or NULL */
	const struct tdata *values;
	bool own;              /* it is in the user's folder */
	struct names requires; /* required features of the target */
	/* As in struct tensor_intrin. */
	int threads;
	const char *rounds_to;
	const struct intrin_limit *limits;
	int n_limits;
	VEC(struct intrinsic_symbol) symbols;
};

struct intrinsic_set {
	VEC(struct intrinsic_data) list; /* sorted by name */
};

/* Loads all intrinsics: those of the user's folder dir (if not NULL), which
 * replace embedded ones of the same name, and the embedded ones. NULL after
 * diagnostics with file and JSON pointer. Scripts and texts are rendered when
 * they are first used. */
const struct intrinsic_set *intrinsic_set_load(struct module *m,
					       const char *dir);
/* Is there an intrinsic of that name, or a family with such a member, in the
 * user's folder dir (NULL: none) or embedded? Reads files intrinsic.json
 * alone. */
bool intrinsic_is_there(struct module *m, const char *dir, const char *name);
const struct intrinsic_symbol *
intrinsic_set_symbol(const struct intrinsic_set *set, const char *name);
/* The text of s for the dialect, or for the nearest dialect that it extends;
 * NULL if there is none. */
const struct intrinsic_text *
intrinsic_symbol_text(const struct intrinsic_symbol *s,
		      const struct dialect *d);
/* Reads the script of an intrinsic and adds it to `out`, where schedules find
 * intrinsics by name; then the same for all intrinsics of a set; then for the
 * one of a name, if the set has it and `out` does not. False after
 * diagnostics. */
bool intrinsic_register(struct module *m, const struct intrinsic_data *d,
			struct tensor_intrins *out);
bool intrinsic_set_register(struct module *m, const struct intrinsic_set *set,
			    struct tensor_intrins *out);
bool intrinsic_find(struct module *m, const struct intrinsic_set *set,
		    const char *name, struct tensor_intrins *out);
/* Appends the text, rendered for the dialect. False after a diagnostic. */
bool intrinsic_text_print(struct module *m, const struct intrinsic_symbol *s,
			  const struct intrinsic_text *t, struct strbuf *out);

#endif
