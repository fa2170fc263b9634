/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a model. They stay mapped as long as the graph that was made
 * from them exists. */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "importer.h"
#include "sha256.h"

struct onnx_file *
onnx_file_new(void)
{
	return calloc(1, sizeof(struct onnx_file));
}

void
onnx_file_close(struct onnx_file *file)
{
	for (int i = 0; file && i < file->n; i++) {
		struct onnx_map *map = &file->maps[i];

		if (map->kind == BYTES_MAPPED) {
			munmap((void *)(uintptr_t)map->base, map->length);
		} else if (map->kind == BYTES_OWNED) {
			free((void *)(uintptr_t)map->base);
		}
		free(map->path);
	}
	if (file) {
		free(file->maps);
	}
	for (int i = 0; file && i < file->n_kept; i++) {
		free(file->kept[i]);
	}
	if (file) {
		free(file->kept);
	}
	free(file);
}

bool
onnx_file_keep(struct onnx_file *file, struct strbuf *bytes)
{
	char **kept = realloc(file->kept,
			      sizeof *kept * ((size_t)file->n_kept + 1));

	if (!kept) {
		return false;
	}
	file->kept = kept;
	kept[file->n_kept++] = bytes->data;
	strbuf_init(bytes);
	return true;
}

static const struct onnx_map *
add_map(struct onnx_file *file, struct onnx_map map)
{
	if (file->n == file->cap) {
		int cap = file->cap ? file->cap * 2 : 4;
		struct onnx_map *maps = realloc(file->maps,
						sizeof *maps * (size_t)cap);
		if (!maps) {
			return NULL;
		}
		file->maps = maps;
		file->cap = cap;
	}
	file->maps[file->n] = map;
	return &file->maps[file->n++];
}

/* Reads a file that cannot be mapped, such as a pipe, into allocated memory;
 * *length: its number of bytes. */
static uint8_t *
read_all(int fd, size_t *length)
{
	uint8_t *data = NULL;
	size_t n = 0, cap = 0;

	for (;;) {
		if (n == cap) {
			cap = cap ? cap * 2 : 65536;
			uint8_t *more = realloc(data, cap);
			if (!more) {
				free(data);
				errno = ENOMEM;
				return NULL;
			}
			data = more;
		}
		ssize_t got = read(fd, data + n, cap - n);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			int error = errno;

			free(data);
			errno = error;
			return NULL;
		}
		if (got == 0) {
			*length = n;
			return data;
		}
		n += (size_t)got;
	}
}

/* Sets *map to the bytes of an open file, mapped or read; false, with the
 * reason in errno. */
static bool
map_open(int fd, struct onnx_map *map)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		return false;
	}
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (!S_ISREG(st.st_mode) || st.st_size == 0) {
		map->kind = BYTES_OWNED;
		map->base = read_all(fd, &map->length);
		return map->base != NULL;
	}
	void *base = mmap(NULL, (size_t)st.st_size, PROT_READ,
			  MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (base == MAP_FAILED) {
		return false;
	}
	map->kind = BYTES_MAPPED;
	map->base = base;
	map->length = (size_t)st.st_size;
	return true;
}

static const struct onnx_map *
find_map(const struct onnx_file *file, const char *path)
{
	for (int i = 0; i < file->n; i++) {
		if (file->maps[i].path &&
		    strcmp(file->maps[i].path, path) == 0) {
			return &file->maps[i];
		}
	}
	return NULL;
}

/* Maps an open file, adds it to `file` and closes fd. NULL, with the reason in
 * errno. */
static const struct onnx_map *
map_and_close(struct onnx_file *file, const char *path, int fd)
{
	struct onnx_map map = { 0 };
	bool ok = map_open(fd, &map);
	int error = errno;

	close(fd);
	if (!ok) {
		errno = error;
		return NULL;
	}
	map.path = strdup(path);
	return add_map(file, map);
}

const struct onnx_map *
onnx_file_map(struct onnx_file *file, const char *path, struct arena *a,
	      const char **why)
{
	const struct onnx_map *map = find_map(file, path);
	int fd;

	if (map) {
		return map;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	map = fd >= 0 ? map_and_close(file, path, fd) : NULL;
	if (!map) {
		*why = arena_strdup(a, strerror(errno));
	}
	return map;
}

const struct onnx_map *
onnx_file_map_beside(struct onnx_file *file, const char *owner,
		     const char *folder, const char *name, struct arena *a,
		     const char **why)
{
	const char *path = arena_printf(a, "%s/%s", folder, name);
	const struct onnx_map *map = find_map(file, path);
	int fd;

	if (map) {
		return map;
	}
	fd = beside_open(a, owner, folder, name, why);
	map = fd >= 0 ? map_and_close(file, path, fd) : NULL;
	if (fd >= 0 && !map) {
		*why = arena_printf(a, "cannot be read: %s", strerror(errno));
	}
	return map;
}

const struct onnx_map *
onnx_file_share(struct onnx_file *file, const struct onnx_file *from,
		const char *path)
{
	const struct onnx_map *found = from ? find_map(from, path) : NULL;
	struct onnx_map map;

	if (!found) {
		return NULL;
	}
	map = *found;
	map.kind = BYTES_SHARED;
	map.path = strdup(path);
	return add_map(file, map);
}

bool
onnx_file_has(const struct onnx_file *file, const char *path)
{
	return file && find_map(file, path) != NULL;
}

int64_t
onnx_file_bytes(const struct onnx_file *file)
{
	int64_t bytes = 0;

	for (int i = 0; i < file->n; i++) {
		bytes += (int64_t)file->maps[i].length;
	}
	return bytes;
}

int
onnx_file_count(const struct onnx_file *file)
{
	return file->n;
}

const char *
onnx_file_path(const struct onnx_file *file, int i)
{
	return file->maps[i].path;
}

void
onnx_file_forget(const void *at, size_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)at + page - 1) / page * page;
	uintptr_t last = ((uintptr_t)at + length) / page * page;

	if (first < last) {
		madvise((void *)first, last - first, MADV_DONTNEED);
	}
}

static void
add_bytes(struct sha256 *s, const uint8_t *data, size_t length, bool mapped)
{
	const size_t chunk = (size_t)4 << 20;

	for (size_t at = 0; at < length; at += chunk) {
		size_t n = length - at < chunk ? length - at : chunk;

		sha256_update(s, data + at, n);
		if (mapped) {
			onnx_file_forget(data + at, n);
		}
	}
}

const char *
sha256_text_of(struct arena *a, const uint8_t *data, size_t length, bool mapped)
{
	struct sha256 s;

	sha256_init(&s);
	add_bytes(&s, data, length, mapped);
	return sha256_text(&s, a);
}

const char *
sha256_whole_of(struct arena *a, const uint8_t *data, size_t length,
		bool mapped)
{
	struct sha256 s;

	sha256_init(&s);
	add_bytes(&s, data, length, mapped);
	return sha256_whole(&s, a);
}

const char *
onnx_file_sha256(const struct onnx_file *file, int i, struct arena *a)
{
	const struct onnx_map *map = &file->maps[i];

	return sha256_whole_of(a, map->base, map->length,
			       map->kind == BYTES_MAPPED);
}
