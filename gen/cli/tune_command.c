/* SPDX-License-Identifier: Apache-2.0 */
/* The runner "cmd": a program of the user measures the jobs. It is called with
 * a folder that has the files of a job and their description, job.json. It
 * prints JSON, either {"time": 1234, "unit": "instructions"} or {"error": "no
 * board"}, and writes the arrays that job.json lists as results into the
 * folder. */
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "cleanup.h"
#include "json_put.h"
#include "json_read.h"
#include "process.h"
#include "tune_runner.h"
#include "tuning.h"

enum { ROUNDS = 3, CALLS = 10, MOST_SECONDS = 1800, MOST_TEXT = 300 };

struct command_runner {
	struct harness *h;
	struct command program;
	const char *machine, *compiler;
	struct tune_model model;
	/* the last task, the folder with its rules' schedule, and the time of
	 * that schedule, or 0 */
	const struct tune_task *task;
	const char *rules_folder;
	double rules_time;
};

static void
add_text(cJSON *o, const char *key, const char *text)
{
	cJSON_AddItemToObject(o, key,
			      text != NULL ? cJSON_CreateString(text)
					   : cJSON_CreateNull());
}

static void
add_json(cJSON *o, const char *key, const char *text)
{
	cJSON_AddItemToObject(o, key, json_parse_quietly(text, NULL));
}

static void
add_files(cJSON *o, const struct tune_job *job)
{
	cJSON *sources = cJSON_AddArrayToObject(o, "sources");
	cJSON *arrays = cJSON_AddArrayToObject(o, "arrays");
	cJSON *results = cJSON_AddArrayToObject(o, "results");

	for (int i = 0; i < job->sources.n; i++) {
		cJSON_AddItemToArray(sources,
				     cJSON_CreateString(job->sources.data[i]));
	}
	for (int i = 0; i < job->files.n; i++) {
		const struct tune_file *f = &job->files.data[i];
		cJSON *one;

		if (strncmp(f->name, "array_", 6) != 0) {
			continue;
		}
		one = cJSON_CreateObject();
		add_text(one, "file", f->name);
		cJSON_AddNumberToObject(one, "bytes", (double)f->bytes);
		cJSON_AddItemToArray(arrays, one);
	}
	for (int i = 0; i < job->outputs.n; i++) {
		cJSON *one = cJSON_CreateObject();

		add_text(one, "file", job->outputs.data[i].name);
		cJSON_AddNumberToObject(one, "bytes",
					(double)job->outputs.data[i].bytes);
		cJSON_AddItemToArray(results, one);
	}
}

/* Writes job.json, which describes a job to the user's program. */
static bool
describe(struct command_runner *c, const struct tune_job *job,
	 const char *folder)
{
	struct arena *a = &c->h->m->arena;
	struct tirc_summary s = tirc_summary(c->h->t);
	struct command compile = tune_compile_command(c->h, job);
	cJSON *o = cJSON_CreateObject();
	struct strbuf text;
	bool ok;

	cJSON_AddNumberToObject(o, "tirc_job", 1);
	add_text(o, "kernel", job->task->kernel->name);
	add_text(o, "computes", job->task->kernel->title);
	add_text(o, "workload", job->task->workload);
	add_text(o, "target", s.target);
	add_json(o, "facts", c->model.facts);
	add_text(o, "decisions",
		 record_words(a, job->decisions, job->n_decisions));
	add_text(o, "compile",
		 job->has_caller ? command_text(a, &compile) : NULL);
	add_text(o, "program", job->has_caller ? "harness" : NULL);
	add_text(o, "simulator", s.simulator);
	add_text(o, "simulator_argument", s.simulator_argument);
	add_text(o, "arguments", "arguments.txt");
	add_text(o, "times", "times.txt");
	cJSON_AddNumberToObject(o, "calls", s.simulator != NULL ? 1 : CALLS);
	add_files(o, job);
	strbuf_init(&text);
	json_put(&text, o, true);
	strbuf_putc(&text, '\n');
	ok = tune_write(folder, "job.json", text.data, text.len);
	strbuf_release(&text);
	cJSON_Delete(o);
	return ok;
}

