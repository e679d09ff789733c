// Transactions, of whatever client version is on the class path: see
// ../transactions/python_program.py for the lines, ../transactions/python_actors.py for how a loop
// works and ../transactions/options.py for what it is opened with.

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

public class Transactions {
    static final long PATIENCE_MS = 30_000;
    static final boolean HAS_DURATIONS = has("poll", java.time.Duration.class);
    static final boolean HAS_GROUP_METADATA = has("groupMetadata");
    static final boolean HAS_COMMITTED_OF_MANY = has("committed", Set.class);

    private final String bootstrap;
    private final Map<String, Writer> writers = new HashMap<>();
    private final Map<String, Reader> readers = new HashMap<>();
    private final Map<String, Loop> loops = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Transactions program = new Transactions(arguments[0]);
        String line;
        while ((line = in.readLine()) != null) {
            String found;
            try {
                found = "{\"ok\": " + program.answer(line.split("\t", -1)) + "}";
            } catch (Exception | LinkageError e) {
                found = "{\"error\": " + Members.quoted(Members.trace(e)) + "}";
            }
            out.println(found);
        }
        System.exit(0);
    }

    Transactions(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    private static boolean has(String name, Class<?>... parameters) {
        try {
            KafkaConsumer.class.getMethod(name, parameters);
            return true;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    private String answer(String[] words) throws Exception {
        String name = words[1];
        switch (words[0]) {
            case "producer": writers.put(name, new Writer(bootstrap, words[2], words[3])); break;
            case "begin": writers.get(name).producer.beginTransaction(); break;
            case "commit": writers.get(name).producer.commitTransaction(); break;
            case "abort": writers.get(name).producer.abortTransaction(); break;
            case "send": writers.get(name).send(words); break;
            case "offsets": writers.get(name).offsets(words); break;
            case "reader": readers.put(name, new Reader(bootstrap, words)); break;
            case "seen": return readers.get(name).seen();
            case "loop": loops.put(name, new Loop(bootstrap, words)); break;
            case "hang": loops.get(name).hang(words[2]); break;
            case "go": loops.get(name).go.countDown(); break;
            case "close": close(name); break;
            default: throw new IllegalArgumentException(words[0]);
        }
        return "null";
    }

    private void close(String name) throws Exception {
        if (writers.containsKey(name)) {
            writers.remove(name).producer.close();
        } else if (readers.containsKey(name)) {
            readers.remove(name).close();
        } else {
            loops.remove(name).close();
        }
    }

    static KafkaConsumer<byte[], byte[]> consumer(String bootstrap, Map<String, String> more) {
        Properties settings = new Properties();
        String bytes = "org.apache.kafka.common.serialization.ByteArrayDeserializer";
        settings.put("bootstrap.servers", bootstrap);
        settings.put("key.deserializer", bytes);
        settings.put("value.deserializer", bytes);
        settings.put("isolation.level", "read_committed");
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("fetch.max.wait.ms", "50");
        settings.putAll(more);
        return new KafkaConsumer<>(settings);
    }

    @SuppressWarnings("deprecation")
    static ConsumerRecords<byte[], byte[]> poll(KafkaConsumer<byte[], byte[]> consumer) {
        return HAS_DURATIONS ? consumer.poll(java.time.Duration.ofMillis(50)) : consumer.poll(50);
    }

    static final class Writer {
        final KafkaProducer<byte[], byte[]> producer;
        private final String bootstrap;

        Writer(String bootstrap, String transactionalId, String timeoutMs) {
            this.bootstrap = bootstrap;
            Properties settings = new Properties();
            String bytes = "org.apache.kafka.common.serialization.ByteArraySerializer";
            settings.put("bootstrap.servers", bootstrap);
            settings.put("key.serializer", bytes);
            settings.put("value.serializer", bytes);
            settings.put("transactional.id", transactionalId);
            settings.put("transaction.timeout.ms", timeoutMs);
            settings.put("max.block.ms", Long.toString(PATIENCE_MS));
            producer = new KafkaProducer<>(settings);
            producer.initTransactions();
        }

        void send(String[] words) throws Exception {
            int partitions = Integer.parseInt(words[3]);
            int first = Integer.parseInt(words[4]);
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            for (int i = first; i < first + Integer.parseInt(words[5]); i++) {
                records.add(record(words[2], i % partitions, Integer.toString(i)));
            }
            write(records);
        }

        static ProducerRecord<byte[], byte[]> record(String topic, int partition, String value) {
            return new ProducerRecord<>(
                topic, partition, null, value.getBytes(StandardCharsets.UTF_8));
        }

        void write(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
            List<Future<RecordMetadata>> pending = new ArrayList<>();
            for (ProducerRecord<byte[], byte[]> record : records) {
                pending.add(producer.send(record));
            }
            producer.flush();
            for (Future<RecordMetadata> each : pending) {
                each.get();
            }
        }

        void offsets(String[] words) {
            TopicPartition partition = new TopicPartition(words[3], Integer.parseInt(words[4]));
            OffsetAndMetadata offset = new OffsetAndMetadata(Long.parseLong(words[5]));
            try (KafkaConsumer<byte[], byte[]> outsider =
                    consumer(bootstrap, Collections.singletonMap("group.id", words[2]))) {
                addOffsets(Collections.singletonMap(partition, offset), outsider, words[2]);
            }
        }

        @SuppressWarnings("deprecation")
        void addOffsets(Map<TopicPartition, OffsetAndMetadata> offsets,
                KafkaConsumer<byte[], byte[]> member, String group) {
            if (HAS_GROUP_METADATA) {
                producer.sendOffsetsToTransaction(offsets, member.groupMetadata());
            } else {
                producer.sendOffsetsToTransaction(offsets, group);
            }
        }
    }

    static final class Reader extends Thread {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final List<String> seen = Collections.synchronizedList(new ArrayList<String>());
        private volatile boolean closing;
        private volatile RuntimeException failure;

        Reader(String bootstrap, String[] words) {
            consumer = consumer(bootstrap, Collections.<String, String>emptyMap());
            List<TopicPartition> assigned = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(words[3]); i++) {
                assigned.add(new TopicPartition(words[2], i));
            }
            consumer.assign(assigned);
            setDaemon(true);
            start();
        }

        @Override
        public void run() {
            try {
                while (!closing) {
                    for (ConsumerRecord<byte[], byte[]> each : poll(consumer)) {
                        String value = new String(each.value(), StandardCharsets.UTF_8);
                        seen.add("[" + each.partition() + ", " + each.offset() + ", "
                            + Members.quoted(value) + "]");
                    }
                }
                consumer.close();
            } catch (RuntimeException e) {
                failure = e;
            }
        }

        String seen() {
            if (failure != null) {
                throw failure;
            }
            synchronized (seen) {
                return seen.toString();
            }
        }

        void close() throws InterruptedException {
            closing = true;
            join(PATIENCE_MS);
        }
    }

    static final class Loop extends Thread implements ConsumerRebalanceListener {
        volatile CountDownLatch go = new CountDownLatch(0);
        private final String bootstrap;
        private final Map<String, String> options = new HashMap<>();
        private final FileOutputStream journal;
        private final Random dice = new Random();
        private final Map<Integer, Writer> writers = new HashMap<>();
        private KafkaConsumer<byte[], byte[]> consumer;
        private int number;
        private volatile String hangAt = "";
        private volatile boolean closing;

        Loop(String bootstrap, String[] words) throws IOException {
            super(words[1]);
            this.bootstrap = bootstrap;
            for (String word : Arrays.asList(words).subList(2, words.length)) {
                String[] pair = word.split("=", 2);
                options.put(pair[0], pair[1]);
            }
            journal = new FileOutputStream(options.get("journal"), true);
            setDaemon(true);
            start();
        }

        void hang(String where) {
            go = new CountDownLatch(1);
            hangAt = where;
        }

        void close() throws InterruptedException {
            closing = true;
            join(PATIENCE_MS);
        }

        @Override
        public void run() {
            try {
                if (HAS_GROUP_METADATA) {
                    // What an earlier life of it had begun is over, before anyone waits for that.
                    writers.put(0, new Writer(bootstrap, getName(), options.get("timeout_ms")));
                }
                connect();
                while (!closing) {
                    passOn(poll(consumer));
                }
                dropWriters();
                consumer.close();
            } catch (Exception | LinkageError e) {
                tell("failed", ", \"text\": " + Members.quoted(Members.trace(e)));
            }
        }

        private void connect() {
            Map<String, String> settings = new HashMap<>();
            settings.put("group.id", options.get("group"));
            settings.put("client.id", getName());
            settings.put("session.timeout.ms", options.get("session_ms"));
            settings.put("heartbeat.interval.ms", "100");
            settings.put("max.poll.interval.ms", "60000");
            settings.put("max.poll.records", "10");
            // Before 2.1 a request outlives a whole rebalance, however long that may be.
            settings.put("request.timeout.ms", "70000");
            consumer = consumer(bootstrap, settings);
            consumer.subscribe(Collections.singletonList(options.get("source")), this);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            if (!HAS_GROUP_METADATA) {
                dropWriters();
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}

        private void dropWriters() {
            for (Writer writer : writers.values()) {
                writer.producer.close();
            }
            writers.clear();
        }

        private void passOn(ConsumerRecords<byte[], byte[]> found) throws Exception {
            List<ConsumerRecord<byte[], byte[]>> all = new ArrayList<>();
            for (TopicPartition partition : found.partitions()) {
                if (HAS_GROUP_METADATA) {
                    all.addAll(found.records(partition));
                } else {
                    transact(partition.partition(), found.records(partition));
                }
            }
            if (!all.isEmpty()) {
                transact(0, all);
            }
        }

        private void transact(int key, List<ConsumerRecord<byte[], byte[]>> batch)
                throws Exception {
            Map<TopicPartition, OffsetAndMetadata> ends = new LinkedHashMap<>();
            List<String> inputs = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> each : batch) {
                ends.put(new TopicPartition(each.topic(), each.partition()),
                    new OffsetAndMetadata(each.offset() + 1));
                inputs.add("[" + each.partition() + ", " + each.offset() + "]");
            }
            Writer writer = writers.get(key);
            if (writer == null) {
                String owner = HAS_GROUP_METADATA ? getName() : options.get("group") + "-" + key;
                writers.put(key, new Writer(bootstrap, owner, options.get("timeout_ms")));
                rewind(ends.keySet());
                return;
            }
            String attempt = options.get("tag") + "." + ++number;
            String named = ", \"attempt\": " + Members.quoted(attempt);
            tell("begun", named + ", \"inputs\": " + inputs);
            String outcome = "aborted";
            String text = "";
            try {
                fill(writer, attempt, batch, ends);
                outcome = "unsure";
                writer.producer.commitTransaction();
                outcome = "committed";
            } catch (Exception e) {
                text = e.toString();
                giveUp(key, writer);
                rewind(ends.keySet());
            }
            tell(outcome, named + ", \"text\": " + Members.quoted(text));
        }

        private void fill(Writer writer, String attempt, List<ConsumerRecord<byte[], byte[]>> batch,
                Map<TopicPartition, OffsetAndMetadata> ends) throws Exception {
            int partitions = Integer.parseInt(options.get("target_partitions"));
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> each : batch) {
                String value = attempt + " " + each.partition() + " " + each.offset();
                int partition = (int) (each.offset() % partitions);
                records.add(Writer.record(options.get("target"), partition, value));
            }
            writer.producer.beginTransaction();
            writer.write(records);
            hangIfTold("before", attempt);
            writer.addOffsets(ends, consumer, options.get("group"));
            hangIfTold("after", attempt);
            if (dice.nextInt(100) < Integer.parseInt(options.get("abort_percent"))) {
                throw new IllegalStateException("as the dice said");
            }
        }

        private void hangIfTold(String where, String attempt) throws InterruptedException {
            if (hangAt.equals(where)) {
                hangAt = "";
                tell("hanging", ", \"attempt\": " + Members.quoted(attempt));
                go.await();
            }
        }

        private void giveUp(int key, Writer writer) {
            try {
                writer.producer.abortTransaction();
            } catch (RuntimeException e) {
                writers.remove(key);
                writer.producer.close();
            }
        }

        // To what is committed, where they are still its own.
        @SuppressWarnings("deprecation")
        private void rewind(Collection<TopicPartition> partitions) {
            for (TopicPartition each : partitions) {
                if (consumer.assignment().contains(each)) {
                    OffsetAndMetadata found = HAS_COMMITTED_OF_MANY
                        ? consumer.committed(Collections.singleton(each)).get(each)
                        : consumer.committed(each);
                    consumer.seek(each, found == null ? 0 : found.offset());
                }
            }
        }

        private void tell(String event, String details) {
            String line = "{\"member\": " + Members.quoted(getName()) + ", \"event\": \"" + event
                + "\"" + details + "}\n";
            try {
                journal.write(line.getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
