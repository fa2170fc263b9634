/* SPDX-License-Identifier: Apache-2.0 */
/* The composition of MelWeightMatrix, which becomes a constant: its inputs must
 * be constants. Also compose_count(), the numbers 0 to n - 1 for other
 * compositions. */
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

/* -- MelWeightMatrix -- */

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
				     "its inputs are not numbers of bands, "
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
