"""Every test here works in worlds of its own, whose session logs stay as the test left them."""

from fixtures import logs_stay_untouched, made

__all__ = ["logs_stay_untouched", "made"]
