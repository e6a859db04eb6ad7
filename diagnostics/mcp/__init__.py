"""klinic for coding agents: a server of the Model Context Protocol over stdin and stdout."""
