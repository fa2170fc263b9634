/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the keys of a target's file, and the functions that its rows
 * call (target_load.c). */
#ifndef TIRC_TARGET_KEYS_H
#define TIRC_TARGET_KEYS_H

#include "json_keys.h"

extern const struct key_table target_keys;

void target_read_attributes(void *ctx, struct json j);
void target_read_vectors(void *ctx, struct json j);
void target_read_products(void *ctx, struct json j);
void target_read_resolves(void *ctx, struct json j);
void target_read_relies_on(void *ctx, struct json j);
void target_read_runtime(void *ctx, struct json j);
void target_read_alignment(void *ctx, struct json j);

#endif
