/* SPDX-License-Identifier: Apache-2.0 */
/* What attentions of several domains share: softmax(Q K' * scale + bias) V. */
#ifndef TIRC_COMPOSE_ATTENTION_H
#define TIRC_COMPOSE_ATTENTION_H

#include "compose.h"

struct attention {
	/* q: [batch][heads][queries][size], k: [batch][kv heads][keys][size],
	 * v: [batch][kv heads][keys][value size]. heads is a multiple of kv
	 * heads; head h reads the keys of head h / (heads / kv heads). */
	struct tensor *q, *k, *v;
	double scale;
	double softcap; /* 0: no softcap */
	/* Is added to the scores; or bool, true for keys that count.
	 * Broadcasts. NULL: no mask. */
	struct tensor *mask;
	/* Query i has the position start + i. It sees the keys from `left`
	 * positions before it to `right` after it (-1: no limit), but none from
	 * position `count` on. start and count are integer tensors that
	 * broadcast; NULL: start is 0, count the number of keys. */
	int64_t left, right;
	struct tensor *start, *count;
	/* The denominator of the softmax has one more term, exp(sink). sink
	 * broadcasts to [batch][heads][queries][1]; NULL: no such term. */
	struct tensor *sink;
	/* if there is no mask, each query sees a key */
	bool every_row;
	struct dtype softmax_in; /* the type in which softmax is computed */

	/* results: the scaled products, then after softcap, after the bias,
	 * after softmax */
	struct tensor *scores, *capped, *biased, *probs;
};

/* Splits [b][s][heads * d] into [b][heads][s][d]; false after a diagnostic. */
bool attention_split_heads(struct compose *c, const char *what,
			   struct tensor **x, int64_t heads);
/* The inverse: [b][heads][s][d] to [b][s][heads * d]. */
struct tensor *attention_join_heads(struct compose *c, struct tensor *x);
/* scores[b][h][q][k] = scale * sum over d of q[b][h][q][d] * k[b][h][k][d] */
void attention_scores(struct compose *c, struct attention *a);
/* softmax of the scores with mask and band, in a->probs */
void attention_probs(struct compose *c, struct attention *a);
/* [batch][heads][queries][value size] */
struct tensor *attention_values(struct compose *c, struct attention *a);

/* compose_ms_attention.c: computes attention as com.microsoft defines it, and
 * makes [batch][queries][heads * value size] result 0 of the node. The scale is
 * the node's attribute. */
void attention_finish(struct compose *c, struct attention *a);

/* compose_rotary.c */
struct rotation {
	/* rows for x: [b][s][n]; or a table [max positions][n] if `positions`
	 * ([b][s] or [s]) is not NULL */
	struct tensor *cos, *sin, *positions;
	bool interleaved; /* pairs are neighbouring elements; else n apart */
	int64_t turned;   /* how many elements of a head are rotated; 0: all */
};
/* x: [b][heads][s][size] */
struct tensor *rotate(struct compose *c, const struct rotation *r,
		      struct tensor *x);

#endif
