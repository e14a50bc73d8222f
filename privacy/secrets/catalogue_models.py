"""Keys of providers of language models, as their makers document them. The `sk-` family is in `sk_keys.py`."""

from privacy.secrets.model import Token

TOKENS = (
    Token("huggingface-token", "Hugging Face token", ("hf_",), "alnum", 34, 40,
          ("«hf_{al:34}»", "HF_TOKEN=«hf_{an:34}»"), ("hf_model_path", "hf_transformers", "hf_{x:34}")),
    Token("huggingface-token", "Hugging Face organisation token", ("api_org_",), "alnum", 34, 40,
          ("«api_org_{al:34}»",), ("api_org_name",), plain=True),
    Token("groq-key", "Groq API key", ("gsk_",), "alnum", 50, 60, ("«gsk_{an:52}»",), ("gsk_render", "gsk_your_key")),
    Token("perplexity-key", "Perplexity API key", ("pplx-",), "alnum", 48, 60, ("«pplx-{an:48}»",),
          ("pplx-7b-online", "pplx-api")),
    Token("xai-key", "xAI API key", ("xai-",), "alnum", 60, 100, ("«xai-{an:80}»",), ("xai-org", "xai-sdk-python")),
    Token("nvidia-key", "NVIDIA API key", ("nvapi-",), "url64", 60, 80, ("«nvapi-{url:64}»",), ("nvapi-", "nvapi-key")),
    Token("replicate-token", "Replicate API token", ("r8_",), "alnum", 37, 40, ("«r8_{an:37}»",), ("r8_unorm", "r8_g8"),
          plain=True, guard=("A-Za-z0-9", 4)),
    Token("langsmith-key", "LangSmith key", ("lsv2_pt_", "lsv2_sk_"), "word", 32, 60,
          ("«lsv2_pt_{hex:32}_{hex:10}»",), ("lsv2_pt_",)),
    Token("fireworks-key", "Fireworks AI API key", ("fw_",), "alnum", 22, 40, ("«fw_{an:24}»",), ("fw_version", "fw_len"),
          plain=True, guard=("A-Za-z0-9", 4)),
    Token("cerebras-key", "Cerebras API key", ("csk-",), "alnum", 40, 60, ("«csk-{b36:48}»",), ("csk-", "csk-test"),
          plain=True),
    Token("tavily-key", "Tavily API key", ("tvly-",), "url64", 32, 60, ("«tvly-{an:32}»", "«tvly-dev-{an:32}»"),
          ("tvly-", "tvly-YOUR_API_KEY")),
    Token("voyage-key", "Voyage AI API key", ("pa-",), "url64", 43, 43, ("«pa-{url:43}»",), ("pa-system", "pa-11y-ci"),
          plain=True, guard=("A-Za-z0-9_-", 4)),
)
