"""Sources other than files: each writes its own kind of offset."""

from __future__ import annotations

import socket
import threading
import time

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tests.corpus.bench import Bench
from tests.corpus.shapes.shape import EVERY, SINCE_4_0, Shape


def rate(bench: Bench) -> None:
    """Two rows a second, by the clock."""
    frame = bench.spark.readStream.format("rate").option("rowsPerSecond", "2").load()
    bench.run_until(frame.writeStream.format("noop").trigger(processingTime="1 second"), 3)


def rate_micro_batch(bench: Bench) -> None:
    """Five rows a batch, by the batch."""
    writer = five_a_batch(bench).writeStream.format("noop")
    bench.run_until(writer.trigger(processingTime="500 milliseconds"), 3)


def five_a_batch(bench: Bench) -> DataFrame:
    """Returns the rate-micro-batch source."""
    reader = bench.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "5")
    return reader.option("numPartitions", "2").option("startTimestamp", "1767225600000").load()


def lines_from_socket(bench: Bench) -> None:
    """Lines that arrive one by one."""
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=send_lines, args=(server,), daemon=True).start()
    reader = bench.spark.readStream.format("socket").option("host", "127.0.0.1")
    frame = reader.option("port", str(server.getsockname()[1])).load()
    writer = frame.writeStream.format("noop").trigger(processingTime="500 milliseconds")
    bench.run_until(writer, 2)
    server.close()


def send_lines(server: socket.socket) -> None:
    """Sends a line every half second to the first who asks."""
    connection, _ = server.accept()
    with connection:
        for number in range(40):
            try:
                connection.sendall(f"line {number}\n".encode())
            except OSError:
                return
            time.sleep(0.5)


def memory_stream(bench: Bench) -> None:
    """Scala's in-memory test source, reached through the gateway."""
    jvm = bench.spark._jvm
    assert jvm is not None
    streaming = jvm.org.apache.spark.sql.execution.streaming
    home = streaming.runtime if bench.spark.version >= "4.1" else streaming
    context = bench.spark._jsparkSession.sqlContext()
    source = home.MemoryStream.apply(jvm.org.apache.spark.sql.Encoders.STRING(), context)
    frame = DataFrame(source.toDF(), bench.spark)
    counted = frame.groupBy("value").agg(f.count("*").alias("count"))
    query = bench.start(counted.writeStream.format("noop").outputMode("update"))
    for number in range(3):
        source.addData(jvm.PythonUtils.toSeq(["always", f"only {number}"]))
        query.processAllAvailable()
    query.stop()
    bench.record(query)


def python_source(bench: Bench) -> None:
    """A source written in Python."""
    # Spark 3.5 has no Python data sources, and this module is imported there too.
    from tests.corpus.python_source import Numbers

    bench.spark.dataSource.register(Numbers)
    frame = bench.spark.readStream.format("numbers").load()
    bench.run_until(frame.writeStream.format("noop"), 2)


SHAPES = (
    Shape("rate", "rate source", rate, EVERY),
    Shape("rate-micro-batch", "rate-micro-batch source", rate_micro_batch, EVERY),
    Shape("socket", "socket source", lines_from_socket, EVERY),
    Shape("memory", "memory stream with a count", memory_stream, EVERY),
    Shape("python-source", "Python data source", python_source, SINCE_4_0),
)
