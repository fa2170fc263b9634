/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate of tirc verify: a JSON file with the model, the target, the
 * compiler, the results of each kernel, and the digests of all files. Its last
 * member is the digest of the text before that member. The digest detects
 * damage of the file; it is not a signature, because anyone can compute it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "json_put.h"
#include "json_read.h"
#include "onnx_file.h"
#include "options.h"
#include "output_file.h"
#include "sha256.h"
#include "text.h"
#include "tune_runner.h"
#include "tuning.h"
#include "verify_cmd.h"

#define MARK ",\n\t\"certificate_sha256\": \""
#define MARK_END "\"\n}\n"

enum {
	MOST_BYTES = 1 << 24,
	CHECK_SAME = 0,
	CHECK_OTHER = 1,
	CHECK_TROUBLE = 2
};

/* -- writing -- */

static void
add_text(cJSON *object, const char *key, const char *text)
{
	if (text != NULL) {
		cJSON_AddStringToObject(object, key, text);
	}
}

static cJSON *
kernel_row(const struct verified_kernel *k)
{
	cJSON *row = cJSON_CreateObject();
	const struct verify_result *r = &k->result;

	add_text(row, "kernel", k->of.kernel->name);
	add_text(row, "function", k->of.kernel->func->name);
	add_text(row, "text", k->changed ? "differs" : "same");
	add_text(row, "verdict",
		 k->wrong != NULL     ? "wrong"
		 : k->other != NULL   ? "rounds in another way"
		 : k->not_run != NULL ? "not run"
		 : r->cases == 0      ? "not run"
		 : r->equal           ? "equal"
				      : "within the bound");
	add_text(row, "why",
		 k->wrong != NULL   ? k->wrong
		 : k->other != NULL ? k->other
				    : k->not_run);
	if (r->cases > 0) {
		cJSON_AddNumberToObject(row, "cases", (double)r->cases);
		cJSON_AddNumberToObject(row, "elements", (double)r->elements);
		cJSON_AddNumberToObject(row, "max_ulp", r->max_ulp);
		cJSON_AddNumberToObject(row, "rtol", k->of.rtol);
		cJSON_AddNumberToObject(row, "atol", k->of.atol);
		cJSON_AddNumberToObject(row, "inputs", k->of.share);
	}
	return row;
}

static cJSON *
file_row(const struct verified_file *f)
{
	cJSON *row = cJSON_CreateObject();

	add_text(row, "file", f->name);
	cJSON_AddNumberToObject(row, "bytes", (double)f->bytes);
	add_text(row, "sha256", f->sha256 != NULL ? f->sha256 : "");
	add_text(row, "text",
		 f->same           ? "same"
		 : f->data == NULL ? "absent"
				   : "differs");
	return row;
}

static void
put_member(struct strbuf *s, const char *key, const char *text)
{
	strbuf_printf(s, ",\n\t\"%s\": ", key);
	json_put_text(s, text);
}

static void
put_rows(struct strbuf *s, const char *key, cJSON *rows)
{
	const cJSON *row;

	strbuf_printf(s, ",\n\t\"%s\": [", key);
	cJSON_ArrayForEach(row, rows)
	{
		strbuf_puts(s, row == rows->child ? "\n\t\t" : ",\n\t\t");
		json_put(s, row, false);
	}
	strbuf_puts(s, rows->child != NULL ? "\n\t]" : "]");
	cJSON_Delete(rows);
}

/* The options of the command line without -o, -q and --force, which change
 * neither the source nor the results. */
static cJSON *
options_list(const struct verifying *v)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < v->cli->n_given; i++) {
		int id = v->cli->given[i].id;

		if (id == OPT_OUT || id == OPT_QUIET || id == OPT_FORCE) {
			continue;
		}
		cJSON_AddItemToArray(list, cJSON_CreateString(
						   v->cli->given[i].words));
	}
	return list;
}

