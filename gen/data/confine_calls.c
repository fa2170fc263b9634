/* SPDX-License-Identifier: Apache-2.0 */
/* Confinement of a process by a filter of its system calls (seccomp), a program
 * of the kernel's classic BPF (Linux, Documentation/userspace-api/
 * seccomp_filter.rst). Refused calls fail with EPERM.
 *
 * Threads are allowed, processes are not: clone() must have CLONE_THREAD;
 * clone3() has its flags in memory, where a filter does not see them, and "is
 * not implemented", after which C libraries call clone(). Of execve() one call
 * is allowed, that of the start, known by the addresses of its arguments: in the
 * started program nothing is at these addresses, which nobody can foresee. */
#define _GNU_SOURCE
#include "confine_parts.h"

#if defined(__x86_64__) || (defined(__aarch64__) && !defined(__AARCH64EB__))

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

enum {
	MOST_INSTRUCTIONS = 512,
	/* the first of the system calls to which NEW applies */
	FIRST_NEW = 424,
	/* numbers of calls from here on belong to x32, another ABI of x86-64 */
	FIRST_X32 = 0x40000000,
	SPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
		 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET
};

static const struct {
	long call;
	bool unless_sanitized;
} refused[] = {
#define REFUSED(name) { __NR_##name, false },
#define UNLESS_SANITIZED(name) { __NR_##name, true },
#define OF_ITSELF(name)
#define NEW(number, name)
#ifdef __x86_64__
#define OLD(name) { __NR_##name, false },
#else
#define OLD(name)
#endif
#include "confine_calls.def"
#undef REFUSED
#undef UNLESS_SANITIZED
#undef OF_ITSELF
#undef OLD
#undef NEW
};

static const long of_itself[] = {
#define REFUSED(name)
#define UNLESS_SANITIZED(name)
#define OF_ITSELF(name) __NR_##name,
#define OLD(name)
#define NEW(number, name)
#include "confine_calls.def"
#undef REFUSED
#undef UNLESS_SANITIZED
#undef OF_ITSELF
#undef OLD
#undef NEW
};

static const long new_calls[] = {
#define REFUSED(name)
#define UNLESS_SANITIZED(name)
#define OF_ITSELF(name)
#define OLD(name)
#define NEW(number, name) number,
#include "confine_calls.def"
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Instructions of the filter. Each rule is for one system call: it starts with
 * the call's number in the accumulator, and goes on to the next rule if the
 * number is another one. */
struct filter {
	struct sock_filter code[MOST_INSTRUCTIONS];
	unsigned short n;
};

static void
add(struct filter *f, uint32_t code, uint8_t if_true, uint8_t if_false,
    uint32_t k)
{
	f->code[f->n++] = (struct sock_filter){
		.code = (uint16_t)code, .jt = if_true, .jf = if_false, .k = k
	};
}

static void
answer(struct filter *f, int error)
{
	add(f, BPF_RET | BPF_K, 0, 0,
	    error == 0 ? SECCOMP_RET_ALLOW
		       : SECCOMP_RET_ERRNO | (uint32_t)error);
}

static void
load(struct filter *f, size_t offset)
{
	add(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

/* Loads the lower half of an argument. */
static void
load_argument(struct filter *f, int i)
{
	load(f, offsetof(struct seccomp_data, args) + (size_t)i * 8);
}

/* Appends to the filter: unless the accumulator equals `value`, the call fails
 * with EPERM. */
static void
must_be(struct filter *f, uint32_t value)
{
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value);
	answer(f, EPERM);
}

static void
must_be_pointer(struct filter *f, int argument, const void *value)
{
	const uint64_t bits = (uintptr_t)value;

	load_argument(f, argument);
	must_be(f, (uint32_t)bits);
	load(f, offsetof(struct seccomp_data, args) + (size_t)argument * 8 + 4);
	must_be(f, (uint32_t)(bits >> 32));
}

/* Starts a rule for a call; end_rule() ends it. */
static unsigned short
begin_rule(struct filter *f, long call)
{
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)call);
	return f->n;
}

static void
end_rule(struct filter *f, unsigned short begin)
{
	answer(f, 0);
	f->code[begin - 1].jf = (uint8_t)(f->n - begin);
}

static void
refuse(struct filter *f, long call, int error)
{
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)call);
	answer(f, error);
}

static void
add_processes(struct filter *f, const struct confinement *c,
	      const struct confined_start *start)
{
	unsigned short rule;

	if (c->sanitized) {
		return;
	}
	rule = begin_rule(f, __NR_execve);
	must_be_pointer(f, 0, start->path);
	must_be_pointer(f, 1, (const void *)start->argv);
	must_be_pointer(f, 2, (const void *)start->env);
	end_rule(f, rule);
	rule = begin_rule(f, __NR_clone);
	load_argument(f, 0);
	add(f, BPF_JMP | BPF_JSET | BPF_K, 1, 0, CLONE_THREAD);
	answer(f, EPERM);
	add(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, (uint32_t)SPACES);
	answer(f, EPERM);
	end_rule(f, rule);
}

