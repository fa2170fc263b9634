/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of random numbers that are NumPy's. */
#include "random_stream.h"

#include <math.h>
#include <string.h>

/* -- MT19937 */

void
random_seed_legacy(struct random_stream *r, uint32_t seed)
{
	memset(r, 0, sizeof *r);
	r->words[0] = seed;
	for (uint32_t i = 1; i < MT_WORDS; i++) {
		uint32_t last = r->words[i - 1];

		r->words[i] = UINT32_C(1812433253) * (last ^ last >> 30) + i;
	}
	r->at = MT_WORDS;
}

static void
twist(struct random_stream *r)
{
	uint32_t *w = r->words;

	for (int i = 0; i < MT_WORDS; i++) {
		uint32_t y = (w[i] & UINT32_C(0x80000000)) |
			     (w[(i + 1) % MT_WORDS] & UINT32_C(0x7fffffff));

		w[i] = w[(i + 397) % MT_WORDS] ^ y >> 1 ^
		       (y & 1 ? UINT32_C(0x9908b0df) : 0);
	}
	r->at = 0;
}

static uint32_t
mt_next(struct random_stream *r)
{
	uint32_t y;

	if (r->at == MT_WORDS) {
		twist(r);
	}
	y = r->words[r->at++];
	y ^= y >> 11;
	y ^= y << 7 & UINT32_C(0x9d2c5680);
	y ^= y << 15 & UINT32_C(0xefc60000);
	return y ^ y >> 18;
}

/* -- PCG64, with 128-bit numbers as two halves, high and low */

static void
add_128(const uint64_t *a, const uint64_t *b, uint64_t *out)
{
	uint64_t low = a[1] + b[1];

	out[0] = a[0] + b[0] + (low < a[1]);
	out[1] = low;
}

/* Sets *high and returns the low half of the product. */
static uint64_t
multiply_64(uint64_t a, uint64_t b, uint64_t *high)
{
	uint64_t a0 = a & UINT32_MAX, a1 = a >> 32;
	uint64_t b0 = b & UINT32_MAX, b1 = b >> 32;
	uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32);
	uint64_t other = a0 * b1 + (middle & UINT32_MAX);

	*high = a1 * b1 + (middle >> 32) + (other >> 32);
	return a * b;
}

static void
pcg_step(struct random_stream *r)
{
	static const uint64_t factor[2] = { UINT64_C(2549297995355413924),
					    UINT64_C(4865540595714422341) };
	uint64_t product[2];

	product[1] = multiply_64(r->state[1], factor[1], &product[0]);
	product[0] += r->state[0] * factor[1] + r->state[1] * factor[0];
	add_128(product, r->step, r->state);
}

static uint64_t
pcg_next(struct random_stream *r)
{
	uint64_t v;
	unsigned turn;

	pcg_step(r);
	v = r->state[0] ^ r->state[1];
	turn = (unsigned)(r->state[0] >> 58);
	return v >> turn | v << ((64 - turn) & 63);
}

/* SeedSequence mixes the seed into a pool of four words and draws the state from
 * it. */
enum { POOL = 4 };

static uint32_t
hash_mix(uint32_t v, uint32_t *constant)
{
	v ^= *constant;
	*constant *= UINT32_C(0x931e8875);
	v *= *constant;
	return v ^ v >> 16;
}

static uint32_t
mix(uint32_t x, uint32_t y)
{
	uint32_t v = UINT32_C(0xca01f9dd) * x - UINT32_C(0x4973f715) * y;

	return v ^ v >> 16;
}

static void
seed_pool(uint64_t seed, uint32_t *pool)
{
	uint32_t constant = UINT32_C(0x43b0d7e5);
	uint32_t words[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };

	for (int i = 0; i < POOL; i++) {
		pool[i] = hash_mix(i < 2 ? words[i] : 0, &constant);
	}
	for (int from = 0; from < POOL; from++) {
		for (int to = 0; to < POOL; to++) {
			if (from != to) {
				pool[to] = mix(pool[to],
					       hash_mix(pool[from], &constant));
			}
		}
	}
}

void
random_seed_pcg(struct random_stream *r, uint64_t seed)
{
	uint32_t pool[POOL], constant = UINT32_C(0x8b51f9dd);
	uint64_t drawn[4], start[2];

	memset(r, 0, sizeof *r);
	r->is_pcg = true;
	seed_pool(seed, pool);
	for (int i = 0; i < 8; i++) {
		uint32_t v = pool[i % POOL] ^ constant;

		constant *= UINT32_C(0x58f38ded);
		v *= constant;
		v ^= v >> 16;
		drawn[i / 2] = i % 2 ? drawn[i / 2] | (uint64_t)v << 32 : v;
	}
	start[0] = drawn[0];
	start[1] = drawn[1];
	r->step[0] = drawn[2] << 1 | drawn[3] >> 63;
	r->step[1] = drawn[3] << 1 | 1;
	pcg_step(r);
	add_128(r->state, start, r->state);
	pcg_step(r);
}

/* -- both */

static uint32_t
random_32(struct random_stream *r)
{
	uint64_t v;

	if (!r->is_pcg) {
		return mt_next(r);
	}
	if (r->has_half) {
		r->has_half = false;
		return r->half;
	}
	v = pcg_next(r);
	r->has_half = true;
	r->half = (uint32_t)(v >> 32);
	return (uint32_t)v;
}

static uint64_t
random_64(struct random_stream *r)
{
	uint64_t high;

	if (r->is_pcg) {
		return pcg_next(r);
	}
	high = mt_next(r);
	return high << 32 | mt_next(r);
}