/* The options that come from NAME.json. */
static cJSON *
taken_list(const struct verifying *v)
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < v->taken.n; i++) {
		cJSON_AddItemToArray(list,
				     cJSON_CreateString(v->taken.data[i]));
	}
	return list;
}

static void
put_run(struct verifying *v, struct strbuf *s)
{
	struct tirc_summary summary = tirc_summary(v->fresh.t);
	cJSON *rows = cJSON_CreateArray();

	if (v->not_run != NULL) {
		put_member(s, "not_run", v->not_run);
	} else {
		put_member(s, "compiler", tune_compiler(&v->fresh));
		if (v->cli->runner != NULL || summary.simulator != NULL) {
			put_member(s, "runner",
				   v->cli->runner != NULL ? v->cli->runner
							  : summary.simulator);
		}
	}
	if (v->not_built != NULL) {
		put_member(s, "not_built", v->not_built);
	}
	if (v->alone_not_run != NULL) {
		put_member(s, "kernels_not_run", v->alone_not_run);
	}
	for (int i = 0; i < v->kernels.n; i++) {
		cJSON_AddItemToArray(rows, kernel_row(&v->kernels.data[i]));
	}
	put_rows(s, "kernels", rows);
	strbuf_printf(s,
		      ",\n\t\"model_runs\": {\"runs\":%d,\"passed\":%d,"
		      "\"equal\":%d}",
		      v->runs.n, v->runs.passed, v->runs.equal);
}

/* Writes the text to the file. Returns false after an error message. */
static bool
write_text(struct verifying *v, const char *path, const struct strbuf *text)
{
	struct output o;
	bool ok;

	if (!v->cli->tirc.force && !output_may_replace(path)) {
		output_refuse(v->fresh.m, path);
		harness_messages(&v->fresh);
		return false;
	}
	ok = output_open(&o, v->a, path);
	if (ok) {
		ok = fwrite(text->data, 1, text->len, o.file) == text->len;
		ok = output_close(&o, ok) && ok;
	}
	return ok || cli_error("cannot write %s: %s", path, strerror(errno));
}

static const char *
digest_of(struct arena *a, const char *data, size_t bytes)
{
	struct sha256 s;

	sha256_init(&s);
	sha256_update(&s, data, bytes);
	return sha256_whole(&s, a);
}

bool
verify_write_certificate(struct verifying *v, const char *path)
{
	const struct tirc_read_file *read;
	int n = tirc_read_files(v->fresh.t, &read);
	cJSON *models = cJSON_CreateArray(), *files = cJSON_CreateArray();
	struct strbuf s;
	bool ok;

	strbuf_init(&s);
	strbuf_putc(&s, '{');
	strbuf_printf(&s, "\n\t\"generator\": \"tirc %s\"", tirc_version());
	strbuf_puts(&s, ",\n\t\"certificate\": 1");
	put_member(&s, "verdict", verify_verdict(v));
	put_member(&s, "target", tirc_summary(v->fresh.t).target);
	put_rows(&s, "options", options_list(v));
	put_rows(&s, "stated", taken_list(v));
	strbuf_printf(&s, ",\n\t\"seed\": %lld", (long long)v->number);
	for (int i = 0; i < n; i++) {
		cJSON *row = cJSON_CreateObject();

		add_text(row, "file", read[i].name);
		add_text(row, "sha256", read[i].sha256);
		cJSON_AddItemToArray(models, row);
	}
	put_rows(&s, "model", models);
	for (int i = 0; i < v->files.n; i++) {
		cJSON_AddItemToArray(files, file_row(&v->files.data[i]));
	}
	put_rows(&s, "files", files);
	put_run(v, &s);
	strbuf_printf(&s, "%s%s%s", MARK, digest_of(v->a, s.data, s.len),
		      MARK_END);
	ok = n >= 0 && write_text(v, path, &s);
	strbuf_release(&s);
	return ok;
}

