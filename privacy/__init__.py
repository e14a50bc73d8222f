"""Matter: classifications, inline markers, audiences, and the secrets that no answer may carry.

Everything here is a pure function of text and settings. Order everywhere: classify, redact, mask, cut.
"""
