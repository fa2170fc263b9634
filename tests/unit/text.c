/* SPDX-License-Identifier: Apache-2.0 */
/* Texts: characters of UTF-8, hidden ones and their visible form, numbers, and
 * the anchors of texts, which passes over the text move. */
#include "text.h"
#include "secret_hash.h"
#include "text_map.h"

#include <stdlib.h>

#include "check.h"
#include "comment_text.h"
#include "line_breaks.h"
#include "module.h"
#include "template.h"

static void
check_visible(const char *text, size_t n, const char *kept, const char *want)
{
	struct strbuf once, twice;

	strbuf_init(&once);
	strbuf_init(&twice);
	text_put_visible(&once, text, n, kept);
	CHECK_STR_EQ(once.data != NULL ? once.data : "", want);
	text_put_visible(&twice, once.data != NULL ? once.data : "", once.len,
			 kept);
	CHECK_STR_EQ(twice.data != NULL ? twice.data : "", want);
	strbuf_release(&once);
	strbuf_release(&twice);
}

static void
check_characters(void)
{
	uint32_t code;

	CHECK_EQ(text_character("a", 1, &code), 1);
	CHECK_EQ(code, 'a');
	CHECK_EQ(text_character("\xc3\xb6x", 3, &code), 2);
	CHECK_EQ(code, 0xf6);
	CHECK_EQ(text_character("\xe2\x80\xae", 3, &code), 3);
	CHECK_EQ(code, 0x202e);
	CHECK_EQ(text_character("\xf4\x8f\xbf\xbf", 4, &code), 4);
	CHECK_EQ(code, 0x10ffff);
	/* Cut, overlong, surrogates, too large, continuations. */
	CHECK_EQ(text_character("\xe2\x80\xae", 2, &code), 0);
	CHECK_EQ(text_character("\xc0\xaf", 2, &code), 0);
	CHECK_EQ(text_character("\xe0\x80\xaf", 3, &code), 0);
	CHECK_EQ(text_character("\xed\xa0\x80", 3, &code), 0);
	CHECK_EQ(text_character("\xf4\x90\x80\x80", 4, &code), 0);
	CHECK_EQ(text_character("\x80", 1, &code), 0);
	CHECK_EQ(text_character("\xff", 1, &code), 0);
	CHECK_EQ(text_character("\xc3z", 2, &code), 0);
	/* Unicode's controls and marks of bidirectional text, all of them. */
	for (code = 0; code < 0xa0; code++) {
		CHECK_EQ(text_is_hidden(code),
			 code < 0x20 || (code >= 0x7f && code < 0xa0));
	}
	for (code = 0x200b; code < 0x2070; code++) {
		CHECK_EQ(text_is_hidden(code),
			 code < 0x2010 || (code >= 0x2028 && code < 0x202f) ||
				 code >= 0x2060);
	}
	CHECK(text_is_hidden(0x61c) && text_is_hidden(0xfeff) &&
	      text_is_hidden(0xe0001) && text_is_hidden(0xad));
	CHECK(!text_is_hidden(0xf6) && !text_is_hidden(0x2026) &&
	      !text_is_hidden(0x8f93) && !text_is_hidden(0x1f600));
}

static void
check_visible_forms(void)
{
	check_visible("", 0, "", "");
	check_visible("gr\xc3\xb6\xc3\x9f"
		      "e \\n",
		      10, "",
		      "gr\xc3\xb6\xc3\x9f"
		      "e \\n");
	check_visible("a\x1b[1m\n\tb\x7f", 9, "", "a\\x1b[1m\\n\\x09b\\x7f");
	check_visible("a\x1b[1m\n\tb\x7f", 9, "\n\t", "a\\x1b[1m\n\tb\\x7f");
	check_visible("\xe2\x80\xae\xf3\xa0\x80\x81\xc2\x9b", 9, "",
		      "\\u202E\\U000E0001\\u009B");
	check_visible("a\xff\xe2\x80", 4, "", "a\\xff\\xe2\\x80");
	check_visible("a\0b", 3, "\n\t", "a\\x00b");
}

static void
check_numbers(void)
{
	int64_t v = 0;
	double f = 0;

	CHECK(text_int("0", &v) && v == 0);
	CHECK(text_int("-12", &v) && v == -12);
	CHECK(text_int("9223372036854775807", &v) && v == INT64_MAX);
	CHECK(text_int("-9223372036854775808", &v) && v == INT64_MIN);
	CHECK(!text_int("9223372036854775808", &v));
	CHECK(!text_int("", &v) && !text_int("-", &v) && !text_int(" 1", &v));
	CHECK(!text_int("+1", &v) && !text_int("1 ", &v) &&
	      !text_int("0x1", &v) && !text_int("1.0", &v));
	CHECK(text_float("-1.5e3", &f) && f == -1500);
	CHECK(!text_float("", &f) && !text_float("1,5", &f));
}

static void
check_comment(const char *text, const struct dialect *d, const char *want)
{
	struct arena a;

	arena_init(&a);
	CHECK_STR_EQ(comment_text(&a, d, text), want);
	arena_release(&a);
}

/* Nothing in a comment ends it: not in C, not in the dialect. */
static void
check_comments(void)
{
	static struct dialect c, other;

	c.comments = (struct comment_forms){ "/*", "*", "*/", NULL };
	other.comments = (struct comment_forms){ "(*", "", "*)", "#" };
	check_comment("a*/b /* // /*/ **// ?"
		      "?/ c\\",
		      &c, "a* /b / * / / / * / ** / / ? ?/ c/");
	check_comment("a*)b (* # */", &c, "a*)b (* # * /");
	check_comment("a*)b (* # */", &other, "a* )b ( * . * /");
	check_comment("gr\xc3\xb6\xff\x1b\n\xe2\x80\xae", &c,
		      "gr<U+00F6><FF><U+001B> <U+202E>");
}

