// Members of groups, of franz-go: see ../../groups/options.py and ../../groups/history.py.
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

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	patience = 30 * time.Second
	poll     = 50 * time.Millisecond
)

var balancers = map[string]kgo.GroupBalancer{
	"range":              kgo.RangeBalancer(),
	"roundrobin":         kgo.RoundRobinBalancer(),
	"cooperative-sticky": kgo.CooperativeStickyBalancer(),
}

type member struct {
	journal lines.Journal
	options lines.Options
	client  *kgo.Client
	stop    context.CancelFunc
	stopped chan struct{}
	mutex   sync.Mutex // of what follows
	wake    context.CancelFunc
	pollFor time.Duration
	read    map[string]map[int32]int64 // and not committed
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
			members[words[1]].close()
			return nil, nil
		}
		return members[words[1]].do(words[2], words[3:])
	})
}

func open(name string, options lines.Options) (*member, error) {
	m := &member{
		journal: lines.Open(name, options), options: options,
		stopped: make(chan struct{}), pollFor: poll, read: map[string]map[int32]int64{},
	}
	settings := []kgo.Opt{
		kgo.SeedBrokers(os.Args[1]), kgo.ClientID(name), kgo.FetchMaxWait(poll),
		kgo.MetadataMinAge(100 * time.Millisecond), kgo.MetadataMaxAge(500 * time.Millisecond),
	}
	var err error
	if options["assign"] != "" {
		settings, err = m.standalone(settings)
	} else {
		settings = append(settings, m.grouped()...)
	}
	if err != nil {
		return nil, err
	}
	if m.client, err = kgo.NewClient(settings...); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.run(ctx)
	return m, nil
}

