/* SPDX-License-Identifier: Apache-2.0 */
/* The operators whose nodes are replaced by other nodes as soon as the types
 * and shapes of their inputs are known, and the values of inputs that are
 * constants. */
#include "bodies.h"
#include "compose.h"
#include "finish.h"
#include "ml.h"
#include "ops.h"
#include "upgrade.h"

static const struct expander rows[] = {
	{ "", "ConcatFromSequence", expand_sequence, 1, 1, 0, true },
	{ "ai.onnx.preview", "FlexAttention", expand_flex, 3, 3, 0, false },
	{ "", "DeformConv", expand_deform_conv, 3, 5, 0, true },
	{ "", "If", expand_if, 1, 1, 0, false },
	{ "", "Loop", expand_loop, 0, -1, 2, false },
	{ "", "Optional", expand_sequence, 0, 1, 0, true },
	{ "", "OptionalGetElement", expand_sequence, 1, 1, 0, true },
	{ "", "OptionalHasElement", expand_sequence, 0, 1, 0, true },
	{ "", "Scan", expand_scan, 1, -1, 1, false },
	{ "", "SequenceAt", expand_sequence, 2, 2, 0, true },
	{ "", "SequenceConstruct", expand_sequence, 1, -1, 0, true },
	{ "", "SequenceEmpty", expand_sequence, 0, 0, 0, true },
	{ "", "SequenceErase", expand_sequence, 1, 2, 0, true },
	{ "", "SequenceInsert", expand_sequence, 2, 3, 0, true },
	{ "", "SequenceLength", expand_sequence, 1, 1, 0, true },
	{ "", "SequenceMap", expand_sequence, 1, -1, 0, false },
	{ "", "SplitToSequence", expand_sequence, 1, 2, 0, true },
};

/* The row that all operators of ai.onnx.ml share: expand_ml() finds the
 * operator of a node. */
static const struct expander ml_row = {
	.expand = expand_ml, .min = 1, .max = -1, .own_output = true
};

const struct expander *
find_expander(const char *domain, const char *op_type)
{
	if (is_ml_operator(domain, op_type)) {
		return &ml_row;
	}
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (strcmp(rows[i].domain, domain) == 0 &&
		    strcmp(rows[i].op_type, op_type) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

bool
knows_operator(const char *domain, const char *op_type)
{
	return op_find(domain, op_type) || find_expander(domain, op_type) ||
	       is_composed_operator(domain, op_type) ||
	       is_upgraded_operator(domain, op_type) ||
	       (!*domain && strcmp(op_type, "Constant") == 0);
}
