"""The rules: one file each. See compilelint.registry for how they are found."""
