// A sarama client driven by lines: see ../../program.py.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"ottla/tests/clients/lines"

	"github.com/IBM/sarama"
)

const patience = 30 * time.Second

type seen struct {
	Offset    int64   `json:"offset"`
	Timestamp int64   `json:"timestamp"`
	Key       []byte  `json:"key"`
	Value     []byte  `json:"value"`
	Headers   [][]any `json:"headers"`
}

type client struct {
	bootstrap []string
	client    sarama.Client
	admin     sarama.ClusterAdmin
}

func main() {
	c := &client{bootstrap: []string{os.Args[1]}}
	var err error
	if c.client, err = sarama.NewClient(c.bootstrap, config()); err != nil {
		panic(err)
	}
	if c.admin, err = sarama.NewClusterAdminFromClient(c.client); err != nil {
		panic(err)
	}
	lines.Serve(c.run)
}

func config() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V3_9_1_0
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	return config
}

func (c *client) run(words []string) (any, error) {
	switch words[0] {
	case "produce":
		return c.produce(words)
	case "topics":
		return c.topics()
	}
	topic := words[1]
	switch words[0] {
	case "create_topic":
		return nil, c.createTopic(words)
	case "delete_topic":
		return nil, c.admin.DeleteTopic(topic)
	case "partition_count":
		if err := c.client.RefreshMetadata(topic); err != nil {
			return nil, err
		}
		found, err := c.client.Partitions(topic)
		return len(found), err
	case "add_partitions":
		return nil, c.admin.CreatePartitions(topic, int32(lines.Number(words[2])), nil, false)
	case "configs":
		return c.configs(topic)
	case "set_config":
		change := sarama.IncrementalAlterConfigsEntry{
			Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &words[3],
		}
		entries := map[string]sarama.IncrementalAlterConfigsEntry{words[2]: change}
		return nil, c.admin.IncrementalAlterConfig(sarama.TopicResource, topic, entries, false)
	}
	return c.inPartition(words[0], topic, int32(lines.Number(words[2])), words[3:])
}

func (c *client) inPartition(
	command, topic string, partition int32, words []string,
) (any, error) {
	switch command {
	case "consume":
		return c.consume(topic, partition, int64(lines.Number(words[0])), lines.Number(words[1]))
	case "offsets":
		earliest, err := c.client.GetOffset(topic, partition, sarama.OffsetOldest)
		if err != nil {
			return nil, err
		}
		latest, err := c.client.GetOffset(topic, partition, sarama.OffsetNewest)
		return []int64{earliest, latest}, err
	case "offset_at":
		offset, err := c.client.GetOffset(topic, partition, int64(lines.Number(words[0])))
		if err != nil || offset < 0 {
			return nil, err
		}
		return offset, nil
	case "delete_records":
		before := map[int32]int64{partition: int64(lines.Number(words[0]))}
		return nil, c.admin.DeleteRecords(topic, before)
	}
	return nil, fmt.Errorf("no command %q", command)
}

func (c *client) produce(words []string) (any, error) {
	codecs := map[string]sarama.CompressionCodec{
		"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
		"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD,
	}
	config := config()
	config.Producer.Compression = codecs[words[2]]
	config.Producer.RequiredAcks = sarama.RequiredAcks(lines.Number(words[3]))
	config.Producer.Idempotent = words[4] == "true"
	if config.Producer.Idempotent {
		config.Net.MaxOpenRequests = 1
	}
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.MaxMessageBytes = 1_048_588 // of a batch, too
	config.Producer.Return.Successes = true
	var messages []*sarama.ProducerMessage
	for range lines.Number(words[5]) {
		line, err := lines.Next()
		if err != nil {
			return nil, err
		}
		messages = append(messages, message(words[1], line))
	}
	producer, err := sarama.NewSyncProducer(c.bootstrap, config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	err = producer.SendMessages(messages)
	if failed := (sarama.ProducerErrors{}); errors.As(err, &failed) {
		return nil, failed[0].Err
	}
	offsets := []int64{}
	for _, message := range messages {
		offsets = append(offsets, message.Offset)
	}
	return offsets, err
}

func message(topic string, words []string) *sarama.ProducerMessage {
	made := &sarama.ProducerMessage{
		Topic: topic, Partition: int32(lines.Number(words[0])),
		Timestamp: time.UnixMilli(int64(lines.Number(words[1]))),
	}
	if words[2] != "-" {
		made.Key = sarama.ByteEncoder(lines.Data(words[2]))
	}
	if words[3] != "-" {
		made.Value = sarama.ByteEncoder(lines.Data(words[3]))
	}
	for i := 4; i < len(words); i += 2 {
		header := sarama.RecordHeader{Key: []byte(words[i]), Value: lines.Data(words[i+1])}
		made.Headers = append(made.Headers, header)
	}
	return made
}

func (c *client) consume(topic string, partition int32, offset int64, count int) (any, error) {
	consumer, err := sarama.NewConsumerFromClient(c.client)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	claim, err := consumer.ConsumePartition(topic, partition, offset)
	if err != nil {
		return nil, err
	}
	defer claim.Close()
	found := []seen{}
	deadline := time.After(patience)
	for len(found) < count {
		select {
		case message := <-claim.Messages():
			headers := [][]any{}
			for _, header := range message.Headers {
				headers = append(headers, []any{string(header.Key), header.Value})
			}
			found = append(found, seen{
				message.Offset, message.Timestamp.UnixMilli(), message.Key, message.Value, headers,
			})
		case <-deadline:
			return nil, fmt.Errorf("%d of %d records", len(found), count)
		}
	}
	return found, nil
}

func (c *client) createTopic(words []string) error {
	detail := &sarama.TopicDetail{
		NumPartitions: int32(lines.Number(words[2])), ReplicationFactor: 1,
		ConfigEntries: map[string]*string{},
	}
	for _, pair := range words[3:] {
		name, value, _ := strings.Cut(pair, "=")
		detail.ConfigEntries[name] = &value
	}
	return c.admin.CreateTopic(words[1], detail, false)
}

func (c *client) topics() (any, error) {
	if err := c.client.RefreshMetadata(); err != nil {
		return nil, err
	}
	return c.client.Topics()
}

func (c *client) configs(topic string) (any, error) {
	resource := sarama.ConfigResource{Type: sarama.TopicResource, Name: topic}
	entries, err := c.admin.DescribeConfig(resource)
	found := map[string]string{}
	for _, entry := range entries {
		found[entry.Name] = entry.Value
	}
	return found, err
}
