/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the headers and the dynamic section of an ELF file. All offsets are
 * checked, as for any file. */
#define _GNU_SOURCE
#include "program_file.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const unsigned char *bytes;
	size_t n;
};

static bool
map(const char *path, struct image *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0) {
		out->n = (size_t)st.st_size;
		bytes = mmap(NULL, out->n, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (fd >= 0) {
		close(fd);
	}
	out->bytes = bytes;
	return bytes != MAP_FAILED;
}

static void
unmap(const struct image *m)
{
	munmap((void *)(uintptr_t)m->bytes, m->n);
}

/* Copies `bytes` bytes at `offset` of the file to `to`; false if the file ends
 * before. */
static bool
take(const struct image *m, uint64_t offset, void *to, size_t bytes)
{
	if (offset > m->n || m->n - offset < bytes) {
		return false;
	}
	memcpy(to, m->bytes + offset, bytes);
	return true;
}

/* The text at the offset, or NULL. */
static const char *
take_text(struct arena *a, const struct image *m, uint64_t offset)
{
	if (offset >= m->n ||
	    memchr(m->bytes + offset, '\0', m->n - offset) == NULL) {
		return NULL;
	}
	return arena_strdup(a, (const char *)m->bytes + offset);
}

static bool
take_header(const struct image *m, ElfW(Ehdr) * header)
{
	return take(m, 0, header, sizeof *header) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

/* Is the file a program for the processor and the word size of tirc itself? */
static bool
is_native(const ElfW(Ehdr) * header)
{
	struct image own;
	ElfW(Ehdr) o;
	bool native;

	if (!map("/proc/self/exe", &own)) {
		return false;
	}
	native = take_header(&own, &o) && o.e_machine == header->e_machine &&
		 o.e_ident[EI_CLASS] == header->e_ident[EI_CLASS] &&
		 o.e_ident[EI_DATA] == header->e_ident[EI_DATA];
	unmap(&own);
	return native;
}

static bool
take_segment(const struct image *m, const ElfW(Ehdr) * header, int i,
	     ElfW(Phdr) * out)
{
	return take(m, header->e_phoff + (uint64_t)i * header->e_phentsize, out,
		    sizeof *out);
}

/* The offset in the file of an address in memory. */
static uint64_t
offset_of(const struct image *m, const ElfW(Ehdr) * header, uint64_t address)
{
	ElfW(Phdr) s;

	for (int i = 0; i < header->e_phnum; i++) {
		if (take_segment(m, header, i, &s) && s.p_type == PT_LOAD &&
		    address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz) {
			return address - s.p_vaddr + s.p_offset;
		}
	}
	return UINT64_MAX;
}

/* Adds the absolute folders of a list "A:B". */
static void
add_folders(struct arena *a, const char *list, struct program_file *out)
{
	while (list != NULL && *list != '\0') {
		size_t length = strcspn(list, ":");

		if (*list == '/') {
			vec_push(a, &out->folders,
				 arena_strndup(a, list, length));
		}
		list += length + (list[length] == ':');
	}
}

/* Adds an entry of the dynamic section that names folders or a library. texts: the
 * offset of the texts. The values of other entries are no offsets of texts: there may
 * be the data of a whole model. */
static void
add_entry(struct arena *a, const struct image *m, const ElfW(Dyn) * entry,
	  uint64_t texts, struct program_file *out)
{
	const char *text;

	if (entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH) {
		add_folders(a, take_text(a, m, texts + entry->d_un.d_val), out);
	} else if (entry->d_tag == DT_NEEDED) {
		text = take_text(a, m, texts + entry->d_un.d_val);
		if (text != NULL) {
			vec_push(a, &out->libraries, text);
		}
	}
}

/* Reads the dynamic section: entries (tag, value) up to one with the tag
 * DT_NULL. */
static void
read_dynamic(struct arena *a, const struct image *m, const ElfW(Ehdr) * header,
	     const ElfW(Phdr) * section, struct program_file *out)
{
	uint64_t texts = UINT64_MAX;
	ElfW(Dyn) d;

	/* two passes, because the address of the texts may come after the
	 * entries that use it */
	for (int pass = 0; pass < 2; pass++) {
		for (uint64_t i = 0;
		     take(m, section->p_offset + i * sizeof d, &d, sizeof d) &&
		     d.d_tag != DT_NULL;
		     i++) {
			if (pass == 0 && d.d_tag == DT_STRTAB) {
				texts = offset_of(m, header, d.d_un.d_ptr);
			}
			if (pass == 1 && texts < m->n) {
				add_entry(a, m, &d, texts, out);
			}
		}
	}
}

bool
program_file_read(struct arena *a, const char *path, struct program_file *out)
{
	struct image m;
	ElfW(Ehdr) header;
	ElfW(Phdr) s;
	bool ok;

	*out = (struct program_file){ 0 };
	add_folders(a, getenv("LD_LIBRARY_PATH"), out);
	if (!map(path, &m)) {
		return false;
	}
	ok = take_header(&m, &header) && is_native(&header);
	for (int i = 0; ok && i < header.e_phnum; i++) {
		if (!take_segment(&m, &header, i, &s)) {
			continue;
		}
		if (s.p_type == PT_INTERP) {
			out->loader = take_text(a, &m, s.p_offset);
		} else if (s.p_type == PT_DYNAMIC) {
			read_dynamic(a, &m, &header, &s, out);
		}
	}
	unmap(&m);
	return ok;
}
