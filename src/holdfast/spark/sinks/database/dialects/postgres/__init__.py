"""PostgreSQL: rows by binary COPY, all executors at once."""
