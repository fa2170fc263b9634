/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the annotations and marks that pipelines are made from. */
#ifndef TIRC_PIPELINE_H
#define TIRC_PIPELINE_H

#define PIPELINE_STAGE "software_pipeline_stage"
#define PIPELINE_ORDER "software_pipeline_order"
/* A list of the one stage, 0, whose copies into shared memory need not have
 * arrived until they are used. */
#define PIPELINE_ASYNC "software_pipeline_async_stages"
#define DOUBLE_BUFFER "double_buffer_scope"
/* An ATTR around a statement of a pipelined loop: [stage, order]. */
#define PIPELINE_MARK "software_pipeline"

enum { PIPELINE_STAGES = 64 };

#endif
