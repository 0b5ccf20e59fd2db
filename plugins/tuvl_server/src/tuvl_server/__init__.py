"""Serves workflows of tuvl over HTTP: triggers, runs, event streams and the operator API."""
