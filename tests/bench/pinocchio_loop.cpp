// Pinocchio's algorithms over many states without Python in the loop, for a chain of revolute joints about z.
//
// States and results are rows, the links' matrices row-major, resulting matrices column-major. All workspace is
// allocated before the loops; states are copied into vectors, for which Pinocchio's library holds compiled algorithms.

#include <algorithm>
#include <string>

#include <pinocchio/multibody.hpp>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace pin = pinocchio;
using Rows3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using Row = Eigen::Map<const Eigen::VectorXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;
using Square = Eigen::Map<Eigen::MatrixXd>;

struct Arm {
    pin::Model model;
    pin::Data data;
    Eigen::VectorXd q, v, last;
    pin::Data::Tensor3x hessian;
    pin::Data::Matrix6x jacobian;
};

extern "C" {

// A link: placement of its joint (R 9, p 3), mass, centre of mass (3), inertia at it (9), armature: 26 numbers.
Arm *arm(int n, const double *links, const double *gravity)
{
    Arm *made = new Arm;
    pin::JointIndex parent = 0;
    for (int i = 0; i < n; ++i, links += 26) {
        const pin::SE3 placement(Eigen::Map<const Rows3>(links), Eigen::Map<const Eigen::Vector3d>(links + 9));
        parent = made->model.addJoint(parent, pin::JointModelRZ(), placement, "joint" + std::to_string(i + 1));
        const Eigen::Vector3d com = Eigen::Map<const Eigen::Vector3d>(links + 13);
        made->model.appendBodyToJoint(parent, pin::Inertia(links[12], com, Rows3(Eigen::Map<const Rows3>(links + 16))));
        made->model.armature[i] = links[25];
    }
    made->model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
    made->data = pin::Data(made->model);
    made->q = made->v = made->last = Eigen::VectorXd::Zero(n);
    made->hessian = pin::Data::Tensor3x(6, n, n);
    made->hessian.setZero();
    made->jacobian = pin::Data::Matrix6x::Zero(6, n);
    return made;
}

void discard(Arm *a) { delete a; }

static void place(Arm *a, long i, const double *q, const double *v, const double *last)
{
    const int n = a->model.nv;
    a->q = Row(q + i * n, n);
    a->v = Row(v + i * n, n);
    a->last = Row(last + i * n, n);
}

void forward(Arm *a, long count, const double *q, const double *v, const double *tau, double *qdd)
{
    const int n = a->model.nv;
    for (long i = 0; i < count; ++i) {
        place(a, i, q, v, tau);
        // The faster of its two conventions.
        Vector(qdd + i * n, n) = pin::aba(a->model, a->data, a->q, a->v, a->last, pin::Convention::WORLD);
    }
}

void inverse(Arm *a, long count, const double *q, const double *v, const double *qdd, double *tau)
{
    const int n = a->model.nv;
    for (long i = 0; i < count; ++i) {
        place(a, i, q, v, qdd);
        Vector(tau + i * n, n) = pin::rnea(a->model, a->data, a->q, a->v, a->last);
    }
}

// By q, by v, by tau, for each state.
void forward_derivatives(Arm *a, long count, const double *q, const double *v, const double *tau, double *out)
{
    const int n = a->model.nv;
    for (long i = 0; i < count; ++i, out += 3 * n * n) {
        place(a, i, q, v, tau);
        pin::computeABADerivatives(a->model, a->data, a->q, a->v, a->last);
        Square(out, n, n) = a->data.ddq_dq;
        Square(out + n * n, n, n) = a->data.ddq_dv;
        Square(out + 2 * n * n, n, n) = a->data.Minv.selfadjointView<Eigen::Upper>();
    }
}

// By q, by v, by the accelerations (M), for each state.
void inverse_derivatives(Arm *a, long count, const double *q, const double *v, const double *qdd, double *out)
{
    const int n = a->model.nv;
    for (long i = 0; i < count; ++i, out += 3 * n * n) {
        place(a, i, q, v, qdd);
        pin::computeRNEADerivatives(a->model, a->data, a->q, a->v, a->last);
        Square(out, n, n) = a->data.dtau_dq;
        Square(out + n * n, n, n) = a->data.dtau_dv;
        Square(out + 2 * n * n, n, n) = a->data.M.selfadjointView<Eigen::Upper>();
    }
}

// J (6 x n, translation above rotation, base axes) of the last joint's frame.
void jacobian(Arm *a, long count, const double *q, double *out)
{
    const int n = a->model.nv;
    for (long i = 0; i < count; ++i) {
        a->q = Row(q + i * n, n);
        pin::computeJointJacobians(a->model, a->data, a->q);
        pin::getJointJacobian(a->model, a->data, n, pin::LOCAL_WORLD_ALIGNED, a->jacobian);
        Eigen::Map<pin::Data::Matrix6x>(out + i * 6 * n, 6, n) = a->jacobian;
    }
}

// Its derivative by q (6 x n x n, first index fastest).
void hessian(Arm *a, long count, const double *q, double *out)
{
    const int n = a->model.nv;
    for (long i = 0; i < count; ++i) {
        a->q = Row(q + i * n, n);
        pin::computeJointKinematicHessians(a->model, a->data, a->q);
        pin::getJointKinematicHessian(a->model, a->data, n, pin::LOCAL_WORLD_ALIGNED, a->hessian);
        std::copy_n(a->hessian.data(), 6 * n * n, out + i * 6 * n * n);
    }
}
}
