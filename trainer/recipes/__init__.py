"""Recipes: YAML files of verl overrides, a reason on every line; healthy ones and faults made on purpose."""

from klinic.trainer.recipes.load import Entry, Later, Recipe, RecipeError, load, names

__all__ = ["Entry", "Later", "Recipe", "RecipeError", "load", "names"]
