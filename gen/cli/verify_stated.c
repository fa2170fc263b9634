/* SPDX-License-Identifier: Apache-2.0 */
/* The options of tirc verify that the user did not give: taken from the folder's
 * NAME.json. The file may come from anybody, so only facts are taken, and none that names
 * a file, a program or flags: such an option the user must give. */
#include <stddef.h>
#include <string.h>

#include "tuning.h"
#include "verify_cmd.h"

static bool
is_word(const char *word, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], word) == 0) {
			return true;
		}
	}
	return false;
}

/* Sets an option to the word that the folder's NAME.json states, unless the
 * user gave the option. Returns false after an error message if the word is not
 * one of `words`. */
static bool
take_word(const struct verifying *v, const char *key, const char *stated,
	  const char *const *words, const char **option)
{
	if (*option != NULL || stated == NULL) {
		return true;
	}
	if (!is_word(stated, words)) {
		return cli_error(
			"%s: %s is \"%s\", which tirc compile does not "
			"write; give --%s",
			v->stated.file, key, stated, key);
	}
	*option = stated;
	return true;
}

/* Takes the options that are members of NAME.json by their own names, such as
 * "target", and not in its list "options". Returns false after an error message. */
static bool
take_members(struct verifying *v)
{
	static const char *const goals[] = { "speed", "balanced", "size",
					     "memory", NULL };
	static const char *const fps[] = { "strict", "default", "fast", NULL };
	static const char *const roundings[] = { "onnx", "tflite", NULL };
	static const char *const forms[] = { "none", "c",       "incbin",
					     "file", "section", NULL };
	struct tirc_options *o = &v->cli->tirc;
	const char *weights = o->weights;
	bool ok;

	o->target = o->target != NULL ? o->target : v->stated.target;
	o->name = o->name != NULL ? o->name : v->stated.name;
	o->trace = o->trace || v->stated.traced;
	ok = take_word(v, "optimize", v->stated.optimize, goals,
		       &o->optimize) &&
	     take_word(v, "fp", v->stated.fp, fps, &o->fp) &&
	     take_word(v, "requant", v->stated.requant, roundings,
		       &o->requant) &&
	     take_word(v, "weights", v->stated.weights, forms, &weights);
	if (weights != NULL && strcmp(weights, "none") != 0) {
		o->weights = weights;
	}
	return ok;
}

/* -- the other options -- */

/* What the values of an option may be. */
enum take {
	TAKE_WORD,
	TAKE_LIST,
	TAKE_VALUES,   /* "x=1,2", but not "x=@FILE" */
	TAKE_BACKENDS, /* backends that tirc ships */
	TAKE_SIZES,
	TAKE_NONE /* the values name files, or code */
};

