"""What two servers, or two sets of logs, do not share: GTIDs (`missing`), and transactions with their contents."""
