/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the libraries that programs can use, and the functions for each
 * kind of values. */
#include "build_parts.h"
#include "library_text.h"
#include "numpy.h"
#include "python_parts.h"
#include "relay_values.h"
#include "start.h"
#include "te_parts.h"
#include "tir_parts.h"

static const struct library *const list[] = {
	&python_library, &te_library,    &build_library, &models_library,
	&tir_library,    &numpy_library, &text_library,
};

const struct libraries libraries = {
	.list = list,
	.n = sizeof list / sizeof *list,
	.kinds = {
		[PV_ARRAY] = &array_ops,
		[PV_BLOCK] = &handle_ops,
		[PV_BUFFER] = &buffer_ops,
		[PV_BUILT] = &built_ops,
		[PV_DEVICE] = &device_ops,
		[PV_FUNC] = &func_ops,
		[PV_GRAPH] = &graph_ops,
		[PV_GRAPH_FUNC] = &graph_func_ops,
		[PV_IRMODULE] = &irmodule_ops,
		[PV_HYBRID] = &hybrid_ops,
		[PV_IR_SCOPE] = &ir_scope_ops,
		[PV_LIBRARY] = &library_ops,
		[PV_LOOP] = &handle_ops,
		[PV_NDARRAY] = &nd_ops,
		[PV_PASS] = &pass_ops,
		[PV_PASS_CONTEXT] = &pass_context_ops,
		[PV_REDUCER] = &reducer_ops,
		[PV_POINTER] = &pointer_ops,
		[PV_RUNTIME] = &runtime_ops,
		[PV_SCHEDULE] = &script_ops,
		[PV_STMT] = &stmt_ops,
		[PV_TAG_SCOPE] = &tag_scope_ops,
		[PV_TARGET] = &target_ops,
		[PV_TENSOR] = &tensor_ops,
		[PV_TENSOR_PART] = &tensor_part_ops,
		[PV_TE_SCHEDULE] = &te_schedule_ops,
		[PV_TIMER] = &timer_ops,
		[PV_TRACE] = &script_ops,
		[PV_TVMC_RESULT] = &tvmc_result_ops,
	},
};
