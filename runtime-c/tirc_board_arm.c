/* SPDX-License-Identifier: MIT-0 */
/* Start-up code of Cortex-M boards in QEMU. SysTick counts the board's clock. */
#include <string.h>

#include "tirc_board.h"

#define SYST_CSR (*(volatile uint32_t *)0xe000e010u)
#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)
#define CPACR (*(volatile uint32_t *)0xe000ed88u)

/* the number of ticks from one interrupt of SysTick to the next */
#define TICKS 0x1000000u

extern uint32_t tirc_stack_top[], tirc_stack_limit[];
extern void *__heap_limit; /* defined by the C library */

void initialise_monitor_handles(void);
void _fini(void);
void _init(void);

static volatile uint32_t wraps;

uint32_t
tirc_board_semihost(uint32_t operation, const void *argument)
{
	register uint32_t r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = argument;

	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}

static void
systick(void)
{
	wraps = wraps + 1u;
}

static void
reset(void)
{
#if (defined __ARM_FP && __ARM_FP != 0) || defined __ARM_FEATURE_MVE
	CPACR |= 0xfu << 20; /* enable coprocessors 10 and 11, the
			      * floating-point unit */
	__asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
	SYST_RVR = TICKS - 1u;
	SYST_CVR = 0u;
	SYST_CSR = 7u; /* enables SysTick: the processor's clock, with
		        * interrupts */
	tirc_board_main();
}

__attribute__((section(".vectors"),
	       used)) static const void *const vectors[16] = {
	tirc_stack_top,          reset,
	[2] = tirc_board_fault,  [3] = tirc_board_fault,
	[4] = tirc_board_fault,  [5] = tirc_board_fault,
	[6] = tirc_board_fault,  [11] = tirc_board_fault,
	[12] = tirc_board_fault, [14] = tirc_board_fault,
	[15] = systick
};

uint64_t
tirc_board_ticks(void)
{
	uint32_t high;
	uint32_t low;

	do {
		high = wraps;
		low = TICKS - 1u - SYST_CVR;
	} while (high != wraps);
	return (uint64_t)high * TICKS + low;
}

void
tirc_board_loop(uint32_t n)
{
	__asm__ volatile(".syntax unified\n\t"
			 "1: subs %0, %0, #1\n\t"
			 "bne 1b"
			 : "+l"(n)
			 :
			 : "cc");
}

void
tirc_board_open_files(void)
{
	__heap_limit = tirc_stack_limit;
	initialise_monitor_handles();
}

/* The C library's start-up code calls these before and after main: they do
 * nothing. */
void
_init(void)
{
}

void
_fini(void)
{
}
