/* SPDX-License-Identifier: MIT-0 */
/* The model in C of a made-up accelerator: see npu.h. */
#include "npu.h"

#include <stddef.h>

enum {
	MEMORY_ELEMS = 32768, /* inside */
	MAX_TENSORS = 64
};

/* Of a unit: products in a cycle, cycles to start, picojoules for each
 * product and for a start. */
static const struct {
	uint64_t products, start, product_pj, start_pj;
} units[] = {
	[NPU_ARRAY] = { 64, 40, 2, 100000 },
	[NPU_VECTOR] = { 4, 8, 5, 10000 },
};

static float memory[MEMORY_ELEMS];
static uint64_t picojoules;
static struct npu_report total;

/* Where a program's tensors are; those within have a place from when they are
 * written on. */
struct places {
	const float *in[MAX_TENSORS];
	float *out[MAX_TENSORS];
	uint32_t elems[MAX_TENSORS];
	int n;
	uint32_t used;
};

static enum npu_status
place(struct places *p, const struct npu_tensor *tensors, int n)
{
	if (n > MAX_TENSORS) {
		return NPU_OUT_OF_MEMORY;
	}
	p->n = n;
	for (int i = 0; i < n; ++i) {
		p->elems[i] = tensors[i].elems;
		p->out[i] = tensors[i].out;
		p->in[i] = tensors[i].in != NULL ? tensors[i].in
						 : tensors[i].out;
	}
	return NPU_OK;
}

static enum npu_status
place_inside(struct places *p, int i)
{
	if (p->elems[i] > MEMORY_ELEMS - p->used) {
		return NPU_OUT_OF_MEMORY;
	}
	p->in[i] = p->out[i] = memory + p->used;
	p->used += p->elems[i];
	return NPU_OK;
}

static void
count(const struct npu_command *c, uint64_t products)
{
	total.commands += 1;
	total.cycles += units[c->unit].start +
			products / units[c->unit].products;
	picojoules += units[c->unit].start_pj +
		      products * units[c->unit].product_pj;
	total.nanojoules = picojoules / 1000;
}

static uint64_t
elems_of(const int32_t *dims)
{
	return (uint64_t)dims[0] * (uint64_t)dims[1] * (uint64_t)dims[2] *
	       (uint64_t)dims[3];
}

/* Is the operand a tensor of that many elements, with a place? */
static int
fits(const struct places *p, int32_t i, uint64_t elems)
{
	return i >= 0 && i < p->n && p->elems[i] == elems && p->in[i] != NULL;
}

/* One element of a convolution, before the pool. */
static float
conv_at(const struct npu_command *c, const float *x, const float *w,
	const float *b, int n, int oc, int oy, int ox)
{
	const int32_t *xd = c->x_dims;
	float sum = b != NULL ? b[oc] : 0.0f;

	for (int ic = 0; ic < xd[1]; ++ic) {
		for (int ky = 0; ky < c->kernel[0]; ++ky) {
			for (int kx = 0; kx < c->kernel[1]; ++kx) {
				int iy = oy * c->strides[0] + ky - c->pads[0];
				int ix = ox * c->strides[1] + kx - c->pads[1];

				if (iy < 0 || iy >= xd[2] || ix < 0 ||
				    ix >= xd[3]) {
					continue;
				}
				sum += x[((n * xd[1] + ic) * xd[2] + iy) *
						 xd[3] +
					 ix] *
				       w[((oc * xd[1] + ic) * c->kernel[0] +
					  ky) * c->kernel[1] +
					 kx];
			}
		}
	}
	return c->relu && sum < 0.0f ? 0.0f : sum;
}

/* The largest of a window of what the convolution gives. */
static float
pooled_at(const struct npu_command *c, const float *x, const float *w,
	  const float *b, int n, int oc, int py, int px)
{
	float most = conv_at(c, x, w, b, n, oc, 2 * py, 2 * px);

	for (int k = 1; k < 4; ++k) {
		float v = conv_at(c, x, w, b, n, oc, 2 * py + k / 2,
				  2 * px + k % 2);

		most = v > most ? v : most;
	}
	return most;
}

static enum npu_status
conv(const struct npu_command *c, const struct places *p)
{
	const int32_t *xd = c->x_dims, *yd = c->y_dims;
	int rows = c->pool ? yd[2] / 2 : yd[2];
	int columns = c->pool ? yd[3] / 2 : yd[3];
	uint64_t weights = (uint64_t)yd[1] * (uint64_t)xd[1] *
			   (uint64_t)c->kernel[0] * (uint64_t)c->kernel[1];
	const float *b = NULL;
	float *y;

	if (!fits(p, c->x, elems_of(xd)) || !fits(p, c->w, weights) ||
	    (c->b != NPU_NONE && !fits(p, c->b, (uint64_t)yd[1])) ||
	    !fits(p, c->y,
		  (uint64_t)yd[0] * (uint64_t)yd[1] * (uint64_t)rows *
			  (uint64_t)columns)) {
		return NPU_BAD_COMMAND;
	}
	if (c->b != NPU_NONE) {
		b = p->in[c->b];
	}
	y = p->out[c->y];
	for (int n = 0; n < yd[0]; ++n) {
		for (int oc = 0; oc < yd[1]; ++oc) {
			for (int oy = 0; oy < rows; ++oy) {
				for (int ox = 0; ox < columns; ++ox) {
					*y++ = c->pool ? pooled_at(c,
								   p->in[c->x],
								   p->in[c->w],
								   b, n, oc, oy,
								   ox)
						       : conv_at(c, p->in[c->x],
								 p->in[c->w], b,
								 n, oc, oy, ox);
				}
			}
		}
	}
	count(c, weights * (uint64_t)(yd[0] * yd[2] * yd[3]));
	return NPU_OK;
}

