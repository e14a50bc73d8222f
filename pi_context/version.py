"""The version of pi-context; the build reads it from here."""

VERSION = "0.1.0"
