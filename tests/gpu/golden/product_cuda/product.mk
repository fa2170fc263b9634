# product: from product.onnx (sha256 21f31189f2e730ec...), tirc 0.1.0, target cuda-sm80
# SPDX-License-Identifier: MIT-0
#
# make -f product.mk builds libproduct.a beside the sources; CC, AR and
# CFLAGS may be set.
PRODUCT_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
PRODUCT_CFLAGS := -O3 -arch=sm_80
PRODUCT_OBJECTS := $(PRODUCT_DIR)product.o

$(PRODUCT_DIR)libproduct.a: $(PRODUCT_OBJECTS)
	$(AR) rcs $@ $(PRODUCT_OBJECTS)

$(PRODUCT_DIR)product.o: $(PRODUCT_DIR)product.cu $(PRODUCT_DIR)product.h
	$(CC) $(PRODUCT_CFLAGS) $(CFLAGS) -I$(PRODUCT_DIR) -c -o $@ $<
