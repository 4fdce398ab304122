"""Programs around a TF1 session: what their checkpoints become, as code to be shown."""
