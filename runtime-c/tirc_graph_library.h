/* SPDX-License-Identifier: MIT-0 */
/* Loads the kernels of a shared object by the name of their table; POSIX.
 * Programs that link the kernels do not need this header.
 *
 *	void *library;
 *	const struct tirc_kernels *kernels = tirc_graph_library(
 *		"./libnet_kernels.so", "net_kernels", &library);
 *
 * Call dlclose(library) after all graphs that use the kernels are destroyed. */
#ifndef TIRC_GRAPH_LIBRARY_H
#define TIRC_GRAPH_LIBRARY_H

#include <dlfcn.h>

#include "tirc_graph.h"

/* On failure returns NULL and closes the library; dlerror() tells why. */
static inline const struct tirc_kernels *
tirc_graph_library(const char *path, const char *table, void **library)
{
	const struct tirc_kernels *kernels = NULL;

	*library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (*library != NULL) {
		kernels = (const struct tirc_kernels *)dlsym(*library, table);
	}
	if (*library != NULL && kernels == NULL) {
		dlclose(*library);
		*library = NULL;
	}
	return kernels;
}

#endif
