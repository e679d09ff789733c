/* Members of a group on bare sockets: group MODE host= port= group=NAME members= [rounds=]
 *
 *   form   all members= join a group that nobody knows: until each holds its assignment of one
 *          generation with all of them
 *   grow   to a group that is formed another joins: until all hold the next assignment
 *
 * Each of rounds= is a group of its own, whose members leave when it was timed. A member does what
 * a client's does: it joins, asks for an id if told so, leads if chosen, syncs, beats every
 * heartbeat-ms=, and joins again when it hears of a rebalance. Of the protocol it knows JoinGroup 5,
 * SyncGroup 3, Heartbeat 3 and LeaveGroup 2, the last versions before the flexible ones. */

#include "sockets.h"

#include <poll.h>

#define MOST_TEXT 128
#define TOPIC "benchmark"
#define PARTITIONS 10 /* in each assignment */

enum { SYNC = 14, JOIN = 11, HEARTBEAT = 12, LEAVE = 13 };
enum { REBALANCE_IN_PROGRESS = 27, MEMBER_ID_REQUIRED = 79 };

struct member {
    int fd, asked, is_stable; /* asked: the request in flight, 0 if none */
    int32_t generation, group_size;
    char id[MOST_TEXT];
    uint64_t beats_at;
    unsigned char *in;
    size_t in_room, in_seen;
};

static struct member *members;
static struct pollfd *polled;
static int member_count, present, session_ms;
static uint64_t heartbeat_ns;
static char group[MOST_TEXT];
static unsigned char *out;
static size_t out_room, out_size;
static struct latencies all;
static struct outcome done;

static void put(const void *data, size_t length) {
    while (out_size + length > out_room) {
        out_room = out_room ? 2 * out_room : 1 << 16;
        out = realloc(out, out_room);
        if (!out) fail("no memory for a request of %zu bytes", out_room);
    }
    memcpy(out + out_size, data, length);
    out_size += length;
}

static void put_number(int64_t number, int bytes) {
    unsigned char data[8];
    for (int i = 0; i < bytes; i++) data[i] = (unsigned char)(number >> (8 * (bytes - 1 - i)));
    put(data, (size_t)bytes);
}

static void put_text(const char *text) {
    put_number(text ? (int64_t)strlen(text) : -1, 2);
    if (text) put(text, strlen(text));
}

static void begin(int key, int version) {
    out_size = 0;
    put_number(0, 4); /* the size, known at the end */
    put_number(key, 2);
    put_number(version, 2);
    put_number(1, 4);
    put_text("benchmark");
    put_text(group);
}

static void finish(struct member *one, int key) {
    for (int i = 0; i < 4; i++) out[i] = (unsigned char)((out_size - 4) >> (24 - 8 * i));
    for (size_t sent = 0; sent < out_size;) {
        ssize_t now = send(one->fd, out + sent, out_size - sent, MSG_NOSIGNAL);
        if (now < 0) fail("cannot send: %s", strerror(errno));
        sent += (size_t)now;
    }
    one->asked = key;
}

static void join(struct member *one) {
    one->is_stable = 0;
    begin(JOIN, 5);
    put_number(session_ms, 4);
    put_number(session_ms, 4);
    put_text(one->id);
    put_text(NULL);
    put_text("consumer");
    put_number(1, 4);
    put_text("range");
    put_number(2 + 4 + 2 + (int)strlen(TOPIC) + 4, 4); /* a subscription: version, topics, data */
    put_number(0, 2);
    put_number(1, 4);
    put_text(TOPIC);
    put_number(-1, 4);
    finish(one, JOIN);
}

static void put_assignment(int number) {
    put_number(2 + 4 + 2 + (int)strlen(TOPIC) + 4 + 4 * PARTITIONS + 4, 4);
    put_number(0, 2);
    put_number(1, 4);
    put_text(TOPIC);
    put_number(PARTITIONS, 4);
    for (int i = 0; i < PARTITIONS; i++) put_number(number * PARTITIONS + i, 4);
    put_number(-1, 4);
}

static const unsigned char *read_text(const unsigned char *at, char *text) {
    int64_t length = big_endian(at, 2);
    if (length >= MOST_TEXT) fail("an id of %lld bytes", (long long)length);
    if (text) memcpy(text, at + 2, (size_t)length), text[length] = 0;
    return at + 2 + (length > 0 ? length : 0);
}

/* `at` stands before the members, of which only the leader hears. */
static void synchronize(struct member *one, const unsigned char *at) {
    int64_t count = big_endian(at, 4);
    one->group_size = (int32_t)count;
    begin(SYNC, 3);
    put_number(one->generation, 4);
    put_text(one->id);
    put_text(NULL);
    put_number(count, 4);
    at += 4;
    for (int number = 0; number < count; number++) {
        char id[MOST_TEXT];
        at = read_text(read_text(at, id), NULL);
        at += 4 + big_endian(at, 4);
        put_text(id);
        put_assignment(number);
    }
    finish(one, SYNC);
}

static void beat(struct member *one) {
    begin(HEARTBEAT, 3);
    put_number(one->generation, 4);
    put_text(one->id);
    put_text(NULL);
    finish(one, HEARTBEAT);
}

static void leave(struct member *one) {
    one->is_stable = 0;
    begin(LEAVE, 2);
    put_text(one->id);
    finish(one, LEAVE);
}

