"""The paid call, made safe: agents, the ledger of attempts, the caller, and debates run through it."""
