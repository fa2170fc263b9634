/* digits: from digits.onnx (sha256 22c6eef0eb10d53d...), tirc 0.1.0, target c99
 * SPDX-License-Identifier: MIT-0
 *
 * input   image  f32 [1][1][8][8]
 * output  prob   f32 [1][10]
 * RAM     workspace 6400 bytes (bound 6400)
 * stack   local arrays of at most 632 bytes in a kernel, and what the compiler adds
 * flash   weights 34568 bytes
 * libm    none
 */
#ifndef DIGITS_H
#define DIGITS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DIGITS_WORKSPACE_BYTES 6400u
#define DIGITS_WORKSPACE_ALIGN 16u
#define DIGITS_TIRC_VERSION "0.1.0"
#define DIGITS_MODEL_DIGEST "22c6eef0eb10d53d" /* of the ONNX file */
#define DIGITS_IMAGE_DIMS { 1, 1, 8, 8 }
#define DIGITS_IMAGE_COUNT 64u
#define DIGITS_IMAGE_BYTES 256u
#define DIGITS_PROB_DIMS { 1, 10 }
#define DIGITS_PROB_COUNT 10u
#define DIGITS_PROB_BYTES 40u

enum digits_status {
	DIGITS_OK = 0,
	DIGITS_NULL,            /* a required pointer is null */
	DIGITS_NOT_READY,       /* run before init, or after fini */
	DIGITS_SMALL_WORKSPACE, /* fewer than DIGITS_WORKSPACE_BYTES */
	DIGITS_MISALIGNED,      /* a pointer is not aligned for its type */
	DIGITS_BAD_SIZE         /* never: all sizes are fixed */
};

/* A workspace to declare. Where the compiler cannot be told an alignment, it
 * has that of the largest type, and init says whether it suffices. */
#if defined __cplusplus && __cplusplus >= 201103L
#define DIGITS_ALIGNED alignas(DIGITS_WORKSPACE_ALIGN)
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define DIGITS_ALIGNED _Alignas(DIGITS_WORKSPACE_ALIGN)
#elif defined __GNUC__
#define DIGITS_ALIGNED __attribute__((aligned(16)))
#else
#define DIGITS_ALIGNED
#endif
union digits_workspace {
	DIGITS_ALIGNED unsigned char bytes[DIGITS_WORKSPACE_BYTES];
	double number;
	void *address;
};

struct digits_config {
	void *workspace; /* scratch; its content means nothing between runs */
	size_t workspace_bytes;
};

struct digits { /* one per thread; the caller's */
	const int *ready; /* init sets it, fini clears it */
	void *workspace;
};

struct digits_inputs {
	const float *image;
};

struct digits_outputs {
	float *prob; /* must not overlap the input */
};

/* Objects made for another version of this header do not link with it. */
#define digits_init digits_init_eebfb049

enum digits_status digits_init(struct digits *m,
			       const struct digits_config *config);
enum digits_status digits_run(struct digits *m, const struct digits_inputs *in,
			      const struct digits_outputs *out);
void digits_fini(struct digits *m);

#ifdef __cplusplus
}
#endif

#endif
