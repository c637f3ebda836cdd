/* MuJoCo over many states without Python in the loop: states and results are rows of n numbers. */

#include <string.h>

#include <mujoco/mujoco.h>

static void place(const mjModel *m, mjData *d, const double *q, const double *v)
{
    memcpy(d->qpos, q, m->nq * sizeof(double));
    memcpy(d->qvel, v, m->nv * sizeof(double));
}

void forward(const mjModel *m, mjData *d, long count, const double *q, const double *v, const double *tau, double *qdd)
{
    const int n = m->nv;
    for (long i = 0; i < count; ++i) {
        place(m, d, q + i * n, v + i * n);
        memcpy(d->qfrc_applied, tau + i * n, n * sizeof(double));
        mj_forward(m, d);
        memcpy(qdd + i * n, d->qacc, n * sizeof(double));
    }
}

void inverse(const mjModel *m, mjData *d, long count, const double *q, const double *v, const double *qdd, double *tau)
{
    const int n = m->nv;
    for (long i = 0; i < count; ++i) {
        place(m, d, q + i * n, v + i * n);
        memcpy(d->qacc, qdd + i * n, n * sizeof(double));
        mj_inverse(m, d);
        memcpy(tau + i * n, d->qfrc_inverse, n * sizeof(double));
    }
}

/* J (6 x n, row-major, translation above rotation) of the first site. */
void jacobian(const mjModel *m, mjData *d, long count, const double *q, double *J)
{
    const int n = m->nv;
    for (long i = 0; i < count; ++i, J += 6 * n) {
        memcpy(d->qpos, q + i * n, n * sizeof(double));
        mj_kinematics(m, d);
        mj_comPos(m, d);
        mj_jacSite(m, d, J, J + 3 * n, 0);
    }
}
