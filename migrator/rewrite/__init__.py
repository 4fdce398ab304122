"""Units -> plan -> libcst edits; one file per construct."""
