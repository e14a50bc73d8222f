"""Verb: a grown session becomes a verified checkpoint session. Gates, plan and target are pure; effects come last."""
