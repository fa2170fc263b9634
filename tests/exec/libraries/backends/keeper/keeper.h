/* SPDX-License-Identifier: Apache-2.0 */
/* A library as vendors have them: handles, statuses, memory of its own. The
 * KEEPER_FAILS-th call of a thread fails, with status 42. */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdlib.h>
#include <string.h>

struct keeper {
	int open;
};

struct keeper_layer {
	int rows, columns, inner; /* inner 0: Relu */
	float *weights;
};

static _Thread_local int keeper_calls;

static inline int
keeper_call(void)
{
	const char *fails = getenv("KEEPER_FAILS");

	++keeper_calls;
	return fails != NULL && atoi(fails) == keeper_calls ? 42 : 0;
}

static inline int
keeper_open(struct keeper **out)
{
	int status = keeper_call();

	if (status == 0) {
		*out = calloc(1, sizeof **out);
	}
	return status;
}

static inline void
keeper_close(struct keeper *k)
{
	free(k);
}

static inline int
keeper_make(const struct keeper *k, struct keeper_layer **out, int rows,
	    int columns, int inner)
{
	int status = k == NULL ? 7 : keeper_call();

	if (status == 0) {
		*out = calloc(1, sizeof **out);
		(*out)->rows = rows;
		(*out)->columns = columns;
		(*out)->inner = inner;
	}
	return status;
}

static inline int
keeper_load(struct keeper_layer *l, const float *w, const float *bias)
{
	size_t n = (size_t)l->columns * (size_t)l->inner;
	int status = keeper_call();

	if (status == 0) {
		l->weights = malloc((n + (size_t)l->columns) *
				    sizeof *l->weights);
		memcpy(l->weights, w, n * sizeof *w);
		memcpy(l->weights + n, bias, (size_t)l->columns * sizeof *bias);
	}
	return status;
}

static inline int
keeper_run(const struct keeper_layer *l, const float *x, float *y)
{
	const float *bias = l->inner == 0 ? NULL
					  : l->weights + l->columns * l->inner;
	int status = keeper_call();

	for (int i = 0; status == 0 && i < l->rows; i++) {
		for (int j = 0; j < l->columns; j++) {
			float sum = bias == NULL ? x[j] > 0.0f ? x[j] : 0.0f
						 : bias[j];

			for (int k = 0; k < l->inner; k++) {
				sum += x[i * l->inner + k] *
				       l->weights[j * l->inner + k];
			}
			y[i * l->columns + j] = sum;
		}
	}
	return status;
}

static inline void
keeper_free(struct keeper_layer *l)
{
	if (l != NULL) {
		free(l->weights);
		free(l);
	}
}

#endif
