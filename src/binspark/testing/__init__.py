"""What tests of binlog readers need: logs built by hand, and real servers that write them."""
