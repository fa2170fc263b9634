/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions and pools of com.microsoft: fused with an addition and an
 * activation by onnxruntime's optimizer, or on images whose channels are the
 * last dimension.
 *
 *	before	y = com.microsoft.NhwcMaxPool<kernel_shape=[2, 2]>(x)
 *	after	y_nchw = Transpose<perm=[0, 3, 1, 2]>(x)
 *		y_pool = MaxPool<kernel_shape=[2, 2]>(y_nchw)
 *		y = Transpose<perm=[0, 2, 3, 1]>(y_pool)
 */
#include "compose.h"

#define CONV_ATTRS "auto_pad dilations group kernel_shape pads strides"
#define POOL_ATTRS "auto_pad ceil_mode dilations kernel_shape pads strides"

struct tensor *
compose_channels(struct compose *c, const char *what, struct tensor *x,
		 bool last)
{
	int64_t perm[ONNX_MAX_RANK];
	int n = x->ndim;

	for (int d = 1; d < n; d++) {
		perm[d] = last ? (d == n - 1 ? 1 : d + 1)
			       : (d == 1 ? n - 1 : d - 1);
	}
	perm[0] = 0;
	return n > 2 ? compose_transpose(c, what, x, perm) : x;
}

/* Input i with its channels in dimension 1 (`last`: they are the last dimension
 * of the input), or NULL if it is absent. */
static struct tensor *
image(struct compose *c, const char *what, int i, bool last)
{
	struct tensor *x = compose_input(c, i);

	return x && last ? compose_channels(c, what, x, false) : x;
}

static bool
image_result(struct compose *c, struct tensor *y, bool last)
{
	compose_result(c, 0, last ? compose_channels(c, "nhwc", y, true) : y);
	return true;
}

/* Conv, then the addition of input 3 and the activation, if the node has
 * them. */
static bool
conv(struct compose *c, bool last)
{
	const struct attr *given = node_attr(c->node, "activation_params");
	struct tensor *x = image(c, "nchw", 0, last);
	struct tensor *z = image(c, "added", 3, last), *y;

	compose_keep_attrs(c, CONV_ATTRS);
	y = compose_node(c, "conv", "Conv", 3, x, compose_input(c, 1),
			 compose_input(c, 2));
	if (z) {
		y = compose_2(c, "sum", "Add", y, z);
	}
	y = compose_activate(c, y, given ? given->floats : NULL,
			     given ? given->n : 0);
	return image_result(c, y, last);
}

bool
compose_fused_conv(struct compose *c)
{
	return conv(c, false);
}

bool
compose_nhwc_conv(struct compose *c)
{
	return conv(c, true);
}

bool
compose_nhwc_max_pool(struct compose *c)
{
	struct tensor *x = image(c, "nchw", 0, true);

	compose_keep_attrs(c, POOL_ATTRS);
	return image_result(c, compose_1(c, "pool", "MaxPool", x), true);
}

/* QLinearConv of ai.onnx, except that the channels may be the last
 * dimension. */
bool
compose_qlinear_conv(struct compose *c)
{
	bool last = node_attr_int(c->node, "channels_last", 0) != 0;
	struct tensor *x = image(c, "nchw", 0, last), *y;

	compose_keep_attrs(c, CONV_ATTRS);
	y = compose_node(c, "conv", "QLinearConv", 9, x, compose_input(c, 1),
			 compose_input(c, 2), compose_input(c, 3),
			 compose_input(c, 4), compose_input(c, 5),
			 compose_input(c, 6), compose_input(c, 7),
			 compose_input(c, 8));
	return image_result(c, y, last);
}
