/* SPDX-License-Identifier: Apache-2.0 */
/* The template engine: what it makes of texts, and its messages. */
#include "template.h"
#include "check.h"
#include "module.h"

static struct module *m;

static void
check_text(const char *text, const struct tdata *data, const char *want)
{
	struct strbuf s;

	strbuf_init(&s);
	CHECK(template_render(&m->diags, "a.tmpl", NULL, text, data, &s));
	CHECK_STR_EQ(s.data != NULL ? s.data : "", want);
	strbuf_release(&s);
}

static void
check_error(const char *text, const struct tdata *data, const char *want)
{
	struct strbuf s;

	strbuf_init(&s);
	CHECK(!template_render(&m->diags, "a.tmpl", NULL, text, data, &s));
	strbuf_release(&s);
	strbuf_init(&s);
	diag_format(&m->diags.list.data[m->diags.list.n - 1], &s);
	CHECK(m->diags.list.data[m->diags.list.n - 1].id == DIAG_BAD_TEMPLATE);
	if (!CHECK(strstr(s.data, want) != NULL)) {
		fprintf(stderr, "  it says: %s\n", s.data);
	}
	strbuf_release(&s);
}

/* Names that data may lack: absent at their own place, not looked up further
 * out, and looked over without any data. */
static void
check_known(void)
{
	struct tdata *names = tdata_new(&m->arena);
	struct tdata *row = tdata_new(&m->arena);
	struct tdata *outer = tdata_new(&m->arena);
	struct tdata *d = tdata_new(&m->arena);
	static const struct {
		const char *text, *wrong; /* NULL: nothing */
	} cases[] = {
		{ "{{name}}{{#list}}{{at}}{{name}}{{/list}}{{set_a}}", NULL },
		{ "{{^list}}{{name}}{{/list}}{{#both}}{{at}}{{/both}}{{both}}",
		  NULL },
		{ "{{#list}}{{^last}}{{#first}}, {{/first}}{{/last}}{{/list}}",
		  NULL },
		{ "{{<f}}{{at}}{{/f}}{{#list}}{{>f}}{{/list}}", NULL },
		{ "\n{{#name}}\n{{colour}}{{/name}}", "a.tmpl:3: unknown "
						      "placeholder 'colour'" },
		{ "{{^list}}{{at}}{{/list}}", "unknown placeholder 'at'" },
		{ "{{<f}}{{at}}{{/f}}{{>f}}", "unknown placeholder 'at'" },
		{ "{{#list}}{{/list}}{{list}}",
		  "this name is a list, not a text: 'list'" },
		{ "{{#name}}{{last}}{{/name}}", "unknown placeholder 'last'" },
		{ "{{set_}}", "unknown placeholder 'set_'" },
		{ "{{#list}}", "the end of this section is missing: 'list'" },
		{ "{{/list}}", "no section is open for this end: 'list'" },
		{ "{{<f}}{{>f}}{{/f}}{{>f}}", "a fragment contains itself" },
	};

	tdata_text(row, "at", "");
	tdata_text(names, "name", "");
	tdata_text(names, "set_*", "");
	tdata_text(names, "both", "");
	tdata_share(names, "list", row);
	tdata_share(names, "both", row);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct strbuf s;
		int before = m->diags.n_errors;

		CHECK(template_check_known(&m->diags, "a.tmpl", cases[i].text,
					   names) == (cases[i].wrong == NULL));
		CHECK_EQ(m->diags.n_errors - before, cases[i].wrong != NULL);
		if (m->diags.n_errors == before) {
			continue;
		}
		strbuf_init(&s);
		diag_format(&m->diags.list.data[m->diags.list.n - 1], &s);
		CHECK(strstr(s.data, cases[i].wrong) != NULL);
		strbuf_release(&s);
	}
	tdata_text(outer, "name", "far");
	tdata_text(outer, "other", "away");
	tdata_outer(d, outer);
	check_text("{{name}}", d, "far");
	tdata_knows(d, names);
	check_text("{{name}}{{#name}}x{{/name}}{{^name}}y{{/name}}", d, "y");
	check_text("{{other}}{{#list}}z{{/list}}{{^set_a}}n{{/set_a}}", d,
		   "awayn");
	tdata_item(d, "list");
	tdata_text(d, "set_b", "b");
	check_text("{{#list}}<{{at}}>{{/list}}{{set_a}}{{set_b}}", d, "<>b");
	check_error("{{colour}}", d, "'colour'");
}

