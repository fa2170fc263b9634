/* SPDX-License-Identifier: Apache-2.0 */
/* The template engine: substitution, and sections over lists and presence.
 *
 *	{{name}}                 the text of name
 *	{{name|filter}}          the text as another language writes it; the
 *	                         filters are in quote.def, several apply from
 *	                         left to right
 *	{{#list}}...{{/list}}    once for each item; inside, a name is looked up
 *	                         in the item, then outside; `first` and `last`
 *	                         are set at the ends of the list
 *	{{#name}}...{{/name}}    once if name has text
 *	{{^name}}...{{/name}}    once if name has no text and no items
 *	{{! remark }}            nothing
 *	{{<name}}...{{/name}}    defines a fragment and prints nothing
 *	{{>name}}                the fragment, with the names known here
 *
 * A line with a section's tag or a remark alone is removed. An unknown name is
 * an error, with file and line. */
#ifndef TIRC_TEMPLATE_H
#define TIRC_TEMPLATE_H

#include "anchors.h"
#include "diag.h"

struct tdata;

/* An empty set of names. Texts are not copied. */
struct tdata *tdata_new(struct arena *a);
/* Names that d lacks are looked up in outer. */
void tdata_outer(struct tdata *d, const struct tdata *outer);
void tdata_text(struct tdata *d, const char *key, const char *text);
void tdata_printf(struct tdata *d, const char *key, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* A text with a place that template_render_anchored records, `offset` bytes
 * behind its start. */
void tdata_anchored(struct tdata *d, const char *key, const char *text,
		    int kind, int index, size_t offset);
void tdata_int(struct tdata *d, const char *key, int64_t value);
void tdata_flag(struct tdata *d, const char *key, bool value);
/* Makes the list exist, with no item. */
void tdata_list(struct tdata *d, const char *key);
/* Appends an item to a list (created if absent) and returns the item. */
struct tdata *tdata_item(struct tdata *d, const char *key);
/* The same with an existing item, which may be in several lists. */
void tdata_share(struct tdata *d, const char *key, struct tdata *item);
/* Declares the known names of d: a name in `names` that d lacks is absent
 * (empty) and no error, and is not looked up in outer; items of a list know the
 * names of that list's single item in `names`. A key there that ends in *
 * matches all keys with its prefix; a key with a text and an item is either. */
void tdata_knows(struct tdata *d, const struct tdata *names);

/* Renders text with data. False: DIAG_BAD_TEMPLATE was reported; file and item
 * (a JSON pointer, or NULL) name the text's origin. */
bool template_render(struct diags *diags, const char *file, const char *item,
		     const char *text, const struct tdata *data,
		     struct strbuf *out);

/* The same; appends the anchors of the texts to `anchors`, with their offsets in
 * out. template_render refuses a template that names a text with an anchor. */
bool template_render_anchored(struct diags *diags, const char *file,
			      const char *item, const char *text,
			      const struct tdata *data, struct strbuf *out,
			      struct anchors *anchors);

/* Checks a text without data: reports each unterminated tag, each section
 * closed in the wrong place, each unknown filter, each name that is not in
 * `words` ("a b c"; NULL: any name may be), and with `filtered` each value that
 * has no filter, to `wrong`, with its line. Files that other programs read
 * (makefiles, XML) are checked with `filtered`: no value gets into them without
 * the rules of their language. */
void template_check(const char *text, const char *words, bool filtered,
		    void (*wrong)(void *ctx, int line, const char *problem,
				  const char *name, size_t length),
		    void *ctx);
/* The same, each as a diagnostic with the file and the line. False: there was
 * one. */
bool template_check_file(struct diags *diags, const char *file,
			 const char *text, const char *words, bool filtered);
/* Checks a text against the known `names` (tdata_knows): every name must be
 * known in its scope, also in sections without data. Then template_render finds
 * no unknown name. */
bool template_check_known(struct diags *diags, const char *file,
			  const char *text, const struct tdata *names);

#endif
