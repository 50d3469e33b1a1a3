"""The language server. It is the only part of the tool that needs pygls and lsprotocol, the extra `server`."""
