"""Controllers of joints, gains that are best, and motions that are."""
