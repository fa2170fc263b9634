/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash with one round for each word and three at the end (Aumasson and
 * Bernstein, "SipHash: a fast short-input PRF", 2012), under a key that differs
 * in each process. */
#include "secret_hash.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct sip {
	uint64_t v[4];
};

static uint64_t
rotated(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void
mix(struct sip *s)
{
	uint64_t *v = s->v;

	v[0] += v[1];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[0] = rotated(v[0], 32);
	v[2] += v[3];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[2] = rotated(v[2], 32);
}

static void
take_word(struct sip *s, uint64_t word)
{
	s->v[3] ^= word;
	mix(s);
	s->v[0] ^= word;
}

uint64_t
secret_key(int which)
{
	static _Atomic uint64_t halves[2];
	uint64_t none = 0;
	uint64_t key = atomic_load_explicit(&halves[which],
					    memory_order_relaxed);

	if (key != 0) {
		return key;
	}
	if (getrandom(&key, sizeof key, GRND_NONBLOCK) != sizeof key) {
		key = (uint64_t)time(NULL) ^ (uint64_t)(uintptr_t)&key << 16;
	}
	/* the key; 0: not chosen yet. The first thread that asks for the key
	 * chooses it. */
	key |= 1;
	return atomic_compare_exchange_strong(&halves[which], &none, key)
		       ? key
		       : none;
}

uint32_t
secret_hash(const void *data, size_t n)
{
	const unsigned char *bytes = data;
	const uint64_t k0 = secret_key(0), k1 = secret_key(1);
	struct sip s = { { k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
			   k0 ^ 0x6c7967656e657261u,
			   k1 ^ 0x7465646279746573u } };
	uint64_t last = (uint64_t)n << 56;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t word;

		memcpy(&word, bytes + i, sizeof word);
		take_word(&s, word);
	}
	for (size_t k = 0; i + k < n; k++) {
		last |= (uint64_t)bytes[i + k] << (8 * k);
	}
	take_word(&s, last);
	s.v[2] ^= 0xff;
	mix(&s);
	mix(&s);
	mix(&s);
	return (uint32_t)(s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3]);
}
