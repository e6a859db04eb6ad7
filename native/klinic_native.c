/* The hot loop of klinic's console reader: lines sorted, metric lines turned into numbers.

Two functions, both without state and without the interpreter's lock while they work:

  lines(text, kinds, words)  sorts whole lines into metric lines, lines of a known kind, and others (lines.c)
  rows(...)                  reads metric lines whose keys and prefix are known (rows.c, row.c, number.c, decimal.c)

What is not exactly as expected is left to the caller, who reads it in Python. Numbers are those of Python's float(). */

#include "lines.h"
#include "rows.h"

#define INTERFACE 1 /* raised whenever a function changes: klinic uses the one it knows */

static PyObject *bytes_of(const Numbers *numbers) {
    return PyBytes_FromStringAndSize((const char *)numbers->items, (Py_ssize_t)(numbers->count * sizeof(int32_t)));
}

static PyObject *sorted_lines(const Py_buffer *text, Sorting *sorting) {
    int done;
    if (text->len >= INT32_MAX - 1 || sorting->kinds.count != sorting->words.count) {
        PyErr_SetString(PyExc_ValueError, "lines: text of 2 GiB or more, or kinds and words differ in number");
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    done = sort_lines(text->buf, (const char *)text->buf + text->len, sorting);
    Py_END_ALLOW_THREADS
    if (!done) return PyErr_NoMemory();
    return Py_BuildValue("NNN", bytes_of(&sorting->starts), bytes_of(&sorting->sorts), bytes_of(&sorting->metrics));
}

static PyObject *lines(PyObject *self, PyObject *args) {
    Py_buffer text, kinds, words;
    Sorting sorting = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*:lines", &text, &kinds, &words)) return NULL;
    int filled = fill_table(&sorting.kinds, kinds.buf, kinds.len) && fill_table(&sorting.words, words.buf, words.len);
    PyObject *found = filled ? sorted_lines(&text, &sorting) : PyErr_NoMemory();
    free_sorting(&sorting);
    PyBuffer_Release(&text);
    PyBuffer_Release(&kinds);
    PyBuffer_Release(&words);
    return found;
}

static PyObject *rows_of(Job *job) {
    const char *wrong = misfit(job);
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, wrong);
        return NULL;
    }
    int odd = 0;
    PyThreadState *released = PyEval_SaveThread();
    Py_ssize_t count = take_rows(job, &released, &odd);
    PyEval_RestoreThread(released);
    return Py_BuildValue("ni", count, odd);
}

static PyObject *rows(PyObject *self, PyObject *args) {
    Job job = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*nny*y*y*w*w*w*:rows", &job.text, &job.lines, &job.first, &job.last, &job.names,
                          &job.patterns, &job.befores, &job.steps, &job.values, &job.marks))
        return NULL;
    PyObject *found = prepare(&job) ? rows_of(&job) : PyErr_NoMemory();
    release(&job);
    return found;
}

static PyMethodDef FUNCTIONS[] = {
    {"lines", lines, METH_VARARGS,
     "lines(text, kinds, words) -> (starts, sorts, metrics), int32 arrays as bytes.\n\n"
     "text: whole lines. kinds: lines without their digits, words: what a line must hold to be of the kind, as many;\n"
     "each of them ended by a line feed. starts: where each line begins. sorts: the place of its kind, -1 for none of\n"
     "them, -2 for a metric line.\n"
     "metrics: (start, what follows `step:`, end, number of the line) of each metric line."},
    {"rows", rows, METH_VARARGS,
     "rows(text, metrics, first, last, names, patterns, befores, steps, values, marks) -> (count, odd).\n\n"
     "Reads metric lines [first, last) of `metrics` (see `lines`) until one is not as expected; count: how many.\n"
     "names: keys, befores: what may stand before `step:`, each of them ended by a line feed. patterns: sets of keys\n"
     "that may stand in a line, a byte 0 or 1 for each name. Written: steps (int64, a row each), values (float64,\n"
     "rows x names, NaN where there is none), marks (a byte each: 0 absent, 1 finite, 2 NaN, 3 +inf, 4 -inf).\n"
     "odd: whether any value is not finite."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "klinic_native", "The hot loop of klinic's console reader.",
                                    -1, FUNCTIONS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_klinic_native(void) {
    PyObject *module = PyModule_Create(&MODULE);
    if (module && PyModule_AddIntConstant(module, "INTERFACE", INTERFACE)) Py_CLEAR(module);
    return module;
}
