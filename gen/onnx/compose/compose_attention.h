/* SPDX-License-Identifier: Apache-2.0 */
/* What attentions of several domains share: softmax(Q K' * scale + bias) V. */
#ifndef TIRC_ONNX_COMPOSE_ATTENTION_H
#define TIRC_ONNX_COMPOSE_ATTENTION_H

#include "compose.h"

struct attention {
	/* [batch][heads][queries][size], [batch][kv heads][keys][size],
	 * [batch][kv heads][keys][value size]; heads are a multiple of kv
	 * heads, and h reads the keys of h / (heads / kv heads) */
	struct tensor *q, *k, *v;
	double scale;
	double softcap;      /* 0: none */
	struct tensor *mask; /* added, or bool: true where a key counts; it
			      * broadcasts; NULL: none */
	/* Query i is at start + i; it sees the keys from `left` before it to
	 * `right` after it (-1: all), and no key from `count` on. start and
	 * count are integers that broadcast; NULL: 0, and all keys. */
	int64_t left, right;
	struct tensor *start, *count;
	/* The softmax has one more term exp(sink), which no key has; sink
	 * broadcasts to [batch][heads][queries][1]; NULL: none. */
	struct tensor *sink;
	bool every_row;          /* without a mask, each query sees a key */
	struct dtype softmax_in; /* the type in which softmax is computed */

	/* results: the products, then with softcap, with bias, after softmax */
	struct tensor *scores, *capped, *biased, *probs;
};

/* [b][s][heads * d] as [b][heads][s][d]; false after a diagnostic. */
bool attention_split_heads(struct compose *c, const char *what,
			   struct tensor **x, int64_t heads);
/* The way back. */
struct tensor *attention_join_heads(struct compose *c, struct tensor *x);
/* scores[b][h][q][k] = scale * sum over d of q[b][h][q][d] * k[b][h][k][d] */
void attention_scores(struct compose *c, struct attention *a);
/* softmax of the scores with mask and band, in a->probs */
void attention_probs(struct compose *c, struct attention *a);
/* [batch][heads][queries][value size] */
struct tensor *attention_values(struct compose *c, struct attention *a);

/* compose_ms_attention.c: all of these as com.microsoft has them; the result 0 is
 * [batch][queries][heads * value size]. The scale is an attribute. */
void attention_finish(struct compose *c, struct attention *a);

/* compose_rotary.c */
struct rotation {
	/* [b][s][n], or [positions][n] with positions [b][s] or [s] */
	struct tensor *cos, *sin, *positions;
	bool interleaved; /* pairs are neighbours; else n apart */
	int64_t turned;   /* elements of a head; 0: all */
};
/* x: [b][heads][s][size] */
struct tensor *rotate(struct compose *c, const struct rotation *r,
		      struct tensor *x);

#endif