/* -- checking -- */

struct checking {
	struct cli *cli;
	struct arena *a;
	const char *path, *folder;
	cJSON *json;
	int64_t model_bytes; /* the bytes of the model's files together */
	int changed; /* number of files whose digest is not in the certificate */
};

/* Reads a regular file of at most `most` bytes. Returns false, without a
 * message, if that fails. */
static bool
read_file(const char *path, int64_t most, struct strbuf *out)
{
	FILE *f = output_earlier(path);
	bool ok = f != NULL && verify_read(fileno(f), most, out) == NULL;

	if (f != NULL) {
		fclose(f);
	}
	return ok;
}

/* Is the text a certificate whose last member is the correct digest of the text
 * before it? */
static bool
is_whole(struct checking *k, const struct strbuf *text)
{
	size_t end = strlen(MARK) + 64 + strlen(MARK_END), body;

	if (text->len < end || strlen(text->data) != text->len) {
		return false;
	}
	body = text->len - end;
	return strncmp(text->data + body, MARK, strlen(MARK)) == 0 &&
	       strcmp(text->data + text->len - strlen(MARK_END), MARK_END) ==
		       0 &&
	       strncmp(text->data + body + strlen(MARK),
		       digest_of(k->a, text->data, body), 64) == 0;
}

static const char *
text_member(const cJSON *object, const char *key)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsString(x) ? x->valuestring : NULL;
}

static bool
read_certificate(struct checking *k)
{
	struct strbuf text;
	const char *verdict;
	bool ok;

	strbuf_init(&text);
	ok = read_file(k->path, MOST_BYTES, &text) ||
	     cli_error("%s: cannot be read as a certificate", k->path);
	if (ok && !is_whole(k, &text)) {
		ok = cli_error("%s: it is not a certificate, or it was "
			       "changed: the digest in it is not that of its "
			       "text",
			       k->path);
	}
	if (ok) {
		k->json = json_parse_quietly(text.data, NULL);
		verdict = text_member(k->json, "verdict");
		/* A certificate of no files says nothing of any. */
		ok = (verdict != NULL && verify_is_verdict(verdict) &&
		      cJSON_GetArraySize(
			      cJSON_GetObjectItemCaseSensitive(k->json,
							       "files")) > 0 &&
		      cJSON_IsArray(
			      cJSON_GetObjectItemCaseSensitive(k->json,
							       "model"))) ||
		     cli_error("%s: it is not a certificate", k->path);
	}
	strbuf_release(&text);
	return ok;
}

static void
report_changed(struct checking *k, const char *name, const char *how)
{
	k->changed++;
	say(stdout, "%s  %s\n", name, how);
}

/* Checks that the files of the model have the number, the names and the digests
 * that the certificate states. */
static bool
check_model(struct checking *k)
{
	const cJSON *rows = cJSON_GetObjectItemCaseSensitive(k->json, "model");
	const cJSON *row = rows->child;
	const struct tirc_read_file *read;
	struct tirc *t = cli_open(k->cli);
	int n = t != NULL ? tirc_read_files(t, &read) : -1;

	if (n != cJSON_GetArraySize(rows) && n >= 0) {
		report_changed(k, k->cli->model, "has other files of data");
	}
	for (int i = 0; i < n; i++) {
		if (row != NULL) {
			const char *sha256 = text_member(row, "sha256");

			if (sha256 == NULL ||
			    strcmp(sha256, read[i].sha256) != 0) {
				report_changed(k, read[i].name, "changed");
			}
			row = row->next;
		}
	}
	if (t != NULL) {
		k->model_bytes = tirc_read_bytes(t);
		cli_messages(t);
	}
	tirc_free(t);
	return n >= 0;
}

