// Transactions of kafkajs: see ../transactions/python_program.py for the lines, and
// ../transactions/python_actors.py for how a loop works. A reader of it is a group of its own.
"use strict";

const fs = require("node:fs");
const readline = require("node:readline");
const { Kafka, logLevel, Partitioners } = require("kafkajs");

function kafka(clientId) {
  return new Kafka({ clientId, brokers: [process.argv[2]], logLevel: logLevel.NOTHING });
}

const UNLUCKY = new Error("as the dice said");
const RETRY = { initialRetryTime: 50, retries: 20 };

class Producer {
  constructor(transactionalId, timeoutMs) {
    this.producer = kafka(transactionalId).producer({
      transactionalId,
      transactionTimeout: Number(timeoutMs),
      maxInFlightRequests: 1,
      idempotent: true,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: RETRY,
    });
  }

  // The id is its own with its first transaction.
  async open() {
    await this.producer.connect();
    await this.begin();
    await this.abort();
  }

  async begin() {
    this.transaction = await this.producer.transaction();
  }

  send(topic, partitions, first, count) {
    const messages = [];
    for (let i = Number(first); i < Number(first) + Number(count); i++) {
      messages.push({ partition: i % Number(partitions), value: String(i) });
    }
    return this.write(topic, messages);
  }

  async write(topic, messages) {
    await this.transaction.send({ topic, messages, acks: -1 });
  }

  async offsets(consumerGroupId, topic, partition, offset) {
    const partitions = [{ partition: Number(partition), offset: String(offset) }];
    await this.transaction.sendOffsets({ consumerGroupId, topics: [{ topic, partitions }] });
  }

  commit() {
    return this.transaction.commit();
  }

  abort() {
    return this.transaction.abort();
  }

  close() {
    return this.producer.disconnect();
  }
}

class Reader {
  constructor(name, topic) {
    this.topic = topic;
    this.records = [];
    this.consumer = kafka(name).consumer({
      groupId: name,
      maxWaitTimeInMs: 50,
      allowAutoTopicCreation: false,
      retry: RETRY,
    });
  }

  async open() {
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [this.topic], fromBeginning: true });
    await this.consumer.run({
      autoCommit: false,
      eachMessage: async ({ partition, message }) => {
        this.records.push([partition, Number(message.offset), message.value.toString()]);
      },
    });
  }

  seen() {
    return this.records;
  }

  close() {
    return this.consumer.disconnect();
  }
}

class Loop {
  constructor(name, ...words) {
    this.name = name;
    this.options = Object.fromEntries(words.map((word) => word.split(/=(.*)/s)));
    this.journal = fs.openSync(this.options.journal, "a");
    this.producers = {};
    this.number = 0;
    this.generation = 0;
    this.admin = kafka(name).admin({ retry: RETRY });
    this.consumer = kafka(name).consumer({
      groupId: this.options.group,
      sessionTimeout: Number(this.options.session_ms),
      heartbeatInterval: 100,
      maxWaitTimeInMs: 50,
      allowAutoTopicCreation: false,
      retry: RETRY,
    });
  }

  tell(event, details) {
    fs.writeSync(this.journal, `${JSON.stringify({ member: this.name, event, ...details })}\n`);
  }

  async open() {
    const { source } = this.options;
    this.consumer.on(this.consumer.events.CRASH, ({ payload }) => {
      if (!payload.restart) this.tell("failed", { text: String(payload.error) });
    });
    // What is owned anew is taken over anew: see ../transactions/python_actors.py.
    this.consumer.on(this.consumer.events.GROUP_JOIN, () => this.generation++);
    await this.admin.connect();
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [source], fromBeginning: true });
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      eachBatch: (payload) => this.take(payload),
    });
  }

  async take({ batch, resolveOffset, heartbeat, isRunning, isStale }) {
    const all = batch.messages.map((message) => Number(message.offset));
    for (let i = 0; i < all.length; i += 10) {
      if (!isRunning() || isStale()) return;
      const offsets = all.slice(i, i + 10);
      if (!(await this.transact(batch.partition, offsets))) return;
      resolveOffset(String(offsets.at(-1)));
      await heartbeat();
    }
  }

  // Whether to go on with what comes next.
  async transact(partition, offsets) {
    const { group, tag } = this.options;
    const known = this.producers[partition];
    if (known === undefined || known.generation !== this.generation) {
      if (known !== undefined) await known.close();
      const made = new Producer(`${group}-${partition}`, this.options.timeout_ms);
      made.generation = this.generation;
      await made.open();
      this.producers[partition] = made;
      // From now on nobody else can commit: only now is it known where to begin.
      return this.rewind(partition, offsets[0]);
    }
    const attempt = `${tag}.${++this.number}`;
    this.tell("begun", { attempt, inputs: offsets.map((offset) => [partition, offset]) });
    let outcome = "aborted";
    let text = "";
    try {
      await this.fill(known, attempt, partition, offsets);
      outcome = "unsure";
      await known.commit();
      outcome = "committed";
    } catch (error) {
      text = String(error);
      await this.giveUp(partition, known, error === UNLUCKY);
    }
    this.tell(outcome, { attempt, text });
    return outcome === "committed" || this.rewind(partition, offsets[0]);
  }

  async fill(producer, attempt, partition, offsets) {
    const { source, target, target_partitions, group, abort_percent } = this.options;
    await producer.begin();
    const messages = offsets.map((offset) => ({
      partition: offset % Number(target_partitions),
      value: `${attempt} ${partition} ${offset}`,
    }));
    await producer.write(target, messages);
    await this.hangIfTold("before", attempt);
    await producer.offsets(group, source, partition, offsets.at(-1) + 1);
    await this.hangIfTold("after", attempt);
    if (Math.random() * 100 < Number(abort_percent)) throw UNLUCKY;
  }

  // If it was fenced at its first step it aborts nothing, and takes that for a success.
  async giveUp(partition, producer, isSound) {
    try {
      if (isSound) return await producer.abort();
    } catch {
      // As if it had not been.
    }
    delete this.producers[partition];
    return producer.close();
  }

  // False: it reads again from there, and what it has is of no use.
  async rewind(partition, next) {
    const { group, source } = this.options;
    const [found] = await this.admin.fetchOffsets({ groupId: group, topics: [source] });
    const committed = found.partitions.find((each) => each.partition === partition);
    const offset = Math.max(Number(committed.offset), 0);
    if (offset !== next) this.consumer.seek({ topic: source, partition, offset: String(offset) });
    return false;
  }

  hang(where) {
    this.hangAt = where;
    this.going = new Promise((resolve) => {
      this.go = resolve;
    });
  }

  async hangIfTold(where, attempt) {
    if (this.hangAt !== where) return;
    this.hangAt = "";
    this.tell("hanging", { attempt });
    await this.going;
  }

  async close() {
    await this.consumer.disconnect();
    await this.admin.disconnect();
    for (const producer of Object.values(this.producers)) await producer.close();
  }
}

const KINDS = {
  producer: (_, ...words) => new Producer(...words),
  reader: (...words) => new Reader(...words),
  loop: (...words) => new Loop(...words),
};

async function main() {
  const actors = {};
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [command, name, ...words] = line.split("\t");
    let answer;
    try {
      let found = null;
      if (command in KINDS) {
        actors[name] = KINDS[command](name, ...words);
        await actors[name].open();
      } else {
        found = await actors[name][command](...words);
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
