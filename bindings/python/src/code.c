/* code.c: code objects and C functions become methods of the recorder when they are first called.
 *
 * The same function may be compiled many times: code with the same file, name and first line is one
 * method. A C function is known by its PyMethodDef, which all objects of a type share. */
#include "python.h"

#if HAS_MONITORING
#define _PyCode_GetExtra              PyUnstable_Code_GetExtra
#define _PyCode_SetExtra              PyUnstable_Code_SetExtra
#define _PyEval_RequestCodeExtraIndex PyUnstable_Eval_RequestCodeExtraIndex
#endif

static Py_ssize_t slot = -1; /* of code_info in code objects */
static PyObject *known;      /* see key_of() -> id */
static struct {
    cfunction *slots; /* [n_slots], open addressing, at most half full */
    size_t n_slots, n_used;
} cfunctions;

static void free_info(void *info);

static const char *text_of(PyObject *unicode)
{
    const char *text = unicode && PyUnicode_Check(unicode) ? PyUnicode_AsUTF8(unicode) : NULL;
    if (text == NULL)
        PyErr_Clear(); /* it has a lone surrogate */
    return text ? text : "?";
}

int code_open(void)
{
    slot = _PyEval_RequestCodeExtraIndex(free_info);
    return slot >= 0;
}

int code_begin_run(void)
{
    Py_XSETREF(known, PyDict_New());
    PyMem_RawFree(cfunctions.slots);
    memset(&cfunctions, 0, sizeof cfunctions);
    return known != NULL;
}

/* ---- code objects ------------------------------------------------------------------------ */

/* @param frame  NULL: the current one. @return the name of its module, borrowed */
static const char *module_of(PyFrameObject *frame)
{
    PyObject *globals = frame ? PyFrame_GetGlobals(frame) : PyEval_GetGlobals();
    PyObject *name = globals && PyDict_CheckExact(globals)
                         ? PyDict_GetItemString(globals, "__name__")
                         : NULL;
    if (frame)
        Py_DECREF(globals);
    return name ? text_of(name) : "?";
}

static int is_own(PyCodeObject *code)
{
    return recorder.own_folder && PyUnicode_Tailmatch(code->co_filename, recorder.own_folder, 0,
                                                      PY_SSIZE_T_MAX, -1) == 1;
}

/* From 3.14 on the compiler makes a function of all annotations, which is executed only when they are asked for. */
static int is_annotations(PyCodeObject *code)
{
    return HAS_MONITORING && strcmp(text_of(code->co_name), "__annotate__") == 0;
}

static int is_covered(PyCodeObject *code, const char *module)
{
    if (recorder.is_covered == NULL || is_annotations(code))
        return 0;
    int is_all = strcmp(text_of(code->co_name), "<module>") == 0;
    PyObject *answer =
        PyObject_CallFunction(recorder.is_covered, "Osi", code->co_filename, module, is_all);
    int is_true = answer && PyObject_IsTrue(answer) == 1;
    Py_XDECREF(answer);
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(recorder.is_covered);
    return is_true;
}

static qprof_MethodID define(PyCodeObject *code, const char *module,
                             const qprof_LineInfo *lines, int n_lines)
{
    const char *name = text_of(code->co_qualname);
    char main_code[256];
    qprof_set_module(module);
    if (strcmp(name, "<module>") == 0) {
        snprintf(main_code, sizeof main_code, "<module %s>", module);
        name = main_code;
    }
    return qprof_define(name, NULL, text_of(code->co_filename), lines, n_lines);
}

/* What makes two code objects one method. */
static PyObject *key_of(PyCodeObject *code, int has_blocks)
{
    PyObject *bytes = has_blocks ? PyCode_GetCode(code) : Py_NewRef(Py_None);
    PyObject *key = bytes ? Py_BuildValue("(OOiNO)", code->co_filename, code->co_qualname,
                                          code->co_firstlineno, bytes,
                                          has_blocks ? code->co_linetable : Py_None)
                          : NULL;
    return key;
}

