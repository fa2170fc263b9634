/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4). */
#ifndef TIRC_SHA256_H
#define TIRC_SHA256_H

#include <stdint.h>

#include "arena.h"

struct sha256 {
	uint32_t state[8];
	uint64_t length;
	uint8_t block[64];
};

/* sha256_x86.c: adds blocks of 64 bytes to the state by the processor's SHA
 * instructions. On a processor without them, does nothing and returns false. */
bool sha256_fast(uint32_t state[8], const uint8_t *data, size_t blocks,
		 const uint32_t constants[64]);
void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *data, size_t length);
void sha256_final(struct sha256 *s, uint8_t digest[32]);
/* Each function ends the computation. The first returns the 64 hex digits of
 * the digest, the second the first 16 of them. */
const char *sha256_whole(struct sha256 *s, struct arena *a);
const char *sha256_text(struct sha256 *s, struct arena *a);

#endif
