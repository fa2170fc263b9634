/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes that differ from process to process, for tables in memory: the author
 * of a hostile input cannot choose texts or numbers that all collide. No result
 * may depend on these hashes, so the tables are never iterated. */
#ifndef TIRC_SECRET_HASH_H
#define TIRC_SECRET_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Half number `which` (0 or 1) of this process's key. */
uint64_t secret_key(int which);

/* Adds the number v to hashed data: takes the hash h of the data so far, and
 * returns the hash of the data and v. */
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
