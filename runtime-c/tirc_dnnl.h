/* tirc_dnnl.h, written by tirc beside models that use it.
 * SPDX-License-Identifier: MIT-0
 *
 * A region is a part of a model that oneDNN computes (--byoc dnnl). The emitted
 * model describes its regions with the functions of tirc_dnnl_describe.h. This
 * header declares the state of a region between runs and the functions that
 * prepare and run it; it includes no header of oneDNN.
 *
 *	static struct tirc_dnnl shared;
 *	static struct tirc_dnnl_value values[40];
 *	...
 *	static struct tirc_dnnl_region r = { .values = values, ... };
 *
 *	tirc_dnnl_open(&shared);
 *	bytes = tirc_dnnl_plan(&r, &shared, describe, weights);
 *	tirc_dnnl_make(&r, memory);         (that many bytes)
 *	tirc_dnnl_run(&r, inputs, outputs); (any number of times)
 *	tirc_dnnl_free(&r);
 *	tirc_dnnl_close(&shared);
 *
 * The caller provides the lists, long enough for the description, and neither
 * moves nor frees them before tirc_dnnl_free. The objects of oneDNN, and
 * constants that oneDNN wants in another layout, are in oneDNN's heap. This
 * runtime has no heap and no global variables, and prints nothing. A status is
 * a dnnl_status_t, 0 for success. The first call that fails stores its status
 * in the region, and later calls do nothing. Threads may use different regions
 * at the same time if the regions do not share a struct tirc_dnnl. Written in
 * C99 for oneDNN 2.6 and later, version 3 included. */
#ifndef TIRC_DNNL_H
#define TIRC_DNNL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Another name for each version of the structures, so that object files that
 * were compiled for other versions do not link. */
#define tirc_dnnl_plan tirc_dnnl_plan_1

/* Types of oneDNN. */
struct dnnl_engine;
struct dnnl_memory;
struct dnnl_primitive;
struct dnnl_primitive_desc;
struct dnnl_stream;

/* The state that all regions of a model share. */
struct tirc_dnnl {
	struct dnnl_engine *engine;
	struct dnnl_stream *stream;
};

/* How tirc_dnnl_make computes a value. */
enum tirc_dnnl_recipe {
	TIRC_DNNL_NONE,    /* a run computes the value, or copies it */
	TIRC_DNNL_GIVEN,   /* the value is the caller's constant */
	TIRC_DNNL_FACTORS, /* doubles, converted to floats */
	TIRC_DNNL_BIASES,  /* biases, plus the terms that zero points add */
	TIRC_DNNL_NUMBER   /* one number */
};

/* A tensor of a region: an argument, a constant, a scratchpad, or the result of
 * a step. */
struct tirc_dnnl_value {
	struct dnnl_memory *memory; /* holds the layout, too */
	/* the caller's constant from which the recipe computes the value; NULL
	 * until the constant is known */
	const void *constant;
	size_t bytes, offset; /* in the region's memory */
	/* the value's index among the region's inputs and outputs, or -1 */
	int input, output;
	/* index of the value in whose memory this value is */
	int place;
	/* index of the value of which this value is a copy, or -1 */
	int original;
	/* the first and the last step that use the value's memory */
	int first, last;
	enum tirc_dnnl_recipe recipe;
	/* For a value that holds biases: the indices of the values with the
	 * factors and the weights, and the zero points of the data (outside)
	 * and of the result (zero). weights is -1 if the convolution has no
	 * padding, or if the zero point of the data is 0. */
	int factors, weights, outside, zero;
	float number;
	/* the value is the caller's constant, or a copy of it */
	bool is_constant;
	/* runs do not compute the value: it is a constant, or tirc_dnnl_make
	 * computes it from constants */
	bool is_fixed;
	/* the value is a view of another value, or another value is a view of
	 * it */
	bool is_view;
};

/* A primitive of oneDNN in the order of execution; its arguments are n_uses
 * elements of `uses` from first_use on. */
