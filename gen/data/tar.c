/* SPDX-License-Identifier: Apache-2.0 */
/* Archives in POSIX's ustar format (IEEE Std 1003.1, pax, "ustar Interchange
 * Format"). */
#include "tar.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };

/* The fields of a header that are used here: offset and bytes. */
enum {
	NAME_AT = 0,
	MODE_AT = 100,
	UID_AT = 108,
	GID_AT = 116,
	SIZE_AT = 124,
	TIME_AT = 136,
	SUM_AT = 148,
	TYPE_AT = 156,
	MAGIC_AT = 257,
	PREFIX_AT = 345
};

/* -- writing -- */

/* The sum of a header's bytes, in which blanks stand in place of the field for
 * the sum. */
static unsigned
sum_of(const unsigned char *header)
{
	unsigned sum = 0;

	for (int i = 0; i < BLOCK; i++) {
		sum += i >= SUM_AT && i < SUM_AT + 8 ? ' ' : header[i];
	}
	return sum;
}

/* Writes v as octal digits to a field, with a zero byte behind them. */
static void
put_octal(char *field, int digits, uint64_t v)
{
	field[digits] = '\0';
	for (int i = digits - 1; i >= 0; i--) {
		field[i] = (char)('0' + (v & 7));
		v >>= 3;
	}
}

static bool
put_header(FILE *to, const char *name, uint64_t bytes)
{
	char header[BLOCK] = { 0 };

	/* 11 octal digits */
	if (strlen(name) > TAR_NAME_BYTES || bytes >= UINT64_C(1) << 33) {
		return false;
	}
	memcpy(header + NAME_AT, name, strlen(name));
	put_octal(header + MODE_AT, 7, 0644);
	put_octal(header + UID_AT, 7, 0);
	put_octal(header + GID_AT, 7, 0);
	put_octal(header + SIZE_AT, 11, bytes);
	put_octal(header + TIME_AT, 11, 0);
	header[TYPE_AT] = '0';
	memcpy(header + MAGIC_AT, "ustar\00000", 8);
	put_octal(header + SUM_AT, 6, sum_of((unsigned char *)header));
	header[SUM_AT + 7] = ' ';
	return fwrite(header, 1, BLOCK, to) == BLOCK;
}

/* Fills the last block of a member. */
static bool
put_padding(FILE *to, uint64_t bytes)
{
	static const char zeros[BLOCK];
	size_t n = (BLOCK - bytes % BLOCK) % BLOCK;

	return fwrite(zeros, 1, n, to) == n;
}

bool
tar_add(FILE *to, const char *name, const void *data, size_t bytes)
{
	return put_header(to, name, bytes) &&
	       fwrite(data, 1, bytes, to) == bytes && put_padding(to, bytes);
}

bool
tar_add_file(FILE *to, const char *name, FILE *from)
{
	char buffer[1 << 14];
	long end;
	size_t n;

	if (fseek(from, 0, SEEK_END) != 0 || (end = ftell(from)) < 0 ||
	    fseek(from, 0, SEEK_SET) != 0 ||
	    !put_header(to, name, (uint64_t)end)) {
		return false;
	}
	while ((n = fread(buffer, 1, sizeof buffer, from)) > 0) {
		if (fwrite(buffer, 1, n, to) != n) {
			return false;
		}
	}
	return ferror(from) == 0 && put_padding(to, (uint64_t)end);
}

bool
tar_end(FILE *to)
{
	static const char zeros[2 * BLOCK];

	return fwrite(zeros, 1, sizeof zeros, to) == sizeof zeros;
}

/* -- reading -- */

/* Reads the octal number in a field; false if the field is not an octal
 * number. */
static bool
read_octal(const char *field, int length, int64_t *out)
{
	int i = 0;

	*out = 0;
	while (i < length && field[i] == ' ') {
		i++;
	}
	for (; i < length && field[i] >= '0' && field[i] <= '7'; i++) {
		*out = *out * 8 + (field[i] - '0');
	}
	return i > 0 && (i == length || field[i] == '\0' || field[i] == ' ');
}

static bool
is_header(const char *header)
{
	int64_t sum;

	return memcmp(header + MAGIC_AT, "ustar", 5) == 0 &&
	       read_octal(header + SUM_AT, 8, &sum) &&
	       sum == (int64_t)sum_of((const unsigned char *)header);
}

enum tar_found
tar_next(FILE *from, struct tar_member *m)
{
	char header[BLOCK];

	for (;;) {
		if (fread(header, 1, BLOCK, from) != BLOCK) {
			return TAR_BROKEN;
		}
		if (header[0] == '\0') {
			return TAR_END;
		}
		if (!is_header(header) ||
		    !read_octal(header + SIZE_AT, 12, &m->bytes)) {
			return TAR_BROKEN;
		}
		memcpy(m->name, header + NAME_AT, TAR_NAME_BYTES);
		m->name[TAR_NAME_BYTES] = '\0';
		if ((header[TYPE_AT] == '0' || header[TYPE_AT] == '\0') &&
		    header[PREFIX_AT] == '\0') {
			return TAR_MEMBER;
		}
		if (!tar_copy(from, m, NULL)) {
			return TAR_BROKEN;
		}
	}
}

bool
tar_copy(FILE *from, const struct tar_member *m, FILE *to)
{
	char buffer[BLOCK];

	for (int64_t left = m->bytes; left > 0; left -= BLOCK) {
		size_t n = left < BLOCK ? (size_t)left : BLOCK;

		if (fread(buffer, 1, BLOCK, from) != BLOCK ||
		    (to != NULL && fwrite(buffer, 1, n, to) != n)) {
			return false;
		}
	}
	return true;
}
