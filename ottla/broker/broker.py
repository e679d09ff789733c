"""Builds a broker from its configuration; the only file that knows every part.

The order of the start is Kafka's: who we are, what we hold, where we listen, then the controller;
clients are served when the metadata is there. The stop goes the other way.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from types import TracebackType

from ottla.broker.advertising import Addresses, CannotListen, registration
from ottla.broker.auto_creation import AutoCreation
from ottla.broker.coordinating import (
    group_coordinator,
    transaction_coordinator,
    transaction_verification,
)
from ottla.broker.host_limits import HostLimits
from ottla.broker.identity import broker_id
from ottla.broker.idleness import Idleness
from ottla.broker.internal_topics import (
    AutomaticTopics,
    group_partitions,
    transaction_partitions,
)
from ottla.broker.limits import limits_of, purge_intervals
from ottla.broker.loopback import Loopback
from ottla.broker.open_transactions import OpenTransactions
from ottla.broker.policies import alteration_check
from ottla.broker.ports import Ports
from ottla.broker.quota_control import QuotaControl
from ottla.broker.reconfiguration import Reconfiguration
from ottla.broker.recovering import Recovering
from ottla.broker.routes import get_routes, post_routes
from ottla.broker.settings import Settings
from ottla.broker.stalls import Stalls
from ottla.broker.tasks import Tasks
from ottla.broker.tending import Tending
from ottla.broker.testing_hooks import Hooks
from ottla.broker.topic_rules import controller_settings, topic_rules
from ottla.broker.unserved import refuse_unserved
from ottla.config.broker_config import BrokerConfig
from ottla.config.network_options import MAX_CONNECTIONS_PER_IP_OVERRIDES
from ottla.config.ottla_options import OTTLA_HTTP_HOST, OTTLA_HTTP_PORT, OTTLA_METADATA_PATH
from ottla.config.overrides import Overrides
from ottla.config.replication_options import MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS
from ottla.controller.config_store import ConfigStore, ConfigWatcher
from ottla.controller.controller import Controller
from ottla.controller.producer_ids import ProducerIds
from ottla.controller.registration import Registration, cluster_id, create_roots
from ottla.coordinators.groups.forensics import RebalanceHistory
from ottla.handlers.dispatch import Dispatch
from ottla.handlers.services import Services
from ottla.handlers.stored_offsets import StoredOffsets
from ottla.metadata.cache import MetadataCache
from ottla.network.connection import Service
from ottla.network.http import HttpServer
from ottla.network.server import Server
from ottla.replication.fetch_sessions import FetchSessions
from ottla.replication.leadership import Leadership
from ottla.replication.log_moves import LogMoves
from ottla.replication.partition import Partition
from ottla.replication.reopening import reopen_refused
from ottla.replication.replicas import Replicas
from ottla.storage.compactor import Compactor
from ottla.storage.directories import LogDirectories
from ottla.storage.directory import DirectoryRefused, make_log_directory
from ottla.storage.files import DiskFailed
from ottla.storage.hop import Hop
from ottla.storage.upkeep import Upkeep
from ottla.store import paths
from ottla.store.port import MetadataStore, StoreError
from ottla.store.znodes import LogDirEvent
from ottla.timing.purgatory import Purgatory
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer

_logger = logging.getLogger(__name__)
_MOST_DRAINS = 1000  # at the stop: so many requests may have been sent one behind the other


class Broker:
    """One broker. Start it, let it run, stop it; `failed` resolves if it cannot go on."""

    def __init__(self, config: BrokerConfig, ports: Ports, *, testing: bool = False) -> None:
        self.config = config
        self.hooks = Hooks(ports.clock) if testing else None
        self.ports = replace(ports, clock=self.hooks.clock) if self.hooks else ports
        self.registration: Registration | None = None

    def _epoch(self) -> int:
        """The broker's; -1 until it is registered."""
        return self.registration.epoch if self.registration is not None else -1

    async def __aenter__(self) -> Broker:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        refuse_unserved(self.config)
        async with AsyncExitStack() as stack:
            await self._start(stack)
            self._stack = stack.pop_all()

    async def _start(self, stack: AsyncExitStack) -> None:
        loop = asyncio.get_running_loop()
        self.tick, self.timer = Tick(loop.call_soon), Timer(loop)
        self.hop = Hop(self.ports.background, loop.call_soon_threadsafe)
        store, watcher = await self._join_cluster(stack)
        self.store = store
        self._open_directories(stack)
        # Ends before the store and the logs do, which the tasks use.
        self.tasks = await stack.enter_async_context(Tasks())
        self._hold_replicas(store)
        self.groups.start(await group_partitions(store, self.config))
        self.transactions.start(await transaction_partitions(store, self.config))
        self._listen(stack, loop)
        await self._control(store)
        self.tasks.spawn(watcher.run())
        await self._until_known()
        await self.controller.settled()  # so that whoever connects finds its partitions led
        self._tend(stack)
        self.log_moves.resume()
        await self._show_itself(stack, loop)
        self.server.start()

    async def _join_cluster(self, stack: AsyncExitStack) -> tuple[MetadataStore, ConfigWatcher]:
        """Who we are, and what the cluster has decided of our configuration."""
        config, ports = self.config, self.ports
        for folder in config.log_dirs:
            self._make_folder(folder)
        store = await stack.enter_async_context(ports.open_store(config[OTTLA_METADATA_PATH]))
        await create_roots(store)
        self.cluster_id = await cluster_id(store, ports.randomness.bytes)
        self.id = await broker_id(config, ports.disk, store)
        self.overrides = Overrides(config)
        self.settings = Settings(self.overrides)
        self.quotas = QuotaControl(config)
        self.host_limits = HostLimits(ports.sockets.resolve)
        await self.host_limits.learn(config[MAX_CONNECTIONS_PER_IP_OVERRIDES])
        self.reconfiguration = Reconfiguration(
            self.id, self.overrides, self.settings, self.quotas, self.host_limits, self.timer
        )
        watcher = ConfigWatcher(store, self.reconfiguration.stored, ports.clock)
        await watcher.load()
        await self.host_limits.learn_stored(self.overrides.broker)
        return store, watcher

    def _make_folder(self, folder: str) -> None:
        try:
            # A disk that fails is told of, and left out, when the directories are opened.
            with suppress(DiskFailed):
                make_log_directory(self.ports.disk, folder)
        except OSError as error:
            cause = f"the folder {folder} cannot be made: {error.strerror}"
            raise DirectoryRefused(f"{cause}. Give another with --data or log.dirs.") from error

    def _hold_replicas(self, store: MetadataStore) -> None:
        self.metadata = MetadataCache(self.cluster_id)
        self.replicas = Replicas(
            self.id,
            self.directories,
            self.tick,
            self.timer,
            self.hop,
            purge_intervals=purge_intervals(self.config),
        )
        self.replicas.exists_elsewhere = self.metadata.exists
        self.replicas.on_disk_failed = self._disk_failed
        self.leadership = Leadership(
            self.replicas, min_insync_of=self.settings.min_insync, new_tag=self._new_tag
        )
        self.log_moves = LogMoves(
            self.replicas,
            self.ports.background,
            self.timer,
            self.ports.clock,
            new_tag=self._new_tag,
            bytes_per_second=self.settings.log_move_bytes_per_second,
        )
        self.producer_ids = ProducerIds(store, broker_id=self.id)
        self.rebalances = RebalanceHistory()
        call_soon = asyncio.get_running_loop().call_soon
        self.groups = group_coordinator(self, call_soon)
        self.transactions = transaction_coordinator(self, call_soon)
        self.services = self._services(store)
        self.open_transactions = OpenTransactions(self)

    def _listen(self, stack: AsyncExitStack, loop: asyncio.AbstractEventLoop) -> None:
        """Clients may connect from now on, but wait until the metadata is there."""
        self.dispatch = Dispatch(self.services, self.tasks.spawn)
        self.loopback = Loopback(self.id, self.dispatch, self.tick)
        service: Service = self.dispatch
        if self.hooks is not None:
            service = self.hooks.stand_before(self.dispatch, self.services)
        limits = limits_of(self.overrides.broker, self.host_limits)
        self.server = Server(loop, self.ports.sockets, service, self.tick, self.timer, limits)
        stack.callback(self.server.close)
        self.addresses = Addresses.listen(self.server, self.config, self.ports.hostname)
        self.reconfiguration.attach(self.replicas, self.server)
        self.quotas.attach(self.services, self.server)

    async def _control(self, store: MetadataStore) -> None:
        """Become known to the cluster, and perhaps its controller."""
        clock = self.ports.clock
        self.registration = Registration(
            store, self.id, lambda: registration(self.addresses, self.config, clock.now_ms())
        )
        await self.registration.register()
        self.services.controller = self.controller = Controller(
            controller_settings(self),
            store=store,
            brokers=self.loopback,
            register=self.registration.register,
            timer=self.timer,
            clock=clock,
        )
        self.tasks.spawn(self.controller.run())
        self.tasks.spawn(self.producer_ids.run())
        self.tasks.spawn(reopen_refused(self.leadership, clock, self._tell_of_log_dirs))

    async def _show_itself(self, stack: AsyncExitStack, loop: asyncio.AbstractEventLoop) -> None:
        self.stalls = Stalls(loop)
        self.idleness = Idleness(loop, self.ports.spent_s)
        self.http = HttpServer(get=get_routes(self), post=post_routes(self))
        host, port = self.config[OTTLA_HTTP_HOST], self.config[OTTLA_HTTP_PORT]
        if port < 0:
            return  # nobody looks at us, nor at the loop's stalls
        for watcher in (self.stalls, self.idleness):
            watcher.start()
            stack.callback(watcher.stop)
        try:
            await self.http.start(host=host, port=port)
        except OSError as error:
            raise CannotListen(f"{host}:{port}", OTTLA_HTTP_PORT.name, error) from error
        stack.push_async_callback(self.http.close)

    def _open_directories(self, stack: AsyncExitStack) -> None:
        ports, now_ms = self.ports, self.ports.clock.now_ms()
        self.directories = LogDirectories.open(
            ports.disk,
            self.config.log_dirs,
            self.settings.log_config,
            broker_id=self.id,
            cluster_id=self.cluster_id,
            now_ms=now_ms,
        )
        stack.callback(lambda: self.directories.close(ports.background, broker_epoch=self._epoch()))
        progress = Recovering(self.directories, ports.clock)
        self.directories.recover(ports.background, now_ms=now_ms, on_progress=progress)

    def _new_tag(self) -> str:
        """For the names of folders that are deleted or moved."""
        return self.ports.randomness.bytes(16).hex()

    def _services(self, store: MetadataStore) -> Services:
        ports = self.ports
        rules = topic_rules(self.overrides, ports.randomness)
        creation = AutoCreation(
            AutomaticTopics(lambda: self.overrides.broker),
            self.metadata,
            rules,
            controller=lambda: self.controller,
            spawn=self.tasks.spawn_for_client,
        )
        services = Services(
            broker_id=self.id,
            clock=ports.clock,
            tick=self.tick,
            timer=self.timer,
            replicas=self.replicas,
            sessions=FetchSessions(
                self.config[MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS],
                lambda: ports.randomness.below(0x7FFF_FFFF),
            ),
            leadership=self.leadership,
            metadata=self.metadata,
            broker_epoch=self._epoch,
            new_producer_id=self.producer_ids.next,
            learn_topics=self._learn_topics,
            auto_create=creation.create,
            settings=self.settings,
            topic_rules=rules,
            overrides=self.overrides,
            configs=ConfigStore(store),
            check_alteration=alteration_check(self.config, self.host_limits),
            log_moves=self.log_moves,
            topic_operations=Purgatory("topic", self.timer),
            elections=Purgatory("ElectLeader", self.timer),
            groups=self.groups,
            transactions=self.transactions,
            verify_transaction=transaction_verification(self.transactions),
            rebalances=self.rebalances,
            stored_offsets=StoredOffsets(store),
        )
        self.metadata.on_change.append(services.topics_changed)
        return services

    async def _until_known(self) -> None:
        """Somebody has to control the cluster, and has to have told us of ourselves."""
        known = asyncio.get_running_loop().create_future()

        def look(_: tuple[str, ...]) -> None:
            if self.id in self.metadata.image.brokers and not known.done():
                known.set_result(None)

        self.metadata.on_change.append(look)
        look(())
        await known
        self.metadata.on_change.remove(look)

    def _tend(self, stack: AsyncExitStack) -> None:
        ports = self.ports
        self.compactor = Compactor(ports.new_cleaner())
        upkeep = Upkeep(
            self.directories,
            ports.background,
            self.compactor,
            on_disk_failed=lambda path, error: self.replicas.disk_failed(error),
        )
        tending = Tending(
            upkeep,
            self.timer,
            ports.clock,
            config=lambda: self.overrides.broker,
            at_next_append=self.replicas.at_next_append,
        )
        tending.start()
        self.reconfiguration.attach_tending(tending)
        stack.callback(upkeep.finish)  # before the logs are closed
        stack.callback(tending.stop)

    def _disk_failed(self, path: str, lost: list[Partition]) -> None:
        """The controller must look for other leaders of what was there."""
        _logger.error("%s took %d partitions offline", path, len(lost))
        for partition in lost:
            self.services.leads_no_more(partition.topic, partition.index, None)
        self.tasks.spawn(self._tell_of_log_dirs())

    async def _tell_of_log_dirs(self) -> None:
        """The controller will ask what we can hold, and hear it."""
        event = LogDirEvent(broker_id=self.id).encode()
        try:
            await self.store.create(paths.LOG_DIR_EVENT, event, sequential=True)
        except StoreError as error:
            _logger.warning("the controller was not told of our log directories: %s", error)

    async def _learn_topics(self, names: list[str]) -> None:
        """A new topic's options come with it: nobody is notified of them."""
        read = self.services.configs.read
        found = await asyncio.gather(*(read(f"topics/{name}") for name in names))
        for name, values in zip(names, found, strict=True):
            if values == self.overrides.topic_properties(name):
                continue  # each change is told to every partition there is
            self.reconfiguration.stored("topics", name, values)

    async def stop(self) -> None:
        """Parked requests are answered, logs flushed, and the marker of a clean stop left."""
        self.server.stop_listening()
        self.transactions.shut_down()
        self.groups.shut_down()
        for _ in range(_MOST_DRAINS):
            await self.hop.rest()  # threads work for requests that will be answered, too
            if not self._expire_parked():
                break
        self.server.stop_serving()
        await self.hop.rest()  # what came meanwhile; nothing more does
        self.tick.end()
        await self._stack.aclose()

    def _expire_parked(self) -> bool:
        """False if nobody was parked. What clients sent behind it is served, and may be parked."""
        parked = [each for found in self.services.purgatories() for each in found.drain()]
        for operation in parked:
            if not operation.completed:
                operation.expire()
        self.tick.end()
        return bool(parked)
