"""Kind Response: what a run answers."""
