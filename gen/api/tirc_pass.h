/* SPDX-License-Identifier: Apache-2.0 */
/* For user-defined lowering passes as shared objects:
 *
 *	#include <tirc_pass.h>
 *
 *	TIRC_PASS(f)
 *	{
 *		... edit f ...
 *		return true;
 *	}
 *
 *	cc -shared -fPIC $(pkg-config --cflags tirc) my_pass.c -o my_pass.so
 *	tirc compile model.onnx --add-pass 2:./my_pass.so
 *
 * The pass is called once for each function, after tirc's own passes of the
 * phase. It may call all functions that the headers below declare; tirc
 * contains them. Its result is verified. To refuse a program, call diag_error
 * on &f->module->diags and return false. */
#ifndef TIRC_PASS_H
#define TIRC_PASS_H

#include "analyse.h"
#include "func.h"

/* Incremented with every change of a structure in these headers: an object that
 * was built for another number is refused. */
#define TIRC_PASS_INTERFACE 1

#define TIRC_PASS(function)                                                    \
	extern const int tirc_pass_interface;                                  \
	const int tirc_pass_interface = TIRC_PASS_INTERFACE;                   \
	bool tirc_pass(struct func *function);                                 \
	bool tirc_pass(struct func *function)

#endif
