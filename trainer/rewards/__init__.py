"""Rewards for verl's `reward.custom_reward_function`: by rule, by a model, and some that are wrong on purpose."""
