/* SPDX-License-Identifier: Apache-2.0 */
/* Dropout in training mode with a seed: the mask is a constant.
 *
 *	before	y, mask = Dropout<seed=7>(x, ratio, training)
 *	after	y_numbers: a constant of x's shape, from 0 to 1
 *		mask = GreaterOrEqual(y_numbers, ratio)
 *		y = Where(mask, x / (1 - ratio), 0)
 *
 * The numbers are those of numpy's RandomState(seed), as in ONNX's reference
 * implementation: the Mersenne twister MT19937 (Matsumoto and Nishimura, 1998).
 * Without a seed, compose_random.c makes the numbers, which differ from run to
 * run. */
#include "compose.h"

#include "ops.h"

#define MOST_NUMBERS (1 << 24)

enum { TWISTER_N = 624, TWISTER_M = 397 };

struct twister {
	uint32_t state[TWISTER_N];
	int at;
};

static void
twister_start(struct twister *t, uint32_t seed)
{
	t->state[0] = seed;
	for (uint32_t i = 1; i < TWISTER_N; i++) {
		uint32_t last = t->state[i - 1];

		t->state[i] = 1812433253u * (last ^ last >> 30) + i;
	}
	t->at = TWISTER_N;
}

static void
twister_turn(struct twister *t)
{
	for (int i = 0; i < TWISTER_N; i++) {
		uint32_t y = (t->state[i] & 0x80000000u) |
			     (t->state[(i + 1) % TWISTER_N] & 0x7fffffffu);

		t->state[i] = t->state[(i + TWISTER_M) % TWISTER_N] ^ y >> 1 ^
			      (y & 1 ? 0x9908b0dfu : 0);
	}
	t->at = 0;
}

static uint32_t
twister_next(struct twister *t)
{
	uint32_t y;

	if (t->at == TWISTER_N) {
		twister_turn(t);
	}
	y = t->state[t->at++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* A random number in [0, 1) with 53 bits. */
static double
twister_real(struct twister *t)
{
	uint32_t high = twister_next(t) >> 5, low = twister_next(t) >> 6;

	return (high * 67108864.0 + low) / 9007199254740992.0;
}

/* The random numbers as a constant of x's shape. */
static struct tensor *
random_numbers(struct compose *c, const struct tensor *x, uint32_t seed)
{
	int64_t *shape = arena_array(&c->imp->tmp, int64_t, x->ndim + 1);
	struct twister *t = arena_new(&c->imp->tmp, struct twister);
	int64_t n = 1;
	double *values;

	for (int d = 0; d < x->ndim; d++) {
		if (!compose_known_dim(c, x, d, &shape[d])) {
			return c->stand_in;
		}
		n = n <= MOST_NUMBERS ? n * shape[d] : n;
	}
	if (n > MOST_NUMBERS) {
		compose_refuse(c, "a random mask of so many elements is not "
				  "supported");
		return c->stand_in;
	}
	values = arena_array(&c->imp->tmp, double, n + 1);
	twister_start(t, seed);
	for (int64_t i = 0; i < n; i++) {
		values[i] = twister_real(t);
	}
	return compose_floats(c, "numbers", dtype_of(DT_F64), x->ndim, shape,
			      values);
}

/* Can the node run in training mode with a ratio that is not 0? */
static bool
is_trained(const struct compose *c)
{
	double training = 1, ratio = 1;

	if (!compose_input(c, 2)) {
		return false;
	}
	input_scalar(c->node, 2, &training);
	input_scalar(c->node, 1, &ratio);
	return training != 0 && ratio != 0;
}

bool
compose_dropout(struct compose *c)
{
	const struct attr *seed = node_attr(c->node, "seed");
	struct tensor *x = compose_input(c, 0), *ratio = compose_input(c, 1);
	struct tensor *mask, *y, *idle, *zero;
	struct dtype f64 = dtype_of(DT_F64);

	if (!is_trained(c)) {
		c->keep = true;
		return true;
	}
	if (!ratio) {
		ratio = compose_scalar(c, "ratio", x->type, 0.5);
	}
	mask = compose_2(c, "drawn", "GreaterOrEqual",
			 seed ? random_numbers(c, x, (uint32_t)seed->i)
			      : compose_uniform(c, x, f64),
			 compose_cast(c, "ratio_cast", ratio, f64));
	idle = compose_1(c, "idle", "Not", compose_input(c, 2));
	mask = compose_2(c, "mask", "Or", mask, idle);
	y = compose_cast(c, "kept_ratio", ratio, x->type);
	y = compose_2(c, "kept", "Sub", compose_scalar(c, "one", x->type, 1),
		      y);
	y = compose_node(c, "scale", "Where", 3, idle,
			 compose_scalar(c, "same", x->type, 1), y);
	zero = compose_scalar(c, "dropped", x->type, 0);
	y = compose_node(c, "result", "Where", 3, mask,
			 compose_2(c, "larger", "Div", x, y), zero);
	compose_result(c, 0, y);
	compose_result(c, 1, mask);
	return true;
}
