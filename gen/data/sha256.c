/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4). */
#include "sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t
rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static inline uint32_t
load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static void
compress(uint32_t state[8], const uint8_t *data, size_t blocks)
{
	uint32_t w[64];

	/* fast code only if there are many blocks: for a few, asking for the
	 * processor's features takes longer than it saves */
	if (blocks >= 8 && sha256_fast(state, data, blocks, constants)) {
		return;
	}
	for (; blocks > 0; --blocks, data += 64) {
		uint32_t a = state[0], b = state[1], c = state[2];
		uint32_t d = state[3], e = state[4], f = state[5];
		uint32_t g = state[6], h = state[7];

		for (int i = 0; i < 16; i++) {
			w[i] = load_be32(data + 4 * i);
		}
		for (int i = 16; i < 64; i++) {
			uint32_t p = w[i - 15], q = w[i - 2];

			w[i] = w[i - 16] + w[i - 7] +
			       (rotate(p, 7) ^ rotate(p, 18) ^ p >> 3) +
			       (rotate(q, 17) ^ rotate(q, 19) ^ q >> 10);
		}
		for (int i = 0; i < 64; i++) {
			uint32_t t = h +
				     (rotate(e, 6) ^ rotate(e, 11) ^
				      rotate(e, 25)) +
				     (g ^ (e & (f ^ g))) + constants[i] + w[i];
			uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^
				      rotate(a, 22)) +
				     ((a & b) | (c & (a | b)));

			h = g;
			g = f;
			f = e;
			e = d + t;
			d = c;
			c = b;
			b = a;
			a = t + u;
		}
		state[0] += a;
		state[1] += b;
		state[2] += c;
		state[3] += d;
		state[4] += e;
		state[5] += f;
		state[6] += g;
		state[7] += h;
	}
}

void
sha256_init(struct sha256 *s)
{
	*s = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
					 0xa54ff53a, 0x510e527f, 0x9b05688c,
					 0x1f83d9ab, 0x5be0cd19 } };
}

void
sha256_update(struct sha256 *s, const void *data, size_t length)
{
	const uint8_t *p = data;
	size_t held = s->length % 64;

	s->length += length;
	if (held > 0) {
		size_t n = 64 - held < length ? 64 - held : length;

		memcpy(s->block + held, p, n);
		p += n;
		length -= n;
		if (held + n < 64) {
			return;
		}
		compress(s->state, s->block, 1);
	}
	compress(s->state, p, length / 64);
	p += length / 64 * 64;
	if (length % 64 > 0) {
		memcpy(s->block, p, length % 64);
	}
}

void
sha256_final(struct sha256 *s, uint8_t digest[32])
{
	static const uint8_t padding[64] = { 0x80 };
	uint64_t bits = s->length * 8;
	uint8_t tail[8];

	for (int i = 0; i < 8; i++) {
		tail[i] = (uint8_t)(bits >> (56 - 8 * i));
	}
	sha256_update(s, padding, 1 + (119 - s->length % 64) % 64);
	sha256_update(s, tail, 8);
	for (int i = 0; i < 32; i++) {
		digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
	}
}

const char *
sha256_whole(struct sha256 *s, struct arena *a)
{
	uint8_t digest[32];
	char *text = arena_alloc(a, 2 * sizeof digest + 1);

	sha256_final(s, digest);
	for (size_t i = 0; i < sizeof digest; i++) {
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	}
	return text;
}

const char *
sha256_text(struct sha256 *s, struct arena *a)
{
	return arena_strndup(a, sha256_whole(s, a), 16);
}
