"""What a program means: names -> symbols -> facts -> units. Standard library only."""
