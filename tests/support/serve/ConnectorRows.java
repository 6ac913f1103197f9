import com.github.shyiko.mysql.binlog.BinaryLogClient;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Follows a source with mysql-binlog-connector-java until it has a number of rows, and prints how many it got.
 *
 * Arguments: port, password, number of rows, and either FILE and OFFSET or GTIDs.
 */
public class ConnectorRows {
    private static final int SECONDS = 60;

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        int wanted = Integer.parseInt(arguments[2]);
        BinaryLogClient client = new BinaryLogClient("127.0.0.1", port, "repl", arguments[1]);
        client.setServerId(4712);
        client.setHeartbeatInterval(TimeUnit.SECONDS.toMillis(1));
        if (arguments.length > 4) {
            client.setBinlogFilename(arguments[3]);
            client.setBinlogPosition(Long.parseLong(arguments[4]));
        } else {
            client.setGtidSet(arguments[3]);
        }
        AtomicInteger rows = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(1);
        client.registerEventListener(event -> {
            if (rows.addAndGet(count(event.getData())) >= wanted) {
                done.countDown();
            }
        });
        client.connect(TimeUnit.SECONDS.toMillis(SECONDS));
        done.await(SECONDS, TimeUnit.SECONDS);
        client.disconnect();
        System.out.println(rows.get());
        System.exit(0);
    }

    private static int count(EventData data) {
        if (data instanceof WriteRowsEventData) {
            return ((WriteRowsEventData) data).getRows().size();
        }
        if (data instanceof UpdateRowsEventData) {
            return ((UpdateRowsEventData) data).getRows().size();
        }
        return data instanceof DeleteRowsEventData ? ((DeleteRowsEventData) data).getRows().size() : 0;
    }
}
