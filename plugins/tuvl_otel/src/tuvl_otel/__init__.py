"""Traces, metrics and structured logs of tuvl, through the OpenTelemetry SDK."""
