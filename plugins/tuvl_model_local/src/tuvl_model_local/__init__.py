"""A real language model on this machine: `local/smollm2-135m`, or any GGUF file."""
