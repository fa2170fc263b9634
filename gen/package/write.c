/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files of a package into a folder: all under temporary names, which
 * are renamed when all files are complete. A file whose content does not change
 * keeps its modification time. */
#define _DEFAULT_SOURCE

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array_text.h"
#include "digest.h"
#include "kernel.h"
#include "output_file.h"
#include "package.h"
#include "packer.h"
#include "plan.h"
#include "sha256.h"

struct writer {
	struct program *p;
	const struct package *pkg;
	struct module *m;
	struct arena *a;
	const char *dir;
	const char **temporary; /* for each file: its temporary name, or NULL */
	/* the bytes of all files, without array elements in text form, the
	 * number of whose bytes is not known yet */
	int64_t known_bytes;
	uint64_t digest;
	uint64_t *digests; /* digests[i]: digest of the values of weight i */
};

static bool
cannot(struct writer *w, const char *path, const char *what)
{
	struct diag_place place = { .file = path };

	return diag_error(&w->m->diags, DIAG_FILE_UNWRITABLE, place,
			  "cannot %s: %s", what, strerror(errno));
}

static const char *
path_of(struct writer *w, const char *name)
{
	return arena_printf(w->a, "%s/%s", w->dir, name);
}

/* Makes the temporary file in the output folder, even for a file in a
 * subfolder, because the command line looks for files there that were not
 * written completely. */
static FILE *
make_temporary(struct writer *w, const char *name, const char **temporary)
{
	char *flat = arena_strdup(w->a, name);

	for (char *at = flat; *at != '\0'; at++) {
		*at = *at == '/' ? '_' : *at;
	}
	return output_temporary(w->a, path_of(w, flat), temporary);
}

/* -- the blob -- */

struct blob {
	FILE *file;
	/* the digest of the values of all arrays, and that of the present
	 * array */
	struct digest whole, one;
	uint64_t written;
	bool failed;
};

static bool
blob_put(void *ctx, const void *bytes, size_t n)
{
	struct blob *b = ctx;

	digest_add(&b->whole, bytes, n);
	digest_add(&b->one, bytes, n);
	b->failed |= fwrite(bytes, 1, n, b->file) != n;
	b->written += n;
	return !b->failed;
}

static void
put_little_endian(unsigned char *to, uint64_t v, int n)
{
	for (int i = 0; i < n; i++) {
		to[i] = (unsigned char)(v >> (8 * i));
	}
}

static void
blob_header(const struct blob *b, uint64_t digest, unsigned char *header)
{
	static const char magic[] = "tirc weights 1";

	memset(header, 0, BLOB_HEADER_BYTES);
	memcpy(header, magic, sizeof magic);
	put_little_endian(header + BLOB_ORDER_OFFSET, 0x01020304u, 4);
	put_little_endian(header + BLOB_LENGTH_OFFSET, b->written, 8);
	put_little_endian(header + BLOB_DIGEST_OFFSET, digest, 8);
}

static bool
write_blob(struct writer *w, FILE *file, bool *failed)
{
	static const unsigned char zeros[4096];
	struct blob b = { .file = file };
	unsigned char header[BLOB_HEADER_BYTES] = { 0 };

	digest_start(&b.whole);
	b.failed = fwrite(header, 1, sizeof header, file) != sizeof header;
	b.written = sizeof header;
	for (int i = 0; i < w->p->weights.n; i++) {
		const struct weight *weight = w->p->weights.data[i];
		uint64_t offset = (uint64_t)weight->offset_bytes;

		while (b.written < offset) {
			uint64_t gap = offset - b.written;

			blob_put(&b, zeros,
				 gap < sizeof zeros ? (size_t)gap
						    : sizeof zeros);
		}
		digest_start(&b.one);
		if (!weight_stream(w->p->graph, weight, blob_put, &b)) {
			*failed = b.failed;
			return false;
		}
		w->digests[i] = digest_end(&b.one);
	}
	w->digest = digest_end(&b.whole);
	blob_header(&b, w->digest, header);
	*failed = b.failed || fseek(file, 0, SEEK_SET) != 0 ||
		  fwrite(header, 1, sizeof header, file) != sizeof header;
	return !*failed;
}

/* -- files -- */

