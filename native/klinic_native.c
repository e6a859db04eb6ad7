/* The hot loops of klinic's readers.

Functions without state, which work without the interpreter's lock:

  lines(text, kinds, words)  sorts a console's lines into metric lines, lines of a known kind, and others (lines.c)
  rows(...)                  reads metric lines whose keys and prefix are known (rows.c, row.c, number.c, decimal.c)
  events(...)                reads steps of an event file that are like the one before (events.c, crc.c)
  history(...)               reads history records of a W&B store whose keys are known (store.c, history.c, wire.c)
  json(...)                  reads lines of verl's file logger whose keys are known (jsonlines.c, jsonrow.c)

What is not exactly as expected is left to the caller, who reads it in Python. Numbers are those of Python's float(). */

#include "crc.h"
#include "decimal.h"
#include "events.h"
#include "jsonlines.h"
#include "lines.h"
#include "rows.h"
#include "store.h"

#define INTERFACE 3 /* raised whenever a function changes: klinic uses the one it knows */

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

static PyObject *events_of(Events *found) {
    const char *wrong = unfit(found);
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, wrong);
        return NULL;
    }
    Py_ssize_t count;
    Py_BEGIN_ALLOW_THREADS
    count = take_events(found);
    Py_END_ALLOW_THREADS
    return Py_BuildValue("nin", count, found->odd, found->wrong);
}

static PyObject *events(PyObject *self, PyObject *args) {
    Events found = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*iw*w*w*:events", &found.data, &found.step, &found.records, &found.width,
                          &found.steps, &found.times, &found.values))
        return NULL;
    PyObject *answer = events_of(&found);
    Py_buffer *all[] = {&found.data, &found.step, &found.records, &found.steps, &found.times, &found.values};
    for (size_t place = 0; place < sizeof all / sizeof *all; place++) PyBuffer_Release(all[place]);
    return answer;
}

static PyObject *history_of(Store *store) {
    const char *wrong = unsuited(store);
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, wrong);
        return NULL;
    }
    PyThreadState *released = PyEval_SaveThread();
    take_history_rows(store, &released);
    PyEval_RestoreThread(released);
    return store->no_memory ? PyErr_NoMemory() : Py_BuildValue("ni", store->rows, store->odd);
}

static PyObject *history(PyObject *self, PyObject *args) {
    Store store = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "y*nny*w*w*w*w*:history", &store.data, &store.at, &store.offset, &store.names,
                          &store.values, &store.marks, &store.ends, &store.counts))
        return NULL;
    PyObject *found = prepare_store(&store) ? history_of(&store) : PyErr_NoMemory();
    release_store(&store);
    return found;
}

static PyObject *json_of(Lines *found) {
    const char *wrong = misplaced(found);
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, wrong);
        return NULL;
    }
    PyThreadState *released = PyEval_SaveThread();
    take_lines(found, &released);
    PyEval_RestoreThread(released);
    return Py_BuildValue("nni", found->rows, found->at, found->odd);
}

static PyObject *json(PyObject *self, PyObject *args) {
    Lines found = {0};
    (void)self;
    if (!PyArg_ParseTuple(args, "y*ny*w*w*w*w*:json", &found.text, &found.at, &found.names, &found.steps, &found.times,
                          &found.values, &found.marks))
        return NULL;
    PyObject *answer = prepare_lines(&found) ? json_of(&found) : PyErr_NoMemory();
    release_lines(&found);
    return answer;
}

static PyMethodDef FUNCTIONS[] = {
    {"lines", lines, METH_VARARGS,
     "lines(text, kinds, words) -> (starts, sorts, metrics), int32 arrays as bytes.\n\n"
     "text: whole lines. kinds: lines without their digits and the drawing of their first progress bar, words: what a\n"
     "line must hold to be of the kind, as many; each of them ended by a line feed. starts: where each line begins.\n"
     "sorts: the place of its kind, -1 for none of them, -2 for a metric line.\n"
     "metrics: (start, what follows `step:`, end, number of the line) of each metric line."},
    {"rows", rows, METH_VARARGS,
     "rows(text, metrics, first, last, names, patterns, befores, steps, values, marks) -> (count, odd).\n\n"
     "Reads metric lines [first, last) of `metrics` (see `lines`) until one is not as expected; count: how many.\n"
     "names: keys, befores: what may stand before `step:`, each of them ended by a line feed. patterns: sets of keys\n"
     "that may stand in a line, a byte 0 or 1 for each name. Written: steps (int64, a row each), values (float64,\n"
     "rows x names, NaN where there is none), marks (a byte each: 0 absent, 1 finite, 2 NaN, 3 +inf, 4 -inf).\n"
     "odd: whether any value is not finite."},
    {"events", events, METH_VARARGS,
     "events(data, step, records, width, steps, times, values) -> (count, odd, wrong).\n\n"
     "Reads steps from the start of `data` until one differs from `step`, the bytes of one step, in more than times,\n"
     "step, values and payload checksums. records: int32, start and payload length of each. width: bytes of the\n"
     "step's number, 1 to 9. Written: steps (int64, a row each), times (float64, of the first record), values\n"
     "(float64, rows x records). odd: whether any value is not finite. wrong: how many payload checksums are."},
    {"history", history, METH_VARARGS,
     "history(data, at, offset, names, values, marks, ends, counts) -> (rows, odd).\n\n"
     "Reads records of a W&B store, one of which begins at `at` (data: bytes from `offset` of the file on), until one\n"
     "is cut, damaged, or holds more than history of known keys, a number each, and what klinic passes over.\n"
     "names: keys, each of them ended by a line feed. Written for each row: values, marks (as in `rows`), ends (int64,\n"
     "where its record ends), counts (int64, how many records were read by then). odd: as in `rows`."},
    {"json", json, METH_VARARGS,
     "json(text, at, names, steps, times, values, marks) -> (rows, at, odd).\n\n"
     "Reads lines `{\"step\": 1, \"data\": {\"a\": 0.5}}`, one of which begins at `at`, until one is not as expected,\n"
     "has no line feed, or there is no more room; at: where the first one begins that was not read. names: keys that\n"
     "need no escape, each of them ended by a line feed. Written for each row: steps (int64), times (float64, NaN\n"
     "where there is none), values and marks (as in `rows`, and 5 for a null). odd: as in `rows`."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "klinic_native", "The hot loops of klinic's readers.",
                                    -1, FUNCTIONS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_klinic_native(void) {
    prepare_crcs();
    prepare_powers();
    PyObject *module = PyModule_Create(&MODULE);
    if (module && PyModule_AddIntConstant(module, "INTERFACE", INTERFACE)) Py_CLEAR(module);
    return module;
}
