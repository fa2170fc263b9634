/* SPDX-License-Identifier: Apache-2.0 */
/* Draws records. */
#ifndef TIRC_RECORDS_PLOT_H
#define TIRC_RECORDS_PLOT_H

#include "records.h"

/* Appends an SVG that needs no other file: for each kernel and target, the
 * measurements in their order and the best one so far. Returns false if the
 * list is empty. */
bool records_plot(struct arena *a, const struct records *list,
		  struct strbuf *out);

#endif
