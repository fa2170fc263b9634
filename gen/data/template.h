/* SPDX-License-Identifier: Apache-2.0 */
/* The template engine: it replaces placeholders, and repeats or omits sections.
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
 * A line that contains only the tag of a section or a remark is removed. An
 * unknown name is an error, with file and line. */
#ifndef TIRC_TEMPLATE_H
#define TIRC_TEMPLATE_H

#include "anchors.h"
#include "diag.h"

struct tdata;

/* Makes an empty set of names with values, the data of a template. Keys and
 * texts are not copied. */
struct tdata *tdata_new(struct arena *a);
/* Names that d does not have are looked up in outer. */
void tdata_outer(struct tdata *d, const struct tdata *outer);
void tdata_text(struct tdata *d, const char *key, const char *text);
void tdata_printf(struct tdata *d, const char *key, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
/* Sets a text that contains an anchor, `offset` bytes after its start;
 * template_render_anchored records the anchor. */
void tdata_anchored(struct tdata *d, const char *key, const char *text,
		    int kind, int index, size_t offset);
/* Adds an anchor to the text of the key, after the anchors that it already
 * has. */
void tdata_anchor(struct tdata *d, const char *key, int kind, int index,
		  size_t offset);
void tdata_int(struct tdata *d, const char *key, int64_t value);
void tdata_flag(struct tdata *d, const char *key, bool value);
/* Makes the key an empty list, unless it is one. */
void tdata_list(struct tdata *d, const char *key);
/* Appends a new item to the list of the key, which is made if it does not
 * exist, and returns the item. */
struct tdata *tdata_item(struct tdata *d, const char *key);
/* Appends an existing item to the list of the key; an item may be in several
 * lists. */
void tdata_share(struct tdata *d, const char *key, struct tdata *item);
/* Declares names that d may lack. A name in `names` that d does not have is
 * absent (empty) without an error, and is not looked up in outer. The items of
 * a list in d may lack the names that the only item of the same list in `names`
 * has. A key in `names` that ends in * stands for all keys with that prefix; a
 * key for which `names` has both a text and an item may be either of these in
 * d. */
void tdata_knows(struct tdata *d, const struct tdata *names);

/* Renders a text with data. False after DIAG_BAD_TEMPLATE, in which file and
 * item (a JSON pointer, or NULL) name the origin of the text. */
bool template_render(struct diags *diags, const char *file, const char *item,
		     const char *text, const struct tdata *data,
		     struct strbuf *out);

/* Renders a text with data as template_render does, which refuses to insert a
 * text with an anchor (a place at which a value is inserted later, or whose line
 * is needed; see anchors.h). This function appends the anchors of inserted texts
 * to `anchors`, with their offsets in out. */
bool template_render_anchored(struct diags *diags, const char *file,
			      const char *item, const char *text,
			      const struct tdata *data, struct strbuf *out,
			      struct anchors *anchors);

/* Checks a text without data. Reports to `wrong`, with the line: a tag that is
 * not terminated, a section that is closed in the wrong place, an unknown
 * filter, and a name that is not in `words` ("a b c"; NULL: any name). With
 * `filtered`, also reports each value without a filter: files that other
 * programs read (makefiles, XML) must quote all values by the rules of their
 * language. */
void template_check(const char *text, const char *words, bool filtered,
		    void (*wrong)(void *ctx, int line, const char *problem,
				  const char *name, size_t length),
		    void *ctx);
/* Checks a text without data as template_check does; also reports control
 * characters (see text_control). Each mistake is a diagnostic with file and
 * line. False if there is a mistake. */
bool template_check_file(struct diags *diags, const char *file,
			 const char *text, const char *words, bool filtered);
/* Checks a text against the known `names` (see tdata_knows): every name must be
 * known in its scope, even in sections without data, and there must be no
 * control character. After that, template_render finds no unknown name. */
bool template_check_known(struct diags *diags, const char *file,
			  const char *text, const struct tdata *names);

#endif
