# digits: from digits.onnx (sha256 22c6eef0eb10d53d...), tirc 0.1.0, target c99
# SPDX-License-Identifier: MIT-0
#
# make -f digits.mk builds libdigits.a beside the sources; CC, AR and
# CFLAGS may be set.
DIGITS_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
DIGITS_CFLAGS := -std=c99 -O3
DIGITS_OBJECTS := $(DIGITS_DIR)digits.o $(DIGITS_DIR)digits_weights.o

$(DIGITS_DIR)libdigits.a: $(DIGITS_OBJECTS)
	$(AR) rcs $@ $(DIGITS_OBJECTS)

$(DIGITS_DIR)digits.o: $(DIGITS_DIR)digits.c $(DIGITS_DIR)digits.h
	$(CC) $(DIGITS_CFLAGS) $(CFLAGS) -I$(DIGITS_DIR) -c -o $@ $<

$(DIGITS_DIR)digits_weights.o: $(DIGITS_DIR)digits_weights.c $(DIGITS_DIR)digits.h
	$(CC) $(DIGITS_CFLAGS) $(CFLAGS) -I$(DIGITS_DIR) -c -o $@ $<
