/* SPDX-License-Identifier: Apache-2.0 */
/* Targets that stand for the machine at hand. Such a target names other
 * targets: the first one whose requirements the compiler's macros meet is used,
 * with facts about the machine. */
#include <string.h>

#include "dialects.h"
#include "machine.h"
#include "requirement.h"
#include "target_files.h"
#include "text.h"

struct search {
	struct module *m;
	const char *dir;  /* --dialect-path, or NULL */
	const char *text; /* the target's name and facts, as the user wrote
			    * them */
	const char *rest; /* the part of text after the name */
	/* the JSON of the target that the user's text names */
	const cJSON *tree;
	/* The arguments that make a compiler print its macros. */
	const char *ask;
	const char *cc, *cflags; /* --cc and --cflags, or NULL */
	const char *macros;      /* the compiler's output for `ask` */
	/* the macros are those that the compiler defines for the processor of
	 * this machine */
	bool is_machine;
};

static const char *
text_of(const cJSON *tree, const char *key)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(tree, key);

	return cJSON_IsString(value) ? value->valuestring : "";
}

static cJSON *
merged_target(struct module *m, const char *name, const char *dir)
{
	struct target_files files = { .reader = { .module = m }, .dir = dir };
	cJSON *merged = target_files_merged(&files, name);

	target_files_free(&files);
	return merged;
}

/* The value of the last -KEY=VALUE with this key in the user's text, or
 * NULL. */
static const char *
given_fact(const struct search *s, const char *key)
{
	struct arena *a = &s->m->arena;
	const char *at = s->rest, *word, *found = NULL;
	size_t n = strlen(key);

	while ((word = text_next_word(a, &at)) != NULL) {
		if (word[0] == '-' && strncmp(word + 1, key, n) == 0 &&
		    word[n + 1] == '=') {
			found = word + n + 2;
		}
	}
	return found;
}

/* -- the compiler -- */

/* The macros that the compiler defines with these flags. NULL if it does not
 * accept the flags, with the reason in *problem. */
static const char *
ask(const struct search *s, const char *flags, const char **problem)
{
	const char *texts[] = { s->cc, flags, s->ask };

	return machine_ask(&s->m->arena, texts, 3, problem);
}

/* Finds the macros of the compiler with the user's flags; if the user gave no
 * flags, with flags for this machine's processor; if the compiler accepts none
 * of these, without flags. False after a diagnostic. */
static bool
find_macros(struct search *s, const cJSON *machine_flags)
{
	struct diag_place place = { .file = s->text };
	const char *problem = NULL;
	const cJSON *flags;

	if (s->cflags != NULL) {
		s->macros = ask(s, s->cflags, &problem);
	} else {
		cJSON_ArrayForEach(flags, machine_flags)
		{
			s->macros = s->macros != NULL
					    ? s->macros
					    : ask(s, flags->valuestring,
						  &problem);
		}
		s->is_machine = s->macros != NULL;
	}
	if (s->macros == NULL) {
		s->macros = ask(s, "", &problem);
	}
	return s->macros != NULL ||
	       diag_error(
		       &s->m->diags, DIAG_BAD_OPTION, place,
		       "the compiler cannot be asked for its processor: %s; "
		       "name another one (--cc, or CC in the environment), or "
		       "give a target by name (--target)",
		       problem);
}

/* Does the compiler define all macros that the target lists in "fits", and
 * accept the target's flags? */
static bool
fits(const struct search *s, const cJSON *target)
{
	const cJSON *macro;
	const char *problem;

	cJSON_ArrayForEach(macro,
			   cJSON_GetObjectItemCaseSensitive(target, "fits"))
	{
		if (!machine_defines(s->macros, macro->valuestring)) {
			return false;
		}
	}
	return s->cflags != NULL ||
	       ask(s, text_of(target, "cflags"), &problem) != NULL;
}

/* -- the result -- */

/* A text for the chosen target: its name, facts about the machine, then the
 * facts that the user gave. */
static const char *
with_machine(const struct search *s, const char *name, const cJSON *target)
{
	static const char *const caches[] = { "l1_bytes", "l2_bytes" };
	struct arena *a = &s->m->arena;
	const char *text = name;
	const char *cc = text_of(s->tree, "cc");
	const cJSON *cores = cJSON_GetObjectItemCaseSensitive(target, "cores");

	if (s->is_machine && strcmp(cc, text_of(target, "cc")) != 0) {
		text = arena_printf(a, "%s -cc=%s", text, cc);
	}
	for (int i = 0; s->is_machine && i < 2; i++) {
		int64_t bytes = machine_cache_bytes(a, i + 1);

		if (bytes > 0) {
			text = arena_printf(a, "%s -%s=%lld", text, caches[i],
					    (long long)bytes);
		}
	}
	if (s->is_machine && cJSON_IsNumber(cores) && cores->valueint > 1) {
		text = arena_printf(a, "%s -cores=%d", text, machine_cores());
	}
	return arena_printf(a, "%s%s", text, s->rest);
}

/* The text for the first target in `names` that fits the machine; NULL after a
 * diagnostic. */
static const char *
choose(const struct search *s, const cJSON *names)
{
	struct diag_place place = { .file = s->text };
	const char *found = NULL;
	const cJSON *one;

	cJSON_ArrayForEach(one, names)
	{
		const char *name = target_file_find(s->m, one->valuestring,
						    s->dir);
		cJSON *target = found == NULL && name != NULL
					? merged_target(s->m, name, s->dir)
					: NULL;

		if (target != NULL && fits(s, target)) {
			found = with_machine(s, name, target);
		}
		cJSON_Delete(target);
	}
	if (found == NULL) {
		diag_error(&s->m->diags, DIAG_BAD_OPTION, place,
			   "none of its targets fits the compiler %s; give a "
			   "target by name",
			   s->cc);
	}
	return found;
}

