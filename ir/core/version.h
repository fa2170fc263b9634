/* SPDX-License-Identifier: Apache-2.0 */
/* The version of this tirc. */
#ifndef TIRC_VERSION_H
#define TIRC_VERSION_H

/* The version "major.minor.patch", which the top-level meson.build declares. */
const char *version_text(void);

#endif
