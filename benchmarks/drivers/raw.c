/* Bare sockets, so that the client costs next to nothing: raw MODE host= port= frame=FILE ...
 *
 *   repeat   sends the request in the file again and again over connections=, each with depth=
 *            requests in flight, for seconds= after warmup= seconds, or until all of count= are
 *            answered; with frames= the file holds so many of one length, and each connection has
 *            the next of them; payload= bytes are counted for each answer, instead of its own
 *   fetch    reads one partition from offset 0 until=OFFSET over each of connections=; the
 *            request's fetch offset stands at offset-at=
 *
 * Of the protocol it knows only where things stand, as its caller says: a response is head= bytes
 * (its size field included) and then records; its error code is at error-at=. */

#include "sockets.h"

#define READ_BYTES (256u << 10) /* stays in the cache */
#define MOST_HEAD 512
#define BATCH_HEAD 27 /* base offset at 0, length at 8, last offset delta at 23 */
#define BATCH_LENGTH_FROM 12

struct connection {
    int fd, in_flight, oldest, is_polled_for_writing, is_done;
    char *frame;
    size_t unsent;     /* bytes of the requests in flight that the kernel did not take yet */
    uint64_t *started; /* a ring: when each request in flight was sent */
    unsigned char head[MOST_HEAD], batch[BATCH_HEAD];
    size_t head_seen, batch_seen, body_left, batch_left;
    int64_t batch_end, next_offset;
};

static struct connection *connections;
static int connection_count, depth, is_fetch, poller;
static size_t frame_bytes, head_bytes, error_at, offset_at;
static int64_t until_offset;
static uint64_t wanted_count, payload_bytes;
static uint64_t asked_count; /* requests so far, where wanted_count bounds them */
static struct latencies all;
static struct outcome done;

static char *read_frames(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("no file %s: %s", path, strerror(errno));
    fseek(file, 0, SEEK_END);
    frame_bytes = (size_t)ftell(file);
    rewind(file);
    char *frame = malloc(frame_bytes);
    if (!frame || fread(frame, 1, frame_bytes, file) != frame_bytes) fail("cannot read %s", path);
    fclose(file);
    return frame;
}

static void poll_for_writing(struct connection *one, int wanted) {
    struct epoll_event event = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = one};
    if (one->is_polled_for_writing == wanted) return;
    one->is_polled_for_writing = wanted;
    epoll_ctl(poller, EPOLL_CTL_MOD, one->fd, &event);
}

/* All requests of a connection are the same bytes, so what is unsent says where to go on. */
static void send_unsent(struct connection *one) {
    while (one->unsent) {
        size_t left = one->unsent % frame_bytes ? one->unsent % frame_bytes : frame_bytes;
        ssize_t sent = send(one->fd, one->frame + frame_bytes - left, left,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) break;
        if (sent < 0) fail("cannot send: %s", strerror(errno));
        one->unsent -= (size_t)sent;
    }
    poll_for_writing(one, one->unsent > 0);
}

static void add_request(struct connection *one) {
    if (wanted_count && asked_count++ >= wanted_count) return;
    one->started[(one->oldest + one->in_flight++) % depth] = now_ns();
    one->unsent += frame_bytes;
}

static void end_response(struct connection *one) {
    add_latency(&all, now_ns() - one->started[one->oldest]);
    one->oldest = (one->oldest + 1) % depth;
    one->in_flight--;
    one->head_seen = one->batch_seen = one->batch_left = 0;
    done.count++;
    done.bytes += payload_bytes;
    if (is_fetch) {
        for (int i = 0; i < 8; i++)
            one->frame[offset_at + (size_t)i] = (char)(one->next_offset >> (56 - 8 * i));
        one->is_done = one->next_offset >= until_offset;
    }
    if (!one->is_done) add_request(one);
}

/* Looks at the heads of batches only; one that is cut off at the end is read again. */
static void walk_batches(struct connection *one, const unsigned char *data, size_t length) {
    while (length) {
        size_t step = one->batch_left ? one->batch_left : BATCH_HEAD - one->batch_seen;
        if (step > length) step = length;
        if (one->batch_left) {
            one->batch_left -= step;
            if (!one->batch_left) one->next_offset = one->batch_end;
        } else {
            memcpy(one->batch + one->batch_seen, data, step);
            one->batch_seen += step;
            if (one->batch_seen == BATCH_HEAD) {
                int64_t size = big_endian(one->batch + 8, 4) + BATCH_LENGTH_FROM - BATCH_HEAD;
                if (size <= 0) fail("a batch of %lld bytes", (long long)size);
                one->batch_seen = 0;
                one->batch_left = (size_t)size;
                one->batch_end = big_endian(one->batch, 8) + big_endian(one->batch + 23, 4) + 1;
            }
        }
        data += step;
        length -= step;
    }
}

