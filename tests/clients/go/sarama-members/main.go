// Members of groups, of sarama: see ../../groups/options.py and ../../groups/history.py.
// It hands out partitions one by one: each is told where its claim begins and ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"ottla/tests/clients/lines"

	"github.com/IBM/sarama"
)

const poll = 50 * time.Millisecond

var strategies = map[string]sarama.BalanceStrategy{
	"range":              sarama.NewBalanceStrategyRange(),
	"roundrobin":         sarama.NewBalanceStrategyRoundRobin(),
	"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky(),
}

type member struct {
	journal lines.Journal
	options lines.Options
	group   sarama.ConsumerGroup
	stop    context.CancelFunc
	stopped chan struct{}
	mutex   sync.Mutex
	session sarama.ConsumerGroupSession
	alone   *standalone
}

func main() {
	members := map[string]*member{}
	lines.Serve(func(words []string) (any, error) {
		switch words[0] {
		case "open":
			opened, err := open(words[1], lines.Parse(words[2:]))
			members[words[1]] = opened
			return nil, err
		case "close":
			return nil, members[words[1]].close()
		}
		return nil, members[words[1]].do(words[2], words[3:])
	})
}

func open(name string, options lines.Options) (*member, error) {
	config := sarama.NewConfig()
	config.Version = sarama.V3_9_1_0
	config.ClientID = name
	config.Consumer.Group.Session.Timeout = milliseconds(options["session_ms"])
	config.Consumer.Group.Rebalance.Timeout = milliseconds(options["max_poll_ms"])
	config.Consumer.Group.Heartbeat.Interval = 100 * time.Millisecond
	config.Consumer.Group.Rebalance.GroupStrategies =
		[]sarama.BalanceStrategy{strategies[options["assignor"]]}
	config.Consumer.Group.InstanceId = options["instance"]
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.MaxWaitTime = poll
	config.Consumer.Return.Errors = true
	config.Metadata.RefreshFrequency = 500 * time.Millisecond
	m := &member{journal: lines.Open(name, options), options: options, stopped: make(chan struct{})}
	var err error
	if options["assign"] != "" {
		m.alone, err = m.assign(config)
		return m, err
	}
	if m.group, err = sarama.NewConsumerGroup([]string{os.Args[1]}, options["group"], config); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.run(ctx)
	go func() {
		for err := range m.group.Errors() {
			m.journal.Tell(lines.Event{Event: "refused", Text: err.Error()})
		}
	}()
	return m, nil
}

func milliseconds(word string) time.Duration {
	return time.Duration(lines.Number(word)) * time.Millisecond
}

func (m *member) run(ctx context.Context) {
	defer close(m.stopped)
	for ctx.Err() == nil {
		err := m.group.Consume(ctx, strings.Split(m.options["topics"], ","), m)
		if errors.Is(err, sarama.ErrClosedConsumerGroup) {
			return
		}
		if err != nil {
			m.journal.Tell(lines.Event{Event: "refused", Text: err.Error()})
		}
	}
}

// Setup is called when a session begins.
func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = session
	return nil
}

// Cleanup is called when it ends: each claim has said so by then.
func (m *member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim reads one partition until it is taken away.
func (m *member) ConsumeClaim(
	session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim,
) error {
	generation := session.GenerationID()
	owned := lines.Partitions{claim.Topic(): {claim.Partition()}}
	m.journal.TellOwned(lines.Event{Event: "assigned", Generation: &generation}, owned)
	defer m.journal.TellOwned(lines.Event{Event: "revoked"}, owned)
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			m.read(message)
			if m.options["commit"] == "each" {
				session.MarkMessage(message, "")
				session.Commit()
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func (m *member) read(message *sarama.ConsumerMessage) {
	m.journal.TellOf(
		lines.Event{Event: "read"},
		map[string]map[int32]int64{message.Topic: {message.Partition: message.Offset}},
	)
}

func (m *member) close() error {
	if m.alone != nil {
		return m.alone.close()
	}
	m.journal.Tell(lines.Event{Event: "closing"})
	m.stop()
	<-m.stopped
	defer m.journal.Tell(lines.Event{Event: "closed"})
	return m.group.Close()
}

func (m *member) do(verb string, words []string) error {
	switch verb {
	case "commit_sync":
		return m.commit(words)
	case "pause":
		m.group.Pause(lines.Partitions{words[0]: {int32(lines.Number(words[1]))}})
	case "resume":
		m.group.Resume(lines.Partitions{words[0]: {int32(lines.Number(words[1]))}})
	default:
		return fmt.Errorf("no verb %q", verb)
	}
	return nil
}

func (m *member) commit(words []string) error {
	offsets := map[string]map[int32]int64{}
	for ; len(words) > 0; words = words[4:] {
		partition, offset := int32(lines.Number(words[1])), int64(lines.Number(words[2]))
		if offsets[words[0]] == nil {
			offsets[words[0]] = map[int32]int64{}
		}
		offsets[words[0]][partition] = offset
		if m.alone != nil {
			m.alone.marks[partition].MarkOffset(offset, words[3])
		} else {
			m.session.MarkOffset(words[0], partition, offset, words[3])
		}
	}
	if m.alone != nil {
		m.alone.offsets.Commit()
	} else {
		m.session.Commit()
	}
	m.journal.TellOf(lines.Event{Event: "committed"}, offsets)
	return nil
}

// A consumer of given partitions of one topic, which keeps its offsets with a group's name.
type standalone struct {
	consumer sarama.Consumer
	offsets  sarama.OffsetManager
	marks    map[int32]sarama.PartitionOffsetManager
	claims   []sarama.PartitionConsumer
}

func (m *member) assign(config *sarama.Config) (*standalone, error) {
	client, err := sarama.NewClient([]string{os.Args[1]}, config)
	if err != nil {
		return nil, err
	}
	alone := &standalone{marks: map[int32]sarama.PartitionOffsetManager{}}
	if alone.offsets, err = sarama.NewOffsetManagerFromClient(m.options["group"], client); err != nil {
		return nil, err
	}
	if alone.consumer, err = sarama.NewConsumerFromClient(client); err != nil {
		return nil, err
	}
	for topic, partitions := range m.options.Assigned() {
		for _, partition := range partitions {
			if alone.marks[partition], err = alone.offsets.ManagePartition(topic, partition); err != nil {
				return nil, err
			}
			next, _ := alone.marks[partition].NextOffset()
			claim, err := alone.consumer.ConsumePartition(topic, partition, next)
			if err != nil {
				return nil, err
			}
			alone.claims = append(alone.claims, claim)
			go func() {
				for message := range claim.Messages() {
					m.read(message)
				}
			}()
		}
	}
	return alone, nil
}

func (s *standalone) close() error {
	for _, claim := range s.claims {
		if err := claim.Close(); err != nil {
			return err
		}
	}
	for _, mark := range s.marks {
		mark.AsyncClose() // until the next line
	}
	return errors.Join(s.offsets.Close(), s.consumer.Close())
}
