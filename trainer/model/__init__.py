"""The embedded model: a tiny Qwen2 that solves some small word problems, so that PPO has something to teach it."""
