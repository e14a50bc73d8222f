"""Finds keys whose mark stands in the middle or at the end, and those that are known by the shape of their start."""

from privacy.secrets.edges import is_word, opens
from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.runs import gather, piece_end, piece_start
from privacy.secrets.shapes import is_hex, is_mask


def _telegram(data: bytes, start: int, end: int) -> Span | None:
    run = gather(data, end - 2, "url64", wanted=35, most=35)
    alone = opens(data, start) or data.startswith(b"bot", start - 3)
    if not alone or len(run.body) != 35 or surprise(run.body) < -8:  # noqa: PLR2004 - the form of the token
        return None
    return Span(start, run.end, "telegram-token")


def _discord(data: bytes, start: int, _end: int) -> Span | None:
    """Three pieces: the bot's number in base64, a time, a signature."""
    first = gather(data, start, "url64", wanted=24, most=28)
    if not opens(data, start) or data[first.end : first.end + 1] != b"." or len(first.body) < 24:  # noqa: PLR2004
        return None
    second = gather(data, first.end + 1, "url64", wanted=6, most=6)
    if data[second.end : second.end + 1] != b"." or len(second.body) != 6:  # noqa: PLR2004
        return None
    third = gather(data, second.end + 1, "url64", wanted=27, most=38)
    return Span(start, third.end, "discord-token") if len(third.body) >= 27 else None  # noqa: PLR2004


def _mailchimp(data: bytes, start: int, end: int) -> Span | None:
    first = piece_start(data, start, "hex")
    if start - first != 32 or is_word(data, first - 1) or is_word(data, end):  # noqa: PLR2004
        return None
    return Span(first, end, "mailchimp-key") if is_hex(data[first:start].decode("ascii")) else None


def _maxmind(data: bytes, start: int, end: int) -> Span | None:
    first = piece_start(data, start, "word")
    good = start - first == 36 and data[first + 6 : first + 7] == b"_" and not is_word(data, end)  # noqa: PLR2004
    return Span(first, end, "maxmind-key") if good else None


def _azure_secret(data: bytes, start: int, end: int) -> Span | None:
    """Three characters, a digit, `Q~`, and 31 to 34 characters."""
    first, stop = start - 3, end
    while stop < min(len(data), end + 40) and (data[stop : stop + 1].isalnum() or data[stop : stop + 1] in b"_~.-"):
        stop += 1
    body = data[max(first, 0) : stop].rstrip(b".")
    if first < 0 or not opens(data, first) or not 36 <= len(body) <= 40 or not body.isascii():  # noqa: PLR2004
        return None
    return Span(first, first + len(body), "azure-secret") if surprise(body.decode("ascii")) > 0 else None


def _azure_key(data: bytes, start: int, end: int) -> Span | None:
    """A storage, Service Bus, Cosmos or OpenAI key: 84 or 88 characters of base64 with the maker's mark in them."""
    first, stop = piece_start(data, start, "base64"), piece_end(data, end, "base64")
    padded = stop
    while data[padded : padded + 1] == b"=":
        padded += 1
    if not (padded - first in (44, 84, 88) and start - first in (32, 33, 39, 52, 53, 75, 76, 77, 79)):
        return None
    body = data[first:stop].decode("ascii")
    return Span(first, padded, "azure-key") if not is_mask(body) and surprise(body) > 0 else None


def _terraform(data: bytes, start: int, end: int) -> Span | None:
    first, stop = piece_start(data, start, "alnum"), piece_end(data, end, "url64")
    good = start - first == 14 and 60 <= stop - end <= 70  # noqa: PLR2004 - the form of the token
    return Span(first, stop, "terraform-token") if good else None


def _otp(data: bytes, _start: int, end: int) -> Span | None:
    stop = piece_end(data, end, "upper32")
    return Span(end, stop, "otp-secret") if stop - end >= 16 else None  # noqa: PLR2004


def _sas(data: bytes, _start: int, end: int) -> Span | None:
    stop = end
    while stop < min(len(data), end + 120) and (data[stop : stop + 1].isalnum() or data[stop : stop + 1] in b"%+/=_-"):
        stop += 1
    body = data[end:stop].decode("ascii")
    return Span(end, stop, "azure-sas") if len(body) >= 43 and surprise(body) > 0 else None  # noqa: PLR2004


