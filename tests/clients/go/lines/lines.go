// Package lines is what the programs here share: a line in, a line of JSON out (see
// ../../program.py), and the journal of a group's members (see ../../groups/history.py).
package lines

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"strconv"
	"strings"
)

// In is where the words come from; a command may take further lines from it.
var In = bufio.NewReaderSize(os.Stdin, 1<<20)

// Serve answers until the end of the input.
func Serve(run func(words []string) (any, error)) {
	out := json.NewEncoder(os.Stdout)
	for {
		words, err := Next()
		if err != nil {
			return
		}
		answer, err := run(words)
		if err != nil {
			err = out.Encode(map[string]string{"error": err.Error()})
		} else {
			err = out.Encode(map[string]any{"ok": answer})
		}
		if err != nil {
			panic(err)
		}
	}
}

// Next is the next line's words.
func Next() ([]string, error) {
	line, err := In.ReadString('\n')
	return strings.Split(strings.TrimSuffix(line, "\n"), "\t"), err
}

// Number panics: what is no number in our own tests is a mistake of ours.
func Number(word string) int {
	parsed, err := strconv.Atoi(word)
	if err != nil {
		panic(err)
	}
	return parsed
}

// Data is bytes in base64; `-` is null.
func Data(word string) []byte {
	if word == "-" {
		return nil
	}
	decoded, err := base64.StdEncoding.DecodeString(word)
	if err != nil {
		panic(err)
	}
	return decoded
}

// Partitions are given by their topics.
type Partitions map[string][]int32

// Options of a member: see ../../groups/options.py.
type Options map[string]string

// Parse words of the form name=value.
func Parse(words []string) Options {
	options := Options{}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		options[name] = value
	}
	return options
}

// Assigned is what a consumer without a group reads.
func (o Options) Assigned() Partitions {
	found := Partitions{}
	for _, each := range strings.Split(o["assign"], ",") {
		colon := strings.LastIndex(each, ":")
		found[each[:colon]] = append(found[each[:colon]], int32(Number(each[colon+1:])))
	}
	return found
}

// Journal is one member's; all members of a group append to the same file.
type Journal struct {
	Member string
	File   *os.File
}

// Event is one line of it.
type Event struct {
	Member     string  `json:"member"`
	Event      string  `json:"event"`
	Partitions [][]any `json:"partitions"`
	Offsets    []int64 `json:"offsets,omitempty"`
	Generation *int32  `json:"generation,omitempty"`
	Text       string  `json:"text,omitempty"`
	// Of a transaction, see ../../transactions/history.py.
	Attempt string     `json:"attempt,omitempty"`
	Inputs  [][2]int64 `json:"inputs,omitempty"`
}

// Open the journal that the options name.
func Open(member string, options Options) Journal {
	file, err := os.OpenFile(options["journal"], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	return Journal{member, file}
}

// Tell writes an event at once, so that a killed process has told it.
func (j Journal) Tell(event Event) {
	event.Member = j.Member
	if event.Partitions == nil {
		event.Partitions = [][]any{}
	}
	line, err := json.Marshal(event)
	if err == nil {
		_, err = j.File.Write(append(line, '\n'))
	}
	if err != nil {
		panic(err)
	}
}

// TellOf is Tell with partitions and how far each has come.
func (j Journal) TellOf(event Event, offsets map[string]map[int32]int64) {
	for topic, partitions := range offsets {
		for partition, offset := range partitions {
			event.Partitions = append(event.Partitions, []any{topic, partition})
			event.Offsets = append(event.Offsets, offset)
		}
	}
	j.Tell(event)
}

// TellOwned is Tell with partitions that come or go.
func (j Journal) TellOwned(event Event, owned Partitions) {
	for topic, partitions := range owned {
		for _, partition := range partitions {
			event.Partitions = append(event.Partitions, []any{topic, partition})
		}
	}
	j.Tell(event)
}
