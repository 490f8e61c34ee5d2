"""Every file that a real Spark wrote decodes, and encodes to the bytes that it was."""

from __future__ import annotations

from holdfast.format.logs.checksums import (
    decode_hadoop_checksum,
    decode_spark_checksum,
    encode_hadoop_checksum,
    first_mismatch,
    matches_spark_checksum,
)
from holdfast.format.logs.log import decode_query
from holdfast.format.logs.offsets import decode_initial
from holdfast.format.state.schema import columns, decode_state_schema
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus
from tests.format.realfiles import KINDS, real_files

SAMPLES = corpus()


@over_samples("sample", SAMPLES)
def test_it_comes_out_as_it_went_in(sample: Sample) -> None:
    seen = set()
    for kind, path, data in real_files(sample):
        assert kind.encode(kind.decode(data)) == data, path
        seen.add(kind.name)
    assert "query" in seen


@over_samples("sample", SAMPLES)
def test_its_checksums_fit(sample: Sample) -> None:
    files = sample.files()
    for path, data in files.items():
        folder, _, name = path.rpartition("/")
        main = f"{folder}/{name[1:-4]}" if folder else name[1:-4]
        # A killed Spark leaves temporary files, whose checksums it never finished.
        is_side_file = name.startswith(".") and not name.startswith("..")
        if is_side_file and name.endswith(".crc") and main in files:
            checksum = decode_hadoop_checksum(data)
            assert first_mismatch(checksum, files[main]) is None, path
            assert encode_hadoop_checksum(files[main], checksum.bytes_per_sum) == data, path
    for kind, path, data in real_files(sample):
        if kind.name == "Spark checksum":
            assert matches_spark_checksum(
                decode_spark_checksum(data), files[path.removesuffix(".crc")]
            ), path


@over_samples("sample", SAMPLES)
def test_its_schemas_have_columns_and_its_id_is_well_formed(sample: Sample) -> None:
    for kind, path, data in real_files(sample):
        if kind.name == "query":
            assert decode_query(data).well_formed
        if kind.name == "state schema":
            for family in decode_state_schema(data).families:
                assert columns(family.key_json) and columns(family.value_json), path


def test_no_kind_and_no_version_is_missing_from_the_corpus() -> None:
    found = {
        (kind.name, getattr(kind.decode(data), "version", 1))
        for sample in SAMPLES
        for kind, _, data in real_files(sample)
    }
    assert {name for name, _ in found} == {kind.name for kind in KINDS}
    assert {("offsets", 2), ("commit", 2), ("commit", 3), ("operator", 2)} <= found
    assert {("state schema", 2), ("state schema", 3)} <= found


def test_kafka_and_rate_keep_where_they_began() -> None:
    kinds = {
        decode_initial(data).kind
        for sample in SAMPLES
        for path, data in sample.files().items()
        if path.startswith("sources/") and path.endswith("/0")
    }
    assert {"kafka", "rate"} <= kinds