static void begin_body(struct connection *one) {
    int64_t size = big_endian(one->head, 4) + 4 - (int64_t)head_bytes;
    int code = (int)big_endian(one->head + error_at, 2);
    if (code) fail("the broker answers with error code %d", code);
    if (size < 0) fail("a response is %lld bytes shorter than head=", (long long)-size);
    one->body_left = (size_t)size;
    if (!size) end_response(one);
}

static void take(struct connection *one, const unsigned char *data, size_t length) {
    while (length) {
        int is_head = one->head_seen < head_bytes;
        size_t step = is_head ? head_bytes - one->head_seen : one->body_left;
        if (step > length) step = length;
        if (is_head) {
            memcpy(one->head + one->head_seen, data, step);
            one->head_seen += step;
            if (one->head_seen == head_bytes) begin_body(one);
        } else {
            if (is_fetch) walk_batches(one, data, step);
            one->body_left -= step;
            if (!one->body_left) end_response(one);
        }
        data += step;
        length -= step;
    }
}

static void receive(struct connection *one) {
    static unsigned char buffer[READ_BYTES];
    ssize_t got = recv(one->fd, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) fail("the broker closed a connection: %s", got ? strerror(errno) : "its end");
    if (!payload_bytes) done.bytes += (uint64_t)got;
    take(one, buffer, (size_t)got);
}

static void open_connections(void) {
    const char *host = text_option("host", "127.0.0.1"), *path = text_option("frame", NULL);
    int port = (int)number_option("port", NULL), frames = (int)number_option("frames", "1");
    refuse_other_options();
    char *all_frames = read_frames(path);
    frame_bytes /= (size_t)frames;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    poller = epoll_create1(0);
    connections = calloc((size_t)connection_count, sizeof *connections);
    for (int i = 0; i < connection_count; i++) {
        struct connection *one = connections + i;
        one->fd = connect_to(host, port);
        one->frame = malloc(frame_bytes);
        if (!one->frame) fail("no memory for %d frames", connection_count);
        memcpy(one->frame, all_frames + (size_t)(i % frames) * frame_bytes, frame_bytes);
        one->started = calloc((size_t)depth, sizeof *one->started);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = one};
        epoll_ctl(poller, EPOLL_CTL_ADD, one->fd, &event);
    }
}

static int is_finished(uint64_t deadline) {
    if (wanted_count) return done.count >= wanted_count;
    if (!is_fetch) return now_ns() >= deadline;
    for (int i = 0; i < connection_count; i++)
        if (!connections[i].is_done) return 0;
    return 1;
}

/* Every connection that has something is read once a turn, whoever came first. */
static void serve_until(uint64_t deadline) {
    struct epoll_event events[256];
    while (!is_finished(deadline)) {
        int count = epoll_wait(poller, events, 256, 1000);
        for (int i = 0; i < count; i++) {
            struct connection *one = events[i].data.ptr;
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(one);
            if (one->unsent) send_unsent(one);
        }
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    take_options(argc > 2 ? argc - 2 : 0, argv + 2);
    is_fetch = !strcmp(mode, "fetch");
    if (!is_fetch && strcmp(mode, "repeat")) fail("there is no mode '%s': repeat, fetch", mode);
    connection_count = (int)number_option("connections", "1");
    depth = is_fetch ? 1 : (int)number_option("depth", "1");
    head_bytes = (size_t)number_option("head", NULL);
    error_at = (size_t)number_option("error-at", NULL);
    offset_at = is_fetch ? (size_t)number_option("offset-at", NULL) : 0;
    until_offset = is_fetch ? (int64_t)number_option("until", NULL) : 0;
    double seconds = is_fetch ? 0 : number_option("seconds", "5");
    wanted_count = is_fetch ? 0 : (uint64_t)number_option("count", "0");
    payload_bytes = is_fetch ? 0 : (uint64_t)number_option("payload", "0");
    double warmup = is_fetch || wanted_count ? 0 : number_option("warmup", "0.5");
    if (connection_count < 1 || depth < 1) fail("connections= and depth= are at least 1");
    if (head_bytes > MOST_HEAD || error_at + 2 > head_bytes)
        fail("head=%zu is not between error-at=%zu + 2 and %d", head_bytes, error_at, MOST_HEAD);
    open_connections();
    if (is_fetch && offset_at + 8 > frame_bytes) fail("offset-at=%zu is outside", offset_at);
    for (int i = 0; i < connection_count; i++) {
        for (int request = 0; request < depth; request++) add_request(connections + i);
        send_unsent(connections + i);
    }
    if (warmup > 0) serve_until(now_ns() + (uint64_t)(warmup * 1e9));
    done = (struct outcome){.cpu = -cpu_seconds()};
    all.count = 0;
    uint64_t start = now_ns();
    serve_until(start + (uint64_t)(seconds * 1e9));
    done.seconds = (double)(now_ns() - start) / 1e9;
    done.cpu += cpu_seconds();
    print_outcome(&done, &all);
    return 0;
}
