"""A document that is being edited, checked again after a change in one function without interpreting the others."""
