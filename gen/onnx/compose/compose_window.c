/* SPDX-License-Identifier: Apache-2.0 */
/* Window functions of signals, as sums of cosines, and the matrix of mel
 * filters.
 *
 *	before	y = HannWindow(n)
 *	after	y_at = Range(0, n, 1)
 *		y_angle = Mul(Cast(y_at), 2 pi / n)
 *		y = 0.5 - 0.5 * Cos(y_angle)
 */
#include "compose.h"

#include <math.h>

#include "ops.h"

struct tensor *
compose_count(struct compose *c, const char *what, struct tensor *n,
	      struct dtype type)
{
	struct tensor *at = compose_node(c, "at", "Range", 3,
					 compose_scalar(c, "first", n->type, 0),
					 n,
					 compose_scalar(c, "step", n->type, 1));

	return compose_cast(c, what, at, type);
}

/* Makes a0 - a1 * cos(angle) + a2 * cos(2 * angle), computed in float32. */
static bool
window(struct compose *c, double a0, double a1, double a2)
{
	struct tensor *n = compose_input(c, 0), *angle, *y, *size;
	struct dtype type, f32 = dtype_of(DT_F32);

	if (n->ndim != 0 || !dtype_is_int(n->type)) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its size must be one integer, a scalar");
	}
	if (!dtype_from_onnx(node_attr_int(c->node, "output_datatype", 1),
			     &type)) {
		return compose_refuse(c,
				      "its output_datatype is not supported");
	}
	size = compose_cast(c, "size", n, f32);
	if (node_attr_int(c->node, "periodic", 1) == 0) {
		size = compose_with(c, "last", "Sub", size, 1);
	}
	size = compose_2(c, "increment", "Div",
			 compose_scalar(c, "tau", f32, 6.283185307179586),
			 size);
	angle = compose_2(c, "angle", "Mul", compose_count(c, "place", n, f32),
			  size);
	y = compose_with(c, "wave", "Mul", compose_1(c, "cos", "Cos", angle),
			 a1);
	y = compose_2(c, "window", "Sub", compose_scalar(c, "mean", f32, a0),
		      y);
	if (a2 != 0) {
		angle = compose_with(c, "twice", "Mul", angle, 2);
		y = compose_2(c, "sum", "Add", y,
			      compose_with(c, "second", "Mul",
					   compose_1(c, "cos_twice", "Cos",
						     angle),
					   a2));
	}
	compose_result(c, 0, compose_cast(c, "cast", y, type));
	return true;
}

bool
compose_hann(struct compose *c)
{
	return window(c, 0.5, 0.5, 0);
}

bool
compose_hamming(struct compose *c)
{
	return window(c, 25.0 / 46, 21.0 / 46, 0);
}

bool
compose_blackman(struct compose *c)
{
	return window(c, 0.42, 0.5, 0.08);
}

/* -- MelWeightMatrix, a constant -- */

#define MEL_MOST (1 << 24) /* elements */

struct mel {
	int64_t bins, length, rate;
	double lowest, highest; /* in hertz */
};

static bool
read_mel(struct compose *c, struct mel *mel)
{
	double v[5];

	for (int i = 0; i < 5; i++) {
		if (!input_scalar(c->node, i, &v[i])) {
			return compose_error(c, DIAG_UNKNOWN_SHAPE,
					     "input %d must be known when the "
					     "code is generated; make it "
					     "constant",
					     i);
		}
	}
	if (!(v[0] >= 1 && v[1] >= 1 && v[2] >= 1 && v[3] >= 0 &&
	      v[3] <= v[4] && v[0] * v[1] < MEL_MOST)) {
		return compose_error(c, DIAG_BAD_SHAPE,
				     "its inputs are no numbers of bands, "
				     "samples and hertz; correct the model");
	}
	*mel = (struct mel){ (int64_t)v[0], (int64_t)v[1], (int64_t)v[2], v[3],
			     v[4] };
	return true;
}

static double
mel_of(double hertz)
{
	return 2595 * log10(1 + hertz / 700);
}

/* The frequency bin, of length / 2 + 1, at which mel band i begins. */
static int64_t
mel_edge(const struct mel *mel, int64_t i)
{
	double low = mel_of(mel->lowest), high = mel_of(mel->highest);
	double at = low + (double)i * (high - low) / (double)(mel->bins + 2);
	double hertz = 700 * (pow(10, at / 2595) - 1);

	return (int64_t)floor((double)(mel->length + 1) * hertz /
			      (double)mel->rate);
}

/* The weight of frequency bin `at` in a band: a triangle from `left` to `right`
 * with its peak at `centre`. */
static double
mel_weight(int64_t at, int64_t left, int64_t centre, int64_t right)
{
	if (at == centre && left == centre) {
		return 1;
	}
	if (at >= left && at <= centre) {
		return (double)(at - left) / (double)(centre - left);
	}
	return at > centre && at < right
		       ? (double)(right - at) / (double)(right - centre)
		       : 0;
}

bool
compose_mel_matrix(struct compose *c)
{
	struct mel mel;
	struct dtype type;
	double *weights;

	if (!read_mel(c, &mel)) {
		return false;
	}
	if (!dtype_from_onnx(node_attr_int(c->node, "output_datatype", 1),
			     &type)) {
		return compose_refuse(c,
				      "its output_datatype is not supported");
	}
	const int64_t shape[] = { mel.length / 2 + 1, mel.bins };

	weights = arena_array(&c->imp->tmp, double, shape[0] * shape[1] + 1);
	for (int64_t band = 0; band < mel.bins; band++) {
		int64_t left = mel_edge(&mel, band);
		int64_t centre = mel_edge(&mel, band + 1);
		int64_t right = mel_edge(&mel, band + 2);

		for (int64_t at = 0; at < shape[0]; at++) {
			weights[at * mel.bins + band] = mel_weight(at, left,
								   centre,
								   right);
		}
	}
	compose_result(c, 0,
		       compose_floats(c, "weights", type, 2, shape, weights));
	return true;
}
