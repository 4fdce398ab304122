"""What a model_fn computes in each mode, and which statements a value depends on."""
