import { forwardLog, type RunServiceOptions, runService } from '@sluice/service';
import { lowerHelperThreads } from './lower-helper-threads.ts';
import { type Env, settings } from './settings.ts';
import { wire } from './wiring.ts';

/** Runs as the process that this file was started as; tests also run it among others in one. */
export const service: RunServiceOptions<Env> = {
  name: 'sluice-gateway',
  settings,
  wire,
  forwardLog,
};

if (import.meta.main) {
  lowerHelperThreads();
  await runService(service);
}
