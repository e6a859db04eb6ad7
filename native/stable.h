/* The interpreter by its stable interface only: one build serves CPython 3.11 and all later ones. */

#ifndef KLINIC_STABLE_H
#define KLINIC_STABLE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#endif
