"""Runs of tuvl over gRPC: start, follow, find and control them."""
