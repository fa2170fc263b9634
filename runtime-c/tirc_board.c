/* SPDX-License-Identifier: MIT-0 */
/* The code that simulated boards share: variables, the command line, the clock
 * and its check, the stack filled with a pattern, and the bytes of the model,
 * which are counted between symbols of tirc_board.ld. */
#include <stdlib.h>
#include <string.h>

#include "tirc_board.h"

#define PAINT 0xa5u
#define MOST_ARGUMENTS 32

/* Numbers of operations of Arm's semihosting; RISC-V's semihosting has the same
 * numbers. */
#define SYS_WRITE0 0x04
#define SYS_GET_CMDLINE 0x15
#define SYS_EXIT 0x18
#define STOPPED_INTERNAL_ERROR 0x20024u

extern uint8_t tirc_data_start[], tirc_data_end[], tirc_data_values[];
extern uint8_t tirc_bss_start[], tirc_bss_end[];
extern uint8_t tirc_stack_limit[];
/* the address of this symbol is the frequency */
extern uint8_t tirc_board_hz[];
extern uint8_t tirc_model_code_start[], tirc_model_code_end[];
extern uint8_t tirc_model_constants_start[], tirc_model_constants_end[];
extern uint8_t tirc_model_data_start[], tirc_model_data_end[];
extern uint8_t tirc_model_bss_start[], tirc_model_bss_end[];

int main(int argc, char **argv);

static uint64_t began;
static size_t most_stack;

static uint64_t
instructions_since(uint64_t start)
{
	return (tirc_board_ticks() - start) * 1000000000u /
	       (uintptr_t)tirc_board_hz;
}

uint64_t
tirc_board_instructions(void)
{
	return instructions_since(0);
}

/* Checks the simulator's count of instructions for a loop of known length; ends
 * the program with an error if it does not count instructions. */
static void
check_clock(void)
{
	const uint32_t passes = 1000000u;
	const uint64_t start = tirc_board_ticks();
	uint64_t counted;

	tirc_board_loop(passes);
	counted = instructions_since(start);
	if (counted < 2u * passes - 2000u || counted > 2u * passes + 2000u) {
		fprintf(stderr,
			"the simulator counted %lu instructions in a loop of %lu\n",
			(unsigned long)counted, 2ul * passes);
		exit(2);
	}
}

/* Reads the command line into `text`, which has room for `bytes` bytes, with a
 * NUL at the end. */
static void
read_command_line(char *text, size_t bytes)
{
	struct {
		char *text;
		size_t bytes;
	} block = { text, bytes };

	text[0] = '\0';
	tirc_board_semihost(SYS_GET_CMDLINE, &block);
}

__attribute__((aligned(4))) void
tirc_board_fault(void)
{
	tirc_board_semihost(SYS_WRITE0, "the program stopped by a fault\n");
	tirc_board_semihost(SYS_EXIT, (const void *)STOPPED_INTERNAL_ERROR);
	for (;;) {
	}
}

void
tirc_board_main(void)
{
	static char text[256];
	static char *words[MOST_ARGUMENTS + 1];
	int n = 0;

	memcpy(tirc_data_start, tirc_data_values,
	       (size_t)(tirc_data_end - tirc_data_start));
	memset(tirc_bss_start, 0, (size_t)(tirc_bss_end - tirc_bss_start));
	tirc_board_open_files();
	read_command_line(text, sizeof text);
	for (char *word = strtok(text, " "); word != NULL && n < MOST_ARGUMENTS;
	     word = strtok(NULL, " ")) {
		words[n++] = word;
	}
	check_clock();
	exit(main(n, words));
}

/* Fills the stack below this function's frame with a pattern, down to the limit
 * that the heap never exceeds. */
__attribute__((noinline)) void
tirc_board_begin(void)
{
	volatile uint8_t *const end = __builtin_frame_address(0);

	for (volatile uint8_t *p = tirc_stack_limit; p < end - 64; p++) {
		*p = PAINT;
	}
	began = tirc_board_ticks();
}

__attribute__((noinline)) uint64_t
tirc_board_end(void)
{
	const volatile uint8_t *const end = __builtin_dwarf_cfa();
	const volatile uint8_t *p = tirc_stack_limit;
	const uint64_t instructions = instructions_since(began);

	while (p < end && *p == PAINT) {
		p++;
	}
	/* At calls, Arm's and RISC-V's stack pointers are multiples of 8: the
	 * lowest frame may begin with bytes that nothing writes. */
	p -= (uintptr_t)p % 8u;
	if ((size_t)(end - p) > most_stack) {
		most_stack = (size_t)(end - p);
	}
	return instructions;
}

void
tirc_board_report(FILE *file)
{
	fprintf(file, "%lu %lu %lu %lu %lu\n",
		(unsigned long)(tirc_model_code_end - tirc_model_code_start),
		(unsigned long)(tirc_model_constants_end -
				tirc_model_constants_start),
		(unsigned long)(tirc_model_data_end - tirc_model_data_start),
		(unsigned long)(tirc_model_bss_end - tirc_model_bss_start),
		(unsigned long)most_stack);
}
