import { afterAll, afterEach } from 'vitest';
import { bringAllBack, forgetAll } from './bring-back.ts';

/** Vitest's set-up of each file: a test that fails leaves those after it, and its own next go, what it found. */
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await bringAllBack();
});
afterAll(forgetAll);
