/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of the self-test. */
#ifndef TIRC_SELFTEST_CELLS_H
#define TIRC_SELFTEST_CELLS_H

#include "host_device.h"
#include "unit.h"

#define CELL_VALUES 32 /* elements of every array */

/* y = op(a, b, c), element by element. */
struct cell {
	const char *name;
	struct dtype in, out; /* without lanes */
	bool uses[3];         /* of a, b, c */
	bool no_zero;         /* b is the array without zeros and NaN */
	bool near;            /* the last bits may differ */
	unsigned char want[CELL_VALUES * 8];
};

/* The cells of one source file: all with the same operand type. */
struct cell_part {
	struct module *m;
	struct unit u;
	struct dtype type;  /* with lanes > 1: a vector type */
	struct strbuf text; /* of the functions */
	VEC(struct cell) cells;
	VEC(const char *) rejected; /* "cell: why" */
	bool failed;
};

/* The values of a, b, c and of b without integer zeros and without NaN. */
void cell_inputs(struct dtype t, unsigned char data[4][CELL_VALUES * 8]);
/* Makes the part's cells; notes the cells that the dialect rejects. */
void cells_of_type(struct cell_part *p);
void cells_of_vectors(struct cell_part *p);

#endif
