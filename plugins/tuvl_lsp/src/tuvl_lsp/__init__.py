"""A language server for the YAML files of tuvl projects."""
