"""Operator console of tuvl: one page that shows live runs and lets operators act on them."""
