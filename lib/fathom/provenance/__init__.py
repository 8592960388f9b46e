"""Where a result comes from: code, manifests."""
