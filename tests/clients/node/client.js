// kafkajs driven by lines: see ../program.py. It reads only in groups, so it is not asked to.
"use strict";

const readline = require("node:readline");
const { CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = require("kafkajs");

const kafka = new Kafka({ brokers: [process.argv[2]], logLevel: logLevel.ERROR });
const admin = kafka.admin();
const codecs = { none: CompressionTypes.None, gzip: CompressionTypes.GZIP };

function bytes(word) {
  return word === "-" ? null : Buffer.from(word, "base64");
}

function record(line) {
  const [partition, timestamp, key, value, ...rest] = line.split("\t");
  const headers = {};
  for (let i = 0; i < rest.length; i += 2) {
    const known = headers[rest[i]] || [];
    headers[rest[i]] = [...known, bytes(rest[i + 1])];
  }
  return { partition: Number(partition), timestamp, key: bytes(key), value: bytes(value), headers };
}

// It sends as one batch whatever it gets at once, however large.
function batches(messages) {
  const made = [[]];
  let size = 0;
  for (const message of messages) {
    size += message.value ? message.value.length : 0;
    if (size > 900_000 && made.at(-1).length) {
      made.push([]);
      size = message.value.length;
    }
    made.at(-1).push(message);
  }
  return made;
}

async function produce([topic, codec, acks, idempotent, count], lines) {
  const messages = [];
  for (let i = 0; i < Number(count); i++) messages.push(record((await lines.next()).value));
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    idempotent: idempotent === "true",
    createPartitioner: () => ({ message }) => message.partition,
  });
  await producer.connect();
  try {
    const found = [];
    for (const some of batches(messages)) {
      const settings = { acks: Number(acks), compression: codecs[codec] };
      const sent = await producer.send({ topic, messages: some, ...settings });
      // One answer for each partition: the records of one lie one after the other.
      const next = {};
      for (const each of sent || []) next[each.partition] = Number(each.baseOffset);
      found.push(...some.map(({ partition }) => (partition in next ? next[partition]++ : -1)));
    }
    return found;
  } finally {
    await producer.disconnect();
  }
}

async function offsets([topic, partition]) {
  const found = await admin.fetchTopicOffsets(topic);
  const own = found.find((each) => each.partition === Number(partition));
  return [Number(own.low), Number(own.high)];
}

async function offsetAt([topic, partition, timestamp]) {
  const found = await admin.fetchTopicOffsetsByTimestamp(topic, Number(timestamp));
  const offset = Number(found.find((each) => each.partition === Number(partition)).offset);
  // Past the last record it gives the end instead of nothing.
  const [, latest] = await offsets([topic, partition]);
  return offset < latest ? offset : null;
}

async function createTopic([topic, numPartitions, ...pairs]) {
  const configEntries = pairs.map((pair) => {
    const [name, value] = pair.split(/=(.*)/s);
    return { name, value };
  });
  const isNew = await admin.createTopics({
    topics: [{ topic, numPartitions: Number(numPartitions), replicationFactor: 1, configEntries }],
  });
  if (!isNew) throw new Error(`${topic} exists`);
}

async function configs([topic]) {
  const found = await admin.describeConfigs({
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic }],
  });
  const entries = found.resources[0].configEntries;
  return Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue]));
}

const commands = {
  produce,
  offsets,
  offset_at: offsetAt,
  create_topic: createTopic,
  delete_topic: ([topic]) => admin.deleteTopics({ topics: [topic] }),
  topics: () => admin.listTopics(),
  partition_count: async ([topic]) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0].partitions.length;
  },
  add_partitions: ([topic, count]) =>
    admin.createPartitions({ topicPartitions: [{ topic, count: Number(count) }] }),
  configs,
  set_config: ([topic, name, value]) =>
    admin.alterConfigs({
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [{ name, value }] }],
    }),
  delete_records: ([topic, partition, offset]) =>
    admin.deleteTopicRecords({ topic, partitions: [{ partition: Number(partition), offset }] }),
};

async function main() {
  await admin.connect();
  const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const [command, ...words] = line.value.split("\t");
    let answer;
    try {
      const found = await commands[command](words, lines);
      answer = { ok: found === undefined ? null : found };
    } catch (error) {
      answer = { error: `${error} ${JSON.stringify(error)}` };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
  await admin.disconnect();
}

main();
