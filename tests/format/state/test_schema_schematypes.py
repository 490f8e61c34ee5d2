"""A struct type's JSON becomes columns in the words of Spark's DDL."""

from __future__ import annotations

import pytest

from holdfast.errors import DecodeError
from holdfast.format.state.schema import Column, columns


def schema_of(type_json: str) -> str:
    field = f'{{"name":"c","type":{type_json},"nullable":true,"metadata":{{}}}}'
    return f'{{"type":"struct","fields":[{field}]}}'


INNER = schema_of('"long"')


@pytest.mark.parametrize(
    ("type_json", "text"),
    [
        ('"long"', "bigint"),
        ('"integer"', "int"),
        ('"short"', "smallint"),
        ('"byte"', "tinyint"),
        ('"string"', "string"),
        ('"void"', "void"),
        ('"null"', "void"),
        ('"decimal(10,2)"', "decimal(10,2)"),
        ('"timestamp_ntz"', "timestamp_ntz"),
        ('"interval day to second"', "interval day to second"),
        ('"a type of a later Spark"', "a type of a later Spark"),
        (INNER, "struct<c:bigint>"),
        ('{"type":"array","elementType":"integer","containsNull":true}', "array<int>"),
        (
            '{"type":"map","keyType":"string","valueType":' + INNER + ',"valueContainsNull":true}',
            "map<string,struct<c:bigint>>",
        ),
        ('{"type":"udt","class":"x","sqlType":"double"}', "double"),
    ],
)
def test_types_are_spelled_as_ddl(type_json: str, text: str) -> None:
    assert columns(schema_of(type_json)) == (Column("c", text, True),)


def test_names_may_repeat_and_order_is_kept() -> None:
    field = '{"name":"sum","type":"long","nullable":false,"metadata":{}}'
    schema = f'{{"type":"struct","fields":[{field},{field}]}}'
    assert columns(schema) == (Column("sum", "bigint", False),) * 2
    assert columns('{"type":"struct","fields":[]}') == ()


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "{    }",
        "[]",
        '"string"',
        '{"type":"array","fields":[]}',
        '{"type":"struct"}',
        '{"type":"struct","fields":{}}',
        '{"type":"struct","fields":[1]}',
        '{"type":"struct","fields":[{"name":"a","type":"long"}]}',
        '{"type":"struct","fields":[{"type":"long","nullable":true}]}',
        '{"type":"struct","fields":[{"name":"a","nullable":true}]}',
        schema_of('{"type":"tensor"}'),
        schema_of('{"type":"array"}'),
        schema_of("[]"),
    ],
)
def test_what_is_no_struct_type_is_refused(schema: str) -> None:
    with pytest.raises(DecodeError) as caught:
        columns(schema)
    assert caught.value.code.number == "HF2115"
