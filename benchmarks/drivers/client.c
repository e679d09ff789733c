/* An ordinary client on librdkafka: client MODE bootstrap=HOST:PORT topic=NAME [name=value]...
 *
 *   produce     as fast as it goes: size= batch= partitions=, for count= records or seconds=,
 *               after a first one to each partition that is not counted
 *   fetch       count= records from the beginning of all partitions=
 *   sync        count= records of size=, one in flight: how long until the leader answers
 *   end-to-end  count= records of size= at rate= a second: how long until a consumer has them
 *   transact    count= transactions of records= each, one after the other: how long each takes
 *
 * An option with a dot in its name (linger.ms=5) is one of librdkafka's, for every client made. */

#include "measure.h"

#include "librdkafka.h"

#include <pthread.h>

#define POOL_BYTES (8u << 20) /* larger than any codec's window, so that nothing repeats in it */
#define FLUSH_MS 120000
#define QUIET_MS 30000
#define CHUNK 500
#define RECORD_OVERHEAD 16

static const char *topic_name;
static int partitions;
static size_t record_bytes;
static uint64_t wanted_count;
static char *pool;
static volatile uint64_t delivered; /* only counted where every delivery is reported */

/* Half words that come again and again, half digits that never do: compresses about as JSON. */
static void fill_pool(void) {
    static const char *words[] = {"{\"user\":", "\"page\":", "/products/", "\"timestamp\":",
                                  "\"session\":", "true,", "\"referrer\":", "null,"};
    uint64_t random = 88172645463325252u;
    size_t at = 0;
    pool = malloc(POOL_BYTES + 64);
    if (!pool) fail("no memory for the records");
    while (at < POOL_BYTES) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        at += (size_t)sprintf(pool + at, "%s%010llu,", words[random & 7],
                              (unsigned long long)(random >> 31));
    }
}

static char *payload(uint64_t number) {
    return pool + number % (POOL_BYTES / record_bytes) * record_bytes;
}

static void on_delivery(rd_kafka_t *client, const rd_kafka_message_t *message, void *unused) {
    (void)client, (void)unused;
    if (message->err) fail("a record was not delivered: %s", rd_kafka_err2str(message->err));
    delivered++;
}

static void configure(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char why[512];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof why)) fail("%s=%s: %s", name, value, why);
}

static rd_kafka_t *make_client(int type, rd_kafka_conf_t *conf) {
    char why[512], name[256];
    configure(conf, "bootstrap.servers", text_option("bootstrap", NULL));
    configure(conf, "socket.nagle.disable", "true");
    for (int i = 0; i < option_count; i++) {
        size_t length = strcspn(option_words[i], "=");
        if (!memchr(option_words[i], '.', length) || length >= sizeof name) continue;
        memcpy(name, option_words[i], length);
        name[length] = 0;
        configure(conf, name, text_option(name, NULL));
    }
    refuse_other_options();
    rd_kafka_t *client = rd_kafka_new(type, conf, why, sizeof why);
    if (!client) fail("no client: %s", why);
    return client;
}

static rd_kafka_t *make_producer(const char *only_errors) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    configure(conf, "delivery.report.only.error", only_errors);
    configure(conf, "batch.num.messages", "1000000");
    return make_client(RD_KAFKA_PRODUCER, conf);
}

static rd_kafka_t *make_consumer(void) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    configure(conf, "group.id", "ottla-benchmark");
    configure(conf, "enable.auto.commit", "false");
    /* With a full queue it would stop asking for a second. */
    configure(conf, "queued.min.messages", "10000000");
    configure(conf, "queued.max.messages.kbytes", "2097151");
    rd_kafka_t *consumer = make_client(RD_KAFKA_CONSUMER, conf);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    for (int32_t partition = 0; partition < partitions; partition++) {
        rd_kafka_topic_partition_list_add(list, topic_name, partition);
        rd_kafka_topic_partition_list_set_offset(list, topic_name, partition, 0);
    }
    int err = rd_kafka_assign(consumer, list);
    if (err) fail("no assignment of %s: %s", topic_name, rd_kafka_err2str(err));
    return consumer;
}

/* Records are not copied: the pool is larger than what is ever in flight.
 * librdkafka's own way to wait for room holds the topic's lock meanwhile, and can hang. */
static void send_records(rd_kafka_t *producer, rd_kafka_topic_t *topic, int32_t partition,
                         rd_kafka_message_t *messages, int count) {
    while (rd_kafka_produce_batch(topic, partition, 0, messages, count) < count) {
        int left = 0;
        for (int i = 0; i < count; i++) {
            if (messages[i].err && messages[i].err != RD_KAFKA_RESP_ERR__QUEUE_FULL)
                fail("a record was refused: %s", rd_kafka_err2str(messages[i].err));
            if (messages[i].err) messages[left++] = messages[i];
        }
        count = left;
        rd_kafka_poll(producer, 1);
    }
}

