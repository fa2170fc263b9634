/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the annotations and marks that describe software pipelines, and the
 * macro that reports errors in them. */
#ifndef TIRC_PIPELINE_NOTES_H
#define TIRC_PIPELINE_NOTES_H

#include "func.h"

#define PIPELINE_STAGE "software_pipeline_stage"
#define PIPELINE_ORDER "software_pipeline_order"
/* The key of a list with one stage, 0: the copies of stage 0 to shared memory
 * are asynchronous, so that a copy need only be complete when its data is first
 * used. */
#define PIPELINE_ASYNC "software_pipeline_async_stages"
#define DOUBLE_BUFFER "double_buffer_scope"
/* The key of an ATTR around a statement of a pipelined loop: [stage, order]. */
#define PIPELINE_MARK "software_pipeline"

enum { PIPELINE_STAGES = 64 };

/* Reports an error in the pipeline of the loop `nest`; always false. */
#define pipeline_fail(f, nest, ...)                                            \
	func_error(f, DIAG_BAD_SCHEDULE,                                       \
		   "the software pipeline of loop %s: %s",                     \
		   (nest)->u.loop.var->name,                                   \
		   arena_printf(&(f)->module->arena, __VA_ARGS__))

#endif
