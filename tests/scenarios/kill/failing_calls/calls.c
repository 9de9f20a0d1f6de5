/* Stands between a process and the system (LD_PRELOAD), and counts the calls that change something below FAULT_FOLDER.

   The call number FAULT_AT, and with FAULT_STAYS all after it that need room, does what FAULT_KIND says: `kill` ends the
   process (a write is done by half before), `full` and `broken` fail with ENOSPC and EIO. FAULT_TOLD is a file that gets
   a byte for each of them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long count;

static int below(const char *path)
{
    const char *folder = getenv("FAULT_FOLDER");
    char whole[PATH_MAX];
    if (!folder || !path)
        return 0;
    if (path[0] != '/') {
        if (!getcwd(whole, sizeof whole))
            return 0;
        path = whole;
    }
    return !strncmp(path, folder, strlen(folder));
}

static int is_below(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0)
        return 0;
    path[size] = 0;
    return below(path);
}

static void tell(void)
{
    static int (*true_open)(const char *, int, ...);
    static ssize_t (*true_write)(int, const void *, size_t);
    if (!true_open) {
        true_open = dlsym(RTLD_NEXT, "open");
        true_write = dlsym(RTLD_NEXT, "write");
    }
    int fd = true_open(getenv("FAULT_TOLD"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (fd >= 0) {
        if (true_write(fd, "x", 1) < 0)
            errno = 0;
        close(fd);
    }
}

static int kills(void) { return !strcmp(getenv("FAULT_KIND"), "kill"); }

/* Whether this call is one that fails; does not return where it is one to die at and `by_half` is not asked for. */
static int hit(int needs_room, int by_half)
{
    long at = atol(getenv("FAULT_AT") ? getenv("FAULT_AT") : "0");
    long now = __sync_add_and_fetch(&count, 1);
    if (now != at && !(at && now > at && needs_room && getenv("FAULT_STAYS")))
        return 0;
    tell();
    if (!needs_room && !strcmp(getenv("FAULT_KIND"), "full"))
        return 0;
    if (kills()) {
        if (by_half)
            return 1;
        kill(getpid(), SIGKILL);
    }
    errno = !strcmp(getenv("FAULT_KIND"), "broken") ? EIO : ENOSPC;
    return 1;
}

/* The true function behind NAME, which takes what is said of it. */
#define TRUE(result, name, ...)                                       \
    static result (*true_##name)(__VA_ARGS__);                        \
    if (!true_##name)                                                 \
    true_##name = dlsym(RTLD_NEXT, #name)

#define WRITES(result, name, wanted, done, ...)                       \
    result name(__VA_ARGS__)                                          \
    {                                                                 \
        TRUE(result, name, __VA_ARGS__);                              \
        if (is_below(fd) && hit(1, 1)) {                              \
            if (!kills())                                             \
                return -1;                                            \
            if (done >= 0)                                            \
                kill(getpid(), SIGKILL);                              \
        }                                                             \
        return wanted;                                                \
    }

WRITES(ssize_t, write, true_write(fd, bytes, size), true_write(fd, bytes, size / 2), int fd, const void *bytes, size_t size)
WRITES(ssize_t, pwrite, true_pwrite(fd, bytes, size, at), true_pwrite(fd, bytes, size / 2, at), int fd, const void *bytes,
       size_t size, off_t at)
WRITES(ssize_t, pwrite64, true_pwrite64(fd, bytes, size, at), true_pwrite64(fd, bytes, size / 2, at), int fd,
       const void *bytes, size_t size, off64_t at)

/* A call that changes what WHERE says, and needs room or not. */
#define CHANGES(name, room, where, given, ...)                        \
    int name(__VA_ARGS__)                                             \
    {                                                                 \
        TRUE(int, name, __VA_ARGS__);                                 \
        return where && hit(room, 0) ? -1 : true_##name given;        \
    }

CHANGES(fsync, 1, is_below(fd), (fd), int fd)
CHANGES(fdatasync, 1, is_below(fd), (fd), int fd)
CHANGES(ftruncate, 0, is_below(fd), (fd, size), int fd, off_t size)
CHANGES(ftruncate64, 0, is_below(fd), (fd, size), int fd, off64_t size)
CHANGES(rename, 0, below(to), (from, to), const char *from, const char *to)
CHANGES(link, 1, below(to), (from, to), const char *from, const char *to)
CHANGES(linkat, 1, below(to), (a, from, b, to, flags), int a, const char *from, int b, const char *to, int flags)
CHANGES(unlink, 0, below(path), (path), const char *path)
CHANGES(mkdir, 1, below(path), (path, mode), const char *path, mode_t mode)
CHANGES(chmod, 0, below(path), (path, mode), const char *path, mode_t mode)
CHANGES(fchmod, 0, is_below(fd), (fd, mode), int fd, mode_t mode)

/* Opening a file changes something where it makes one, or empties it. */
#define OPENS(name)                                                   \
    int name(const char *path, int flags, ...)                        \
    {                                                                 \
        TRUE(int, name, const char *, int, ...);                      \
        va_list more;                                                 \
        va_start(more, flags);                                        \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, int) : 0; \
        va_end(more);                                                 \
        if (flags & (O_CREAT | O_TRUNC) && below(path) && hit(1, 0))  \
            return -1;                                                \
        return true_##name(path, flags, mode);                        \
    }

OPENS(open)
OPENS(open64)
