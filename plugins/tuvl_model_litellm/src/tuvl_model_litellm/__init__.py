"""Language models of every provider, through LiteLLM; the only place that imports it."""
