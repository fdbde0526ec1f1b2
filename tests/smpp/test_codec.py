"""PDUs, texts and receipts: round trips, a second codec, and octets of any kind."""

import asyncio
from dataclasses import replace

import pytest
import smpp34
from hypothesis import given
from hypothesis import strategies as st

from app.domain.carriers.carrier import FailureCode, Receipt, ReceiptStatus
from app.domain.kernel import sms_parts
from app.providers.carriers.smpp import addresses, pdu, receipts, text
from app.providers.carriers.smpp.pdu import RESPONSE, Address, Command, Frames, MalformedPdu, Pdu, ShortMessage, Tag
from app.providers.carriers.smpp.session import USUAL, Session
from app.providers.carriers.smpp.text import Alphabet, Place
from tests.smpp.smscs import Inbox, message

OCTET = st.integers(0, 255)
NAMES = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20)
ADDRESSES = st.builds(Address, OCTET, OCTET, NAMES)
TLVS = st.dictionaries(st.integers(0, 0xFFFF).filter(lambda tag: tag != Tag.message_payload), st.binary(max_size=20))
MESSAGES = st.builds(
    ShortMessage, ADDRESSES, ADDRESSES, st.binary(max_size=600), OCTET, OCTET, OCTET, OCTET, st.just("CMT"), TLVS
)
GSM_7 = st.text(st.sampled_from(sms_parts.DEFAULT_ALPHABET + sms_parts.EXTENSION_TABLE), max_size=600)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=400)


@given(MESSAGES)
def test_a_message_reads_as_it_was_written(written: ShortMessage):
    assert pdu.decode_message(pdu.encode_message(written)) == written


@given(MESSAGES)
def test_another_codec_reads_the_same(written: ShortMessage):
    read = smpp34.decode(Pdu(Command.submit_sm, 0, 7, pdu.encode_message(written)).encode())

    assert isinstance(read, smpp34.SubmitSm)
    tlvs = {tlv.tag: tlv.value for tlv in read.tlvs}
    assert (read.source_addr_ton, read.source_addr_npi, read.source_addr) == written.source
    assert (read.dest_addr_ton, read.dest_addr_npi, read.destination_addr) == written.destination
    assert (tlvs.pop(Tag.message_payload, b"") or read.short_message) == written.payload
    assert tlvs == written.tlvs
    assert (read.data_coding, read.esm_class, read.registered_delivery, read.protocol_id) == (
        written.data_coding,
        written.esm_class,
        written.registered_delivery,
        written.protocol_id,
    )


@given(st.lists(st.builds(Pdu, OCTET, OCTET, OCTET, st.binary(max_size=40)), max_size=5), st.integers(1, 30))
def test_frames_do_not_depend_on_how_octets_arrive(pdus: list[Pdu], size: int):
    octets = b"".join(each.encode() for each in pdus)
    frames = Frames()

    read = [each for at in range(0, len(octets), size) for each in frames.feed(octets[at : at + size])]

    assert read == pdus


@given(st.binary(max_size=120))
def test_any_body_is_read_or_malformed(body: bytes):
    try:
        read = pdu.decode_message(body)
    except MalformedPdu:
        return
    receipts.read(read)
    assert "\0" not in text.decode(text.read_header(read.payload)[1], read.data_coding)
    assert addresses.decode(read.source).isprintable()


@given(GSM_7 | TEXTS, st.sampled_from(Alphabet))
def test_the_parts_of_a_text_are_read_as_the_text(body: str, alphabet: Alphabet):
    parts = text.split(body, 0x1FE, alphabet)

    read = [text.read_header(part.octets) if part.has_header else (None, part.octets) for part in parts]
    octets = b"".join(piece for _, piece in read)
    assert text.decode(octets, parts[0].data_coding, alphabet) == body
    assert all(len(part.octets) <= (160 if part.data_coding != text.UCS_2 else 140) for part in parts)
    if len(parts) > 1:
        assert [place for place, _ in read] == [Place(0xFE, len(parts), at) for at in range(1, len(parts) + 1)]
    if alphabet is Alphabet.gsm_7:
        assert len(parts) == sms_parts.count(body).segments