static const char *
resolve(struct search *s, const cJSON *resolves)
{
	struct target_files files = { .reader = { .module = s->m },
				      .dir = s->dir };
	const char *cc = s->cc, *chosen, *said = NULL;

	if (cc == NULL) {
		cc = given_fact(s, "cc");
	}
	s->cc = cc != NULL ? cc : text_of(s->tree, "cc");
	s->ask = text_of(resolves, "ask");
	if (!find_macros(s,
			 cJSON_GetObjectItemCaseSensitive(resolves, "flags"))) {
		return NULL;
	}
	chosen = choose(s, cJSON_GetObjectItemCaseSensitive(resolves, "to"));
	if (chosen != NULL &&
	    target_files_choose(&files, chosen, &said) == NULL) {
		said = NULL;
	}
	target_files_free(&files);
	return said;
}

const char *
target_at_hand(struct module *m, const char *text, const char *dir,
	       const char *cc, const char *cflags)
{
	struct search s = { .m = m,
			    .dir = dir,
			    .text = text,
			    .rest = text,
			    .cc = cc,
			    .cflags = cflags };
	const char *name = text_next_word(&m->arena, &s.rest);
	const char *found = text;
	const cJSON *resolves;
	cJSON *tree;

	name = name != NULL ? target_file_find(m, name, dir) : NULL;
	tree = name != NULL ? merged_target(m, name, dir) : NULL;
	resolves = cJSON_GetObjectItemCaseSensitive(tree, "resolves");
	s.tree = tree;
	if (cJSON_IsObject(resolves)) {
		found = resolve(&s, resolves);
	}
	cJSON_Delete(tree);
	return found;
}

/* The target of the machine, or NULL. */
static cJSON *
machine_target(struct module *m)
{
	const char *name = target_of_machine(m);

	return name != NULL ? merged_target(m, name, NULL) : NULL;
}

/* The arguments with which compilers print their macros, from the target that
 * stands for the machine; "" if that target has none. */
static const char *
arguments(struct module *m)
{
	cJSON *tree = machine_target(m);
	const cJSON *resolves = cJSON_GetObjectItemCaseSensitive(tree,
								 "resolves");
	const char *text = arena_strdup(&m->arena, text_of(resolves, "ask"));

	cJSON_Delete(tree);
	return text;
}

const char *
target_flags_lacking(struct module *m, const struct requirement *const *all,
		     int n, const char *cc, const char *cflags)
{
	const char *texts[] = { cc, cflags, arguments(m) };
	const char *problem, *macros = NULL;

	if (n > 0 && *texts[2] != '\0') {
		macros = machine_ask(&m->arena, texts, 3, &problem);
	}
	for (int i = 0; macros != NULL && i < n; i++) {
		for (int k = 0; k < all[i]->macros.n; k++) {
			if (!machine_defines(macros, all[i]->macros.data[k])) {
				return all[i]->flags;
			}
		}
	}
	return NULL;
}

/* The first macro in the list "fits" of the target that `built` defines and
 * `machine` does not define; NULL if there is none. */
static const char *
missing_macro(const cJSON *target, const char *built, const char *machine)
{
	const cJSON *macro;

	cJSON_ArrayForEach(macro,
			   cJSON_GetObjectItemCaseSensitive(target, "fits"))
	{
		if (machine_defines(built, macro->valuestring) &&
		    !machine_defines(machine, macro->valuestring)) {
			return macro->valuestring;
		}
	}
	return NULL;
}

/* The name of the instructions for which a compiler defines the macros:
 * "__AVX2__" -> "AVX2". */
static const char *
instructions_of(struct arena *a, const char *macros)
{
	const char *word = text_next_word(a, &macros);
	size_t n;

	word += strspn(word, "_");
	n = strlen(word);
	while (n > 0 && word[n - 1] == '_') {
		n--;
	}
	return arena_strndup(a, word, n);
}

/* The macros that the compiler defines with flags for the processor of this
 * machine; NULL if it accepts none of these flags. */
static const char *
macros_of_machine(struct module *m, const char *cc, const cJSON *resolves)
{
	const char *problem, *found = NULL;
	const cJSON *flags;

	cJSON_ArrayForEach(flags,
			   cJSON_GetObjectItemCaseSensitive(resolves, "flags"))
	{
		const char *texts[] = { cc, flags->valuestring,
					text_of(resolves, "ask") };

		found = found != NULL
				? found
				: machine_ask(&m->arena, texts, 3, &problem);
	}
	return found;
}

const char *
target_processor_lacks(struct module *m, const char *cc, const char *cflags)
{
	cJSON *tree = machine_target(m);
	const cJSON *resolves = cJSON_GetObjectItemCaseSensitive(tree,
								 "resolves");
	const char *texts[] = { cc, cflags, text_of(resolves, "ask") };
	const char *problem, *machine, *built, *found = NULL;
	const cJSON *one;

	machine = macros_of_machine(m, cc, resolves);
	built = machine != NULL ? machine_ask(&m->arena, texts, 3, &problem)
				: NULL;
	cJSON_ArrayForEach(one,
			   cJSON_GetObjectItemCaseSensitive(resolves, "to"))
	{
		cJSON *target = found == NULL && built != NULL
					? merged_target(m, one->valuestring,
							NULL)
					: NULL;
		const char *macros = target != NULL
					     ? missing_macro(target, built,
							     machine)
					     : NULL;

		if (macros != NULL) {
			found = instructions_of(&m->arena, macros);
		}
		cJSON_Delete(target);
	}
	cJSON_Delete(tree);
	return found;
}
