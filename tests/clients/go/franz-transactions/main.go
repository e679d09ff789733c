// Transactions of franz-go: see ../transactions.
package main

import (
	"context"
	"errors"
	"os"
	"time"

	"ottla/tests/clients/transactions"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func main() {
	transactions.Serve(transactions.Library{Producer: newProducer, Reader: newReader, Loop: newLoop})
}

func patiently() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), transactions.Patience)
}

func writing(id string, timeout time.Duration) []kgo.Opt {
	return []kgo.Opt{
		kgo.SeedBrokers(os.Args[1]), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.TransactionalID(id), kgo.TransactionTimeout(timeout), kgo.ProducerLinger(0),
	}
}

type producer struct{ client *kgo.Client }

func newProducer(id string, timeout time.Duration) (transactions.Producer, error) {
	client, err := kgo.NewClient(writing(id, timeout)...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := patiently()
	defer cancel()
	_, _, err = client.ProducerID(ctx)
	return producer{client}, err
}

func (p producer) Begin() error { return p.client.BeginTransaction() }

func (p producer) Write(records []transactions.Record) error {
	ctx, cancel := patiently()
	defer cancel()
	return p.client.ProduceSync(ctx, all(records)...).FirstErr()
}

func all(records []transactions.Record) []*kgo.Record {
	var found []*kgo.Record
	for _, each := range records {
		found = append(found, &kgo.Record{
			Topic: each.Topic, Partition: each.Partition, Value: each.Value,
		})
	}
	return found
}

// Its producers do that only as members of a group, see the loop.
func (p producer) AddOffset(string, string, int32, int64) error { return errors.ErrUnsupported }

func (p producer) Commit() error {
	ctx, cancel := patiently()
	defer cancel()
	if err := p.client.Flush(ctx); err != nil {
		return err
	}
	return p.client.EndTransaction(ctx, kgo.TryCommit)
}

func (p producer) Abort() error {
	ctx, cancel := patiently()
	defer cancel()
	if err := p.client.AbortBufferedRecords(ctx); err != nil {
		return err
	}
	return p.client.EndTransaction(ctx, kgo.TryAbort)
}

func (p producer) Close() error {
	p.client.Close()
	return nil
}

// What works in the background, until it is closed.
type worker struct {
	stop    context.CancelFunc
	stopped chan struct{}
}

func start(run func(context.Context)) worker {
	ctx, stop := context.WithCancel(context.Background())
	w := worker{stop, make(chan struct{})}
	go func() {
		defer close(w.stopped)
		run(ctx)
	}()
	return w
}

func (w worker) Close() error {
	w.stop()
	<-w.stopped
	return nil
}

func newReader(
	topic string, partitions int32, seen *transactions.Seen,
) (transactions.Closer, error) {
	from := map[int32]kgo.Offset{}
	for i := range partitions {
		from[i] = kgo.NewOffset().AtStart()
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(os.Args[1]), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchMaxWait(transactions.Poll),
	)
	if err != nil {
		return nil, err
	}
	return start(func(ctx context.Context) {
		defer client.Close()
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(func(record *kgo.Record) {
				seen.Add(record.Partition, record.Offset, record.Value)
			})
		}
	}), nil
}

type loop struct {
	*transactions.Loop
	attempt string
	session *kgo.GroupTransactSession
}

func newLoop(told *transactions.Loop) (transactions.Closer, error) {
	l := &loop{Loop: told}
	if err := l.open(); err != nil {
		return nil, err
	}
	return start(func(ctx context.Context) {
		for ctx.Err() == nil {
			if err := l.turn(ctx); err != nil {
				l.Failed(err)
				return
			}
		}
		l.session.Close()
	}), nil
}

func (l *loop) open() error {
	settings := append(
		writing(l.Name, transactions.Milliseconds(l.Options["timeout_ms"])),
		kgo.ClientID(l.Name), kgo.ConsumerGroup(l.Options["group"]),
		kgo.ConsumeTopics(l.Options["source"]), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(kgo.RangeBalancer()),
		kgo.SessionTimeout(transactions.Milliseconds(l.Options["session_ms"])),
		kgo.HeartbeatInterval(100*time.Millisecond), kgo.FetchMaxWait(transactions.Poll),
		kgo.WithHooks(l),
	)
	var err error
	if l.session, err = kgo.NewGroupTransactSession(settings...); err != nil {
		return err
	}
	// What an earlier life of it had begun is over, before anyone waits for that.
	ctx, cancel := patiently()
	defer cancel()
	_, _, err = l.session.Client().ProducerID(ctx)
	return err
}

func (l *loop) turn(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, transactions.Poll)
	defer cancel()
	var inputs []transactions.Input
	l.session.PollRecords(waiting, transactions.AtOnce).EachRecord(func(record *kgo.Record) {
		inputs = append(inputs, transactions.Input{Partition: record.Partition, Offset: record.Offset})
	})
	if len(inputs) == 0 {
		return nil
	}
	l.attempt = l.Begun(inputs)
	outcome, err := l.transact(inputs)
	l.Ended(l.attempt, outcome, err)
	if err != nil {
		// No error that it tells is one to go on with.
		l.session.Close()
		return l.open()
	}
	return nil
}

func (l *loop) transact(inputs []transactions.Input) (string, error) {
	if err := l.session.Begin(); err != nil {
		return "aborted", err
	}
	ctx, cancel := patiently()
	defer cancel()
	failed := l.session.ProduceSync(ctx, all(l.Records(l.attempt, inputs))...).FirstErr()
	l.HangIfTold("before", l.attempt)
	try := failed == nil && !l.Unlucky()
	committed, err := l.session.End(context.Background(), kgo.TransactionEndTry(try))
	switch {
	case committed:
		return "committed", err
	case err != nil && try:
		return "unsure", err
	default:
		return "aborted", err
	}
}

// OnBrokerE2E is told of each answer: of that to its offsets, before it ends the transaction.
func (l *loop) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, _ kgo.BrokerE2E) {
	if key == int16(kmsg.TxnOffsetCommit) {
		l.HangIfTold("after", l.attempt)
	}
}
