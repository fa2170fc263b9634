/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the annotations and marks that describe software pipelines. */
#ifndef TIRC_PIPELINE_H
#define TIRC_PIPELINE_H

#define PIPELINE_STAGE "software_pipeline_stage"
#define PIPELINE_ORDER "software_pipeline_order"
/* A list with the one stage, 0, whose copies to shared memory are asynchronous:
 * they need only have completed at their first use. */
#define PIPELINE_ASYNC "software_pipeline_async_stages"
#define DOUBLE_BUFFER "double_buffer_scope"
/* An ATTR around a statement of a pipelined loop: [stage, order]. */
#define PIPELINE_MARK "software_pipeline"

enum { PIPELINE_STAGES = 64 };

#endif
