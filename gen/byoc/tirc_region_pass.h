/* SPDX-License-Identifier: Apache-2.0 */
/* For a backend's pass over graphs and their regions, as a shared object that
 * its backend.json names:
 *
 *	#include <tirc_region_pass.h>
 *
 *	TIRC_REGION_PASS(graph, backend)
 *	{
 *		... edit graph and the regions of backend ...
 *		return true;
 *	}
 *
 *	cc -shared -fPIC $(pkg-config --cflags tirc) my_pass.c -o my_pass.so
 *
 * It may call all functions that the headers below declare; tirc contains them.
 * Its result is verified. To refuse a graph, call diag_error on
 * &graph->module->diags and return false. */
#ifndef TIRC_REGION_PASS_H
#define TIRC_REGION_PASS_H

#include "backend.h"
#include "graph_region.h"

/* Incremented with every change of a structure in these headers: an object that
 * was built for another number is refused. */
#define TIRC_REGION_PASS_INTERFACE 1

#define TIRC_REGION_PASS(graph_, backend_)                                     \
	extern const int tirc_region_pass_interface;                           \
	const int tirc_region_pass_interface = TIRC_REGION_PASS_INTERFACE;     \
	bool tirc_region_pass(struct graph *graph_,                            \
			      const struct backend *backend_);                 \
	bool tirc_region_pass(struct graph *graph_,                            \
			      const struct backend *backend_)

#endif
