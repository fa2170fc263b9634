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
	/* the text is used for this dialect and for dialects that extend it */
	const char *dialect;
	const char *function;    /* specifiers of a function: "static inline" */
	const char *file, *text; /* symbols with the same file are defined by
				  * one text */
	struct names needs;      /* headers that it needs */
	struct names uses;       /* symbols whose text must precede it */
	/* Statements at the start and the end of a function that calls the
	 * symbol, with the placeholders argument_1, … for the call's arguments;
	 * or NULL. */
	const char *begin, *end;
	/* the instructions that the text needs; without macros the text needs
	 * none */
	struct requirement relies_on;
	bool keeps; /* the function keeps values in registers between calls */
};

struct intrinsic_symbol {
	const char *name;
	/* a function that computes the same as this function, in plain C */
	const char *file, *twin;
	const struct tdata *values; /* values of the member of a family, for the
				     * texts, or NULL */
	VEC(struct intrinsic_text) texts;
};

struct intrinsic_data {
	const char *name; /* first member, for text_compare */
	const char *what; /* the description */
	const char *file; /* the path of intrinsic.json, for messages */
	const char *script_file, *script;
	/* values of the member of a family, for the script, or NULL */
	const struct tdata *values;
	/* the intrinsic comes from the user's folder; it is not embedded */
	bool own;
	struct names requires; /* the features that the target must have */
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

/* Loads all intrinsics: those in the user's folder dir (if not NULL), and the
 * embedded ones whose names are not in dir. NULL after diagnostics with file
 * and JSON pointer. Scripts and texts are rendered when they are first used. */
const struct intrinsic_set *intrinsic_set_load(struct module *m,
					       const char *dir);
/* Is there an intrinsic of this name, or a family with a member of this name,
 * in the user's folder dir (if not NULL) or embedded? Reads only files
 * intrinsic.json. */
bool intrinsic_is_there(struct module *m, const char *dir, const char *name);
const struct intrinsic_symbol *
intrinsic_set_symbol(const struct intrinsic_set *set, const char *name);
/* The text that defines s in dialect d, or else in the nearest dialect that d
 * extends; NULL if no such dialect has one. */
const struct intrinsic_text *
intrinsic_symbol_text(const struct intrinsic_symbol *s,
		      const struct dialect *d);
/* intrinsic_register reads the script of an intrinsic and adds the intrinsic to
 * `out`, where schedules find intrinsics by name. intrinsic_set_register does
 * so for all intrinsics of a set; intrinsic_find does so for the intrinsic with
 * this name, if the set has it and `out` does not yet have it. False after
 * diagnostics. */
bool intrinsic_register(struct module *m, const struct intrinsic_data *d,
			struct tensor_intrins *out);
bool intrinsic_set_register(struct module *m, const struct intrinsic_set *set,
			    struct tensor_intrins *out);
bool intrinsic_find(struct module *m, const struct intrinsic_set *set,
		    const char *name, struct tensor_intrins *out);
/* Appends the text t of the symbol s, rendered; its functions are inlined if
 * dialect d, which may be NULL, inlines functions. False after a diagnostic. */
bool intrinsic_text_print(struct module *m, const struct intrinsic_symbol *s,
			  const struct intrinsic_text *t,
			  const struct dialect *d, struct strbuf *out);

#endif
