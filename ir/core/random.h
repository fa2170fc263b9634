/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers by xorshift: the same numbers in each run and on each
 * machine. */
#ifndef TIRC_RANDOM_H
#define TIRC_RANDOM_H

#include <stdint.h>

/* An initial state of the generator; a state must not be 0. */
#define RANDOM_SEED UINT64_C(0x9e3779b97f4a7c15)

/* The next 64 random bits; the upper bits are more random than the lower
 * ones. */
static inline uint64_t
random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The initial state for a seed. States of seeds that follow each other differ in half
 * of their bits, and so do the first numbers (the last step of SplitMix64, Steele, Lea
 * and Flood, 2014); without it these are nearly the same. */
static inline uint64_t
random_state(uint64_t seed)
{
	seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
	seed ^= seed >> 31;
	return seed != 0 ? seed : RANDOM_SEED;
}

/* The initial state for the number that a user gives as --seed; of 0 it is
 * RANDOM_SEED. */
static inline uint64_t
random_seeded(int64_t number)
{
	uint64_t state = RANDOM_SEED ^
			 (uint64_t)number * UINT64_C(0xbf58476d1ce4e5b9);

	return state != 0 ? state : RANDOM_SEED;
}

/* Converts the upper 24 of 64 random bits to a number in [-1, 1). */
static inline double
random_fraction(uint64_t bits)
{
	return (double)(bits >> 40) / 0x1p23 - 1;
}

#endif
