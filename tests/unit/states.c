/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a model through tirc.h, before and after tirc_compile. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "tirc.h"

/* y = Neg(x), both float32[4] */
static const unsigned char model[] =
	"\x08\x09\x12\x00:2\x0a\x0b\x0a\x01x\x12\x01y\"\x03Neg\x12\x01gZ\x0f"
	"\x0a\x01x\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x04"
	"b\x0f\x0a\x01y\x12\x0a\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x04"
	"B\x04\x0a\x00\x10\x13";

static void
check_state(struct tirc *t)
{
	struct tirc_state s;
	int64_t dims = 0;

	CHECK_EQ(tirc_state_count(t), 1);
	s = tirc_state(t, 0);
	CHECK_EQ(s.input, 0);
	CHECK_EQ(s.output, 0);
	CHECK_STR_EQ(s.tensor.dtype, "float32");
	CHECK_EQ(s.tensor.ndim, 1);
	CHECK_EQ(s.tensor.dims[0], 4);
	tirc_state_dims(t, 0, NULL, &dims);
	CHECK_EQ(dims, 4);
}

int
main(void)
{
	const char *state = "y=x";
	struct tirc *t = tirc_new(&(struct tirc_options){
		.target = "c99", .states = &state, .n_states = 1 });
	char path[] = "/tmp/tirc-states-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, model, sizeof model - 1), (int)sizeof model - 1);
	close(fd);
	CHECK_EQ(tirc_state_count(t), 0);
	CHECK(tirc_load(t, path));
	check_state(t);
	CHECK(tirc_compile(t));
	check_state(t);
	CHECK_EQ(tirc_input_count(t), 0);
	tirc_free(t);
	unlink(path);
	return check_done();
}
