<?php
/* php_cover.php xdebug|pcov|none RESULT SCRIPT [ARGUMENT...]: executes a script, and writes what another tool knows of its
 * lines and branches: {"lines": {file: {line: 1 executed, -1 not, -2 dead}}, "branches": {file: [[line, to line, taken], ...]}} */
[, $tool, $result, $script] = $argv;
$argv = $_SERVER['argv'] = array_slice($argv, 3);
$argc = $_SERVER['argc'] = count($argv);
register_shutdown_function(function () use ($tool, $result) {
    $lines = $branches = [];
    if ($tool === 'pcov') {
        \pcov\stop();
        $lines = \pcov\collect(\pcov\inclusive, get_included_files());
    }
    foreach ($tool === 'xdebug' ? xdebug_get_code_coverage() : [] as $file => $found) {
        $lines[$file] = $found['lines'];
        foreach ($found['functions'] as $name => $function) {
            foreach ($function['branches'] as $branch) {
                foreach (count($branch['out']) > 1 ? $branch['out'] : [] as $i => $to) {
                    $to_line = $function['branches'][$to]['line_start'] ?? 0;
                    $branches[$file][] = [$branch['line_end'], $to_line, $branch['out_hit'][$i]];
                }
            }
        }
    }
    file_put_contents($result, json_encode(['lines' => $lines, 'branches' => $branches]));
});
if ($tool === 'xdebug') {
    xdebug_start_code_coverage(XDEBUG_CC_UNUSED | XDEBUG_CC_DEAD_CODE | XDEBUG_CC_BRANCH_CHECK);
} elseif ($tool === 'pcov') {
    \pcov\start();
}
unset($tool, $result);
require $script;
