"""Every small file that Kafka 3.9.1 and 2.0.0 wrote is understood and written back alike."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import PurePosixPath

from ottla.protocol.records.record_set import read_batches
from ottla.storage.checkpoints import (
    format_clean_shutdown,
    format_leader_epochs,
    format_offsets,
    format_partition_metadata,
    parse_clean_shutdown,
    parse_leader_epochs,
    parse_offsets,
    parse_partition_metadata,
)
from ottla.storage.epochs import LeaderEpochs
from ottla.storage.names import Kind, parse_file_name, parse_folder_name
from ottla.storage.producer import ProducerState
from ottla.storage.properties import format_meta_properties, parse_meta_properties
from ottla.storage.replay import rebuild
from ottla.storage.snapshots import encode_snapshot, parse_snapshot
from ottla.storage.transactions import AbortedTransaction, parse_transaction_index
from tests.unit.storage.directories import dumped, files


def test_offset_checkpoints_are_written_back_byte_for_byte() -> None:
    found = list(files("-offset-checkpoint"))
    assert len(found) == 12
    for path, data in found:
        assert format_offsets(parse_offsets(data, path)) == data, path


def test_leader_epoch_checkpoints_are_written_back_byte_for_byte() -> None:
    found = list(files("leader-epoch-checkpoint"))
    assert len(found) == 28
    for path, data in found:
        entries = parse_leader_epochs(data, path)
        # A log without batches of its own format never wrote it.
        assert format_leader_epochs(entries) == (data or b"0\n0\n"), path
        assert LeaderEpochs(entries).entries == entries, path


def test_partition_metadata_is_written_back_byte_for_byte() -> None:
    found = list(files("partition.metadata"))
    assert len(found) == 20
    for path, data in found:
        assert format_partition_metadata(parse_partition_metadata(data, path)) == data, path


def test_both_kinds_of_clean_shutdown_are_known() -> None:
    found = dict(files(".kafka_cleanshutdown"))
    assert {parse_clean_shutdown(data, path) for path, data in found.items()} == {-1}
    assert format_clean_shutdown() == found["segments/broker-0/.kafka_cleanshutdown"]
    assert found["old-segments/broker-0/.kafka_cleanshutdown"] == b""


def test_meta_properties_are_written_back_byte_for_byte() -> None:
    found = list(files("meta.properties"))
    assert len(found) == 3
    for path, data in found:
        meta = parse_meta_properties(data, path)
        date = data.decode().split("\n")[1]
        written = datetime.strptime(date, "#%a %b %d %H:%M:%S %Z %Y").replace(tzinfo=UTC)
        assert format_meta_properties(meta, now_ms=int(written.timestamp()) * 1000) == data, path
        assert meta.node_id == int(path.split("/")[1].removeprefix("broker-"))
        assert (meta.cluster_id is None) == path.startswith("old")


def test_every_name_is_parsed_and_formatted_alike() -> None:
    endings = tuple(kind.value for kind in Kind)
    found = list(files(*endings))
    assert len(found) > 100
    for path, _ in found:
        folder, file = PurePosixPath(path).parts[-2:]
        assert str(parse_folder_name(folder)) == folder
        assert str(parse_file_name(file)) == file


def test_snapshots_say_what_kafka_reads_in_them() -> None:
    found = list(files(".snapshot"))
    assert len(found) == 36
    for path, data in found:
        producers = parse_snapshot(data, path)
        assert encode_snapshot(producers) == data, path
        ours = []
        for state in producers:
            said = {
                "producerId": state.producer_id,
                "producerEpoch": state.epoch,
                "coordinatorEpoch": state.coordinator_epoch,
                "lastTimestamp": state.last_timestamp,
            }
            if state.transaction_start >= 0:
                said["currentTxnFirstOffset"] = state.transaction_start
            for batch in state.batches:
                said |= {
                    "firstSequence": batch.first_sequence,
                    "lastSequence": batch.last_sequence,
                    "lastOffset": batch.last_offset,
                    "offsetDelta": batch.offset_delta,
                    "timestamp": batch.timestamp,
                }
            if path.startswith("old"):
                del said["lastTimestamp"]  # 2.0 does not print it
            ours.append(said)
        assert ours == dumped(path), path


def test_transaction_indexes_say_what_kafka_reads_in_them() -> None:
    found = list(files(".txnindex"))
    assert len(found) > 5
    for path, data in found:
        base_offset = parse_file_name(PurePosixPath(path).name).offset
        entries = parse_transaction_index(data, path, base_offset=base_offset)
        assert b"".join(entry.encode() for entry in entries) == data, path
        ours = [
            {
                "version": 0,
                "producerId": entry.producer_id,
                "firstOffset": entry.first_offset,
                "lastOffset": entry.last_offset,
                "lastStableOffset": entry.last_stable_offset,
            }
            for entry in entries
        ]
        assert ours == dumped(path), path


def test_snapshots_and_indexes_are_rebuilt_from_the_log_alone() -> None:
    everything = dict(sorted(files(".log", ".snapshot", ".txnindex")))
    checked = 0
    for path, data in everything.items():
        folder, name = path.rsplit("/", 1)
        if not name.endswith(".snapshot") or "compact" in folder:
            continue  # compaction took batches that the snapshots still know
        offset = parse_file_name(name).offset
        logs = _contents(everything, folder, ".log")
        batches = [b for log in logs for b in read_batches(log) if b.last_offset < offset]
        if batches and batches[0].base_offset > 0:
            continue
        states, completed = rebuild(batches, path)
        rebuilt = parse_snapshot(encode_snapshot(states.active_producers()), path)
        assert sorted(map(_comparable(path), rebuilt)) == sorted(
            map(_comparable(path), parse_snapshot(data, path))
        ), path
        indexes = _contents(everything, folder, ".txnindex")
        kept = [entry for index in indexes for entry in parse_transaction_index(index, path)]
        aborted = [AbortedTransaction.of(each) for each in completed if each.is_aborted]
        assert aborted == [entry for entry in kept if entry.last_offset < offset], path
        checked += bool(rebuilt)
    assert checked > 8


def _contents(everything: dict[str, bytes], folder: str, ending: str) -> list[bytes]:
    return [
        content
        for path, content in everything.items()
        if path.startswith(f"{folder}/") and path.endswith(ending)
    ]


def _comparable(path: str) -> Callable[[ProducerState], ProducerState]:
    if not path.startswith("old"):
        return lambda state: state
    # Kafka 2.0 stored the time of the last batch, even if a marker came later.
    return lambda state: state._replace(
        last_timestamp=0, batches=tuple(batch._replace(timestamp=0) for batch in state.batches)
    )
