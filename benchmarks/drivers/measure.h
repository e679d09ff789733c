/* What the drivers share: options as name=value, a clock, latencies, one line of JSON. */

#ifndef MEASURE_H
#define MEASURE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MOST_OPTIONS 64

static char **option_words;
static int option_count;
static char option_is_used[MOST_OPTIONS];

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static void take_options(int count, char **words) {
    if (count > MOST_OPTIONS) fail("%d options are too many, at most %d", count, MOST_OPTIONS);
    option_count = count;
    option_words = words;
}

/* The value of an option; without a fallback it must be there. */
static const char *text_option(const char *name, const char *fallback) {
    size_t length = strlen(name);
    for (int i = 0; i < option_count; i++)
        if (!strncmp(option_words[i], name, length) && option_words[i][length] == '=') {
            option_is_used[i] = 1;
            return option_words[i] + length + 1;
        }
    if (!fallback) fail("the option %s= is missing", name);
    return fallback;
}

static double number_option(const char *name, const char *fallback) {
    const char *text = text_option(name, fallback);
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || number < 0) fail("%s=%s is not a number from 0 on", name, text);
    return number;
}

/* A misspelt option would silently measure something else. */
static void refuse_other_options(void) {
    for (int i = 0; i < option_count; i++)
        if (!option_is_used[i]) fail("there is no option %s", option_words[i]);
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static double cpu_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Every latency is kept, so that the percentiles are exact. */
struct latencies {
    uint64_t *ns;
    size_t count, room;
};

static void add_latency(struct latencies *all, uint64_t ns) {
    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 1 << 16;
        all->ns = realloc(all->ns, all->room * sizeof *all->ns);
        if (!all->ns) fail("no memory for %zu latencies", all->room);
    }
    all->ns[all->count++] = ns;
}

static int compare_ns(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static double percentile_us(const struct latencies *sorted, double part) {
    return (double)sorted->ns[(size_t)(part * (double)(sorted->count - 1))] / 1e3;
}

struct outcome {
    uint64_t count, bytes;
    double seconds, cpu;
};

static void print_outcome(const struct outcome *done, struct latencies *all) {
    double seconds = done->seconds > 0 ? done->seconds : 1e-9;
    printf("{\"count\": %llu, \"bytes\": %llu, \"seconds\": %.6f, \"per_second\": %.1f, "
           "\"mb_per_second\": %.3f, \"client_cpu_s\": %.3f",
           (unsigned long long)done->count, (unsigned long long)done->bytes, seconds,
           (double)done->count / seconds, (double)done->bytes / seconds / 1e6, done->cpu);
    if (all && all->count) {
        qsort(all->ns, all->count, sizeof *all->ns, compare_ns);
        printf(", \"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f, \"max_us\": %.1f",
               percentile_us(all, 0.5), percentile_us(all, 0.99), percentile_us(all, 0.999),
               percentile_us(all, 1));
    }
    printf("}\n");
    fflush(stdout);
}

#endif
