/* fuzz_http.c: any text as the target of a request, its Host, and its token. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    static qp_http_request r;
    const char *why = NULL;
    char *text = malloc(n_bytes + 1);
    memcpy(text, bytes, n_bytes);
    text[n_bytes] = '\0';
    const unsigned status = qp_http_request_read(&r, text, &why);
    if (!why || (status != 200 && status != 400 && status != 414))
        abort();
    if (status == 200 && (r.path[0] != '/' || strstr(r.path, "..") || strchr(r.path, '%')))
        abort();
    for (size_t i = 0; status == 200 && i < r.n_pairs; i++)
        if (strlen(r.pairs[i].key) + strlen(r.pairs[i].value) > n_bytes)
            abort();
    if (qp_http_host_is_local(text) && strncasecmp(text, "localhost", 9) != 0 &&
        strncmp(text, "127.0.0.1", 9) != 0 && strncmp(text, "[::1]", 5) != 0)
        abort();
    if (qp_http_token_fits(text, "a token that no input has: \x01\x02\x03\x04"))
        abort();
    free(text);
    return 0;
}
