/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the text of a Relay module, which TVM printed until version 0.18, to
 * an ONNX model in protobuf's wire format, which the importer then reads like a
 * file.
 *
 *	#[version = "0.0.5"]
 *	def @main(%x: Tensor[(1, 8), float32], %w: Tensor[(4, 8), float32]) {
 *	  %0 = nn.dense(%x, %w, units=4);
 *	  nn.relu(%0)
 *	}
 *
 * An operator becomes a node of the domain tvm.relay, whose functions are
 * compositions/relay.onnxtxt; other functions of the module become functions of
 * the model. */
#ifndef TIRC_RELAY_TEXT_H
#define TIRC_RELAY_TEXT_H

#include "python.h"

/* Are these the first bytes of the text of a Relay module? */
bool relay_is_text(const uint8_t *data, size_t length);
/* Appends the module as a ModelProto. False after a diagnostic with line and
 * column. */
bool relay_text_model(struct module *m, const struct source *src,
		      struct strbuf *out);

#endif