static const struct taking {
	const char *name;
	enum take how;
	bool of_import;       /* a partition has the option in itself */
	size_t member, count; /* offsets in struct tirc_options */
} takings[] = {
#define WORD(name, of_import, member)                                          \
	{                                                                      \
		name, TAKE_WORD, of_import,                                    \
			offsetof(struct tirc_options, member), 0               \
	}
#define LIST(name, how, of_import, member)                                     \
	{                                                                      \
		name, how, of_import, offsetof(struct tirc_options, member),   \
			offsetof(struct tirc_options, n_##member)              \
	}
	WORD("precision", false, precision),
	WORD("conv", false, conv),
	WORD("form", false, form),
	WORD("in-workspace", false, in_workspace),
	WORD("seed", true, seed),
	WORD("section", false, section),
	LIST("input-shape", TAKE_SIZES, true, input_shapes),
	LIST("dim", TAKE_SIZES, true, dims),
	LIST("bound", TAKE_LIST, true, bounds),
	LIST("sequence", TAKE_LIST, true, sequences),
	LIST("string-length", TAKE_LIST, true, string_lengths),
	LIST("const-input", TAKE_VALUES, true, const_inputs),
	LIST("state", TAKE_LIST, true, states),
	LIST("disable-pass", TAKE_LIST, false, disable_passes),
	LIST("byoc", TAKE_BACKENDS, true, byoc),
	LIST("functions", TAKE_NONE, true, functions),
	LIST("schedule-for", TAKE_NONE, false, schedule_for),
	LIST("records", TAKE_NONE, false, records),
#undef WORD
#undef LIST
};

static const struct taking *
taking_of(const char *name)
{
	for (size_t i = 0; i < sizeof takings / sizeof *takings; i++) {
		if (strcmp(takings[i].name, name) == 0) {
			return &takings[i];
		}
	}
	return NULL;
}

/* The folder's option is a fact that verify may take. */
static bool
is_fact(const struct verifying *v, const struct taking *t,
	const struct stated_option *x)
{
	for (int i = 0; i < x->values.n; i++) {
		const char *value = x->values.data[i];
		const char *equals = strchr(value, '=');

		if (t->how == TAKE_NONE ||
		    (t->how == TAKE_VALUES && equals != NULL &&
		     equals[1] == '@') ||
		    (t->how == TAKE_BACKENDS &&
		     !tirc_is_stated_backend(v->stating, value))) {
			return false;
		}
	}
	return true;
}

/* Has the user given the option, or does the model have it? One option about sizes
 * replaces all. */
static bool
is_given(const struct verifying *v, const struct taking *t)
{
	const struct tirc_options *o = &v->cli->tirc;
	const char *const *word = (const void *)((const char *)o + t->member);
	const int *count = (const void *)((const char *)o + t->count);

	return (t->of_import && tirc_is_partition(v->cli->model)) ||
	       (t->how == TAKE_WORD ? *word != NULL : *count > 0) ||
	       (t->how == TAKE_SIZES && v->gave_sizes);
}

/* Sets the option to what NAME.json states. */
static void
take(struct verifying *v, const struct taking *t, const struct stated_option *x)
{
	struct tirc_options *o = &v->cli->tirc;
	void *member = (char *)o + t->member;

	if (t->how == TAKE_WORD) {
		memcpy(member, &x->values.data[0], sizeof(const char *));
	} else {
		memcpy(member, &x->values.data, sizeof(const char **));
		memcpy((char *)o + t->count, &x->values.n, sizeof(int));
	}
	for (int i = 0; i < x->values.n; i++) {
		vec_push(&v->cli->arena, &v->taken,
			 arena_printf(&v->cli->arena, "--%s %s", x->name,
				      x->values.data[i]));
	}
}

/* Returns false after an error message. */
static bool
take_option(struct verifying *v, const struct stated_option *x)
{
	const struct taking *t = taking_of(x->name);

	if (t == NULL || (t->how == TAKE_WORD && x->values.n != 1)) {
		return cli_error("%s: options has \"%s\" as tirc compile does "
				 "not write it",
				 v->stated.file, x->name);
	}
	if (is_given(v, t)) {
		return true;
	}
	if (is_fact(v, t, x)) {
		take(v, t, x);
		return true;
	}
	for (int i = 0; i < x->values.n; i++) {
		cli_note("%s states --%s %s, which is not taken from there; "
			 "give the option if you trust what it names",
			 v->stated.file, x->name, x->values.data[i]);
	}
	return true;
}

bool
verify_take_stated(struct verifying *v)
{
	struct tirc_options *o = &v->cli->tirc;
	struct tirc *t = v->stating = tirc_new(o);
	bool ok = difference_stated(tirc_module(t), v->folder, &v->stated) &&
		  (o->target != NULL ||
		   tirc_is_stated_target(t, v->stated.target, v->stated.file));

	cli_messages(t);
	v->gave_sizes = o->n_dims > 0 || o->n_input_shapes > 0;
	ok = ok && take_members(v);
	for (int i = 0; ok && i < v->stated.options.n; i++) {
		ok = take_option(v, &v->stated.options.data[i]);
	}
	return ok;
}

void
verify_note_stated(const struct verifying *v)
{
	const char *words = "";

	for (int i = 0; i < v->taken.n; i++) {
		words = arena_printf(&v->cli->arena, "%s %s", words,
				     v->taken.data[i]);
	}
	if (v->taken.n > 0) {
		cli_note("%s states the options%s", v->stated.file, words);
	}
}
