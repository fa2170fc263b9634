/* SPDX-License-Identifier: Apache-2.0 */
/* The note that schedules leave for the pass `place-init`. */
#ifndef TIRC_WRITTEN_OUT_H
#define TIRC_WRITTEN_OUT_H

/* A note on a reduction of a few terms: its result is written as one expression
 * of all its terms. */
#define WRITTEN_OUT "written_out"

#endif