struct tirc_dnnl_step {
	struct dnnl_primitive_desc *description; /* NULL after make */
	struct dnnl_primitive *primitive;
	int first_use, n_uses;
};

/* An argument of a primitive: its kind DNNL_ARG_..., and the index of the
 * value, or -1. */
struct tirc_dnnl_use {
	int argument, value;
};

/* A struct tirc_dnnl_use with the value's memory in place of its index:
 * oneDNN's dnnl_exec_arg_t. */
struct tirc_dnnl_argument {
	int argument;
	struct dnnl_memory *memory;
};

/* A post-operation of the next primitive. */
struct tirc_dnnl_post {
	int kind;          /* dnnl_alg_kind_t */
	float alpha, beta; /* a sum multiplies the operand by alpha */
	int operand;       /* index of the value that is combined with the
			    * result; -1 for an elementwise function */
	bool in_place;     /* no later step reads the operand */
	bool is_sum;       /* the operand is added in the result's memory */
};

enum { TIRC_DNNL_POSTS = 16 };

struct tirc_dnnl_region {
	/* The caller sets the lists and their lengths; there are as many
	 * arguments as uses. */
	struct tirc_dnnl_value *values;
	struct tirc_dnnl_step *steps;
	struct tirc_dnnl_use *uses;
	struct tirc_dnnl_argument *arguments;
	int most_values, most_steps, most_uses;
	/* The members below must be zero before the first call. */
	struct dnnl_engine *engine;
	struct dnnl_stream *stream;
	/* the status of the first call that has failed; dnnl_success if no call
	 * has */
	int status;
	int n_values, n_steps, n_uses;
	/* For the primitive that is described next: its post-operations, its
	 * additional arguments, and the zero point of its data. */
	struct tirc_dnnl_post posts[TIRC_DNNL_POSTS];
	int n_posts;
	struct tirc_dnnl_use more[3];
	int n_more;
	int outside;
	/* Convolutions by Winograd's algorithm, which works on tiles. */
	/* use Winograd's algorithm for the convolutions for which oneDNN has
	 * it */
	bool by_tiles;
	/* oneDNN has Winograd's algorithm for one of the region's
	 * convolutions */
	bool can_tile;
	/* the number of convolutions that use Winograd's algorithm */
	int n_tiled;
	int n_slow; /* number of reorders and of primitives for which oneDNN
		        * has only reference code */
};

/* A function that adds all values and steps of a region to the region r.
 * weights: the pointer that was given to tirc_dnnl_plan. */
typedef void tirc_dnnl_describe(struct tirc_dnnl_region *r,
				const void *weights);

/* Creates and destroys the shared state. Returns the status. */
int tirc_dnnl_open(struct tirc_dnnl *shared);
void tirc_dnnl_close(struct tirc_dnnl *shared);

/* Describes a region and assigns each value its offset. Returns the number of
 * bytes of memory that the region needs, if r->status is success. If only the
 * number is wanted, pointers in weights may be null. */
size_t tirc_dnnl_plan(struct tirc_dnnl_region *r,
		      const struct tirc_dnnl *shared,
		      tirc_dnnl_describe *describe, const void *weights);
/* Creates the primitives, and constants in the layouts that the primitives
 * want. The region uses memory until tirc_dnnl_free; its contents need not be
 * kept between runs. */
void tirc_dnnl_make(struct tirc_dnnl_region *r, void *memory);
/* Runs the region on dense arrays, which are in the order of the inputs and
 * outputs in its description. Returns the status; another run is possible after
 * a run that failed. */
int tirc_dnnl_run(const struct tirc_dnnl_region *r, const void *const *inputs,
		  void *const *outputs);
/* Destroys all objects of oneDNN that the region has, also after a failure. */
void tirc_dnnl_free(struct tirc_dnnl_region *r);

#ifdef __cplusplus
}
#endif

#endif
