// Runs Kafka's command-line tools one after the other in one JVM: a class name and its arguments
// in a line, between tabs; what it printed and its exit code back, as JSON.

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.kafka.common.utils.Exit;

public class Tools {
    private static class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Ended(int code) {
            super("exit " + code);
        }
    }

    // Some tools catch what ends them, and end anew: the first time counts.
    private static Integer ended;

    private static void end(int code) {
        ended = ended == null ? code : ended;
        throw new Ended(code);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        // Scala keeps the stream that it finds first: it is the same for all.
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        System.setOut(new PrintStream(out, true, "UTF-8"));
        System.setErr(new PrintStream(err, true, "UTF-8"));
        Exit.setExitProcedure((code, message) -> end(code));
        Exit.setHaltProcedure((code, message) -> end(code));
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        while ((line = in.readLine()) != null) {
            out.reset();
            err.reset();
            int code = run(line.split("\t", -1));
            System.out.flush();
            System.err.flush();
            answers.println("{\"ok\": {\"code\": " + code + ", \"out\": "
                + quoted(out.toString("UTF-8")) + ", \"err\": " + quoted(err.toString("UTF-8"))
                + "}}");
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static int run(String[] words) throws Exception {
        String[] rest = Arrays.copyOfRange(words, 1, words.length);
        ended = null;
        try {
            Class.forName(words[0]).getMethod("main", String[].class).invoke(null, (Object) rest);
            return ended == null ? 0 : ended;
        } catch (InvocationTargetException e) {
            if (ended != null) {
                return ended;
            }
            e.getCause().printStackTrace();
            return 1;
        }
    }

    private static String quoted(String text) {
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
