"""Writes batches to tables: PostgreSQL by COPY, any other database through JDBC."""