/* Each filter with the characters that its language reads something in. */
static void
check_filters(void)
{
	struct tdata *d = tdata_new(&m->arena);
	struct tdata *bad = tdata_new(&m->arena);
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "{{plain|name}}", "net_1.c" },
		{ "{{plain|make}} {{plain|shell}} {{plain|cmake}}",
		  "net_1.c net_1.c net_1.c" },
		{ "# {{odd|comment}}", "# a'b\"c$d#e;f<&>\\." },
		{ "{{odd|make}} x", NULL },
		{ "{{odd|shell}}", "'a'\\''b\"c$d#e;f<&>\\'" },
		{ "{{odd|shell|make}}", "'a'\\''b\"c$$d\\#e;f<&>\\'" },
		{ "{{hash|make}}", "a\\\\\\#b" },
		{ "{{odd|cmake}}", "\"a'b\\\"c\\$d#e\\;f<&>\\\\\"" },
		{ "'{{odd|meson}}'", "'a\\'b\"c$d#e;f<&>\\\\'" },
		{ "\"{{odd|c}}\"", "\"a'b\\\"c$d#e;f<&>\\\\\"" },
		{ "\"{{odd|json}}\"", "\"a'b\\\"c$d#e;f<&>\\\\\"" },
		{ "{{odd|xml}}", "a&apos;b&quot;c$d#e;f&lt;&amp;&gt;\\" },
		{ "{{odd|html}} {{lines|html}} {{mark|html}}",
		  "a&apos;b&quot;c$d#e;f&lt;&amp;&gt;\\ a\\nb # *x*|_y_ 1. "
		  "a_b" },
		{ "{{mark|markdown}}", "\\# \\*x\\*\\|\\_y\\_ 1. a_b" },
		{ "{{odd|markdown}}", "a'b\"c$d#e;f\\<&amp;\\>\\\\" },
		{ "{{lines|visible}}", "a\\nb" },
		{ "{{odd|properties}}", "a'b\"c$d#e;f<&>\\" },
		{ "{{lines|cmake}} '{{lines|meson}}' \"{{lines|yaml}}\"",
		  "\"a\\nb\" 'a\\nb' \"a\\u000ab\"" },
		{ "{{lines|make}}", NULL },
		{ "{{lines|shell|make}}", NULL },
		{ "{{lines|properties}}", NULL },
		{ "{{lines|comment}}", NULL },
		{ "{{lines|xml}}", NULL },
		{ "{{odd|name}}", NULL },
		{ "{{odd|shel}}", NULL },
		{ "{{plain|}}", "net_1.c" },
	};

	tdata_text(d, "plain", "net_1.c");
	tdata_text(d, "odd", "a'b\"c$d#e;f<&>\\");
	tdata_text(d, "hash", "a\\#b");
	tdata_text(d, "mark", "# *x*|_y_ 1. a_b");
	tdata_text(d, "lines", "a\nb");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (cases[i].want != NULL) {
			check_text(cases[i].text, d, cases[i].want);
		} else {
			check_error(cases[i].text, d, "filter");
		}
	}
	tdata_text(bad, "plain", "");
	CHECK(!template_check_known(&m->diags, "a.tmpl", "{{plain|mak}}", bad));
}

static void
count_wrong(void *ctx, int line, const char *problem, const char *name,
	    size_t length)
{
	(void)line;
	(void)problem;
	(void)name;
	(void)length;
	++*(int *)ctx;
}

/* A file of another language takes no value without a filter. */
static void
check_wants_filters(void)
{
	int wrong = 0;

	template_check("{{#a}}{{b|make}}{{/a}}{{^c}}{{! d }}{{/c}}{{>e}}{{<e}}"
		       "{{/e}}",
		       NULL, true, count_wrong, &wrong);
	CHECK_EQ(wrong, 0);
	template_check("{{b}}", NULL, false, count_wrong, &wrong);
	CHECK_EQ(wrong, 0);
	template_check("{{b}}", NULL, true, count_wrong, &wrong);
	CHECK_EQ(wrong, 1);
	template_check("{{b|mke}}", NULL, false, count_wrong, &wrong);
	CHECK_EQ(wrong, 2);
	template_check("{{b|make}}", "c", true, count_wrong, &wrong);
	CHECK_EQ(wrong, 3);
}