static void joined(struct member *one, int code, const unsigned char *at) {
    one->generation = (int32_t)big_endian(at, 4);
    at = read_text(read_text(read_text(at + 4, NULL), NULL), one->id);
    if (code == MEMBER_ID_REQUIRED)
        join(one);
    else
        synchronize(one, at);
}

static void synchronized(struct member *one, const unsigned char *at) {
    if (big_endian(at, 4) < PARTITIONS * 4) fail("%s has no assignment", one->id);
    one->is_stable = 1;
    one->beats_at = now_ns() + heartbeat_ns;
}

/* Behind the size and the correlation id stand in all of them the throttle time and the code. */
static void answered(struct member *one) {
    int asked = one->asked, code = (int)big_endian(one->in + 12, 2);
    one->asked = 0;
    if (code == REBALANCE_IN_PROGRESS && asked != JOIN)
        join(one);
    else if (code && code != MEMBER_ID_REQUIRED)
        fail("the broker answers a request of key %d with error code %d", asked, code);
    else if (asked == JOIN)
        joined(one, code, one->in + 14);
    else if (asked == SYNC)
        synchronized(one, one->in + 14);
    else if (asked == HEARTBEAT)
        one->beats_at = now_ns() + heartbeat_ns;
}

static void receive(struct member *one) {
    if (one->in_room - one->in_seen < 1 << 16) {
        one->in_room = 2 * one->in_room + (1 << 17);
        one->in = realloc(one->in, one->in_room);
        if (!one->in) fail("no memory for a response of %zu bytes", one->in_room);
    }
    ssize_t got = recv(one->fd, one->in + one->in_seen, one->in_room - one->in_seen, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) fail("the broker closed a connection: %s", got ? strerror(errno) : "its end");
    done.bytes += (uint64_t)got;
    one->in_seen += (size_t)got;
    /* One request is in flight, so what is there is one response or a part of it. */
    if (one->in_seen < 4 || (int64_t)one->in_seen < big_endian(one->in, 4) + 4) return;
    one->in_seen = 0;
    answered(one);
}

/* All hold an assignment of one generation, which was made for as many as there are. */
static int is_whole(void) {
    int32_t size = 0;
    for (int i = 0; i < present; i++) {
        if (!members[i].is_stable || members[i].generation != members[0].generation) return 0;
        size += members[i].group_size;
    }
    return size == present;
}

static int is_quiet(void) {
    for (int i = 0; i < present; i++)
        if (members[i].asked) return 0;
    return 1;
}

static int milliseconds_to_beat(void) {
    uint64_t now = now_ns(), first = now + heartbeat_ns;
    for (int i = 0; i < present; i++)
        if (members[i].is_stable && !members[i].asked && members[i].beats_at < first)
            first = members[i].beats_at;
    return first > now ? (int)((first - now) / 1000000u) + 1 : 0;
}

static void serve_until(int (*is_so)(void)) {
    while (!is_so()) {
        int ready = poll(polled, (nfds_t)present, milliseconds_to_beat());
        for (int i = 0; i < present && ready > 0; i++)
            if (polled[i].revents) receive(members + i);
        uint64_t now = now_ns();
        for (int i = 0; i < present && is_so != is_quiet; i++)
            if (members[i].is_stable && !members[i].asked && members[i].beats_at <= now)
                beat(members + i);
    }
}

static void add_members(int wanted) {
    for (; present < wanted; present++) {
        members[present].id[0] = 0;
        members[present].group_size = 0;
        join(members + present);
    }
}

static void disband(void) {
    serve_until(is_quiet);
    for (int i = 0; i < present; i++) leave(members + i);
    serve_until(is_quiet);
    present = 0;
}

static void play(int rounds, const char *name, int newcomers) {
    for (int round = 0; round < rounds; round++) {
        snprintf(group, sizeof group, "%s-%d", name, round);
        if (newcomers < member_count) {
            add_members(member_count - newcomers);
            serve_until(is_whole);
        }
        double cpu = cpu_seconds();
        uint64_t start = now_ns();
        add_members(member_count);
        serve_until(is_whole);
        add_latency(&all, now_ns() - start);
        done.cpu += cpu_seconds() - cpu;
        done.seconds += (double)(now_ns() - start) / 1e9;
        done.count++;
        disband();
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    take_options(argc > 2 ? argc - 2 : 0, argv + 2);
    const char *host = text_option("host", "127.0.0.1"), *name = text_option("group", NULL);
    int port = (int)number_option("port", NULL), rounds = (int)number_option("rounds", "1");
    int is_grow = !strcmp(mode, "grow");
    if (!is_grow && strcmp(mode, "form")) fail("there is no mode '%s': form, grow", mode);
    member_count = (int)number_option("members", "50") + is_grow;
    session_ms = (int)number_option("session-ms", "30000");
    heartbeat_ns = (uint64_t)(number_option("heartbeat-ms", "2") * 1e6);
    refuse_other_options();
    if (member_count < 1) fail("members= is at least 1");
    members = calloc((size_t)member_count, sizeof *members);
    polled = calloc((size_t)member_count, sizeof *polled);
    for (int i = 0; i < member_count; i++) {
        members[i].fd = connect_to(host, port);
        polled[i] = (struct pollfd){.fd = members[i].fd, .events = POLLIN};
    }
    play(rounds, name, is_grow ? 1 : member_count);
    print_outcome(&done, &all);
    return 0;
}
