"""kronbot: Jacobians, Hessians, linear models, statics and simulation of rigid and flexible robots from one YAML file."""

__version__ = "0.1.0"