/* Give a code object its id, and its blocks if it is counted. */
static void describe(code_info *info, PyCodeObject *code, const char *module)
{
    const qprof_LineInfo declared = {-1, code->co_firstlineno};
    int has_blocks = recorder.has_lines && is_covered(code, module);
    int has_lines = has_blocks && (recorder.wants & QPROF_WANT_LINES);
    qprof_LineInfo *lines = NULL;
    if (!has_blocks && !recorder.has_calls)
        return;
    if (has_lines &&
        !blocks_find(code, info, (recorder.wants & QPROF_WANT_COVERAGE) != 0, &lines))
        has_lines = 0;
    if (!has_lines)
        info->n_blocks = 1;
    info->has_entry = (recorder.wants & QPROF_WANT_ALONE) != 0;
    info->is_counted = (char)(has_lines || (has_blocks && info->has_entry));
    PyObject *key = key_of(code, has_lines);
    PyObject *found = key ? PyDict_GetItemWithError(known, key) : NULL;
    if (found) {
        info->id = PyLong_AsSize_t(found);
    } else if (key && !PyErr_Occurred()) {
        info->id =
            define(code, module, lines ? lines : &declared, lines ? info->n_blocks + 1 : 1);
        if (info->is_counted && !blocks_register(info))
            info->is_counted = 0;
        PyObject *number = PyLong_FromSize_t(info->id);
        if (number)
            PyDict_SetItem(known, key, number);
        Py_XDECREF(number);
    }
    Py_XDECREF(key);
    PyMem_RawFree(lines);
}

static void forget_blocks(code_info *info)
{
    PyMem_RawFree(info->block_of_line);
    PyMem_RawFree(info->first_way);
    PyMem_RawFree(info->way_to);
}

static void free_info(void *info)
{
    forget_blocks(info);
    PyMem_RawFree(info);
}

static code_info *add_code(PyCodeObject *code, const char *module)
{
    void *extra = NULL;
    _PyCode_GetExtra((PyObject *)code, slot, &extra);
    code_info *info = extra;
    if (info && info->run == recorder.run)
        return info;
    if (info == NULL) {
        info = PyMem_RawCalloc(1, sizeof *info);
        if (info == NULL)
            return NULL;
        if (_PyCode_SetExtra((PyObject *)code, slot, info) != 0) {
            PyErr_Clear();
            PyMem_RawFree(info);
            return NULL;
        }
    }
    forget_blocks(info);
    *info = (code_info){.run = recorder.run, .first_resume = code->_co_firsttraceable};
    if (!is_own(code))
        describe(info, code, module);
    if (info->is_counted && recorder.on_counted)
        Py_XDECREF(PyObject_CallOneArg(recorder.on_counted, (PyObject *)code));
    PyErr_Clear();
    return info;
}

/* Functions that are never called are known as well where coverage is recorded. */
void code_register(PyCodeObject *code, const char *module)
{
    code_info *info = add_code(code, module);
    if (info == NULL || !info->is_counted || !(recorder.wants & QPROF_WANT_COVERAGE))
        return;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *constant = PyTuple_GET_ITEM(code->co_consts, i);
        if (PyCode_Check(constant))
            code_register((PyCodeObject *)constant, module);
    }
}

static __attribute__((noinline)) code_info *meet_code(PyFrameObject *frame, PyCodeObject *code)
{
    void *info = NULL;
    uint64_t begun = qprof_work_begin();
    int was_on = PyGC_Disable(); /* finalizers would run here, where nothing is recorded */
    code_register(code, module_of(frame));
    if (was_on)
        PyGC_Enable();
    qprof_work_end(begun);
    _PyCode_GetExtra((PyObject *)code, slot, &info);
    return info;
}

code_info *code_of(PyCodeObject *code, PyFrameObject *frame)
{
    void *info = NULL;
    _PyCode_GetExtra((PyObject *)code, slot, &info);
    if (info && ((code_info *)info)->run == recorder.run)
        return info;
    return meet_code(frame, code);
}

/* ---- C functions ------------------------------------------------------------------------- */

static cfunction *find_cfunction(cfunction *slots, size_t n, const PyMethodDef *definition)
{
    size_t at = ((uintptr_t)definition >> 4) * 0x9E3779B97F4A7C15u >> 20 & (n - 1);
    while (slots[at].definition && slots[at].definition != definition)
        at = (at + 1) & (n - 1);
    return &slots[at];
}

static int grow_cfunctions(void)
{
    size_t n = cfunctions.n_slots ? 2 * cfunctions.n_slots : 1024;
    cfunction *slots = PyMem_RawCalloc(n, sizeof *slots);
    if (slots == NULL)
        return 0;
    for (size_t i = 0; i < cfunctions.n_slots; i++) {
        if (cfunctions.slots[i].definition)
            *find_cfunction(slots, n, cfunctions.slots[i].definition) = cfunctions.slots[i];
    }
    PyMem_RawFree(cfunctions.slots);
    cfunctions.slots = slots;
    cfunctions.n_slots = n;
    return 1;
}

