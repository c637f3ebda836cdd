"""Pictures of answers. One look for all: readable in print, in grey and by the colour-blind; axes carry units."""
