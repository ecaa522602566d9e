/**
 * `npm run realtime:browser`: the browser build of `openai` and a page with WebRTC of its own hold a session and place a call
 * through a gateway, in the machine's Chromium (`apt-get install chromium`), with a secret alone. Nothing is downloaded.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { chromium: { type: 'string', default: '/usr/bin/chromium' } },
});
if (!existsSync(values.chromium)) {
  console.error(
    `There is no Chromium at ${values.chromium}: apt-get install chromium, or --chromium=PATH.`,
  );
  process.exit(1);
}
const test = 'services/gateway/test/realtime/realtime.test.ts';
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', test, '-t', 'a page in Chromium'],
  { stdio: 'inherit', env: { ...process.env, SLUICE_CHROMIUM: values.chromium } },
);
process.exitCode = status ?? 1;
