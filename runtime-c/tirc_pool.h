/* SPDX-License-Identifier: MIT-0 */
/* A pool of threads for the parallel loops of models without OpenMP:
 *
 *	static struct tirc_pool pool;
 *
 *	if (tirc_pool_start(&pool, 4)) { … }
 *	config.parallel_for = tirc_pool_for;
 *	config.pool = &pool;
 *	…
 *	tirc_pool_stop(&pool);
 *
 * C11 with POSIX threads; no heap. Each thread executes one range of a loop's
 * iterations, in every loop the range with the thread's number. An idle thread
 * polls for work for a few tenths of a millisecond, then sleeps. A pool
 * executes one loop at a time, for one model. The caller of tirc_pool_for is
 * one of the threads. */
#ifndef TIRC_POOL_H
#define TIRC_POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef TIRC_POOL_THREADS
/* the largest number of threads, including the caller */
#define TIRC_POOL_THREADS 64
#endif
#ifndef TIRC_POOL_LOOKS
/* the number of times that a thread looks for work before it sleeps */
#define TIRC_POOL_LOOKS 5000
#endif

struct tirc_pool {
	pthread_t thread[TIRC_POOL_THREADS];
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	/* number of the loop that the threads execute; it changes with each
	 * loop */
	atomic_uint round;
	/* the number of threads that wait for `wake` or soon will wait */
	atomic_int sleepers;
	/* the number of threads that have not yet finished their range of the
	 * current loop */
	atomic_int busy;
	/* a counter from which each thread takes its number when it starts */
	atomic_int joined;
	int threads; /* including the caller */
	bool stop;
	/* The members below describe the current loop; they are only written
	 * between loops. */
	int32_t n;
	void (*task)(const void *shared, int32_t begin, int32_t end);
	const void *shared;
};

static inline void
tirc_pool_look_again(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

/* Executes the iterations of the current loop that belong to thread i. */
static inline void
tirc_pool_range(struct tirc_pool *p, int i)
{
	int32_t begin = (int32_t)((int64_t)p->n * i / p->threads);
	int32_t end = (int32_t)((int64_t)p->n * (i + 1) / p->threads);

	if (begin < end) {
		p->task(p->shared, begin, end);
	}
}

/* Waits until the number of the current loop (round) differs from `seen`, and
 * returns the new number. */
static inline unsigned
tirc_pool_wait(struct tirc_pool *p, unsigned seen)
{
	for (int i = 0; i < TIRC_POOL_LOOKS; ++i) {
		if (atomic_load_explicit(&p->round, memory_order_acquire) !=
		    seen) {
			return atomic_load(&p->round);
		}
		tirc_pool_look_again();
	}
	pthread_mutex_lock(&p->mutex);
	/* In this order, so that either the thread that starts a loop sees this
	 * sleeper, or this thread sees the new loop. */
	atomic_fetch_add(&p->sleepers, 1);
	while (atomic_load(&p->round) == seen) {
		pthread_cond_wait(&p->wake, &p->mutex);
	}
	atomic_fetch_sub(&p->sleepers, 1);
	pthread_mutex_unlock(&p->mutex);
	return atomic_load(&p->round);
}

static inline void *
tirc_pool_thread(void *pool)
{
	struct tirc_pool *p = pool;
	const int number = atomic_fetch_add(&p->joined, 1) + 1;
	unsigned seen = 0;

	for (;;) {
		seen = tirc_pool_wait(p, seen);
		if (p->stop) {
			return NULL;
		}
		tirc_pool_range(p, number);
		atomic_fetch_sub_explicit(&p->busy, 1, memory_order_release);
	}
}

static inline void
tirc_pool_round(struct tirc_pool *p)
{
	atomic_fetch_add(&p->round, 1);
	if (atomic_load(&p->sleepers) > 0) {
		pthread_mutex_lock(&p->mutex);
		pthread_cond_broadcast(&p->wake);
		pthread_mutex_unlock(&p->mutex);
	}
}

/* The function for the member parallel_for of struct NAME_config: executes a
 * loop of n iterations with all threads. pool: a struct tirc_pool. */
static inline void
tirc_pool_for(void *pool, int32_t n,
	      void (*task)(const void *shared, int32_t begin, int32_t end),
	      const void *shared)
{
	struct tirc_pool *p = pool;
	int looks = 0;

	p->n = n;
	p->task = task;
	p->shared = shared;
	if (p->threads > 1) {
		atomic_store(&p->busy, p->threads - 1);
		tirc_pool_round(p);
	}
	tirc_pool_range(p, 0);
	while (atomic_load_explicit(&p->busy, memory_order_acquire) > 0) {
		tirc_pool_look_again();
		if (++looks > TIRC_POOL_LOOKS) {
			sched_yield(); /* lets another thread use the core */
		}
	}
}

/* Ends the threads. Does nothing to a pool of zeros that was not started. */
static inline void
tirc_pool_stop(struct tirc_pool *p)
{
	if (p->threads == 0) {
		return;
	}
	p->stop = true;
	tirc_pool_round(p);
	for (int i = 1; i < p->threads; ++i) {
		pthread_join(p->thread[i], NULL);
	}
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->mutex);
	p->threads = 0;
}

/* Starts all threads but the caller's. Returns 0, or the error number of a
 * POSIX call; no thread runs then. *p must not move until tirc_pool_stop. */
static inline int
tirc_pool_start(struct tirc_pool *p, int threads)
{
	int error;

	p->threads = 0;
	p->stop = false;
	atomic_init(&p->round, 0u);
	atomic_init(&p->sleepers, 0);
	atomic_init(&p->busy, 0);
	atomic_init(&p->joined, 0);
	error = pthread_mutex_init(&p->mutex, NULL);
	if (error != 0) {
		return error;
	}
	error = pthread_cond_init(&p->wake, NULL);
	if (error != 0) {
		pthread_mutex_destroy(&p->mutex);
		return error;
	}
	if (threads > TIRC_POOL_THREADS) {
		threads = TIRC_POOL_THREADS;
	}
	/* Threads that are already started read p->threads only when the first
	 * loop begins. */
	p->threads = 1;
	for (int i = 1; i < threads; ++i) {
		error = pthread_create(&p->thread[i], NULL, tirc_pool_thread,
				       p);
		if (error != 0) {
			tirc_pool_stop(p);
			return error;
		}
		p->threads = i + 1;
	}
	return 0;
}

#endif
