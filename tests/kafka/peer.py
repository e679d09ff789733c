"""A real Apache Kafka on loopback, with its ZooKeeper: started, stopped, killed, asked."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from kazoo.client import KazooClient

from ottla.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.schema import Message

_POLL_S = 0.05
_DEADLINE_S = 90
_ANSWER_TIMEOUT_S = 20
# Short lives: the second compiler would not pay for itself.
_JAVA = (
    "java",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xmx512m",
    # Whatever the locale. Java 17 and 19 know the last one by different names.
    "-Dfile.encoding=UTF-8",
    "-Dsun.stdout.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
)
_LOG4J = """\
log4j.rootLogger=WARN, A
log4j.logger.kafka.log.LogManager=INFO
log4j.logger.kafka.log.LogLoader=INFO
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=%d %p %m (%c)%n
"""
M = TypeVar("M", bound=Message)


class KafkaFailed(AssertionError):
    """A process of Kafka's ended or did not come up; its output is in the message."""


class Output(NamedTuple):
    """What a tool printed; of its complaints, those that are not about its own logging."""

    lines: list[str]
    complaints: list[str]


def run_tool(classpath: str, main_class: str, *arguments: str) -> Output:
    """One of Kafka's command-line tools, to its end."""
    done = subprocess.run(
        [*_JAVA, "-cp", classpath, main_class, *arguments],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_DEADLINE_S,
        env=_environment(),
    )
    if done.returncode:
        raise KafkaFailed(f"{main_class} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("log4j:")]
    # Not every tool ends its last line.
    ended = done.stdout if done.stdout.endswith("\n") else f"{done.stdout}\n"
    return Output(ended.split("\n")[:-1] if done.stdout else [], complaints)


def _environment() -> dict[str, str]:
    """Without the options that a JVM would announce on stderr."""
    return {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}


class _Process:
    """One JVM, its output in a file."""

    def __init__(self, folder: Path, name: str, classpath: str, *arguments: str) -> None:
        self.output = folder / f"{name}.log"
        log4j = folder / "log4j.properties"
        log4j.write_text(_LOG4J, encoding="utf-8")
        setting = f"-Dlog4j.configuration=file:{log4j}"
        with self.output.open("ab") as output:
            self._popen = subprocess.Popen(
                [*_JAVA, setting, "-cp", classpath, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=_environment(),
            )

    def wait_until(self, condition: Callable[[], bool]) -> None:
        for _ in range(int(_DEADLINE_S / _POLL_S)):
            if condition():
                return
            with suppress(subprocess.TimeoutExpired):
                code = self._popen.wait(timeout=_POLL_S)
                raise KafkaFailed(f"ended with {code}:\n{self._text()}")
        raise KafkaFailed(f"not ready after {_DEADLINE_S} s:\n{self._text()}")

    def end(self, how: signal.Signals) -> None:
        """Signal it and wait until it is gone; killed if it does not go by itself."""
        if self._popen.poll() is None:
            self._popen.send_signal(how)
        try:
            self._popen.wait(timeout=_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
            raise KafkaFailed(f"did not stop in {_DEADLINE_S} s:\n{self._text()}") from None

    def _text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")


class KafkaPeer:
    """One broker. Its log directory outlives it, and may be changed while it is stopped."""

    def __init__(self, classpath: str, folder: Path, settings: Mapping[str, str]) -> None:
        self.log_directory = folder / "data"
        port, self._zookeeper_port = free_ports(2)
        self._classpath = classpath
        self._folder = folder
        self._broker: _Process | None = None
        self._connection: socket.socket | None = None
        self._zookeeper: _Process | None = None
        defaults = {
            "broker.id": "0",
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "zookeeper.connect": f"127.0.0.1:{self._zookeeper_port}",
            "log.dirs": str(self.log_directory),
            "log.retention.ms": "-1",
            "num.partitions": "1",
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            "auto.create.topics.enable": "false",
            "controlled.shutdown.enable": "false",
        }
        self._settings = defaults | dict(settings)
        self.port = int(self._settings["listeners"].rpartition(":")[2])

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def output(self) -> str:
        """What the broker said so far, in all its lives."""
        assert self._broker is not None
        return self._broker.output.read_text(encoding="utf-8", errors="replace")

    def start(self, *, topics: Sequence[str] = ()) -> None:
        """Returns when it leads all partitions of each of the topics."""
        if self._zookeeper is None:
            self._start_zookeeper()
        file = self._write("broker.properties", self._settings)
        self._broker = _Process(self._folder, "broker", self._classpath, "kafka.Kafka", file)
        self.wait_for(topics)

    def stop(self) -> None:
        """A clean shutdown."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """As a crash: nothing is trimmed, flushed or checkpointed."""
        self._end(signal.SIGKILL)
        # ZooKeeper would wait for the dead one's session, and not let it be born again.
        with self._zookeeper_client() as client:
            for path in ("/brokers/ids/0", "/controller"):
                client.delete(path)

    def close(self) -> None:
        """Nothing is left running, whatever happened."""
        try:
            self._end(signal.SIGKILL)
        finally:
            if self._zookeeper is not None:
                self._zookeeper.end(signal.SIGKILL)

    def ask(self, request: Message, version: int, response: type[M]) -> M:
        """One request, on the connection that all share while the broker lives."""
        if self._connection is None:
            address = ("127.0.0.1", self.port)
            self._connection = socket.create_connection(address, _ANSWER_TIMEOUT_S)
        frame = encode_request(request, version, correlation_id=1, client_id="ottla-tests")
        self._connection.sendall(frame)
        with self._connection.makefile("rb") as stream:
            answer = stream.read(int.from_bytes(stream.read(4), "big"))
        body = decode_response(answer, api_key=request.api_key, version=version).body
        assert isinstance(body, response)
        return body

    def set_leader_epochs(self, epochs: Mapping[str, int]) -> None:
        """What the cluster believes of partition 0 of each topic; its next leader adds one."""
        with self._zookeeper_client() as client:
            for topic, leader_epoch in epochs.items():
                path = f"/brokers/topics/{topic}/partitions/0/state"
                state = json.loads(client.get(path)[0])
                client.set(path, json.dumps(state | {"leader_epoch": leader_epoch}).encode())

    @contextmanager
    def _zookeeper_client(self) -> Iterator[KazooClient]:
        client = KazooClient(hosts=f"127.0.0.1:{self._zookeeper_port}")
        client.start(timeout=_DEADLINE_S)
        try:
            yield client
        finally:
            client.stop()
            client.close()

    def _end(self, how: signal.Signals) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._broker is not None:
            self._broker.end(how)

    def _start_zookeeper(self) -> None:
        settings = {
            "dataDir": str(self._folder / "zookeeper"),
            "clientPort": str(self._zookeeper_port),
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
        }
        file = self._write("zookeeper.properties", settings)
        main_class = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        self._zookeeper = _Process(self._folder, "zookeeper", self._classpath, main_class, file)
        self._zookeeper.wait_until(lambda: _is_listening(self._zookeeper_port))

    def wait_for(self, topics: Sequence[str]) -> None:
        assert self._broker is not None
        self._broker.wait_until(lambda: self._leads(topics))

    def _leads(self, topics: Sequence[str]) -> bool:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic) for topic in topics])
        try:
            metadata = self.ask(request, 1, MetadataResponse)
        except OSError:
            return False
        leaders = [{each.leader_id for each in topic.partitions} for topic in metadata.topics]
        return bool(metadata.brokers) and leaders == [{0}] * len(topics)

    def _write(self, name: str, settings: Mapping[str, str]) -> str:
        path = self._folder / name
        lines = [f"{key}={value}\n" for key, value in settings.items()]
        path.write_text("".join(lines), encoding="utf-8")
        return str(path)


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
