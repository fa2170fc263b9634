/* SPDX-License-Identifier: Apache-2.0 */
/* Confinement of a process by Landlock: which files it may read, write and
 * execute; no TCP ports; no signals to other processes. Each version of
 * Landlock's ABI adds rights, and a kernel refuses rights that it does not
 * know. This file has its own copy of the ABI's constants, because the headers
 * of a system may be older than its kernel (Linux,
 * Documentation/userspace-api/landlock.rst). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine_parts.h"

/* The same numbers on all processors. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, RULE_OF_PATH = 1 };

enum right {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_FOLDER = 1 << 3,
	REMOVE_FILE = 1 << 5,
	MAKE_FILE = 1 << 8,
	TRUNCATE = 1 << 14,
	OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
};

/* The numbers of rights that a version has: of files, of TCP, of what processes
 * share (abstract sockets, signals). */
static const struct version {
	int files, ports, scopes;
} versions[] = {
	{ 13, 0, 0 }, { 14, 0, 0 }, { 15, 0, 0 },
	{ 15, 2, 0 }, { 16, 2, 0 }, { 16, 2, 2 },
};

struct ruleset {
	uint64_t files, ports, scopes;
};

struct path_rule {
	uint64_t rights;
	int32_t path;
} __attribute__((packed));

/* What each program may read: libraries and their configuration, and what
 * libraries ask about the processor and the process. */
static const char *const system_reads[] = {
	"/usr",
	"/lib",
	"/lib32",
	"/lib64",
	"/libx32",
	"/opt",
	"/nix/store",
	"/gnu/store",
	"/etc/ld.so.cache",
	"/etc/ld.so.conf",
	"/etc/ld.so.conf.d",
	"/etc/ld.so.preload",
	"/etc/ld-musl-x86_64.path",
	"/etc/ld-musl-aarch64.path",
	"/proc/self",
	"/proc/cpuinfo",
	"/proc/meminfo",
	"/proc/stat",
	"/proc/sys/vm",
	"/sys/devices/system",
	"/dev/null",
	"/dev/zero",
	"/dev/random",
	"/dev/urandom",
};

static int
abi(void)
{
	return (int)syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
}

bool
confine_files_available(void)
{
	return abi() >= 1;
}

static struct ruleset
all_rights(int abi)
{
	const int n = (int)(sizeof versions / sizeof *versions);
	const struct version *v = &versions[(abi < n ? abi : n) - 1];

	return (struct ruleset){ .files = (1u << v->files) - 1,
				 .ports = (1u << v->ports) - 1,
				 .scopes = (1u << v->scopes) - 1 };
}

/* Gives rights to a path, if it exists. known: the rights of the kernel. False
 * with errno. */
static bool
allow(int rules, const char *path, uint64_t rights, uint64_t known)
{
	struct path_rule rule = { .path = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	bool ok;

	if (rule.path < 0) {
		return true;
	}
	rule.rights = rights & known;
	ok = fstat(rule.path, &st) == 0;
	if (ok && !S_ISDIR(st.st_mode)) {
		rule.rights &= OF_FILES;
	}
	ok = ok && syscall(ADD_RULE, rules, RULE_OF_PATH, &rule, 0) == 0;
	close(rule.path);
	return ok;
}

static bool
add_rules(int rules, const struct confinement *c, uint64_t known)
{
	const int n = (int)(sizeof system_reads / sizeof *system_reads);
	const uint64_t read = READ_FILE | READ_FOLDER;
	bool ok = allow(rules, c->program, READ_FILE | EXECUTE, known) &&
		  allow(rules, "/dev/null", WRITE_FILE, known) &&
		  (c->loader == NULL ||
		   allow(rules, c->loader, READ_FILE | EXECUTE, known));

	for (int i = 0; ok && i < n; i++) {
		ok = allow(rules, system_reads[i], read, known);
	}
	for (int i = 0; ok && i < c->reads.n; i++) {
		ok = allow(rules, c->reads.data[i], read, known);
	}
	for (int i = 0; ok && i < c->writes.n; i++) {
		ok = allow(rules, c->writes.data[i],
			   READ_FILE | WRITE_FILE | TRUNCATE, known);
	}
	for (int i = 0; ok && i < c->scratch.n; i++) {
		ok = allow(rules, c->scratch.data[i],
			   READ_FILE | WRITE_FILE | TRUNCATE | MAKE_FILE |
				   REMOVE_FILE,
			   known);
	}
	return ok;
}

bool
confine_files(const struct confinement *c)
{
	const int version = abi();
	struct ruleset all;
	int rules;
	bool ok;

	if (version < 1) {
		return false;
	}
	all = all_rights(version);
	rules = (int)syscall(CREATE_RULESET, &all, sizeof all, 0);
	if (rules < 0) {
		return false;
	}
	ok = add_rules(rules, c, all.files) &&
	     syscall(RESTRICT_SELF, rules, 0) == 0;
	close(rules);
	return ok;
}
