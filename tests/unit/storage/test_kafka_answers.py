"""Asked the same, Ottla and Apache Kafka 3.9.1 say the same."""

from __future__ import annotations

from ottla.storage.epochs import LeaderEpochs
from tests.unit.storage.kafka_answers import (
    ProducerJudge,
    epochs_say,
    in_our_words,
    is_refused_by_kafka_alone,
    properties_say,
    recorded,
    same_producers,
)


def test_producers_and_transactions_are_as_kafka_has_them() -> None:
    judge, asked = ProducerJudge(), 0
    for do, kafka in recorded("fresh", "data", "marker", "watermark", "expire", "snapshot"):
        if is_refused_by_kafka_alone(do, kafka):
            continue
        asked += 1
        said = judge.ask(do)
        if do == ["snapshot"]:
            # Kafka takes none when nothing happened since the last.
            assert "snapshot" not in kafka or same_producers(said["snapshot"], kafka["snapshot"])
        else:
            assert said == in_our_words(kafka), do
    assert asked > 1000


def test_leader_epochs_are_as_kafka_has_them() -> None:
    epochs, asked = LeaderEpochs(), 0
    for do, kafka in recorded("fresh", "assign", "from_end", "from_start"):
        asked += 1
        match do:
            case ["fresh"]:
                epochs.clear()
                continue
            case ["assign", epoch, start_offset]:
                epochs.assign(epoch, start_offset=start_offset)
            case ["from_end", offset]:
                epochs.truncate_from_end(offset)
            case ["from_start", offset]:
                epochs.truncate_from_start(offset)
        assert epochs_say(epochs) == kafka, do
    assert asked > 500


def test_properties_are_read_and_written_as_java_does() -> None:
    asked = 0
    for do, kafka in recorded("properties", "read_properties"):
        asked += 1
        said = properties_say(do)
        if "text" in said:
            # Two lines of comment come first, and the second is the date.
            ours, javas = (text["text"].split("\n")[2:] for text in (said, kafka))
            if len(do[1]) < 12:
                assert ours == javas, do
            else:
                assert sorted(ours) == sorted(javas), do  # Java's table has grown, and shuffled
        else:
            for pairs in (said.get("pairs"), kafka.get("pairs")):
                if pairs:
                    pairs.pop("", None)  # a line of a lone backslash has an empty key, or has not
            assert said == kafka, do
    assert asked > 300
