# SPDX-License-Identifier: Apache-2.0
# A toolchain file for packages of the targets cortex-m0, cortex-m0plus and cortex-m3:
# the board MPS2 AN385, a Cortex-M3 without floating point, as QEMU simulates it.
set(processor_flags "-mcpu=cortex-m3 -mthumb")
set(machine mps2-an385)
include("${CMAKE_CURRENT_LIST_DIR}/mps2.cmake")