static void
add_of_itself(struct filter *f)
{
	const uint32_t self = (uint32_t)getpid();
	unsigned short rule;

	for (size_t i = 0; i < COUNT(of_itself); i++) {
		rule = begin_rule(f, of_itself[i]);
		load_argument(f, 0);
		must_be(f, self);
		end_rule(f, rule);
	}
	rule = begin_rule(f, __NR_prlimit64);
	load_argument(f, 0);
	add(f, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 0); /* 0: itself, too */
	must_be(f, self);
	end_rule(f, rule);
}

/* Allows those operations of ioctl() that C libraries ask for. Other operations
 * can change files that are open for reading, or write into the input of a
 * terminal, which the shell reads afterwards. */
static void
add_devices(struct filter *f)
{
	static const uint32_t questions[] = {
		TCGETS,     0x802c542a /* TCGETS2 */,
		TIOCGWINSZ, FIONREAD,
		FIONBIO,    FIOCLEX,
		FIONCLEX
	};
	unsigned short rule = begin_rule(f, __NR_ioctl);

	load_argument(f, 1);
	for (size_t i = 0; i < COUNT(questions); i++) {
		refuse(f, questions[i], 0);
	}
	answer(f, EPERM);
	end_rule(f, rule);
}

/* Of fcntl(), signals to an owner, leases, and news of folders. */
static void
add_owners(struct filter *f)
{
	static const uint32_t commands[] = { F_SETOWN, F_SETOWN_EX, F_SETSIG,
					     F_SETLEASE, F_NOTIFY };
	unsigned short rule = begin_rule(f, __NR_fcntl);

	load_argument(f, 1);
	for (size_t i = 0; i < COUNT(commands); i++) {
		refuse(f, commands[i], EPERM);
	}
	end_rule(f, rule);
}

/* Ends with EPERM if the bits `mask` of an argument are `value`. */
static void
must_differ(struct filter *f, int argument, uint32_t mask, uint32_t value)
{
	load_argument(f, argument);
	add(f, BPF_ALU | BPF_AND | BPF_K, 0, 0, mask);
	refuse(f, value, EPERM);
}

/* Refuses the flag that empties a file (O_TRUNC) together with opening for
 * reading: Landlock has a right for this only since Linux 6.2. */
static void
add_opening(struct filter *f, long call, int flags)
{
	unsigned short rule = begin_rule(f, call);

	must_differ(f, flags, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY);
	must_differ(f, flags, O_ACCMODE, O_ACCMODE);
	end_rule(f, rule);
}

/* Shared memory is outside of the limit of memory. LLVM's OpenMP shares a file of
 * its scratch folder. */
static void
add_shared_memory(struct filter *f, const struct confinement *c)
{
	unsigned short rule;

	if (c->sanitized) {
		return;
	}
	rule = begin_rule(f, __NR_mmap);
	if (c->scratch.n > 0) {
		must_differ(f, 3, MAP_SHARED | MAP_ANONYMOUS,
			    MAP_SHARED | MAP_ANONYMOUS);
	} else {
		must_differ(f, 3, MAP_SHARED, MAP_SHARED);
	}
	end_rule(f, rule);
}

static void
add_new_calls(struct filter *f)
{
	add(f, BPF_JMP | BPF_JGE | BPF_K, 0, 2 * COUNT(new_calls) + 1,
	    FIRST_NEW);
	for (size_t i = 0; i < COUNT(new_calls); i++) {
		refuse(f, new_calls[i], 0);
	}
	answer(f, ENOSYS);
}

static void
make_filter(struct filter *f, const struct confinement *c,
	    const struct confined_start *start)
{
	f->n = 0;
	load(f, offsetof(struct seccomp_data, arch));
	must_be(f, ARCH);
	load(f, offsetof(struct seccomp_data, nr));
	add(f, BPF_JMP | BPF_JGE | BPF_K, 0, 1, FIRST_X32);
	answer(f, ENOSYS);
	add_processes(f, c, start);
	add_of_itself(f);
	add_devices(f);
	add_owners(f);
	add_opening(f, __NR_openat, 2);
#ifdef __NR_open
	add_opening(f, __NR_open, 1);
#endif
	add_shared_memory(f, c);
	for (size_t i = 0; i < COUNT(refused); i++) {
		if (!refused[i].unless_sanitized || !c->sanitized) {
			refuse(f, refused[i].call, EPERM);
		}
	}
	add_new_calls(f);
	answer(f, 0);
}

bool
confine_calls_available(void)
{
	const uint32_t action = SECCOMP_RET_ERRNO;

	return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool
confine_calls(const struct confinement *c, const struct confined_start *start)
{
	struct filter f;
	struct sock_fprog program;

	make_filter(&f, c, start);
	program = (struct sock_fprog){ .len = f.n, .filter = f.code };
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#else /* for this processor there is no filter */

#include <errno.h>

bool
confine_calls_available(void)
{
	return false;
}

bool
confine_calls(const struct confinement *c, const struct confined_start *start)
{
	(void)c;
	(void)start;
	errno = ENOSYS;
	return false;
}

#endif
