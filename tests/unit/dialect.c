/* SPDX-License-Identifier: Apache-2.0 */
/* Dialects and targets: those that ship are complete; a folder may add one;
 * mistakes are reported with file and place. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "dialect.h"

static char folder[] = "/tmp/tirc-dialect-XXXXXX";

static void
put_file(const char *name, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	if (CHECK(file != NULL)) {
		fputs(text, file);
		fclose(file);
	}
}

static void
make_folder(const char *name)
{
	char path[200];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	CHECK(mkdir(path, 0777) == 0);
}

/* The dialect "mine" with this text is refused, saying so. */
static void
check_refused(const char *text, const char *want)
{
	struct module *m = module_new();
	struct strbuf s;

	put_file("mine/dialect.json", text);
	CHECK(dialect_load(m, "mine", folder) == NULL);
	strbuf_init(&s);
	for (int i = 0; i < m->diags.list.n; i++) {
		diag_format(&m->diags.list.data[i], &s);
		strbuf_putc(&s, '\n');
	}
	if (!CHECK(s.data != NULL && strstr(s.data, want) != NULL)) {
		fprintf(stderr, "  it says: %s", s.data);
	}
	strbuf_release(&s);
	module_free(m);
}

static void
shipped(void)
{
	struct module *m = module_new();
	int n;
	const char *const *names = dialect_names(m, &n);

	CHECK(n >= 1);
	for (int i = 0; i < n; i++) {
		const struct dialect *d = dialect_load(m, names[i], NULL);

		if (!CHECK(d != NULL)) {
			fprintf(stderr, "  %s: %s\n", names[i],
				m->diags.list.data[0].message);
			continue;
		}
		CHECK_STR_EQ(d->name, names[i]);
		CHECK(d->types[DT_F32].rejected == NULL);
		CHECK(d->reserved.n > 400);
	}
	names = target_names(m, &n);
	CHECK(n >= 1);
	for (int i = 0; i < n; i++) {
		const struct target *t = target_check(m, names[i], NULL);

		if (CHECK(t != NULL)) {
			CHECK(dialect_load(m, t->dialect, NULL) != NULL);
			CHECK(t->n_reserved > 400);
			CHECK(t->cc[0] != '\0');
		}
	}
	CHECK(target_load(m, NULL, NULL) != NULL);
	CHECK_EQ(m->diags.n_errors, 0);
	CHECK(target_load(m, "no such target", NULL) == NULL);
	CHECK(dialect_load(m, "../../etc", NULL) == NULL);
	CHECK(dialect_load(m, "no-such", NULL) == NULL);
	CHECK_EQ(m->diags.n_errors, 3);
	module_free(m);
}

/* A dialect of a few lines. */
static void
added(const char *base)
{
	struct module *m = module_new();
	const struct dialect *d;
	char text[400];

	snprintf(text, sizeof text,
		 "{ \"extends\": \"%s\", \"description\": \"mine\",\n"
		 "  \"types\": { \"i32\": { \"spelling\": \"long\" } },\n"
		 "  \"limits\": { \"identifier_length\": 12 },\n"
		 "  \"expressions\": { \"exp\": { \"f32\": { \"call\": "
		 "\"fast_exp\" }, \"any\": { \"rejected\": \"too slow\" } } }"
		 "\n}\n",
		 base);
	put_file("mine/dialect.json", text);
	d = dialect_load(m, "mine", folder);
	if (CHECK(d != NULL)) {
		const struct form *f = dialect_form(d, FORM_EXP,
						    dtype_of(DT_F32));

		CHECK_STR_EQ(d->types[DT_I32].spelling, "long");
		CHECK_STR_EQ(d->types[DT_I64].lowest, "INT64_MIN");
		CHECK_EQ(d->identifier_length, 12);
		CHECK(f != NULL && strcmp(f->text, "fast_exp") == 0);
		CHECK(dialect_form(d, FORM_EXP, dtype_of(DT_F64)) == NULL);
		CHECK(dialect_type(d, dtype_of(DT_STRING)) == NULL);
	}
	module_free(m);
}

