// Members of groups, of kafkajs: see ../groups/options.py, ../groups/history.py, ../program.py.
"use strict";

const fs = require("node:fs");
const readline = require("node:readline");
const { Kafka, logLevel } = require("kafkajs");

class Member {
  constructor(name, words) {
    this.name = name;
    this.options = Object.fromEntries(words.map((word) => word.split(/=(.*)/s)));
    this.journal = fs.openSync(this.options.journal, "a");
    this.owned = [];
  }

  tell(event, partitions, details) {
    const told = { member: this.name, event, partitions: partitions || [], ...details };
    fs.writeSync(this.journal, `${JSON.stringify(told)}\n`);
  }

  async open() {
    const kafka = new Kafka({
      clientId: this.name,
      brokers: [process.argv[2]],
      logLevel: logLevel.NOTHING,
    });
    this.consumer = kafka.consumer({
      groupId: this.options.group,
      sessionTimeout: Number(this.options.session_ms),
      rebalanceTimeout: Number(this.options.max_poll_ms),
      heartbeatInterval: 100,
      maxWaitTimeInMs: 50,
      metadataMaxAge: 500,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 50, retries: 20 },
    });
    this.listen(this.consumer.events);
    await this.consumer.connect();
    const { pattern, topics } = this.options;
    const wanted = pattern ? [new RegExp(pattern)] : topics.split(",");
    await this.consumer.subscribe({ topics: wanted, fromBeginning: true });
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => this.take(payload),
    });
  }

  listen(events) {
    this.consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.over("revoked");
      this.owned = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => [topic, partition]),
      );
      this.tell("assigned", this.owned);
    });
    this.consumer.on(events.REBALANCING, () => this.over("revoked"));
    this.consumer.on(events.CRASH, ({ payload }) => {
      this.over("lost");
      if (!payload.restart) this.tell("failed", [], { text: String(payload.error) });
    });
  }

  over(event) {
    if (this.owned.length) this.tell(event, this.owned);
    this.owned = [];
  }

  async take({ batch, resolveOffset, heartbeat, isRunning, isStale }) {
    if (!isRunning() || isStale()) return;
    const { topic, partition } = batch;
    const offsets = batch.messages.map((message) => Number(message.offset));
    this.tell("read", [[topic, partition]], { offsets });
    const last = offsets.at(-1);
    try {
      if (this.options.commit === "each") await this.commit([topic, partition, last + 1, ""]);
      resolveOffset(String(last));
    } catch (error) {
      // Thrown from here it would end the consumer; the heartbeat tells it why.
      this.tell("refused", [[topic, partition]], { text: String(error) });
    }
    await heartbeat();
  }

  async commit(words) {
    const offsets = [];
    for (let i = 0; i < words.length; i += 4) {
      const [topic, partition, offset, metadata] = words.slice(i, i + 4);
      offsets.push({ topic, partition: Number(partition), offset: String(offset), metadata });
    }
    await this.consumer.commitOffsets(offsets);
    const partitions = offsets.map(({ topic, partition }) => [topic, partition]);
    this.tell("committed", partitions, { offsets: offsets.map(({ offset }) => Number(offset)) });
  }

  async act(verb, words) {
    const [topic, partition, offset] = words;
    const one = [{ topic, partitions: [Number(partition)] }];
    if (verb === "commit_sync") return this.commit(words);
    if (verb === "seek") return this.consumer.seek({ topic, partition: Number(partition), offset });
    if (verb === "pause") return this.consumer.pause(one);
    if (verb === "resume") return this.consumer.resume(one);
    throw new Error(`no verb ${verb}`);
  }

  async close() {
    this.tell("closing");
    await this.opened; // who leaves while it still joins stays in the group
    await this.consumer.disconnect();
    this.tell("closed");
  }
}

async function main() {
  const members = {};
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [command, name, ...words] = line.split("\t");
    let answer;
    try {
      let found = null;
      if (command === "open") {
        const member = new Member(name, words);
        members[name] = member;
        member.opened = member
          .open()
          .catch((error) => member.tell("failed", [], { text: String(error) }));
      } else if (command === "close") {
        await members[name].close();
      } else {
        found = await members[name].act(words[0], words.slice(1));
      }
      answer = { ok: found === undefined ? null : found };
    } catch (error) {
      answer = { error: `${error} ${JSON.stringify(error)}` };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  process.exit(0);
}

main();
