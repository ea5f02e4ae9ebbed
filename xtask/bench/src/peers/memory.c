/*
 * The bare operations on memory that charz's kernels of pages and allocators measure, with nothing around them: what the kernels
 * are held against.
 *
 *   memory touch PAGES MIB PART    a fresh private mapping, written to at each small page
 *   memory lock PAGES MIB PART     a mapping that was touched, locked
 *   memory release PAGES MIB PART  a mapping that was touched, unmapped
 *   memory alloc OPERATIONS        1000 objects of malloc, of 16 to 1000 bytes, of which one is replaced by lot
 *   memory copy BYTES FROM TO      copies of so many bytes by memcpy, the source so far past a line and the target so far
 *   memory load KIB                passes over a block by vector loads and nothing else, of 64 bytes or of 32, whichever is faster here
 *
 * PAGES is 4k or thp, PART the MiB that go into one call. Prints the seconds of one byte, of a thousand where they are loaded, or of one
 * operation; a byte that is copied is one read and one written. The median of five repetitions, of copies and loads the best. The thread sits on the first of the strands that the process may use.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { REPETITIONS = 5, SMALL = 4096, LARGE = 2 << 20, OBJECTS = 1000, LEAST = 16, MOST = 1000 };

static void die(const char *what) {
    perror(what);
    exit(1);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void sit(void) {
    cpu_set_t usable, own;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) die("sched_getaffinity");
    int strand = 0;
    while (!CPU_ISSET(strand, &usable)) strand++;
    CPU_ZERO(&own);
    CPU_SET(strand, &own);
    if (sched_setaffinity(0, sizeof own, &own) != 0) die("sched_setaffinity");
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* A mapping at a multiple of what a huge page has. */
static char *map(size_t bytes, int advice) {
    char *base = mmap(NULL, bytes + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) die("mmap");
    size_t head = -(uintptr_t)base % LARGE;
    if (head > 0) munmap(base, head);
    munmap(base + head + bytes, LARGE - head);
    if (madvise(base + head, bytes, advice) != 0) die("madvise");
    return base + head;
}

static void touch(volatile char *start, size_t bytes) {
    for (size_t at = 0; at < bytes; at += SMALL) *(volatile uint64_t *)(start + at) = 1;
}

static double handle(const char *deed, int advice, size_t bytes, size_t part) {
    char *start = map(bytes, advice);
    int locks = strcmp(deed, "lock") == 0, releases = strcmp(deed, "release") == 0;
    if (locks || releases) touch(start, bytes);
    double before = seconds();
    for (size_t at = 0; at < bytes; at += part) {
        if (locks) {
            if (mlock(start + at, part) != 0) die("mlock");
        } else if (releases) {
            if (munmap(start + at, part) != 0) die("munmap");
        } else {
            touch(start + at, part);
        }
    }
    double after = seconds();
    if (!releases) munmap(start, bytes);
    return (after - before) / bytes;
}

struct object {
    char *start;
    size_t bytes;
};

static uint64_t state;

