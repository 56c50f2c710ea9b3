"""Search: trees of worlds and views, guided by a policy, values and beliefs."""
