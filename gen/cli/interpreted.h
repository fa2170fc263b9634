/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the model in the interpreter, as it was read or after the passes that
 * choose how results are rounded. The results of emitted code are compared with
 * the interpreter's results. Also makes random inputs. */
#ifndef TIRC_INTERPRETED_H
#define TIRC_INTERPRETED_H

#include "data_set.h"

/* Fills an array with random numbers that suit most models: floats in [-1, 1],
 * any value for integers of 8 bits, and 0 or 1 for other integers, since these
 * integers may be indices, and 0 and 1 are valid indices of most dimensions. */
void interpreted_fill(struct array *x, uint64_t *state);
/* Sets values[r][d] to the value of symbolic size d in run r: the largest in
 * the first run, the smallest above 0 in the second, one between these two in
 * the third. Returns the number of runs whose sizes differ: 1 without symbolic
 * sizes, at most INTERPRETED_SIZES. */
enum { INTERPRETED_SIZES = 3 };
int interpreted_sizes(struct harness *h, int64_t **values);
/* Makes a data set of random inputs without expected outputs. sizes: the values
 * of the symbolic sizes; NULL: their largest values. Another --seed gives other
 * inputs. Returns false after an
 * error message, if the inputs and outputs exceed the limit of memory. */
bool interpreted_inputs(struct harness *h, const int64_t *sizes,
			struct data_set *out);
/* Makes a data set of random inputs and of the outputs that the interpreter
 * computes from them. The states of the model begin as zeros. Returns false
 * after an error message. */
bool interpreted_read(struct harness *h, const int64_t *sizes,
		      struct data_set *out);
/* Sets the expected results of *out to the interpreter's results for `inputs`,
 * which are arrays for h's program, with the states of h's next run and the
 * rounding of h's program. Returns false after an error message. */
bool interpreted_results(struct harness *h, const struct array *inputs,
			 struct data_set *out);
/* Can the model be loaded with the values `sizes` of its symbolic sizes? If
 * not, prints a note and returns false. */
bool interpreted_takes(struct harness *h, const int64_t *sizes);
/* Loads the model of the options c with numbers in place of its symbolic sizes,
 * because the interpreter needs numbers. The numbers follow from `inputs`,
 * which are arrays for h's program. Returns NULL after an error message. */
struct tirc *interpreted_sized(const struct harness *h, struct cli *c,
			       const struct array *inputs);
/* Did graph passes change the rounding of the compiled model (--requant
 * tflite)? Differences in rounding add up from layer to layer, so that the
 * results of the compiled model are then compared with the interpreter's
 * results after the same passes. */
bool interpreted_rounds(struct tirc *compiled);
/* If graph passes changed the rounding of the compiled model, runs the same
 * passes on `model`, which must be loaded. Returns false after an error
 * message. */
bool interpreted_round(struct tirc *compiled, struct tirc *model);
/* The index of output `position` of the model among the results of a run of h's
 * program. The results have the states after all other outputs; the model has
 * them in between. */
int interpreted_result(const struct harness *h, int position);
/* Runs the interpreter. inputs: an array for each input that is not a state.
 * before: the outputs of the previous run, which contain the states; NULL: the
 * states are zeros. Allocates *out, an array for each output. Returns false
 * after an error message. */
bool interpreted_run(struct arena *a, struct tirc *model,
		     const struct array *inputs, const struct array *before,
		     struct array **out);

#endif
