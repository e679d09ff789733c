// A franz-go client driven by lines: see ../../program.py.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"ottla/tests/clients/lines"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const patience = 30 * time.Second

type client struct {
	bootstrap string
	admin     *kgo.Client
}

type seen struct {
	Offset    int64   `json:"offset"`
	Timestamp int64   `json:"timestamp"`
	Key       []byte  `json:"key"`
	Value     []byte  `json:"value"`
	Headers   [][]any `json:"headers"`
}

func main() {
	c := &client{bootstrap: os.Args[1]}
	var err error
	if c.admin, err = kgo.NewClient(kgo.SeedBrokers(c.bootstrap)); err != nil {
		panic(err)
	}
	lines.Serve(c.run)
}

func (c *client) run(words []string) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	switch words[0] {
	case "produce":
		return c.produce(ctx, words)
	case "consume":
		return c.consume(ctx, words)
	case "offsets":
		earliest, err := c.listOffset(ctx, words[1], lines.Number(words[2]), -2)
		if err != nil {
			return nil, err
		}
		latest, err := c.listOffset(ctx, words[1], lines.Number(words[2]), -1)
		return []int64{earliest, latest}, err
	case "offset_at":
		offset, err := c.listOffset(ctx, words[1], lines.Number(words[2]), int64(lines.Number(words[3])))
		if err != nil || offset < 0 {
			return nil, err
		}
		return offset, nil
	case "create_topic":
		return nil, c.createTopic(ctx, words)
	case "delete_topic":
		return nil, c.deleteTopic(ctx, words[1])
	case "topics":
		return c.topics(ctx)
	case "partition_count":
		return c.partitionCount(ctx, words[1])
	case "add_partitions":
		return nil, c.addPartitions(ctx, words[1], int32(lines.Number(words[2])))
	case "configs":
		return c.configs(ctx, words[1])
	case "set_config":
		return nil, c.setConfig(ctx, words[1], words[2], words[3])
	case "delete_records":
		return nil, c.deleteRecords(ctx, words[1], int32(lines.Number(words[2])), int64(lines.Number(words[3])))
	}
	return nil, fmt.Errorf("no command %q", words[0])
}

func (c *client) produce(ctx context.Context, words []string) (any, error) {
	var records []*kgo.Record
	for range lines.Number(words[5]) {
		line, err := lines.Next()
		if err != nil {
			return nil, err
		}
		records = append(records, record(words[1], line))
	}
	acks := map[string]kgo.Acks{"-1": kgo.AllISRAcks(), "0": kgo.NoAck(), "1": kgo.LeaderAck()}
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(c.bootstrap), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RequiredAcks(acks[words[3]]), kgo.ProducerBatchCompression(codecs[words[2]]),
		kgo.ProducerLinger(5 * time.Millisecond),
		// After a loss it asks who leads before it sends again, by default every five seconds at most.
		kgo.MetadataMinAge(100 * time.Millisecond),
	}
	if words[4] != "true" {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	producer, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	results := producer.ProduceSync(ctx, records...)
	// Without acks nobody says where a record went.
	offsets := make([]int64, 0, len(records))
	for _, record := range records {
		offsets = append(offsets, record.Offset)
	}
	return offsets, results.FirstErr()
}

func record(topic string, words []string) *kgo.Record {
	made := &kgo.Record{
		Topic: topic, Partition: int32(lines.Number(words[0])), Key: lines.Data(words[2]), Value: lines.Data(words[3]),
		Timestamp: time.UnixMilli(int64(lines.Number(words[1]))),
	}
	for i := 4; i < len(words); i += 2 {
		made.Headers = append(made.Headers, kgo.RecordHeader{Key: words[i], Value: lines.Data(words[i+1])})
	}
	return made
}

