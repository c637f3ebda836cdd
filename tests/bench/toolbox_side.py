"""The Robotics Toolbox's side: it has no batches, so its own loop in Python serves for them."""

import numpy as np


class Toolbox:
    """A chain of standard Denavit-Hartenberg rows."""

    MOST = 200  # states a batch

    def __init__(self, arm):
        import roboticstoolbox

        links = [
            roboticstoolbox.RevoluteDH(
                d=at.d,
                a=at.a,
                alpha=at.alpha,
                m=at.mass,
                r=at.row_com,
                I=at.row_inertia,
                Jm=at.rotor,
                G=1.0,
                B=0.0,
                Tc=[0.0, 0.0],
            )
            for at in arm.links
        ]
        self.robot = roboticstoolbox.DHRobot(links, name="arm", gravity=arm.gravity)
        self.chain = self.robot.ets()  # its fast kinematics; DHRobot's own take a hundred times longer

    def single(self, task, states):
        state = [rows[0].copy() for rows in states]
        function = self._function(task)
        return None if function is None else lambda: function(*state)

    def batch(self, task, states):
        function, answers = self._function(task), []
        if function is None:
            return None

        def run():
            answers[:] = [function(*state) for state in zip(*states, strict=True)]

        return run, lambda: np.array(answers) if task != "Hessian" else np.array(answers).transpose(0, 2, 3, 1)

    def _function(self, task):
        return {
            "forward dynamics": self.robot.accel,
            "inverse dynamics": self.robot.rne,
            "Jacobian": self.chain.jacob0,
            "Hessian": self.chain.hessian0,
        }.get(task)
