"""Finds the keys that start with `sk-`: OpenAI, Anthropic, OpenRouter, Langfuse and those who followed them.

`sk-` alone is no evidence (`sk-learn`, `task-list`, CSS classes): a known family, or a long random piece must follow.
"""

from privacy.secrets.edges import is_word, opens
from privacy.secrets.letters import surprise
from privacy.secrets.model import Detector, Probe, Span
from privacy.secrets.prefixes import broken, unbroken
from privacy.secrets.runs import FAR, further, gather
from privacy.secrets.shapes import is_mask
from privacy.secrets.tokens import key_end

_FAMILIES = {  # family: kind, and how long a whole body is
    "ant-": ("anthropic-key", 80),
    "proj-": ("openai-key", 48),
    "svcacct-": ("openai-key", 48),
    "admin-": ("openai-key", 48),
    "None-": ("openai-key", 48),
    "or-v1-": ("openrouter-key", 64),
    "lf-": ("langfuse-key", 36),
}
_LONE_LOW = 20
_OPENAI_MARK = "T3BlbkFJ"


def _look(data: bytes, start: int, end: int) -> Span | None:
    if not opens(data, start):
        return None
    run = gather(data, end, "url64", wanted=_LONE_LOW, most=0)
    for family, (kind, low) in _FAMILIES.items():
        if run.body.startswith(family):
            stop = key_end(data, end, "url64", low + len(family), 0) if _random_after(run.body, len(family)) else None
            return Span(start, stop, kind) if stop else None
    for body, stop in ((run.body, run.end), (run.first, end + len(run.first))):
        longest = max(body.split("-"), key=len)
        if len(longest) >= _LONE_LOW and _random(longest) and (not is_word(data, stop) or len(body) >= FAR):
            return Span(start, further(data, stop, "url64"), "openai-key" if _OPENAI_MARK in body else "api-key")
    return None


def _random_after(body: str, family: int) -> bool:
    rest = body[family:]
    return len(rest) >= 12 and not is_mask(rest) and surprise(rest) > -0.35 * len(rest)  # noqa: PLR2004 - as in tokens


def _random(piece: str) -> bool:
    return not is_mask(piece) and not piece.isalpha() and surprise(piece) > 0


PROBE = Probe(broken([b"sk-"]), b"s", lambda matched: unbroken(matched) == b"sk-", _look)

DETECTORS = (
    Detector(
        "anthropic-key",
        "Anthropic API, admin or OAuth key",
        "`sk-ant-`, then twelve random characters or more",
        ("«sk-ant-api03-{url:93}AA»", "my key is «sk-ant-admin01-{url:93}AA» ok", "«sk-ant-oat01-{url:93}AA»"),
        ("sk-ant-", "sk-ant-your-key-here", "sk-ant-...", "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxx"),
    ),
    Detector(
        "openai-key",
        "OpenAI key: project, service account, admin, user",
        "`sk-proj-`, `sk-svcacct-`, `sk-admin-` and twelve random characters or more; `sk-` and 20 characters around "
        "`T3BlbkFJ`",
        (
            "export OPENAI_API_KEY=«sk-proj-{an:48}»",
            "«sk-proj-{url:74}T3BlbkFJ{url:74}»",
            "«sk-svcacct-{url:58}T3BlbkFJ{url:58}»",
            "«sk-{an:20}T3BlbkFJ{an:20}»",
        ),
        ("sk-proj-", "sk-proj-your-api-key", "sk-proj-...", "sk-svcacct-example"),
    ),
    Detector(
        "openrouter-key",
        "OpenRouter API key",
        "`sk-or-v1-`, then twelve random characters or more",
        ("«sk-or-v1-{hex:64}»",),
        ("sk-or-v1-", "sk-or-v1-your-key"),
    ),
    Detector(
        "langfuse-key",
        "Langfuse secret key",
        "`sk-lf-`, then a UUID or twelve random characters or more",
        ("LANGFUSE_SECRET_KEY=«sk-lf-{uuid}»",),
        ("sk-lf-", "sk-lf-your-key"),
    ),
    Detector(
        "api-key",
        "a key of another service that starts with `sk-`",
        "the word `sk-` with a piece of 20 or more random letters and digits",
        ("«sk-{hex:32}»", "DEEPSEEK_API_KEY=«sk-{hex:32}»", "«sk-{an:48}»", "key «sk-litellm-{an:24}»"),
        (
            "sk-learn",
            "sk-learn-pipeline",
            "sk-",
            "sk-your-api-key-here",
            "task-{an:32}",
            ".sk-fading-circle",
            ".sk-cube-grid .sk-cube9",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ),
    ),
)
