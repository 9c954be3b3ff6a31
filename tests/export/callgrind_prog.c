/* callgrind_prog.c: a program for callgrind: cheap and dear call leaf 100 times each. */
static volatile unsigned sink;
__attribute__((noinline)) static void leaf(unsigned n)
{
    while (n--)
        sink += n;
}
__attribute__((noinline)) static void cheap(void)
{
    leaf(10);
    sink++;
}
__attribute__((noinline)) static void dear(void)
{
    leaf(1000);
    sink++;
}
int main(void)
{
    for (int i = 0; i < 100; i++) {
        cheap();
        dear();
    }
    return 0;
}
