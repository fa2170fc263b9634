/* SPDX-License-Identifier: MIT-0 */
/* Start-up code of RISC-V's board "virt" in QEMU. mcycle counts instructions when
 * the simulator counts them. */
#include "tirc_board.h"

/* Sets tp: the C library for RISC-V keeps errno in thread-local memory, to which
 * tp points. */
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

/* The three instructions that call the simulator must not be compressed, and
 * must be on one page. */
uint32_t
tirc_board_semihost(uint32_t operation, const void *argument)
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
tirc_board_open_files(void)
{
}
