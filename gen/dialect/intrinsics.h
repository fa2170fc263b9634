/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics as data. Each has a folder below intrinsics/ with
 *
 *	intrinsic.json  a description, the needed features, the symbols it calls
 *	intrinsic.py    desc, impl (reset, update) as TVMScript
 *	*.tmpl          the symbols' text per dialect, and a plain twin
 *
 * A text is a template: {{name}} is the symbol, {{function}} the dialect's
 * specifiers of a function, {{twin}} the rendered twin. Several symbols may have
 * one text, which is then printed once. A folder may be a family of intrinsics
 * (intrinsic_family.h): its texts and its script are templates over the values of
 * each member, too. */
#ifndef TIRC_INTRINSICS_H
#define TIRC_INTRINSICS_H

#include "dialect.h"
#include "tensor_intrin.h"

struct intrinsic_text {
	const char *dialect;     /* for it and for dialects that extend it */
	const char *function;    /* "static inline" */
	const char *file, *text; /* symbols of one file have one text */
	struct names needs;      /* headers */
	struct names uses;       /* symbols whose text stands before it */
	/* The first and the last statement of a function that calls it, with the
	 * placeholders argument_1, …; or NULL. */
	const char *begin, *end;
	struct requirement relies_on; /* without macros: none */
	bool keeps; /* has values in registers from one call to the next */
};

struct intrinsic_symbol {
	const char *name;
	const char *file, *twin;    /* plain C of the same meaning */
	const struct tdata *values; /* of a family's member, or NULL */
	VEC(struct intrinsic_text) texts;
};

struct intrinsic_data {
	const char *name; /* first, for text_compare */
	const char *what; /* the description */
	const char *file; /* of intrinsic.json, for messages */
	const char *script_file, *script;
	const struct tdata *values; /* the script's placeholders, or NULL */
	bool own;                   /* from the user's folder */
	struct names requires;      /* features of the target */
	/* As struct tensor_intrin has them. */
	int threads;
	const char *rounds_to;
	const struct intrin_limit *limits;
	int n_limits;
	VEC(struct intrinsic_symbol) symbols;
};

struct intrinsic_set {
	VEC(struct intrinsic_data) list; /* sorted by name */
};

/* All intrinsics: of the user's folder dir (if not NULL), which win over embedded
 * ones of the same name, and the embedded ones. NULL after errors with file and
 * JSON pointer. Scripts and texts are rendered when they are first used. */
const struct intrinsic_set *intrinsic_set_load(struct module *m,
					       const char *dir);
/* Does an intrinsic of that name exist? Reads its intrinsic.json at most. */
bool intrinsic_is_there(struct module *m, const char *dir, const char *name);
const struct intrinsic_symbol *
intrinsic_set_symbol(const struct intrinsic_set *set, const char *name);
/* The text of s for the dialect, or for the nearest dialect that it extends; NULL:
 * s has neither. */
const struct intrinsic_text *
intrinsic_symbol_text(const struct intrinsic_symbol *s,
		      const struct dialect *d);
/* Reads the script and adds the intrinsic to out, from which schedules take
 * intrinsics by name; the same for all of the set; for the intrinsic of a name,
 * if the set has it and out does not. False after mistakes in a script. */
bool intrinsic_register(struct module *m, const struct intrinsic_data *d,
			struct tensor_intrins *out);
bool intrinsic_set_register(struct module *m, const struct intrinsic_set *set,
			    struct tensor_intrins *out);
bool intrinsic_find(struct module *m, const struct intrinsic_set *set,
		    const char *name, struct tensor_intrins *out);
/* Appends the rendered text. */
bool intrinsic_text_print(struct module *m, const struct intrinsic_symbol *s,
			  const struct intrinsic_text *t, struct strbuf *out);

#endif
