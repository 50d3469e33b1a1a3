"""The fixes that rules share, and what they ask of the code at hand. Rules get them from the sdk."""
