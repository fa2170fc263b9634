/* SPDX-License-Identifier: Apache-2.0 */
/* tirc tvmc tune runs tirc tune. tirc tvmc compile writes a package, an archive
 * .tar. Its members depend on --output-format:
 *
 *   so      mod.so, mod.json, mod.params: kernels, graph, weights
 *   mlf     TVM's Model Library Format: metadata.json, codegen/host/,
 *           executor-config/graph/, parameters/, src/
 *   source  the files of tirc compile
 *
 * Each package also has src/NAME.json and NAME.weights, the model as a
 * partition, which tirc tvmc run compiles for the machine on which it runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>

#include "cleanup.h"
#include "json_put.h"
#include "output_file.h"
#include "process.h"
#include "tar.h"
#include "text.h"
#include "tvmc.h"

struct packing {
	struct cli *c;
	struct tirc *t;
	FILE *to;
	const char *folder; /* the folder of the files to pack */
	const char *name;   /* the name of the model */
	bool aot;
};

/* -- options -- */

/* Reads the argument of --input-shapes, "a:[1,3] b:[2]", and adds the shapes to
 * the options of c. Returns false after an error message. */
static bool
take_shapes(struct cli *c, const char *text)
{
	const char *word;

	while ((word = text_next_word(&c->arena, &text)) != NULL) {
		const char **grown = arena_array(&c->arena, const char *,
						 c->tirc.n_input_shapes + 1);
		struct strbuf s;

		/* blanks within brackets do not separate words */
		while (strchr(word, '[') != NULL && strchr(word, ']') == NULL) {
			const char *more = text_next_word(&c->arena, &text);

			if (more == NULL) {
				return cli_error("--input-shapes %s has no ]",
						 word);
			}
			word = arena_printf(&c->arena, "%s%s", word, more);
		}
		strbuf_init(&s);
		for (const char *at = word; *at != '\0'; at++) {
			if (*at != '[' && *at != ']') {
				strbuf_putc(&s, *at);
			}
		}
		for (int i = 0; i < c->tirc.n_input_shapes; i++) {
			grown[i] = c->tirc.input_shapes[i];
		}
		grown[c->tirc.n_input_shapes++] = arena_strdup(&c->arena,
							       s.data);
		c->tirc.input_shapes = grown;
		strbuf_release(&s);
	}
	return true;
}

/* Sets the options of c that both commands take from o. */
static bool
take_model(struct cli *c, const struct tvmc *o)
{
	/* the file itself tells which of both it is */
	if (o->model_format != NULL && strcmp(o->model_format, "onnx") != 0 &&
	    strcmp(o->model_format, "relay") != 0) {
		return cli_error(
			"--model-format %s: tirc reads onnx and relay; "
			"export the model to ONNX",
			o->model_format);
	}
	c->model = o->file;
	c->quiet = !o->verbose;
	c->tirc.target = o->target;
	if (o->target == NULL || strcmp(o->target, "llvm") == 0) {
		/* Without a target, or with TVM's "llvm", the target is this
		 * machine. */
		c->tirc.target = NULL;
		cli_use_machine(c);
	}
	return o->shapes == NULL || take_shapes(c, o->shapes);
}

static bool
take_options(struct cli *c, const struct tvmc *o)
{
	const char **records = arena_array(&c->arena, const char *, 1);

	c->tirc.name = o->name;
	c->tirc.form = o->executor != NULL && strcmp(o->executor, "aot") == 0
			       ? "aot"
			       : "graph";
	c->out = o->output != NULL ? o->output : "module.tar";
	if (o->records != NULL) {
		records[0] = o->records;
		c->tirc.records = records;
		c->tirc.n_records = 1;
	}
	return take_model(c, o);
}

int
tvmc_tune_model(struct cli *c, const struct tvmc *o)
{
	if (o->output == NULL) {
		cli_error("no file for the records is given; add --output "
			  "FILE");
		return CLI_USAGE;
	}
	c->out = o->output;
	c->trials = (int)o->trials;
	return take_model(c, o) ? cmd_tune(c) : CLI_INPUT;
}

/* -- members -- */

static bool
cannot(const char *what, const char *path)
{
	return cli_error("%s: cannot be %s: %s", path, what,
			 errno != 0 ? strerror(errno) : "too large");
}