/* Three anchors go through the rendering of a template and the breaking of its
 * lines. */
static void
check_anchors(void)
{
	static const char template[] =
		"{{a}}{{user}}\n{{<f}}<{{b}}>{{/f}}"
		"x\1{{c}} long,\4long,\4long\2 y\n{{>f}} {{a}}\n";
	struct module *m = module_new();
	struct anchors anchors = { .arena = &m->arena };
	struct tdata *data = tdata_new(&m->arena);
	struct strbuf text, out;
	struct layout l = { .out = &out,
			    .columns = 8,
			    .tab = 8,
			    .step = 8,
			    .text_columns = 4,
			    .most_columns = 90 };

	tdata_anchored(data, "a", "12345", 7, 0, 2);
	tdata_anchored(data, "b", "12345", 8, 1, 0);
	tdata_anchored(data, "c", "c", 9, 2, 0);
	tdata_text(data, "user", "12345 @digest-0000000@ {{a}}");
	strbuf_init(&text);
	strbuf_init(&out);
	CHECK(template_render_anchored(&m->diags, "t", NULL, template, data,
				       &text, &anchors));
	CHECK_EQ(anchors.list.n, 4);
	for (int i = 0; i < anchors.list.n; i++) {
		const struct anchor *x = &anchors.list.data[i];

		CHECK(strncmp(text.data + x->at,
			      x->kind == 7   ? "345"
			      : x->kind == 8 ? "12345>"
					     : "c long",
			      3) == 0);
	}
	layout_text(&l, text.data, &anchors);
	CHECK_EQ(anchors.list.data[0].at, 2);
	/* In a line that is broken anew: its start. */
	CHECK(strncmp(out.data + anchors.list.data[1].at, "xc long,", 8) == 0);
	CHECK(strncmp(out.data + anchors.list.data[2].at, "12345> 1", 8) == 0);
	CHECK(strcmp(out.data + anchors.list.data[3].at, "345\n") == 0);
	/* A template that is no whole file has no anchors. */
	CHECK(!template_render(&m->diags, "t", NULL, "{{a}}", data, &text));
	strbuf_release(&text);
	strbuf_release(&out);
	module_free(m);
}

/* Texts of any bytes, parts of longer ones, and many of them. */
static void
check_map(void)
{
	struct arena a = { 0 };
	struct text_map map;

	text_map_init(&map, &a);
	CHECK_EQ(text_map_get(&map, "", -1), -1);
	CHECK(text_map_add(&map, "", 7));
	for (int i = 0; i < 1000; i++) {
		CHECK(text_map_add(&map, arena_printf(&a, "d%d", i), i));
	}
	CHECK(!text_map_add(&map, "d12", 5));
	CHECK_EQ(text_map_get(&map, "d12", -1), 12);
	CHECK_EQ(text_map_get_bytes(&map, "d123 + 1", 4, -1), 123);
	CHECK_EQ(text_map_get(&map, "", -1), 7);
	CHECK_EQ(text_map_get(&map, "d1000", -1), -1);
	arena_release(&a);
}

/* The number of slots of a table of 2^16 into which the hash of h and numbers puts
 * 2^12 numbers that differ in their highest bits. */
static int
slots_used(uint64_t h)
{
	bool *is_used = calloc(1 << 16, sizeof *is_used);
	int n = 0;

	for (uint64_t i = 0; i < 1 << 12; i++) {
		uint64_t at = secret_mix(h, i << 52) & 0xffff;

		n += !is_used[at];
		is_used[at] = true;
	}
	free(is_used);
	return n;
}

/* Hashes of tables: texts and numbers that an invertible hash without a key
 * would put into one slot of a table are spread over it. One key in a hundred
 * spreads the numbers less, so that the mean of 16 hashes counts. */
static void
check_secret_hashes(void)
{
	enum { HASHES = 16 };
	int used = 0;

	CHECK_EQ(text_hash("costarring"), text_hash("liquid"));
	CHECK(secret_hash("costarring", 10) != secret_hash("liquid", 6));
	CHECK_EQ(secret_hash("liquid", 6), secret_hash("liquid", 6));
	for (uint64_t k = 1; k <= HASHES; k++) {
		used += slots_used(k * 0x9e3779b97f4a7c15u);
	}
	CHECK(used > HASHES << 11);
}

/* What an arena within another one allocates counts in both until it is
 * released. */
static void
check_arena_within(void)
{
	struct arena a, inner;

	arena_init(&a);
	arena_alloc(&a, 160);
	arena_init_within(&inner, &a);
	arena_alloc(&inner, 320);
	CHECK_EQ(a.used_bytes, 480);
	CHECK_EQ(inner.used_bytes, 320);
	arena_release(&inner);
	CHECK_EQ(a.used_bytes, 160);
	arena_release(&a);
}

static void
check_lines(void)
{
	const char *text = "a\n\tb\r\n\x01";

	CHECK(text_control(text) == text + 6);
	CHECK(text_control("a\tb\r\n") == NULL);
	CHECK_EQ(text_line(text, text), 1);
	CHECK_EQ(text_line(text, text + 1), 1);
	CHECK_EQ(text_line(text, text + 2), 2);
	CHECK_EQ(text_line(text, text + 6), 3);
}

int
main(void)
{
	check_map();
	check_characters();
	check_secret_hashes();
	check_arena_within();
	check_lines();
	check_visible_forms();
	check_numbers();
	check_comments();
	check_anchors();
	return check_done();
}
