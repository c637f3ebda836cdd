"""The page in which a robot moves: one HTML file with data, drawing and kinematics in it, and nothing from elsewhere.

``source`` is written here, in JavaScript; ``npm run build`` in this folder bundles it with three.js and uPlot into
``built``, which is kept with it. ``LICENSES.txt`` there has the licences of the two.
"""

from kronbot.system.importing import parts_of

__getattr__ = parts_of(__name__)
