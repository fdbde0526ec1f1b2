"""Templates of mails: invitations, password resets and notices."""

from html import escape

from app.domain.accounts.mailer import Mail

SERVICE = "Messaging"

HTML = """\
<!doctype html>
<html lang="en">
<body style="margin:0;padding:32px 16px;background:#f6f7f9;color:#1c2024;\
font:16px/1.6 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<div style="max-width:480px;margin:0 auto;padding:32px;background:#ffffff;border:1px solid #e3e6ea;border-radius:12px">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">{title}</h1>
<p style="margin:0 0 24px;overflow-wrap:anywhere">{opening}</p>
<p style="margin:0 0 24px"><a href="{url}" style="display:inline-block;padding:10px 20px;border-radius:8px;\
background:#4f46e5;color:#ffffff;font-weight:600;text-decoration:none">{button}</a></p>
<p style="margin:0 0 8px;font-size:14px;color:#60646c">{closing}</p>
<p style="margin:0;font-size:13px;color:#60646c;word-break:break-all">{url}</p>
</div>
</body>
</html>
"""

TEXT = """\
{title}

{opening}

{url}

{closing}
"""


def invitation(to: str, company: str, url: str) -> Mail:
    """Return the mail that invites a person to an account."""
    return _mail(
        to,
        f"You are invited to {_line(company) or SERVICE}",
        title=f"Join {_line(company)} on {SERVICE}" if _line(company) else f"Join {SERVICE}",
        opening=f"You were invited to work in {_account(company)}. Choose a password to get in.",
        button="Choose a password",
        closing="The link works once, for 7 days. If you do not expect an invitation, ignore this mail.",
        url=url,
    )


def invitation_elsewhere(to: str, company: str, url: str) -> Mail:
    """Return the invitation for an e-mail address that belongs to another account, which only this mail reveals."""
    return _mail(
        to,
        f"You are invited to {_line(company) or SERVICE}",
        title=f"Join {_line(company)} on {SERVICE}" if _line(company) else f"Join {SERVICE}",
        opening=f"You were invited to work in {_account(company)}. Your e-mail address signs in to another "
        "account already, and an address belongs to one account. To join, ask to be invited under another address; or "
        "have an owner of your account remove you there, and open this link then.",
        button="Open the invitation",
        closing="The link works once, for 7 days. If you do not expect an invitation, ignore this mail: nothing "
        "changes in your account.",
        url=url,
    )


def reset(to: str, company: str, url: str) -> Mail:
    """Return the mail with a password link."""
    return _mail(
        to,
        "Choose a new password",
        title="Choose a new password",
        opening=f"A person, most likely you, asked for a new password for {to} in {_account(company)}.",
        button="Choose a new password",
        closing="The link works once, for one hour. If it was not you, ignore this mail: your password stays as it is.",
        url=url,
    )


def notice(to: str, company: str, url: str, *, subject: str, opening: str, closing: str = "") -> Mail:
    """Return a notice; the caller provides its subject and text. Without a closing it is for owners."""
    return _mail(
        to,
        _line(subject),
        title=_line(subject),
        opening=opening,
        button=f"Open {SERVICE}",
        closing=closing or f"You get this mail because you are an owner of {_account(company)}.",
        url=url,
    )


def _mail(to: str, subject: str, **parts: str) -> Mail:
    html = HTML.format(**{name: escape(part) for name, part in parts.items()})
    return Mail(to=to, subject=subject, text=TEXT.format(**parts), html=html)


def _account(company: str) -> str:
    """Return the name of an account for use within a sentence."""
    return f"the account of {_line(company)}" if _line(company) else f"a {SERVICE} account"


def _line(text: str) -> str:
    """Return a name on one line, as a mail's subject needs it."""
    return " ".join(text.split())
