/* SPDX-License-Identifier: Apache-2.0 */
/* The note that schedules leave for the pass place-init. */
#ifndef TIRC_WRITTEN_OUT_H
#define TIRC_WRITTEN_OUT_H

/* On a reduction of a few terms: its result is one expression of all of them. */
#define WRITTEN_OUT "written_out"

#endif
