/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the importer: SHA-256, the wire format, tensors in files. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "importer.h"
#include "sha256.h"
#include "wire.h"

static void
hex_of(const void *data, size_t length, size_t step, char text[65])
{
	struct sha256 s;
	uint8_t digest[32];

	sha256_init(&s);
	for (size_t at = 0; at < length; at += step) {
		sha256_update(&s, (const char *)data + at,
			      length - at < step ? length - at : step);
	}
	sha256_final(&s, digest);
	for (int i = 0; i < 32; ++i) {
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	}
}

static void
test_sha256(void)
{
	static char data[2000];
	char one[65], other[65];

	hex_of("abc", 3, 3, one);
	CHECK_STR_EQ(one, "ba7816bf8f01cfea414140de5dae2223"
			  "b00361a396177a9cb410ff61f20015ad");
	hex_of("", 0, 1, one);
	CHECK_STR_EQ(one, "e3b0c44298fc1c149afbf4c8996fb924"
			  "27ae41e4649b934ca495991b7852b855");
	for (size_t n = 0; n < sizeof data; ++n) {
		data[n] = (char)(n * 7);
	}
	for (size_t n = 0; n < sizeof data; n += n < 200 ? 1 : 171) {
		hex_of(data, n, 1, one);
		hex_of(data, n, n + 1, other);
		CHECK_STR_EQ(one, other);
	}
}

static void
test_varints(void)
{
	static const uint8_t good[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0x01 };
	static const uint8_t large[] = { 0xff, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0x02 };
	uint64_t v = 0;

	CHECK(wire_varint(&(struct wire_reader){ good, good + 10 }, &v));
	CHECK(v == UINT64_MAX);
	CHECK(!wire_varint(&(struct wire_reader){ good, good + 9 }, &v));
	CHECK(!wire_varint(&(struct wire_reader){ large, large + 10 }, &v));
}

/* Every type goes to a file and back. */
static void
test_tensors(void)
{
	char path[] = "/tmp/tirc-unit-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	for (int k = 0; k < DT_COUNT; ++k) {
		struct dtype t = dtype_of((enum dtype_kind)k);
		struct module *m = module_new();
		int64_t shape[] = { 3, 1, 5 };
		uint8_t data[15 * 8];
		struct array out, in = { .name = "t",
					 .type = t,
					 .ndim = 3,
					 .shape = shape,
					 .elems = 15,
					 .data = data };
		size_t bytes = 15 * (size_t)dtype_bytes(in.type);

		if (dtype_onnx_number(t) == 0 || t.kind == DT_STRING) {
			module_free(m);
			continue;
		}
		for (size_t i = 0; i < bytes; ++i) {
			data[i] = (uint8_t)(i * 37);
			if (dtype_bits(t) < 8 || t.kind == DT_BOOL) {
				number_store(dtype_stored(t), data, i,
					     number_load(t, data, i));
			}
		}
		CHECK(onnx_write_tensor(m, path, &in));
		if (CHECK(onnx_read_tensor(m, path, &out))) {
			CHECK(dtype_equal(out.type, in.type));
			CHECK_EQ(out.ndim, 3);
			CHECK_EQ(out.elems, 15);
			CHECK_STR_EQ(out.name, "t");
			CHECK(memcmp(out.data, data, bytes) == 0);
		}
		module_free(m);
	}
	unlink(path);
}

static void
test_tensor_errors(void)
{
	struct module *m = module_new();
	struct array a = { .type = dtype_of(DT_F32) }, out;

	CHECK(!onnx_read_tensor(m, "/no/such/file", &out));
	CHECK_EQ(m->diags.list.data[0].id, DIAG_FILE_UNREADABLE);
	CHECK(!onnx_write_tensor(m, "/no/such/file", &a));
	CHECK_EQ(m->diags.list.data[1].id, DIAG_FILE_UNWRITABLE);
	CHECK(!onnx_read_tensor(m, "/", &out));
	module_free(m);
}

static void
test_quotes(void)
{
	struct arena a;

	arena_init(&a);
	CHECK_STR_EQ(import_quote(&a, "a\nb\\\x01"), "'a\\nb\\\\\\x01'");
	CHECK(strlen(import_quote(
		      &a,
		      "                                     "
		      "                                                                  "
		      "                                                            ")) <
	      150);
	arena_release(&a);
}

int
main(void)
{
	test_sha256();
	test_varints();
	test_tensors();
	test_tensor_errors();
	test_quotes();
	return check_done();
}
