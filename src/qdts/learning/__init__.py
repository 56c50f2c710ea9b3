"""The learner: self-play by search, records of it, what networks are taught from them, and the loop of generations."""
