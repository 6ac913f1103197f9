import com.github.shyiko.mysql.binlog.BinaryLogFileReader;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.TransactionPayloadEventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer.CompatibilityMode;
import com.github.shyiko.mysql.binlog.event.deserialization.json.JsonBinary;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.Map;

/**
 * Reads a log several times with mysql-binlog-connector-java, in one thread of one virtual machine.
 *
 * <pre>java ConnectorBench LOG PASSES JSON_COLUMN</pre>
 *
 * Prints a line for each pass: how many rows, and how many seconds. Times are longs, as is fastest. A JSON column, if
 * there is one (-1: none), is made into text, because the connector itself hands out MySQL's bytes.
 */
public final class ConnectorBench {
    private static final int BUFFER_BYTES = 1 << 20;
    private final int jsonColumn;
    private long rows;
    private long jsonCharacters;

    private ConnectorBench(int jsonColumn) {
        this.jsonColumn = jsonColumn;
    }

    public static void main(String[] arguments) throws IOException {
        int passes = Integer.parseInt(arguments[1]);
        for (int pass = 0; pass < passes; pass++) {
            ConnectorBench bench = new ConnectorBench(Integer.parseInt(arguments[2]));
            long begin = System.nanoTime();
            bench.read(arguments[0]);
            double seconds = (System.nanoTime() - begin) / 1e9;
            System.out.printf("%d %.6f %d%n", bench.rows, seconds, bench.jsonCharacters);
        }
    }

    private void read(String path) throws IOException {
        EventDeserializer deserializer = new EventDeserializer();
        deserializer.setCompatibilityMode(CompatibilityMode.DATE_AND_TIME_AS_LONG_MICRO);
        try (BinaryLogFileReader reader = new BinaryLogFileReader(
                new BufferedInputStream(new FileInputStream(path), BUFFER_BYTES), deserializer)) {
            for (Event event = reader.readEvent(); event != null; event = reader.readEvent()) {
                take(event);
            }
        }
    }

    private void take(Event event) throws IOException {
        EventData data = event.getData();
        if (data instanceof WriteRowsEventData) {
            takeRows(((WriteRowsEventData) data).getRows());
        } else if (data instanceof DeleteRowsEventData) {
            takeRows(((DeleteRowsEventData) data).getRows());
        } else if (data instanceof UpdateRowsEventData) {
            for (Map.Entry<Serializable[], Serializable[]> row : ((UpdateRowsEventData) data).getRows()) {
                takeRow(row.getValue());
            }
        } else if (data instanceof TransactionPayloadEventData) {
            for (Event inner : ((TransactionPayloadEventData) data).getUncompressedEvents()) {
                take(inner);
            }
        }
    }

    private void takeRows(List<Serializable[]> images) throws IOException {
        for (Serializable[] image : images) {
            takeRow(image);
        }
    }

    private void takeRow(Serializable[] image) throws IOException {
        rows++;
        if (jsonColumn >= 0 && image[jsonColumn] != null) {
            jsonCharacters += JsonBinary.parseAsString((byte[]) image[jsonColumn]).length();
        }
    }
}