/* Packs a file of the folder as the member `name`. */
static bool
add_file(struct packing *p, const char *file, const char *name)
{
	const char *path = arena_printf(&p->c->arena, "%s/%s", p->folder, file);
	FILE *from = fopen(path, "rb");
	bool ok;

	if (from == NULL) {
		return cannot("read", path);
	}
	errno = 0;
	ok = tar_add_file(p->to, name, from);
	fclose(from);
	return ok || cannot("written", p->c->out);
}

/* The name that the Model Library Format gives to an emitted file. */
static const char *
mlf_name(const struct packing *p, struct tirc_file f)
{
	struct arena *a = &p->c->arena;

	if (text_ends_in(f.name, "_graph.json")) {
		return arena_printf(a, "executor-config/graph/%s.graph",
				    p->name);
	}
	if (text_ends_in(f.name, ".params")) {
		return arena_printf(a, "parameters/%s.params", p->name);
	}
	if (f.is_source) {
		return arena_printf(a, "codegen/host/src/%s", f.name);
	}
	return arena_printf(a,
			    text_ends_in(f.name, ".h")
				    ? "codegen/host/include/%s"
				    : "codegen/host/%s",
			    f.name);
}

static void
put_text(cJSON *to, const char *key, const char *text)
{
	cJSON_AddStringToObject(to, key, text);
}

/* Writes the metadata of the Model Library Format, version 7. The date is
 * constant, so that a model always gives the same package. */
static void
put_metadata(const struct packing *p, struct strbuf *out)
{
	struct tirc_summary s = tirc_summary(p->t);
	cJSON *top = cJSON_CreateObject();
	cJSON *module = cJSON_CreateObject();
	cJSON *memory = cJSON_AddObjectToObject(module, "memory");
	cJSON *functions = cJSON_AddObjectToObject(memory, "functions");
	cJSON *main = cJSON_AddArrayToObject(functions, "main");
	cJSON *sizes = cJSON_CreateObject();

	cJSON_AddNumberToObject(top, "version", 7);
	cJSON_AddItemToObject(cJSON_AddObjectToObject(top, "modules"), p->name,
			      module);
	put_text(module, "model_name", p->name);
	put_text(module, "export_datetime", "1970-01-01 00:00:00Z");
	cJSON_AddItemToArray(main, sizes);
	cJSON_AddNumberToObject(sizes, "workspace_size_bytes",
				(double)s.workspace_bytes);
	cJSON_AddNumberToObject(sizes, "constants_size_bytes",
				(double)s.weights_bytes);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(module, "target"),
			     cJSON_CreateString(s.target));
	cJSON_AddItemToArray(cJSON_AddArrayToObject(module, "executors"),
			     cJSON_CreateString(p->aot ? "aot" : "graph"));
	put_text(module, "style", "full-model");
	put_text(module, "generator",
		 arena_printf(&p->c->arena, "tirc %s", tirc_version()));
	json_put(out, top, true);
	cJSON_Delete(top);
}

static bool
add_mlf(struct packing *p, const char *relay)
{
	struct strbuf text;
	bool ok;

	strbuf_init(&text);
	put_metadata(p, &text);
	ok = tar_add(p->to, "metadata.json", text.data, text.len);
	strbuf_release(&text);
	for (int i = 0; ok && i < tirc_file_count(p->t); i++) {
		struct tirc_file f = tirc_file(p->t, i);

		if (!add_file(p, f.name, mlf_name(p, f))) {
			return false;
		}
	}
	ok = ok &&
	     tar_add(p->to, arena_printf(&p->c->arena, "src/%s.relay", p->name),
		     relay, strlen(relay));
	return ok || cannot("written", p->c->out);
}

static bool
add_source(struct packing *p)
{
	for (int i = 0; i < tirc_file_count(p->t); i++) {
		if (!add_file(p, tirc_file(p->t, i).name,
			      tirc_file(p->t, i).name)) {
			return false;
		}
	}
	return true;
}

/* Compiles the sources in the folder to mod.so. Returns false after an error
 * message. */
