/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of .npz, .npy and .pb files for the inputs and outputs of a model. */
#ifndef TIRC_SLOTS_H
#define TIRC_SLOTS_H

#include "harness.h"

/* A list of tensors of the model, with the arrays that files give them. */
struct slots {
	const char *kind;   /* "input" or "output", for messages */
	const char *option; /* the option that gives a file for one tensor of
			     * the list, for messages */
	int n;
	struct tirc_tensor *tensors;
	struct array *arrays; /* for each tensor */
	bool *given;          /* by tensor: does it have an array? */
	bool exact;           /* arrays of another type or shape are refused */
	int next; /* index of the tensor that the next array without a name is
		   * for */
};

/* The lists of the inputs of the program; of its results (outputs, then
 * states); and of the inputs that --const-input made constants. */
struct slots slots_of_inputs(struct harness *h);
struct slots slots_of_results(struct harness *h);
struct slots slots_of_constants(struct harness *h);
/* Reads the arrays of "FILE" or "NAME=FILE" for a list: those of an archive by
 * name, others in the order of the tensors. NAME is only recognised if it is
 * the name of a tensor. Archives may have outputs beside the inputs of a list,
 * and inputs beside outputs, which are skipped. False after an error
 * message. */
bool slots_take(struct harness *h, struct slots *s, const char *text);
/* Reads an archive with arrays for the tensors of n lists, by name. some: skip
 * other arrays, which otherwise are an error. */
bool slots_take_archive(struct harness *h, struct slots *lists, int n,
			bool some, const char *path);

#endif
