"""What happened: errors, atomic files, hashes, metrics and manifests; standard library only."""