static enum npu_status
pool(const struct npu_command *c, const struct places *p)
{
	const int32_t *xd = c->x_dims, *yd = c->y_dims;
	const float *x;
	float *y;

	if (c->unit != NPU_VECTOR || !fits(p, c->x, elems_of(xd)) ||
	    !fits(p, c->y, elems_of(yd))) {
		return NPU_BAD_COMMAND;
	}
	x = p->in[c->x];
	y = p->out[c->y];
	for (int plane = 0; plane < yd[0] * yd[1]; ++plane) {
		for (int oy = 0; oy < yd[2]; ++oy) {
			for (int ox = 0; ox < yd[3]; ++ox) {
				const float *at = x +
						  (plane * xd[2] + 2 * oy) *
							  xd[3] +
						  2 * ox;
				float a = at[0] > at[1] ? at[0] : at[1];
				float b = at[xd[3]] > at[xd[3] + 1]
						  ? at[xd[3]]
						  : at[xd[3] + 1];

				*y++ = a > b ? a : b;
			}
		}
	}
	count(c, elems_of(xd));
	return NPU_OK;
}

static enum npu_status
product(const struct npu_command *c, const struct places *p)
{
	int rows = c->x_dims[0], columns = c->x_dims[1], inner = c->x_dims[2];
	const float *x, *w;

	if (!fits(p, c->x, (uint64_t)rows * (uint64_t)inner) ||
	    !fits(p, c->w, (uint64_t)columns * (uint64_t)inner) ||
	    !fits(p, c->y, (uint64_t)rows * (uint64_t)columns)) {
		return NPU_BAD_COMMAND;
	}
	x = p->in[c->x];
	w = p->in[c->w];
	for (int r = 0; r < rows; ++r) {
		for (int k = 0; k < columns; ++k) {
			float sum = 0.0f;

			for (int i = 0; i < inner; ++i) {
				sum += x[r * inner + i] * w[k * inner + i];
			}
			p->out[c->y][r * columns + k] = sum;
		}
	}
	count(c, (uint64_t)rows * (uint64_t)columns * (uint64_t)inner);
	return NPU_OK;
}

static enum npu_status
add(const struct npu_command *c, const struct places *p)
{
	uint32_t n, repeat;

	if (c->unit != NPU_VECTOR || c->x < 0 || c->x >= p->n || c->w < 0 ||
	    c->w >= p->n || p->in[c->x] == NULL || p->in[c->w] == NULL ||
	    p->elems[c->w] == 0 || p->elems[c->x] % p->elems[c->w] != 0 ||
	    !fits(p, c->y, p->elems[c->x])) {
		return NPU_BAD_COMMAND;
	}
	n = p->elems[c->x];
	repeat = p->elems[c->w];
	for (uint32_t i = 0; i < n; ++i) {
		float v = p->in[c->x][i] + p->in[c->w][i % repeat];

		p->out[c->y][i] = c->relu && v < 0.0f ? 0.0f : v;
	}
	count(c, n);
	return NPU_OK;
}

static enum npu_status
run_one(const struct npu_command *c, struct places *p)
{
	if (c->y < 0 || c->y >= p->n) {
		return NPU_BAD_COMMAND;
	}
	if (p->in[c->y] == NULL && place_inside(p, c->y) != NPU_OK) {
		return NPU_OUT_OF_MEMORY;
	}
	if (p->out[c->y] == NULL) {
		return NPU_BAD_COMMAND;
	}
	switch (c->op) {
	case NPU_CONV:
		return conv(c, p);
	case NPU_POOL:
		return pool(c, p);
	case NPU_PRODUCT:
		return product(c, p);
	case NPU_ADD:
		return add(c, p);
	}
	return NPU_BAD_COMMAND;
}

enum npu_status
npu_run(const struct npu_command *commands, int n_commands,
	const struct npu_tensor *tensors, int n_tensors)
{
	struct places p = { .n = 0 };
	enum npu_status status = place(&p, tensors, n_tensors);

	for (int i = 0; status == NPU_OK && i < n_commands; ++i) {
		status = run_one(&commands[i], &p);
	}
	return status;
}

struct npu_report
npu_report(void)
{
	return total;
}
