/* tirc_dnnl.h, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * Parts of models that oneDNN computes (--byoc dnnl). What is emitted for a
 * model describes each part, a region, by the functions of
 * tirc_dnnl_describe.h; this header has what is kept of it between runs, and
 * needs none of oneDNN's.
 *
 *	static struct tirc_dnnl shared;
 *	static struct tirc_dnnl_value values[40];
 *	...
 *	static struct tirc_dnnl_region r = { .values = values, ... };
 *
 *	tirc_dnnl_open(&shared);
 *	bytes = tirc_dnnl_plan(&r, &shared, describe, weights);
 *	tirc_dnnl_make(&r, memory);         (of so many bytes)
 *	tirc_dnnl_run(&r, inputs, outputs); (as often as wanted)
 *	tirc_dnnl_free(&r);
 *	tirc_dnnl_close(&shared);
 *
 * The lists are the caller's, with places for as much as the description can
 * take, and stay where they are. The library's own objects, behind pointers,
 * lie in its heap, as do constants that it wants in another order. Nothing is
 * global, nothing is printed. Statuses are dnnl_status_t, 0 for success; the
 * first call that fails leaves its status in the region, and calls after it do
 * nothing. Threads may use different regions at once if these share no struct
 * tirc_dnnl. C99; oneDNN 2.6 and later, version 3 among them. */
#ifndef TIRC_DNNL_H
#define TIRC_DNNL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Objects made for structures of other versions do not link. */
#define tirc_dnnl_plan tirc_dnnl_plan_1

/* oneDNN's. */
struct dnnl_engine;
struct dnnl_memory;
struct dnnl_primitive;
struct dnnl_primitive_desc;
struct dnnl_stream;

/* What all regions of a model share. */
struct tirc_dnnl {
	struct dnnl_engine *engine;
	struct dnnl_stream *stream;
};

/* How a value that is there before any run is made. */
enum tirc_dnnl_recipe {
	TIRC_DNNL_NONE,    /* by a run, or it is a copy of another value */
	TIRC_DNNL_GIVEN,   /* it is the caller's constant */
	TIRC_DNNL_FACTORS, /* numbers of 64 bits in 32 */
	TIRC_DNNL_BIASES,  /* with what zero points add to them */
	TIRC_DNNL_NUMBER   /* one number */
};

/* A tensor of a region: an argument, a constant, or what a step computes. */
struct tirc_dnnl_value {
	struct dnnl_memory *memory; /* also says how it lies */
	const void *constant;       /* the caller's; NULL before it is known */
	size_t bytes, offset;       /* of the region's memory */
	int input, output;          /* its number among the region's, or -1 */
	int place;                  /* the value whose memory it has */
	int original;               /* the value that it is a copy of, or -1 */
	int first, last; /* the steps between which its memory is taken */
	enum tirc_dnnl_recipe recipe;
	/* Of biases: values, or -1 (weights: nothing is outside); zero points
	 * of the data and of the result. */
	int factors, weights, outside, zero;
	float number;
	bool is_constant; /* as the caller has it, or a copy of such */
	bool is_fixed;    /* a constant, or made of constants once */
	bool is_view;     /* another wants that memory too, differently */
};

/* A primitive, and its arguments among the uses. */
struct tirc_dnnl_step {
	struct dnnl_primitive_desc *description; /* until it is made */
	struct dnnl_primitive *primitive;
	int first_use, n_uses;
};

/* An argument of a primitive: oneDNN's word for it, and a value, or -1. */
struct tirc_dnnl_use {
	int argument, value;
};

/* The same as oneDNN wants it (dnnl_exec_arg_t). */
struct tirc_dnnl_argument {
	int argument;
	struct dnnl_memory *memory;
};

/* What the next primitive does to its result before it writes it. */
struct tirc_dnnl_post {
	int kind;          /* dnnl_alg_kind_t */
	float alpha, beta; /* of a sum: what the operand is multiplied by */
	int operand;       /* of two, else -1 */
	bool in_place;     /* nobody else wants the operand */
	bool is_sum;       /* with what is where the result goes */
};

enum { TIRC_DNNL_POSTS = 16 };

struct tirc_dnnl_region {
	/* The caller's: lists, and how much each may hold; as many arguments
	 * as uses. */
	struct tirc_dnnl_value *values;
	struct tirc_dnnl_step *steps;
	struct tirc_dnnl_use *uses;
	struct tirc_dnnl_argument *arguments;
	int most_values, most_steps, most_uses;
	/* The rest is zero before the first call. */
	struct dnnl_engine *engine;
	struct dnnl_stream *stream;
	int status; /* of the first call that failed */
	int n_values, n_steps, n_uses;
	/* Of the next primitive. */
	struct tirc_dnnl_post posts[TIRC_DNNL_POSTS];
	int n_posts;
	struct tirc_dnnl_use more[3];
	int n_more;
	int outside; /* zero point of its data */
	/* Convolutions by tiles. */
	bool by_tiles; /* they are, where the library has such */
	bool can_tile; /* it has one of them */
	int n_tiled;   /* are so */
	int n_slow;    /* steps that copy, or are the library's plain code */
};

/* Tells a region all of its steps. weights: as given to tirc_dnnl_plan. */
typedef void tirc_dnnl_describe(struct tirc_dnnl_region *r,
				const void *weights);

/* Makes what regions share. The status. */
int tirc_dnnl_open(struct tirc_dnnl *shared);
void tirc_dnnl_close(struct tirc_dnnl *shared);

/* Describes a region, the better one of two ways if there are convolutions by
 * tiles, and gives each value its place. How many bytes of memory the region
 * wants; r->status tells whether that holds. Where only that is asked for,
 * pointers within weights may be null. */
size_t tirc_dnnl_plan(struct tirc_dnnl_region *r,
		      const struct tirc_dnnl *shared,
		      tirc_dnnl_describe *describe, const void *weights);
/* Makes primitives, and constants as these want them. memory is the region's
 * until tirc_dnnl_free; what it holds between runs means nothing. */
void tirc_dnnl_make(struct tirc_dnnl_region *r, void *memory);
/* Arrays of the region, dense, in the order of its description. The status; a
 * call that fails does not keep a later one from working. */
int tirc_dnnl_run(const struct tirc_dnnl_region *r, const void *const *inputs,
		  void *const *outputs);
/* Frees what the library has made, however far that got. */
void tirc_dnnl_free(struct tirc_dnnl_region *r);

#ifdef __cplusplus
}
#endif

#endif
