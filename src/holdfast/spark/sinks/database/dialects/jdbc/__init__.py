"""Any database with a JDBC driver, by plain SQL."""
