/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the keys of backend.json. */
#ifndef TIRC_BACKEND_KEYS_H
#define TIRC_BACKEND_KEYS_H

#include "json_keys.h"

extern const struct key_table backend_keys;

#endif
