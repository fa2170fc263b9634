/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the machine's own target: used for the target "native", which stands
 * for the machine that tirc runs on, and for `tirc run` and `tirc test` without
 * --target. Only the command line asks for properties of the machine, so that
 * the library's results do not depend on it. */
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "cli.h"

/* The compiler's command that the user gave, by --cc or the variable CC. NULL
 * if the user gave none; then the target's compiler is used. */
static const char *
compiler_command(const struct cli *c)
{
	const char *cc = c->cc != NULL ? c->cc : getenv("CC");

	return cc != NULL && *cc != '\0' ? cc : NULL;
}

bool
cli_find_target(struct cli *c)
{
	struct tirc *t;
	const char *text;

	if (c->tirc.target == NULL) {
		return true;
	}
	t = tirc_new(&c->tirc);
	text = tirc_target_at_hand(t, c->tirc.target, compiler_command(c),
				   c->cflags);
	cleanup_pause_if_interrupted();
	cli_messages(t);
	if (text != NULL && strcmp(text, c->tirc.target) != 0) {
		c->at_hand = arena_printf(&c->arena, "%s = %s", c->tirc.target,
					  text);
		c->tirc.target = arena_strdup(&c->arena, text);
		if (!c->has_summary && !c->quiet) {
			cli_note("%s", c->at_hand);
		}
	}
	tirc_free(t);
	return text != NULL;
}

void
cli_use_machine(struct cli *c)
{
	struct tirc *t;

	/* The file of a partition names its target. */
	if (c->tirc.target != NULL || tirc_is_partition(c->model)) {
		return;
	}
	t = tirc_new(&c->tirc);
	if (tirc_target_of_machine(t) != NULL) {
		c->tirc.target = arena_strdup(&c->arena,
					      tirc_target_of_machine(t));
	}
	tirc_free(t);
}

void
cli_print_target(const struct cli *c, struct tirc *t)
{
	if (c->at_hand != NULL) {
		say(stdout, "target   %s\n", c->at_hand);
	} else if (c->tirc.target == NULL && !tirc_is_partition(c->model)) {
		say(stdout,
		    "target   %s (the default, for any compiler; --target "
		    "native is for this machine)\n",
		    tirc_summary(t).target);
	} else {
		say(stdout, "target   %s\n", tirc_summary(t).target);
	}
}

void
cli_print_program_target(const struct cli *c, struct tirc *t)
{
	struct tirc_summary s = tirc_summary(t);

	if (c->at_hand != NULL && s.named_target == NULL) {
		cli_print_target(c, t);
	} else if (s.named_target != NULL) {
		say(stdout, "target   %s (the program's \"%s\")\n", s.target,
		    s.named_target);
	} else {
		say(stdout, "target   %s%s\n", s.target,
		    c->tirc.target == NULL ? " (the default)" : "");
	}
}
