/* main.c: the tool. See dispatch.c. */
#include "cli/core/cli.h"

int main(int argc, char **argv)
{
    return qp_cli_main(argc, argv);
}
