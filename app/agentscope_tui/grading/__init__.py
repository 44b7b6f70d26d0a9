"""Graders: what gives an answer its reward."""
