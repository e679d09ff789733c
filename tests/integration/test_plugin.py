"""The pytest plugin, as people meet it who test their own code with it."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import pytest

pytest_plugins = ("pytester",)

_BOTH_CLIENTS = """
import pytest
from confluent_kafka import Producer
from kafka import KafkaConsumer, TopicPartition

def test_sends_and_reads(ottla, ottla_topic):
    assert ottla_topic.startswith("test_sends_and_reads-")
    producer = Producer({"bootstrap.servers": ottla.bootstrap})
    producer.produce(ottla_topic, b"hello")
    assert producer.flush(30) == 0
    consumer = KafkaConsumer(bootstrap_servers=ottla.bootstrap, auto_offset_reset="earliest")
    try:
        consumer.assign([TopicPartition(ottla_topic, 0)])
        assert next(consumer).value == b"hello"
    finally:
        consumer.close()
"""

_ONE_BROKER = """
import pytest

names, pids = [], []

@pytest.mark.parametrize("case", ["a/b c", "ä" * 300])
def test_odd(ottla, ottla_topic, case):
    names.append(ottla_topic)
    pids.append(ottla.pid)

def test_each_had_its_own_topic_in_one_broker(ottla):
    assert len(set(names)) == 2
    assert all(len(name) <= 249 for name in names)
    assert pids == [ottla.pid] * 2

@pytest.fixture(scope="module")
def module_wide(ottla):
    return ottla.create_topic("module-wide", partitions=3)

def test_a_wider_fixture_may_use_it(module_wide):
    assert module_wide == "module-wide"
"""

_CALMED = """
def test_leaves_faults_behind(ottla, ottla_topic):
    ottla.faults.drop("DeleteTopics", count=100)
    ottla.faults.fail("Metadata", "UNKNOWN_SERVER_ERROR", count=100)
    ottla.skew_clock(3_600_000)

def test_meets_none_of_them(ottla):
    assert ottla.faults.waiting() == {}

def test_may_stop_it(ottla, ottla_topic):
    ottla.stop()
"""

_SETTINGS = """
from confluent_kafka.admin import AdminClient, ConfigResource

def test_has_the_settings(ottla):
    admin = AdminClient({"bootstrap.servers": ottla.bootstrap})
    asked = ConfigResource(ConfigResource.Type.BROKER, "0")
    configs = admin.describe_configs([asked])[asked].result(30)
    assert configs["num.partitions"].value == "7"
    assert configs["log.retention.hours"].value == "2"
"""


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """In a process of its own. Where the plugin is not installed yet, it is named."""
    installed = entry_points(group="pytest11", name="ottla")
    named = () if installed else ("-p", "ottla.testing.plugin")
    return pytester.runpytest_subprocess(*named, *arguments)


def test_real_clients_use_the_fixtures(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_BOTH_CLIENTS)
    run(pytester).assert_outcomes(passed=1)


def test_one_broker_serves_all_tests_and_each_has_its_topic(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_ONE_BROKER)
    run(pytester).assert_outcomes(passed=4)


def test_what_a_test_does_to_the_broker_ends_with_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_CALMED)
    run(pytester).assert_outcomes(passed=3)


def test_settings_come_from_the_ini_file_and_the_command_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(_SETTINGS)
    pytester.makeini("[pytest]\nottla_settings =\n  num.partitions=3\n  log.retention.hours=2\n")
    run(pytester, "--ottla-set", "num.partitions=7").assert_outcomes(passed=1)


def test_a_mistaken_setting_is_shown_to_whoever_runs_the_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(ottla): pass")
    wrong = run(pytester, "--ottla-set", "num.partitions=many")
    wrong.assert_outcomes(errors=1)
    wrong.stdout.fnmatch_lines(["*num.partitions*'many' is not allowed*"])
    run(pytester, "--ottla-set", "many").stdout.fnmatch_lines(["*'many'; expected key=value*"])


def test_a_run_that_does_not_use_it_loads_nothing_but_pytest() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import ottla.testing.plugin; "
        "print(sorted(set(sys.modules) - before))"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "['ottla', 'ottla.testing', 'ottla.testing.plugin']"
