"""What users reported about secrets, each held as a kind. The number in a docstring names the report."""

import pytest
from pi_logs import entry, message, talk
from shelled import Shell, index_bytes

SECRETS = {
    "github": "ghp_" + "R4nd0mT0k3n" * 3 + "abc",
    "aws": "AKIA" + "Q7TRX2ZM5NWB4KLD",
    "password": "Vq8!rT2#zLm5pW",
}
ENV_FILE = f"GITHUB_TOKEN={SECRETS['github']}\nAWS_ACCESS_KEY_ID={SECRETS['aws']}\nDB_PASSWORD={SECRETS['password']}\nLOG_LEVEL=info"


def test_planted_credentials_come_out_nowhere(shell: Shell) -> None:
    """A13, A14, A15: no value of a planted `.env` is in any output or in any byte of the index, by its tail."""
    shell.add(
        message(1, None, "user", "show me the environment"),
        message(2, 1, "toolResult", ENV_FILE),
        message(3, 2, "bashExecution", ENV_FILE, command=f"curl -H 'Authorization: Bearer {SECRETS['github']}' x"),
        message(
            4,
            3,
            "assistant",
            "",
            content=[
                {
                    "type": "toolCall",
                    "id": "c",
                    "name": "bash",
                    "arguments": {"command": f"export T={SECRETS['github']}"},
                }
            ],
        ),
        entry(5, 4, "session_info", name=f"token {SECRETS['github']}"),
    )
    outputs = [
        shell("history", "search", word, *kind, expect=0).out
        for word in ("GITHUB_TOKEN", "LOG_LEVEL", "Authorization", "export")
        for kind in ((), ("--json",))
    ]
    reference = shell.search("LOG_LEVEL")["hits"][0]["sourceRef"]
    outputs += [shell(*words, expect=0).out for words in (
        ("history", "read", reference), ("session", "show", "00000002"), ("session", "tree", "-v"), ("session", "context", "--json"),
        ("session", "list"), ("history", "status", "--json"), ("index", "update"), ("doctor",),
    )]  # fmt: skip

    for value in SECRETS.values():
        for start in range(len(value) - 6):
            assert value[start : start + 7] not in "".join(outputs)
        assert value[-8:].encode() not in index_bytes(shell)
        assert value[-8:].lower().encode() not in index_bytes(shell)
        assert shell.found(f'"{value}"') == []
        assert shell.found(value) == [] or all(value not in shell.search(value)["hits"][0]["excerpt"] for _ in "x")


def test_a_secret_on_the_cut_leaves_no_fragment(shell: Shell) -> None:
    """A17: redaction comes before cutting, so no budget leaves half a key."""
    secret = SECRETS["github"]
    shell.add(*talk([f"zebra {'word ' * 300}{secret} {'word ' * 300} zebra"]))

    for budget in (256, 300, 400, 700, 1500):
        out = shell("history", "search", "zebra", "--json", "--max-output-tokens", budget, expect=0).out
        assert not any(secret[start : start + 6] in out for start in range(len(secret) - 5))


UNTOUCHED = [
    "9f3c2ab1d07e40c9e1d8aa55bb66cc77dd88ee99",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "019a9057-7b1e-7c44-9d05-1b6f0a3c5e21",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "/usr/lib/python3.11/site-packages/pkg_resources/_vendor/jaraco",
    "call_0123456789abcdef toolu_01A09q90qw90lq917835lq9",
    "def login(password: str = None, token=os.environ['TOKEN']): ...",
]


@pytest.mark.parametrize("text", UNTOUCHED)
def test_hashes_ids_and_paths_survive_redaction(shell: Shell, text: str) -> None:
    """A40: digests, ids, integrity strings, paths and ordinary code come back byte for byte."""
    shell.add(*talk([f"zebra {text} end"]))

    assert shell.search("zebra")["hits"][0]["excerpt"] == f"zebra {text} end"
