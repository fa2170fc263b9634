/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor intrinsics from their data files, for schedules. */
#ifndef TIRC_INTRINSICS_ATTACH_H
#define TIRC_INTRINSICS_ATTACH_H

#include "tensor_intrin.h"

/* Makes `out` load an intrinsic when a schedule first names it: from the user's
 * folder dir (if not NULL), or the embedded one. Mistakes in its files are
 * reported in m's diagnostics. */
void intrinsics_attach(struct module *m, const char *dir,
		       struct tensor_intrins *out);

#endif
