# product: from product.onnx (sha256 21f31189f2e730ec...), tirc 0.1.0, target cuda-sm80
# SPDX-License-Identifier: MIT-0
#
# include(product.cmake), then link the target product.
# Without a CMAKE_BUILD_TYPE the target's level of optimisation is used.
add_library(product STATIC
	${CMAKE_CURRENT_LIST_DIR}/product.cu
)
target_include_directories(product PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_compile_options(product PRIVATE $<$<CONFIG:>:-O3> -arch=sm_80)
target_link_libraries(product PUBLIC -lm)
