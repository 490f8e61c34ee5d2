"""Pages: Kafka as a source and as a sink."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

_LOSS = "KAFKA_DATA_LOSS"
_LOST = "Some data may have been lost because they are not available in Kafka any more"
"""Kafka's own classes are not in the message: the words of its reason tell them apart."""
_SOURCE = "only the brokers know; `holdfast inspect` shows the stored offsets to compare with"

PAGES: tuple[Page, ...] = (
    Page(
        "kafka-data-loss",
        "records that the checkpoint expects are no longer in Kafka",
        "The next offset to read is older than what the brokers still keep: retention was shorter "
        "than the pause, or the topic was removed.",
        (
            "`failOnDataLoss=false` and on: the query starts, the lost range is skipped without a "
            "count, and every later loss as well.",
            "A fresh checkpoint with `latest`: it loses the gap and the state.",
        ),
        (
            "Write down which offsets are missing: those of `holdfast inspect` against the "
            "earliest ones of the brokers.",
            "Fetch the lost range from where it still exists (archive, mirror, the producer) and "
            "load it by a query of its own.",
            "Then, knowingly and once, start with `failOnDataLoss=false`; set it back afterwards.",
            "Raise the topic's retention above the longest pause.",
        ),
        conditions=(
            _LOSS,
            f"{_LOSS}.COULD_NOT_READ_OFFSET_RANGE",
            f"{_LOSS}.START_OFFSET_RESET",
        ),
        fragments=(
            _LOST,
            "OffsetOutOfRangeException: … spark.sql.kafka#",
            "org.apache.kafka.clients.consumer.OffsetOutOfRangeException",
            "Offsets out of range with no configured reset policy for partitions",
        ),
        unseen=_SOURCE,
    ),
    Page(
        "kafka-topic-recreated",
        "a partition of Kafka has fewer records than the checkpoint has read",
        "The stored offset is beyond the newest one. Offsets never go back by themselves: the "
        "topic was removed and recreated, or the address points to another cluster. If the new "
        "topic were already longer, there would be no error and its first part would never be "
        "read.",
        (
            "`failOnDataLoss=false`: Spark then continues from where it is; the new topic's first "
            "records may be skipped.",
            "Waiting until the topic is long enough.",
        ),
        (
            "Check the brokers' address and the topic's id or time of creation.",
            "If it was created again: make sure that all of the old one was delivered, then run a "
            "new query with its own checkpoint and `startingOffsets=earliest`, writing under "
            "another identity in the sink.",
        ),
        conditions=(f"{_LOSS}.PARTITION_OFFSET_CHANGED",),
        fragments=(
            "offset was changed from # to #, some data may have been missed",
            "offset was changed from # to #, some data may have been missed … not available in "
            "Kafka any more; either the data was aged out by Kafka or the topic may have been",
            f"{_LOST} … Reason: Partition … offset was changed from # to #",
        ),
        unseen=_SOURCE,
    ),
    Page(
        "kafka-partitions-deleted",
        "partitions that the checkpoint knows are no longer in the topic",
        "The subscription was changed to other topics, or a topic was removed or recreated with "
        "fewer partitions.",
        (
            "`failOnDataLoss=false` to change topics: unread records of the old topics are "
            "silently lost.",
            "Editing the partitions in the offsets.",
        ),
        (
            "Bring the subscription back, and let the query read the old topics to their end.",
            "Read the new topic by a query of its own.",
        ),
        conditions=(
            f"{_LOSS}.PARTITIONS_DELETED",
            f"{_LOSS}.PARTITIONS_DELETED_AND_GROUP_ID_CONFIG_PRESENT",
            f"{_LOSS}.INITIAL_OFFSET_NOT_FOUND_FOR_PARTITIONS",
        ),
        fragments=(
            "are gone. Some data may have been missed",
            "are gone. Some data may have been missed … not available in Kafka any more; either "
            "the data was aged out by Kafka or the topic may have been",
            "have been deleted. … KafkaSource",
            f"{_LOST} … Reason: Partitions … have been deleted",
            f"{_LOST} … Reason: Cannot find initial offsets for partitions",
        ),
        codes=("HF2325",),
    ),
    Page(
        "kafka-partition-added-late",
        "a new partition of Kafka does not begin at 0",
        "A partition that the checkpoint has never seen has already lost its first records to "
        "retention, before the query got to them.",
        ("Adding the partition to the offsets by hand with the present position.",),
        (
            "Find out what the missing records were; then start once with `failOnDataLoss=false`.",
            "Start the query soon after partitions are added.",
        ),
        conditions=(f"{_LOSS}.ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO",),
        fragments=(
            "Added partition … starts from # instead of #",
            f"{_LOST} … Reason: Added partition … starts from # instead of #",
        ),
        unseen=_SOURCE,
    ),
    Page(
        "kafka-available-now",
        "the topic changed while an available-now run was at work",
        "Available-now takes the end of each partition once at its start. Partitions were added, "
        "lost or moved meanwhile. Nothing is damaged.",
        ("Another checkpoint, or another trigger: the next run takes new ends and continues.",),
        (
            "Start the run again. If it comes back, look for partitions that change all the time, "
            "and for a broker that reports older ends after a hand-over.",
        ),
        conditions=(
            "MISMATCHED_TOPIC_PARTITIONS_BETWEEN_END_OFFSET_AND_PREFETCHED",
            "END_OFFSET_HAS_GREATER_OFFSET_FOR_TOPIC_PARTITION_THAN_PREFETCHED",
            "LOST_TOPIC_PARTITIONS_IN_END_OFFSET_WITH_TRIGGER_AVAILABLENOW",
            "END_OFFSET_HAS_GREATER_OFFSET_FOR_TOPIC_PARTITION_THAN_LATEST_WITH_TRIGGER_AVAILABLENOW",
        ),
        fragments=(
            "in Trigger.AvailableNow should provide the same topic partitions in pre-fetched",
            "end offset should have lower or equal offset per each topic partition than",
            "Kafka topic(s) have been lost during running query with Trigger.AvailableNow",
            "less than end offset during running query with Trigger.AvailableNow",
        ),
        unseen="it happens between the brokers and the run",
    ),
    Page(
        "kafka-starting-offsets",
        "the starting offsets do not name exactly the topic's partitions",
        "`startingOffsets` as JSON must hold every partition. It is used at the first start only: "
        "later the checkpoint's own offsets win.",
        ("Changing `startingOffsets` to move a query that already ran: it is ignored.",),
        ("List the partitions of the topic, and give each one an offset, -2 or -1.",),
        conditions=(
            "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED",
            "KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED",
            "MISMATCHED_TOPIC_PARTITIONS_BETWEEN_START_OFFSET_AND_END_OFFSET",
        ),
        fragments=(
            "If startingOffsets contains specific offsets, you must specify all TopicPartitions",
            "offsets don't match what are assigned. Maybe topic partitions are created",
            "The specified start offset and end offset should have the same topic-partitions",
        ),
        unseen=_SOURCE,
    ),
    Page(
        "kafka-start-after-end",
        "the start of a Kafka read is after its end",
        "After resolving times and `latest`, the first offset is greater than the last: a start "
        "in the future, or a topic that was recreated.",
        ("Swapping start and end until it passes.",),
        (
            "Ask the brokers for the present ends and compare; see whether the topic is the "
            "old one.",
        ),
        conditions=(
            "RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET",
            "UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET",
        ),
        fragments=(
            "The specified start … is greater than the end … for topic … partition",
            "The resolved start offset … is greater than the resolved end offset … for topic",
        ),
        unseen=_SOURCE,
    ),
    Page(
        "kafka-initial-offsets",
        "the file with a Kafka source's first offsets cannot be read",
        "`sources/0/0` of a Kafka source contains the offsets that it began with. This file "
        "belongs to another source, or is damaged: often the query was a file stream before.",
        (
            "Removing the file: Spark then takes `startingOffsets` as they are now, and compares "
            "with offsets of another source.",
        ),
        (
            "Bring the former source back, or give the new query its own checkpoint and output.",
            "If the source is the same, put the file back byte-identical from a backup.",
        ),
        fragments=(
            "Log file was malformed: … KafkaSourceInitialOffsetWriter",
            "KafkaSourceInitialOffsetWriter.deserialize",
            'Expected e.g. {"topicA":{"#":#,"#":-#},"topicB":{"#":-#}}, got',
        ),
        codes=("HF2241",),
    ),
    Page(
        "kafka-option",
        "an option of the Kafka source is missing or not allowed",
        "Spark keeps track of offsets itself and therefore refuses some of the "
        "consumer's settings; "
        "one subscription is needed.",
        (
            "Looking for a way to let the consumer group keep the position: Spark does not use it, "
            "a restart reads from the checkpoint.",
        ),
        ("Set one of `subscribe`, `subscribePattern`, `assign`; drop the refused option.",),
        fragments=(
            "One of the following options must be specified for Kafka source",
            "Kafka option 'auto.offset.reset' is not supported",
            "Kafka option 'enable.auto.commit' is not supported",
            "Kafka option 'key.deserializer' is not supported",
            "Option 'kafka.bootstrap.servers' must be specified for configuring Kafka",
        ),
        unseen="it is refused before a checkpoint is written",
    ),
    Page(
        "kafka-no-answer",
        "Spark's Kafka source got no answer from the brokers",
        "Spark requested the end offsets of the topic and the brokers did not answer in time: "
        "address, network, TLS, credentials. The checkpoint was not changed.",
        (
            "Another checkpoint: the position is not the problem.",
            "Longer timeouts before anybody tried the address from the driver's machine.",
        ),
        (
            "Try the brokers' advertised addresses from the driver and from an executor.",
            "Then start again: the query goes on from its recorded offsets.",
        ),
        fragments=(
            "org.apache.kafka.common.errors.TimeoutException … org.apache.spark.sql.kafka#",
            "org.apache.spark.sql.kafka# … org.apache.kafka.common.errors.TimeoutException",
            "Timed out waiting for a node assignment",
            "could not be established. Node may not be available",
            "could not be established. Broker may not be available",
            "No resolvable bootstrap urls given in bootstrap.servers",
            "not present in metadata after # ms",
        ),
        unseen="it is a matter of the network",
    ),
    Page(
        "kafka-partition-leader",
        "the broker that leads a partition did not answer",
        "Spark knows the partition, and the broker that leads it is down, unreachable from this "
        "machine, or not elected yet. Often the advertised address of one broker is wrong. The "
        "checkpoint was not changed.",
        (
            "Removing the partition from the subscription: what is unread in it is left behind.",
            "Setting `failOnDataLoss=false`: nothing is lost, the broker is only silent.",
        ),
        (
            "Ask the brokers for the leader of the partition that is named, and try its "
            "advertised address from the driver and from an executor.",
            "Start the query again once it answers: it continues from its recorded offsets.",
        ),
        fragments=(
            "TimeoutException: Timeout of #ms expired before the position for partition … could "
            "be determined",
            "expired before the position for partition … could be determined",
        ),
        unseen="only a connection to the brokers shows it",
    ),
    Page(
        "kafka-not-authorized",
        "Kafka's access rules do not allow this user to read or write",
        "The brokers know the user and deny the topic, the consumer group or the transactional id "
        "by an ACL. Nothing was read or written.",
        (
            "A new consumer group or checkpoint without checking the ACL: Spark makes a new group "
            "id at each start, so an ACL for one fixed group denies the next one too.",
        ),
        (
            "Let the user READ and DESCRIBE the topic as a source, WRITE and DESCRIBE it as a "
            "sink.",
            "For the group, allow the prefix `spark-kafka-source`, or set `groupIdPrefix` or "
            "`kafka.group.id` to one that is allowed; then start again.",
        ),
        fragments=(
            "TopicAuthorizationException: Not authorized to access topics",
            "org.apache.kafka.common.errors.TopicAuthorizationException",
            "GroupAuthorizationException: Not authorized to access group",
            "org.apache.kafka.common.errors.GroupAuthorizationException",
            "ClusterAuthorizationException: Cluster authorization failed",
        ),
        unseen="access rules are kept by the brokers",
    ),
    Page(
        "kafka-login-failed",
        "Kafka did not accept the login",
        "User, password, token or SASL mechanism do not fit what the brokers expect, or they "
        "expired. The offsets stay as they are.",
        (
            "Longer timeouts or more retries: the answer stays the same.",
            "Writing the password into the code to try it: it ends up in logs and plans.",
        ),
        (
            "Compare `kafka.security.protocol`, `kafka.sasl.mechanism` and "
            "`kafka.sasl.jaas.config` with the listener that the address belongs to.",
            "Renew the password, token or keytab on the driver and on every executor, then start "
            "again.",
        ),
        fragments=(
            "org.apache.kafka.common.errors.SaslAuthenticationException",
            "SaslAuthenticationException: Authentication failed",
            "SaslAuthenticationException: An error: (java.security.PrivilegedActionException",
        ),
        unseen="credentials are not in a checkpoint",
    ),
    Page(
        "kafka-topic-unknown",
        "the brokers do not know a topic that the query reads",
        "The topic was removed, is misspelled, or belongs to another cluster. The stored offsets "
        "stay as they are; nothing was delivered.",
        (
            (
                "Recreating the topic under its name: the stored offsets then point into a "
                "different topic."
            ),
        ),
        (
            "See with the brokers' own tools whether the topic is there, and whether the address "
            "is that of the right cluster; then start again.",
        ),
        fragments=("UnknownTopicOrPartitionException: This server does not host this topic",),
        unseen=_SOURCE,
    ),
    Page(
        "kafka-sink-columns",
        "rows for the Kafka sink lack a column or a topic",
        "The sink takes `value`, and if wanted `key`, `topic`, `headers`, `partition`; a "
        "topic must "
        "come from the row or the option.",
        ("Writing null topics on purpose to drop rows.",),
        ("Select `cast(… as string) as value`, and set the option `topic`.",),
        conditions=("KAFKA_NULL_TOPIC_IN_DATA",),
        fragments=(
            "Required attribute 'value' not found",
            "topic option required when no 'topic' attribute is present",
            "null topic present in the data",
        ),
        unseen="it is refused before a checkpoint is written, or depends upon the rows",
    ),
    Page(
        "connector-missing",
        "the connector of a source or sink is not on the class path",
        "The format's jar is not there, or was built for another Spark. A restart after an upgrade "
        "without the matching connector ends here; nothing was read or written.",
        (
            "Using another format's reader for the same data: its offsets are different.",
            "Mixing a connector of another Spark or Scala release.",
        ),
        (
            "Add the connector in the version of this Spark and Scala, the same one as before "
            "where possible: some change their offsets' format.",
        ),
        conditions=("DATA_SOURCE_NOT_FOUND", "_LEGACY_ERROR_TEMP_1140"),
        fragments=(
            "Failed to find data source: … Please deploy the application as per the deployment "
            "section",
            "Failed to find data source: kafka",
            "Failed to find data source: delta",
            "Failed to find data source: iceberg",
            "Failed to find the data source: kafka",
            "Failed to find the data source: delta",
            "Failed to find the data source: iceberg",
        ),
        unseen="it is a matter of the deployment",
    ),
    Page(
        "kafka-record-too-large",
        "a record is larger than the producer or the topic accepts",
        "Spark's Kafka sink could not send one row: it exceeds `max.request.size` of the producer "
        "or `max.message.bytes` of the topic. Rows before it may be in the topic already; the "
        "batch is run again with the same offsets and sends them a second time.",
        ("Dropping the batch from the checkpoint: its other rows are lost.",),
        (
            "Raise both limits: the option `kafka.max.request.size` of the sink, and "
            "`max.message.bytes` of the topic. Then start again.",
            "Or write large values elsewhere, and only their address to the topic.",
        ),
        fragments=("RecordTooLargeException",),
        unseen="rows are measured when they are sent",
    ),
)
