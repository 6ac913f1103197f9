"""How much CPU `verify` takes, compared with what MySQL's own tool checks."""
