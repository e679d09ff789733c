// Package transactions is what the programs with transactions share: the lines that drive them (see
// ../../transactions/python_program.py), and how a loop names, tells and holds its transactions (see
// ../../transactions/python_actors.py).
package transactions

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"ottla/tests/clients/lines"
)

// Patience is how long an answer may take, Poll how long a reader waits for more at a time.
const (
	Patience = 30 * time.Second
	Poll     = 50 * time.Millisecond
	AtOnce   = 10 // records, so that there are many transactions
)

// Record is to be written.
type Record struct {
	Topic     string
	Partition int32
	Value     []byte
}

// Producer is a transactional one; its id is its own when it is made.
type Producer interface {
	Begin() error
	Write(records []Record) error // until all are acknowledged
	AddOffset(group, topic string, partition int32, offset int64) error
	Commit() error
	Abort() error
	Close() error
}

// Closer is whoever works in the background.
type Closer interface{ Close() error }

// Library says how its producers, its readers of what is committed, and its loops are made.
type Library struct {
	Producer func(id string, timeout time.Duration) (Producer, error)
	Reader   func(topic string, partitions int32, seen *Seen) (Closer, error)
	Loop     func(loop *Loop) (Closer, error)
}

// Seen is what a reader has read by now.
type Seen struct {
	mutex   sync.Mutex
	records [][3]any
}

// Add a record to it.
func (s *Seen) Add(partition int32, offset int64, value []byte) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.records = append(s.records, [3]any{partition, offset, string(value)})
}

func (s *Seen) all() [][3]any {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([][3]any{}, s.records...)
}

type program struct {
	library   Library
	producers map[string]Producer
	seen      map[string]*Seen
	loops     map[string]*Loop
	closers   map[string]Closer
}

// Serve answers until the end of the input.
func Serve(library Library) {
	p := program{
		library, map[string]Producer{}, map[string]*Seen{}, map[string]*Loop{}, map[string]Closer{},
	}
	lines.Serve(func(words []string) (any, error) { return p.run(words[0], words[1], words[2:]) })
}

func (p program) run(command, name string, words []string) (any, error) {
	var err error
	switch command {
	case "producer":
		p.producers[name], err = p.library.Producer(words[0], Milliseconds(words[1]))
		p.closers[name] = p.producers[name]
	case "reader":
		p.seen[name] = &Seen{}
		p.closers[name], err = p.library.Reader(words[0], int32(lines.Number(words[1])), p.seen[name])
	case "seen":
		return p.seen[name].all(), nil
	case "loop":
		options := lines.Parse(words)
		p.loops[name] = &Loop{Name: name, Options: options, journal: lines.Open(name, options)}
		p.closers[name], err = p.library.Loop(p.loops[name])
	case "hang":
		p.loops[name].hang(words[0])
	case "go":
		close(p.loops[name].going)
	case "close":
		err = p.closers[name].Close()
	default:
		err = drive(p.producers[name], command, words)
	}
	return nil, err
}

func drive(producer Producer, command string, words []string) error {
	switch command {
	case "begin":
		return producer.Begin()
	case "commit":
		return producer.Commit()
	case "abort":
		return producer.Abort()
	case "offsets":
		partition, offset := int32(lines.Number(words[2])), int64(lines.Number(words[3]))
		return producer.AddOffset(words[0], words[1], partition, offset)
	case "send":
		partitions, first := lines.Number(words[1]), lines.Number(words[2])
		var records []Record
		for i := first; i < first+lines.Number(words[3]); i++ {
			value := []byte(strconv.Itoa(i))
			records = append(records, Record{words[0], int32(i % partitions), value})
		}
		return producer.Write(records)
	}
	return fmt.Errorf("no command %q", command)
}

// Milliseconds of a word.
func Milliseconds(word string) time.Duration {
	return time.Duration(lines.Number(word)) * time.Millisecond
}

// Input is a record that is to be passed on.
type Input struct {
	Partition int32
	Offset    int64
}

// Loop has a name, options, and a journal of its transactions.
type Loop struct {
	Name    string
	Options lines.Options
	journal lines.Journal
	number  int
	mutex   sync.Mutex // of what follows
	hangAt  string
	going   chan struct{}
}

func (l *Loop) hang(where string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.hangAt, l.going = where, make(chan struct{})
}

// HangIfTold holds the transaction, `before` or `after` its offsets are added, until `go`.
func (l *Loop) HangIfTold(where, attempt string) {
	l.mutex.Lock()
	told, going := l.hangAt == where, l.going
	if told {
		l.hangAt = ""
	}
	l.mutex.Unlock()
	if told {
		l.journal.Tell(lines.Event{Event: "hanging", Attempt: attempt})
		<-going
	}
}

// Begun tells of a new transaction, and names it.
func (l *Loop) Begun(inputs []Input) string {
	l.number++
	attempt := fmt.Sprintf("%s.%d", l.Options["tag"], l.number)
	var told [][2]int64
	for _, each := range inputs {
		told = append(told, [2]int64{int64(each.Partition), each.Offset})
	}
	l.journal.Tell(lines.Event{Event: "begun", Attempt: attempt, Inputs: told})
	return attempt
}

// Records are the inputs as they are passed on.
func (l *Loop) Records(attempt string, inputs []Input) []Record {
	partitions := int64(lines.Number(l.Options["target_partitions"]))
	var records []Record
	for _, each := range inputs {
		value := fmt.Appendf(nil, "%s %d %d", attempt, each.Partition, each.Offset)
		partition := int32(each.Offset % partitions)
		records = append(records, Record{l.Options["target"], partition, value})
	}
	return records
}

// Ended tells how: committed, aborted or, if only the broker knows, unsure.
func (l *Loop) Ended(attempt, outcome string, err error) {
	event := lines.Event{Event: outcome, Attempt: attempt}
	if err != nil {
		event.Text = err.Error()
	}
	l.journal.Tell(event)
}

// Failed tells that the loop cannot go on.
func (l *Loop) Failed(err error) {
	l.journal.Tell(lines.Event{Event: "failed", Text: err.Error()})
}

// Unlucky transactions are to be aborted.
func (l *Loop) Unlucky() bool {
	return rand.IntN(100) < lines.Number(l.Options["abort_percent"])
}
