"""Types of the arrays that hold vectors."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