@pytest.mark.parametrize(
    ("number", "address"),
    [
        ("+12025550143", Address(1, 1, "12025550143")),
        ("24680", Address(3, 0, "24680")),
        ("Iron House", Address(5, 0, "Iron House")),
    ],
)
def test_the_address_of_a_sender_follows_from_its_kind(number: str, address: Address):
    assert addresses.encode(number) == address
    assert addresses.decode(address) == number


@pytest.mark.parametrize(
    ("address", "number"),
    [
        (Address(0, 1, "12025550143"), "+12025550143"),
        (Address(2, 1, "442071838750"), "+442071838750"),
        (Address(1, 1, "+442071838750"), "+442071838750"),
        (Address(0, 0, "24680"), "24680"),
        (Address(5, 0, "12025550143"), "12025550143"),
        (Address(0, 0, "0000000000"), "0000000000"),
    ],
)
def test_numbers_are_read_whatever_type_the_smsc_gives(address: Address, number: str):
    assert addresses.decode(address) == number


@pytest.mark.parametrize(
    ("octets", "data_coding", "body"),
    [
        (b"caf\x05 \x1be", 0x00, "café €"),
        (b"caf\x05", 0xF1, "café"),
        (b"caf\xe9", 0x03, "café"),
        (b"\x04\x16\xd8\x3d\xdc\x4b", 0x08, "Ж👋"),
        (b"\x04\x16", 0x18, "Ж"),
        (b"\x04\x16", 0x48, "Ж"),
        (b"\x04\x16", 0xE0, "Ж"),
        (b"\x00", 0x40, "@"),
        (b"\x00", 0xD0, "@"),
        (b"\x04\x16\xd8", 0x08, "Ж"),
        (b"\xd8\x3d", 0x08, "\ufffd"),
        (b"caf\xe9\0", 0x04, "café"),
        (b"\xd0", 0x06, "а"),
        (b"a\x1b", 0x00, "a"),
        (b"a\x1bz\x1b\x1bb", 0x00, "az b"),
    ],
)
def test_each_data_coding_is_read(octets: bytes, data_coding: int, body: str):
    assert text.decode(octets, data_coding) == body


def test_a_text_that_latin_1_lacks_is_sent_in_ucs_2():
    assert [part.data_coding for part in text.split("10 €", 1, Alphabet.latin_1)] == [text.UCS_2]
    assert [part.data_coding for part in text.split("10 £", 1, Alphabet.latin_1)] == [3]


@pytest.mark.parametrize(
    "octets", [b"", b"\x05", b"\x05\x00\x03", b"\x05\x00\x03\x01\x02\x03Hi", b"\x05\x00\x03\x01\x00\x00Hi"]
)
def test_a_header_without_a_valid_place_makes_a_text_of_its_own(octets: bytes):
    assert text.read_header(octets)[0] is None


def test_references_of_8_and_of_16_bits_are_read():
    assert text.read_header(b"\x05\x00\x03\xaa\x02\x01Hi") == (Place(0xAA, 2, 1), b"Hi")
    assert text.read_header(b"\x0a\x05\x02\x0b\x84\x08\x04\xab\xcd\x03\x02Hi") == (Place(0xABCD, 3, 2), b"Hi")


FULL = (
    "id:0406AB sub:001 dlvrd:001 submit date:2611230930 done date:2611230931 stat:{stat} err:{error} text:id:9 stat:X"
)


@pytest.mark.parametrize(
    ("stat", "error", "receipt"),
    [
        ("DELIVRD", "000", Receipt("m", ReceiptStatus.delivered, "DELIVRD")),
        ("ENROUTE", "000", Receipt("m", ReceiptStatus.sent, "ENROUTE")),
        ("UNKNOWN", "000", Receipt("m", ReceiptStatus.unconfirmed, "UNKNOWN")),
        ("UNDELIV", "027", Receipt("m", ReceiptStatus.failed, "UNDELIV", FailureCode.unreachable, "UNDELIV err:027")),
        ("EXPIRED", "0", Receipt("m", ReceiptStatus.failed, "EXPIRED", FailureCode.expired, "EXPIRED")),
        ("rejectd", "5", Receipt("m", ReceiptStatus.failed, "REJECTD", FailureCode.message_rejected, "REJECTD err:5")),
    ],
)
def test_the_text_of_a_receipt_is_read(stat: str, error: str, receipt: Receipt):
    read = receipts.read(delivery(FULL.format(stat=stat, error=error)))

    assert read
    assert read.id == "0406AB"
    assert read.receipt("m") == receipt


