"""The transforms of this project: a streaming DataFrame in, a streaming DataFrame out."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as f


def clean(source: DataFrame) -> DataFrame:
    """Keep what can be an order: it has an id, a customer and an amount."""
    return source.where("order_id is not null and customer is not null and amount > 0")


def totals(source: DataFrame) -> DataFrame:
    """Sum up what each customer has ordered so far."""
    return source.groupBy("customer").agg(
        f.count("*").alias("orders"),
        f.sum("amount").alias("amount"),
        f.max("ordered_at").alias("last_ordered_at"),
    )