static bool
make_library(struct packing *p)
{
	struct arena *a = &p->c->arena;
	struct tirc_summary s = tirc_summary(p->t);
	const char *cc = p->c->cc != NULL ? p->c->cc : s.cc, *failed;
	struct command command = { 0 };
	struct process process = { .command = &command, .folder = p->folder };

	if (s.simulator != NULL) {
		return cli_error("target %s has no shared libraries; give "
				 "--output-format mlf",
				 s.target);
	}
	if (!command_add(a, &command, cc) ||
	    !command_add(a, &command, s.cflags) ||
	    !command_add(a, &command, "-fPIC -shared -I. -o mod.so")) {
		return cli_error(COMMAND_QUOTE_OPEN, cc);
	}
	for (int i = 0; i < tirc_file_count(p->t); i++) {
		struct tirc_file f = tirc_file(p->t, i);

		if (f.is_source) {
			command_add_word(a, &command, f.name);
		}
	}
	if (s.ldflags != NULL) {
		command_add(a, &command, s.ldflags);
	}
	failed = process_run(a, &process);
	cleanup_pause_if_interrupted();
	return failed == NULL ||
	       cli_error("the compiler %s %s; --cross-compiler names another, "
			 "--output-format mlf needs none",
			 cc, failed);
}

static bool
add_library(struct packing *p)
{
	if (!make_library(p) || !add_file(p, "mod.so", "mod.so")) {
		return false;
	}
	for (int i = 0; i < tirc_file_count(p->t); i++) {
		struct tirc_file f = tirc_file(p->t, i);

		if ((text_ends_in(f.name, "_graph.json") &&
		     !add_file(p, f.name, "mod.json")) ||
		    (text_ends_in(f.name, ".params") &&
		     !add_file(p, f.name, "mod.params"))) {
			return false;
		}
	}
	return true;
}

static bool
add_partition(struct packing *p)
{
	return add_file(p, "part/model.json", "src/model.json") &&
	       add_file(p, "part/model.weights", "src/model.weights");
}

/* -- the command -- */

/* Partitions and compiles the model, and writes the files to p->folder. Sets
 * *relay to the text of the model in Relay, before the partition. Returns false
 * after an error. */
static bool
compile(struct packing *p, const char **relay)
{
	struct cli *c = p->c;
	const char *part = arena_printf(&c->arena, "%s/part/model.json",
					p->folder);

	*relay = tirc_relay(p->t);
	if (mkdir(p->folder, 0700) != 0 ||
	    mkdir(arena_printf(&c->arena, "%s/part", p->folder), 0700) != 0) {
		return cannot("made", p->folder);
	}
	return tirc_partition(p->t) && tirc_write_partition(p->t, part) &&
	       tirc_compile(p->t) && tirc_write(p->t, p->folder);
}

static bool
add_members(struct packing *p, const char *format, const char *relay)
{
	bool ok;

	if (strcmp(format, "mlf") == 0) {
		ok = add_mlf(p, relay);
	} else {
		ok = strcmp(format, "source") == 0 ? add_source(p)
						   : add_library(p);
	}
	errno = 0;
	return ok && add_partition(p) &&
	       (tar_end(p->to) || cannot("written", p->c->out));
}

static bool
write_package(struct packing *p, const char *format, const char *relay)
{
	struct output o;
	bool ok;

	cleanup_watch_output(p->c->out);
	if (!output_open(&o, &p->c->arena, p->c->out)) {
		return cannot("written", p->c->out);
	}
	p->to = o.file;
	ok = add_members(p, format, relay);
	return (output_close(&o, ok) || !ok || cannot("written", p->c->out)) &&
	       ok;
}

int
tvmc_compile(struct cli *c, const struct tvmc *o)
{
	const char *format = o->format != NULL ? o->format : "so";
	const char *scratch = cleanup_scratch(), *relay;
	struct packing p = { .c = c };
	bool ok;

	if (scratch == NULL || !take_options(c, o)) {
		return CLI_INPUT;
	}
	c->cc = o->cc != NULL ? o->cc : getenv("CC");
	p.t = cli_open(c);
	if (p.t == NULL) {
		return CLI_INPUT;
	}
	p.folder = arena_printf(&c->arena, "%s/package", scratch);
	p.aot = strcmp(c->tirc.form, "aot") == 0;
	ok = compile(&p, &relay);
	cli_messages(p.t);
	p.name = ok ? tirc_summary(p.t).name : NULL;
	ok = ok && write_package(&p, format, relay);
	if (ok && o->verbose) {
		cli_print_target(c, p.t);
		say(stdout, "package  %s\n", c->out);
	}
	tirc_free(p.t);
	return ok ? CLI_DONE : CLI_INPUT;
}
