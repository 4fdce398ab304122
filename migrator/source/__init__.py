"""Files in, files out: finding them, reading them as documents, writing them back."""
