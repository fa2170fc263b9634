# SPDX-License-Identifier: Apache-2.0


def linear_attention(b, h, queries, keys, values, read, state, row, tokens, group,
                     key_size, value_size, scale, by_threads):
    """The attention of head h of the keys and values. The optional inputs are decays,
    betas and past. The threads of a device get whole heads: then the rows that they
    write provably differ."""

    def attend(b):
        def token(x, head, size, at):
            """Element `at` of a head, which has `size`, of the current token."""
            return T.Cast(wide, x[b, t, head * size + at])

        def decay():
            for d in range(key_size):
                keep = T.exp(token(decays, h, 1, 0) if one_decay
                             else token(decays, h, key_size, d))
                for m in range(value_size):
                    state[b, h, d, m] *= keep

        def subtract_known():
            """row = beta * (row - what the state gives for the key)"""
            for d in range(key_size):
                key = token(keys, h, key_size, d)
                for m in range(value_size):
                    row[b, h, m] -= state[b, h, d, m] * key
            for m in range(value_size):
                row[b, h, m] *= token(betas, 0 if one_beta else h, 1, 0)

        def answer(head):
            for m in range(value_size):
                read[b, t, head * value_size + m] = 0
            for d in range(key_size):
                query = token(queries, head, key_size, d) * scale
                for m in range(value_size):
                    read[b, t, head * value_size + m] += query * state[b, h, d, m]

        for d in range(key_size):
            for m in range(value_size):
                state[b, h, d, m] = (T.Cast(wide, past[b, h, d, m]) if has_past
                                     else T.Cast(wide, 0))
        for t in range(tokens):
            if has_decay:
                decay()
            for m in range(value_size):
                row[b, h, m] = token(values, h, value_size, m)
            if has_beta:
                subtract_known()
            for d in range(key_size):
                key = token(keys, h, key_size, d)
                for m in range(value_size):
                    state[b, h, d, m] += key * row[b, h, m]
            for g in range(group):
                answer(h * group + g)

    if by_threads:
        for b in range(queries.shape[0]):
            attend(b)
    else:
        attend(b)