/* The number of bytes that the row of a file states, or -1. */
static int64_t
bytes_of(const cJSON *row)
{
	const cJSON *x = cJSON_GetObjectItemCaseSensitive(row, "bytes");
	bool ok = cJSON_IsNumber(x) && x->valuedouble >= 0 &&
		  x->valuedouble < (double)(INT64_MAX / 2);

	return ok ? (int64_t)x->valuedouble : -1;
}

/* Is the sum of the files' sizes, as the rows of the certificate state them,
 * within the limit of tirc's output for the model? A sparse file may have more
 * bytes than the disk holds for it. If not, prints an error message and returns
 * false. */
static bool
check_sizes(struct checking *k, const cJSON *files)
{
	struct harness h = { .cli = k->cli, .m = module_new() };
	int64_t bytes = 0;
	const cJSON *row;
	bool ok;

	h.m->quota.output_bytes = k->cli->tirc.max_output_bytes;
	quota_of_input(h.m, k->model_bytes);
	cJSON_ArrayForEach(row, files)
	{
		int64_t stated = bytes_of(row);

		bytes = quota_plus(bytes, stated < 0 ? 0 : stated);
	}
	ok = quota_check_output(h.m, (struct diag_place){ .file = k->path },
				"the files that the certificate lists", bytes);
	harness_close(&h);
	return ok;
}

/* The digest of an open file, or NULL if it does not have exactly these bytes. */
static const char *
digest_of_file(struct arena *a, int fd, int64_t bytes)
{
	struct sha256 s;
	char part[1 << 16];
	struct stat st;
	ssize_t n = 0;

	if (fstat(fd, &st) != 0 || st.st_size != bytes) {
		return NULL;
	}
	sha256_init(&s);
	while (bytes > 0 && (n = read(fd, part, sizeof part)) > 0) {
		sha256_update(&s, part, (size_t)n);
		bytes -= n;
	}
	return bytes == 0 ? sha256_whole(&s, a) : NULL;
}

static void
check_file(struct checking *k, const cJSON *row)
{
	const char *name = text_member(row, "file"), *why = "";
	const char *sha256 = text_member(row, "sha256"), *has;
	int fd;

	if (name == NULL || sha256 == NULL) {
		report_changed(k, "a file of the certificate", "has no name");
		return;
	}
	fd = beside_open(k->a, k->folder, k->folder, name, &why);
	if (fd < 0) {
		report_changed(k, name, why);
		return;
	}
	has = digest_of_file(k->a, fd, bytes_of(row));
	close(fd);
	if (has == NULL || strcmp(has, sha256) != 0) {
		report_changed(k, name, "changed");
	}
}

int
verify_check(struct cli *c, const char *certificate, const char *folder)
{
	struct checking k = {
		.cli = c, .a = &c->arena, .path = certificate, .folder = folder
	};
	const char *verdict;
	struct added_files added = { 0 };
	const cJSON *files, *row;
	VEC(const char *) written = { 0 };
	bool ok = read_certificate(&k) && check_model(&k);
	int status = CHECK_TROUBLE;

	files = cJSON_GetObjectItemCaseSensitive(k.json, "files");
	if (ok && check_sizes(&k, files)) {
		cJSON_ArrayForEach(row, files)
		{
			check_file(&k, row);
			if (text_member(row, "file") != NULL) {
				vec_push(k.a, &written,
					 text_member(row, "file"));
			}
		}
		verify_find_added(k.a, folder, written.data, written.n, &added);
		for (int i = 0; i < added.list.n; i++) {
			report_changed(&k, added.list.data[i], "added");
		}
		verdict = text_member(k.json, "verdict");
		status = k.changed > 0 || strcmp(verdict, "differs") == 0
				 ? CHECK_OTHER
				 : CHECK_SAME;
		if (!c->quiet || status != CHECK_SAME) {
			say(stdout, "%s: %s; %s\n", certificate, verdict,
			    k.changed > 0
				    ? "the model or the files changed since"
				    : "the model and the files are unchanged");
		}
	}
	cJSON_Delete(k.json);
	return status;
}