static void flush(rd_kafka_t *producer) {
    int err = rd_kafka_flush(producer, FLUSH_MS);
    if (err) fail("not all was delivered: %s", rd_kafka_err2str(err));
}

/* The first record of each partition learns its leader, gets a producer id, makes its files. */
static void send_first(rd_kafka_t *producer, rd_kafka_topic_t *topic) {
    for (int32_t partition = 0; partition < partitions; partition++) {
        rd_kafka_message_t first = {.payload = payload(0), .len = record_bytes};
        send_records(producer, topic, partition, &first, 1);
    }
    flush(producer);
}

/* As today's clients do, a batch is filled for one partition before the next one gets its own. */
static void produce(void) {
    int batch = (int)(number_option("batch", "1000000") / (double)(record_bytes + RECORD_OVERHEAD));
    uint64_t limit_ns = (uint64_t)(number_option("seconds", "0") * 1e9);
    int chunk = partitions > 1 ? (batch ? batch : 1) : CHUNK;
    rd_kafka_message_t *messages = calloc((size_t)chunk, sizeof *messages);
    rd_kafka_t *producer = make_producer("true");
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, topic_name, NULL);
    send_first(producer, topic);
    struct outcome done = {.cpu = -cpu_seconds()};
    uint64_t start = now_ns();
    for (int32_t partition = 0; limit_ns ? now_ns() - start < limit_ns : done.count < wanted_count;
         partition = (partition + 1) % partitions) {
        uint64_t left = limit_ns ? (uint64_t)chunk : wanted_count - done.count;
        int count = left < (uint64_t)chunk ? (int)left : chunk;
        for (int i = 0; i < count; i++)
            messages[i] = (rd_kafka_message_t){
                .payload = payload(done.count + (uint64_t)i), .len = record_bytes};
        send_records(producer, topic, partition, messages, count);
        rd_kafka_poll(producer, 0);
        done.count += (uint64_t)count;
    }
    flush(producer);
    done.seconds = (double)(now_ns() - start) / 1e9;
    done.cpu += cpu_seconds();
    done.bytes = done.count * record_bytes;
    print_outcome(&done, NULL);
}

/* Timed from the first records on: connecting and finding the leaders is not reading. */
static void fetch(void) {
    rd_kafka_message_t *messages[CHUNK];
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(make_consumer());
    struct outcome done = {0};
    uint64_t start = 0, seen = 0;
    while (seen < wanted_count) {
        size_t room = wanted_count - seen < CHUNK ? wanted_count - seen : CHUNK;
        ssize_t got = rd_kafka_consume_batch_queue(queue, QUIET_MS, messages, room);
        if (got <= 0) fail("after %llu records came no more", (unsigned long long)seen);
        for (ssize_t i = 0; i < got; i++) {
            if (messages[i]->err) fail("no record: %s", rd_kafka_err2str(messages[i]->err));
            done.bytes += start ? messages[i]->len : 0;
            rd_kafka_message_destroy(messages[i]);
        }
        seen += (uint64_t)got;
        done.count += start ? (uint64_t)got : 0;
        if (!start) start = now_ns(), done.cpu = -cpu_seconds();
    }
    done.seconds = (double)(now_ns() - start) / 1e9;
    done.cpu += cpu_seconds();
    print_outcome(&done, NULL);
}

static void sync_latency(void) {
    struct latencies all = {0};
    rd_kafka_t *producer = make_producer("false");
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, topic_name, NULL);
    send_first(producer, topic);
    struct outcome done = {.cpu = -cpu_seconds()};
    uint64_t start = now_ns();
    for (; done.count < wanted_count; done.count++) {
        rd_kafka_message_t message = {.payload = payload(done.count), .len = record_bytes};
        uint64_t sent = now_ns(), before = delivered;
        send_records(producer, topic, 0, &message, 1);
        while (delivered == before) rd_kafka_poll(producer, QUIET_MS);
        add_latency(&all, now_ns() - sent);
    }
    done.seconds = (double)(now_ns() - start) / 1e9;
    done.cpu += cpu_seconds();
    done.bytes = done.count * record_bytes;
    print_outcome(&done, &all);
}

static struct latencies seen_by_consumer;
static volatile int consumer_is_ready;

