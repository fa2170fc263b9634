/* SPDX-License-Identifier: Apache-2.0 */
/* The random numbers of NumPy: a program gets the same numbers for a seed as
 * with NumPy.
 *
 * MT19937: Matsumoto and Nishimura, Mersenne Twister, ACM TOMACS 8 (1998), seeded
 * as their init_genrand, with 53-bit floats, as numpy.random.seed and RandomState.
 * PCG64: O'Neill, PCG: A Family of Simple Fast Space-Efficient Statistically Good
 * Algorithms for Random Number Generation (2014), XSL-RR 128/64, seeded by the
 * entropy pool of numpy.random.SeedSequence, as numpy.random.default_rng. */
#ifndef TIRC_RANDOM_STREAM_H
#define TIRC_RANDOM_STREAM_H

#include <stdbool.h>
#include <stdint.h>

enum { MT_WORDS = 624 };

struct random_stream {
	bool is_pcg;
	uint32_t words[MT_WORDS];
	int at;
	/* PCG64: state and increment, each as high and low half */
	uint64_t state[2], step[2];
	bool has_half; /* `half` is the upper half of the last 64 bits */
	uint32_t half;
	/* of the legacy stream: it has the second number of a pair of normal
	 * numbers */
	bool has_normal;
	double normal;
	/* of PCG64: the layers of the ziggurat, made when they are first needed */
	bool has_layers;
	uint64_t inside[256];
	double width[256], height[256];
};

/* The streams of numpy.random.seed(seed) and numpy.random.default_rng(seed). */
void random_seed_legacy(struct random_stream *r, uint32_t seed);
void random_seed_pcg(struct random_stream *r, uint64_t seed);

/* A float in [0, 1) with 53 random bits. */
double random_double(struct random_stream *r);
/* A float32 in [0, 1) with 24 random bits; of PCG64 only. */
float random_single(struct random_stream *r);
/* A whole number from 0 to most, as randint (legacy: masked, repeated until it
 * fits) or Generator.integers (Lemire's method) makes it for a type of `bits`
 * bits. For types of 8 and 16 bits one 32-bit number gives several: *buffer
 * holds the unused parts and *left the number of parts; both are 0 before the
 * first call. */
uint64_t random_below(struct random_stream *r, uint64_t most, int bits,
		      uint32_t *buffer, int *left);
/* A normally distributed number: of the legacy stream by the polar method, of PCG64
 * by the ziggurat (Marsaglia and Tsang, The Ziggurat Method for Generating Random
 * Variables, Journal of Statistical Software 5, 2000), whose tables are computed
 * here, so that the last bit may differ from NumPy's. */
double random_normal(struct random_stream *r);
/* 0 to most, as shuffle and permutation draw it. */
uint64_t random_interval(struct random_stream *r, uint64_t most);

#endif
