/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the model as it was read, or with the passes that set its rounding, in
 * the interpreter; the results of emitted code are compared with the
 * interpreter's. Also random inputs. */
#ifndef TIRC_INTERPRETED_H
#define TIRC_INTERPRETED_H

#include "data_set.h"

/* Fills an array with random numbers that suit most models: floats in [-1, 1],
 * any bytes, other integers 0 or 1 (valid indices of most dimensions). */
void interpreted_fill(struct array *x, uint64_t *state);
/* The values of the symbolic sizes, one for each tirc_dim, for up to
 * INTERPRETED_SIZES runs: the largest, the smallest but 0, and one between.
 * Returns how many differ; 1 without symbolic sizes. */
enum { INTERPRETED_SIZES = 3 };
int interpreted_sizes(struct harness *h, int64_t **values);
/* Makes a data set of random inputs without expected outputs; sizes: the values
 * of the symbolic sizes, or NULL: the largest. */
void interpreted_inputs(struct harness *h, const int64_t *sizes,
			struct data_set *out);
/* Makes a data set of random inputs and the outputs that the interpreter
 * computes; the model's states begin as zeros. False after an error message. */
bool interpreted_read(struct harness *h, const int64_t *sizes,
		      struct data_set *out);
/* Sets the expected results of *out to what the interpreter computes from these
 * inputs, arrays for h's program, and the states of h's next run, with the rounding
 * of h's program. False after an error message. */
bool interpreted_results(struct harness *h, const struct array *inputs,
			 struct data_set *out);
/* Can the model be loaded with these sizes? False after a note. */
bool interpreted_takes(struct harness *h, const int64_t *sizes);
/* Loads the model of the options c with numbers in place of its symbolic sizes,
 * since the interpreter needs numbers; these follow from `inputs`, arrays for
 * h's program. NULL after an error message. */
struct tirc *interpreted_sized(const struct harness *h, struct cli *c,
			       const struct array *inputs);
/* Does the compiled model have another rounding than the nodes of the model, set
 * by passes over the graph (--requant tflite)? Differences of rounding add up
 * from layer to layer, so that only a model with these passes has the right
 * values. */
bool interpreted_rounds(struct tirc *compiled);
/* Runs these passes on a loaded model if the compiled one has their rounding.
 * False after an error message. */
bool interpreted_round(struct tirc *compiled, struct tirc *model);
/* Runs the interpreter. inputs: the values of the inputs that are not states;
 * before: the outputs of the previous run, from which the states are taken, or
 * NULL: the states are zeros. Allocates *out, the values of all outputs. False
 * after an error message. */
bool interpreted_run(struct arena *a, struct tirc *model,
		     const struct array *inputs, const struct array *before,
		     struct array **out);

#endif
