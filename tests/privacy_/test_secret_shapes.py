"""The judgements behind the detectors: random or word, which name, what a value looks like."""

import random
import string

import pytest

from privacy.secrets.letters import surprise
from privacy.secrets.names import meaning
from privacy.secrets.shapes import (
    is_call_id,
    is_code,
    is_mask,
    is_path,
    is_placeholder,
    is_plain_words,
    is_sequence,
    is_template,
    is_uuid,
)
from privacy.secrets.values import is_secret

_ALPHABETS = {
    "letters and digits": string.ascii_letters + string.digits,
    "small letters and digits": string.ascii_lowercase + string.digits,
    "capitals and digits": string.ascii_uppercase + "234567",
    "hexadecimal": "0123456789abcdef",
    "letters": string.ascii_letters,
}
WORDS = [
    "password", "configuration", "getElementById", "retry_budget", "TokenAuthentication", "max_output_tokens",
    "sha256sum",
    "kubernetes-dashboard", "PASSWORD_RESET_TIMEOUT", "application/json", "example.com", "utf8mb4_general_ci",
    "useEffect",
    "XMLHttpRequest", "node_modules", "continuation", "authorization_code", "com.example.app.settings",
    "InternalServerError",
    "left-pad", "test_redaction_twice", "DEFAULT_CHARSET", "preventDefault", "oauth2_client_credentials", "libcrypto",
]  # fmt: skip


@pytest.mark.parametrize("name", _ALPHABETS)
def test_random_characters_are_told_from_words(name: str) -> None:
    """Of 20 random characters of any alphabet at least 19 runs in 20 look random, of 40 nearly all."""
    chance = random.Random(name)
    for length, least in ((20, 950), (40, 990)):
        runs = ["".join(chance.choices(_ALPHABETS[name], k=length)) for _ in range(1_000)]
        assert sum(surprise(run) > 0 for run in runs) >= least


@pytest.mark.parametrize("word", WORDS)
def test_words_and_identifiers_are_no_random_characters(word: str) -> None:
    """What programs are made of costs a reader less than random characters."""
    assert surprise(word) < 0


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password", "password"), ("DB_PASSWORD", "password"), ("dbPassword", "password"), ("db-password", "password"),
        ("db.password", "password"), ("PGPASSWORD", "password"), ("DB_PASS", "password"), ("passwd", "password"),
        ("userPwd", "password"), ("passphrase", "password"), ("DB_PASSWORD_PROD", "password"), ("password2",
        "password"),
        ("secret", "secret"), ("clientSecret", "secret"), ("CLIENT-SECRET", "secret"), ("SECRET_KEY", "secret"),
        ("aws_secret_access_key", "secret"), ("privateKey", "secret"), ("AccountKey", "secret"), ("JWT_SECRET",
        "secret"),
        ("encryption_key", "secret"), ("client-key-data", "secret"), ("token", "token"), ("accessToken", "token"),
        ("_authToken", "token"), ("X-Auth-Token", "token"), ("GITHUB_PAT", "token"), ("jwt", "token"), ("apiKey",
        "api-key"),
        ("API_KEY", "api-key"), ("x-api-key", "api-key"), ("APIKEY", "api-key"), ("auth", "credential"),
        ("Authorization", "credential"), ("credentials", "credential"),
    ],
)  # fmt: skip
def test_a_name_says_what_its_value_is(name: str, kind: str) -> None:
    """However a name is written, its last telling word gives the kind."""
    found = meaning(name)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(
    "name",
    [
        "", "key", "name", "PASSWORD_HASHERS", "password_file", "passwordField", "secretName", "secret_id",
        "token_count",
        "max_tokens", "tokenType", "csrf_token", "nextToken", "publicKey", "primary_key", "cache_key", "author",
        "compass",
        "authenticated", "token_url", "API_KEY_HEADER", "passenger", "bypassed", "continuation_token", "pad_token",
        "PATTERN",
    ],
)  # fmt: skip
def test_a_name_that_ends_in_something_else_says_nothing(name: str) -> None:
    """A file, a count, a type, a public key or a paging token is no secret."""
    assert meaning(name) is None


@pytest.mark.parametrize(
    "value",
    ["Tr0ub4dor&3", "hunter2-Kx9", "Sommer2024!", "aB3dE5gH7jK9mN1pQ3sT5vX7", "0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
)
def test_what_a_careful_person_or_a_machine_makes_is_a_secret(value: str) -> None:
    """Behind a name that says password, in a file of settings or quoted in code, such values count."""
    assert is_secret(value, human=True, config=True, quoted=False)
    assert is_secret(value, human=True, config=False, quoted=True)


def test_only_a_name_that_says_password_or_secret_lets_a_person_have_thought_it_up() -> None:
    """Behind token or key only random values count: there stand many short words with digits."""
    assert is_secret("hunter2-Kx9", human=True, config=False, quoted=True)
    assert not is_secret("hunter2-Kx9", human=False, config=False, quoted=True)


def test_a_bare_identifier_is_a_secret_in_configuration_only() -> None:
    """`password=winter2027x` in a file of settings is a password, `password: winter2027x` in code may be a name."""
    assert is_secret("winter2027x", human=True, config=True, quoted=False)
    assert not is_secret("winter2027x", human=True, config=False, quoted=False)


def test_a_uuid_counts_only_where_keys_are_uuids() -> None:
    """An id stays readable unless its name says key, secret or password."""
    value = "8f14e45f-ceea-467f-a8d3-2b6f9c0e1d42"
    assert not is_secret(value, human=False, config=True, quoted=True)
    assert is_secret(value, human=False, config=True, quoted=True, uuid=True)


@pytest.mark.parametrize(
    ("judge", "yes", "no"),
    [
        (is_mask, ["xxxxxxxx", "********", "0000", "----"], ["xxxa", "hunter2"]),
        (
            is_template,
            ["${X}", "{{ x }}", "<token>", "$TOKEN", "abc...", "[a-z0-9]+", "%(x)s", "[redacted:jwt]"],
            ["a$b", "a<3"],
        ),
        (
            is_placeholder,
            ["changeme", "your-api-key", "test1234", "password1", "foo-bar", "EXAMPLEKEY9Zq"],
            ["hunter2-Kx9"],
        ),
        (is_sequence, ["abcdefgh", "12345678", "aaaaaaaa", "87654321"], ["hunter2-Kx9", "a1b2c3d4"]),
        (is_uuid, ["8f14e45f-ceea-467f-a8d3-2b6f9c0e1d42"], ["8f14e45f-ceea-467f-a8d3"]),
        (is_code, ["token.value", "a?.b", "Config::TOKEN", "AUTH_TOKEN", "self.x.y"], ["hunter2-Kx9", "a.b-9"]),
        (
            is_path,
            ["/run/secrets/x", "./a", "C:\\Users\\me", "src/a.py", "https://x.example/y"],
            ["hunter2-Kx9", "a+b/c=="],
        ),
        (is_plain_words, ["Kilzuhigar", "retry_budget", "left-pad", "OK"], ["fxGq", "a1", "aB3dE5", "Zq!"]),
        (is_call_id, ["call_a1B2", "toolu_01Ab", "chatcmpl_x"], ["callback", "hunter2"]),
    ],
)
def test_the_looks_of_values(judge: object, yes: list[str], no: list[str]) -> None:
    """Each judgement knows its own and leaves the others alone."""
    assert callable(judge)
    assert [value for value in yes if not judge(value)] == []
    assert [value for value in no if judge(value)] == []
