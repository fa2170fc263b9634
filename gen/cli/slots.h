/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns arrays of .npz, .npy and .pb files to the inputs and outputs of a
 * model. */
#ifndef TIRC_SLOTS_H
#define TIRC_SLOTS_H

#include "harness.h"

/* A list of tensors of the model, with the arrays that files give them. */
struct slots {
	const char *kind; /* "input" or "output", for messages */
	/* the option that gives a file for one tensor, for messages */
	const char *option;
	int n;
	struct tirc_tensor *tensors;
	struct array *arrays; /* for each tensor */
	bool *given;          /* for each tensor: does it have an array? */
	bool exact;           /* arrays of another type or shape are refused */
	/* the index of the tensor for the next array that has no name */
	int next;
};

/* The first list has the inputs of the program, the second its results (the
 * outputs and then the states), the third the inputs that --const-input makes
 * constants. */
struct slots slots_of_inputs(struct harness *h);
struct slots slots_of_results(struct harness *h);
struct slots slots_of_constants(struct harness *h);
/* A list of n results of nodes, whose tensors the caller sets. */
struct slots slots_of_layers(struct harness *h, int n);
/* Reads the arrays of "FILE" or "NAME=FILE" into a list. Arrays of an archive
 * are assigned to tensors by name, arrays of other files in the order of the
 * tensors. NAME= counts as a part of the file's name unless it is the name of a
 * tensor. An archive that is read for inputs may also contain outputs, and one
 * that is read for outputs may contain inputs: they are skipped. Returns false
 * after an error message. */
bool slots_take(struct harness *h, struct slots *s, const char *text);
/* Reads an archive with arrays for the tensors of n lists, assigned by name. If
 * `some` is set, arrays that belong to no tensor are skipped; else they are an
 * error. Returns false after an error message. */
bool slots_take_archive(struct harness *h, struct slots *lists, int n,
			bool some, const char *path);

#endif
