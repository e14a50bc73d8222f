"""The doors: the shell command `pi-context` and the Python API. They alone know environment, clock and terminal."""
