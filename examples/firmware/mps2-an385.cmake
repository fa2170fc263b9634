# SPDX-License-Identifier: Apache-2.0
# A toolchain file for the board MPS2 AN385, a Cortex-M3, as QEMU simulates it. For a
# board of yours, its vendor's toolchain file takes this one's place: compiler, flags of
# the processor, start-up code, linker script, and the command that runs a program.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m3 -mthumb")

# Start-up code, which the linker's command compiles, and the places of memory.
get_filename_component(board "${CMAKE_CURRENT_LIST_DIR}/../../runtime-c" REALPATH)
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT
	"-nostartfiles --specs=rdimon.specs -I${board} "
	"${board}/tirc_board.c ${board}/tirc_board_arm.c -T ${board}/tirc_board.ld "
	"-Wl,--defsym=tirc_board_hz=25000000 -Wl,--defsym=tirc_vectors=0x0 "
	"-Wl,--defsym=tirc_flash=0x400 -Wl,--defsym=tirc_flash_bytes=0x3ffc00 "
	"-Wl,--defsym=tirc_ram=0x21000000 -Wl,--defsym=tirc_ram_bytes=0x1000000")

# What ctest runs programs with.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-system-arm -machine mps2-an385 -icount shift=0
	-display none -monitor none -serial none
	-semihosting-config enable=on,target=native -kernel)