/* Each record begins with the time it was sent at; 0 only asks whether anyone listens. */
static void *consume(void *consumer) {
    while (seen_by_consumer.count < wanted_count) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(consumer, QUIET_MS);
        uint64_t now = now_ns(), sent;
        if (!message) fail("the consumer saw only %zu records", seen_by_consumer.count);
        if (message->err) fail("no record: %s", rd_kafka_err2str(message->err));
        memcpy(&sent, message->payload, sizeof sent);
        if (sent > now) fail("%s held records before: end-to-end needs a new topic", topic_name);
        if (sent) add_latency(&seen_by_consumer, now - sent);
        consumer_is_ready = 1;
        rd_kafka_message_destroy(message);
    }
    return NULL;
}

static void send_stamped(
    rd_kafka_t *producer, rd_kafka_topic_t *topic, uint64_t number, uint64_t stamp) {
    rd_kafka_message_t message = {.payload = payload(number), .len = record_bytes};
    memcpy(message.payload, &stamp, sizeof stamp);
    send_records(producer, topic, (int32_t)(number % (uint64_t)partitions), &message, 1);
}

static void end_to_end(void) {
    pthread_t thread;
    uint64_t pause_ns = (uint64_t)(1e9 / number_option("rate", "1000"));
    rd_kafka_t *producer = make_producer("true");
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, topic_name, NULL);
    pthread_create(&thread, NULL, consume, make_consumer());
    while (!consumer_is_ready) {
        send_stamped(producer, topic, 0, 0);
        rd_kafka_poll(producer, 100);
    }
    flush(producer);
    struct outcome done = {.cpu = -cpu_seconds()};
    uint64_t start = now_ns();
    for (; done.count < wanted_count; done.count++) {
        uint64_t due = start + done.count * pause_ns;
        struct timespec until = {(time_t)(due / 1000000000u), (long)(due % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        /* Stamped when it was due: a sender held up must not make the latency look better. */
        send_stamped(producer, topic, done.count, due);
        rd_kafka_poll(producer, 0);
    }
    flush(producer);
    pthread_join(thread, NULL);
    done.seconds = (double)(now_ns() - start) / 1e9;
    done.cpu += cpu_seconds();
    done.bytes = done.count * record_bytes;
    print_outcome(&done, &seen_by_consumer);
}

static void expect_done(rd_kafka_error_t *error, const char *what) {
    if (error) fail("%s: %s", what, rd_kafka_error_string(error));
}

/* Timed from begin to commit. The first, which finds the coordinator, is not counted.
 * Every delivery is reported: a commit flushes, and looks only every 10 ms unless it hears. */
static void transact(void) {
    struct latencies all = {0};
    int records = (int)number_option("records", "100");
    rd_kafka_message_t *messages = calloc((size_t)records, sizeof *messages);
    rd_kafka_t *producer = make_producer("false");
    rd_kafka_topic_t *topic = rd_kafka_topic_new(producer, topic_name, NULL);
    expect_done(rd_kafka_init_transactions(producer, FLUSH_MS), "init");
    struct outcome done = {0};
    uint64_t start = 0;
    for (uint64_t number = 0; number <= wanted_count; number++) {
        uint64_t begun = now_ns();
        if (number == 1) start = begun, done.cpu = -cpu_seconds();
        expect_done(rd_kafka_begin_transaction(producer), "begin");
        for (int i = 0; i < records; i++)
            messages[i] = (rd_kafka_message_t){
                .payload = payload(number * (uint64_t)records + (uint64_t)i), .len = record_bytes};
        send_records(producer, topic, (int32_t)(number % (uint64_t)partitions), messages, records);
        expect_done(rd_kafka_commit_transaction(producer, FLUSH_MS), "commit");
        if (number) add_latency(&all, now_ns() - begun);
    }
    done.seconds = (double)(now_ns() - start) / 1e9;
    done.cpu += cpu_seconds();
    done.count = wanted_count;
    done.bytes = wanted_count * (uint64_t)records * record_bytes;
    print_outcome(&done, &all);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"produce", produce}, {"fetch", fetch}, {"sync", sync_latency},
                 {"end-to-end", end_to_end}, {"transact", transact}};
    const char *mode = argc > 1 ? argv[1] : "";
    take_options(argc > 2 ? argc - 2 : 0, argv + 2);
    topic_name = text_option("topic", NULL);
    partitions = (int)number_option("partitions", "1");
    record_bytes = (size_t)number_option("size", "1024");
    wanted_count = (uint64_t)number_option("count", "0");
    if (partitions < 1) fail("partitions=%d is not at least 1", partitions);
    if (record_bytes < 8 || record_bytes > POOL_BYTES)
        fail("size=%zu is not between 8 and %u", record_bytes, POOL_BYTES);
    fill_pool();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(mode, modes[i].name)) {
            modes[i].run();
            /* Closing the clients takes a second and measures nothing. */
            _Exit(0);
        }
    fail("there is no mode '%s': produce, fetch, sync, end-to-end, transact", mode);
}
