/* SPDX-License-Identifier: Apache-2.0 */
/* tirc verify: checks that the source in a folder computes what the model
 * defines. */
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "data_set.h"
#include "process.h"
#include "random.h"
#include "text.h"
#include "tuning.h"
#include "verify_cmd.h"

/* The exit statuses of tirc verify: no difference, a difference, an error. */
enum { VERIFY_SAME = 0, VERIFY_OTHER = 1, VERIFY_TROUBLE = 2 };

/* The number of changed lines of a file that are printed at most. */
enum { MOST_CHANGES = 20 };

/* -- what can run here -- */

static bool
is_installed(struct verifying *v, const char *command)
{
	struct command words = { 0 };

	return command != NULL && command_add(v->a, &words, command) &&
	       words.words.n > 0 &&
	       harness_find_command(v->a, words.words.data[0]) != NULL;
}

static const char *
first_word(struct verifying *v, const char *command)
{
	struct command words = { 0 };

	return command_add(v->a, &words, command) && words.words.n > 0
		       ? words.words.data[0]
		       : command;
}

const char *
verify_obstacle(struct verifying *v)
{
	struct tirc_summary s = tirc_summary(v->fresh.t);
	const char *cc = harness_compiler(&v->fresh);
	const char *form = v->cli->tirc.form;

	if (s.is_device && v->cli->runner == NULL && v->cli->cc == NULL) {
		return arena_printf(v->a,
				    "target %s is a device; give --cc, and "
				    "--runner if needed, where it is",
				    s.target);
	}
	if (!is_installed(v, cc)) {
		return arena_printf(v->a, "%s is not installed",
				    first_word(v, cc));
	}
	if (s.simulator != NULL && v->cli->runner == NULL &&
	    !is_installed(v, s.simulator)) {
		return arena_printf(v->a, "%s is not installed",
				    first_word(v, s.simulator));
	}
	if (s.simulator != NULL && form != NULL && strcmp(form, "graph") == 0) {
		return "the executor of graphs does not run on simulated "
		       "boards";
	}
	return NULL;
}

/* -- output -- */

static bool
is_wrong(const struct verifying *v)
{
	if (!v->same_texts || v->not_built != NULL || v->whole_failed) {
		return true;
	}
	for (int i = 0; i < v->kernels.n; i++) {
		if (v->kernels.data[i].wrong != NULL ||
		    v->kernels.data[i].other != NULL) {
			return true;
		}
	}
	return false;
}

static const char *const verdicts[] = { "differs", "text only", "verified" };

const char *
verify_verdict(const struct verifying *v)
{
	return verdicts[is_wrong(v) ? 0 : v->not_run != NULL ? 1 : 2];
}

bool
verify_is_verdict(const char *word)
{
	for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
		if (strcmp(word, verdicts[i]) == 0) {
			return true;
		}
	}
	return false;
}

/* Prints a line of a file without its indentation. */
static void
print_line(char sign, const char *line)
{
	if (line != NULL) {
		say(stdout, "    %c %s\n", sign, line + strspn(line, " \t"));
	}
}

static void
print_change(struct verifying *v, const struct verified_file *f,
	     const struct verified_change *x)
{
	const struct program *p = tirc_compiled_program(v->fresh.t);

	say(stdout, "  %s", f->name);
	if (x->lines.new > 0) {
		say(stdout, ":%d", x->lines.new);
	}
	if (x->kernel >= 0) {
		say(stdout, "  in kernel %s", p->kernels.data[x->kernel]->name);
	} else if (x->weight >= 0) {
		const struct weight *w = p->weights.data[x->weight];

		say(stdout, "  in constant %s, of kernel %s", w->name,
		    w->reader != NULL ? w->reader->name : "none");
	}
	say(stdout, "\n");
	print_line('-', x->lines.old_line);
	print_line('+', x->lines.new_line);
}

/* The options that come from NAME.json, and change what the model computes or how. */
static void
print_taken(const struct verifying *v)
{
	for (int i = 0; i < v->taken.n; i++) {
		say(stdout, "%-8s %s\n", i == 0 ? "options" : "",
		    v->taken.data[i]);
	}
}

/* Asks for other options if NAME.json differs. */
static void
print_options(const struct verifying *v)
{
	if (v->other_options != NULL) {
		say(stdout,
		    "  was it compiled with other options? From what these "
		    "options give to what %s states:\n",
		    v->stated.file);
		say_lines(stdout, v->other_options);
	}
}

static void
print_files(struct verifying *v)
{
	int same = 0;

	for (int i = 0; i < v->files.n; i++) {
		same += v->files.data[i].same;
	}
	say(stdout, "text     %d of %d files are what tirc %s writes\n", same,
	    v->files.n, tirc_version());
	print_options(v);
	for (int i = 0; i < v->files.n; i++) {
		const struct verified_file *f = &v->files.data[i];

		if (f->data == NULL) {
			say(stdout, "  %s  %s\n", f->name,
			    f->why != NULL ? f->why : "is not there");
		}
		if (v->other_options != NULL && f->changes.n > 0) {
			say(stdout, "  %s  %d change%s\n", f->name,
			    f->changes.n, f->changes.n == 1 ? "" : "s");
			continue;
		}
		for (int k = 0; k < f->changes.n && k < MOST_CHANGES; k++) {
			print_change(v, f, &f->changes.data[k]);
		}
		if (f->changes.n > MOST_CHANGES) {
			say(stdout, "  %s: and %d changes more\n", f->name,
			    f->changes.n - MOST_CHANGES);
		}
	}
	for (int i = 0; i < v->added.list.n && i < MOST_CHANGES; i++) {
		say(stdout,
		    "  %s  is not from tirc, but a build in this folder may "
		    "read it; keep other headers and what is built in another "
		    "folder\n",
		    v->added.list.data[i]);
	}
}

