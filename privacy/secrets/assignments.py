r"""Finds values behind names that promise a secret: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `Password=…;`.

Works on .env, JSON, YAML, TOML, INI, XML, Markdown, source code, command lines and connection strings, and on the same
inside strings where each quote carries backslashes; `forms.py` has the ways to write them. Only the value is the span.
"""

from collections.abc import Callable

from privacy.secrets.forms import (
    NAME_STARTS,
    follows,
    is_argument,
    is_cell,
    is_escaped,
    is_next_item,
    name_place,
)
from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Span
from privacy.secrets.names import Meaning, meaning
from privacy.secrets.places import FAR, Place, end_of, name_around, value_behind
from privacy.secrets.runs import after_break, names_a_value, piece_end
from privacy.secrets.shapes import is_hex, is_plain_words
from privacy.secrets.values import RULE, is_secret

_LONGEST_NAME = 200
_BARS, _BRACKETS = (b"|",), (b"(", b"[", b"{")
_HARMLESS_WORDS = "commit csrf xsrf page pagination continuation sync cursor cancellation idempotency"
_HARMLESS = frozenset(_HARMLESS_WORDS.split())
_MOST_OF_IT = 0.7
_LEAST_PIECE, _LONG = 6, 12
_SLACK_BITS = -3.0
_HEX = frozenset("0123456789abcdefABCDEF")
_HEX_LENGTHS = (32, 40, 48, 64, 96, 128)


def starts_a_name(matched: bytes) -> bool:
    """Tell whether a match of all triggers is one of ours: it starts with one of our words."""
    return matched[:6].lower().startswith(NAME_STARTS)


def look(data: bytes, start: int, end: int, specific: Callable[[int, int], Span | None]) -> Span | None:
    """Judge the value behind the name that was matched; the match ends with the first character of the value.

    `specific` finds a key of a known form that starts between two places: such a key gives the find its kind.
    """
    if end - start > _LONGEST_NAME or is_escaped(data[start:end]):
        return None
    first, name = name_around(data, *name_place(data, start, end - 1))
    named = meaning(name)
    if named is None or not _belongs(data, first, data[first + len(name) : end - 1], named):
        return None
    place = value_behind(data, first, name, end - 1)
    if place is None or _letters(place.text) == _letters(name):
        return None
    whole = place if place.quoted else _joined(data, place)
    place = next((one for one in (whole, place) if _is_secret(one, named)), None)
    if place is None:
        return None
    stop = end_of(data, place)
    known = specific(place.start, place.start) or specific(place.lead, place.start) or specific(place.start, stop)
    if known and known.end - known.start >= (stop - place.start) * _MOST_OF_IT:
        return Span(min(known.start, place.start), max(known.end, stop), known.kind)
    return Span(place.start, stop, named.kind)


def _belongs(data: bytes, first: int, between: bytes, named: Meaning) -> bool:
    """Tell whether the name sets the value: not in `arn:…:secret:NAME`, and a vague one only as in `NAME=value`."""
    if named.vague:
        return between == b"="
    if is_cell(between):
        return follows(data, first, _BARS)
    if data.startswith(b"--", first):
        return is_next_item(data, first, between)
    if is_argument(between):
        return follows(data, first, _BRACKETS)
    return not (between == b":" and data[max(0, first - 1) : first] in (b":", b"/")) and not (
        named.kind == "token" and _is_harmless(data, first)
    )


def _is_harmless(data: bytes, first: int) -> bool:
    """Tell whether the word before the name makes it one of those tokens that are no secret, as in `commit token:`."""
    word = name_around(data, first - 1, first - 1)[1] if data[first - 1 : first] == b" " else ""
    return word.lstrip("-").lower() in _HARMLESS


def _is_secret(place: Place, named: Meaning) -> bool:
    return is_secret(place.text, human=named.human, uuid=named.uuid, config=place.config, quoted=place.quoted)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _joined(data: bytes, place: Place) -> Place:
    r"""Follow a bare value over the line breaks that a terminal put into it.

    A line that ends in a backslash goes on in any case; otherwise only what looks random on the next line belongs.
    """
    while len(place.text) < FAR:
        start = after_break(data, place.end, place.start)
        if start is None:
            break
        explicit = data[place.end : place.end + 1] == b"\\" and data[place.end + 1 : place.end + 2] in (b"\n", b"\r")
        stop = piece_end(data, start, "dotted64")
        piece = data[start:stop].decode("ascii")
        if not (piece and (explicit or _goes_on(data, place.text, piece, stop))):
            break
        place = place._replace(end=stop, text=place.text + piece)
    return place


def _goes_on(data: bytes, text: str, piece: str, stop: int) -> bool:
    if names_a_value(data, stop) or "=" in piece.rstrip("=") or is_plain_words(piece):
        return False
    if is_hex(piece) or piece.isdigit():  # rather a commit or a number, unless it makes a whole number of bytes
        return _HEX.issuperset(text) and len(text) + len(piece) in _HEX_LENGTHS
    least = _LEAST_PIECE if len(text) >= _LONG else _LONG
    slack = _SLACK_BITS if len(piece) >= _LONG and any(char.isdigit() for char in piece) else 0.0
    return len(piece) >= least and surprise(piece) > slack


