"""Strikes weights off the inputs of an ONNX graph.

Some exporters list a network's weights among its inputs, used or not. Then onnxruntime asks the caller for them, or
cannot fold them. The file is a protocol buffer and only a few of its fields matter here, so no library is needed.
"""

from collections.abc import Iterator

GRAPH = 7  # of ModelProto
NODE, INITIALIZER, INPUT = 1, 5, 11  # of GraphProto
NODE_INPUT, NODE_OUTPUT, TENSOR_NAME, VALUE_NAME = 1, 2, 8, 1  # of NodeProto, TensorProto, ValueInfoProto
LENGTH_DELIMITED = 2


def strike_off(model: bytes) -> bytes:
    """The same model, with only the inputs that a node takes and that nothing in the file provides."""
    return b"".join(
        _field(number, _strike_off_graph(body)) if number == GRAPH and body is not None else raw
        for number, body, raw in _fields(model)
    )


def _strike_off_graph(graph: bytes) -> bytes:
    parts = list(_fields(graph))
    provided: set[bytes] = set()
    taken: set[bytes] = set()
    for number, body, _ in parts:
        if number == INITIALIZER and body is not None:
            provided.add(_name(body, TENSOR_NAME))
        elif number == NODE and body is not None:
            for field, name, _ in _fields(body):
                if name is not None:
                    (taken if field == NODE_INPUT else provided if field == NODE_OUTPUT else set()).add(name)
    asked = taken - provided
    return b"".join(
        raw for number, body, raw in parts if number != INPUT or body is None or _name(body, VALUE_NAME) in asked
    )


def _name(message: bytes, field: int) -> bytes:
    return next((body for number, body, _ in _fields(message) if number == field and body is not None), b"")


def _fields(message: bytes) -> Iterator[tuple[int, bytes | None, bytes]]:
    """Every field: its number, its body if it has a length, and its raw bytes."""
    at = 0
    while at < len(message):
        start = at
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        body = None
        if kind == LENGTH_DELIMITED:
            size, at = _varint(message, at)
            body = message[at : at + size]
            at += size
        elif kind == 0:
            _, at = _varint(message, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise ValueError(f"no protocol buffer: wire type {kind}")
        yield number, body, message[start:at]


def _field(number: int, body: bytes) -> bytes:
    return _to_varint(number << 3 | LENGTH_DELIMITED) + _to_varint(len(body)) + body


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def _to_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
