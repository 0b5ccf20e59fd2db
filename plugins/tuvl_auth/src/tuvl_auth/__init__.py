"""Who is calling a server of tuvl: bearer tokens (JWT), and tokens for development."""
