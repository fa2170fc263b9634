/* SPDX-License-Identifier: Apache-2.0 */
/* The model as it was read, in the interpreter, whose results emitted code is
 * compared with; and random inputs for it. */
#ifndef TIRC_CLI_INTERPRETED_H
#define TIRC_CLI_INTERPRETED_H

#include "data_set.h"

/* The random numbers of a fixed seed: the same in each run. */
#define INTERPRETED_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Fills an array with random numbers that most models take: floats from -1 to 1, all
 * bytes, and other integers 0 or 1, which are indices of most dimensions. */
void interpreted_fill(struct array *x, uint64_t *state);
/* A data set of random inputs, at the largest sizes; without expected outputs. */
void interpreted_inputs(struct harness *h, struct data_set *out);
/* The data set with the outputs that the interpreter computes from its inputs. The
 * states of the model begin at zeros. False: reported. */
bool interpreted_read(struct harness *h, struct data_set *out);
/* The model of the options c with numbers in place of its symbolic sizes, which the
 * interpreter needs: those of these inputs of h's program. NULL: reported. */
struct tirc *interpreted_sized(const struct harness *h, struct cli *c,
			       const struct array *inputs);
/* The state that is the model's input at this position; -1: none is. */
int interpreted_state(struct tirc *model, int position);

#endif
