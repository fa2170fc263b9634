# SPDX-License-Identifier: Apache-2.0
# A toolchain file for packages of the target cortex-m4: the board MPS2 AN386, a
# Cortex-M4 with float32 in hardware, as QEMU simulates it.
set(processor_flags "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
set(machine mps2-an386)
include("${CMAKE_CURRENT_LIST_DIR}/mps2.cmake")
