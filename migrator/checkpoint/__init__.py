"""One-off work on checkpoints: looking into them and converting them, over the runtime's reader."""