/* The reader of JSON reports the control characters of its texts itself. */
static void
check_control_characters(void)
{
	int wrong = 0;

	template_check("a\n\x01", NULL, false, count_wrong, &wrong);
	CHECK_EQ(wrong, 0);
	CHECK(!template_check_file(&m->diags, "a.tmpl", "a\n\x01", NULL,
				   false));
	CHECK(template_check_file(&m->diags, "a.tmpl", "a\n\t", NULL, false));
}

int
main(void)
{
	struct tdata *d, *outer;

	m = module_new();
	check_known();
	check_filters();
	check_wants_filters();
	check_control_characters();
	outer = tdata_new(&m->arena);
	d = tdata_new(&m->arena);
	tdata_outer(d, outer);
	tdata_text(outer, "far", "away");
	tdata_text(d, "name", "conv1");
	tdata_text(d, "none", NULL);
	tdata_flag(d, "yes", true);
	tdata_flag(d, "no", false);
	tdata_int(d, "seven", 7);
	tdata_list(d, "empty");
	for (int i = 0; i < 3; i++) {
		struct tdata *item = tdata_item(d, "list");

		tdata_int(item, "at", i);
		for (int k = 0; k < i; k++) {
			tdata_int(tdata_item(item, "inner"), "k", k);
		}
		tdata_list(item, "inner");
	}
	check_text("", d, "");
	check_text("plain { } text\n", d, "plain { } text\n");
	check_text("{{name}}({{seven}}, {{far}}){{none}}", d, "conv1(7, away)");
	check_text("{{#yes}}a{{/yes}}{{^yes}}b{{/yes}}", d, "a");
	check_text("{{#no}}a{{/no}}{{^no}}b{{/no}}", d, "b");
	check_text("{{#empty}}a{{/empty}}{{^empty}}b{{/empty}}", d, "b");
	check_text("{{#list}}{{at}}{{^last}}, {{/last}}{{/list}}", d,
		   "0, 1, 2");
	check_text("{{#list}}{{#first}}<{{/first}}{{name}}{{#last}}>{{/last}}"
		   "{{/list}}",
		   d, "<conv1conv1conv1>");
	check_text("{{#list}}[{{#inner}}{{at}}{{k}} {{/inner}}]{{/list}}", d,
		   "[][10 ][20 21 ]");
	/* Lines of tags alone leave nothing. */
	check_text("a\n  {{#yes}}\nb\n\t{{/yes}}  \n{{! remark }}\nc\n", d,
		   "a\nb\nc\n");
	check_text("a {{#yes}}\nb\n{{/yes}}\nc\n", d, "a \nb\nc\n");
	check_text("{{#list}}\n{{at}}\n{{/list}}\n", d, "0\n1\n2\n");
	/* Fragments, with what is known where they are put. */
	check_text("{{<f}}[{{at}}]{{/f}}\n{{#list}}{{>f}}{{/list}}\n", d,
		   "[0][1][2]\n");
	check_text("{{>f}}\n{{<f}}\na\n{{>g}}\n{{/f}}\n{{<g}}b{{/g}}", d,
		   "a\nb\n\n");
	check_text("a {{<f}}b{{/f}}\n", d, "a \n");

	check_error("one\ntwo {{nmae}}\n", d,
		    "a.tmpl:2: unknown placeholder 'nmae'");
	check_error("{{#nolist}}{{/nolist}}", d, "unknown placeholder");
	check_error("a\n\n{{#yes}}b", d,
		    "a.tmpl:3: the end of this section is missing: 'yes'");
	check_error("a {{/yes}}", d, "no section is open for this end: 'yes'");
	check_error("a {{name", d, "the end of this tag is missing:");
	check_error("{{list}}", d, "this name is a list");
	check_error("\n{{>none}}", d, "a.tmpl:2: no such fragment: 'none'");
	check_error("{{<f}}{{>f}}{{/f}}{{>f}}", d,
		    "a fragment contains itself");
	check_error("{{<f}}", d, "the end of this section is missing: 'f'");
	check_error("{{first}}", d, "unknown placeholder 'first'");
	module_free(m);
	return check_done();
}
