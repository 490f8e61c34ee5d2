"""What RocksDB state leaves: keys, values, changelogs, zips, footers of tables."""
