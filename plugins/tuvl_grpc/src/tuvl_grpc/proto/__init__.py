"""`runs.proto`, and what protoc makes of it when the distribution is built (`hatch_build.py`)."""
