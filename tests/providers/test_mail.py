"""Sending mail: into a folder, and to a server."""

import email
import os
import re
import stat
from email.policy import default
from pathlib import Path

import pytest

from app.domain.accounts import mail_templates
from app.domain.accounts.mailer import Mail, MailNotSent
from app.providers.mail import open_mail
from app.providers.mail.folder import Folder
from app.providers.mail.smtp import InvalidMailServer, Smtp
from app.settings import Settings
from tests.providers.mail_server import serving_mail

SENDER = "Messaging <mail@sms.example.com>"
LETTER = mail_templates.invitation(
    "ann@example.com", "Blue\nDoor & <b>Sons</b> ☎", "https://sms.example.com/password/x"
)


async def test_without_a_server_mail_is_written_where_only_its_owner_reads_it(tmp_path: Path) -> None:
    await Folder(tmp_path / "mail", SENDER).send(LETTER)

    [path] = (tmp_path / "mail").iterdir()
    assert (path.suffix, stat.S_IMODE(path.stat().st_mode)) == (".eml", 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    _check(path.read_bytes())


async def test_with_a_server_mail_is_handed_to_it() -> None:
    async with serving_mail() as server:
        await Smtp(f"smtp://{server.url}", SENDER).send(LETTER)

    assert [line.split()[0] for line in server.said] == ["EHLO", "MAIL", "RCPT", "DATA", "QUIT"]
    assert server.said[1].startswith("MAIL FROM:<mail@sms.example.com>")
    assert server.said[2] == "RCPT TO:<ann@example.com>"
    _check(server.mails[0].removesuffix(b".\r\n"))


async def test_a_password_is_never_sent_without_tls() -> None:
    async with serving_mail() as server:
        with pytest.raises(MailNotSent, match=r"STARTTLS"):
            await Smtp(f"smtp://ann:s%40cret@{server.url}", SENDER).send(LETTER)

    assert "AUTH" not in " ".join(server.said)
    assert server.mails == []


async def test_a_server_that_refuses_or_is_away_is_told_of() -> None:
    async with serving_mail("no such mailbox") as server:
        with pytest.raises(MailNotSent, match=r"no such mailbox"):
            await Smtp(f"smtp://{server.url}", SENDER).send(LETTER)

    with pytest.raises(MailNotSent, match=rf"^{server.url}: "):
        await Smtp(f"smtp://{server.url}", SENDER).send(LETTER)


async def test_an_address_is_written_to_as_it_stands_and_nothing_in_it_is_decoded() -> None:
    to = "=?utf-8?q?victim=40corp.com=2C?=@example.com"
    async with serving_mail() as server:
        await Smtp(f"smtp://{server.url}", SENDER).send(Mail(to, "Hi", "Hi", "<p>Hi</p>"))

    assert [line for line in server.said if line.startswith("RCPT")] == [f"RCPT TO:<{to}>"]


async def test_an_address_cannot_smuggle_in_a_header(tmp_path: Path) -> None:
    to = "ann@example.com\r\nBcc: all@example.com"
    with pytest.raises(MailNotSent):
        await Folder(tmp_path / "mail", SENDER).send(Mail(to, "Hi", "Hi", "<p>Hi</p>"))

    assert os.listdir(tmp_path) == []


async def test_a_folder_that_cannot_be_written_to_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("in the way")

    with pytest.raises(MailNotSent):
        await Folder(tmp_path / "mail", SENDER).send(LETTER)


@pytest.mark.parametrize("url", ["mail.example.com", "http://mail.example.com", "smtp://", "smtp:///x"])
def test_an_address_of_a_server_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidMailServer, match=r"^MESSAGING_SMTP_URL must look like "):
        Smtp(url, SENDER)


def test_the_settings_choose_the_way(settings: Settings) -> None:
    assert isinstance(open_mail(settings), Folder)
    named = Settings(_env_file=None, smtp_url="smtps://ann:hunter2@mail.example.com")  # type: ignore[call-arg]
    assert isinstance(open_mail(named), Smtp)
    assert "hunter2" not in repr(named)


def _check(raw: bytes) -> None:
    mail = email.message_from_bytes(raw, policy=default)
    assert (mail["From"], mail["To"]) == (SENDER, "ann@example.com")
    assert mail["Subject"] == "You are invited to Blue Door & <b>Sons</b> ☎"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"].endswith("@sms.example.com>")
    text, html = (mail.get_body((kind,)).get_content() for kind in ("plain", "html"))  # type: ignore[union-attr]
    assert "https://sms.example.com/password/x" in text
    assert "Join Blue Door & <b>Sons</b> ☎ on Messaging" in text
    assert "Join Blue Door &amp; &lt;b&gt;Sons&lt;/b&gt; ☎ on Messaging" in html
    assert re.findall(r'href="([^"]*)"', html) == ["https://sms.example.com/password/x"]