int
main(void)
{
	struct module *m = module_new();
	int n;
	const char *base = arena_strdup(&m->arena, dialect_names(m, &n)[0]);
	char text[400];

	shipped();
	if (!CHECK(mkdtemp(folder) != NULL)) {
		return check_done();
	}
	make_folder("mine");
	added(base);
	check_refused("{ \"extends\": \"mine\" }", "in a circle");
	check_refused("{ \"extends\": \"nothing\" }", "no such dialect");
	check_refused("{\n\"types\": {,\n}\n", "mine/dialect.json:2:");
	check_refused("[]", "an object is expected here");
	check_refused("{}", "/precedence");
	check_refused("{ \"compliance\": { \"guidelines\": [], "
		      "\"guidelines\": [{}, {}] } }",
		      "/compliance/guidelines: this key is given twice");
#define EXTEND(rest)                                                           \
	(snprintf(text, sizeof text, "{ \"extends\": \"%s\", %s }", base,      \
		  rest),                                                       \
	 text)
	check_refused(EXTEND("\"colour\": 1"),
		      "mine/dialect.json: /colour: unknown key");
	check_refused(EXTEND("\"types\": { \"f31\": {} }"),
		      "/types/f31: unknown key");
	check_refused(EXTEND("\"types\": { \"f32\": { \"literal\": 3 } }"),
		      "/types/f32/literal: a string is expected here");
	check_refused(EXTEND("\"types\": { \"f16\": { "
			     "\"spelling\": \"int\", \"computed_as\": \"i32\","
			     " \"load\": \"min\", \"store\": \"min\", "
			     "\"round\": \"min\" } }"),
		      "/types/f16/computed_as: f32 or f64 is expected here");
	check_refused(EXTEND("\"types\": { \"f16\": { "
			     "\"spelling\": \"int\", \"computed_as\": \"f32\","
			     " \"load\": \"min\", \"store\": \"min\", "
			     "\"round\": \"none\" } }"),
		      "/types/f16/round: no helper is called 'none'");
	check_refused(EXTEND("\"device\": { \"fragments\":"
			     " { \"w\": { \"f32\": { \"spelling\": \"x\", "
			     "\"tile\": [16] } } } }"),
		      "/device/fragments/w/f32: a tile of two extents");
	check_refused(EXTEND("\"limits\": { \"int_bits\": 3 }"),
		      "/limits/int_bits: an integer from 16 to 64");
	check_refused(EXTEND("\"expressions\": { \"sin\": { \"call\": \"s\", "
			     "\"infix\": \"s\" } }"),
		      "/expressions/sin: exactly one of");
	check_refused(EXTEND("\"expressions\": { \"sin\": null }"),
		      "/expressions/sin: an object is expected here");
	check_refused(EXTEND("\"expressions\": { \"sin\": { \"helper\": "
			     "\"none\" } }"),
		      "no helper is called 'none'");
	check_refused(EXTEND("\"expressions\": { \"add\": { \"infix\": \"+\","
			     " \"at\": \"top\" } }"),
		      "no level of precedence is called 'top'");
	check_refused(EXTEND("\"statements\": { \"store\": { \"line\": null }"
			     " }"),
		      "/statements/store");
	check_refused(EXTEND("\"helpers\": { \"mine\": { \"name\": \"x\" } }"),
		      "there is no file helpers/mine.tmpl");
	check_refused(EXTEND("\"templates\": { \"header\": \"h.tmpl\" }"),
		      "there is no file h.tmpl");
	put_file("mine/dialect.json", "");
	snprintf(text, sizeof text, "%s/mine/dialect.json", folder);
	unlink(text);
	snprintf(text, sizeof text, "%s/mine", folder);
	rmdir(text);
	rmdir(folder);
	module_free(m);
	return check_done();
}
