/*
 * The bare operations that charz's kernels of threads measure, with nothing around them: what the kernels are held against.
 *
 *   probe lock ITERATIONS          a free mutex taken and given back
 *   probe clock NAME ITERATIONS    a reading of a clock of the system: monotonic, realtime, monotonic-raw or monotonic-coarse
 *   probe create SAMPLES STACK     a thread on another strand that stamps and ends; every one is joined
 *   probe unlock SAMPLES           a mutex given back while another thread sleeps for it
 *   probe ring PROCESSES THREADS LAPS
 *                                  the ring of libMicro's cascade_mutex: so many processes of so many threads each
 *   probe chase KIB PAGES          a load that needs what the one before it found, along one random cycle over so much memory on
 *                                  pages of a kind (4k or thp)
 *
 * Prints the seconds of one operation; of `create` and `unlock` the median from the call to the other thread running. Thread i
 * sits on the i-th strand of those that the process may use, and starts over behind the last.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a loop that spins tells the processor. */
static void relax(void) {
#if defined(__x86_64__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Who waits for this process, if anybody does. */
static pid_t waiting;

static void die(const char *what) {
    perror(what);
    if (waiting != 0) kill(waiting, SIGTERM);
    exit(1);
}

static long nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static cpu_set_t usable;

static cpu_set_t seat(int rank) {
    cpu_set_t seat;
    CPU_ZERO(&seat);
    int left = rank % CPU_COUNT(&usable);
    for (int strand = 0; strand < CPU_SETSIZE; strand++) {
        if (CPU_ISSET(strand, &usable) && left-- == 0) CPU_SET(strand, &seat);
    }
    return seat;
}

static void sit(int rank) {
    cpu_set_t own = seat(rank);
    if (pthread_setaffinity_np(pthread_self(), sizeof own, &own) != 0) die("pthread_setaffinity_np");
}

struct locking {
    long iterations;
    double best;
};

/* On a thread of its own, as in charz: the C library leaves atomic operations out where a process has but one. */
static void *take(void *argument) {
    struct locking *locking = argument;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    sit(0);
    locking->best = 1e9;
    for (int repetition = 0; repetition < 5; repetition++) {
        long start = nanos();
        for (long i = 0; i < locking->iterations; i++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
        double seconds = (nanos() - start) * 1e-9 / locking->iterations;
        if (seconds < locking->best) locking->best = seconds;
    }
    return NULL;
}

static double lock_(long iterations) {
    struct locking locking = {.iterations = iterations};
    pthread_t thread;
    if (pthread_create(&thread, NULL, take, &locking) != 0) die("pthread_create");
    pthread_join(thread, NULL);
    return locking.best;
}

static double clock_(const char *name, long iterations) {
    static const struct { const char *name; clockid_t clock; } clocks[] = {
        {"monotonic", CLOCK_MONOTONIC},
        {"realtime", CLOCK_REALTIME},
        {"monotonic-raw", CLOCK_MONOTONIC_RAW},
        {"monotonic-coarse", CLOCK_MONOTONIC_COARSE},
    };
    const int count = sizeof clocks / sizeof *clocks;
    int chosen = 0;
    while (chosen < count && strcmp(clocks[chosen].name, name) != 0) chosen++;
    if (chosen == count) {
        fprintf(stderr, "no clock is called %s\n", name);
        exit(2);
    }
    sit(0);
    double best = 1e9;
    for (int repetition = 0; repetition < 5; repetition++) {
        struct timespec time;
        long start = nanos();
        for (long i = 0; i < iterations; i++) clock_gettime(clocks[chosen].clock, &time);
        double seconds = (nanos() - start) * 1e-9 / iterations;
        if (seconds < best) best = seconds;
    }
    return best;
}

static void *stamp(void *slot) {
    *(volatile long *)slot = nanos();
    return NULL;
}

static int ascending(const void *one, const void *other) {
    long a = *(const long *)one, b = *(const long *)other;
    return (a > b) - (a < b);
}

static double create(long samples, size_t stack) {
    long *times = malloc(samples * sizeof *times);
    pthread_attr_t attributes;
    if (times == NULL || pthread_attr_init(&attributes) != 0) die("create");
    if (pthread_attr_setstacksize(&attributes, stack) != 0) die("pthread_attr_setstacksize");
    cpu_set_t other = seat(1);
    if (pthread_attr_setaffinity_np(&attributes, sizeof other, &other) != 0) die("pthread_attr_setaffinity_np");
    sit(0);
    for (long i = 0; i < samples; i++) {
        pthread_t thread;
        long first = 0, call = nanos();
        if (pthread_create(&thread, &attributes, stamp, &first) != 0) die("pthread_create");
        pthread_join(thread, NULL);
        times[i] = first - call;
    }
    qsort(times, samples, sizeof *times, ascending);
    return times[samples / 2] * 1e-9;
}

struct wait {
    pthread_mutex_t mutex;
    long rounds;
    atomic_long open, ready, done;
    long seen;
};

static void *wait_for(void *argument) {
    struct wait *wait = argument;
    sit(1);
    for (long round = 1; round <= wait->rounds; round++) {
        while (atomic_load(&wait->open) < round) relax();
        atomic_store(&wait->ready, round);
        pthread_mutex_lock(&wait->mutex);
        wait->seen = nanos();
        pthread_mutex_unlock(&wait->mutex);
        atomic_store(&wait->done, round);
    }
    return NULL;
}

/* The waiter gets 10 us to fall asleep, as in charz's kernel. */
static double unlock(long samples) {
    long *times = malloc(samples * sizeof *times);
    struct wait wait = {.mutex = PTHREAD_MUTEX_INITIALIZER, .rounds = samples};
    pthread_t waiter;
    if (times == NULL || pthread_create(&waiter, NULL, wait_for, &wait) != 0) die("unlock");
    sit(0);
    for (long round = 1; round <= samples; round++) {
        pthread_mutex_lock(&wait.mutex);
        atomic_store(&wait.open, round);
        while (atomic_load(&wait.ready) < round) relax();
        for (long settled = nanos() + 10000; nanos() < settled;) relax();
        long call = nanos();
        pthread_mutex_unlock(&wait.mutex);
        while (atomic_load(&wait.done) < round) relax();
        times[round - 1] = wait.seen - call;
    }
    pthread_join(waiter, NULL);
    qsort(times, samples, sizeof *times, ascending);
    return times[samples / 2] * 1e-9;
}

struct participant {
    _Alignas(128) pthread_mutex_t mutex[2];
};

struct ring {
    pthread_barrier_t begin;
    int threads;
    long laps;
    long start, end;
    struct participant all[];
};

struct post {
    struct ring *ring;
    int rank;
};

static void *go_round(void *argument) {
    struct post *post = argument;
    struct ring *ring = post->ring;
    int next = (post->rank + 1) % ring->threads;
    /* The last one takes the first one's pair crossed. */
    int crossed = next == 0;
    pthread_mutex_t *us0 = &ring->all[post->rank].mutex[0], *us1 = &ring->all[post->rank].mutex[1];
    pthread_mutex_t *them0 = &ring->all[next].mutex[crossed], *them1 = &ring->all[next].mutex[!crossed];
    sit(post->rank);
    pthread_mutex_lock(them0);
    pthread_barrier_wait(&ring->begin);
    if (post->rank == 0) ring->start = nanos();
    pthread_mutex_lock(us0);
    for (long lap = 0; lap < ring->laps; lap += 2) {
        pthread_mutex_unlock(us0);
        pthread_mutex_lock(them1);
        pthread_mutex_unlock(them0);
        pthread_mutex_lock(us1);
        pthread_mutex_unlock(us1);
        pthread_mutex_lock(them0);
        pthread_mutex_unlock(them1);
        pthread_mutex_lock(us0);
    }
    if (post->rank == 0) ring->end = nanos();
    pthread_mutex_unlock(them0);
    pthread_mutex_unlock(us0);
    return NULL;
}

/* The participants from the first on, of one process. */
static void take_part(struct ring *ring, int first, int threads) {
    pthread_t *handles = malloc(threads * sizeof *handles);
    struct post *posts = malloc(threads * sizeof *posts);
    if (handles == NULL || posts == NULL) die("malloc");
    for (int at = 0; at < threads; at++) {
        posts[at] = (struct post){.ring = ring, .rank = first + at};
        if (pthread_create(&handles[at], NULL, go_round, &posts[at]) != 0) die("pthread_create");
    }
    for (int at = 0; at < threads; at++) pthread_join(handles[at], NULL);
}

static double ring_(int processes, int threads, long laps) {
    int all = processes * threads, shared = processes > 1 ? PTHREAD_PROCESS_SHARED : PTHREAD_PROCESS_PRIVATE;
    size_t bytes = sizeof(struct ring) + all * sizeof(struct participant);
    struct ring *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ring == MAP_FAILED) die("mmap");
    ring->threads = all;
    ring->laps = laps;
    pthread_barrierattr_t of_barrier;
    pthread_mutexattr_t of_mutex;
    pthread_barrierattr_init(&of_barrier);
    pthread_mutexattr_init(&of_mutex);
    pthread_barrierattr_setpshared(&of_barrier, shared);
    pthread_mutexattr_setpshared(&of_mutex, shared);
    if (pthread_barrier_init(&ring->begin, &of_barrier, all) != 0) die("pthread_barrier_init");
    for (int rank = 0; rank < all; rank++) {
        pthread_mutex_init(&ring->all[rank].mutex[0], &of_mutex);
        pthread_mutex_init(&ring->all[rank].mutex[1], &of_mutex);
    }
    for (int process = 1; process < processes; process++) {
        pid_t child = fork();
        if (child < 0) die("fork");
        if (child == 0) {
            waiting = getppid();
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            take_part(ring, process * threads, threads);
            _exit(0);
        }
    }
    take_part(ring, 0, threads);
    while (wait(NULL) > 0) continue;
    return (ring->end - ring->start) * 1e-9 / laps / all;
}

static unsigned long state = 88172645463325252UL;

/* G. Marsaglia, "Xorshift RNGs" (2003). */
static unsigned long draw(unsigned long below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

/* S. Sattolo's algorithm (1986): each place is exchanged with one of those before it, which leaves a single cycle. */
static void **cycle(size_t bytes, int advice) {
    const size_t huge = 2 << 20, count = bytes / 64, step = 64 / sizeof(void *);
    const size_t whole = (bytes + huge - 1) & -huge;
    char *memory = mmap(NULL, whole + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned *next = malloc(count * sizeof *next);
    if (memory == MAP_FAILED || next == NULL) die("chase");
    void **places = (void **)(((size_t)memory + huge - 1) & -huge);
    if (madvise(places, whole, advice) != 0) die("madvise");
    for (size_t i = 0; i < count; i++) next[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        size_t other = draw(i);
        unsigned swapped = next[i];
        next[i] = next[other];
        next[other] = swapped;
    }
    for (size_t i = 0; i < count; i++) places[i * step] = &places[next[i] * step];
    free(next);
    return places;
}

#define FOUR(step) step step step step

/* The fastest of 20 repetitions of 5 ms, each after 5 ms of the same; the clock is looked at every 50 us or so, as in charz. */
static double chase(size_t bytes, int advice) {
    sit(0);
    void *at = cycle(bytes, advice);
    double best = 1e9;
    for (int repetition = 0; repetition < 40; repetition++) {
        long start = nanos(), now = start, loads = 0, portion = 1;
        while (now - start < 5000000) {
            for (long i = 0; i < portion; i++) {
                FOUR(FOUR(at = *(void *volatile *)at;))
            }
            loads += 16 * portion;
            long then = now;
            now = nanos();
            long fitting = portion * 50000 / (now - then + 1);
            portion = fitting < 1 ? 1 : fitting < 2 * portion ? fitting : 2 * portion;
        }
        double seconds = (now - start) * 1e-9 / loads;
        if (repetition % 2 == 1 && seconds < best) best = seconds;
    }
    return best;
}

int main(int count, char **words) {
    double seconds;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) die("sched_getaffinity");
    if (count == 3 && strcmp(words[1], "lock") == 0) {
        seconds = lock_(atol(words[2]));
    } else if (count == 4 && strcmp(words[1], "clock") == 0) {
        seconds = clock_(words[2], atol(words[3]));
    } else if (count == 4 && strcmp(words[1], "create") == 0) {
        seconds = create(atol(words[2]), (size_t)atol(words[3]));
    } else if (count == 3 && strcmp(words[1], "unlock") == 0) {
        seconds = unlock(atol(words[2]));
    } else if (count == 5 && strcmp(words[1], "ring") == 0) {
        seconds = ring_(atoi(words[2]), atoi(words[3]), atol(words[4]));
    } else if (count == 4 && strcmp(words[1], "chase") == 0) {
        int small = strcmp(words[3], "4k") == 0;
        seconds = chase((size_t)atol(words[2]) << 10, small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    } else {
        fprintf(stderr, "usage: probe lock ITERATIONS | clock NAME ITERATIONS | create SAMPLES STACK | unlock SAMPLES | ring PROCESSES THREADS LAPS | chase KIB PAGES\n");
        return 2;
    }
    printf("%.12f\n", seconds);
    return 0;
}
