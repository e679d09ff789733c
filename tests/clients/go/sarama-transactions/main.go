// Transactions of sarama: see ../transactions. It adds a transaction's offsets when it commits it.
package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"ottla/tests/clients/transactions"

	"github.com/IBM/sarama"
)

func main() {
	transactions.Serve(transactions.Library{Producer: newProducer, Reader: newReader, Loop: newLoop})
}

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.V3_9_1_0
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.MaxWaitTime = transactions.Poll
	return config
}

type producer struct{ sarama.SyncProducer }

func newProducer(id string, timeout time.Duration) (transactions.Producer, error) {
	config := settings()
	config.Producer.Idempotent = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Transaction.ID = id
	config.Producer.Transaction.Timeout = timeout
	config.Producer.Transaction.Retry.Backoff = 20 * time.Millisecond
	config.Producer.Transaction.Retry.Max = 500
	config.Net.MaxOpenRequests = 1
	made, err := sarama.NewSyncProducer([]string{os.Args[1]}, config)
	return producer{made}, err
}

func (p producer) Begin() error  { return p.BeginTxn() }
func (p producer) Commit() error { return p.CommitTxn() }
func (p producer) Abort() error  { return p.AbortTxn() }

func (p producer) Write(records []transactions.Record) error {
	var messages []*sarama.ProducerMessage
	for _, each := range records {
		messages = append(messages, &sarama.ProducerMessage{
			Topic: each.Topic, Partition: each.Partition, Value: sarama.ByteEncoder(each.Value),
		})
	}
	return p.SendMessages(messages)
}

func (p producer) AddOffset(group, topic string, partition int32, offset int64) error {
	one := []*sarama.PartitionOffsetMetadata{{Partition: partition, Offset: offset}}
	return p.AddOffsetsToTxn(map[string][]*sarama.PartitionOffsetMetadata{topic: one}, group)
}

type reader struct {
	consumer sarama.Consumer
	claims   []sarama.PartitionConsumer
}

func newReader(
	topic string, partitions int32, seen *transactions.Seen,
) (transactions.Closer, error) {
	consumer, err := sarama.NewConsumer([]string{os.Args[1]}, settings())
	if err != nil {
		return nil, err
	}
	r := reader{consumer: consumer}
	for i := range partitions {
		claim, err := consumer.ConsumePartition(topic, i, sarama.OffsetOldest)
		if err != nil {
			return nil, err
		}
		r.claims = append(r.claims, claim)
		go func() {
			for message := range claim.Messages() {
				seen.Add(message.Partition, message.Offset, message.Value)
			}
		}()
	}
	return r, nil
}

func (r reader) Close() error {
	var failed []error
	for _, claim := range r.claims {
		failed = append(failed, claim.Close())
	}
	return errors.Join(append(failed, r.consumer.Close())...)
}

type loop struct {
	*transactions.Loop
	group    sarama.ConsumerGroup
	stop     context.CancelFunc
	stopped  chan struct{}
	turn     sync.Mutex // its partitions are read at the same time, and have one producer
	producer transactions.Producer
}

func newLoop(told *transactions.Loop) (transactions.Closer, error) {
	config := settings()
	config.ClientID = told.Name
	config.Consumer.Group.Session.Timeout = transactions.Milliseconds(told.Options["session_ms"])
	config.Consumer.Group.Heartbeat.Interval = 100 * time.Millisecond
	group, err := sarama.NewConsumerGroup([]string{os.Args[1]}, told.Options["group"], config)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &loop{Loop: told, group: group, stop: stop, stopped: make(chan struct{})}
	// What an earlier life of it had begun is over, before anyone waits for that.
	if err := l.open(); err != nil {
		return nil, err
	}
	go func() {
		defer close(l.stopped)
		for ctx.Err() == nil {
			// What it returns is why it must join again.
			_ = group.Consume(ctx, []string{told.Options["source"]}, l)
		}
	}()
	return l, nil
}

func (l *loop) open() error {
	if l.producer != nil {
		return nil
	}
	made, err := newProducer(l.Name, transactions.Milliseconds(l.Options["timeout_ms"]))
	if err == nil {
		l.producer = made
	}
	return err
}

func (l *loop) Close() error {
	l.stop()
	<-l.stopped
	err := l.group.Close()
	if l.producer != nil {
		err = errors.Join(err, l.producer.Close())
	}
	return err
}

// Setup and Cleanup are called around a generation.
func (l *loop) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (l *loop) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim passes on one partition until it is taken away; what was aborted, once more.
func (l *loop) ConsumeClaim(
	session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim,
) error {
	for {
		batch := next(session, claim)
		for done := len(batch) == 0; !done; {
			if session.Context().Err() != nil {
				return nil
			}
			var err error
			if done, err = l.transact(session, batch); err != nil {
				l.Failed(err)
				return err
			}
		}
		if len(batch) == 0 {
			return nil
		}
	}
}

// What is there, but at least one; none if the claim is over.
func next(
	session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim,
) []*sarama.ConsumerMessage {
	var batch []*sarama.ConsumerMessage
	for len(batch) < transactions.AtOnce {
		if len(batch) > 0 && len(claim.Messages()) == 0 {
			return batch
		}
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			batch = append(batch, message)
		case <-session.Context().Done():
			return nil
		}
	}
	return batch
}

func (l *loop) transact(
	session sarama.ConsumerGroupSession, batch []*sarama.ConsumerMessage,
) (bool, error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	if err := l.open(); err != nil {
		return false, err
	}
	var inputs []transactions.Input
	for _, each := range batch {
		inputs = append(inputs, transactions.Input{Partition: each.Partition, Offset: each.Offset})
	}
	attempt := l.Begun(inputs)
	outcome, err := l.fill(session, attempt, inputs, batch[len(batch)-1])
	if err == nil {
		outcome = "unsure"
		if err = l.producer.Commit(); err == nil {
			outcome = "committed"
		}
	}
	if err != nil && l.producer.Abort() != nil {
		_ = l.producer.Close()
		l.producer = nil
	}
	l.Ended(attempt, outcome, err)
	return err == nil, nil
}

var errUnlucky = errors.New("as the dice said")

func (l *loop) fill(
	session sarama.ConsumerGroupSession, attempt string, inputs []transactions.Input,
	last *sarama.ConsumerMessage,
) (string, error) {
	if err := l.producer.Begin(); err != nil {
		return "aborted", err
	}
	if err := l.producer.Write(l.Records(attempt, inputs)); err != nil {
		return "aborted", err
	}
	l.HangIfTold("before", attempt)
	member := sarama.NewConsumerGroupMetadataFromSession(session, l.Options["group"], nil)
	err := l.producer.(producer).AddMessageToTxnWithGroupMetadata(last, member, nil)
	if err != nil {
		return "aborted", err
	}
	l.HangIfTold("after", attempt)
	if l.Unlucky() {
		return "aborted", errUnlucky
	}
	return "", nil
}
