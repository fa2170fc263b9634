# SPDX-License-Identifier: Apache-2.0
# The common part of the toolchain files of the boards MPS2, as QEMU simulates them:
# compiler, start-up code, linker script, and the command that runs a program. The file
# of a board sets `processor_flags` and `machine`, and includes this one. For a board of
# yours, its vendor's toolchain file takes the place of both.
#
# The start-up code and the package must be compiled for the same processor and the same
# ABI: `processor_flags` are those of the target's `cflags` (-mcpu, -mfloat-abi, -mfpu).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "${processor_flags}")

# Start-up code, which the linker's command compiles, and the places of memory.
get_filename_component(board "${CMAKE_CURRENT_LIST_DIR}/../../runtime-c" REALPATH)
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT
	"-nostartfiles --specs=rdimon.specs -I${board} "
	"${board}/tirc_board.c ${board}/tirc_board_arm.c -T ${board}/tirc_board.ld "
	"-Wl,--defsym=tirc_board_hz=25000000 -Wl,--defsym=tirc_vectors=0x0 "
	"-Wl,--defsym=tirc_flash=0x400 -Wl,--defsym=tirc_flash_bytes=0x3ffc00 "
	"-Wl,--defsym=tirc_ram=0x21000000 -Wl,--defsym=tirc_ram_bytes=0x1000000")

# The command with which ctest runs programs.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-system-arm -machine ${machine} -icount shift=0
	-display none -monitor none -serial none
	-semihosting-config enable=on,target=native -kernel)
