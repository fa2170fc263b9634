/* SPDX-License-Identifier: MIT-0 */
/* Start-up code of RISC-V's board "virt" in QEMU. mcycle counts instructions when
 * the simulator counts them. */
#include "tirc_board.h"

#define SYS_WRITE0 0x04
#define SYS_GET_CMDLINE 0x15
#define SYS_EXIT 0x18
#define STOPPED_INTERNAL_ERROR 0x20024u

/* The library's errno is in the memory of a thread, at tp. */
__asm__(".section .vectors, \"ax\"\n"
	".option push\n"
	".option norelax\n"
	".option arch, +zicsr\n"
	".globl tirc_board_reset\n"
	"tirc_board_reset:\n"
	"	la gp, __global_pointer$\n"
	"	la sp, tirc_stack_top\n"
	"	la tp, tirc_thread_start\n"
	"	la t0, tirc_board_fault\n"
	"	csrw mtvec, t0\n"
	"	j tirc_board_main\n"
	".option pop\n"
	".text\n");

void tirc_board_fault(void);

/* The three instructions that ask the simulator, without compression and on one
 * page. */
static uint32_t
semihost(uint32_t operation, const void *argument)
{
	register uint32_t a0 __asm__("a0") = operation;
	register const void *a1 __asm__("a1") = argument;

	__asm__ volatile(".option push\n\t"
			 ".option norvc\n\t"
			 ".balign 16\n\t"
			 "slli x0, x0, 0x1f\n\t"
			 "ebreak\n\t"
			 "srai x0, x0, 7\n\t"
			 ".option pop"
			 : "+r"(a0)
			 : "r"(a1)
			 : "memory");
	return a0;
}

__attribute__((aligned(4))) void
tirc_board_fault(void)
{
	semihost(SYS_WRITE0, "the program stopped by a fault\n");
	semihost(SYS_EXIT, (const void *)STOPPED_INTERNAL_ERROR);
	for (;;) {
	}
}

uint64_t
tirc_board_ticks(void)
{
	uint32_t high;
	uint32_t low;
	uint32_t again;

	do {
		__asm__ volatile(".option push\n\t"
				 ".option arch, +zicsr\n\t"
				 "csrr %0, mcycleh\n\t"
				 "csrr %1, mcycle\n\t"
				 "csrr %2, mcycleh\n\t"
				 ".option pop"
				 : "=r"(high), "=r"(low), "=r"(again));
	} while (high != again);
	return (uint64_t)high << 32 | low;
}

void
tirc_board_loop(uint32_t n)
{
	__asm__ volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r"(n));
}

void
tirc_board_command_line(char *text, size_t bytes)
{
	struct {
		char *text;
		size_t bytes;
	} block = { text, bytes };

	text[0] = '\0';
	semihost(SYS_GET_CMDLINE, &block);
}

void
tirc_board_open_files(void)
{
}
