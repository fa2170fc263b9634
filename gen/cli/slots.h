/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of .npz, .npy and .pb files for the inputs and outputs of a model. */
#ifndef TIRC_CLI_SLOTS_H
#define TIRC_CLI_SLOTS_H

#include "harness.h"

/* Tensors of the model, with arrays that files give for them. */
struct slots {
	const char *kind;   /* "input", "output" */
	const char *option; /* that names files for them alone */
	int n;
	struct tirc_tensor *tensors;
	struct array *arrays; /* per tensor */
	bool *given;          /* per tensor: is there an array? */
	bool exact; /* other types and shapes than the tensor's are refused */
	int next;   /* the first tensor for an array without a name */
};

/* The inputs of the program; its results: outputs, and states behind them; the
 * inputs that --const-input made constants. */
struct slots slots_of_inputs(struct harness *h);
struct slots slots_of_results(struct harness *h);
struct slots slots_of_constants(struct harness *h);
/* Reads the arrays of "FILE" or "NAME=FILE" for the tensors: by the names in an
 * archive, else in order. A name is recognised only if it is a tensor's. False:
 * reported. */
bool slots_take(struct harness *h, struct slots *s, const char *text);
/* Reads an archive whose arrays are for tensors of several lists, by name. some:
 * other arrays are left out. */
bool slots_take_archive(struct harness *h, struct slots *lists, int n,
			bool some, const char *path);

#endif
