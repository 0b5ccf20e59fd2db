"""Kind APICall: one HTTP request as a step."""
