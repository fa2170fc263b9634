/* SPDX-License-Identifier: MIT-0 */
/* A program on a simulated board: time in instructions, the stack that a call
 * uses, and the bytes of the model in the program. tirc_board.c has what boards
 * share, tirc_board_arm.c and tirc_board_riscv.c the start-up code, and
 * tirc_board.ld places everything. */
#ifndef TIRC_BOARD_H
#define TIRC_BOARD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Around a call: its instructions, and the stack that it uses. */
void tirc_board_begin(void);
uint64_t tirc_board_end(void);
/* Instructions since the program started, for what happens between the two. */
uint64_t tirc_board_instructions(void);
/* Writes the bytes of the model's code, constants, initialized and other
 * variables in the program, and the most stack between begin and end. */
void tirc_board_report(FILE *file);

/* -- of one kind of processor -- */

/* Time so far. tirc_board_hz ticks are 10^9 instructions: the simulator takes a
 * nanosecond for each. */
uint64_t tirc_board_ticks(void);
/* Executes 2 * n instructions. */
void tirc_board_loop(uint32_t n);
/* Asks the simulator for an operation of semihosting; its result. */
uint32_t tirc_board_semihost(uint32_t operation, const void *argument);
/* What the C library needs before it opens files. */
void tirc_board_open_files(void);
/* tirc_board.c: the program starts in the first, which needs a stack alone, and
 * ends in the second, the handler of all faults. */
void tirc_board_main(void);
void tirc_board_fault(void);

#endif
