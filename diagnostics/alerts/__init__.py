"""Tell people about a run: webhooks and commands, each message once, without holding up whoever watches."""
