"""Codec of SMPP 3.4: frames, and the bodies that an ESME sends and reads. Everything from the peer is untrusted."""

import enum
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

HEADER = struct.Struct(">IIII")
TLV_HEADER = struct.Struct(">HH")
NUMBERS = struct.Struct(">BBB")

LONGEST = 0x11000
"""Octets of the longest PDU that is read: one with a `message_payload` of 64 KiB, and its other fields."""

LONGEST_NAME = 65
"""Octets of the longest C-octet string of the protocol, a message id, with its NUL."""

LONGEST_SHORT_MESSAGE = 254
VERSION = 0x34
RESPONSE = 0x80000000


class Command(enum.IntEnum):
    """Commands of SMPP 3.4, 5.1.2.1. A response has the command of its request with the bit `RESPONSE`."""

    submit_sm = 0x04
    deliver_sm = 0x05
    unbind = 0x06
    bind_transceiver = 0x09
    enquire_link = 0x15
    generic_nack = RESPONSE


class Tag(enum.IntEnum):
    """Optional parameters that are read or sent: SMPP 3.4, 5.3.2."""

    receipted_message_id = 0x001E
    user_message_reference = 0x0204
    sar_reference = 0x020C
    sar_total = 0x020E
    sar_sequence = 0x020F
    network_error_code = 0x0423
    message_payload = 0x0424
    message_state = 0x0427


class MalformedPdu(Exception):
    """The body of a PDU ends too early, or a field of it is invalid; the frames after it are intact."""


class LostFraming(Exception):
    """A PDU gives an impossible length, so the beginning of the next one is unknown: the connection is of no use."""


class Pdu(NamedTuple):
    """One PDU. Of a request `status` is 0."""

    command: int
    status: int
    sequence: int
    body: bytes = b""

    @property
    def is_response(self) -> bool:
        """Return whether it answers a request; a `generic_nack` does as well."""
        return bool(self.command & RESPONSE)

    def encode(self) -> bytes:
        """Return the octets of the PDU."""
        return HEADER.pack(HEADER.size + len(self.body), self.command, self.status, self.sequence) + self.body


class Frames:
    """Divides the octets of a connection into PDUs."""

    def __init__(self) -> None:
        self._octets = bytearray()

    def feed(self, octets: bytes) -> Iterator[Pdu]:
        """Yield the PDUs that are complete by now; raise `LostFraming`. Keeps at most one incomplete PDU."""
        self._octets += octets
        start = 0
        try:
            while len(self._octets) - start >= HEADER.size:
                length, command, status, sequence = HEADER.unpack_from(self._octets, start)
                if not HEADER.size <= length <= LONGEST:
                    raise LostFraming(f"a PDU of {length} octets")
                if len(self._octets) - start < length:
                    return
                body = bytes(self._octets[start + HEADER.size : start + length])
                start += length
                yield Pdu(command, status, sequence, body)
        finally:
            del self._octets[:start]


class Address(NamedTuple):
    """An address with its type of number and numbering plan: SMPP 3.4, 5.2.5 and 5.2.6."""

    ton: int
    npi: int
    digits: str


@dataclass(frozen=True, slots=True)
class ShortMessage:
    """The body of `submit_sm` and of `deliver_sm`. `payload` is the text with its user data header, if it has one."""

    source: Address
    destination: Address
    payload: bytes
    data_coding: int = 0
    esm_class: int = 0
    registered_delivery: int = 0
    protocol_id: int = 0
    service_type: str = ""
    tlvs: Mapping[int, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Login:
    """The identity by which an ESME binds."""

    system_id: str
    password: str = field(repr=False)
    system_type: str = ""


def encode_bind(login: Login) -> bytes:
    """Return the body of a `bind_transceiver` for all addresses."""
    names = _name(login.system_id) + _name(login.password) + _name(login.system_type)
    return names + NUMBERS.pack(VERSION, 0, 0) + _name("")


def encode_message(message: ShortMessage) -> bytes:
    """Return the body of a `submit_sm`; a payload of more than 254 octets becomes the parameter `message_payload`."""
    tlvs, short = dict(message.tlvs), message.payload
    if len(short) > LONGEST_SHORT_MESSAGE:
        tlvs[Tag.message_payload], short = short, b""
    head = _name(message.service_type) + _address(message.source) + _address(message.destination)
    classes = NUMBERS.pack(message.esm_class, message.protocol_id, 0)
    options = struct.pack(">BBBBB", message.registered_delivery, 0, message.data_coding, 0, len(short))
    optional = b"".join(TLV_HEADER.pack(tag, len(value)) + value for tag, value in tlvs.items())
    return head + classes + _name("") * 2 + options + short + optional


def decode_message(body: bytes) -> ShortMessage:
    """Read the body of a `deliver_sm` or `submit_sm`; raise `MalformedPdu`."""
    fields = _Fields(body)
    service_type = fields.name()
    source, destination = fields.address(), fields.address()
    esm_class, protocol_id, _priority = fields.octets(3)
    fields.name(), fields.name()  # the times of delivery and of expiry
    registered_delivery, _replace, data_coding, _predefined, length = fields.octets(5)
    short, tlvs = fields.octets(length), fields.tlvs()
    return ShortMessage(
        source,
        destination,
        tlvs.pop(Tag.message_payload, b"") or short,
        data_coding,
        esm_class,
        registered_delivery,
        protocol_id,
        service_type,
        tlvs,
    )


def decode_message_id(body: bytes) -> str:
    """Read the id of a `submit_sm_resp`, which has none after a refusal; raise `MalformedPdu`."""
    return _Fields(body if 0 in body else body + b"\0").name()


class _Fields:
    """Reads the fields of a body one after another."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._place = 0

    def name(self) -> str:
        """Read a C-octet string."""
        end = self._body.find(0, self._place, self._place + LONGEST_NAME)
        if end < 0:
            raise MalformedPdu("a text without its end")
        text = self._body[self._place : end].decode("latin-1")
        self._place = end + 1
        return "".join(filter(str.isprintable, text))

    def octets(self, count: int) -> bytes:
        """Read a number of octets."""
        found = self._body[self._place : self._place + count]
        if len(found) < count:
            raise MalformedPdu("the body ends too early")
        self._place += count
        return found

    def address(self) -> Address:
        """Read an address."""
        ton, npi = self.octets(2)
        return Address(ton, npi, self.name())

    def tlvs(self) -> dict[int, bytes]:
        """Read the optional parameters, up to the end of the body.

        Some SMSCs give the last one a wrong length. It is ignored; if it is the text, its octets are those that are
        there.
        """
        found: dict[int, bytes] = {}
        while len(self._body) - self._place >= TLV_HEADER.size:
            tag, length = TLV_HEADER.unpack(self.octets(TLV_HEADER.size))
            left = len(self._body) - self._place
            if length <= left or tag == Tag.message_payload:
                found[tag] = self.octets(min(length, left))
            else:
                self._place = len(self._body)
        return found


def _name(text: str) -> bytes:
    return text.encode("latin-1", "replace").replace(b"\0", b"") + b"\0"


def _address(address: Address) -> bytes:
    return bytes((address.ton, address.npi)) + _name(address.digits)
