/* The few functions of librdkafka 2 that the driver calls, declared by us: the library comes in
 * the wheel of confluent-kafka, which brings no header. Their binary interface is stable. */

#ifndef OTTLA_LIBRDKAFKA_H
#define OTTLA_LIBRDKAFKA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_topic_conf_s rd_kafka_topic_conf_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
typedef struct rd_kafka_topic_partition_list_s rd_kafka_topic_partition_list_t;
typedef struct rd_kafka_error_s rd_kafka_error_t;

typedef struct {
    int err;
    rd_kafka_topic_t *rkt;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *_private;
} rd_kafka_message_t;

enum { RD_KAFKA_PRODUCER, RD_KAFKA_CONSUMER };
enum { RD_KAFKA_RESP_ERR__QUEUE_FULL = -184 };

const char *rd_kafka_err2str(int err);
rd_kafka_conf_t *rd_kafka_conf_new(void);
int rd_kafka_conf_set(rd_kafka_conf_t *, const char *name, const char *value, char *why, size_t);
void rd_kafka_conf_set_dr_msg_cb(
    rd_kafka_conf_t *, void (*)(rd_kafka_t *, const rd_kafka_message_t *, void *));
rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *, char *why, size_t);
rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *, const char *topic, rd_kafka_topic_conf_t *);
int rd_kafka_produce_batch(
    rd_kafka_topic_t *, int32_t partition, int flags, rd_kafka_message_t *, int count);
int rd_kafka_poll(rd_kafka_t *, int timeout_ms);
int rd_kafka_flush(rd_kafka_t *, int timeout_ms);
rd_kafka_error_t *rd_kafka_init_transactions(rd_kafka_t *, int timeout_ms);
rd_kafka_error_t *rd_kafka_begin_transaction(rd_kafka_t *);
rd_kafka_error_t *rd_kafka_commit_transaction(rd_kafka_t *, int timeout_ms);
const char *rd_kafka_error_string(const rd_kafka_error_t *);
rd_kafka_topic_partition_list_t *rd_kafka_topic_partition_list_new(int size);
void *rd_kafka_topic_partition_list_add(
    rd_kafka_topic_partition_list_t *, const char *topic, int32_t partition);
int rd_kafka_topic_partition_list_set_offset(
    rd_kafka_topic_partition_list_t *, const char *topic, int32_t partition, int64_t offset);
int rd_kafka_assign(rd_kafka_t *, const rd_kafka_topic_partition_list_t *);
rd_kafka_queue_t *rd_kafka_queue_get_consumer(rd_kafka_t *);
ssize_t rd_kafka_consume_batch_queue(
    rd_kafka_queue_t *, int timeout_ms, rd_kafka_message_t **, size_t);
rd_kafka_message_t *rd_kafka_consumer_poll(rd_kafka_t *, int timeout_ms);
void rd_kafka_message_destroy(rd_kafka_message_t *);

#endif
