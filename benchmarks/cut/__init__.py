"""How much CPU `cut` takes."""
