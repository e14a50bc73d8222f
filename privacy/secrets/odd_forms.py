"""Finds keys whose mark stands in the middle or at the end, and those that are known by the shape of their start."""

from privacy.secrets.edges import is_word, opens
from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.prefixes import broken, literal, unbroken
from privacy.secrets.runs import further, gather, gather_back
from privacy.secrets.shapes import is_mask, is_sequence


def _telegram(data: bytes, start: int, _end: int) -> Span | None:
    run = gather(data, start + 1, "url64", wanted=35, most=35)
    if len(run.body) != 35 or surprise(run.body) < -8:  # noqa: PLR2004 - the form of the token
        return None
    for digits in (10, 9, 8):
        first = gather_back(data, start, "decimal", digits)
        if first is not None and (opens(data, first) or data.startswith(b"bot", first - 3)):
            return Span(first, run.end, "telegram-token")
    return None


def _discord(data: bytes, start: int, _end: int) -> Span | None:
    """Judge three pieces: the bot's number in base64, a time, a signature."""
    first = gather(data, start, "url64", wanted=24, most=28)
    if not opens(data, start) or data[first.end : first.end + 1] != b"." or len(first.body) < 24:  # noqa: PLR2004
        return None
    second = gather(data, first.end + 1, "url64", wanted=6, most=6)
    if data[second.end : second.end + 1] != b"." or len(second.body) != 6:  # noqa: PLR2004
        return None
    third = gather(data, second.end + 1, "url64", wanted=27, most=38)
    return Span(start, third.end, "discord-token") if len(third.body) >= 27 else None  # noqa: PLR2004


def _mailchimp(data: bytes, start: int, end: int) -> Span | None:
    first = gather_back(data, start, "hex", 32)
    if first is None or not opens(data, first) or is_word(data, end):
        return None
    return Span(first, end, "mailchimp-key") if surprise(_letters(data, first, start)) > 0 else None


def _maxmind(data: bytes, start: int, end: int) -> Span | None:
    first = gather_back(data, start, "word", 36)
    if first is None or not opens(data, first) or is_word(data, end):
        return None
    text = _letters(data, first, start)
    return Span(first, end, "maxmind-key") if text[6:7] == "_" and surprise(text) > 0 else None


def _azure_secret(data: bytes, start: int, end: int) -> Span | None:
    """Judge three characters, a digit, `Q~`, and 31 to 34 characters."""
    first = gather_back(data, start, "secret", 3)
    run = gather(data, end, "secret", wanted=31, most=34)
    body = run.body.rstrip(".")
    if first is None or not opens(data, first) or len(body) < 31:  # noqa: PLR2004 - the form of the secret
        return None
    return Span(first, run.end - len(run.body) + len(body), "azure-secret") if surprise(body) > 0 else None


def _azure_key(data: bytes, start: int, end: int) -> Span | None:
    """Judge a key of Storage, Service Bus, Cosmos DB or OpenAI: base64 with the maker's mark at its place."""
    for before, after in _AZURE_FORMS.get(data[start:end], ()):
        first = gather_back(data, start, "base64", before)
        run = gather(data, end, "base64", wanted=after, most=after)
        if first is not None and len(run.body) == after and opens(data, first) and not is_word(data, run.end):
            stop = run.end
            while data[stop : stop + 1] == b"=":
                stop += 1
            return Span(first, stop, "azure-key") if surprise(run.body + _letters(data, first, start)) > 0 else None
    return None


def _terraform(data: bytes, start: int, end: int) -> Span | None:
    first = gather_back(data, start, "alnum", 14)
    run = gather(data, end, "url64", wanted=60, most=70)
    return Span(first, run.end, "terraform-token") if first is not None and len(run.body) >= 60 else None  # noqa: PLR2004


def _otp(data: bytes, _start: int, end: int) -> Span | None:
    run = gather(data, end, "upper32", wanted=32, most=64)
    return Span(end, run.end, "otp-secret") if len(run.body) >= 16 else None  # noqa: PLR2004 - 80 bits


