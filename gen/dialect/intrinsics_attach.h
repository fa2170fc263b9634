/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics that are data, for whoever schedules. */
#ifndef TIRC_INTRINSICS_ATTACH_H
#define TIRC_INTRINSICS_ATTACH_H

#include "tensor_intrin.h"

/* Makes out find those of dir (or NULL) and those that ship when a schedule
 * names them. Mistakes in their files go to m's diagnostics. */
void intrinsics_attach(struct module *m, const char *dir,
		       struct tensor_intrins *out);

#endif