func (m *member) grouped() []kgo.Opt {
	settings := []kgo.Opt{
		kgo.ConsumerGroup(m.options["group"]), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.ConsumeTopics(strings.Split(m.options["topics"], ",")...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(balancers[m.options["assignor"]]),
		kgo.SessionTimeout(milliseconds(m.options["session_ms"])),
		kgo.RebalanceTimeout(milliseconds(m.options["max_poll_ms"])),
		kgo.HeartbeatInterval(100 * time.Millisecond),
		kgo.OnPartitionsAssigned(m.assigned), kgo.OnPartitionsRevoked(m.revoked),
		kgo.OnPartitionsLost(m.lost),
	}
	if m.options["pattern"] != "" {
		settings = append(settings, kgo.ConsumeRegex(), kgo.ConsumeTopics(m.options["pattern"]))
	}
	if m.options["instance"] != "" {
		settings = append(settings, kgo.InstanceID(m.options["instance"]))
	}
	return settings
}

// It reads without a group by itself, and asks for offsets as an administrator.
func (m *member) standalone(settings []kgo.Opt) ([]kgo.Opt, error) {
	asking, err := kgo.NewClient(settings...)
	if err != nil {
		return nil, err
	}
	defer asking.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	committed, err := kadm.NewClient(asking).FetchOffsets(ctx, m.options["group"])
	if err != nil {
		return nil, err
	}
	from := map[string]map[int32]kgo.Offset{}
	for topic, partitions := range m.options.Assigned() {
		from[topic] = map[int32]kgo.Offset{}
		for _, partition := range partitions {
			from[topic][partition] = kgo.NewOffset().AtStart()
			if found, ok := committed.Lookup(topic, partition); ok {
				from[topic][partition] = kgo.NewOffset().At(found.At)
			}
		}
	}
	return append(settings, kgo.ConsumePartitions(from)), nil
}

func milliseconds(word string) time.Duration {
	return time.Duration(lines.Number(word)) * time.Millisecond
}

func (m *member) run(ctx context.Context) {
	defer close(m.stopped)
	for ctx.Err() == nil {
		m.turn(ctx)
	}
	m.journal.Tell(lines.Event{Event: "closing"})
	m.client.AllowRebalance()
	m.client.Close()
	m.journal.Tell(lines.Event{Event: "closed"})
}

func (m *member) turn(ctx context.Context) {
	m.mutex.Lock()
	timeout := m.pollFor
	m.pollFor = poll
	waiting, wake := context.WithTimeout(ctx, timeout)
	defer wake()
	m.wake = wake
	m.mutex.Unlock()
	fetches := m.client.PollRecords(waiting, 10)
	defer m.client.AllowRebalance()
	if err := fetches.Err(); err != nil && waiting.Err() == nil {
		m.tellError(err)
	}
	if timeout != poll && errors.Is(waiting.Err(), context.Canceled) {
		m.journal.Tell(lines.Event{Event: "woken"})
	}
	fetches.EachPartition(func(found kgo.FetchTopicPartition) {
		var offsets []int64
		for _, record := range found.Records {
			offsets = append(offsets, record.Offset)
		}
		if len(offsets) == 0 {
			return
		}
		m.journal.Tell(lines.Event{
			Event: "read", Offsets: offsets, Partitions: [][]any{{found.Topic, found.Partition}},
		})
		m.keep(found.Topic, found.Partition, offsets[len(offsets)-1]+1)
	})
	if m.options["commit"] == "each" {
		m.commitDue()
	}
}

// It tells as a failed fetch why it must join again; only to be fenced is final.
func (m *member) tellError(err error) {
	event := "refused"
	if errors.Is(err, kerr.FencedInstanceID) {
		event = "failed"
	}
	m.journal.Tell(lines.Event{Event: event, Text: err.Error()})
}

func (m *member) keep(topic string, partition int32, offset int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.read[topic] == nil {
		m.read[topic] = map[int32]int64{}
	}
	m.read[topic][partition] = offset
}

// A refusal is told; it is tried again after the next poll.
func (m *member) commitDue() {
	m.mutex.Lock()
	due := m.read
	m.read = map[string]map[int32]int64{}
	m.mutex.Unlock()
	if len(due) == 0 {
		return
	}
	if err := m.commit(due, "", true); err != nil {
		m.journal.TellOf(lines.Event{Event: "refused", Text: err.Error()}, due)
		for topic, partitions := range due {
			for partition, offset := range partitions {
				m.keep(topic, partition, offset)
			}
		}
	}
}

func (m *member) commit(offsets map[string]map[int32]int64, metadata string, wait bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	if m.options["assign"] != "" {
		defer cancel()
		return m.commitAlone(ctx, offsets, metadata)
	}
	ctx = kgo.PreCommitFnContext(ctx, func(request *kmsg.OffsetCommitRequest) error {
		for _, topic := range request.Topics {
			for i := range topic.Partitions {
				topic.Partitions[i].Metadata = &metadata
			}
		}
		return nil
	})
	asked := map[string]map[int32]kgo.EpochOffset{}
	for topic, partitions := range offsets {
		asked[topic] = map[int32]kgo.EpochOffset{}
		for partition, offset := range partitions {
			asked[topic][partition] = kgo.EpochOffset{Epoch: -1, Offset: offset}
		}
	}
	answered := make(chan error, 1)
	m.client.CommitOffsets(ctx, asked, func(
		_ *kgo.Client, _ *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error,
	) {
		defer cancel()
		if err = refusal(response, err); err == nil {
			m.journal.TellOf(lines.Event{Event: "committed"}, offsets)
		}
		answered <- err
	})
	if !wait {
		return nil
	}
	return <-answered
}

func refusal(response *kmsg.OffsetCommitResponse, err error) error {
	if err != nil {
		return err
	}
	for _, topic := range response.Topics {
		for _, partition := range topic.Partitions {
			if partition.ErrorCode != 0 {
				return fmt.Errorf("error code %d", partition.ErrorCode)
			}
		}
	}
	return nil
}

func (m *member) commitAlone(
	ctx context.Context, offsets map[string]map[int32]int64, metadata string,
) error {
	asked := kadm.Offsets{}
	for topic, partitions := range offsets {
		for partition, offset := range partitions {
			asked.Add(kadm.Offset{
				Topic: topic, Partition: partition, At: offset, LeaderEpoch: -1, Metadata: metadata,
			})
		}
	}
	err := kadm.NewClient(m.client).CommitAllOffsets(ctx, m.options["group"], asked)
	if err == nil {
		m.journal.TellOf(lines.Event{Event: "committed"}, offsets)
	}
	return err
}

func (m *member) assigned(_ context.Context, client *kgo.Client, owned map[string][]int32) {
	_, generation := client.GroupMetadata()
	m.journal.TellOwned(lines.Event{Event: "assigned", Generation: &generation}, owned)
}

func (m *member) revoked(_ context.Context, _ *kgo.Client, owned map[string][]int32) {
	if m.options["commit"] == "each" {
		m.commitDue()
	}
	m.over("revoked", owned)
}

func (m *member) lost(_ context.Context, _ *kgo.Client, owned map[string][]int32) {
	m.over("lost", owned)
}

func (m *member) over(event string, owned map[string][]int32) {
	m.journal.TellOwned(lines.Event{Event: event}, owned)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for topic, partitions := range owned {
		for _, partition := range partitions {
			delete(m.read[topic], partition)
		}
	}
}

func (m *member) close() {
	m.stop()
	<-m.stopped
}

func (m *member) do(verb string, words []string) (any, error) {
	switch verb {
	case "wake":
		m.mutex.Lock()
		defer m.mutex.Unlock()
		m.wake()
		return nil, nil
	case "long_poll":
		m.mutex.Lock()
		defer m.mutex.Unlock()
		m.pollFor = 3 * patience
		return nil, nil
	case "commit_sync", "commit_async":
		return nil, m.commitWords(words, verb == "commit_sync")
	}
	topic, partition := words[0], int32(lines.Number(words[1]))
	one := map[string][]int32{topic: {partition}}
	switch verb {
	case "pause":
		m.client.PauseFetchPartitions(one)
	case "resume":
		m.client.ResumeFetchPartitions(one)
	case "seek":
		to := kgo.EpochOffset{Epoch: -1, Offset: int64(lines.Number(words[2]))}
		m.client.SetOffsets(map[string]map[int32]kgo.EpochOffset{topic: {partition: to}})
	default:
		return nil, fmt.Errorf("no verb %q", verb)
	}
	return nil, nil
}

func (m *member) commitWords(words []string, wait bool) error {
	if len(words) == 0 {
		m.mutex.Lock()
		due := m.read
		m.read = map[string]map[int32]int64{}
		m.mutex.Unlock()
		return m.commit(due, "", wait)
	}
	for ; len(words) > 0; words = words[4:] {
		offsets := map[string]map[int32]int64{
			words[0]: {int32(lines.Number(words[1])): int64(lines.Number(words[2]))},
		}
		if err := m.commit(offsets, words[3], wait); err != nil {
			return err
		}
	}
	return nil
}
