"""One run, as `tuvl run` does it: input, interrupts, progress, and what is said at its end."""