/* Reads the answer of the user's program. Returns NULL, or the error. */
static const char *
read_answer(struct arena *a, const char *text, double *time, const char **unit)
{
	cJSON *o = json_parse_quietly(text != NULL ? text : "", NULL);
	const cJSON *error = cJSON_GetObjectItemCaseSensitive(o, "error");
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(o, "time");
	const cJSON *word = cJSON_GetObjectItemCaseSensitive(o, "unit");
	const char *why = NULL;

	if (cJSON_IsString(error)) {
		size_t n = strcspn(error->valuestring, "\r\n");

		why = arena_strndup(a, error->valuestring,
				    n < MOST_TEXT ? n : MOST_TEXT);
	} else if (!cJSON_IsNumber(value) || !isfinite(value->valuedouble) ||
		   value->valuedouble <= 0 || !cJSON_IsString(word) ||
		   (strcmp(word->valuestring, "ns") != 0 &&
		    strcmp(word->valuestring, "instructions") != 0)) {
		why = "the runner's answer is not {\"time\": NUMBER, \"unit\": "
		      "\"ns\" or \"instructions\"} or {\"error\": TEXT}";
	} else {
		*time = value->valuedouble;
		*unit = strcmp(word->valuestring, "ns") == 0 ? "ns"
							     : "instructions";
	}
	cJSON_Delete(o);
	return why;
}

static const char *
ask(struct command_runner *c, struct arena *a, const char *folder, double *time,
    const char **unit)
{
	struct command words = { 0 };
	struct strbuf out;
	const struct process p = { .command = &words,
				   .out = &out,
				   .most_seconds = MOST_SECONDS };
	const char *why;

	for (int i = 0; i < c->program.words.n; i++) {
		command_add_word(a, &words, c->program.words.data[i]);
	}
	command_add_word(a, &words, folder);
	strbuf_init(&out);
	why = process_run(a, &p);
	cleanup_pause_if_interrupted();
	if (why != NULL) {
		why = arena_printf(a, "the runner %s", why);
	} else {
		why = read_answer(a, out.data, time, unit);
	}
	strbuf_release(&out);
	return why;
}

static const char *
write_job(struct command_runner *c, const struct tune_job *job,
	  const char **folder)
{
	bool simulated = tirc_summary(c->h->t).simulator != NULL;

	*folder = tune_folder(c->h, job, simulated ? 1 : CALLS);
	return *folder != NULL && describe(c, job, *folder)
		       ? NULL
		       : "its files cannot be written";
}

/* Measures the candidate and the rules' schedule in turn, several times; counts
 * of instructions do not vary and are measured once. */
static const char *
ask_rounds(struct command_runner *c, struct arena *a, const char *folder,
	   struct measurement *out)
{
	struct record_round *rounds = arena_array(a, struct record_round,
						  ROUNDS);
	bool counts = c->rules_time > 0;

	out->rounds = rounds;
	for (int i = 0; i < ROUNDS; i++) {
		const char *why = NULL;

		out->unit = "instructions";
		rounds[i].rules_time = c->rules_time;
		if (!counts) {
			why = ask(c, a, c->rules_folder, &rounds[i].rules_time,
				  &out->unit);
		}
		if (why == NULL) {
			why = ask(c, a, folder, &rounds[i].time, &out->unit);
		}
		if (why != NULL) {
			return why;
		}
		out->n_rounds++;
		if (strcmp(out->unit, "instructions") == 0) {
			c->rules_time = rounds[i].rules_time;
			break;
		}
	}
	return NULL;
}

static const char *
measure(void *ctx, struct arena *a, const struct tune_job *candidate,
	const struct tune_job *rules, struct measurement *out)
{
	struct command_runner *c = ctx;
	const char *folder, *why = NULL;

	out->machine = c->machine;
	out->compiler = c->compiler;
	if (c->task != rules->task) {
		c->task = rules->task;
		c->rules_time = 0;
		why = write_job(c, rules, &c->rules_folder);
	}
	folder = c->rules_folder;
	if (why == NULL && candidate != rules) {
		why = write_job(c, candidate, &folder);
	}
	if (why == NULL) {
		why = ask_rounds(c, a, folder, out);
	}
	return why != NULL
		       ? why
		       : tune_read_outputs(a, candidate, folder, &out->outputs);
}

struct tune_runner
tune_runner_command(struct harness *h, const char *command)
{
	struct arena *a = &h->m->arena;
	struct command_runner *c = arena_new(a, struct command_runner);
	struct tune_runner r = { .ctx = c, .measure = measure };

	c->h = h;
	c->machine = arena_printf(a, "cmd:%s", command);
	r.machine = c->machine;
	r.compiler = c->compiler = harness_compiler(h);
	tirc_tune_model(h->t, &c->model);
	if (!command_add(a, &c->program, command)) {
		cli_error(COMMAND_QUOTE_OPEN, command);
		r.ctx = NULL;
	}
	return r;
}
