# digits: from digits.onnx (sha256 22c6eef0eb10d53d...), tirc 0.1.0, target cuda
# SPDX-License-Identifier: MIT-0
#
# include(digits.cmake), then link the target digits.
# Without a CMAKE_BUILD_TYPE the target's level of optimisation is used.
add_library(digits STATIC
	${CMAKE_CURRENT_LIST_DIR}/digits.cu
)
target_include_directories(digits PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_compile_options(digits PRIVATE $<$<CONFIG:>:-O3>)
target_link_libraries(digits PUBLIC -lm)
