/* digits: from digits.onnx (sha256 22c6eef0eb10d53d...), tirc 0.1.0, target gnu-c
 * SPDX-License-Identifier: MIT-0
 *
 * The weights, 29960 bytes of digits_weights.bin, which must lie in
 * a folder that the assembler searches (-I).
 */
#if defined(__APPLE__)
#define SYMBOL(name) _##name
	.section __TEXT,__const
#elif defined(_WIN32)
#define SYMBOL(name) name
	.section .rdata,"dr"
#else
#define SYMBOL(name) name
	.section .rodata
#endif

	.balign 16
	.globl SYMBOL(digits_conv1_w)
SYMBOL(digits_conv1_w):
	.incbin "digits_weights.bin", 64, 576

	.balign 16
	.globl SYMBOL(digits_conv1_bias)
SYMBOL(digits_conv1_bias):
	.incbin "digits_weights.bin", 640, 64

	.balign 16
	.globl SYMBOL(digits_conv2_w)
SYMBOL(digits_conv2_w):
	.incbin "digits_weights.bin", 704, 13824

	.balign 16
	.globl SYMBOL(digits_conv2_bias)
SYMBOL(digits_conv2_bias):
	.incbin "digits_weights.bin", 14528, 96

	.balign 16
	.globl SYMBOL(digits_fc_gemm_w)
SYMBOL(digits_fc_gemm_w):
	.incbin "digits_weights.bin", 14624, 15360

	.balign 16
	.globl SYMBOL(digits_fc_gemm_bias)
SYMBOL(digits_fc_gemm_bias):
	.incbin "digits_weights.bin", 29984, 40

#if defined(__ELF__)
	.section .note.GNU-stack,"",%progbits
#endif
