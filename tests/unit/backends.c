/* SPDX-License-Identifier: Apache-2.0 */
/* Shared objects of backends are let go of: with the backend, and where the
 * partition that names it is refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend_load.h"
#include "check.h"
#include "partition.h"

static char *object; /* the path of empty_pass.so */

static bool
is_loaded(void)
{
	void *handle = dlopen(object, RTLD_NOW | RTLD_NOLOAD);

	if (handle != NULL) {
		dlclose(handle);
	}
	return handle != NULL;
}

static void
write_backend(const char *folder)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof path, "%s/empty", folder);
	CHECK_EQ(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/empty/backend.json", folder);
	f = fopen(path, "w");
	if (CHECK(f != NULL)) {
		fprintf(f,
			"{\"description\": \"d\", \"patterns\": "
			"[{\"name\": \"p\", \"nodes\": [{\"id\": \"a\", "
			"\"op\": \"Relu\"}]}], \"passes\": [{\"name\": \"n\", "
			"\"after\": \"merged\", \"object\": \"%s\"}]}\n",
			object);
		fclose(f);
	}
}

static void
remove_backend(const char *folder)
{
	char path[300];

	snprintf(path, sizeof path, "%s/empty/backend.json", folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/empty", folder);
	rmdir(path);
	rmdir(folder);
}

static struct graph *
read_partition(struct module *m, const struct backend *b, const char *backends,
	       const char *regions, struct onnx_file **file)
{
	static const char type[] = "{\"type\": \"float32\", \"shape\": [4]}";
	struct partition_facts facts = { .backends = &b, .n_backends = 1 };

	return partition_read_text(
		m, "p.json", NULL,
		arena_printf(&m->arena,
			     "{\"tirc_partition\": 1, "
			     "\"name\": \"x\", \"inputs\": [\"x\"], "
			     "\"outputs\": [\"y\"], "
			     "\"tensors\": {\"x\": %s, \"y\": %s}, "
			     "\"nodes\": [{\"op\": \"Relu\", "
			     "\"inputs\": [\"x\"], \"outputs\": [\"y\"]}], "
			     "\"backends\": [%s], \"regions\": [%s]}",
			     type, type, backends, regions),
		&facts, file);
}

/* Whether its partition is good or not, a backend that the caller loaded is the
 * caller's to close. */
static void
test_partition(const char *folder, bool good, const char *backends,
	       const char *regions)
{
	struct module *m = module_new();
	const struct backend *b = backend_load(m, "empty", folder, NULL);
	struct onnx_file *file;
	struct graph *g;

	if (CHECK(b != NULL)) {
		g = read_partition(m, b, backends, regions, &file);
		CHECK(is_loaded());
		if (CHECK((g != NULL) == good) && good) {
			CHECK_EQ(g->n_backends, 1);
			CHECK(g->backends[0] == b);
			onnx_file_close(file);
		}
		CHECK((m->diags.n_errors == 0) == good);
		backend_close(b);
	}
	CHECK(!is_loaded());
	module_free(m);
}

/* What cannot be loaded whole is not kept. */
static void
test_refused(const char *folder, const char *named)
{
	struct module *m = module_new();

	CHECK(backend_load(m, named, folder, NULL) == NULL);
	CHECK(m->diags.n_errors > 0);
	CHECK(!is_loaded());
	module_free(m);
}

int
main(int argc, char **argv)
{
	char folder[] = "/tmp/tirc-backends-XXXXXX";

	object = argc > 1 ? realpath(argv[1], NULL) : NULL;
	if (object == NULL || mkdtemp(folder) == NULL) {
		fputs("wanted: the path of empty_pass.so\n", stderr);
		return 1;
	}
	write_backend(folder);
	test_partition(folder, true, "{\"name\": \"empty\"}",
		       "{\"name\": \"r\", \"backend\": \"empty\", "
		       "\"matches\": [{\"pattern\": \"p\", \"nodes\": "
		       "{\"a\": \"y\"}}]}");
	test_partition(folder, false, "{\"name\": \"empty\"}",
		       "{\"name\": \"r\", \"backend\": \"other\"}");
	test_partition(folder, false,
		       "{\"name\": \"empty\"}, {\"name\": \"nobody\"}", "");
	test_partition(folder, false,
		       "{\"name\": \"empty\"}, {\"name\": \"empty\"}", "");
	test_partition(folder, false, "{\"name\": \"empty\", \"options\": 1}",
		       "");
	test_refused(folder, "empty:none=1");
	test_refused(folder, "nobody");
	remove_backend(folder);
	free(object);
	return check_done();
}