static void
put_digest(char *at, uint64_t digest)
{
	char text[17];

	assert(strncmp(at, DIGEST_UNKNOWN, strlen(DIGEST_UNKNOWN)) == 0);
	snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
	memcpy(at, text, strlen(DIGEST_UNKNOWN));
}
_Static_assert(sizeof DIGEST_UNKNOWN == 17, "as long as a digest");

/* The text of f with the digests filled in at their anchors. */
static const char *
final_text(struct writer *w, const struct out_file *f)
{
	char *text = NULL;

	for (int i = 0; i < f->anchors.list.n; i++) {
		const struct anchor *x = &f->anchors.list.data[i];

		if (x->kind != ANCHOR_WEIGHTS_DIGEST &&
		    x->kind != ANCHOR_WEIGHT_DIGEST) {
			continue;
		}
		if (text == NULL) {
			text = arena_strdup(w->a, f->text);
		}
		put_digest(text + x->at, x->kind == ANCHOR_WEIGHTS_DIGEST
						 ? w->digest
						 : w->digests[x->index]);
	}
	return text != NULL ? text : f->text;
}

static bool
same_file(const char *a, const char *b)
{
	FILE *x = output_earlier(a), *y = output_earlier(b);
	bool same = x != NULL && y != NULL;
	char p[16384], q[16384];
	size_t n = 1;

	while (same && n > 0) {
		n = fread(p, 1, sizeof p, x);
		same = fread(q, 1, sizeof q, y) == n && memcmp(p, q, n) == 0;
	}
	same = same && !ferror(x) && !ferror(y);
	if (x != NULL) {
		fclose(x);
	}
	if (y != NULL) {
		fclose(y);
	}
	return same;
}

/* Writes the content of a file. For a file of weights, also sets the digests.
 * Returns false after a diagnostic, or, if *failed is set, with an error in
 * errno. */
static bool
write_content(struct writer *w, const struct out_file *f, FILE *file,
	      bool *failed)
{
	if (f->kind == OUT_WEIGHTS_BLOB) {
		return write_blob(w, file, failed);
	}
	*failed = fputs(final_text(w, f), file) < 0;
	return *failed || f->kind != OUT_WEIGHTS_TEXT ||
	       arrays_write(w->p, w->pkg, file,
			    quota_output(w->m) - w->known_bytes, w->digests,
			    failed);
}

static bool
write_file(struct writer *w, int i)
{
	const struct out_file *f = &w->pkg->files.data[i];
	const char *path = path_of(w, f->name);
	FILE *file = make_temporary(w, f->name, &w->temporary[i]);
	bool ok, failed = false;

	if (file == NULL) {
		w->temporary[i] = NULL;
		return cannot(w, path, "make this file");
	}
	ok = write_content(w, f, file, &failed);
	failed |= fclose(file) != 0;
	return failed ? cannot(w, path, "write this file") : ok;
}

/* Makes the subfolders of the output folder on the path `name`. They must not
 * be links, which could lead elsewhere. Returns false after a diagnostic. */