static void
print_kernel(const struct verified_kernel *k)
{
	const char *name = k->of.kernel->name;
	const struct verify_result *r = &k->result;

	if (k->wrong != NULL || k->other != NULL) {
		style_word(stdout, STYLE_RED, "FAIL");
		say(stdout, "  %s  %s%s\n", name,
		    k->wrong != NULL ? k->wrong : k->other,
		    k->wrong != NULL ? ""
				     : ", within rounding, as tirc writes it");
		return;
	}
	if (k->not_run != NULL) {
		say(stdout, "  -   %s  not run by itself: %s\n", name,
		    k->not_run);
		return;
	}
	style_word(stdout, STYLE_GREEN, "ok  ");
	say(stdout, "  %s  %s%lld case%s, %lld element%s ", name,
	    k->changed ? "text differs, " : "", (long long)r->cases,
	    r->cases == 1 ? "" : "s", (long long)r->elements,
	    r->elements == 1 ? "" : "s");
	if (r->equal) {
		say(stdout, "equal\n");
	} else {
		say(stdout, "within rounding, at most %.3g ulp\n", r->max_ulp);
	}
}

static void
print_kernels(struct verifying *v)
{
	if (v->not_run != NULL || v->alone_not_run != NULL) {
		say(stdout, "kernels  not run: %s\n",
		    v->not_run != NULL ? v->not_run : v->alone_not_run);
		return;
	}
	if (v->not_built != NULL) {
		say(stdout, "kernels  the source is not run: %s\n",
		    v->not_built);
		return;
	}
	say(stdout, "kernels  %d, each by itself beside the interpreter\n",
	    v->kernels.n);
	for (int i = 0; i < v->kernels.n; i++) {
		const struct verified_kernel *k = &v->kernels.data[i];

		if (!v->cli->quiet || k->wrong != NULL || k->other != NULL) {
			print_kernel(k);
		}
	}
}

static void
print_whole(struct verifying *v)
{
	if (v->whole_other != NULL) {
		style_word(stdout, STYLE_RED, "FAIL");
		say(stdout,
		    "  the whole model: %s is not in each bit what it is as "
		    "tirc writes the source\n",
		    v->whole_other);
	}
}

static void
print_verdict(const struct verifying *v)
{
	const char *verdict = verify_verdict(v);

	if (strcmp(verdict, "verified") == 0) {
		say(stdout, "verified\n");
	} else if (strcmp(verdict, "text only") == 0) {
		say(stdout, "text only: the files are what tirc writes; no "
			    "program was run\n");
	} else {
		say(stdout, "differs\n");
	}
}

/* -- the verb -- */

static bool
read_seed(struct verifying *v)
{
	v->number = 1;
	if (v->cli->tirc.seed != NULL &&
	    (!text_int(v->cli->tirc.seed, &v->number) || v->number < 0)) {
		return cli_error("--seed %s: a whole number is expected",
				 v->cli->tirc.seed);
	}
	v->seed = RANDOM_SEED + 2 * (uint64_t)v->number;
	return true;
}

/* Sets v->paths to the data sets of --data. */
static void
list_data(struct verifying *v)
{
	struct cli *c = v->cli;

	c->rest = NULL;
	c->n_rest = 0;
	if (c->verify_data != NULL) {
		c->rest = &c->verify_data;
		c->n_rest = 1;
		data_set_open_folders(c);
		v->paths = c->rest;
		v->n_paths = c->n_rest;
		c->rest = NULL;
		c->n_rest = 0;
	}
}

static bool
verify(struct verifying *v)
{
	verify_list_kernels(v);
	if (!verify_files(v)) {
		return false;
	}
	v->not_run = verify_obstacle(v);
	verify_find_options(v);
	if (!v->cli->quiet || !v->same_texts) {
		print_taken(v);
		print_files(v);
	}
	if (!verify_kernels(v)) {
		return false;
	}
	if (!v->cli->quiet || is_wrong(v)) {
		print_kernels(v);
	} else if (v->not_run != NULL) {
		cli_note("no program was run: %s", v->not_run);
	}
	if (!verify_whole(v)) {
		return false;
	}
	print_whole(v);
	if (!v->cli->quiet || is_wrong(v)) {
		print_verdict(v);
	}
	return true;
}

int
cmd_verify(struct cli *c)
{
	struct verifying v = { .cli = c };
	bool ok, wrong = false;

	v.folder = c->n_rest > 0 ? c->rest[0] : NULL;
	if (c->certificate != NULL) {
		return verify_check(c, c->certificate, v.folder);
	}
	list_data(&v);
	if (!read_seed(&v) || !verify_take_stated(&v)) {
		tirc_free(v.stating);
		return VERIFY_TROUBLE;
	}
	if (c->out != NULL) {
		cleanup_watch_output(c->out);
	}
	ok = harness_emit(&v.fresh, c);
	if (ok) {
		v.a = &v.fresh.m->arena;
		ok = data_sets_check(&v.fresh, v.paths, v.n_paths) &&
		     verify(&v);
	}
	if (v.a == NULL) {
		verify_note_stated(&v);
	}
	if (ok && c->out != NULL) {
		ok = verify_write_certificate(&v, c->out);
	}
	wrong = ok && is_wrong(&v);
	harness_close(&v.fresh);
	tirc_free(v.stating);
	return !ok ? VERIFY_TROUBLE : wrong ? VERIFY_OTHER : VERIFY_SAME;
}