def _sas(data: bytes, _start: int, end: int) -> Span | None:
    run = gather(data, end, "escaped64", wanted=46, most=120)
    return Span(end, run.end, "azure-sas") if len(run.body) >= 43 and surprise(run.body) > 0 else None  # noqa: PLR2004


def _signed(data: bytes, _start: int, end: int) -> Span | None:
    run = gather(data, end, "hex", wanted=_SIGNATURE, most=0)
    good = len(run.body) >= _SIGNATURE and not is_mask(run.body) and not is_sequence(run.body)
    return Span(end, further(data, run.end, "hex"), "signed-url") if good else None


def _letters(data: bytes, start: int, end: int) -> str:
    return unbroken(data[start:end]).decode("ascii", "replace")


_AZURE_FORMS = {  # mark: how many characters stand before and after it
    b"+ASt": ((76, 6),), b"+ASb": ((33, 6),), b"+AEh": ((33, 6),), b"+AIoT": ((32, 6),), b"+ACR": ((42, 6),),
    b"+AMC": ((33, 6),), b"ACDb": ((76, 6),), b"JQQJ99": ((52, 26),), b"AzFu": ((44, 6),), b"AzSe": ((42, 6),),
    b"AZDO": ((76, 4),),
}  # fmt: skip
_SIGNATURE = 64
_DIGITS = rb"(?:[MNO][DTjz][AEIMQUYcgk][wxyz0-5]){2}"  # the base64 of a number of six digits

PROBES = (
    Probe(rb":AA[A-Za-z0-9_-]", b":", lambda matched: matched.startswith(b":AA"), _telegram),
    Probe(_DIGITS, b"MNO", lambda matched: len(matched) == 8 and matched[:1] in b"MNO" and matched.isalnum(), _discord),  # noqa: PLR2004
    Probe(rb"-us[0-9]{1,2}", b"-", lambda matched: matched.startswith(b"-us"), _mailchimp),
    Probe(broken([b"_mmk"]), b"_", lambda matched: unbroken(matched) == b"_mmk", _maxmind),
    Probe(rb"[0-9]Q~", b"0123456789", lambda matched: matched.endswith(b"Q~"), _azure_secret),
    Probe(
        b"|".join(literal(mark) for mark in _AZURE_FORMS),
        b"+AJ",
        lambda matched: matched in _AZURE_FORMS,
        _azure_key,
    ),
    Probe(broken([b".atlasv1."]), b".", lambda matched: unbroken(matched) == b".atlasv1.", _terraform),
    Probe(rb"otpauth://[^\s\"'<>]*[?&]secret=", b"o", lambda matched: matched.startswith(b"otpauth"), _otp),
    Probe(
        rb"(?i:x-(?:amz|goog)-signature)(?:\\*[\"'])?(?:[ \t]*[:=]|%3D)[ \t]*(?:\\*[\"'])?",
        b"xX",
        lambda matched: matched[1:2] == b"-" and b"-signature" in matched.lower(),
        _signed,
    ),
    Probe(rb"[?&;]sig=", b"?&;", lambda matched: matched.endswith(b"sig="), _sas),
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
        "base64 with `+ASt`, `+ASb`, `+AEh`, `+ACR`, `ACDb`, `JQQJ99`, `AzFu` or `AzSe` at its place",
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
    Detector(
        "signed-url",
        "signature of a shared address of Amazon S3 or Google Cloud Storage",
        "64 or more hexadecimal digits behind `X-Amz-Signature=` or `X-Goog-Signature=`",
        (
            "https://acme.s3.amazonaws.com/f?X-Amz-Expires=600&X-Amz-Signature=«{hex:64}»",
            "https://storage.googleapis.com/b/f?X-Goog-Expires=600&X-Goog-Signature=«{hex:512}»&x=1",
            '"X-Amz-Signature": "«{hex:64}»"',
        ),
        ("X-Amz-Signature=abc", "X-Amz-Signature={x:64}", "X-Amz-Signature=<signature>"),
    ),
)