func (c *client) consume(ctx context.Context, words []string) (any, error) {
	from := map[int32]kgo.Offset{int32(lines.Number(words[2])): kgo.NewOffset().At(int64(lines.Number(words[3])))}
	consumer, err := kgo.NewClient(
		kgo.SeedBrokers(c.bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{words[1]: from}),
		kgo.FetchMaxWait(200*time.Millisecond),
	)
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	found := []seen{}
	for len(found) < lines.Number(words[4]) {
		fetches := consumer.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, fmt.Errorf("after %d records: %w", len(found), err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			headers := [][]any{}
			for _, header := range r.Headers {
				headers = append(headers, []any{header.Key, header.Value})
			}
			found = append(found, seen{r.Offset, r.Timestamp.UnixMilli(), r.Key, r.Value, headers})
		})
	}
	return found, nil
}

func (c *client) listOffset(ctx context.Context, topic string, partition int, timestamp int64) (int64, error) {
	asked := kmsg.NewListOffsetsRequestTopicPartition()
	asked.Partition, asked.Timestamp = int32(partition), timestamp
	request := kmsg.NewPtrListOffsetsRequest()
	request.ReplicaID = -1
	request.Topics = []kmsg.ListOffsetsRequestTopic{
		{Topic: topic, Partitions: []kmsg.ListOffsetsRequestTopicPartition{asked}},
	}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return 0, err
	}
	answer := response.Topics[0].Partitions[0]
	return answer.Offset, kerr.ErrorForCode(answer.ErrorCode)
}

func (c *client) createTopic(ctx context.Context, words []string) error {
	wanted := kmsg.NewCreateTopicsRequestTopic()
	wanted.Topic, wanted.NumPartitions, wanted.ReplicationFactor = words[1], int32(lines.Number(words[2])), 1
	for _, pair := range words[3:] {
		name, value, _ := strings.Cut(pair, "=")
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = name, &value
		wanted.Configs = append(wanted.Configs, config)
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Topics = []kmsg.CreateTopicsRequestTopic{wanted}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Topics[0].ErrorCode)
}

func (c *client) deleteTopic(ctx context.Context, topic string) error {
	request := kmsg.NewPtrDeleteTopicsRequest()
	request.TimeoutMillis = 10_000
	request.TopicNames = []string{topic}
	request.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: &topic}}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Topics[0].ErrorCode)
}

func (c *client) topics(ctx context.Context) (any, error) {
	response, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, c.admin)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, topic := range response.Topics {
		names = append(names, *topic.Topic)
	}
	return names, nil
}

func (c *client) partitionCount(ctx context.Context, topic string) (any, error) {
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return nil, err
	}
	return len(response.Topics[0].Partitions), kerr.ErrorForCode(response.Topics[0].ErrorCode)
}

func (c *client) addPartitions(ctx context.Context, topic string, count int32) error {
	request := kmsg.NewPtrCreatePartitionsRequest()
	request.TimeoutMillis = 10_000
	request.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: topic, Count: count}}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Topics[0].ErrorCode)
}

func (c *client) configs(ctx context.Context, topic string) (any, error) {
	request := kmsg.NewPtrDescribeConfigsRequest()
	request.Resources = []kmsg.DescribeConfigsRequestResource{
		{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: topic},
	}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return nil, err
	}
	found := map[string]*string{}
	for _, config := range response.Resources[0].Configs {
		found[config.Name] = config.Value
	}
	return found, kerr.ErrorForCode(response.Resources[0].ErrorCode)
}

func (c *client) setConfig(ctx context.Context, topic, name, value string) error {
	change := kmsg.IncrementalAlterConfigsRequestResourceConfig{Name: name, Value: &value}
	request := kmsg.NewPtrIncrementalAlterConfigsRequest()
	request.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: topic,
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{change},
	}}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Resources[0].ErrorCode)
}

func (c *client) deleteRecords(ctx context.Context, topic string, partition int32, offset int64) error {
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.TimeoutMillis = 10_000
	request.Topics = []kmsg.DeleteRecordsRequestTopic{{
		Topic:      topic,
		Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: partition, Offset: offset}},
	}}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode)
}
