"""What went wrong and how it is put right: dead letters, lost ranges, the ledger and its audit."""
