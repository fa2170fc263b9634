/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: a shell's rules for words, in both directions, and programs that are
 * run by them. */
#include "check.h"
#include "process.h"

#include <sys/stat.h>

static struct arena a;

/* want: the words, each with a | behind it; NULL: a quote is not closed. */
static void
check_words(const char *text, const char *want)
{
	struct command c = { 0 }, again = { 0 };
	const char *got = "";

	if (!CHECK(command_add(&a, &c, text) == (want != NULL)) ||
	    want == NULL) {
		CHECK_EQ(c.words.n, 0);
		return;
	}
	for (int i = 0; i < c.words.n; i++) {
		got = arena_printf(&a, "%s%s|", got, c.words.data[i]);
	}
	CHECK_STR_EQ(got, want);
	CHECK(command_add(&a, &again, command_text(&a, &c)));
	CHECK_EQ(again.words.n, c.words.n);
	for (int i = 0; i < c.words.n && i < again.words.n; i++) {
		CHECK_STR_EQ(again.words.data[i], c.words.data[i]);
	}
}

static void
test_words(void)
{
	check_words("", "");
	check_words(" \t\n", "");
	check_words("gcc  -O2\t-Wall\n", "gcc|-O2|-Wall|");
	check_words("a 'b c' \"d e\" f\\ g", "a|b c|d e|f g|");
	check_words("'' \"\"", "||");
	check_words("-DX='\"y\"' -D\"Z=\\\"z\\\" \\n\"",
		    "-DX=\"y\"|-DZ=\"z\" \\n|");
	check_words("$(touch x) `y` ${IFS} a;b&c|d >e *",
		    "$(touch|x)|`y`|${IFS}|a;b&c|d|>e|*|");
	check_words("it's", NULL);
	check_words("a \"b", NULL);
	check_words("end\\", "end\\|");
	CHECK_STR_EQ(command_quoted(&a, "-march=x86-64-v3"),
		     "-march=x86-64-v3");
	CHECK_STR_EQ(command_quoted(&a, "it's $x"), "'it'\\''s $x'");
	CHECK_STR_EQ(command_quoted(&a, ""), "''");
}

/* What the command prints; else how it failed. */
static const char *
output_of(const char *text, const char *input)
{
	struct command c = { 0 };
	struct strbuf out;
	struct process p = { .command = &c,
			     .out = &out,
			     .is_quiet = true,
			     .input = input,
			     .input_bytes = input != NULL ? strlen(input) : 0 };
	const char *failed, *got;

	CHECK(command_add(&a, &c, text));
	strbuf_init(&out);
	failed = process_run(&a, &p);
	got = failed != NULL
		      ? failed
		      : arena_strdup(&a, out.data != NULL ? out.data : "");
	strbuf_release(&out);
	return got;
}

static void
test_runs(void)
{
	static char large[1 << 20];
	FILE *f = fopen("command_script", "w");

	CHECK_STR_EQ(output_of("printf '%s|' 'a b' $HOME ;", NULL),
		     "a b|$HOME|;|");
	CHECK_STR_EQ(output_of("cat", "text"), "text");
	CHECK_STR_EQ(output_of("cat", NULL), "");
	memset(large, 'x', sizeof large - 1);
	CHECK_STR_EQ(output_of("cat", large), large);
	CHECK_STR_EQ(output_of("true", large), "");
	CHECK_STR_EQ(output_of("sh -c 'exit 3'", NULL), "ended with status 3");
	CHECK(strstr(output_of("sh -c 'kill -9 $$'", NULL),
		     "was ended by signal 9") != NULL);
	CHECK_STR_EQ(output_of("./no/such/program", NULL),
		     "cannot be started: No such file or directory");
	CHECK_STR_EQ(output_of("", NULL),
		     "cannot be started: the command has no word");
	/* a program that no processor here executes is no script for a shell */
	CHECK(f != NULL && fputs("echo script", f) >= 0 && fclose(f) == 0 &&
	      chmod("./command_script", 0700) == 0);
	CHECK(strstr(output_of("./command_script", NULL),
		     "is not for this machine") != NULL);
	remove("command_script");
}

int
main(void)
{
	arena_init(&a);
	test_words();
	test_runs();
	arena_release(&a);
	return check_done();
}
