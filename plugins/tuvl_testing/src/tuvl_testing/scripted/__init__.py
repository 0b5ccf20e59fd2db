"""A model that says what a script tells it to. It is no language model, and says so wherever it shows."""