static bool
make_folder(struct writer *w, const char *name)
{
	for (const char *slash = strchr(name, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		const char *path = path_of(w, arena_strndup(w->a, name,
							    (size_t)(slash -
								     name)));
		struct stat st;

		if (!folder_make(w->m, path)) {
			return false;
		}
		if (lstat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
			errno = ELOOP;
			return cannot(w, path, "write into this folder");
		}
	}
	return true;
}

static bool
put_in_place(struct writer *w)
{
	for (int i = 0; i < w->pkg->files.n; i++) {
		if (!make_folder(w, w->pkg->files.data[i].name)) {
			return false;
		}
	}
	for (int i = 0; i < w->pkg->files.n; i++) {
		const char *path = path_of(w, w->pkg->files.data[i].name);

		if (same_file(path, w->temporary[i])) {
			/* the old file is equal and stays; the temporary file
			 * is removed later */
			continue;
		}
		if (rename(w->temporary[i], path) != 0) {
			return cannot(w, path, "write this file");
		}
		w->temporary[i] = NULL;
	}
	return true;
}

/* Has the existing file at `path` the content `text`? Then the file may be
 * replaced although it does not name tirc, for example a file of a backend that
 * an earlier run has written. */
static bool
says_the_same(const char *path, const char *text)
{
	FILE *f = output_earlier(path);
	char part[4096];
	size_t n = 0;
	bool same = f != NULL;

	while (same && (n = fread(part, 1, sizeof part, f)) > 0) {
		same = strncmp(text, part, n) == 0;
		text += same ? n : 0;
	}
	same = same && !ferror(f) && *text == '\0';
	if (f != NULL) {
		fclose(f);
	}
	return same;
}

/* May all existing files with the names of new files be replaced? Returns false
 * after a diagnostic about each file that tirc did not write. */
static bool
may_write(struct writer *w)
{
	bool ok = true;

	for (int i = 0; i < w->pkg->files.n; i++) {
		const struct out_file *f = &w->pkg->files.data[i];
		const char *path = path_of(w, f->name);

		if (!output_may_replace(path) &&
		    (f->text == NULL || !says_the_same(path, f->text))) {
			ok = output_refuse(w->m, path);
		}
	}
	return ok;
}

static void
start(struct writer *w, struct program *p, const struct package *pkg)
{
	*w = (struct writer){ .p = p, .pkg = pkg, .m = p->graph->module };
	w->a = &w->m->arena;
	w->digests = arena_array(w->a, uint64_t, p->weights.n + 1);
	w->temporary = arena_array(w->a, const char *, pkg->files.n + 1);
	for (int i = 0; i < pkg->files.n; i++) {
		w->known_bytes += (int64_t)pkg->files.data[i].length;
	}
}

/* Sets *out to the size and the SHA-256 of the file's content. Returns false if
 * reading fails, with the error in errno. */
static bool
measure(struct writer *w, FILE *file, struct finished_file *out)
{
	unsigned char part[16384];
	struct sha256 s;
	size_t n;

	if (fseek(file, 0, SEEK_SET) != 0) {
		return false;
	}
	sha256_init(&s);
	while ((n = fread(part, 1, sizeof part, file)) > 0) {
		sha256_update(&s, part, n);
		out->bytes += (int64_t)n;
	}
	out->sha256 = sha256_whole(&s, w->a);
	return ferror(file) == 0;
}

/* Measures the content of a file of weights. The content is computed into a
 * temporary file, because it may be larger than the memory. */
static bool
finish_weights(struct writer *w, const struct out_file *f,
	       struct finished_file *out)
{
	FILE *file = tmpfile();
	bool ok, failed = false;

	if (file == NULL) {
		return cannot(w, f->name, "make a temporary file for this one");
	}
	ok = write_content(w, f, file, &failed);
	failed |= ok && !measure(w, file, out);
	fclose(file);
	return failed ? cannot(w, f->name, "compute this file") : ok;
}

static void
finish_text(struct writer *w, const struct out_file *f,
	    struct finished_file *out)
{
	struct sha256 s;

	out->text = final_text(w, f);
	out->bytes = (int64_t)strlen(out->text);
	sha256_init(&s);
	sha256_update(&s, out->text, (size_t)out->bytes);
	out->sha256 = sha256_whole(&s, w->a);
}

bool
package_finish(struct program *p, const struct package *pkg,
	       struct finished *out)
{
	struct writer w;

	start(&w, p, pkg);
	out->files = arena_array(w.a, struct finished_file, pkg->files.n + 1);
	out->weight_digests = w.digests;
	for (int i = 0; i < pkg->files.n; i++) {
		const struct out_file *f = &pkg->files.data[i];

		if (f->kind != OUT_TEXT &&
		    !finish_weights(&w, f, &out->files[i])) {
			return false;
		}
	}
	for (int i = 0; i < pkg->files.n; i++) {
		if (pkg->files.data[i].kind == OUT_TEXT) {
			finish_text(&w, &pkg->files.data[i], &out->files[i]);
		}
	}
	return true;
}

bool
package_write(struct program *p, const struct package *pkg, const char *dir,
	      bool force)
{
	struct writer w;
	const struct diag_place place = { .file = p->graph->file };
	bool ok;

	start(&w, p, pkg);
	w.dir = dir;
	ok = quota_check_output(w.m, place, "the files", w.known_bytes) &&
	     folder_make(w.m, dir) && (force || may_write(&w));
	/* Weights are written first, because other files contain their
	 * digests. */
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; ok && i < pkg->files.n; i++) {
			bool weights = pkg->files.data[i].kind != OUT_TEXT;

			if (weights == (pass == 0)) {
				ok = write_file(&w, i);
			}
		}
	}
	ok = ok && put_in_place(&w);
	for (int i = 0; i < pkg->files.n; i++) {
		if (w.temporary[i] != NULL) {
			unlink(w.temporary[i]);
		}
	}
	return ok;
}
