"""What comes from elsewhere than topics: files and tables."""
