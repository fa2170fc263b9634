/* SPDX-License-Identifier: Apache-2.0 */
/* The digest of weights, defined in packer.h (BLOB_DIGEST_START). */
#ifndef TIRC_DIGEST_H
#define TIRC_DIGEST_H

#include <stddef.h>
#include <stdint.h>

struct digest {
	uint64_t value;
	unsigned char rest[8]; /* the last bytes added, fewer than a word */
	size_t n_rest;
};

void digest_start(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t n);
/* The digest of all bytes that were added. */
uint64_t digest_end(struct digest *d);

#endif
