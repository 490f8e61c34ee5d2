"""Files of state: records, schemas, operator metadata, codecs and checksums."""