DETECTORS = (
    Detector(
        "password",
        "password, passphrase or passcode behind a name that says so",
        RULE,
        (
            "DB_PASSWORD=«correct-horse-7battery»",
            'password: "«hunter2-Kx9»"',
            "export PGPASSWORD='«{an:14}»'",
            '{"password": "«hunter2-Kx9»", "user": "a"}',
            '{\\"dbPassword\\": \\"«hunter2-Kx9»\\"}',
            "Server=db;User Id=sa;Password=«{an:14}»;Encrypt=true",
            "mysql --password=«{an:14}» -h db",
            "tool --password «hunter2-Kx9» --user me",
            "spring.datasource.password=«hunter2x9»",
            "<password>«hunter2-Kx9»</password>",
            "smtp_pass: «hunter2-Kx9»",
            'password := "«hunter2-Kx9»"',
            "  - name: DB_PASSWORD\n    value: «hunter2-Kx9»",
            "DB_PASSWORD=«correct-horse-battery-staple»",
            "'PASSWORD': '«hunter2-Kx9»',",
            'password => "«hunter2-Kx9»"',
            'password = SecretStr("«hunter2-Kx9»")',
            'const password: string = "«hunter2-Kx9»";',
        ),
        (
            "password: string",
            "password: str = None",
            "password = input()",
            "password = getpass.getpass()",
            "PASSWORD_HASHERS",
            "password=${DB_PASSWORD}",
            'password: "<password>"',
            "password: ********",
            "password: changeme",
            "password=password123",
            'password="your-password-here"',
            "password: example",
            "if password != confirm_password2:",
            "password: options.password2",
            "PASSWORD=$(cat /run/secrets/pw)",
            "DB_PASSWORD_FILE=/run/secrets/db-password1",
            "password: Annotated[str, Field(min_length=8)]",
            '"password": "Password must have 8 characters"',
            "password=[redacted:password]",
            "--password PASSWORD1",
            "password_hash = sha256(pw1).hexdigest()",
            'password: "Passwort eingeben 1"',
            "PASSWORD_MIN_LENGTH=12",
        ),
    ),
    Detector(
        "secret",
        "secret or signing, encryption, private key behind a name that says so",
        RULE,
        (
            "CLIENT_SECRET=«{an:32}»",
            "client-secret: «{url:40}»",
            'SECRET_KEY = "«{an:50}»"',
            "AccountName=acme;AccountKey=«{b64:86}==»;EndpointSuffix=core.windows.net",
            "secret=«{hex:32}»",
            "clientSecret: '«{hex:64}»'",
            "aws_secret_access_key = «{b64:40}»",
            "JWT_SECRET=«{b36:24}»",
            "client-key-data: «{b64:600}=»",
        ),
        (
            "secretName: my-secret",
            "secret: my-app-secret-v2",
            "SECRET_KEY = os.environ['SECRET_KEY']",
            "secret = {{ secret }}",
            "secretKeyRef: {name: db, key: password}",
            "clientSecret: config.clientSecret",
            "aws_secret_access_key=None",
            "STORAGE_KEY = 'app:v2:sidebar-width'",
            "secret: 123e4567",
            "arn:aws:secretsmanager:us-east-1:1:secret:MyTestSecret-a1b2c3",
        ),
    ),
    Detector(
        "token",
        "token behind a name that says so",
        RULE,
        (
            "API_TOKEN=«{an:32}»",
            'token: "«{an:40}»"',
            "?access_token=«{url:40}»&x=1",
            "auth_token = '«{hex:40}»'",
            "//registry.example.com/:_authToken=«{an:36}»",
            "tool login --token «{an:30}»",
            "refreshToken:«{url:43}»",
            "X-Auth-Token: «{an:32}»",
        ),
        (
            "token = get_token()",
            "token: token.value",
            'os.environ["TOKEN"]',
            "process.env.TOKEN",
            'getenv("X")',
            "$TOKEN",
            "token_count=4096",
            "max_tokens: 8000",
            "csrf_token",
            "csrf_token={an:32}",
            "nextToken: {an:32}",
            "token: {uuid}",
            "token = next(tokens, None)",
            'token: "identifier"',
            "TokenType: 'bearer'",
            "AUTH_TOKEN=AUTH_TOKEN",
            "token=call_{an:24}",
            'token == "function"',
            "tokens: [1, 2, 3]",
        ),
    ),
    Detector(
        "api-key",
        "API or access key behind a name that says so",
        RULE,
        (
            "API_KEY=«{hex:32}»",
            '"apiKey": "«{an:32}»"',
            "x-api-key: «{an:40}»",
            "api_key='«{url:43}»'",
            "ACME_KEY=«{an:32}»",
            "HEROKU_API_KEY=«{an:36}»",
            '\\"api_key\\":\\"«{hex:32}»\\"',
        ),
        (
            "api_key=None",
            "your-api-key-here",
            "API_KEY=your-api-key-here",
            "apiKey: process.env.API_KEY",
            'api_key="xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
            "api_key: str | None = None",
            "API_KEY=<API_KEY>",
            "api_key_id: 12",
            "AWS_ACCESS_KEY_ID",
            "publicKey: {an:40}",
            "PUBLIC_KEY={an:32}",
            "CACHE_KEY={hex:64}",
            "const MAP_KEY = '{an:20}'",
            "cache_key = f'{user}:{page}'",
        ),
    ),
    Detector(
        "credential",
        "credential or authorisation behind a name that says so",
        RULE,
        (
            '"auth": "«{basic}»"',
            "credentials = '«{an:40}»'",
            "Authorization: «{an:40}»",
            "_auth=«{basic}»",
        ),
        (
            "auth: true",
            "credentials: include",
            "authorization: required",
            "author: someone",
            "auth = HTTPBasicAuth(u, p)",
            "SERVER_AUTH = '1.3.6.1.5.5.7.3.1'",
            "credentials: 'same-origin'",
            "auth: oauth2-client-credentials",
        ),
    ),
)
