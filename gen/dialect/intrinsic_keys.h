/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the keys of intrinsic.json, and the functions that its rows call
 * (intrinsics.c). */
#ifndef TIRC_INTRINSIC_KEYS_H
#define TIRC_INTRINSIC_KEYS_H

#include "json_keys.h"

extern const struct key_table intrinsic_keys;

void intrinsic_read_script(void *ctx, struct json j);
void intrinsic_read_rounding(void *ctx, struct json j);
void intrinsic_read_limits(void *ctx, struct json j);
void intrinsic_read_symbols(void *ctx, struct json j);

#endif
