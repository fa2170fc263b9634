/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a program whose data are much larger than what starts it: the values of
 * entries of its dynamic section that are no texts may lie in these data. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "program_file.h"

enum { DATA_BYTES = 1 << 20, TEXTS_AT = 4096, LIBRARY_AT = 1, INIT_AT = 64 };

struct image {
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[2];
	ElfW(Dyn) entries[4];
};

static void
fill_image(struct image *x)
{
	x->header.e_phoff = offsetof(struct image, segments);
	x->header.e_phentsize = sizeof *x->segments;
	x->header.e_phnum = 2;
	x->segments[0] = (ElfW(Phdr)){ .p_type = PT_LOAD,
				       .p_filesz = TEXTS_AT + DATA_BYTES };
	x->segments[1] = (ElfW(Phdr)){ .p_type = PT_DYNAMIC,
				       .p_offset = offsetof(struct image,
							    entries) };
	x->entries[0].d_tag = DT_STRTAB;
	x->entries[0].d_un.d_ptr = TEXTS_AT;
	x->entries[1].d_tag = DT_NEEDED;
	x->entries[1].d_un.d_val = LIBRARY_AT;
	x->entries[2].d_tag = DT_INIT;
	x->entries[2].d_un.d_val = INIT_AT;
	x->entries[3].d_tag = DT_NULL;
}

/* The header of this test's program, which is one of this processor's. */
static bool
read_own_header(ElfW(Ehdr) * out)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && read(fd, out, sizeof *out) == sizeof *out;

	close(fd);
	return ok;
}

static bool
write_program(const char *path)
{
	struct image x = { 0 };
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	char *data = malloc(DATA_BYTES);
	bool ok = fd >= 0 && data != NULL && read_own_header(&x.header);

	fill_image(&x);
	memset(data, 'A', DATA_BYTES);
	memcpy(data, "\0libx.so", sizeof "\0libx.so");
	data[DATA_BYTES - 1] = '\0';
	ok = ok && write(fd, &x, sizeof x) == sizeof x &&
	     pwrite(fd, data, DATA_BYTES, TEXTS_AT) == DATA_BYTES;
	free(data);
	close(fd);
	return ok;
}

int
main(void)
{
	char path[] = "/tmp/tirc-program-XXXXXX";
	int fd = mkstemp(path);
	struct program_file file;
	struct arena a;

	close(fd);
	arena_init(&a);
	if (CHECK(fd >= 0) && CHECK(write_program(path)) &&
	    CHECK(program_file_read(&a, path, &file)) &&
	    CHECK_EQ(file.libraries.n, 1)) {
		CHECK_STR_EQ(file.libraries.data[0], "libx.so");
		CHECK(a.used_bytes < DATA_BYTES / 16);
	}
	arena_release(&a);
	unlink(path);
	return check_done();
}