double
random_double(struct random_stream *r)
{
	uint32_t a, b;

	if (r->is_pcg) {
		return (double)(pcg_next(r) >> 11) * 0x1p-53;
	}
	a = mt_next(r) >> 5;
	b = mt_next(r) >> 6;
	return (a * 67108864.0 + b) / 9007199254740992.0;
}

float
random_single(struct random_stream *r)
{
	return (float)(random_32(r) >> 8) * 0x1p-24f;
}

/* The next `bits` random bits, 8, 16 or 32. */
static uint32_t
next_part(struct random_stream *r, int bits, uint32_t *buffer, int *left)
{
	if (bits >= 32) {
		return random_32(r);
	}
	if (*left == 0) {
		*buffer = random_32(r);
		*left = 32 / bits - 1;
	} else {
		*buffer >>= bits;
		--*left;
	}
	return *buffer & ((UINT32_C(1) << bits) - 1);
}

static uint64_t
ones_of(uint64_t v)
{
	for (int i = 1; i < 64; i *= 2) {
		v |= v >> i;
	}
	return v;
}

/* Lemire, Fast Random Integer Generation in an Interval, ACM TOMACS 29 (2019). */
static uint64_t
lemire(struct random_stream *r, uint64_t most, int bits, uint32_t *buffer,
       int *left)
{
	uint64_t n = most + 1, product, high;

	if (bits > 32) {
		uint64_t low;

		low = multiply_64(random_64(r), n, &high);
		if (low < n) {
			uint64_t least = (UINT64_MAX - most) % n;

			while (low < least) {
				low = multiply_64(random_64(r), n, &high);
			}
		}
		return high;
	}
	uint64_t all = (UINT64_C(1) << bits) - 1;

	product = next_part(r, bits, buffer, left) * n;
	if ((product & all) < n) {
		uint64_t least = (all - most) % n;

		while ((product & all) < least) {
			product = next_part(r, bits, buffer, left) * n;
		}
	}
	return product >> bits;
}

uint64_t
random_below(struct random_stream *r, uint64_t most, int bits, uint32_t *buffer,
	     int *left)
{
	uint64_t mask = ones_of(most), v;

	if (most == 0) {
		return 0;
	}
	/* NumPy draws 64-bit numbers of a range below 2^32 by 32 bits */
	if (bits == 64 && most <= UINT32_MAX) {
		bits = 32;
	}
	if (bits == 64 && most == UINT64_MAX) {
		return random_64(r);
	}
	if (bits < 64 && most == (UINT64_C(1) << bits) - 1) {
		return next_part(r, bits, buffer, left);
	}
	if (r->is_pcg) {
		return lemire(r, most, bits, buffer, left);
	}
	do {
		v = (bits > 32 ? random_64(r)
			       : next_part(r, bits, buffer, left)) &
		    mask;
	} while (v > most);
	return v;
}

uint64_t
random_interval(struct random_stream *r, uint64_t most)
{
	uint64_t mask = ones_of(most), v;

	if (most == 0) {
		return 0;
	}
	do {
		v = (most <= UINT32_MAX ? random_32(r) : random_64(r)) & mask;
	} while (v > most);
	return v;
}

/* -- normal distribution */

static const double tail = 3.6541528853610087963519472518;

/* Layer i has the points from 0 to width[i] * 2^52; a point below inside[i] is
 * under the curve. */
static void
make_layers(struct random_stream *r)
{
	double x = tail, height = exp(-0.5 * tail * tail);
	/* of each layer: the rectangle at the bottom with the tail beside it */
	const double area = tail * height +
			    sqrt(acos(-1.0) / 2) * erfc(tail / sqrt(2.0));
	double below = area / height, next;

	r->inside[0] = (uint64_t)(tail / below * 0x1p52);
	r->inside[1] = 0;
	r->width[0] = below * 0x1p-52;
	r->width[255] = tail * 0x1p-52;
	r->height[0] = 1;
	r->height[255] = height;
	for (int i = 254; i >= 1; i--) {
		next = sqrt(-2 * log(area / x + exp(-0.5 * x * x)));
		r->inside[i + 1] = (uint64_t)(next / x * 0x1p52);
		r->height[i] = exp(-0.5 * next * next);
		r->width[i] = next * 0x1p-52;
		x = next;
	}
	r->has_layers = true;
}

static double
ziggurat(struct random_stream *r)
{
	if (!r->has_layers) {
		make_layers(r);
	}
	for (;;) {
		uint64_t bits = random_64(r);
		int i = (int)(bits & 0xff);
		bool negative = bits >> 8 & 1;
		uint64_t point = bits >> 9 & UINT64_C(0xfffffffffffff);
		double x = (double)point * r->width[i];

		x = negative ? -x : x;
		if (point < r->inside[i]) {
			return x;
		}
		while (i == 0) {
			double far = -log1p(-random_double(r)) / tail;
			double y = -log1p(-random_double(r));

			if (y + y > far * far) {
				return point >> 8 & 1 ? -(tail + far)
						      : tail + far;
			}
		}
		if ((r->height[i - 1] - r->height[i]) * random_double(r) +
			    r->height[i] <
		    exp(-0.5 * x * x)) {
			return x;
		}
	}
}

double
random_normal(struct random_stream *r)
{
	double x, y, square, scale;

	if (r->is_pcg) {
		return ziggurat(r);
	}
	if (r->has_normal) {
		r->has_normal = false;
		return r->normal;
	}
	do {
		x = 2 * random_double(r) - 1;
		y = 2 * random_double(r) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	scale = sqrt(-2 * log(square) / square);
	r->has_normal = true;
	r->normal = scale * x;
	return scale * y;
}