/* W. Yi's wyrand. */
static uint64_t lot(void) {
    state += 0x2d358dccaa6c78a5;
    __uint128_t product = (__uint128_t)state * (state ^ 0x8bb84b93962eacc9);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static uint64_t word(struct object object) {
    return (uintptr_t)object.start ^ (uint64_t)object.bytes << 48;
}

static struct object make(uint64_t lot) {
    struct object object = {.bytes = LEAST + ((lot & 0xffffffff) * (MOST - LEAST + 1) >> 32)};
    object.start = malloc(object.bytes);
    if (object.start == NULL) die("malloc");
    uint64_t mark = word(object);
    memcpy(object.start, &mark, 8);
    memcpy(object.start + object.bytes - 8, &mark, 8);
    return object;
}

static void end(struct object object) {
    uint64_t first, last, mark = word(object);
    memcpy(&first, object.start, 8);
    memcpy(&last, object.start + object.bytes - 8, 8);
    if (first != mark || last != mark) die("an object was changed");
    free(object.start);
}

struct job {
    long operations;
    double *times;
};

static void replace(struct object *objects, long operations) {
    for (long i = 0; i < operations; i++) {
        uint64_t drawn = lot();
        struct object *object = &objects[(drawn >> 32) * OBJECTS >> 32];
        struct object old = *object;
        *object = make(drawn);
        end(old);
    }
}

/* On a thread of its own, as in charz: the C library leaves locks out where a process has but one. */
static void *alloc(void *argument) {
    struct job *job = argument;
    struct object objects[OBJECTS];
    for (int i = 0; i < OBJECTS; i++) objects[i] = make(lot());
    for (int i = 0; i < REPETITIONS; i++) {
        double before = seconds();
        replace(objects, job->operations);
        job->times[i] = (seconds() - before) / job->operations;
    }
    return NULL;
}

/* The two ends are half a page more than whole pages apart: a load waits for an earlier store with the same last 12 bits. */
static double copy(size_t bytes, size_t from, size_t to) {
    size_t apart = (bytes / 64 + 1 + 63) / 64 * SMALL + SMALL / 2;
    size_t room = (2 * apart + LARGE - 1) / LARGE * LARGE;
    char *start = map(room, MADV_HUGEPAGE);
    memset(start, 1, room);
    long copies = 1 + 200000000 / bytes;
    if (copies > 4000000) copies = 4000000;
    double best = 1e9;
    for (int i = 0; i < REPETITIONS; i++) {
        double before = seconds();
        for (long done = 0; done < copies; done++) {
            memcpy(start + apart + to, start + from, bytes);
            __asm__ volatile("" ::"r"(start) : "memory");
        }
        double time = (seconds() - before) / copies / (2 * bytes);
        if (time < best) best = time;
    }
    return best;
}

#ifdef __x86_64__
/* Passes over whole kilobytes; `loads` are those of 512 bytes. */
#define PASSES(loads)                                                                          \
    __asm__ volatile("1: mov %[start], %%rax\n.p2align 6\n2:\n" loads                          \
                     "add $512, %%rax\ncmp %[end], %%rax\njb 2b\ndec %[passes]\njnz 1b\n"      \
                     "vzeroupper"                                                              \
                     : [passes] "+r"(passes)                                                   \
                     : [start] "r"(start), [end] "r"(start + bytes)                            \
                     : "rax", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7")
#define LOADS(vector, width)                                                                   \
    ".irp k,0,1,2,3,4,5,6,7\nvmovaps \\k*" width "(%%rax), %%" vector "\\k\n.endr\n"
#define MORE(vector, width)                                                                    \
    ".irp k,0,1,2,3,4,5,6,7\nvmovaps 256+\\k*" width "(%%rax), %%" vector "\\k\n.endr\n"

static void pass(const char *start, size_t bytes, long passes, int wide) {
    if (wide) PASSES(LOADS("zmm", "64"));
    else PASSES(LOADS("ymm", "32") MORE("ymm", "32"));
}

static double load(size_t bytes) {
    char *start = aligned_alloc(SMALL, bytes);
    if (start == NULL) die("aligned_alloc");
    memset(start, 1, bytes);
    __builtin_cpu_init();
    int wide = __builtin_cpu_supports("avx512f") != 0;
    long passes = 300000000 / bytes;
    double best = 1e9;
    for (int i = 0; i < REPETITIONS * (1 + wide); i++) {
        double before = seconds();
        pass(start, bytes, passes, wide && i % 2 == 0);
        double time = (seconds() - before) / passes / bytes;
        if (time < best) best = time;
    }
    return 1000 * best;
}
#else
static double load(size_t bytes) {
    (void)bytes;
    fprintf(stderr, "memory load has loops for x86-64 only\n");
    exit(2);
}
#endif

int main(int count, char **words) {
    double times[REPETITIONS];
    sit();
    if (count == 5 && strcmp(words[1], "copy") == 0) {
        double best = copy((size_t)atol(words[2]), (size_t)atol(words[3]), (size_t)atol(words[4]));
        for (int i = 0; i < REPETITIONS; i++) times[i] = best;
    } else if (count == 5) {
        int advice = strcmp(words[2], "thp") == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
        size_t bytes = (size_t)atol(words[3]) << 20, part = (size_t)atol(words[4]) << 20;
        for (int i = 0; i < REPETITIONS; i++) times[i] = handle(words[1], advice, bytes, part);
    } else if (count == 3 && strcmp(words[1], "alloc") == 0) {
        struct job job = {.operations = atol(words[2]), .times = times};
        pthread_t thread;
        if (pthread_create(&thread, NULL, alloc, &job) != 0) die("pthread_create");
        pthread_join(thread, NULL);
    } else if (count == 3 && strcmp(words[1], "load") == 0) {
        double best = load((size_t)atol(words[2]) << 10);
        for (int i = 0; i < REPETITIONS; i++) times[i] = best;
    } else {
        fprintf(stderr, "usage: memory touch|lock|release 4k|thp MIB PART | memory alloc OPERATIONS | memory copy BYTES FROM TO | memory load KIB\n");
        return 2;
    }
    qsort(times, REPETITIONS, sizeof *times, ascending);
    printf("%.15g\n", times[REPETITIONS / 2]);
    return 0;
}
