"""Kind Router: decide which way a workflow goes."""