def test_the_parameters_of_a_receipt_count_before_its_text():
    tlvs = {Tag.receipted_message_id: b"77\0", Tag.message_state: b"\x05", Tag.network_error_code: b"\x03\x00\x0b"}

    read = receipts.read(delivery(FULL.format(stat="DELIVRD", error="000"), tlvs))

    assert read == receipts.SmscReceipt("77", "UNDELIV", "err:11")


@pytest.mark.parametrize("tail", [b"\x02\x04\x00\x02\x01", b"\x14\x03\xff\xff", b"\x14\x03\x00", b"\x14"])
def test_a_last_parameter_that_ends_too_early_is_ignored(tail: bytes):
    given = replace(message("STOP"), tlvs={Tag.user_message_reference: b"\x00\x07"})

    assert pdu.decode_message(pdu.encode_message(given) + tail) == given


def test_a_text_in_a_parameter_that_ends_too_early_is_read_as_far_as_it_is_there():
    without = replace(message("STOP"), payload=b"")

    read = pdu.decode_message(pdu.encode_message(without) + b"\x04\x24\x00\x05STOP")

    assert read == message("STOP")


def test_a_delivery_that_names_a_message_is_a_receipt_whatever_its_class_says():
    receipt = delivery(FULL.format(stat="DELIVRD", error="000"), {Tag.receipted_message_id: b"77\0"})
    text_of_a_phone = replace(receipt, esm_class=0, tlvs={})

    assert receipts.is_receipt(replace(receipt, esm_class=0))
    assert not receipts.is_receipt(text_of_a_phone)


def test_a_receipt_without_an_id_names_no_message():
    assert receipts.read(delivery("stat:DELIVRD")) is None


@pytest.mark.parametrize(
    ("id", "spellings"),
    [
        ("0406", {"same": "406", "hexadecimal": "196", "decimal": "1030"}),
        ("1A2B", {"same": "1a2b", "decimal": "6699"}),
        ("abc-1", {"same": "abc-1"}),
        ("0000", {"same": "0", "hexadecimal": "0", "decimal": "0"}),
        ("9" * 30, {"same": "9" * 30}),
    ],
)
def test_an_id_has_a_spelling_in_each_base(id: str, spellings: dict[str, str]):
    assert receipts.spellings(id) == spellings


def delivery(payload: str, tlvs: dict[int, bytes] | None = None) -> ShortMessage:
    here = Address(1, 1, "1")
    return ShortMessage(here, here, payload.encode(), esm_class=receipts.IS_RECEIPT, tlvs=tlvs or {})


class Wire(asyncio.Transport):
    """A transport without a peer, for a session that is fed by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.is_aborted = False
        self.written = Frames()
        self.answers: list[Pdu] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.answers += self.written.feed(bytes(data))

    def abort(self) -> None:
        self.is_aborted = True


COMMANDS = st.sampled_from([*Command, *(each | RESPONSE for each in Command)]) | st.integers(0, 2**32 - 1)
NUMBERS = st.integers(0, 2**32 - 1)
BODIES = st.binary(max_size=60) | st.just(pdu.encode_message(message()))
PDUS = st.builds(lambda *fields: Pdu(*fields).encode(), COMMANDS, NUMBERS, NUMBERS, BODIES)


@given(st.lists(PDUS | st.binary(max_size=60), max_size=6))
def test_any_octets_of_the_peer_are_answered_or_end_the_session(chunks: list[bytes]):
    async def feed() -> None:
        session, wire = Session(1, USUAL, Inbox()), Wire()
        session.connection_made(wire)
        session._is_bound = True
        for chunk in chunks:
            session.data_received(chunk)
        await asyncio.gather(*session._deliveries)

        assert wire.is_aborted == session.ended.done()
        if session.ended.done():
            assert session.ended.result() == "the SMSC unbound" or session.ended.result().startswith("a PDU of ")
        assert {each.command for each in wire.answers} <= ANSWERS

    asyncio.run(feed())


ANSWERS = {RESPONSE | each for each in (0, Command.deliver_sm, Command.enquire_link, Command.unbind)}
