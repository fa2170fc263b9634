/* SPDX-License-Identifier: Apache-2.0 */
/* The template engine: substitution, and sections over lists and presence.
 *
 *	{{name}}                 the text of name
 *	{{#list}}...{{/list}}    once for each item; inside, the item's own
 *	                         names come first, then those around it, and
 *	                         `first` and `last` say where the item stands
 *	{{#name}}...{{/name}}    once if name has text
 *	{{^name}}...{{/name}}    once if it has none (or no items)
 *	{{! remark }}            nothing
 *	{{<name}}...{{/name}}    a fragment: nothing here, and …
 *	{{>name}}                … its text there, with what is known there
 *
 * A line that holds nothing but a section's tag or a remark leaves no line.
 * A name that nobody gave is an error, with file and line. */
#ifndef TIRC_TEMPLATE_H
#define TIRC_TEMPLATE_H

#include "diag.h"

struct tdata;

/* An empty set of names. Texts are not copied. */
struct tdata *tdata_new(struct arena *a);
/* Names that d lacks are looked up in outer. */
void tdata_outer(struct tdata *d, const struct tdata *outer);
void tdata_text(struct tdata *d, const char *key, const char *text);
void tdata_printf(struct tdata *d, const char *key, const char *fmt, ...)
	TIRC_PRINTF(3, 4);
void tdata_int(struct tdata *d, const char *key, int64_t value);
void tdata_flag(struct tdata *d, const char *key, bool value);
/* Makes the list exist, with no item. */
void tdata_list(struct tdata *d, const char *key);
/* Adds an item to a list (made if it is not there) and gives it. */
struct tdata *tdata_item(struct tdata *d, const char *key);
/* The same with an item that is there, and may be in other lists, too. */
void tdata_share(struct tdata *d, const char *key, struct tdata *item);
/* What may be asked of d: a name of `names` that d lacks is absent (empty), not
 * looked up in outer, and no error; items of a list know what the one item of
 * that list in `names` has. A key there that ends in * stands for all that
 * begin so; one with a text and an item is either. */
void tdata_knows(struct tdata *d, const struct tdata *names);

/* Appends text, filled in. False: DIAG_BAD_TEMPLATE was reported; file and
 * item (a JSON pointer, or NULL) say where the text is from. */
bool template_render(struct diags *diags, const char *file, const char *item,
		     const char *text, const struct tdata *data,
		     struct strbuf *out);

/* Looks a text over without data: each tag without its end, each section that
 * is not closed where it should be, and each name that is none of `words`
 * ("a b c") is told to `wrong`, with its line. */
void template_check(const char *text, const char *words,
		    void (*wrong)(void *ctx, int line, const char *problem,
				  const char *name, size_t length),
		    void *ctx);
/* Looks a text over whose data knows `names` (tdata_knows): a name must be
 * known where it stands, in sections that no data fills, too. As
 * template_render, which then finds no unknown name. */
bool template_check_known(struct diags *diags, const char *file,
			  const char *text, const struct tdata *names);

#endif
