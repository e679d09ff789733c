// Members of groups, of whatever client version is on the class path: see ../groups/options.py for
// what each is opened with, ../groups/history.py for what it tells, and ../program.py for the lines.

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
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
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;

public class Members {
    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        System.setOut(System.err);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Map<String, Member> members = new HashMap<>();
        String line;
        while ((line = in.readLine()) != null) {
            String found;
            try {
                found = "{\"ok\": " + answer(members, arguments[0], line.split("\t", -1)) + "}";
            } catch (Exception | LinkageError e) {
                found = "{\"error\": " + quoted(trace(e)) + "}";
            }
            out.println(found);
        }
        System.exit(0);
    }

    private static String answer(Map<String, Member> members, String bootstrap, String[] words)
            throws Exception {
        List<String> rest = Arrays.asList(words).subList(2, words.length);
        switch (words[0]) {
            case "open":
                members.put(words[1], new Member(bootstrap, words[1], rest));
                members.get(words[1]).start();
                return "null";
            case "close":
                members.remove(words[1]).close();
                return "null";
            default:
                return members.get(words[1]).ask(rest.get(0), rest.subList(1, rest.size()));
        }
    }

    static String trace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    static String quoted(String text) {
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

class Member extends Thread implements ConsumerRebalanceListener {
    private static final long POLL_MS = 50;
    private static final long PATIENCE_MS = 30_000;
    private static final Map<String, String> ASSIGNORS = new HashMap<>();

    static {
        ASSIGNORS.put("range", "org.apache.kafka.clients.consumer.RangeAssignor");
        ASSIGNORS.put("roundrobin", "org.apache.kafka.clients.consumer.RoundRobinAssignor");
        ASSIGNORS.put(
            "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");
    }

    private final String bootstrap;
    private final Map<String, String> options = new HashMap<>();
    private final FileOutputStream journal;
    private final ConcurrentLinkedQueue<FutureTask<String>> tasks = new ConcurrentLinkedQueue<>();
    private final Map<TopicPartition, Long> uncommitted = new LinkedHashMap<>();
    private final boolean hasDurations = has("poll", java.time.Duration.class);
    private final boolean hasGroupMetadata = has("groupMetadata");
    private KafkaConsumer<byte[], byte[]> consumer;
    private volatile boolean closing;
    private boolean stalled;
    private long pollMs = POLL_MS;

    Member(String bootstrap, String name, List<String> words) throws IOException {
        super(name);
        this.bootstrap = bootstrap;
        for (String word : words) {
            String[] pair = word.split("=", 2);
            options.put(pair[0], pair[1]);
        }
        journal = new FileOutputStream(options.get("journal"), true);
        setDaemon(true);
    }

    private static boolean has(String name, Class<?>... parameters) {
        try {
            KafkaConsumer.class.getMethod(name, parameters);
            return true;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }

    @Override
    public void run() {
        try {
            connect();
            while (!closing) {
                turn();
            }
            tell("closing", Collections.<TopicPartition>emptyList(), "");
            consumer.close();
            tell("closed", Collections.<TopicPartition>emptyList(), "");
        } catch (Exception | LinkageError e) {
            tell("failed", Collections.<TopicPartition>emptyList(),
                ", \"text\": " + Members.quoted(Members.trace(e)));
        }
    }

    void close() throws InterruptedException {
        closing = true;
        join(PATIENCE_MS);
    }

    String ask(String verb, List<String> words) throws Exception {
        if (verb.equals("wake")) {
            consumer.wakeup();
            return "null";
        }
        FutureTask<String> task = new FutureTask<>(() -> obey(verb, words));
        tasks.add(task);
        return task.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
    }

    private void connect() {
        Properties settings = new Properties();
        String bytes = "org.apache.kafka.common.serialization.ByteArrayDeserializer";
        settings.put("bootstrap.servers", bootstrap);
        settings.put("key.deserializer", bytes);
        settings.put("value.deserializer", bytes);
        settings.put("client.id", getName());
        settings.put("group.id", options.get("group"));
        settings.put("partition.assignment.strategy", ASSIGNORS.get(options.get("assignor")));
        settings.put("session.timeout.ms", options.get("session_ms"));
        settings.put("heartbeat.interval.ms", "100");
        settings.put("max.poll.interval.ms", options.get("max_poll_ms"));
        settings.put("max.poll.records", "10");
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("fetch.max.wait.ms", "50");
        settings.put("metadata.max.age.ms", "500");
        if (!options.get("instance").isEmpty()) {
            settings.put("group.instance.id", options.get("instance"));
        }
        // Before 2.1 a request outlives a whole rebalance, however long that may be.
        settings.put("request.timeout.ms", "70000");
        consumer = new KafkaConsumer<>(settings);
        if (!options.get("assign").isEmpty()) {
            List<TopicPartition> assigned = new ArrayList<>();
            for (String each : options.get("assign").split(",")) {
                int colon = each.lastIndexOf(':');
                int partition = Integer.parseInt(each.substring(colon + 1));
                assigned.add(new TopicPartition(each.substring(0, colon), partition));
            }
            consumer.assign(assigned);
        } else if (!options.get("pattern").isEmpty()) {
            consumer.subscribe(Pattern.compile(options.get("pattern")), this);
        } else {
            consumer.subscribe(Arrays.asList(options.get("topics").split(",")), this);
        }
    }

    private void turn() throws Exception {
        FutureTask<String> task;
        while ((task = tasks.poll()) != null) {
            task.run();
        }
        if (stalled) {
            Thread.sleep(POLL_MS);
            return;
        }
        long timeout = pollMs;
        pollMs = POLL_MS;
        try {
            take(poll(timeout));
        } catch (WakeupException e) {
            tell("woken", Collections.<TopicPartition>emptyList(), "");
        }
    }

    @SuppressWarnings("deprecation")
    private ConsumerRecords<byte[], byte[]> poll(long timeout) {
        return hasDurations
            ? consumer.poll(java.time.Duration.ofMillis(timeout)) : consumer.poll(timeout);
    }

    private void take(ConsumerRecords<byte[], byte[]> records) {
        for (TopicPartition partition : records.partitions()) {
            List<String> offsets = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
                offsets.add(Long.toString(record.offset()));
                uncommitted.put(partition, record.offset() + 1);
            }
            tell("read", Collections.singletonList(partition), ", \"offsets\": " + offsets);
        }
        commitDue(uncommitted.keySet());
    }

    // A refusal is told; it is tried again after the next poll.
    private void commitDue(Collection<TopicPartition> partitions) {
        Map<TopicPartition, OffsetAndMetadata> due = new LinkedHashMap<>();
        for (TopicPartition partition : partitions) {
            if (uncommitted.containsKey(partition)) {
                due.put(partition, new OffsetAndMetadata(uncommitted.get(partition), ""));
            }
        }
        if (due.isEmpty() || !options.get("commit").equals("each")) {
            return;
        }
        try {
            consumer.commitSync(due);
        } catch (WakeupException e) {
            throw e;
        } catch (RuntimeException e) {
            tell("refused", due.keySet(), ", \"text\": " + Members.quoted(e.toString()));
            return;
        }
        stored(due);
    }

    private void stored(Map<TopicPartition, OffsetAndMetadata> offsets) {
        List<Long> found = new ArrayList<>();
        for (OffsetAndMetadata each : offsets.values()) {
            found.add(each.offset());
        }
        tell("committed", offsets.keySet(), ", \"offsets\": " + found);
        for (Map.Entry<TopicPartition, OffsetAndMetadata> each : offsets.entrySet()) {
            uncommitted.remove(each.getKey(), each.getValue().offset());
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        String generation = hasGroupMetadata
            ? ", \"generation\": " + consumer.groupMetadata().generationId() : "";
        tell("assigned", partitions, generation);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        commitDue(partitions);
        over("revoked", partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        over("lost", partitions);
    }

    private void over(String event, Collection<TopicPartition> partitions) {
        tell(event, partitions, "");
        uncommitted.keySet().removeAll(new ArrayList<>(partitions));
    }

    private String obey(String verb, List<String> words) throws Exception {
        switch (verb) {
            case "stall": case "go":
                stalled = verb.equals("stall");
                return "null";
            case "long_poll":
                pollMs = 3 * PATIENCE_MS;
                return "null";
            case "commit_sync": case "commit_async":
                return commit(words, verb.equals("commit_sync"));
            default:
                return control(verb, new TopicPartition(words.get(0), Integer.parseInt(words.get(1))),
                    words.size() > 2 ? Long.parseLong(words.get(2)) : -1);
        }
    }

    private String commit(List<String> words, boolean wait) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> offsets = new LinkedHashMap<>();
        for (int i = 0; i < words.size(); i += 4) {
            offsets.put(new TopicPartition(words.get(i), Integer.parseInt(words.get(i + 1))),
                new OffsetAndMetadata(Long.parseLong(words.get(i + 2)), words.get(i + 3)));
        }
        if (offsets.isEmpty()) {
            for (Map.Entry<TopicPartition, Long> each : uncommitted.entrySet()) {
                offsets.put(each.getKey(), new OffsetAndMetadata(each.getValue(), ""));
            }
        }
        if (wait) {
            consumer.commitSync(offsets);
            stored(offsets);
            return "null";
        }
        consumer.commitAsync(offsets, (done, error) -> {
            if (error == null) {
                stored(done);
            } else {
                tell("refused", done.keySet(), ", \"text\": " + Members.quoted(error.toString()));
            }
        });
        return "null";
    }

    private String control(String verb, TopicPartition partition, long offset) {
        List<TopicPartition> one = Collections.singletonList(partition);
        switch (verb) {
            case "seek": consumer.seek(partition, offset); break;
            case "seek_to_beginning": consumer.seekToBeginning(one); break;
            case "seek_to_end": consumer.seekToEnd(one); break;
            case "pause": consumer.pause(one); break;
            case "resume": consumer.resume(one); break;
            default: throw new IllegalArgumentException(verb);
        }
        return "null";
    }

    private void tell(String event, Collection<TopicPartition> partitions, String details) {
        List<String> pairs = new ArrayList<>();
        for (TopicPartition each : partitions) {
            pairs.add("[" + Members.quoted(each.topic()) + ", " + each.partition() + "]");
        }
        String line = "{\"member\": " + Members.quoted(getName()) + ", \"event\": \"" + event
            + "\", \"partitions\": " + pairs + details + "}\n";
        try {
            journal.write(line.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
