/* SPDX-License-Identifier: MIT-0 */
/* A program on a simulated board: time in instructions, the stack that a call
 * uses, and the bytes of the model in the program. tirc_board.c has the code
 * that boards share, tirc_board_arm.c and tirc_board_riscv.c the start-up code,
 * and tirc_board.ld places code and data in memory. */
#ifndef TIRC_BOARD_H
#define TIRC_BOARD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Call tirc_board_begin before a call and tirc_board_end after it:
 * tirc_board_end returns the number of instructions that were executed in
 * between. Both together also measure the stack that the call used. */
void tirc_board_begin(void);
uint64_t tirc_board_end(void);
/* The number of instructions since the program started, for measurements
 * between begin and end. */
uint64_t tirc_board_instructions(void);
/* Writes the bytes of the model's code, constants, initialized and other
 * variables in the program, and the most stack between begin and end. */
void tirc_board_report(FILE *file);

/* -- functions that each kind of processor has (tirc_board_arm.c, …) -- */

/* The time since the start, in ticks. tirc_board_hz ticks are 10^9
 * instructions: the simulator counts a nanosecond for each instruction. */
uint64_t tirc_board_ticks(void);
/* Executes 2 * n instructions, for a check of the clock. */
void tirc_board_loop(uint32_t n);
/* Asks the simulator for an operation of semihosting, and returns its
 * result. */
uint32_t tirc_board_semihost(uint32_t operation, const void *argument);
/* Does what the C library needs before it opens files. */
void tirc_board_open_files(void);
/* tirc_board.c: the program starts in tirc_board_main, which only needs a
 * stack. tirc_board_fault is the handler of all faults: the program ends
 * there. */
void tirc_board_main(void);
void tirc_board_fault(void);

#endif
