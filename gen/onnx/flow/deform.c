/* SPDX-License-Identifier: Apache-2.0 */
/* A deformable convolution becomes a matrix product of the weights and samples
 * of the input, taken at shifted positions.
 *
 *	before	y = DeformConv<group=g>(x, w, offset, b, mask)
 *	after	s = tirc.DeformSample(x, offset, mask)  # [n, c * taps, oh, ow]
 *		r = Reshape(s, [0, g, c / g * taps, -1])
 *		v = Reshape(w, [g, m / g, c / g * taps])
 *		p = MatMul(v, r)                        # [n, g, m / g, oh * ow]
 *		y = Add(Reshape(p, [0, m, oh, ow]), b)
 */
#include "bodies.h"
#include "ops.h"

/* Sizes of a deformable convolution; rank: of its tensors. */
struct sizes {
	int64_t group, maps, rows; /* rows: the number of terms of each sum */
	int64_t kernel[ONNX_MAX_RANK], out[ONNX_MAX_RANK];
	bool known; /* the sizes in `out` are numbers */
	int rank;
};

static bool
read_sizes(const struct node *n, struct sizes *s)
{
	const struct tensor *w = node_input(n, 1), *offset = node_input(n, 2);

	if (!node_input(n, 0) || !w || !offset || w->ndim < 3 ||
	    w->ndim > ONNX_MAX_RANK || offset->ndim != w->ndim ||
	    node_input(n, 0)->ndim != w->ndim ||
	    !expr_is_int(w->shape[0], &s->maps) ||
	    !expr_is_int(w->shape[1], &s->rows)) {
		return false;
	}
	s->rank = w->ndim - 2;
	s->group = node_attr_int(n, "group", 1);
	s->known = true;
	for (int d = 0; d < s->rank; d++) {
		if (!expr_is_int(w->shape[2 + d], &s->kernel[d])) {
			return false;
		}
		s->known = expr_is_int(offset->shape[2 + d], &s->out[d]) &&
			   s->known;
		if (__builtin_mul_overflow(s->rows, s->kernel[d], &s->rows)) {
			return false;
		}
	}
	return s->group > 0 && s->maps % s->group == 0;
}

static struct tensor *
reshape(struct importer *imp, struct deferred *d, struct tensor *t,
	const char *name, int n, const int64_t *shape)
{
	struct tensor *in[] = {
		t,
		graph_constant_ints(imp->g,
				    arena_printf(&imp->tmp, "%s_shape", name),
				    n, shape)
	};

	return deferred_node(imp, d, "Reshape", in, 2, name);
}

static struct tensor *
samples(struct importer *imp, struct deferred *d, const struct sizes *s)
{
	static const char *const kept[] = { "strides", "pads", "dilations" };
	struct node *n = d->node, *made;
	struct tensor *in[] = { n->inputs[0], n->inputs[2], node_input(n, 4) };
	struct tensor *out = graph_tensor(imp->g,
					  arena_printf(&imp->tmp, "%s_samples",
						       n->outputs[0]->name));

	made = import_add_node(imp, "tirc", "DeformSample", n->name, in,
			       in[2] ? 3 : 2, &out, 1, d->origin,
			       GRAPH_CANONICAL_OPSET);
	made->op = op_find("tirc", "DeformSample");
	node_set_attr_ints(imp->g, made, "kernel_shape", s->kernel, s->rank);
	node_set_attr_int(imp->g, made, "offset_group",
			  node_attr_int(n, "offset_group", 1));
	for (int k = 0; k < 3; k++) {
		if (node_attr(n, kept[k])) {
			node_set_attr(imp->g, made, node_attr(n, kept[k]));
		}
	}
	return out;
}

/* The result in its shape: the matrix product `sums`, which has one row for
 * each map, reshaped. */
static struct tensor *
in_shape(struct importer *imp, struct deferred *d, const struct sizes *s,
	 struct tensor *sums, struct tensor *sampled, const char *name)
{
	int64_t shape[ONNX_MAX_RANK + 2] = { 0, s->maps };
	struct tensor *in[2];

	if (s->known) {
		memcpy(shape + 2, s->out, sizeof *shape * (size_t)s->rank);
		return reshape(imp, d, sums, name, 2 + s->rank, shape);
	}
	in[0] = graph_constant_ints(imp->g,
				    arena_printf(&imp->tmp, "%s_maps", name), 2,
				    shape);
	in[1] = deferred_node(imp, d, "Shape", &sampled, 1,
			      arena_printf(&imp->tmp, "%s_sizes", name));
	node_set_attr_int(imp->g, in[1]->producer, "start", 2);
	in[1] = deferred_node(imp, d, "Concat", in, 2,
			      arena_printf(&imp->tmp, "%s_shape", name));
	node_set_attr_int(imp->g, in[1]->producer, "axis", 0);
	in[0] = sums;
	return deferred_node(imp, d, "Reshape", in, 2, name);
}

bool
expand_deform_conv(struct importer *imp, struct deferred *d)
{
	struct node *n = d->node;
	const char *name = n->n_outputs > 0 && n->outputs[0]
				   ? n->outputs[0]->name
				   : n->name;
	int64_t shape[ONNX_MAX_RANK + 4];
	struct sizes s = { 0 };
	struct tensor *t[2], *bias, *sampled;

	if (!read_sizes(n, &s)) {
		return deferred_refuse(
			imp, d,
			"the shape of its weights is not known, or "
			"contradicts the ranks of its other inputs; "
			"correct the model, or give sizes with "
			"--dim");
	}
	shape[0] = 0;
	shape[1] = s.group;
	shape[2] = s.rows;
	shape[3] = -1;
	sampled = samples(imp, d, &s);
	t[1] = reshape(imp, d, sampled,
		       arena_printf(&imp->tmp, "%s_columns", name), 4, shape);
	shape[0] = s.group;
	shape[1] = s.maps / s.group;
	t[0] = reshape(imp, d, n->inputs[1],
		       arena_printf(&imp->tmp, "%s_matrix", name), 3, shape);
	t[0] = deferred_node(imp, d, "MatMul", t, 2,
			     arena_printf(&imp->tmp, "%s_product", name));
	t[0] = in_shape(imp, d, &s, t[0], sampled,
			arena_printf(&imp->tmp, "%s_sums", name));
	bias = node_input(n, 3);
	if (bias) {
		shape[0] = s.maps;
		for (int k = 0; k < s.rank; k++) {
			shape[1 + k] = 1;
		}
		t[1] = reshape(imp, d, bias,
			       arena_printf(&imp->tmp, "%s_bias", name),
			       1 + s.rank, shape);
		t[0] = deferred_node(imp, d, "Add", t, 2,
				     arena_printf(&imp->tmp, "%s_total", name));
	}
	deferred_output(imp, d, 0, t[0]);
	return deferred_finish(imp, d, NULL);
}
