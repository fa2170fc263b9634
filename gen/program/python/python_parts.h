/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of gen/program/python/ share. */
#ifndef TIRC_PYTHON_PARTS_H
#define TIRC_PYTHON_PARTS_H

#include "library.h"

/* Reverses the order of n values. */
void pv_reverse(struct pval *items, int n);

#define NAME(in, kind, name, params, function) name_fn function;
#include "python.def"
#undef NAME

extern const struct library python_library;

#endif
