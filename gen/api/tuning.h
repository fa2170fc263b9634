/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled model for the tuner. */
#ifndef TIRC_TUNING_H
#define TIRC_TUNING_H

#include "tirc.h"
#include "tune_job.h"

/* Sets *out to the model of t, after tirc_compile. */
void tirc_tune_model(struct tirc *t, struct tune_model *out);
/* The module of t. It owns what the tuner makes, and the messages. */
struct module *tirc_module(struct tirc *t);

#endif
