/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics as data: a folder of each below intrinsics/ with
 *
 *	intrinsic.json  what it is, what it needs, the symbols it calls
 *	intrinsic.py    desc, impl (reset, update) as TVMScript
 *	*.tmpl          the symbols' text per dialect, and a plain twin
 *
 * A text is a template: {{name}} is the symbol, {{function}} what a function
 * starts with in that dialect, {{twin}} the twin, filled in. Texts of several
 * symbols may be one file, which is then written once. A folder may be a family
 * (intrinsic_family.h): several intrinsics, whose texts and script are templates
 * over the values of each, too. */
#ifndef TIRC_INTRINSICS_H
#define TIRC_INTRINSICS_H

#include "dialect.h"
#include "tensor_intrin.h"

struct intrinsic_text {
	const char *dialect;     /* that has it, and those that extend it */
	const char *function;    /* "static inline" */
	const char *file, *text; /* symbols of one file have one text */
	struct names needs;      /* headers */
	struct names uses;       /* symbols whose text stands before it */
	/* What a function that calls it does first and last, over argument_1,
	 * …; or NULL. */
	const char *begin, *end;
	bool keeps; /* values in registers, from one call to the next */
};

struct intrinsic_symbol {
	const char *name;
	const char *file, *twin;    /* plain C of the same meaning */
	const struct tdata *values; /* of a family's member, or NULL */
	VEC(struct intrinsic_text) texts;
};

struct intrinsic_data {
	const char *name; /* first, for text_compare */
	const char *what;
	const char *file; /* of intrinsic.json, for messages */
	const char *script_file, *script;
	const struct tdata *values; /* that fill in the script, or NULL */
	bool own;                   /* not one that ships */
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

/* All of them: embedded, and in dir (if not NULL) of one's own, which come
 * first. NULL after errors with file and JSON pointer. Scripts and texts are
 * filled in when they are asked for. */
const struct intrinsic_set *intrinsic_set_load(struct module *m,
					       const char *dir);
/* Is there one of that name? Reads its folder's intrinsic.json at most. */
bool intrinsic_is_there(struct module *m, const char *dir, const char *name);
const struct intrinsic_symbol *
intrinsic_set_symbol(const struct intrinsic_set *set, const char *name);
/* The dialect's text of s, or that of the next that it extends; NULL. */
const struct intrinsic_text *
intrinsic_symbol_text(const struct intrinsic_symbol *s,
		      const struct dialect *d);
/* Reads the script and adds the intrinsic to what a schedule may name; all of
 * them; the one of that name, where there is one and out lacks it. False after
 * mistakes in a script. */
bool intrinsic_register(struct module *m, const struct intrinsic_data *d,
			struct tensor_intrins *out);
bool intrinsic_set_register(struct module *m, const struct intrinsic_set *set,
			    struct tensor_intrins *out);
bool intrinsic_find(struct module *m, const struct intrinsic_set *set,
		    const char *name, struct tensor_intrins *out);
/* Appends the text, filled in. */
bool intrinsic_text_print(struct module *m, const struct intrinsic_symbol *s,
			  const struct intrinsic_text *t, struct strbuf *out);

#endif
