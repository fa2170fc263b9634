/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of the self-test. */
#ifndef TIRC_SELFTEST_CELLS_H
#define TIRC_SELFTEST_CELLS_H

#include "host_device.h"
#include "unit.h"

#define CELL_VALUES 32 /* elements of each array */

/* A test of one operation on one type: y = op(a, b, c) for each element of
 * arrays. */
struct cell {
	const char *name;     /* name of its function in the test program */
	struct dtype in, out; /* scalar types of the operands (in), and of y
			       * (out) */
	bool uses[3];         /* does the operation use a, b, c? */
	bool no_zero;         /* b has values that are neither zero nor NaN */
	bool near; /* the last bits of the results may differ from `want` */
	unsigned char want[CELL_VALUES * 8]; /* the interpreter's results */
};

/* The cells of one source file; all have the same operand type. */
struct cell_part {
	struct module *m;
	struct unit u;
	struct dtype type;  /* type of the operands; lanes > 1: a vector type */
	struct strbuf text; /* source of the functions */
	VEC(struct cell) cells;
	/* "cell: reason", for cells that the dialect lacks */
	VEC(const char *) rejected;
	bool failed;
};

/* The test values of a, b, c, and, as data[3], of b without integer zeros and
 * NaN. */
void cell_inputs(struct dtype t, unsigned char data[4][CELL_VALUES * 8]);
/* Makes the cells of the part p; cells that use an operation that the dialect
 * lacks are only recorded. */
void cells_of_type(struct cell_part *p);
void cells_of_vectors(struct cell_part *p);
/* Makes the tests (cells of the table of the self-test) of the conversion of vectors of
 * the 16-bit float type p->type to float32. */
void cells_of_halves(struct cell_part *p);

#endif