static int has_method(PyTypeObject *type, const PyMethodDef *definition)
{
#if HAS_MONITORING
    PyObject *names = PyType_GetDict(type);
#else
    PyObject *names = Py_XNewRef(type->tp_dict);
#endif
    PyObject *found = names ? PyDict_GetItemString(names, definition->ml_name) : NULL;
    int is_it = found &&
                (Py_IS_TYPE(found, &PyMethodDescr_Type) ||
                 Py_IS_TYPE(found, &PyClassMethodDescr_Type)) &&
                ((PyMethodDescrObject *)found)->d_method == definition;
    Py_XDECREF(names);
    return is_it;
}

/* The type that has the method, of those that an object's type inherits from; NULL: unknown, as of
 * __new__, whose PyMethodDef all types share. */
static PyTypeObject *type_of_method(PyTypeObject *type, const PyMethodDef *definition)
{
    PyObject *order = PyObject_GetAttrString((PyObject *)type, "__mro__");
    PyTypeObject *found = NULL;
    for (Py_ssize_t i = 0; order && !found && i < PyTuple_GET_SIZE(order); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(order, i);
        if (has_method(base, definition))
            found = base; /* the type keeps it */
    }
    Py_XDECREF(order);
    return found;
}

static qprof_MethodID define_cfunction(const PyMethodDef *definition, PyObject *called)
{
    int is_descriptor = Py_IS_TYPE(called, &PyMethodDescr_Type);
    PyObject *self = is_descriptor ? NULL : ((PyCFunctionObject *)called)->m_self;
    PyObject *in = is_descriptor ? NULL : ((PyCFunctionObject *)called)->m_module;
    char name[256];
    if (is_descriptor || (self && !PyModule_Check(self))) {
        PyTypeObject *type = is_descriptor ? ((PyMethodDescrObject *)called)->d_common.d_type
                             : PyType_Check(self) ? (PyTypeObject *)self
                                                  : Py_TYPE(self);
        if (!is_descriptor)
            type = type_of_method(type, definition);
        const char *full = type ? type->tp_name : "", *dot = strrchr(full, '.');
        char module[256] = "builtins";
        if (dot)
            snprintf(module, sizeof module, "%.*s", (int)(dot - full), full);
        qprof_set_module(module);
        snprintf(name, sizeof name, "%s%s%s", dot ? dot + 1 : full, type ? "." : "",
                 definition->ml_name);
    } else {
        const char *module = in ? text_of(in) : "builtins";
        qprof_set_module(module);
        snprintf(name, sizeof name, "%s.%s", module, definition->ml_name);
    }
    PyErr_Clear();
    return qprof_define(name, NULL, NULL, NULL, 0);
}

const PyMethodDef *cfunction_definition(PyObject *called)
{
    if (PyCFunction_Check(called))
        return ((PyCFunctionObject *)called)->m_ml;
    return Py_IS_TYPE(called, &PyMethodDescr_Type) ? ((PyMethodDescrObject *)called)->d_method
                                                   : NULL;
}

static __attribute__((noinline)) const cfunction *add_cfunction(const PyMethodDef *definition,
                                                                PyObject *called)
{
    if (cfunctions.n_used * 2 >= cfunctions.n_slots && !grow_cfunctions())
        return NULL;
    cfunction *added = find_cfunction(cfunctions.slots, cfunctions.n_slots, definition);
    PyObject *in = PyCFunction_Check(called) ? ((PyCFunctionObject *)called)->m_module : NULL;
    const char *module = in ? text_of(in) : "";
    int is_ours = strcmp(module, "qprof._recorder") == 0;
    int starts_thread =
        strcmp(module, "_thread") == 0 && strncmp(definition->ml_name, "start_", 6) == 0;
    *added = (cfunction){definition, is_ours ? 0 : define_cfunction(definition, called),
                         (char)starts_thread};
    cfunctions.n_used++;
    return added;
}

const cfunction *cfunction_of(const PyMethodDef *definition, PyObject *called)
{
    if (cfunctions.n_slots) {
        const cfunction *found =
            find_cfunction(cfunctions.slots, cfunctions.n_slots, definition);
        if (found->definition)
            return found;
    }
    return add_cfunction(definition, called);
}
