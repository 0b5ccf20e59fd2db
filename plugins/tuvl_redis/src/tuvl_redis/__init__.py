"""Many workers of tuvl as one: runs and loops seen and controlled from any of them, through Redis."""
