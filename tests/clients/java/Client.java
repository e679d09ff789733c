// A Kafka client of whatever version is on the class path, driven by lines: see ../program.py.
// What a version lacks is only linked when it is asked for, so one class file serves them all.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;

public class Client {
    private static final String BYTES_OUT =
        "org.apache.kafka.common.serialization.ByteArraySerializer";
    private static final String BYTES_IN =
        "org.apache.kafka.common.serialization.ByteArrayDeserializer";
    private static final long PATIENCE_MS = 30_000;

    private final String bootstrap;
    private final boolean hasHeaders;
    private final boolean hasIncrementalConfigs;
    private final BufferedReader in;
    private KafkaConsumer<byte[], byte[]> consumer;

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err);
        Client client = new Client(arguments[0]);
        String line;
        while ((line = client.in.readLine()) != null) {
            out.println(client.answer(line.split("\t", -1)));
        }
        client.close();
    }

    Client(String bootstrap) {
        this.bootstrap = bootstrap;
        this.in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        this.hasHeaders = exists("org.apache.kafka.common.header.Header");
        this.hasIncrementalConfigs = exists("org.apache.kafka.clients.admin.AlterConfigOp");
    }

    private static boolean exists(String name) {
        try {
            Class.forName(name);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private String answer(String[] words) {
        try {
            return "{\"ok\": " + run(words) + "}";
        } catch (ExecutionException e) {
            return "{\"error\": " + quoted(String.valueOf(e.getCause())) + "}";
        } catch (Exception | LinkageError e) {
            e.printStackTrace();
            return "{\"error\": " + quoted(String.valueOf(e)) + "}";
        }
    }

    private String run(String[] words) throws Exception {
        switch (words[0]) {
            case "produce": return produce(words);
            case "consume": return consume(words);
            case "offsets": return offsets(partition(words));
            case "offset_at": return offsetAt(partition(words), Long.parseLong(words[3]));
            case "partition_count": return partitionCount(words[1]);
            default: return administer(words);
        }
    }

    private static TopicPartition partition(String[] words) {
        return new TopicPartition(words[1], Integer.parseInt(words[2]));
    }

    private String produce(String[] words) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = Integer.parseInt(words[5]); i > 0; i--) {
            records.add(record(words[1], in.readLine().split("\t", -1)));
        }
        Properties settings = settings();
        settings.put("key.serializer", BYTES_OUT);
        settings.put("value.serializer", BYTES_OUT);
        settings.put("compression.type", words[2]);
        settings.put("acks", words[3]);
        settings.put("linger.ms", "5");
        if (hasHeaders) {
            settings.put("enable.idempotence", words[4]);
        }
        List<Future<RecordMetadata>> pending = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings)) {
            for (ProducerRecord<byte[], byte[]> record : records) {
                pending.add(producer.send(record));
            }
            producer.flush();
        }
        List<String> offsets = new ArrayList<>();
        for (Future<RecordMetadata> each : pending) {
            offsets.add(Long.toString(each.get().offset()));
        }
        return offsets.toString();
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, String[] words) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
            topic, Integer.valueOf(words[0]), Long.valueOf(words[1]), bytes(words[2]),
            bytes(words[3]));
        for (int i = 4; i < words.length; i += 2) {
            record.headers().add(words[i], bytes(words[i + 1]));
        }
        return record;
    }

    private String consume(String[] words) {
        TopicPartition from = partition(words);
        int count = Integer.parseInt(words[4]);
        KafkaConsumer<byte[], byte[]> consumer = consumer();
        consumer.assign(Collections.singletonList(from));
        consumer.seek(from, Long.parseLong(words[3]));
        List<String> found = new ArrayList<>();
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        while (found.size() < count) {
            if (System.currentTimeMillis() > deadline) {
                throw new IllegalStateException("got " + found.size() + " of " + count);
            }
            for (ConsumerRecord<byte[], byte[]> record : poll(consumer)) {
                found.add(shown(record));
            }
        }
        return found.toString();
    }

    @SuppressWarnings("deprecation")
    private ConsumerRecords<byte[], byte[]> poll(KafkaConsumer<byte[], byte[]> consumer) {
        // The one came with 2.0, the other went with 4.0.
        return hasIncrementalConfigs
            ? consumer.poll(java.time.Duration.ofMillis(200)) : consumer.poll(200);
    }

    private String shown(ConsumerRecord<byte[], byte[]> record) {
        List<String> headers = new ArrayList<>();
        if (hasHeaders) {
            for (Header header : record.headers()) {
                headers.add("[" + quoted(header.key()) + ", " + quoted(header.value()) + "]");
            }
        }
        return "{\"offset\": " + record.offset() + ", \"timestamp\": " + record.timestamp()
            + ", \"key\": " + quoted(record.key()) + ", \"value\": " + quoted(record.value())
            + ", \"headers\": " + headers + "}";
    }

    private String offsets(TopicPartition partition) {
        Collection<TopicPartition> one = Collections.singletonList(partition);
        return "[" + consumer().beginningOffsets(one).get(partition) + ", "
            + consumer().endOffsets(one).get(partition) + "]";
    }

    private String offsetAt(TopicPartition partition, long timestamp) {
        OffsetAndTimestamp found = consumer()
            .offsetsForTimes(Collections.singletonMap(partition, timestamp)).get(partition);
        return found == null ? "null" : Long.toString(found.offset());
    }

    private String partitionCount(String topic) {
        // A consumer of its own: another would answer from what it already knows.
        try (KafkaConsumer<byte[], byte[]> fresh = newConsumer()) {
            return Integer.toString(fresh.partitionsFor(topic).size());
        }
    }

    private String administer(String[] words) throws Exception {
        String topic = words.length > 1 ? words[1] : "";
        try (AdminClient admin = AdminClient.create(settings())) {
            switch (words[0]) {
                case "create_topic": return createTopic(admin, words);
                case "delete_topic":
                    admin.deleteTopics(Collections.singletonList(topic)).all().get();
                    return "null";
                case "topics": return names(admin.listTopics().names().get());
                case "add_partitions":
                    NewPartitions total = NewPartitions.increaseTo(Integer.parseInt(words[2]));
                    admin.createPartitions(Collections.singletonMap(topic, total)).all().get();
                    return "null";
                case "configs": return configs(admin, topic);
                case "set_config": return setConfig(admin, topic, words[2], words[3]);
                case "delete_records":
                    RecordsToDelete before = RecordsToDelete.beforeOffset(Long.parseLong(words[3]));
                    admin.deleteRecords(Collections.singletonMap(partition(words), before))
                        .all().get();
                    return "null";
                default: throw new IllegalArgumentException(words[0]);
            }
        }
    }

    private static String createTopic(AdminClient admin, String[] words) throws Exception {
        Map<String, String> configs = new HashMap<>();
        for (int i = 3; i < words.length; i++) {
            String[] pair = words[i].split("=", 2);
            configs.put(pair[0], pair[1]);
        }
        NewTopic wanted = new NewTopic(words[1], Integer.parseInt(words[2]), (short) 1);
        admin.createTopics(Collections.singletonList(wanted.configs(configs))).all().get();
        return "null";
    }

    private static String names(Collection<String> names) {
        List<String> found = new ArrayList<>();
        for (String name : names) {
            found.add(quoted(name));
        }
        return found.toString();
    }

    private static String configs(AdminClient admin, String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Config config = admin.describeConfigs(Collections.singletonList(resource)).all().get()
            .get(resource);
        List<String> found = new ArrayList<>();
        for (ConfigEntry entry : config.entries()) {
            found.add(quoted(entry.name()) + ": " + quoted(entry.value()));
        }
        return "{" + String.join(", ", found) + "}";
    }

    @SuppressWarnings({"deprecation", "removal"})
    private String setConfig(AdminClient admin, String topic, String name, String value)
            throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        ConfigEntry entry = new ConfigEntry(name, value);
        if (hasIncrementalConfigs) {
            Collection<AlterConfigOp> change =
                Collections.singletonList(new AlterConfigOp(entry, AlterConfigOp.OpType.SET));
            admin.incrementalAlterConfigs(Collections.singletonMap(resource, change)).all().get();
        } else {
            Config whole = new Config(Collections.singletonList(entry));
            admin.alterConfigs(Collections.singletonMap(resource, whole)).all().get();
        }
        return "null";
    }

    private Properties settings() {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        return settings;
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        if (consumer == null) {
            consumer = newConsumer();
        }
        return consumer;
    }

    private KafkaConsumer<byte[], byte[]> newConsumer() {
        Properties settings = settings();
        settings.put("key.deserializer", BYTES_IN);
        settings.put("value.deserializer", BYTES_IN);
        settings.put("enable.auto.commit", "false");
        settings.put("fetch.max.wait.ms", "50");
        return new KafkaConsumer<>(settings);
    }

    private void close() {
        if (consumer != null) {
            consumer.close();
        }
    }

    private static byte[] bytes(String text) {
        return text.equals("-") ? null : Base64.getDecoder().decode(text);
    }

    private static String quoted(byte[] data) {
        return data == null ? "null" : "\"" + Base64.getEncoder().encodeToString(data) + "\"";
    }

    private static String quoted(String text) {
        if (text == null) {
            return "null";
        }
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
