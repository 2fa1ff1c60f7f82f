"""Existence, uniqueness and stability of contact forces (S4), and the instantaneous model (S1): is the model valid?"""

from signorini.analysis.accelerations import accelerations
from signorini.analysis.answer import Answer
from signorini.analysis.contact_stability import (
    BoundaryLayer,
    ContactLayer,
    Spectrum,
    Stability,
    boundary_layer,
    layer_of_contacts,
)
from signorini.analysis.forces import Accelerations, ForceMode, Forces
from signorini.analysis.maps import StabilityMap, matrix_columns, rod_columns, scene_columns, stability_map
from signorini.analysis.matrix_classes import MatrixClasses, matrix_classes
from signorini.analysis.p_matrix import PMatrix, p_matrix
from signorini.analysis.rod import Rod, balancing_load, compliant_rod
from signorini.analysis.study import Axis, study
from signorini.analysis.touching import ContactMode, sliding_matrices
from signorini.analysis.validity import Outcome, Validity, check_state, check_step

__all__ = [
    "Accelerations",
    "Answer",
    "Axis",
    "BoundaryLayer",
    "ContactLayer",
    "ContactMode",
    "ForceMode",
    "Forces",
    "MatrixClasses",
    "Outcome",
    "PMatrix",
    "Rod",
    "Spectrum",
    "Stability",
    "StabilityMap",
    "Validity",
    "accelerations",
    "balancing_load",
    "boundary_layer",
    "check_state",
    "check_step",
    "compliant_rod",
    "layer_of_contacts",
    "matrix_classes",
    "matrix_columns",
    "p_matrix",
    "rod_columns",
    "scene_columns",
    "sliding_matrices",
    "stability_map",
    "study",
]
