/* qlua_unloaded.c: the texts of source files, and for -cover-unloaded the files that the
 * program did not load, but could have.
 *
 * A file is loaded if its main chunk was entered. The others below the root are compiled when
 * the process ends, in a state that never runs them, and registered with the names that
 * `require` would give them. */
#define LUA_CORE
#define _GNU_SOURCE
#include "lprefix.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lualib.h"
#include "qlua_glue.h"

/* ---- files that were loaded -------------------------------------------------------------- */

typedef struct {
    dev_t device;
    ino_t number;
} file_id;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static file_id *loaded;
static size_t n_loaded, loaded_room;

/* Under the lock. */
static int is_loaded(const struct stat *s)
{
    for (size_t i = 0; i < n_loaded; i++) {
        if (loaded[i].device == s->st_dev && loaded[i].number == s->st_ino)
            return 1;
    }
    return 0;
}

/* Under the lock. Without memory a file counts as not loaded: its functions are already
 * registered, with the same names. */
static void add_loaded(const struct stat *s)
{
    if (n_loaded == loaded_room) {
        size_t room = loaded_room ? 2 * loaded_room : 64;
        file_id *list = realloc(loaded, room * sizeof *list);
        if (list == NULL)
            return;
        loaded = list;
        loaded_room = room;
    }
    loaded[n_loaded++] = (file_id){s->st_dev, s->st_ino};
}

static void register_text(const char *path, size_t n_bytes)
{
    char *text = malloc(n_bytes + 1);
    FILE *file = text ? fopen(path, "rb") : NULL;
    if (file) {
        size_t n = fread(text, 1, n_bytes, file);
        qprof_register_source(path, text, n);
        fclose(file);
    }
    free(text);
}

/* Compile a file in a state that never runs it. */
static int compiles_to(const char *path, const Proto *p)
{
    lua_State *L = qlua_scratch_state();
    if (L == NULL)
        return 0;
    L->qon = 0;
    int is_same = luaL_loadfilex(L, path, NULL) == LUA_OK &&
                  qlua_code_is_same(clLvalue(s2v(qlua_top(L) - 1))->p, p);
    lua_close(L);
    return is_same;
}

void qlua_cover_loaded(const char *path, const Proto *p, int is_covered)
{
    struct stat s;
    if (stat(path, &s) != 0 || !S_ISREG(s.st_mode) || (p && !compiles_to(path, p)))
        return;
    pthread_mutex_lock(&lock);
    int is_new = !is_loaded(&s);
    if (is_new)
        add_loaded(&s);
    pthread_mutex_unlock(&lock);
    if (is_new && is_covered)
        register_text(path, (size_t)s.st_size);
}

/* ---- files that were not ----------------------------------------------------------------- */

/* A file that was not loaded: its place, and how a program would have loaded it. */
typedef struct {
    char real[PATH_MAX];
    char path[2 * PATH_MAX];      /* as require loads it, or from the current folder */
    char module[QLUA_NAME_BYTES]; /* "": require does not find it */
} candidate;

/* Whether `template`, [n], of package.path leads to the file. If several do, programs use the
 * one that gives the shortest name: "a", not "a.init". */
static void try_template(candidate *c, const char *template, size_t n)
{
    const char *mark = memchr(template, '?', n);
    char folder[PATH_MAX], real[PATH_MAX];
    size_t n_folder = mark ? (size_t)(mark - template) : n;
    size_t n_tail = mark ? n - n_folder - 1 : 0;
    snprintf(folder, sizeof folder, "%.*s", (int)n_folder, template);
    if (mark == NULL || realpath(n_folder ? folder : ".", real) == NULL)
        return;
    size_t n_real = strlen(real), n_path = strlen(c->real);
    if (n_path <= n_real + 1 + n_tail || strncmp(c->real, real, n_real) != 0 ||
        c->real[n_real] != '/' || memcmp(c->real + n_path - n_tail, mark + 1, n_tail) != 0)
        return;
    const char *stem = c->real + n_real + 1;
    size_t n_stem = n_path - n_real - 1 - n_tail;
    if (n_stem >= sizeof c->module || (c->module[0] && strlen(c->module) <= n_stem))
        return;
    snprintf(c->module, sizeof c->module, "%.*s", (int)n_stem, stem);
    snprintf(c->path, sizeof c->path, "%s%s%.*s", folder, c->module, (int)n_tail, mark + 1);
    for (char *at = c->module; *at; at++)
        *at = *at == '/' ? '.' : *at;
}

static void find_names(lua_State *L, candidate *c)
{
    char here[PATH_MAX];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    int is_below = n && strncmp(c->real, here, n) == 0 && c->real[n] == '/';
    snprintf(c->path, sizeof c->path, "%s", c->real + (is_below ? n + 1 : 0));
    c->module[0] = '\0';
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "path");
    const char *at = lua_tostring(L, -1);
    while (at && *at) {
        n = strcspn(at, ";");
        try_template(c, at, n);
        at += n + (at[n] == ';');
    }
    lua_pop(L, 2);
}

static void add_file(lua_State *L, candidate *c)
{
    find_names(L, c);
    if (luaL_loadfilex(L, c->path, "t") != LUA_OK) {
        qlua_cover_say(c->path, lua_tostring(L, -1));
    } else {
        Proto *p = clLvalue(s2v(qlua_top(L) - 1))->p;
        qlua_cover_file(L, p, c->module[0] ? qlua_name_required(c->module, p) : NULL);
    }
    lua_pop(L, 1);
}

static int is_lua(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 4 && strcmp(entry->d_name + n - 4, ".lua") == 0;
}

/* Hidden files and folders are not part of the program. */
static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void add_folder(lua_State *L, const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_shown, alphasort);
    candidate *c = malloc(sizeof *c);
    for (int i = 0; i < n; i++) {
        struct stat s;
        int n_path = c ? snprintf(c->real, sizeof c->real, "%s/%s", folder, entries[i]->d_name)
                       : PATH_MAX;
        if (n_path >= PATH_MAX || lstat(c->real, &s) != 0) {
            ;
        } else if (S_ISDIR(s.st_mode)) {
            add_folder(L, c->real);
        } else if (S_ISREG(s.st_mode) && is_lua(entries[i]) && !is_loaded(&s) &&
                   qlua_cover_has(c->real)) {
            add_file(L, c);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    free(c);
}

void qlua_cover_unloaded(void)
{
    if (!qprof_get_option("cover-unloaded"))
        return;
    qlua_is_reporting = 0; /* compiling them is not part of the program */
    lua_State *L = qlua_scratch_state();
    if (L == NULL)
        return;
    luaL_openlibs(L);
    add_folder(L, qlua_cover_root());
    lua_close(L);
}
