/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes that are others in each process, for tables in memory: a stranger who
 * chooses texts and numbers cannot choose them so that they all collide. No
 * result may depend on such a hash, so that tables are not iterated. */
#ifndef TIRC_SECRET_HASH_H
#define TIRC_SECRET_HASH_H

#include <stddef.h>
#include <stdint.h>

/* One of the two halves of this process's key: which is 0 or 1. */
uint64_t secret_key(int which);

/* The hash of what h is the hash of, and of v. */
static inline uint64_t
secret_mix(uint64_t h, uint64_t v)
{
	__extension__ typedef unsigned __int128 wide;
	const wide product = (wide)(h ^ secret_key(0)) * (v ^ secret_key(1));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The hash of n bytes. */
uint32_t secret_hash(const void *data, size_t n);

#endif
