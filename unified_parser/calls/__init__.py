"""Call syntaxes: how one tool call is written inside a tools block."""
