"""The command `tuvl db`: compares databases with the definitions, writes migrations, and applies them."""