_DIGITS = rb"(?:[MNO][DTjz][AEIMQUYcgk][wxyz0-5]){4}"  # the base64 of a number of twelve digits

PROBES = (
    Probe(rb"[0-9]{8,10}:AA", lambda matched: matched[:1].isdigit() and matched.endswith(b":AA"), _telegram),
    Probe(_DIGITS, lambda matched: len(matched) == 16 and matched[:1] in b"MNO" and matched.isalnum(), _discord),  # noqa: PLR2004
    Probe(rb"-us[0-9]{1,2}", lambda matched: matched.startswith(b"-us"), _mailchimp),
    Probe(rb"_mmk", lambda matched: matched == b"_mmk", _maxmind),
    Probe(rb"[0-9]Q~", lambda matched: matched.endswith(b"Q~"), _azure_secret),
    Probe(
        rb"\+ASt|\+ASb|\+AEh|\+AIoT|\+ACR|\+AMC|ACDb|JQQJ99|AzFu|AzSe",
        lambda matched: matched.startswith((b"+A", b"ACDb", b"JQQJ99", b"AzFu", b"AzSe")),
        _azure_key,
    ),
    Probe(rb"\.atlasv1\.", lambda matched: matched == b".atlasv1.", _terraform),
    Probe(rb"otpauth://[^\s\"'<>]*[?&]secret=", lambda matched: matched.startswith(b"otpauth"), _otp),
    Probe(rb"[?&;]sig=", lambda matched: matched.endswith(b"sig="), _sas),
)

DETECTORS = (
    Detector(
        "telegram-token",
        "Telegram bot token",
        "8 to 10 digits, `:AA` and 33 more characters",
        ("«{dec:10}:AA{url:33}»", "https://api.telegram.org/bot«{dec:9}:AA{url:33}»/getMe"),
        ("12345678:AA", "1700000000:AAAA"),
    ),
    Detector(
        "discord-token",
        "Discord bot token",
        "the base64 of a number of 18 digits, a dot, 6 characters, a dot, 27 to 38 characters",
        ("«{discord}.{an:6}.{an:38}»",),
        ("{discord}", "{discord}.x.y"),
    ),
    Detector(
        "mailchimp-key",
        "Mailchimp API key",
        "32 hexadecimal digits and `-us` with a number",
        ("«{hex:32}-us12»",),
        ("-us1", "en-us2", "about-us1"),
    ),
    Detector(
        "maxmind-key",
        "MaxMind license key",
        "6 characters, `_`, 29 characters, `_mmk`",
        ("«{an:6}_{an:29}_mmk»",),
        ("_mmk", "name_mmk"),
    ),
    Detector(
        "azure-secret",
        "Azure client secret",
        "3 characters, a digit, `Q~`, 31 to 34 characters",
        ("«{an:3}8Q~{url:34}»",),
        ("8Q~", "abc8Q~x"),
    ),
    Detector(
        "azure-key",
        "Azure key with the maker's mark inside",
        "base64 of 44, 84 or 88 characters with `+ASt`, `+ASb`, `+AEh`, `+ACR`, `ACDb`, `JQQJ99`, `AzFu` or `AzSe` at its place",
        ("AccountKey=«{b64:76}+ASt{b64:6}==»", "«{an:52}JQQJ99{an:26}»"),
        ("+ASt", "{b64:40}+ASt{b64:300}"),
    ),
    Detector(
        "terraform-token",
        "HCP Terraform token",
        "14 characters, `.atlasv1.`, 60 to 70 characters",
        ("«{an:14}.atlasv1.{url:67}»",),
        ("x.atlasv1.y",),
    ),
    Detector(
        "otp-secret",
        "secret of a one-time password",
        "16 or more base32 characters behind `secret=` in `otpauth://`",
        ("otpauth://totp/Acme:me@example.com?secret=«{b32:32}»&issuer=Acme",),
        ("otpauth://totp/x?secret=",),
    ),
    Detector(
        "azure-sas",
        "signature of an Azure shared access URL",
        "43 or more characters behind `sig=` in a URL",
        ("https://acme.blob.core.windows.net/c/f?sv=2023-01-03&sr=b&sig=«{an:43}%3D»",),
        ("?sig=abc", "&sig=x"),
    ),
)
